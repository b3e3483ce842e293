"""What stands in the way of grading a module, or a part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Problem:
    """Why a learner's module cannot be graded as it is; the message stands alone, hint says what to do.

    absent says that what was handed in holds none for this stage.
    """

    kind: Literal["syntax", "encoding", "forbidden", "import", "import-error", "missing", "waits", "locked"]
    message: str
    line: int | None
    hint: str | None
    absent: bool = False


@dataclass(frozen=True)
class Reading:
    """What a module's text tells against it: one problem with the whole, or with each function that reaches one.

    forbidden is the first thing that the module uses and that its stage forbids, whether or not a function of the
    stage reaches it. stood_in are the packages that it imports and that are not there.
    """

    problem: Problem | None = None
    refused: Mapping[str, Problem] = field(default_factory=dict)
    forbidden: Problem | None = None
    stood_in: tuple[str, ...] = ()

    @property
    def first(self) -> Problem | None:
        """Any reason to refuse the module, for those who take it whole or not at all."""
        return self.problem or self.forbidden


def clean(text: str) -> str:
    """A learner's text as a terminal can show it, character for character."""
    return "".join(char if char.isprintable() else " " for char in text)


def clipped(name: str) -> str:
    """A learner's name or message, cut where it would fill the screen."""
    return name if len(name) <= 80 else f"{name[:79]}…"
