"""Gradings of trusted modules on every core: a stage's reference, stub, alternatives, mistakes and mutants."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any

from grader import children
from grader.authoring.cases import MUTANT_CALL_SECONDS, PLAN, REACH, CaseResult, Planned, ProofCase, alternative_files
from grader.authoring.trusted_runs import ChangedForm, MutantRunner
from grader.course.answers import reference_source
from grader.course.import_guard import GUARD
from grader.course.stage import Course, Stage
from grader.judging import bounds
from grader.judging.grading import Grader, Options
from grader.outcome import Outcome
from grader.submission import Snapshot
from grader.submission.earlier import used_modules

AGAIN = 4.0  # times as much for a mutant that ran out of time
SLOW_ANSWER = 0.5  # seconds
TOGETHER = 25  # mutants that one judge goes through


class Here(Executor):
    """Does what is submitted at once, in this process: where others keep the cores busy already."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Return what the function gave, or raised."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


class _Process(SpawnProcess):
    """Starts in the one way that the grader starts any, and with one thread for NumPy's libraries: each has a core."""

    def start(self) -> None:
        with children.spawning({name: "1" for name in bounds.THREADS if name not in os.environ}):
            super().start()


class _Spawn(SpawnContext):
    Process = _Process


@contextmanager
def workers(course: Course, number: int | None = None) -> Iterator[Executor]:
    """Give an executor whose processes know the course; what has not begun is dropped when the block is left.

    number is that of the processes, by default one a core; 0 grades in this process.
    """
    if number == 0:
        _remember(course)
        try:
            yield Here()
        finally:
            _forget()
        return
    with children.spawning():
        pool = ProcessPoolExecutor(number or os.cpu_count(), _Spawn(), _begin, (course,))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def results(executor: Executor, cases: Iterable[ProofCase]) -> Iterator[CaseResult]:
    """Grade every case through the whole pipeline and yield each result as it comes; aimed mutants together."""
    alone: list[ProofCase] = []
    alike: dict[tuple[object, ...], list[ProofCase]] = {}
    for case in cases:
        key = case.stage, case.seed, case.isolation, case.call_seconds
        (alone if case.tests is None else alike.setdefault(key, [])).append(case)
    chunks = [tuple(chunk) for group in alike.values() for chunk in _chunks(group)]
    waiting = [
        *(executor.submit(run_cases, chunk) for chunk in chunks),
        *(executor.submit(_graded, case) for case in alone),
    ]
    for future in as_completed(waiting):
        yield from future.result()


def _chunks(cases: Iterable[ProofCase]) -> Iterator[list[ProofCase]]:
    cases = iter(cases)
    while chunk := list(itertools.islice(cases, TOGETHER)):
        yield chunk


_course: list[Course] = []
_graders: dict[tuple[str, float, tuple[str, ...], bool], MutantRunner] = {}


def _begin(course: Course) -> None:
    GUARD.install()
    GUARD.know(course.packages)
    _remember(course)


def _remember(course: Course) -> None:
    _course[:] = [course]
    _graders.clear()


def _forget() -> None:
    for grader in _graders.values():
        grader.close()
    _graders.clear()
    _course.clear()


def _grader(course: Course, stage: Stage, warm: bool = False) -> MutantRunner:
    """Return this process' grader of a stage, which keeps its tests; of wrong modules a warm one, which plans them.

    What is right is never graded by a warm one: there a test may pass without being run.
    """
    key = stage.id, stage.limits.call_seconds, stage.withheld, warm
    return _graders.setdefault(key, MutantRunner(course, stage, warm))


def _runner(course: Course, stage: Stage, seconds: float) -> MutantRunner:
    limits = replace(stage.limits, call_seconds=min(stage.limits.call_seconds, seconds))
    return _grader(course, replace(stage, limits=limits))


