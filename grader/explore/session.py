"""One exploration: a learner's module, an example, and the steps of the stage.

The learner's process may answer, fail, hang or end instead; each step says what came of it.
"""

from __future__ import annotations

import pickle  # nosec B403 # to compare pictures; nothing is read back
import time
import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from grader.course.provided import data_files
from grader.course.stage import Course, Stage, public_names
from grader.criterion import Status
from grader.diagnosis import calls
from grader.diagnosis.exceptions.help import too_much
from grader.explore import model
from grader.explore.model import (
    Call,
    Example,
    Exploration,
    ExplorationRun,
    Known,
    Origin,
    Part,
    PartStatus,
    Plan,
    Reading,
    Step,
    StepResult,
    plans,
)
from grader.explore.values import Unfit
from grader.isolation import tiers
from grader.isolation.workers import Workers
from grader.judging import bounds
from grader.judging.judge_process import Bounded, Bounds, bounded
from grader.judging.task import Death, Messages, SharedStatus, records, unpacked
from grader.outcome import Where
from grader.sandbox.connection import Connection, MissingName, RemoteModule
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.process import LearnerProcess, LoadFailed, job_for
from grader.sandbox.record import Frame, copied_value
from grader.sandbox.values import Unusable
from grader.submission import Snapshot
from grader.submission.parsing import Problem, lines_of
from grader.submission.source import check_source

TEXT_LIMIT = 1500


class StepRunner:
    """Goes through the steps and keeps what is known, and which functions turned out not to be written yet."""

    def __init__(self, stage: Stage, process: LearnerProcess, known: dict[str, Any], is_lesson: bool) -> None:
        self.stage = stage
        self.process = process
        self.known = known
        self.unwritten: set[str] = set()
        self._is_lesson = is_lesson
        self._ends_at = time.monotonic() + stage.limits.stage_seconds
        self._lines = calls.definition_lines(process.job.source)
        self.given: dict[str, frozenset[str]] = {}  # call -> the names of its values
        self._waits: dict[str, str] = {}  # what did not come to be -> the function that it waits for
        self._shared: tuple[str, Connection] | None = None
        self._before: Connection | None = None  # of the calls before, where nothing forks
        self._ended: dict[str, str] = {}  # a shared process that is gone -> the function that ended it

    def step(self, step: Step) -> StepResult:
        """Run the calls of one step."""
        if self._shared is not None and self._shared[0] != step.process:
            self.close()
        parts = tuple(self._part(call, step.process) for call in step.calls)
        done = all(part.status == "passed" for part in parts)
        notice = (step.notice if self._is_lesson else step.own_notice)(self.known) if done else None
        return StepResult(step.id, step.title, step.meaning, parts, notice)

    def close(self) -> tuple[Status, str] | None:
        """End the process that steps share, if there is one; return what its end tells."""
        if self._shared is None:
            return None
        connection, self._shared = self._shared[1], None
        self._before = connection
        return self.process.done(connection)

    def _part(self, call: Call, shared: str) -> Part:
        part = self._attempted(call, shared)
        if part.status not in ("passed", "warning"):
            self._waits[call.id] = part.waits_for or call.function
        return part

    def _attempted(self, call: Call, shared: str) -> Part:
        base = Part(call.id, call.code, call.function, "passed")
        missing = [self._waits.get(need, need) for need in call.needs if need not in self.known]
        if first := next(iter(missing), self._ended.get(shared)):
            return replace(base, status="blocked", message=f"waits for {first}", waits_for=first)
        try:
            connection = self._opened(shared)
        except LoadFailed as failed:  # where it had to be loaded again
            return replace(base, status="crashed", message=failed.problem.message)
        noted = len(connection.notes.warnings), len(connection.notes.printed), len(connection.changed)
        part = self._called(base, call, connection)
        ended = None if shared and connection.failure is None else self.close()
        if connection.failure is not None and shared:
            self._ended[shared] = call.function
        part = _with_end(_with_changes(part, connection, noted[2], self._place(call.function)), ended)
        return replace(part, notes=_notes(connection, *noted[:2]))

    def _opened(self, shared: str) -> Connection:
        if self._shared is None:
            before, self._before = self._before, None
            if self.process.fork or before is None or before.failure is not None:
                opened = self.process.open(self._ends_at)
            else:
                opened = self.process.follow(before, self._ends_at)
            self._shared = shared, opened
        return self._shared[1]

    def _called(self, base: Part, call: Call, connection: Connection) -> Part:
        """Run one call; what it gives becomes known, what goes wrong in the learner's code becomes a message."""
        learner = RemoteModule(connection, self.process.job.label, public_names(self.stage))
        place = self._place(call.function)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the learner's own come with the notes
                reading = call.run(learner, copied_value(self.known))
        except WorkerFailed as failure:
            return replace(base, status=failure.status, message=str(failure), where=place)
        except (Unfit, Unusable) as error:
            return replace(base, status="failed", message=str(error)[:TEXT_LIMIT], where=place)
        except MissingName as error:
            return replace(base, status="failed", message=str(error))
        except Exception as error:  # a learner's own carries its frames; any other is a fault of the grader
            if not hasattr(error, "learner_frames"):
                raise
            return self._raised(base, error, error.learner_frames)
        self.known.update(reading.values)
        self.given[call.id] = frozenset(reading.values)
        return _read(base, reading, place)

    def _raised(self, base: Part, error: Exception, frames: list[Frame]) -> Part:
        where = Where(self.process.job.label, frames[-1].line) if frames else self._place(base.function)
        if isinstance(error, NotImplementedError) and frames:
            return self._not_written(replace(base, where=where), frames[-1].function.removesuffix(".__init__"))
        shown = getattr(error, "learner_type", type(error).__name__)
        told = f"{shown}: {error.args[0] if isinstance(error, KeyError) and error.args else error}"
        if isinstance(error, MemoryError):
            told = too_much(str(error), self.stage.limits.memory_mb)
        if frames:
            told += f"   (line {frames[-1].line}: {self._line(frames[-1].line)})"
        status: PartStatus = "over_limit" if isinstance(error, MemoryError) else "failed"
        return replace(base, status=status, message=told[:TEXT_LIMIT], where=where)

    def _not_written(self, base: Part, missing: str) -> Part:
        self.unwritten.add(missing)
        own = missing.partition(".")[0] == base.function.partition(".")[0]
        if own:
            return replace(base, status="not_started", message=f"{missing} is not written yet", waits_for=missing)
        return replace(base, status="blocked", message=f"waits for {missing}", waits_for=missing)

    def _place(self, function: str) -> Where | None:
        line = self._lines.get(function)
        return None if line is None else Where(self.process.job.label, line)

    def _line(self, number: int) -> str:
        lines = lines_of(self.process.job.source)
        return lines[number - 1].strip()[:100] if 0 < number <= len(lines) else "?"


