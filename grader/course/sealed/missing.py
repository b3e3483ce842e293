"""Which stages of a learner's copy are gone from its folder: those that its record names and that have no manifest."""

from __future__ import annotations

from pathlib import Path

from grader.course.sealed.copy import AGAIN, RECORD, read_record
from grader.errors import CourseError


def missing_stages(root: Path, hidden: Path, mistakes: list[str]) -> tuple[str, str | None]:
    """Return a line for each stage that is gone, and what brings it back; else mistakes, as in an author's course."""
    wrong = "\n".join(mistakes)
    if not (hidden / RECORD).is_file():
        return wrong, None
    try:
        record = read_record(hidden)
    except CourseError:
        return wrong, None  # whatever needs it says what is wrong
    named = [name for name in record.files if name.startswith("stages/") and name.endswith("/stage.toml")]
    gone = [f"{name}: is missing" for name in sorted(named) if not (root / name).is_file()]
    if not gone:
        return wrong, None
    return "\n".join(gone), "`grader update` puts it back." if record.self_paced else AGAIN
