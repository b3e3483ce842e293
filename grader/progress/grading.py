"""The grading of one stage's module in a workspace: with what it builds on, or as one that waits for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from grader import __version__
from grader.errors import StageWaits
from grader.progress import building
from grader.submission import Snapshot

if TYPE_CHECKING:
    from grader.course.stage import Stage
    from grader.progress.workspace import GradingRequest, OnDecided, OnTest, Workspace
    from grader.verdict import Run, Verdict


def graded(
    workspace: Workspace,
    stage: Stage,
    snapshot: Snapshot,
    request: GradingRequest,
    on_test: OnTest | None = None,
    on_decided: OnDecided | None = None,
) -> Verdict:
    """Grade a snapshot of one stage's module, and record nothing."""
    from grader.judging.grading import Options, fresh_seed, grade

    path = None if request.ours else request.submission
    lending = building.lending(workspace.course, stage, path, request.lent, request.now)
    try:
        snapshot = building.equipped(
            workspace.course, workspace.store, stage, snapshot, request.submission, request.passed, lending
        )
    except StageWaits as why:
        run = replace(no_run(stage, request), label=snapshot.label, revision=snapshot.revision)
        return waiting(stage, run, why)
    seed = fresh_seed() if request.seed is None else request.seed
    asked = () if request.row is None else (request.row,)
    options = Options(
        seed, request.isolation, request.only, require=request.require, ahead=request.ahead, asked=asked,
        feedback=request.feedback,
    )  # fmt: skip
    return (workspace.grade or grade)(workspace.course, stage, snapshot, options, on_test, on_decided)


def passed_beside(
    workspace: Workspace, stage: Stage, request: GradingRequest, on_test: OnTest | None
) -> Mapping[str, str]:
    """Return, by stage, the digests of the earlier modules that came with a stage's and pass; they are graded first."""

    def grade(used: Stage, module: Snapshot, passed: Mapping[str, str]) -> Verdict:
        return graded(workspace, used, module, replace(request, only=None, row=None, passed=passed), on_test)

    path = None if request.ours else request.submission
    return building.passed_beside(workspace.course, stage, path, request.passed, grade)


def no_run(stage: Stage, request: GradingRequest) -> Run:
    """Return what is known of a run in which no test was run."""
    from grader.verdict import Run

    return Run(
        request.seed or 0, "none", None, 0.0, __version__, "", f"stages/{stage.name}/{stage.module}", request.only
    )


def waiting(stage: Stage, run: Run, why: StageWaits) -> Verdict:
    """Return the verdict of a module that waits for earlier stages: no row of it was graded."""
    from grader.submission.parsing import Problem
    from grader.verdict import Verdict

    problem = Problem("waits", why.message, None, why.hint)
    return Verdict(stage.id, stage.title, False, (), run, problem, waits_for=why.stages)
