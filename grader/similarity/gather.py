"""The submissions of a class: a folder with a file, a folder or an archive for each student, whose name is theirs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.course.stage import Stage
from grader.errors import SubmissionError, UsageError
from grader.submission import take

MOST = 2000


@dataclass(frozen=True)
class HandedIn:
    """Whose module it is, and its bytes; why says what is in the way where there are none."""

    student: str
    source: bytes = b""
    why: str = ""


def handed_in(folder: Path, stage: Stage, root: Path) -> tuple[HandedIn, ...]:
    """Return what each student handed in for a stage, in the order of their names; raises UsageError.

    A module that cannot be taken is told as why, and costs the others nothing.
    """
    try:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "__")))
    except OSError as error:
        raise UsageError(
            f"the submissions {folder} cannot be read: {error.strerror}",
            "Expected a folder with a file, a folder or an archive for each student.",
        ) from error
    if len(entries) > MOST:
        raise UsageError(f"{folder} holds {len(entries)} submissions", f"Expected at most {MOST}.")
    names = _names(entries)
    return tuple(_one(names[path], path, stage, root) for path in entries)


def _names(entries: Iterable[Path]) -> dict[Path, str]:
    """Return a student's name for each entry: without its ending, unless two would have the same."""
    plain = {path: path.name.partition(".")[0] if path.is_file() else path.name for path in entries}
    taken = list(plain.values())
    return {path: name if taken.count(name) == 1 and name else path.name for path, name in plain.items()}


def _one(student: str, path: Path, stage: Stage, root: Path) -> HandedIn:
    try:
        return HandedIn(student, take(stage, path, root).source)
    except SubmissionError as error:
        return HandedIn(student, why=error.message)
