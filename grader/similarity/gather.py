"""The modules of a class to be compared, of those who handed in one; the intake of the gradebook says who they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader.course.stage import Stage
from grader.errors import UsageError
from grader.gradebook.intake.arrivals import Arrival
from grader.gradebook.intake.taking import Taken, taken

MOST = 2000
_EXAMPLE = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class HandedIn:
    """Whose module it is, and its bytes; why says what is in the way where there are none."""

    student: str
    source: bytes = b""
    why: str = ""


def handed_in(arrivals: Iterable[Arrival], stage: Stage, root: Path) -> tuple[HandedIn, ...]:
    """Return what each student handed in last for a stage, in the order of their names; UsageError for too many.

    A module that cannot be taken is told as why, and costs the others nothing.
    """
    all_of = tuple(arrivals)
    if len(all_of) > MOST:
        raise UsageError(f"there are {len(all_of)} submissions", f"Expected at most {MOST}.")
    return tuple(_one(arrival.student, list(taken(arrival, stage, root, True))) for arrival in all_of)


def examples(stage: Stage) -> list[str]:
    """Return the code that the README of a stage shows to everybody."""
    with suppress(OSError, UnicodeDecodeError):
        return _EXAMPLE.findall(stage.readme_path.read_text(encoding="utf-8"))
    return []


def _one(student: str, attempts: list[Taken]) -> HandedIn:
    """Return the last attempt that can be read, since nobody is compared with themselves."""
    read = [each for each in attempts if each.snapshot is not None]
    if not read:
        error = attempts[-1].error
        return HandedIn(student, why=error.message if error is not None else "nothing was handed in")
    last = max(read, key=lambda each: each.attempt.submitted or _EARLIEST)
    assert last.snapshot is not None
    return HandedIn(student, last.snapshot.source)
