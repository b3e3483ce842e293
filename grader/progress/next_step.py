"""The step of a stage to work on, by what its last check found."""

from __future__ import annotations

from grader import __version__
from grader.course.stage import Criterion, Stage
from grader.progress import last_check
from grader.progress.last_check import LastCheck
from grader.progress.pages import readme
from grader.progress.steps import Step, steps_of
from grader.progress.workspace import Workspace


def next_row(workspace: Workspace, stage: Stage) -> Criterion | None:
    """Return the row to work on, as the last check left it, of whatever text: the first one before any check.

    None where every row passed.
    """
    found = last_seen(workspace, stage)
    if found is None:
        return None if stage.id in workspace.store.read().passed else stage.criteria[0]
    return stage.criterion(found.open[0].id) if found.open else None


def next_step(workspace: Workspace, stage: Stage) -> Step | None:
    """Return the step of the row to work on; None where every row passed, or where the page has no such step."""
    row = next_row(workspace, stage)
    if row is None or not stage.readme_path.is_file():
        return None
    return next((step for step in steps_of(stage, readme(stage)) if row.id in step.rows), None)


def last_seen(workspace: Workspace, stage: Stage) -> LastCheck | None:
    """Return what the last check of a stage found, of whatever text."""
    return last_check.recall(workspace.store.folder, stage, None, __version__)
