"""How much work a stage took, as far as checks tell: attempts, and the time between them; pure functions.

It is kept for a learner's own eyes. Nothing depends on it: a record that is damaged counts as none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

PAUSE = 20 * 60  # seconds without a check after which somebody is taken to have done something else
MARK = 16  # characters of a digest that tell one text from the one before


@dataclass(frozen=True)
class Work:
    """What the checks of a stage add up to.

    attempts counts the checks of a text that differs from the one checked before, until that of the first pass. seconds
    is the time between checks without a long pause: at least so long was worked. first and last are the times of
    checks, passed that of the first pass (ISO, UTC; empty where there was none); text marks the last text.
    """

    attempts: int = 0
    until: int = 0
    seconds: int = 0
    first: str = ""
    last: str = ""
    passed: str = ""
    text: str = ""


def checked(work: Work, before: datetime | None, digest: str, now: datetime, passed: bool) -> Work:
    """Return the work with one more check; before is when any stage was checked last.

    >>> day = datetime(2026, 11, 21, 8, tzinfo=UTC)
    >>> first = checked(Work(), None, "abc", day, False)
    >>> second = checked(first, day, "def", day.replace(minute=5), True)
    >>> second.attempts, second.seconds, second.until
    (2, 300, 2)
    """
    when = now.astimezone(UTC).isoformat(timespec="seconds")
    mark = digest[:MARK]
    gone = (now - before).total_seconds() if before is not None else -1.0
    attempts = work.attempts + (mark != work.text)
    first_pass = passed and not work.passed
    return replace(
        work,
        attempts=attempts,
        until=attempts if first_pass else work.until,
        seconds=work.seconds + (int(gone) if 0 <= gone <= PAUSE else 0),
        first=work.first or when,
        last=when,
        passed=when if first_pass else work.passed,
        text=mark,
    )


def last_time(works: Iterable[Work]) -> datetime | None:
    """Return when a stage was checked last; None where none was."""
    return max((datetime.fromisoformat(work.last) for work in works if work.last), default=None)


def read_work(entries: object) -> dict[str, Work]:
    """Return the work by stage, as it was kept; an entry of another form is left out."""
    if not isinstance(entries, Mapping):
        return {}
    found = {stage: _one(entry) for stage, entry in entries.items() if isinstance(stage, str)}
    return {stage: work for stage, work in found.items() if work is not None}


def written(works: Mapping[str, Work]) -> dict[str, Any]:
    """Return the work by stage as values that JSON has."""
    return {stage: asdict(work) for stage, work in works.items()}


def _one(entry: object) -> Work | None:
    if not isinstance(entry, Mapping):
        return None
    values = {name: entry.get(name, default) for name, default in asdict(Work()).items()}
    if any(type(values[name]) is not type(default) for name, default in asdict(Work()).items()):
        return None
    if any(values[name] < 0 for name in ("attempts", "until", "seconds")):
        return None
    return Work(**values) if all(_is_time(values[name]) for name in ("first", "last", "passed")) else None


def _is_time(text: str) -> bool:
    """Say whether a text is empty, or a time with its zone."""
    try:
        return not text or datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
