"""What helps a learner beside a check: where to begin, starting over, the solution, the README."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader import __version__
from grader.atomic import write_atomically
from grader.course.sealed import public_only
from grader.course.stage import STAGES, Course, Criterion, Stage
from grader.errors import CourseError, ProgressError, StageLocked, SubmissionError
from grader.progress import last_check
from grader.progress.actions import GradingRequest, Workspace, is_stub, stub_text
from grader.progress.building import equipped
from grader.progress.grading import graded
from grader.progress.last_check import LastCheck
from grader.progress.state import current
from grader.progress.steps import Step, asked, shown, steps_of
from grader.progress.store import backup
from grader.submission import take

_PICTURE_OR_CODE = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)|\Z)|(?P<ticks>`+)[^`\n]*(?P=ticks)"
    r"|!\[(?P<markdown>[^]]*)\]\([^)\n]*\)"
    r"""|(?:<picture>\s*(?:<source\b[^>]*>\s*)*)?<img\b[^>]*?\balt="(?P<html>[^"]*)"[^>]*>(?:\s*</picture>)?""",
    re.MULTILINE | re.DOTALL,
)


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


def readme(stage: Stage) -> str:
    """Return the text of a stage's README, with what each picture shows in its place."""
    return _page(stage.readme_path, stage.name)


def other_page(course: Course, name: str) -> str:
    """Return the text of the README in a folder beside the stages; empty where a stage is meant, or nothing."""
    path = course.root / STAGES / name / "README.md"
    known = {stage.name for stage in course.stages}
    return _page(path, name) if name.isidentifier() and name not in known and path.is_file() else ""


def _page(path: Path, folder: str) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{STAGES}/{folder}/README.md cannot be read: {error}") from error
    return _PICTURE_OR_CODE.sub(_told, text)


def part(stage: Stage, name: str) -> str:
    """Return the step of a README that a number, a row or a function means, as a page; UsageError where none is.

    A README that is not divided into steps is returned whole for any of its rows.
    """
    text = readme(stage)
    steps = steps_of(stage, text)
    return "\n".join(shown(stage, steps, step, name) for step in asked(stage, steps, name)) or text


def _told(found: re.Match[str]) -> str:
    """Return a picture as one line of text, and code as it is."""
    told = found["markdown"] if found["markdown"] is not None else found["html"]
    return found[0] if told is None else f"Picture: {' '.join(told.split())}"


def last_checked(workspace: Workspace, stage: Stage) -> LastCheck | None:
    """Return what the last check of a stage found, if the module is still the same; else None."""
    try:
        snapshot = take(stage, None, workspace.course.root)
    except SubmissionError:
        return None
    snapshot = equipped(workspace.course, workspace.store, stage, snapshot, None, {})
    return last_check.recall(workspace.store.folder, stage, snapshot.whole, __version__)


def checked(workspace: Workspace, stage: Stage) -> LastCheck:
    """Return what the last check found or, where the module has changed, what one finds now; no pass is recorded."""
    if (known := last_checked(workspace, stage)) is not None:
        return known
    verdict = graded(workspace, stage, take(stage, None, workspace.course.root), GradingRequest())
    if verdict.problem is not None:
        hint = verdict.problem.hint or f"`grader check {stage.id}` shows where."
        raise SubmissionError(f"{verdict.run.label}: {verdict.problem.message}", hint)
    last_check.remember(workspace.store.folder, stage, verdict)
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
