"""What stands on this side for what stays on the other, and the numbers of the functions that a test passes over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from grader.protocol import codec
from grader.remote.asking import Requests
from grader.remote.exceptions import LEARNERS, builtin_exception
from grader.remote.extended import MADE_OF, Extended
from grader.remote.limits import UsageLimits
from grader.remote.proxies import RemoteClass, RemoteExceptionClass, RemoteValue
from grader.remote.record import MAX_NUMBER, Name

KINDS = frozenset({"function", "class", "exception", "object"})
MAX_BASES = 100


class Handles:
    """The two-way table of one test: proxies and exception classes by number, the test's functions by number."""

    def __init__(self, connection: Requests, limits: UsageLimits, names: Mapping[str, Name] | None = None) -> None:
        self._connection = connection
        self._limits = limits
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
                0 <= number < MAX_NUMBER
                and kind in KINDS
                and len(classes) <= MAX_BASES
                and all(type(each) is int for each in classes)
            ):
                return self.proxy(number, kind, shown, tuple(classes), names)
        raise codec.WireError("a handle of another form")

    def _extended(self, *fields: Any) -> Any:
        """Return the stand-in for a container that stays there, with the content that came; it is counted each time."""
        match fields:
            case [int(number), "object", str(shown), list(classes), [], _, content] if (
                0 <= number < MAX_NUMBER and len(classes) <= MAX_BASES and all(type(each) is int for each in classes)
            ):
                pass
            case _:
                raise codec.WireError("a container's handle of another form")
        if self._kinds.setdefault(number, "object") != "object":
            raise codec.WireError("a handle that was of another kind before")
        self._limits.handle()
        made: Any = MADE_OF[type(content)](content)
        made.stand_for(self._connection, number, shown[:200], tuple(classes))
        return made

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
            self.proxies[number] = cls(self._connection, number, kind, shown[:200], classes)
        return self.proxies[number]

    def exception_class(self, number: int, shown: str, names: list[Any]) -> type[BaseException]:
        """Return a local class for a learner's exception class, below the builtin ones that it extends."""
        if number not in self.classes:
            self._limits.handle()
            base = builtin_exception(names)
            name = shown[:100] if shown.replace(".", "").isidentifier() else base.__name__
            fields = {"__module__": LEARNERS, "_connection": self._connection, "_number": number}
            made: Any = RemoteExceptionClass(name, (base,), fields)
            self.classes[number] = made
        return self.classes[number]

    def class_number(self, cls: type) -> int:
        """Return the number of a learner's exception class that stands here as cls; 0 where it is none."""
        return next((number for number, own in self.classes.items() if own is cls), 0)
