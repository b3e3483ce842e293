"""Proxies in a test for the objects of a learner's module: values, classes, generators, and handles."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from functools import partialmethod
from typing import Any, TypeVar

import numpy as np

from grader.course.stage import NONE, Members
from grader.protocol import codec
from grader.sandbox.exceptions import LEARNERS, builtin_exception
from grader.sandbox.limits import UsageLimits
from grader.sandbox.record import MAX_NUMBER, Name
from grader.sandbox.values import BINARY, MADE_OF, PLAIN, Extended, NotAsked, NotPlain, RemoteObject, Requests, Unusable
from grader.worker.server import traced

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


class RemoteValue(RemoteObject):
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
        return super().__call__(*args)

    def __getattr__(cls, name: str) -> Any:
        fields = cls.__dict__
        if name.startswith("_") or name not in fields.get("_members", ()):
            raise AttributeError(f"{cls.__name__} has no public attribute {name!r}")
        return fields["_connection"].request("getattr", fields["_number"], name, label=f"{cls.__name__}.{name}")


for _name in (
    *BINARY, *(f"{prefix}{name}" for prefix in "ri" for name in BINARY), "abs", "neg", "pos", "invert", "getitem",
    "setitem", "delitem",
):  # fmt: skip
    setattr(RemoteValue, f"__{_name}__", partialmethod(RemoteValue._operate, _name))
for _name in ("lt", "le", "gt", "ge"):
    setattr(RemoteValue, f"__{_name}__", partialmethod(RemoteValue._order, _name))

MOST_DRAWS = 1 << 40
MOST_REPLAYED = 10_000_000  # draws that are repeated, for generators without a short cut
SEARCHED = 1_000_000  # draws among which the half that is kept for a draw of 32 bits is looked for
MULTIPLIERS = {"PCG64": 0x2360ED051FC65DA44385DF649FCCF645, "PCG64DXSM": 0xDA942042E4DD58B5}
HALF = ("has_uint32", "uinteger")
MASK = (1 << 128) - 1
MT19937_WORDS = 624


def move(generator: np.random.Generator, content: Any) -> bool:
    """Move a test's random generator on to where a call left its copy; False, and no move, for any other state.

    Raises WireError for what is no state.
    """
    if type(content) not in (list, tuple) or len(content) != 2:
        raise codec.WireError("a change of a random generator that is no state")
    before = copy.deepcopy(generator.bit_generator.state)
    codec.set_generator_state(generator, *content)
    if reachable(dict(before), dict(generator.bit_generator.state)):
        return True
    generator.bit_generator.state = before
    return False


def reachable(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Say whether the second state of a bit generator follows from the first by drawing.

    >>> rng = np.random.default_rng(1)
    >>> before = rng.bit_generator.state
    >>> _ = rng.random(5)
    >>> reachable(before, rng.bit_generator.state), reachable(rng.bit_generator.state, before)
    (True, False)
    """
    name = before["bit_generator"]
    if after["bit_generator"] != name:
        return False
    if name == "MT19937":
        return _twisted(before, after)
    draws = _distance(name, before["state"], after["state"], before, after)
    if draws is None or not 0 <= draws <= MOST_DRAWS:
        return False
    twin: Any = getattr(np.random, name)(0)
    twin.state = before
    if name in MULTIPLIERS:
        twin.advance(draws)
    elif draws > MOST_REPLAYED:
        return False
    else:
        twin.random_raw(draws, output=False)
    return _same(twin.state, after) and _half_is_drawn(name, before, after, draws)


def _distance(name: str, start: Any, end: Any, before: Any, after: Any) -> int | None:
    if name in MULTIPLIERS:
        return (
            _steps(start["state"], end["state"], MULTIPLIERS[name], start["inc"])
            if start["inc"] == end["inc"]
            else None
        )
    if name == "SFC64":
        return (int(end["state"][3]) - int(start["state"][3])) % (1 << 64)
    blocks = _whole(end["counter"]) - _whole(start["counter"])  # Philox: four draws a block
    return 4 * blocks + int(after["buffer_pos"]) - int(before["buffer_pos"])


def _whole(words: Any) -> int:
    return sum(int(word) << 64 * place for place, word in enumerate(words))


