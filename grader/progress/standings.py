"""A learner's standing in every stage of a course."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.course.stage import Course, Stage
from grader.errors import SubmissionError
from grader.progress.readme_steps import last_seen
from grader.progress.state import CriteriaCount, Progress, State, current, state_of, waits_for
from grader.progress.workspace import Workspace

if TYPE_CHECKING:
    from grader.progress.last_check import CriterionCheck


@dataclass(frozen=True)
class Standing:
    """Where a learner stands with one stage; waits_for holds the ids that come first.

    reached is what the recorded pass of its present text says or, of another text, the last check; criteria is what
    that found. seen holds the criteria whose function of the reference was shown before the stage had passed.
    """

    stage: Stage
    state: State
    is_current: bool
    waits_for: tuple[str, ...]
    reached: CriteriaCount | None = None
    seen: tuple[str, ...] = ()
    criteria: tuple[CriterionCheck, ...] = ()


def standings(workspace: Workspace, progress: Progress) -> tuple[Standing, ...]:
    """Return where the learner stands, stage by stage."""
    here = current(workspace.course, progress)
    found: list[Standing] = []
    for stage in workspace.course.stages:
        recorded = stage.id in progress.passed or stage.id in progress.public
        state = state_of(stage, progress, _digest(stage, workspace.course) if recorded else None)
        criteria = _criteria(workspace, stage, state)
        reached = _reached(criteria, stage, state, progress)
        seen = progress.seen_of(stage)
        found.append(Standing(stage, state, stage is here, waits_for(stage, progress), reached, seen, criteria))
    return tuple(found)


def _criteria(workspace: Workspace, stage: Stage, state: State) -> tuple[CriterionCheck, ...]:
    """Return what the last check found of a stage whose text has not passed; nothing where there was none."""
    if state in ("locked", "skipped", "passed"):
        return ()
    found = last_seen(workspace, stage)
    return () if found is None else found.criteria


def _reached(
    criteria: tuple[CriterionCheck, ...], stage: Stage, state: State, progress: Progress
) -> CriteriaCount | None:
    if state == "passed":
        kept = progress.passed[stage.id]
        known = kept.criteria is not None and kept.robust is not None
        return CriteriaCount(kept.criteria or 0, kept.criteria or 0, kept.robust or 0) if known else None
    if not criteria:
        return None
    return CriteriaCount(
        len(criteria), sum(each.status == "passed" for each in criteria), sum(each.robust for each in criteria)
    )


def _digest(stage: Stage, course: Course) -> str | None:
    from grader.submission import take

    try:
        return take(stage, None, course.root).digest
    except SubmissionError:
        return None
