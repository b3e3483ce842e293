"""A course with its learner's progress, and what a command asks to be graded in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader.course import sealed
from grader.course.manifest import load_course
from grader.course.settings import find_course_root
from grader.course.stage import Course, Feedback, Stage
from grader.progress.store import Store

if TYPE_CHECKING:
    from grader.judging.grading import Options
    from grader.outcome import Outcome
    from grader.submission import Snapshot
    from grader.verdict import Verdict

    OnTest = Callable[[Outcome], None]
    OnDecided = Callable[[Verdict], None]
    Grade = Callable[[Course, Stage, Snapshot, Options, OnTest | None, OnDecided | None], Verdict]


@dataclass(frozen=True)
class Workspace:
    """A course and what its learner has reached in it; grade is what grades, by default a new grader each time.

    within is the stage in whose folder the learner works, if it is one.
    """

    course: Course
    store: Store
    grade: Grade | None = None
    within: Stage | None = None


@dataclass(frozen=True)
class GradingRequest:
    """What to grade and how: someone's files, one row, the seed, the isolation, the least, and whose work it is.

    passed holds, by stage, the digest of what passed earlier in the same run; ahead the rows to begin with. lent says
    from when on references serve someone's files, None for never; one's own they always serve, and ours, the course's.
    row is a row that somebody wants to read, of a whole check; feedback how much is told at most.
    now is the one moment with which all of the command is compared. anyway grades the learner's own where it is locked.
    """

    submission: Path | None = None
    only: str | None = None
    seed: int | None = None
    isolation: str = "auto"
    require: str = "auto"
    student: str | None = None
    passed: Mapping[str, str] = field(default_factory=dict)
    ahead: tuple[str, ...] = ()
    lent: datetime | None = None
    ours: bool = False
    anyway: bool = False
    row: str | None = None
    feedback: Feedback = "full"
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


def open_workspace(start: Path, key_file: Path | None = None) -> Workspace:
    """Find the course that a folder lies in; key_file opens hidden tests that are sealed."""
    root = find_course_root(start)
    course = load_course(root)
    if (key := sealed.wanted_key(key_file)) is not None:
        course = replace(course, stages=tuple(stage.with_key(key) for stage in course.stages))
    here, top = start.resolve(), root.resolve()  # a link may lead out of the course
    place = here.relative_to(top).parts[:2] if here.is_relative_to(top) else ()
    within = next((stage for stage in course.stages if place == (stage.folder.parent.name, stage.name)), None)
    return Workspace(course, Store(root), within=within)
