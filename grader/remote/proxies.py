"""What a test holds in its hands: proxies for the objects that stay in the learner's process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from grader.course.contract import NONE, Members
from grader.remote.asking import Requests
from grader.remote.extended import Extended
from grader.remote.refusals import PLAIN, NotAsked, NotPlain

T = TypeVar("T")
MAX_LENGTH = 1 << 24
ITERATION: Members = frozenset({"__iter__", "__next__"})
USES = {  # of an object, by what Python calls there
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "add": "+", "radd": "+", "sub": "-",
    "rsub": "-", "mul": "*", "rmul": "*", "truediv": "/", "rtruediv": "/", "matmul": "@", "rmatmul": "@", "pow": "**",
    "rpow": "**", "neg": "-", "abs": "abs()", "len": "len()", "bool": "a condition", "float": "float()", "int": "int()",
    "iter": "a loop", "next": "next()", "contains": "in", "getitem": "[...]", "setitem": "[...] =",
}  # fmt: skip
OPERATORS = {  # of NumPy's functions, those that stand behind an operator
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "floor_divide": "floordiv",
    "remainder": "mod", "power": "pow", "matmul": "matmul",
}  # fmt: skip


class RemoteValue:
    """Stands for an object that stays in the learner's process: a function, an instance, an iterator.

    It can be held, passed back and, as a function is, called. Of attributes, methods and operators it answers those in
    _members: what the stage lists for its class, and of an iterator its items. In NumPy, in a comparison or as an
    operand anything else raises NotPlain. A listed comparison asks the learner's object only about another of the
    learner's: it equals no plain value, whatever its __eq__ says.
    """

    def __init__(
        self,
        connection: Requests,
        number: int,
        kind: str,
        shown: str,
        classes: tuple[int, ...],
        members: Members = NONE,
        giver: str = "",
    ) -> None:
        self.__dict__.update(
            _connection=connection, _number=number, _kind=kind, _shown=shown, _classes=classes, _members=members,
            _giver=giver,
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{self._shown} has no public attribute {name!r}")
        self._expect_member(name)
        return self._connection.request("getattr", self._number, name, label=f"{self._shown}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            raise AttributeError(f"{name!r} of {self._shown} is not a public attribute")
        self._expect_member(name)
        self._connection.request("setattr", self._number, name, (value,), label=f"{self._shown}.{name}")

    def _expect_member(self, name: str) -> None:
        if name in self._members:
            return
        if self._members and self._kind != "iterator":
            raise NotAsked(f"{self._shown}.{name}: this stage does not list {name!r} among the members of its classes")
        raise NotAsked(f"{self._origin()}: this stage does not use its attribute {name!r}: expected {PLAIN}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._connection.request("call", self._number, "", args, kwargs, label=self._shown)

    def _measured(self, *args: Any, **kwargs: Any) -> Any:
        """Return what a call returns and what it held at most, as the learner's process says."""
        return self._connection.request("traced", self._number, "", args, kwargs, label=self._shown)

    def _operate(self, name: str, *args: Any) -> Any:
        if f"__{name}__" not in self._members and not (name[0] == "i" and f"__{name[1:]}__" in self._members):
            raise self._refused(USES.get(name, f"__{name}__"))
        return self._ask(name, *args)

    def _ask(self, name: str, *args: Any) -> Any:
        return self._connection.request("op", self._number, name, args, label=f"{self._shown}.__{name}__")

    def _refused(self, use: str) -> NotPlain:
        return NotPlain(f"{self._origin()}, which {use} cannot use: expected {PLAIN}")

    def _origin(self) -> str:
        what = {"function": "the function ", "class": "the class "}.get(self._kind, "an instance of ") + self._shown
        return f"{self._giver} returned {what}" if self._giver else f"{what} of the module"

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._refused("NumPy")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise self._refused(f"numpy.{function.__name__}")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Leave an array's or a NumPy number's operator to the object where its class lists it, as in x * dual."""
        name = f"r{OPERATORS.get(ufunc.__name__, '')}"
        if method == "__call__" and not kwargs and inputs[-1] is self and f"__{name}__" in self._members:
            return self._operate(name, inputs[0])
        raise self._refused(f"numpy.{ufunc.__name__}")

    def __iter__(self) -> Any:
        return self._operate("iter")

    def __next__(self) -> Any:
        return self._operate("next")

    def __len__(self) -> int:
        length = _expect(int, self._operate("len"))
        if length > MAX_LENGTH:  # list() takes room for as many items as this says
            raise ValueError(f"a length of {length}; at most {MAX_LENGTH} is expected")
        return length

    def __bool__(self) -> bool:
        return _expect(bool, self._operate("bool"))

    def __float__(self) -> float:
        return _expect(float, self._operate("float"))

    def __int__(self) -> int:
        return _expect(int, self._operate("int"))

    def __complex__(self) -> complex:
        raise self._refused("complex()")

    def __index__(self) -> int:
        raise self._refused("an index or a size")

    def __round__(self, digits: int | None = None) -> Any:
        raise self._refused("round()")

    def __str__(self) -> str:
        return _expect(str, self._operate("str")) if "__str__" in self._members else repr(self)

    def __repr__(self) -> str:
        return f"<{self._shown} of the learner's module>"

    def __contains__(self, item: Any) -> bool:
        if "__contains__" not in self._members and "__next__" in self._members:
            return any(item is each or item == each for each in self)
        return _expect(bool, self._operate("contains", item))

    def __eq__(self, other: object) -> Any:
        return self._compare("eq", other, other is self)

    def __ne__(self, other: object) -> Any:
        return self._compare("ne", other, other is not self)

    def _compare(self, name: str, other: object, identity: bool) -> Any:
        if f"__{name}__" not in self._members and (name == "eq" or "__eq__" not in self._members):
            raise self._refused(USES[name])
        if other is self or not isinstance(other, RemoteValue):  # who is asked whether it is 3 may say yes
            return identity
        return _expect(bool, self._ask(name, other))

    def _order(self, name: str, other: object) -> Any:
        if f"__{name}__" not in self._members or not isinstance(other, RemoteValue):
            raise self._refused(USES[name])
        return _expect(bool, self._operate(name, other))

    def __hash__(self) -> int:
        return hash((id(self._connection), self._number))


def _expect(kind: type[T], value: Any) -> T:
    """Return value where it is exactly of a kind that Python's own operator would give."""
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value


