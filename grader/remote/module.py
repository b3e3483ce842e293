"""The `learner` of a test: what stands here for the learner's module."""

from __future__ import annotations

import types
from typing import Any

from grader.remote.connection import Connection


class RemoteModule(types.SimpleNamespace):
    """The `learner` of a test: its attributes are the public names of the learner's module."""

    def __init__(self, connection: Connection, title: str) -> None:
        super().__init__()
        self.__dict__.update(_connection=connection, _title=title)

    def __getattr__(self, name: str) -> Any:
        connection: Connection = self.__dict__["_connection"]
        found = connection.names.get(name)
        if found is None:
            raise MissingName(self.__dict__["_title"], name)
        if found.kind == "value":
            return connection.request("getattr", 0, name, label=name)
        return connection.handles.named(name, found)


class MissingName(AttributeError):
    """The learner's module does not define what the course asks for."""

    def __init__(self, title: str, name: str) -> None:
        super().__init__(f"{title} does not define {name}: was it renamed or deleted?")
        self.missing = name
