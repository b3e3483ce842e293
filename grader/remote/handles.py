"""What stands on this side for what stays on the other, and the numbers of the functions that a test passes over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from grader.course.contract import NONE, Members
from grader.protocol import codec
from grader.remote.asking import Requests
from grader.remote.exceptions import LEARNERS, builtin_exception
from grader.remote.extended import MADE_OF, Extended
from grader.remote.limits import UsageLimits
from grader.remote.proxies import ITERATION, RemoteClass, RemoteExceptionClass, RemoteValue
from grader.remote.record import MAX_NUMBER, Name

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
        self._limits.handle()
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
        """Return the function of the test's with this number."""
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
            self._limits.handle()
            cls = RemoteClass if kind == "class" else RemoteValue
            members = self.members_of((number, *classes), names or ()) | (ITERATION if kind == "iterator" else NONE)
            self.proxies[number] = cls(self._connection, number, kind, shown[:200], classes, members, self.giver)
        return self.proxies[number]

    def exception_class(self, number: int, shown: str, names: list[Any]) -> type[BaseException]:
        """Return a local class for a learner's exception class, below the builtin ones that it extends."""
        if number not in self.classes:
            self._limits.handle()
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
    """Say whether these are numbers and names of an object's classes."""
    are_few = len(classes) <= MAX_BASES and len(names) <= MAX_BASES
    return are_few and all(type(each) is int for each in classes) and all(type(each) is str for each in names)
