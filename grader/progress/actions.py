"""Actions of the commands: name a stage, check, start, reset, show a solution. They record, and print nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grader import __version__
from grader.atomic import write_atomically
from grader.course import sealed
from grader.course.provenance import made_here
from grader.course.sealed import public_only
from grader.course.stage import Course, Stage
from grader.course.table import listed
from grader.errors import NotHandedIn, ProgressError, StageLocked, SubmissionError, UnknownStage, UsageError
from grader.progress import last_check
from grader.progress.last_check import LastCheck
from grader.progress.state import current, state_of
from grader.progress.store import backup
from grader.progress.workspace import (
    GradingRequest,
    Workspace,
    equipped,
    graded,
    locked_by,
    locked_error,
    no_run,
    passed_beside,
)
from grader.submission import Snapshot, take

if TYPE_CHECKING:
    from grader.progress.workspace import OnDecided, OnTest
    from grader.verdict import Verdict

__all__ = [
    "GradingRequest",
    "OnTest",
    "Which",
    "Workspace",
    "check",
    "check_all",
    "graded",
    "is_stub",
    "stub_text",
]
Which = Literal["all", "begun"]


def check(
    workspace: Workspace,
    stage: Stage,
    request: GradingRequest,
    on_test: OnTest | None = None,
    on_decided: OnDecided | None = None,
) -> Verdict:
    """Grade a stage; the learner's own is refused while it is locked, and a pass of it is recorded.

    on_decided is told of the verdict before the causes of failures are looked for, where any are.
    With request.anyway a locked stage is graded too, and nothing is recorded.
    """
    if request.only is not None:
        request = replace(request, only=stage.asked(request.only).id)
    if request.submission is not None:
        sealed.expect_key(stage, "what somebody handed in")
        snapshot = take(stage, request.submission, workspace.course.root)
        request = replace(request, passed=passed_beside(workspace, stage, request, on_test))
        return graded(workspace, stage, snapshot, request, on_test, on_decided)
    progress = workspace.store.read()
    locked = bool(locked_by(workspace, stage, progress))
    if locked and not request.anyway:
        raise locked_error(workspace, stage, progress)
    grade = graded if locked else _own
    return grade(workspace, stage, take(stage, None, workspace.course.root), request, on_test, on_decided)


def check_all(
    workspace: Workspace, request: GradingRequest, on_test: OnTest | None = None, which: Which = "all"
) -> Iterator[Verdict]:
    """Grade one stage after the other: all of someone's files, or the learner's own that are unlocked or begun."""
    for stage in workspace.course.stages:
        if request.submission is None and not _is_wanted(workspace, stage, which):
            continue
        try:
            snapshot = take(stage, request.submission, workspace.course.root)
        except SubmissionError as error:
            yield _ungraded(stage, request, error)
            continue
        grade = _own if request.submission is None else graded
        verdict = grade(workspace, stage, snapshot, request, on_test)
        if verdict.passed:
            request = replace(request, passed={**request.passed, stage.id: snapshot.digest})
        yield verdict


def stub_text(stage: Stage) -> str:
    """Return what a stage's module is before anyone has worked on it."""
    from grader.course.answers import stub_source

    return stub_source(stage)


def is_stub(stage: Stage) -> bool:
    """Say whether the learner's module is still the stub, or not there at all."""
    try:
        return stage.module_path.read_bytes().replace(b"\r\n", b"\n") == stub_text(stage).encode()
    except OSError:
        return True


def _is_wanted(workspace: Workspace, stage: Stage, which: Which) -> bool:
    unlocked = which == "all" and not locked_by(workspace, stage, workspace.store.read())
    return unlocked or _is_begun(workspace, stage)


def _is_begun(workspace: Workspace, stage: Stage) -> bool:
    return stage.id in workspace.store.read().passed or not is_stub(stage)


