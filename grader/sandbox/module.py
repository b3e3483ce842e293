"""The `learner` of a test: what stands here for the learner's module."""

from __future__ import annotations

import types
from collections.abc import Collection
from itertools import islice
from typing import Any

from grader.sandbox.connection import Connection
from grader.sandbox.record import Name

ALIKE = 0.8  # of the letters of two names stand in both, in the same order
MOST_LETTERS = 80
MOST_NAMES = 200


class RemoteModule(types.SimpleNamespace):
    """The `learner` of a test: its attributes are the public names of the learner's module.

    asked holds the names that the stage asks for: none of them is a misspelt form of another.
    """

    def __init__(self, connection: Connection, title: str, asked: Collection[str] = ()) -> None:
        super().__init__()
        self.__dict__.update(_connection=connection, _title=title, _asked=asked, _looked={})

    def __repr__(self) -> str:
        """Name the module: pytest shows it where a plain assertion fails."""
        return f"<{self.__dict__['_title']}>"

    def __getattr__(self, name: str) -> Any:
        connection: Connection = self.__dict__["_connection"]
        found = self.__dict__["_looked"][name] = connection.names.get(name)
        if found is None:
            raise MissingName(self.__dict__["_title"], name, self._alike(name, connection))
        if found.kind == "value":
            return connection.request("getattr", 0, name, label=name)
        return connection.handles.named(name, found)

    def _alike(self, name: str, connection: Connection) -> str | None:
        """Return a name of the module that is spelt almost alike, and that nothing else asks for."""
        import difflib  # only a mistake needs it

        asked = self.__dict__["_asked"]
        found = (each for each in connection.names if each not in asked and len(each) <= MOST_LETTERS)
        return next(iter(difflib.get_close_matches(name, islice(found, MOST_NAMES), 1, ALIKE)), None)


def looked_up(module: RemoteModule) -> dict[str, Name | None]:
    """Return the names that a test asked for, and what the module has under them."""
    return dict(module.__dict__["_looked"])


class MissingName(AttributeError):
    """The learner's module does not define what the course asks for; alike is what it may have instead."""

    def __init__(self, title: str, name: str, alike: str | None = None) -> None:
        why = "was it renamed or deleted?" if alike is None else f"it defines {alike}, which is spelt almost alike"
        super().__init__(f"{title} does not define {name}: {why}")
        self.missing = name
