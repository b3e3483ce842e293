"""What somebody means who names a stage, or only a row of the one where they are."""

from __future__ import annotations

from grader.course.stage import Stage
from grader.errors import UnknownStage, UsageError
from grader.progress.actions import Workspace
from grader.progress.state import current


def stage_and_row(workspace: Workspace, stage: str | None, row: str | None) -> tuple[Stage, str | None]:
    """Return the stage of a name and the row asked for; a name that is no stage may be a row of where one is.

    Raises UnknownStage where it is neither.
    """
    try:
        return stage_or_current(workspace, stage), row
    except UnknownStage:
        here = stage_here(workspace)
        if stage is None or row is not None or here is None or not here.meant(stage):
            raise
        return here, stage


def stage_or_current(workspace: Workspace, name: str | None) -> Stage:
    """Return the stage of that name or, without one, the one to work on; UsageError where no stage is left.

    That is the stage in whose folder the learner is, and elsewhere the first that is open.
    """
    if name is not None:
        return workspace.course.find(name)
    stage = stage_here(workspace)
    if stage is None:
        first = workspace.course.stages[0].id
        raise UsageError("no stage is left to work on: each is passed or skipped", f"Name one: `grader check {first}`.")
    return stage


def stage_or_last(workspace: Workspace, name: str | None) -> Stage:
    """Return the stage of that name; without one that in whose folder the learner is, or the last that has passed.

    UsageError where none has.
    """
    if name is not None:
        return workspace.course.find(name)
    passed = workspace.store.read().passed
    stage = workspace.within or next((each for each in reversed(workspace.course.stages) if each.id in passed), None)
    if stage is None:
        raise UsageError(
            "no stage has passed yet, and none was named", "A solution is shown once its stage has passed."
        )
    return stage


def stage_here(workspace: Workspace) -> Stage | None:
    """Return the stage in whose folder the learner is, elsewhere the first that is open; None where none is left."""
    return workspace.within or current(workspace.course, workspace.store.read())
