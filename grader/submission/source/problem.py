"""What stands in the way of grading a module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Problem:
    """Why a learner's module cannot be graded as it is; the message stands alone, hint says what to do."""

    kind: Literal["syntax", "encoding", "forbidden", "import", "import-error", "missing"]
    message: str
    line: int | None
    hint: str | None


def clean(text: str) -> str:
    """A learner's text as a terminal can show it, character for character."""
    return "".join(char if char.isprintable() else " " for char in text)


def clipped(name: str) -> str:
    """A learner's name or message, cut where it would fill the screen."""
    return name if len(name) <= 80 else f"{name[:79]}…"
