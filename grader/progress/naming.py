"""What somebody means who names a stage, or only a row of the one where they are."""

from __future__ import annotations

from grader.course.stage import Stage
from grader.errors import UnknownStage
from grader.progress.actions import Workspace, stage_or_current
from grader.progress.state import current


def stage_and_row(workspace: Workspace, stage: str | None, row: str | None) -> tuple[Stage, str | None]:
    """Return the stage of a name and the row asked for; a name that is no stage may be a row of where one is.

    Raises UnknownStage where it is neither.
    """
    try:
        return stage_or_current(workspace, stage), row
    except UnknownStage:
        here = current(workspace.course, workspace.store.read())
        if stage is None or row is not None or here is None or not here.meant(stage):
            raise
        return here, stage
