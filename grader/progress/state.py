"""A learner's progress, and where it leaves each stage: pure functions over what the store has read.

The work that a stage took is kept for a learner's own eyes. Nothing depends on it: a damaged record counts as none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from grader.course.stage import Course, Stage

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


State = Literal["passed", "changed", "public", "skipped", "open", "locked"]


@dataclass(frozen=True)
class Pass:
    """A stage that passed: of which source (SHA-256), with which seed, in which version of the course, when (ISO).

    isolation, python and numpy say how it was verified; they are empty in what an earlier grader recorded. Of its
    criteria, so many were robust; None in what an earlier grader recorded.
    """

    stage: str
    digest: str
    seed: int
    course: str
    when: str
    isolation: str = ""
    python: str = ""
    numpy: str = ""
    criteria: int | None = None
    robust: int | None = None


@dataclass(frozen=True)
class CriteriaCount:
    """How many criteria a stage has, and how many of them pass and are robust."""

    criteria: int
    passed: int
    robust: int


@dataclass(frozen=True)
class Progress:
    """What the file says; hints is "STAGE/CRITERION" -> hints shown, notice what the learner must know of the file.

    work holds by stage what its checks add up to. seen is "STAGE/CRITERION" -> when its function of the reference was
    shown before the stage had passed (ISO), remedies "STAGE/CRITERION" -> the mark of the remedy that a hint told last.
    """

    passed: Mapping[str, Pass] = field(default_factory=dict, hash=False)
    skipped: frozenset[str] = frozenset()
    hints: Mapping[str, int] = field(default_factory=dict, hash=False)
    last: str | None = None
    notice: str | None = None
    public: Mapping[str, Pass] = field(default_factory=dict, hash=False)
    work: Mapping[str, Work] = field(default_factory=dict, hash=False)
    seen: Mapping[str, str] = field(default_factory=dict, hash=False)
    remedies: Mapping[str, str] = field(default_factory=dict, hash=False)

    def seen_of(self, stage: Stage) -> tuple[str, ...]:
        """The criteria of a stage whose function of the reference was shown before the stage had passed."""
        return tuple(criterion.id for criterion in stage.criteria if f"{stage.id}/{criterion.id}" in self.seen)


def state_of(stage: Stage, progress: Progress, digest: str | None) -> State:
    """Where a learner stands with a stage; digest is that of the module as it is now, None if there is none."""
    if stage.id in progress.passed:
        return "passed" if progress.passed[stage.id].digest == digest else "changed"
    if stage.id in progress.public:
        return "public" if progress.public[stage.id].digest == digest else "open"
    if stage.id in progress.skipped:
        return "skipped"
    return "locked" if waits_for(stage, progress) else "open"


def waits_for(stage: Stage, progress: Progress) -> tuple[str, ...]:
    """The required stages that are neither passed nor skipped; a pass counts even if the file changed since."""
    return tuple(each for each in stage.requires if each not in _done(progress))


def current(course: Course, progress: Progress) -> Stage | None:
    """The first stage, in order, that is open; None when there is none left."""
    done = _done(progress)
    return next((each for each in course.stages if each.id not in done and not waits_for(each, progress)), None)


def _done(progress: Progress) -> frozenset[str]:
    """The stages that open those after them: passed, as far as could be seen here, or skipped."""
    return progress.skipped | progress.passed.keys() | progress.public.keys()
