"""The function of a row as the reference has it, for a learner whom no hint has helped; it is recorded as seen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from grader.course.answers import reference_source, stub_source
from grader.course.sealed import public_only
from grader.course.stage import Criterion, Stage
from grader.course.stub import excerpt_of
from grader.errors import CourseError, SealError, StageLocked
from grader.progress.actions import Workspace
from grader.progress.hints import hints_left


@dataclass(frozen=True)
class Seen:
    """What was shown of a row: functions of the reference, the private helpers that these need, and their text.

    when is the time of the first showing; None where the stage had passed, so that nothing is recorded.
    """

    criterion: Criterion
    functions: tuple[str, ...]
    helpers: tuple[str, ...]
    text: str
    when: str | None


def is_new(workspace: Workspace, stage: Stage, row: Criterion) -> bool:
    """Say whether showing a row would be recorded now.

    Raises SealError where the reference is sealed and its key is somewhere else, StageLocked before the last hint.
    """
    if public_only(stage):
        message = f"the solution of {stage.id} is sealed in this copy of the course, and the key to it is not here"
        remedy = f"Ask your instructor about {row.id}; `grader show {stage.id} {row.id}` explains the step."
        raise SealError(message, remedy)
    progress = workspace.store.read()
    if stage.id in progress.passed or row.id in progress.seen_of(stage):
        return False
    if left := hints_left(workspace, stage, row):
        message = f"{row.id} is shown after its last hint, and {left} hint{' is' if left == 1 else 's are'} left"
        raise StageLocked(message, f"`grader hint {stage.id} {row.id}` shows the next one.")
    return True


def shown(workspace: Workspace, stage: Stage, row: Criterion, now: datetime) -> Seen:
    """Return the function of a row as the reference has it, and record that; the stage can still be passed.

    It is recorded first: what cannot be recorded, a ProgressError, is not shown. Raises what is_new raises, too.
    """
    new = is_new(workspace, stage, row)
    functions = subjects(stage, row)
    others = {name for other in stage.criteria for name in other.functions} - {*row.functions}
    found = excerpt_of(reference_source(stage), stub_source(stage), functions, others)
    if not found.text.strip():
        raise CourseError(f"the reference of {stage.id} has no {functions[0]}", "Its author has to add it.")
    progress = workspace.store.record_seen(stage.id, row.id, now) if new else workspace.store.read()
    return Seen(row, functions, found.helpers, found.text, progress.seen.get(f"{stage.id}/{row.id}"))


def subjects(stage: Stage, row: Criterion) -> tuple[str, ...]:
    """Return the functions and methods that a row is about; a class belongs to the first row that names it.

    Later rows that name it as well build on it.
    """
    used = {name for other in stage.criteria[: stage.criteria.index(row)] for name in other.functions}
    classes = {name for name in used if name[:1].isupper() and "." not in name}
    return tuple(name for name in row.functions if name not in classes) or row.functions
