"""One exploration: a learner's module, an example, and the steps of the stage."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from grader.course.stage import Course, Stage
from grader.explore.model import Example, Exploration, Plan, Ran, StepResult
from grader.explore.stages import s04, s05, s06, s07, s09, s10, s11, s12, s13, s14, s15, s17
from grader.explore.stages.drawings import s04 as s04_drawings
from grader.explore.stages.drawings import s05 as s05_drawings
from grader.explore.stages.drawings import s06 as s06_drawings
from grader.explore.stages.drawings import s07 as s07_drawings
from grader.explore.stages.drawings import s09 as s09_drawings
from grader.explore.stages.drawings import s10 as s10_drawings
from grader.explore.stages.drawings import s11 as s11_drawings
from grader.explore.stages.drawings import s12 as s12_drawings
from grader.explore.stages.drawings import s13 as s13_drawings
from grader.explore.stages.drawings import s14 as s14_drawings
from grader.explore.walk import Walk
from grader.isolation import tiers
from grader.remote.process import LearnerProcess, LoadFailed, job_for
from grader.submission import Snapshot
from grader.submission.source import check_source

PLANS: Mapping[str, Plan] = {
    "s04": Plan(s04.STEPS, s04.start, random=True, given=s04.GIVEN, drawings=s04_drawings.drawings),
    "s05": Plan(s05.STEPS, s05.start, random=False, given=s05.GIVEN, drawings=s05_drawings.drawings),
    "s06": Plan(s06.STEPS, s06.start, random=True, given=s06.GIVEN, drawings=s06_drawings.drawings),
    "s07": Plan(s07.STEPS, s07.start, random=True, given=s07.GIVEN, drawings=s07_drawings.drawings),
    "s09": Plan(s09.STEPS, s09.start, random=True, given=s09.GIVEN, drawings=s09_drawings.drawings),
    "s10": Plan(s10.STEPS, s10.start, random=True, given=s10.GIVEN, drawings=s10_drawings.drawings),
    "s11": Plan(s11.STEPS, s11.start, random=False, given=s11.GIVEN, drawings=s11_drawings.drawings),
    "s12": Plan(s12.STEPS, s12.start, random=True, given=s12.GIVEN, drawings=s12_drawings.drawings),
    "s13": Plan(s13.STEPS, s13.start, random=True, given=s13.GIVEN, drawings=s13_drawings.drawings),
    "s14": Plan(s14.STEPS, s14.start, random=True, given=s14.GIVEN, drawings=s14_drawings.drawings),
    "s15": Plan(s15.STEPS, s15.start, random=False, of_sentence=True, maps=s15.maps),
    "s17": Plan(s17.STEPS, s17.start, random=True, of_sentence=True, maps=s17.maps),
}


def explore(
    course: Course, stage: Stage, snapshot: Snapshot, example: Example | None, seed: int, isolation: str = "auto"
) -> Exploration:
    """Run a stage's steps with someone's module; IsolationRefused where the wanted isolation is not to be had."""
    plan = PLANS[stage.id]
    known = dict(plan.start(example, seed))
    tier, note = tiers.choose(isolation)
    ran = Ran(snapshot.label, snapshot.digest, tier, note, seed if plan.random else None)
    base = Exploration(stage.id, stage.title, example, ran, given=plan.given)
    if (problem := check_source(stage, snapshot).first) is not None:
        return replace(base, problem=problem)
    job = job_for(stage, snapshot, course.root)
    process = LearnerProcess(job, tier, tiers.Own(tier, course.root))
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