def _steps(start: int, end: int, multiplier: int, increment: int) -> int | None:
    """Return how many steps of a linear congruential generator modulo 2**128 lead from one state to another.

    Bit by bit, since its lowest n bits have the period 2**n (Brown, "Random Number Generation with Arbitrary Strides").
    """
    steps, bit = 0, 1
    while start != end:
        if bit > MASK:
            return None
        if (start ^ end) & bit:
            start = (start * multiplier + increment) & MASK
            steps |= bit
        bit <<= 1
        increment = (multiplier + 1) * increment & MASK
        multiplier = multiplier * multiplier & MASK
    return steps


def _twisted(before: dict[str, Any], after: dict[str, Any]) -> bool:
    twin: Any = np.random.MT19937(0)
    twin.state = before
    start, key, end = before["state"]["pos"], after["state"]["key"], after["state"]["pos"]
    if np.array_equal(before["state"]["key"], key):
        return bool(start <= end)
    twin.random_raw(MT19937_WORDS - start + 1, output=False)
    for _ in range(MOST_REPLAYED // MT19937_WORDS):
        if np.array_equal(twin.state["state"]["key"], key):
            return bool(end > 0)
        twin.random_raw(MT19937_WORDS, output=False)
    return False


def _same(one: Any, other: Any) -> bool:
    """Compare two states but for the half of a draw that is kept."""
    if isinstance(one, dict):
        return all(key in HALF or _same(value, other[key]) for key, value in one.items())
    return bool(np.array_equal(one, other))


def _half_is_drawn(name: str, before: dict[str, Any], after: dict[str, Any], draws: int) -> bool:
    """Say whether the kept half is that of a draw on the way; a way too long to look through is trusted."""
    if not after["has_uint32"] or draws > SEARCHED:
        return True
    if before["has_uint32"] and after["uinteger"] == before["uinteger"]:
        return True
    twin: Any = getattr(np.random, name)(0)
    twin.state = before
    return bool((np.atleast_1d(twin.random_raw(draws)) >> np.uint64(32) == after["uinteger"]).any()) if draws else False


KINDS = frozenset({"function", "class", "exception", "iterator", "object"})
OF_CONTAINERS = frozenset({"iterator", "object"})
MAX_BASES = 100


class Handles:
    """The two-way table of one test: proxies and exception classes by number, the test's functions by number.

    members are what the instances of a class answer, by the name that the stage gives it; giver is the request whose
    answer is being read, for messages.
    """

    def __init__(
        self,
        connection: Requests,
        limits: UsageLimits,
        names: Mapping[str, Name] | None = None,
        members: Mapping[str, Members] | None = None,
    ) -> None:
        self._connection = connection
        self._limits = limits
        self.giver = ""
        self._members = dict(members or {})
        self._asked = {each.number: name for name, each in (names or {}).items() if name in self._members}
        self.proxies: dict[int, Any] = {}
        self.classes: dict[int, type[BaseException]] = {}
        self._kinds = {name.number: name.kind for name in (names or {}).values() if name.kind != "value"}
        self._callbacks: dict[int, Callable[..., Any]] = {}
        self._numbers: dict[int, int] = {}  # of the test's functions, by id

    def wrap(self, value: object) -> list[Any] | None:
        """Return the form of a proxy or of a function of the test's; None for any other value."""
        if isinstance(value, RemoteValue):
            if value.__dict__["_connection"] is not self._connection:
                raise codec.WireError(f"{value!r} is of another test")
            return [codec.HANDLE, value.__dict__["_number"]]
        if isinstance(value, Extended):  # one of another test is but a plain container here
            is_ours = value.__dict__["_connection"] is self._connection
            return [codec.EXTENDS, value.__dict__["_number"]] if is_ours else None
        if isinstance(value, type) and issubclass(value, BaseException):
            number = self.class_number(value)
            return [codec.HANDLE, number] if number else None
        if callable(value) and not isinstance(value, type):
            number = self._numbers.setdefault(id(value), len(self._callbacks) + 1)
            self._callbacks[number] = value  # held, so that no other function takes its id
            return [codec.CALLBACK, number]
        return None

    def unwrap(self, tag: int, fields: list[Any], decoder: object) -> Any:
        """Return what a worker's form stands for; WireError for a function never passed or a malformed handle."""
        if tag == codec.CALLBACK:
            return self.function(fields[0] if len(fields) == 1 else None)
        if tag == codec.EXTENDS:
            return self._extended(*fields)
        if tag != codec.HANDLE:
            raise codec.WireError("only a test names parts of earlier answers")
        match fields:
            case [int(number), str(kind), str(shown), list(classes), list(names)] if (
                0 <= number < MAX_NUMBER and kind in KINDS and _are_bases(classes, names)
            ):
                return self.proxy(number, kind, shown, tuple(classes), names)
        raise codec.WireError("a handle of another form")

    def _extended(self, *fields: Any) -> Any:
        """Return the stand-in for a container that stays there, with the content that came; it is counted each time."""
        match fields:
            case [int(number), str(kind), str(shown), list(classes), list(names), _, content] if (
                0 <= number < MAX_NUMBER and kind in OF_CONTAINERS and _are_bases(classes, names)
            ):
                pass
            case _:
                raise codec.WireError("a container's handle of another form")
        if self._kinds.setdefault(number, kind) != kind:
            raise codec.WireError("a handle that was of another kind before")
        self._limits.spend("handles")
        made: Any = MADE_OF[type(content)](content)
        made.stand_for(self._connection, number, shown[:200], tuple(classes), self.members_of(classes, names))
        return made

    def members_of(self, classes: Iterable[int], names: Iterable[str]) -> Members:
        """Return what an object answers whose classes have these numbers and names: all that is listed for any.

        What the request that gives it is listed for is listed for the object, too.
        """
        known = {self._asked.get(number, "") for number in classes} | {*names, self.giver.rpartition(".")[2]}
        return NONE.union(*(self._members.get(name, NONE) for name in known))

    def function(self, number: Any) -> Callable[..., Any]:
        found = self._callbacks.get(number) if type(number) is int else None
        if found is None:
            raise codec.WireError("a function that was never passed")
        return found

    def named(self, name: str, found: Name) -> Any:
        """Return what stands for a public name of the module; names are as many as its table, and are not counted."""
        self._limits.handles += found.number not in self.proxies and found.number not in self.classes
        return self.proxy(found.number, found.kind, name, (), list(found.bases))

    def proxy(
        self, number: int, kind: str, shown: str, classes: tuple[int, ...] = (), names: list[Any] | None = None
    ) -> Any:
        """Return what stands here for an object that stays there: the same proxy, or exception class, each time."""
        if self._kinds.setdefault(number, kind) != kind:
            raise codec.WireError("a handle that was of another kind before")
        if kind == "exception":
            return self.exception_class(number, shown, names or [])
        if number not in self.proxies:
            self._limits.spend("handles")
            cls = RemoteClass if kind == "class" else RemoteValue
            members = self.members_of((number, *classes), names or ()) | (ITERATION if kind == "iterator" else NONE)
            self.proxies[number] = cls(self._connection, number, kind, shown[:200], classes, members, self.giver)
        return self.proxies[number]

    def exception_class(self, number: int, shown: str, names: list[Any]) -> type[BaseException]:
        """Return a local class for a learner's exception class, below the builtin ones that it extends."""
        if number not in self.classes:
            self._limits.spend("handles")
            base = builtin_exception(names)
            name = shown[:100] if shown.replace(".", "").isidentifier() else base.__name__
            members = self.members_of((number,), ())
            fields = {
                "__module__": LEARNERS, "_connection": self._connection, "_number": number, "_members": members,
            }  # fmt: skip
            made: Any = RemoteExceptionClass(name, (base,), fields)
            self.classes[number] = made
        return self.classes[number]

    def class_number(self, cls: type) -> int:
        """Return the number of a learner's exception class that stands here as cls; 0 where it is none."""
        return next((number for number, own in self.classes.items() if own is cls), 0)


def _are_bases(classes: list[Any], names: list[Any]) -> bool:
    are_few = len(classes) <= MAX_BASES and len(names) <= MAX_BASES
    return are_few and all(type(each) is int for each in classes) and all(type(each) is str for each in names)


def peak_memory(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, int]:
    """Return what function(*args, **kwargs) returns, and how many bytes the call held at most, its result among them.

    Arguments do not count, nor does what was held before. The process that runs the call measures it, by tracemalloc:
    a learner's code can meddle with the figure, while the limit on its address space is certain. Choose sizes at which
    what must not be held does not fit under the memory_mb of the stage, and say `alone = true` beside it: no child
    holds it then. The call is not replayed for the diagnosis.
    Raises what the call raises; Unusable for an answer of another form.
    """
    if not isinstance(function, RemoteValue):
        return traced(function, *args, **kwargs)
    match function._measured(*args, **kwargs):
        case (result, int(peak)) if type(peak) is int and peak >= 0:
            return result, peak
    raise Unusable(f"{function!r} was measured by its process in a form that holds no figure")
