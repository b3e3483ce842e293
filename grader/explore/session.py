"""One exploration: a learner's module, an example, and the steps of the stage."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from grader.explore import s15, s17
from grader.explore.model import Example, Exploration, Known, Ran, Step, StepResult, WeightMap
from grader.explore.walk import Walk
from grader.manifest import Course, Stage
from grader.run import sandbox
from grader.run.process import Job, LearnerProcess, LoadFailed
from grader.source_check import check_source
from grader.submission import Snapshot


@dataclass(frozen=True)
class Plan:
    """What the exploration of one stage consists of; random says whether the seed makes a difference."""

    steps: tuple[Step, ...]
    start: Callable[[Example, int], Known]
    maps: Callable[[Known], tuple[WeightMap, ...]]
    random: bool


PLANS: Mapping[str, Plan] = {
    "s15": Plan(s15.STEPS, s15.start, s15.maps, random=False),
    "s17": Plan(s17.STEPS, s17.start, s17.maps, random=True),
}


def explore(
    course: Course, stage: Stage, snapshot: Snapshot, example: Example, seed: int, isolation: str = "auto"
) -> Exploration:
    """Run a stage's steps with someone's module; IsolationRefused where the wanted isolation is not to be had."""
    plan = PLANS[stage.id]
    known = dict(plan.start(example, seed))
    tier, note = sandbox.choose(isolation)
    ran = Ran(snapshot.label, snapshot.digest, tier, note, seed if plan.random else None)
    base = Exploration(stage.id, stage.title, example, ran)
    if (problem := check_source(stage, snapshot)) is not None:
        return replace(base, problem=problem)
    limits = stage.limits
    job = Job(snapshot.label, snapshot.source, limits.call_seconds, limits.stage_seconds, limits.memory_mb, course.root)
    process = LearnerProcess(job, tier, sandbox.start(tier, course.root))
    try:
        process.load()
        return _walked(base, plan, Walk(stage, process, known, example.is_lesson))
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
