"""Values of a learner's code that a test meets: containers that it extends, and what a test cannot use."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from grader.course.stage import NONE, Members
from grader.outcome import Status
from grader.protocol import codec


class Requests(Protocol):
    """Takes requests about the learner's objects."""

    def request(
        self, kind: str, target: int, name: str, args: tuple[Any, ...] = (), kwargs: Any = None, label: str = ""
    ) -> Any:
        """Have the learner's process do one thing with the object of a number; return or raise what comes of it."""


BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
PLAIN = "an array, a number, text, or a list, tuple, set or dict of these"


class Unusable(AssertionError):
    """The learner's function returned something that is no plain value, or that cannot be passed on."""


class NotPlain(Unusable, TypeError):
    """An object of the learner's was used where only a plain value can be: by NumPy, in a comparison, as an operand."""


class NotAsked(Unusable, AttributeError):
    """A member that the stage's manifest does not list was read, or set, on an object of the learner's."""


def refusal(error: codec.Refused, label: str, what: str = "sent back") -> tuple[Status, str]:
    """Return the outcome of a test whose call gave such a value, and what a learner reads."""
    status: Status = "over_limit" if isinstance(error, codec.TooLarge) else "failed"
    return status, f"{label} {what} {_shape(error)}{error}"


def _shape(error: codec.Refused) -> str:
    """Return the shape of the largest array of a frame whose arrays were refused by their sizes alone."""
    if not isinstance(error, codec.TooLarge) or error.body is None:
        return ""
    try:
        fields = codec.Decoder().message(error.body)
    except codec.WireError:
        return ""
    largest: tuple[int, ...] = ()
    left: list[Any] = [fields]
    while left:
        match left.pop():
            case [codec.ARRAY, str(), list(sizes), *_] if sizes and all(type(size) is int for size in sizes):
                largest = max(largest, tuple(sizes), key=lambda shape: math.prod(shape) if shape else -1)
            case list(parts):
                left += parts
    return f"an array of shape {largest}: " if largest and len(largest) <= 32 else ""


class RemoteObject:
    """Stands for an object of the learner's; its attributes are asked for there, if the stage lists them."""

    _connection: Requests
    _number: int
    _shown: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{self.__dict__.get('_shown', 'it')} has no public attribute {name!r}")
        self._expect_member(name)
        return self._connection.request("getattr", self._number, name, label=f"{self._shown}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            raise AttributeError(f"{name!r} of {self._shown} is not a public attribute")
        self._expect_member(name)
        self._connection.request("setattr", self._number, name, (value,), label=f"{self._shown}.{name}")

    def _expect_member(self, name: str) -> None:
        """Raise NotAsked for an attribute that the stage does not list."""
        raise NotImplementedError


MADE_OF: dict[type, type[Any]] = {}


class Extended(RemoteObject):
    """What the stand-ins for containers share."""

    def __init_subclass__(cls) -> None:
        MADE_OF[cls.__bases__[1]] = cls

    def stand_for(
        self, connection: Requests, number: int, shown: str, classes: tuple[int, ...], members: Members = NONE
    ) -> None:
        """Say whose object this is; shown is the name of its class, members are what it answers beside its content."""
        self.__dict__.update(_connection=connection, _number=number, _shown=shown, _classes=classes, _members=members)

    def _expect_member(self, name: str) -> None:
        if name not in self._members:
            base = type(self).__bases__[1].__name__
            raise NotAsked(f"a {self._shown} is taken as the plain {base} that it extends, which has no {name!r}")

    def __repr__(self) -> str:
        return repr(plain(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Have copies be plain: they are the test's own, and nothing there is theirs."""
        shallow = plain(self)
        return type(shallow), (list(shallow.items()) if isinstance(shallow, dict) else list(shallow),)


class ExtendedTuple(Extended, tuple[Any, ...]):
    """A named tuple of the learner's, or another tuple of a class of its own."""


class ExtendedList(Extended, list[Any]):
    """A list of a class of the learner's."""


class ExtendedDict(Extended, dict[Any, Any]):
    """A dict of a class of the learner's."""


class ExtendedSet(Extended, set[Any]):
    """A set of a class of the learner's."""


class ExtendedFrozenset(Extended, frozenset[Any]):
    """A frozenset of a class of the learner's."""


def plain(value: Any) -> Any:
    """Return a plain container with what a stand-in holds; any other value as it is."""
    if not isinstance(value, Extended):
        return value
    base: Any = next(base for base in MADE_OF if isinstance(value, base))
    return base(value)


class Blank:
    """Stands for an answer that is not known, as a plain array might stand there.

    What is calculated with it is blank again, every comparison with it holds, and as a float it is not a number. It has
    no length and no items: a test that needs these cannot go on without the answer, nor one that passes it on.
    """

    __slots__ = ()
    __hash__ = object.__hash__

    @property  # type: ignore[misc]  # what isinstance asks
    def __class__(self) -> type:
        return np.ndarray

    def __getattr__(self, name: str) -> Blank:
        if name.startswith("__"):
            raise AttributeError(name)
        return Blank()

    def __setitem__(self, key: object, value: object) -> None:
        """Keep nothing."""

    def __bool__(self) -> bool:
        return True

    def __contains__(self, item: object) -> bool:
        return True

    def __float__(self) -> float:
        return math.nan

    def __iter__(self) -> Any:
        raise TypeError("the items of an answer that is not known")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("the numbers of an answer that is not known")


def _blank(self: Blank, *args: Any, **kwargs: Any) -> Blank:
    return Blank()


for _name in (
    *BINARY, *(f"r{name}" for name in BINARY), "neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq",
    "ne", "getitem", "call", "round", "array_ufunc", "array_function",
):  # fmt: skip
    setattr(Blank, f"__{_name}__", _blank)


def blank_of(value: Any) -> Any:
    """Return an answer without what it says: tuples and dicts of text keep their form, their items are blank."""
    if type(value) is tuple:
        return tuple(map(blank_of, value))
    if type(value) is dict and all(type(key) is str for key in value):
        return {key: blank_of(item) for key, item in value.items()}
    return value if value is None else Blank()