def _read(base: Part, reading: Reading, place: Where | None) -> Part:
    code = reading.code or base.code
    found = replace(base, code=code, shape=reading.shape, axes=reading.axes, facts=reading.facts)
    return replace(found, status="warning", message="\n".join(reading.wrong), where=place) if reading.wrong else found


def _with_changes(part: Part, connection: Connection, before: int, place: Where | None) -> Part:
    """Say so where a call that went well otherwise changed what it was given."""
    if part.status != "passed" or len(connection.changed) == before:
        return part
    told = f"{connection.changed[-1]} changed an argument in place; it is meant to leave it as it was"
    return replace(part, status="warning", message=told, where=place)


def _with_end(part: Part, ended: tuple[Status, str] | None) -> Part:
    """Say why a process ended, where it ended in the middle of a call and its end tells."""
    if part.status != "crashed" or ended is None:
        return part
    return replace(part, status=ended[0], message=f"{part.message}: {ended[1]}")


def _notes(connection: Connection, warned: int, printed: int) -> tuple[str, ...]:
    """Return what was printed and warned about since."""
    text = connection.notes.printed[printed:].strip()
    notes = [f"printed: {text}"] if text else []
    fresh = dict.fromkeys(connection.notes.warnings[warned:])
    return (*notes, *(f"{name}: {text} (line {line})" for name, text, line in list(fresh)[:3]))


RECORDS = records(vars(model).values(), [Problem, Where])


