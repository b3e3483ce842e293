"""What stands here for a learner's container of a class of its own: a named tuple, a subclass of list or dict.

It is that plain container, with what was inside when it arrived: nothing that the class says of itself is asked. Only
attributes that the stage's manifest lists for its class are asked for by handle; where it is passed back, the learner's
own object is.
"""

from __future__ import annotations

from typing import Any

from grader.course.contract import NONE, Members
from grader.remote.asking import Requests
from grader.remote.refusals import NotAsked

MADE_OF: dict[type, type[Any]] = {}


class Extended:
    """What the stand-ins for containers share: where the learner's object is, and attributes by handle."""

    def __init_subclass__(cls) -> None:
        MADE_OF[cls.__bases__[1]] = cls

    def stand_for(
        self, connection: Requests, number: int, shown: str, classes: tuple[int, ...], members: Members = NONE
    ) -> None:
        """Say whose object this is; shown is the name of its class, members are what it answers beside its content."""
        fields = {
            "_connection": connection, "_number": number, "_shown": shown, "_classes": classes, "_members": members,
        }  # fmt: skip
        self.__dict__.update(fields)

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
