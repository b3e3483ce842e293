"""What helps a learner beside a check: where to begin, starting over, the solution."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader import __version__
from grader.atomic import write_atomically
from grader.course.sealed import public_only
from grader.course.stage import Course, Stage
from grader.errors import ProgressError, StageLocked, SubmissionError
from grader.progress import last_check
from grader.progress.actions import GradingRequest, Workspace, is_stub, stub_text
from grader.progress.building import equipped
from grader.progress.grading import graded
from grader.progress.last_check import LastCheck
from grader.progress.state import current
from grader.progress.store import backup
from grader.submission import take


@dataclass(frozen=True)
class Start:
    """The ids that are skipped now, and the stage that the learner is at: another one where the wanted has passed."""

    skipped: tuple[str, ...]
    here: Stage | None


def start(workspace: Workspace, stage: Stage) -> Start:
    """Make a stage the current one, and say what that has led to; what is passed stays passed.

    Only stages before it, and those that it waits for, are skipped: from it on, what was skipped earlier is open again.
    """
    progress = workspace.store.read()
    before = {each.id for each in workspace.course.stages if each.number < stage.number} | _needed(
        workspace.course, stage
    )
    skipped = [each.id for each in workspace.course.stages if each.id in before and each.id not in progress.passed]
    for each in workspace.course.stages:
        if each.id in progress.skipped and each.id not in before:
            workspace.store.forget(each.id)
    workspace.store.record_skip(skipped)
    progress = workspace.store.record_last(stage.id)
    return Start(tuple(skipped), current(workspace.course, progress))


def reset(workspace: Workspace, stage: Stage) -> Path | None:
    """Put the stub in place of the learner's module; return where the old file is kept, None if nothing was lost."""
    stub = stub_text(stage)
    path = stage.module_path
    kept = None if is_stub(stage) else backup(workspace.course.root, path, datetime.now(UTC))
    write_atomically(path, stub, ProgressError)
    workspace.store.forget(stage.id)
    return kept


def solution(workspace: Workspace, stage: Stage) -> str:
    """Return the reference solution of a stage that the learner has passed; StageLocked before that."""
    from grader.course.answers import reference_source

    if public_only(stage):
        return reference_source(stage)  # says that it is sealed, which no pass could change
    if stage.id not in workspace.store.read().passed:
        more = (
            f"`grader hint {stage.id}` helps one step further. After the last hint of a row "
            f"`grader solution {stage.id} ROW --give-up` shows its function alone."
        )
        raise StageLocked(f"the solution of {stage.id} is shown once {stage.id} has passed", more)
    return reference_source(stage)


def last_checked(workspace: Workspace, stage: Stage) -> LastCheck | None:
    """Return what the last check of a stage found, if the module is still the same; else None."""
    try:
        snapshot = take(stage, None, workspace.course.root)
    except SubmissionError:
        return None
    snapshot = equipped(workspace.course, workspace.store, stage, snapshot, None, {})
    return last_check.recall(workspace.store.folder, stage, snapshot.whole, __version__)


def checked(workspace: Workspace, stage: Stage, row: str | None = None) -> LastCheck:
    """Return what the last check found or, where the module has changed, what one finds now; no pass is recorded.

    row is the row that somebody wants to read: where the last check had only a small share of trials for its cause, it
    is looked for anew.
    """
    known = last_checked(workspace, stage)
    if known is not None and (row is None or stage.feedback != "full" or known.is_searched(row)):
        return known
    verdict = graded(workspace, stage, take(stage, None, workspace.course.root), GradingRequest(row=row))
    if verdict.problem is not None:
        hint = verdict.problem.hint or f"`grader check {stage.id}` shows where."
        raise SubmissionError(f"{verdict.run.label}: {verdict.problem.message}", hint)
    last_check.remember(workspace.store.folder, stage, verdict, row)
    return last_check.of(verdict, stage)


def _needed(course: Course, stage: Stage) -> set[str]:
    """Return the ids of all stages that a stage builds on, however far away."""
    found: set[str] = set()
    queue = list(stage.requires)
    while queue:
        if (each := queue.pop()) not in found:
            found.add(each)
            queue += course.find(each).requires
    return found