def _snapshot(stage: Stage, text: str) -> Snapshot:
    source, label = text.encode(), f"stages/{stage.name}/{stage.module}"
    digest = hashlib.sha256(source).hexdigest()
    return Snapshot(stage.module, source, digest, Path(label), label, uses=used_modules(stage))


def run_cases(cases: Sequence[ProofCase]) -> list[CaseResult]:
    """Run mutants of one stage that are aimed alike, in a process that knows its course.

    Most are caught within the judge. What is left goes through a worker, as a learner's module does.
    """
    (course,) = _course
    first = cases[0]
    stage = course.find(first.stage)
    mutants = [ChangedForm(case.source, case.tests) for case in cases]
    ended = _grader(course, stage).caught(mutants, first.seed, first.call_seconds)
    left = [number for number, outcome in enumerate(ended) if outcome is None]
    if left:
        found = _through_a_worker(course, stage, first, [mutants[each] for each in left])
        for number, outcome in zip(left, found, strict=True):
            ended[number] = outcome
    return [CaseResult(case, None, _none_or(outcome)) for case, outcome in zip(cases, ended, strict=True)]


def _through_a_worker(
    course: Course, stage: Stage, first: ProofCase, mutants: Sequence[ChangedForm]
) -> list[Outcome | None]:
    """Run mutants; one that ran out of time once more with far more of it: others may have kept the machine busy."""
    right = _snapshot(stage, reference_source(stage))
    options = Options(first.seed, first.isolation)
    ended = _runner(course, stage, first.call_seconds).first_failures(right, options, mutants)
    late = [number for number, each in enumerate(ended) if each is not None and each.status == "timed_out"]
    if late:
        patient = _runner(course, stage, AGAIN * first.call_seconds)
        for number, outcome in zip(
            late, patient.first_failures(right, options, [mutants[each] for each in late]), strict=True
        ):
            ended[number] = outcome
    return ended


def _graded(case: ProofCase) -> list[CaseResult]:
    return [graded(case)]


def _none_or(outcome: Outcome | None) -> tuple[Outcome, ...]:
    return () if outcome is None else (outcome,)


def graded(case: ProofCase) -> CaseResult:
    """Grade one case in a process that knows its course."""
    (course,) = _course
    stage = replace(course.find(case.stage), withheld=case.withheld)
    if case.name == REACH:
        return CaseResult(case, None, (), _grader(course, stage).reached(case.source, case.seed))
    if case.name == PLAN:
        return CaseResult(case, None, (), planned=_planned(course, stage, case))
    snapshot = _snapshot(stage, case.source)
    is_mistake = case.name.startswith("mistakes/")
    options = Options(case.seed, case.isolation, case.only, pool=case.pool, recurs=is_mistake)
    if case.first_failure is not None:
        outcome = _runner(course, stage, MUTANT_CALL_SECONDS).first_failure(snapshot, options, case.first_failure)
        return CaseResult(case, None, _none_or(outcome))
    found = None if case.worker else _grader(course, stage).trusted(snapshot, case.seed)
    if found is not None and found[0].robust:  # else values that only a worker copies may have been shared
        return CaseResult(case, *found)
    outcomes: list[Outcome] = []
    verdict = _grader(course, stage, is_mistake).grade(snapshot, options, outcomes.append)
    return CaseResult(case, verdict, tuple(outcomes))


def _planned(course: Course, stage: Stage, case: ProofCase) -> Planned | None:
    """Grade a stage's alternatives by a plan; None where there is none."""
    options, strayed = Options(case.seed, case.isolation), dict[str, int]()
    with Grader(course, stage, warm=True) as grader:
        plan = grader.plan(options)
        if plan is None:
            return None
        for file in alternative_files(stage):
            grader.grade(_snapshot(stage, file.read_text(encoding="utf-8")), options)
            strayed[file.stem] = len(grader.strayed)
    slow = {test: known.seconds for test, known in plan.items() if known.seconds >= SLOW_ANSWER}
    return Planned(len(plan), strayed, slow)
