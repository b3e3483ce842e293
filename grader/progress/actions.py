"""What the commands do: they decide, grade and record, but print nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from grader import __version__
from grader.course import sealed
from grader.course.provenance import made_here
from grader.course.stage import Stage
from grader.errors import NotHandedIn, ProgressError, SubmissionError
from grader.progress import last_check
from grader.progress.grading import graded, no_run, passed_beside
from grader.progress.locked import locked_by, locked_error
from grader.progress.state import state_of
from grader.progress.workspace import GradingRequest, Workspace
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
    last_check.remember(workspace.store.folder, stage, verdict, request.row)
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
    robust = sum(row.robust for row in verdict.criteria)
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
