"""One exploration: a learner's module, an example, and the steps of the stage."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from grader.course.stage import Course, Stage
from grader.explore.model import Example, Exploration, Plan, Ran, StepResult
from grader.explore.stages.plans import PLANS
from grader.explore.walk import Walk
from grader.isolation import tiers
from grader.remote.process import Job, LearnerProcess, LoadFailed
from grader.submission import Snapshot
from grader.submission.source import check_source


def explore(
    course: Course, stage: Stage, snapshot: Snapshot, example: Example | None, seed: int, isolation: str = "auto"
) -> Exploration:
    """Run a stage's steps with someone's module; IsolationRefused where the requested isolation is unavailable."""
    plan = PLANS[stage.id]
    known = dict(plan.start(example, seed))
    tier, note = tiers.choose(isolation)
    ran = Ran(snapshot.label, snapshot.digest, tier, note, seed if plan.random else None)
    base = Exploration(stage.id, stage.title, example, ran, given=plan.given)
    if (problem := check_source(stage, snapshot)) is not None:
        return replace(base, problem=problem)
    limits = stage.limits
    job = Job(snapshot.label, snapshot.source, limits.call_seconds, limits.stage_seconds, limits.memory_mb, course.root)
    process = LearnerProcess(job, tier, tiers.start(tier, course.root))
    try:
        process.load()
        return _walked(base, plan, Walk(stage, process, known, example is None or example.is_lesson))
    except LoadFailed as failed:
        return replace(base, problem=failed.problem)
    finally:
        process.kill()


def _walked(base: Exploration, plan: Plan, walk: Walk) -> Exploration:
    try:
        steps = tuple(walk.step(step) for step in plan.steps)
    finally:
        walk.close()
    return replace(
        base,
        steps=steps,
        maps=plan.maps(walk.known),
        drawings=plan.drawings(walk.known),
        next_function=next_function(walk.stage, walk.unwritten),
        look_at=first_faulty(steps),
    )


def next_function(stage: Stage, unwritten: Collection[str]) -> str | None:
    """Return the function to write next: of those that are not written, the one that the checklist has first."""

    def place(name: str) -> int:
        row = stage.criterion_of(name)
        return len(stage.criteria) if row is None else stage.criteria.index(row)

    return min(sorted(unwritten), key=place, default=None)


def first_faulty(steps: tuple[StepResult, ...]) -> str | None:
    """Return the function of the first part that gave something else than it should."""
    parts = [part for step in steps for part in step.parts]
    return next((part.function for part in parts if part.status not in ("passed", "not_started", "blocked")), None)
