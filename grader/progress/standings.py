"""Where a learner stands with every stage of a course."""

from __future__ import annotations

from dataclasses import dataclass

from grader.course.stage import Course, Stage
from grader.errors import SubmissionError
from grader.progress.state import Progress, Reached, State, current, state_of, waits_for
from grader.progress.steps import last_seen
from grader.progress.workspace import Workspace


@dataclass(frozen=True)
class Standing:
    """Where a learner stands with one stage; waits_for holds the ids that come first.

    reached is what the recorded pass of its present text says or, of another text, the last check. seen holds the rows
    whose function of the reference was shown before the stage had passed.
    """

    stage: Stage
    state: State
    is_current: bool
    waits_for: tuple[str, ...]
    reached: Reached | None = None
    seen: tuple[str, ...] = ()


def standings(workspace: Workspace, progress: Progress) -> tuple[Standing, ...]:
    """Return where the learner stands, stage by stage."""
    here = current(workspace.course, progress)
    found: list[Standing] = []
    for stage in workspace.course.stages:
        recorded = stage.id in progress.passed or stage.id in progress.public
        state = state_of(stage, progress, _digest(stage, workspace.course) if recorded else None)
        reached = _reached(workspace, stage, state, progress)
        seen = progress.seen_of(stage)
        found.append(Standing(stage, state, stage is here, waits_for(stage, progress), reached, seen))
    return tuple(found)


def _reached(workspace: Workspace, stage: Stage, state: State, progress: Progress) -> Reached | None:
    if state in ("locked", "skipped"):
        return None
    if state == "passed":
        kept = progress.passed[stage.id]
        known = kept.criteria is not None and kept.robust is not None
        return Reached(kept.criteria or 0, kept.criteria or 0, kept.robust or 0) if known else None
    found = last_seen(workspace, stage)
    return None if found is None else Reached(len(found.rows), found.passed, found.robust)


def _digest(stage: Stage, course: Course) -> str | None:
    from grader.submission import take

    try:
        return take(stage, None, course.root).digest
    except SubmissionError:
        return None
