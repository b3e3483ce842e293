"""What the stand-ins for a learner's objects ask of the connection that they came by."""

from __future__ import annotations

from typing import Any, Protocol


class Requests(Protocol):
    """Takes requests about the learner's objects."""

    def request(
        self, kind: str, target: int, name: str, args: tuple[Any, ...] = (), kwargs: Any = None, label: str = ""
    ) -> Any:
        """Have the learner's process do one thing with the object of a number; return or raise what comes of it."""
