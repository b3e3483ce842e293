"""What a learner has passed, and where that leaves each stage: pure functions over what the store has read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from grader.course.stage import Course, Stage
from grader.progress.work import Work

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
class Reached:
    """How many criteria a stage has, and how many of them pass and are robust."""

    criteria: int
    passed: int
    robust: int


@dataclass(frozen=True)
class Progress:
    """What the file says; hints is "STAGE/ROW" -> hints shown, notice what the learner must know of the file.

    work holds by stage what its checks add up to. seen is "STAGE/ROW" -> when its function of the reference was shown
    before the stage had passed (ISO), remedies "STAGE/ROW" -> the mark of the remedy that a hint told last.
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
        """The rows of a stage whose function of the reference was shown before the stage had passed."""
        return tuple(row.id for row in stage.criteria if f"{stage.id}/{row.id}" in self.seen)


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