def explore(
    course: Course, stage: Stage, snapshot: Snapshot, example: Example | None, seed: int, isolation: str = "auto"
) -> Exploration:
    """Run a stage's steps with someone's module; IsolationRefused where the requested isolation is unavailable."""
    plan = plans(course)[stage.id]
    known = dict(plan.start(example, seed, data_files(stage)) if plan.data else plan.start(example, seed))
    tier, note = tiers.choose(isolation)
    ran = ExplorationRun(snapshot.label, snapshot.digest, tier, note, seed if plan.random else None)
    base = Exploration(stage.id, stage.title, None if plan.prompt else example, ran, given=_given(plan, example))
    if (problem := check_source(stage, snapshot).first) is not None:
        return replace(base, problem=problem)
    job = job_for(stage, snapshot, course.root)
    is_lesson = example is None or example.is_lesson

    def body(messages: Messages, workers: Workers, shared: SharedStatus) -> None:
        walked(plan, stage, LearnerProcess(job, tier, workers), known, is_lesson, messages, shared)

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
    plan: Plan,
    stage: Stage,
    process: LearnerProcess,
    known: dict[str, Any],
    is_lesson: bool,
    messages: Messages,
    shared: SharedStatus,
) -> None:
    """Go through the steps, within a judge, and tell what came of each, then what can be drawn.

    A learner's values can end the judge in each step, and in drawing: each may take as much time as a test.
    """
    try:
        process.load()
    except LoadFailed as failed:
        messages.send("problem", failed.problem)
        return
    process.on_request = shared.call
    start = frozenset(known)
    walk = StepRunner(stage, process, known, is_lesson)
    steps: list[StepResult] = []
    try:
        for place, step in enumerate(plan.steps):
            shared.at("test", place)
            bounds.bound_time(bounds.TEST_SECONDS)
            steps.append(walk.step(step))
            messages.send("step", steps[-1])
    finally:
        walk.close()
        process.kill()
    shared.at("test", len(plan.steps))
    bounds.bound_time(bounds.TEST_SECONDS)
    found = origins(plan, steps, walk.known, start, walk.given)
    waiting = {each.id for each in steps if each.status == "blocked"}
    left_out = {each.picture for each in found if each.wrong and each.step in waiting}  # nothing there is right yet
    maps, drawings = (
        tuple(each for each in made(walk.known) if each.id not in left_out) for made in (plan.maps, plan.drawings)
    )
    told = tuple(each for each in found if each.picture not in left_out)
    messages.send("shown", maps, drawings, next_function(stage, walk.unwritten), told)


def origins(
    plan: Plan, steps: list[StepResult], known: Known, start: frozenset[str], given: Mapping[str, frozenset[str]]
) -> tuple[Origin, ...]:
    """Return of each picture the last step that changes it, and whether it is another without what is wrong.

    given holds the names of the values of each call. Wrong are those of a call that does not hold what is always true,
    and of every call that needs them.
    """
    wrong: frozenset[str] = frozenset()
    for step, result in zip(plan.steps, steps, strict=True):
        for call, part in zip(step.calls, result.parts, strict=True):
            if part.status == "warning" or wrong.intersection(call.needs):
                wrong |= given.get(call.id, frozenset())
    whole = _pictures(plan, known)
    right = _pictures(plan, {name: value for name, value in known.items() if name not in wrong}) if wrong else whole
    names, before = start, _pictures(plan, {name: known[name] for name in start})
    found: dict[str, str] = dict.fromkeys(whole, steps[0].id if steps else "")
    for step, result in zip(plan.steps, steps, strict=True):
        fresh = frozenset[str]().union(*(given.get(call.id, frozenset()) for call in step.calls))
        if not fresh:
            continue
        names |= fresh
        now = _pictures(plan, {name: value for name, value in known.items() if name in names})
        found |= {picture: result.id for picture in whole if now.get(picture) != before.get(picture)}
        before = now
    return tuple(Origin(picture, step, right.get(picture) != whole[picture]) for picture, step in found.items())


def _pictures(plan: Plan, known: Known) -> dict[str, bytes]:
    """Return what is drawn of what is known, by its id, as bytes that are equal where the pictures are."""
    return {each.id: pickle.dumps(each) for each in (*plan.maps(known), *plan.drawings(known))}


def _put_together(base: Exploration, plan: Plan, stage: Stage, found: Bounded) -> Exploration:
    """Return the exploration that was told, and where its end was not reached, why."""
    told = [(kind, *(unpacked(field, RECORDS) for field in fields)) for kind, *fields in found.told]
    if problem := next((fields[0] for kind, *fields in told if kind == "problem"), None):
        return replace(base, problem=problem)
    steps = [fields[0] for kind, *fields in told if kind == "step"]
    if found.death is not None:
        steps += [_ended(step, found.death) for step in plan.steps[len(steps) : len(steps) + 1]]
        steps += [_never_begun(step, steps[-1]) for step in plan.steps[len(steps) :]]
    shown = next((fields for kind, *fields in told if kind == "shown"), ((), (), None, ()))
    maps, drawings, following, found_in = shown
    faulty = first_faulty(tuple(steps))
    about = {call.id: call.criterion for step in plan.steps for call in step.calls}
    whole = replace(base, steps=tuple(steps), maps=maps, drawings=drawings, next_function=following, origins=found_in)
    return whole if faulty is None else replace(whole, look_at=faulty.function, look_criterion=about[faulty.id])


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
        criterion = stage.criterion_of(name)
        if criterion is None:
            return len(stage.criteria), 0, name
        at = criterion.functions.index(name) if name in criterion.functions else 0
        return stage.criteria.index(criterion), at, name

    return min(unwritten, key=place, default=None)


def first_faulty(steps: tuple[StepResult, ...]) -> Part | None:
    """Return the first part that gave something else than it should."""
    parts = [part for step in steps for part in step.parts]
    return next((part for part in parts if part.status not in ("passed", "not_started", "blocked")), None)
