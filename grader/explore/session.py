"""One exploration: a learner's module, an example, and the steps of the stage."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from grader.course.provided import data_files
from grader.course.stage import Course, Stage
from grader.explore import drawing, model
from grader.explore.model import Call, Example, Exploration, Part, Plan, Ran, Step, StepResult
from grader.explore.plans import plans
from grader.explore.walk import Walk
from grader.isolation import tiers
from grader.isolation.workers import Workers
from grader.judging.bounded import Bounded, Bounds, Telling, bounded
from grader.judging.messages import Messages, SharedStatus, records, unpacked
from grader.judging.task import Death
from grader.outcome import Where
from grader.sandbox.process import LearnerProcess, LoadFailed, job_for
from grader.submission import Snapshot
from grader.submission.parsing import Problem
from grader.submission.source import check_source

RECORDS = records(vars(model).values(), vars(drawing).values(), [Problem, Where])


def explore(
    course: Course, stage: Stage, snapshot: Snapshot, example: Example | None, seed: int, isolation: str = "auto"
) -> Exploration:
    """Run a stage's steps with someone's module; IsolationRefused where the requested isolation is unavailable."""
    plan = plans(course)[stage.id]
    known = dict(plan.start(example, seed, data_files(stage)) if plan.data else plan.start(example, seed))
    tier, note = tiers.choose(isolation)
    ran = Ran(snapshot.label, snapshot.digest, tier, note, seed if plan.random else None)
    base = Exploration(stage.id, stage.title, None if plan.prompt else example, ran, given=_given(plan, example))
    if (problem := check_source(stage, snapshot).first) is not None:
        return replace(base, problem=problem)
    job = job_for(stage, snapshot, course.root)
    is_lesson = example is None or example.is_lesson

    def body(messages: Messages, workers: Workers, shared: SharedStatus) -> None:
        walked(plan, stage, LearnerProcess(job, tier, workers), known, is_lesson, Telling(messages, shared))

    found = bounded(
        body,
        tiers.LocalWorkerFactory(tier, course.root, packages=stage.packages),
        Bounds(stage.limits.judge_mb, stage.limits.stage_seconds),
    )
    return _put_together(base, plan, stage, found)


def _given(plan: Plan, example: Example | None) -> str:
    """Return what a stage's own data are, behind the text that is continued, if it is about one."""
    words = "" if example is None else " ".join(example.words)
    return f"“{words or plan.prompt}” · {plan.given}" if plan.prompt else plan.given


def walked(
    plan: Plan, stage: Stage, process: LearnerProcess, known: dict[str, Any], is_lesson: bool, telling: Telling
) -> None:
    """Go through the steps, within a judge, and tell what came of each, then what can be drawn."""
    try:
        process.load()
    except LoadFailed as failed:
        telling.send("problem", failed.problem)
        return
    process.on_request = telling.shared.call
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
    faulty = first_faulty(tuple(steps))
    rows = {call.id: call.row for step in plan.steps for call in step.calls}
    whole = replace(base, steps=tuple(steps), maps=maps, drawings=drawings, next_function=following)
    return whole if faulty is None else replace(whole, look_at=faulty.function, look_row=rows[faulty.id])


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

    def place(name: str) -> tuple[int, int, str]:
        row = stage.criterion_of(name)
        if row is None:
            return len(stage.criteria), 0, name
        return stage.criteria.index(row), row.functions.index(name) if name in row.functions else 0, name

    return min(unwritten, key=place, default=None)


def first_faulty(steps: tuple[StepResult, ...]) -> Part | None:
    """Return the first part that gave something else than it should."""
    parts = [part for step in steps for part in step.parts]
    return next((part for part in parts if part.status not in ("passed", "not_started", "blocked")), None)