class RemoteClass(RemoteValue):
    """Stands for a class of the learner's module; isinstance(x, learner.Layer) works."""

    def __instancecheck__(self, instance: object) -> bool:
        fields = instance.__dict__ if isinstance(instance, (RemoteValue, Extended)) else {}
        return self._number in fields.get("_classes", ())


class RemoteExceptionClass(type):
    """The class of the local classes that stand for a learner's exceptions: `pytest.raises(learner.SomeError)` works.

    A call goes to the learner's process as any call, and is recorded. Where it makes an instance there, one is made
    here that a test can raise; what else it gives is returned as it is.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        fields = cls.__dict__
        if "_number" not in fields:  # a test's own class below it
            return super().__call__(*args, **kwargs)
        connection: Requests = fields["_connection"]
        made = connection.request("call", fields["_number"], "", args, kwargs, label=cls.__name__)
        is_instance = isinstance(made, RemoteValue) and fields["_number"] in made.__dict__["_classes"]
        return cls._made_here(*args) if is_instance else made

    def _made_here(cls, *args: Any) -> Any:
        """Return an instance that is made here alone."""
        return super().__call__(*args)

    def __getattr__(cls, name: str) -> Any:
        fields = cls.__dict__
        if name.startswith("_") or name not in fields.get("_members", ()):
            raise AttributeError(f"{cls.__name__} has no public attribute {name!r}")
        return fields["_connection"].request("getattr", fields["_number"], name, label=f"{cls.__name__}.{name}")


def _add_operators() -> None:
    def method(name: str) -> Callable[..., Any]:
        return lambda self, *args: self._operate(name, *args)

    unary = ("abs", "neg", "pos", "invert")
    binary = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")

    def comparison(name: str) -> Callable[..., Any]:
        return lambda self, other: self._order(name, other)

    prefixed = [f"{prefix}{name}" for prefix in "ri" for name in binary]  # 2 + x, and x += 2
    for name in (*unary, *binary, *prefixed, "getitem", "setitem", "delitem"):
        setattr(RemoteValue, f"__{name}__", method(name))
    for name in ("lt", "le", "gt", "ge"):
        setattr(RemoteValue, f"__{name}__", comparison(name))


_add_operators()