def _own(
    workspace: Workspace,
    stage: Stage,
    snapshot: Snapshot,
    request: GradingRequest,
    on_test: OnTest | None,
    on_decided: OnDecided | None = None,
) -> Verdict:
    """Grade the learner's own module, and record it; a result that cannot be recorded is a result all the same."""
    verdict = graded(workspace, stage, snapshot, request, on_test, on_decided)
    last_check.remember(workspace.store.folder, stage, verdict, request.asked)
    try:
        return _recorded(workspace, stage, snapshot, request, verdict)
    except ProgressError as error:
        return replace(verdict, unrecorded=error.message)


def _recorded(
    workspace: Workspace, stage: Stage, snapshot: Snapshot, request: GradingRequest, verdict: Verdict
) -> Verdict:
    """Record that a module was worked on and, if all of it passes, the pass; return the verdict with what that opens.

    Where the hidden tests are sealed there is none to record, but that the public ones pass.
    """
    now = datetime.now(UTC)
    if verdict.grader_fault or verdict.is_untouched:  # which is no attempt
        workspace.store.record_last(stage.id)
        return verdict
    if not (verdict.passed or verdict.public_passed) or request.only is not None:
        workspace.store.record_check(stage.id, snapshot.digest, now)
        return verdict
    before = workspace.store.read()
    record = workspace.store.record_pass if verdict.passed else workspace.store.record_public
    made = made_here()
    robust = sum(each.robust for each in verdict.criteria)
    after = record(
        stage.id, snapshot.digest, verdict.run.seed, __version__, now, isolation=verdict.run.isolation,
        python=made.python, numpy=made.numpy, criteria=len(verdict.criteria), robust=robust,
    )  # fmt: skip
    closed = [each for each in workspace.course.stages if state_of(each, before, None) == "locked"]
    return replace(verdict, unlocked=tuple(each.id for each in closed if state_of(each, after, None) == "open"))


def _ungraded(stage: Stage, request: GradingRequest, error: SubmissionError) -> Verdict:
    """Return the verdict of a stage whose module cannot be accepted."""
    from grader.submission.parsing import Problem
    from grader.verdict import decide

    absent = isinstance(error, NotHandedIn)
    problem = Problem("missing", error.message, None, error.hint, absent)
    return decide(stage, (), (), no_run(stage, request), problem=problem)


@dataclass(frozen=True)
class StageStart:
    """The ids that are skipped now, and the stage that the learner is at: another one where the wanted has passed."""

    skipped: tuple[str, ...]
    here: Stage | None


def start(workspace: Workspace, stage: Stage) -> StageStart:
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
    return StageStart(tuple(skipped), current(workspace.course, progress))


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
            f"`grader hint {stage.id}` helps one step further. After the last hint of a criterion "
            f"`grader solution {stage.id} CRITERION --give-up` shows its function alone."
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


def checked(workspace: Workspace, stage: Stage, criterion: str | None = None) -> LastCheck:
    """Return what the last check found or, where the module has changed, what one finds now; no pass is recorded.

    criterion is the one that somebody wants to read: where the last check had only a small share of trials for
    its cause, it is looked for anew.
    """
    known = last_checked(workspace, stage)
    if known is not None and (criterion is None or stage.feedback != "full" or known.is_searched(criterion)):
        return known
    verdict = graded(workspace, stage, take(stage, None, workspace.course.root), GradingRequest(asked=criterion))
    if verdict.problem is not None:
        hint = verdict.problem.hint or f"`grader check {stage.id}` shows where."
        raise SubmissionError(f"{verdict.run.label}: {verdict.problem.message}", hint)
    last_check.remember(workspace.store.folder, stage, verdict, criterion)
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


def stage_and_criterion(workspace: Workspace, stage: str | None, criterion: str | None) -> tuple[Stage, str | None]:
    """Return the stage of a name and the criterion asked for; a name that is no stage may be one of its criteria.

    Raises UnknownStage where it is neither, which names the criteria there that it is like.
    """
    try:
        return stage_or_current(workspace, stage), criterion
    except UnknownStage as error:
        here = stage_here(workspace)
        if not stage or criterion is not None or here is None:
            raise
        if here.meant(stage):
            return here, stage
        if alike := here.alike(stage):
            hint = f"Of the criteria of {here.id}, did you mean {listed(alike)}? {error.hint or ''}"
            raise UnknownStage(error.message, hint.rstrip()) from None
        raise


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
