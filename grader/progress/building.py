"""What a submission builds on: the modules of earlier stages, the learner's own where their very text has passed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.course.sealed import public_only
from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import Snapshot, holds_stages, take
from grader.submission.used import used_modules

if TYPE_CHECKING:
    from grader.progress.actions import GradingRequest, Workspace


def equipped(workspace: Workspace, stage: Stage, snapshot: Snapshot, request: GradingRequest) -> Snapshot:
    """Return a snapshot with the modules that it may import.

    A module handed in beside it serves where its very text has passed: earlier in the same run, or as recorded here.
    """
    if not stage.builds_on:
        return snapshot
    progress = workspace.store.read()
    path = request.submission

    def own(used: Stage) -> Snapshot | None:
        recorded = {**progress.public, **progress.passed}
        if not (public_only(used) or used.id in recorded or used.id in request.passed):
            return None
        if path is not None and not holds_stages(path):
            return None
        try:
            return take(used, path, workspace.course.root)
        except SubmissionError:
            return None

    def has_passed(used: Stage, digest: str) -> bool:
        known = [request.passed.get(used.id), *(each.digest for each in (progress.passed.get(used.id),) if each)]
        if public_only(used) and used.id in progress.public:  # of what can be seen without the key, it is all
            known.append(progress.public[used.id].digest)
        return digest in known

    return replace(snapshot, uses=used_modules(stage, own, has_passed))
