"""One exploration: a learner's module, an example, and the steps of the stage."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from grader.course.stage import Course, Stage
from grader.explore import drawing, model
from grader.explore.model import Call, Example, Exploration, Part, Plan, Ran, Step, StepResult
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
from grader.judging.bounded import Bounded, Bounds, Telling, bounded
from grader.judging.messages import Messages
from grader.judging.plain import records, unpacked
from grader.judging.slate import Slate
from grader.judging.task import Death
from grader.outcome import Where
from grader.remote.process import LearnerProcess, LoadFailed, Workers, job_for
from grader.submission import Snapshot
from grader.submission.source import Problem, check_source

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

RECORDS = records(vars(model).values(), vars(drawing).values(), [Problem, Where])


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
    is_lesson = example is None or example.is_lesson

    def body(messages: Messages, workers: Workers, slate: Slate) -> None:
        walked(plan, stage, LearnerProcess(job, tier, workers), known, is_lesson, Telling(messages, slate))

    found = bounded(body, tiers.Own(tier, course.root), Bounds(stage.limits.judge_mb, stage.limits.stage_seconds))
    return _put_together(base, plan, stage, found)


def walked(
    plan: Plan, stage: Stage, process: LearnerProcess, known: dict[str, Any], is_lesson: bool, telling: Telling
) -> None:
    """Go through the steps, within a judge, and tell what came of each, then what can be drawn."""
    try:
        process.load()
    except LoadFailed as failed:
        telling.send("problem", failed.problem)
        return
    process.on_request = telling.slate.call
    walk = Walk(stage, process, known, is_lesson)
    try:
        for place, step in enumerate(plan.steps):
            telling.at(place)
            telling.send("step", walk.step(step))
    finally:
        walk.close()
        process.kill()
    telling.at(len(plan.steps))
    telling.send("shown", plan.maps(walk.known), plan.drawings(walk.known), next_function(stage, walk.unwritten))


def _put_together(base: Exploration, plan: Plan, stage: Stage, found: Bounded) -> Exploration:
    """Return the exploration that was told, and where its end was not reached, why."""
    told = [(kind, *(unpacked(field, RECORDS) for field in fields)) for kind, *fields in found.told]
    if problem := next((fields[0] for kind, *fields in told if kind == "problem"), None):
        return replace(base, problem=problem)
    steps = [fields[0] for kind, *fields in told if kind == "step"]
    if found.death is not None:
        steps += [_ended(step, found.death) for step in plan.steps[len(steps) : len(steps) + 1]]
        steps += [_never_begun(step, steps[-1]) for step in plan.steps[len(steps) :]]
    shown = next((fields for kind, *fields in told if kind == "shown"), ((), (), None))
    maps, drawings, following = shown
    look_at = first_faulty(tuple(steps))
    return replace(base, steps=tuple(steps), maps=maps, drawings=drawings, next_function=following, look_at=look_at)


def _ended(step: Step, death: Death) -> StepResult:
    """Return what is told of a step whose values were too much for whoever looked at them."""
    what = f"what {death.at.label} returned" if death.at.label else "this step"
    first, *others = step.calls
    part = Part(first.id, first.code, first.function, death.status, message=f"looking at {what} took {death.reason}")
    return StepResult(step.id, step.title, step.meaning, (part, *(_blocked(call, first) for call in others)))


def _never_begun(step: Step, after: StepResult) -> StepResult:
    parts = tuple(_blocked(call, after.parts[0]) for call in step.calls)
    return StepResult(step.id, step.title, step.meaning, parts)


def _blocked(call: Call, first: Call | Part) -> Part:
    waits = f"waits for {first.function}"
    return Part(call.id, call.code, call.function, "blocked", message=waits, waits_for=first.function)


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
