"""Gradings of trusted modules on every core: a stage's reference, stub, alternatives, mistakes and mutants."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from grader.course.answers import hidden_folder, load_mistakes, reference_source
from grader.course.mutants import Mutant, reach
from grader.course.stage import Course, Stage
from grader.judging.grading import Options
from grader.judging.hunting.hunter import Hunter
from grader.judging.hunting.hunts import Quarry
from grader.judging.hunting.reach import Reached
from grader.outcome import Outcome
from grader.submission import Snapshot
from grader.submission.earlier import used_modules
from grader.verdict import Verdict

MUTANT_CALL_SECONDS = 5.0  # a mutant that loops for ever is caught by the clock; a slower test may take longer
AGAIN = 4.0  # times as much for a mutant that ran out of time
TOGETHER = 25  # mutants that one judge goes through
REACH = "reach"  # the case that only looks which lines of the reference each test runs


@dataclass(frozen=True)
class Case:
    """One module to grade with one seed; name is "reference", "alternatives/loops", "mistakes/no-scale"…

    hunt holds the rows to try first, where the first test that the module does not pass is all that is wanted; tests
    the only ones that can tell, in the order to try them, and call_seconds what a call may take at most. withheld is
    the alternative that the diagnosis does not see.
    """

    name: str
    stage: str
    source: str
    seed: int
    only: str | None = None
    isolation: str = "auto"
    hunt: tuple[str, ...] | None = None
    tests: tuple[str, ...] | None = None
    call_seconds: float = MUTANT_CALL_SECONDS
    withheld: str = ""


@dataclass(frozen=True)
class Result:
    """What came of a case: the verdict and every outcome or, of a hunt, no verdict and the outcome that ended it.

    reached says of each test what it runs, where that was looked for.
    """

    case: Case
    verdict: Verdict | None
    outcomes: tuple[Outcome, ...]
    reached: tuple[Reached, ...] = ()


def reference_cases(stage: Stage, seeds: Iterable[int]) -> list[Case]:
    """Return the reference solution, once a seed."""
    return [Case("reference", stage.id, reference_source(stage), seed) for seed in seeds]


def stub_cases(stage: Stage, seeds: Iterable[int]) -> list[Case]:
    """Return the stub that lies in the stage's folder."""
    return [Case("stub", stage.id, stage.module_path.read_text(encoding="utf-8"), seed) for seed in seeds]


def alternative_files(stage: Stage) -> list[Path]:
    """Return the modules of a stage's alternative solutions."""
    return sorted(path for path in (hidden_folder(stage) / "alternatives").glob("*.py") if path.stem != "__init__")


def alternative_cases(stage: Stage, seeds: Iterable[int], most: int | None = None) -> list[Case]:
    """Return each alternative correct solution, or so many of them, once a seed."""
    seeds = tuple(seeds)
    return [
        Case(f"alternatives/{file.stem}", stage.id, file.read_text(encoding="utf-8"), seed)
        for file in alternative_files(stage)[:most]
        for seed in seeds
    ]


def mistake_cases(stage: Stage, seeds: Iterable[int]) -> list[Case]:
    """Return the module of each known mistake, once a seed; only its own row is graded."""
    reference, seeds = reference_source(stage), tuple(seeds)
    return [
        Case(f"mistakes/{mistake.id}", stage.id, f"{reference}\n\n{mistake.source}", seed, mistake.criterion)
        for mistake in load_mistakes(stage)
        for seed in seeds
    ]


def mutant_cases(stage: Stage, mutants: Iterable[Mutant], seed: int) -> list[Case]:
    """Return each mutant as a hunt: the rows about the changed function first, then those that reach it."""
    reached = reach(reference_source(stage))

    def rank(mutant: Mutant, functions: tuple[str, ...]) -> int:
        changed = {mutant.function, mutant.function.partition(".")[0]}
        return 0 if changed & set(functions) else 1 if any(changed & reached(name) for name in functions) else 2

    def rows(mutant: Mutant) -> tuple[str, ...]:
        return tuple(row.id for row in sorted(stage.criteria, key=lambda row: rank(mutant, row.functions)))

    return [
        Case(f"mutants/{number}", stage.id, mutant.source, seed, hunt=rows(mutant))
        for number, mutant in enumerate(mutants)
    ]


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
    pool = ProcessPoolExecutor(number or os.cpu_count(), get_context("spawn"), _remember, (course,))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def results(executor: Executor, cases: Iterable[Case]) -> Iterator[Result]:
    """Grade every case through the whole pipeline and yield each result as it comes; aimed mutants together."""
    alone: list[Case] = []
    alike: dict[tuple[object, ...], list[Case]] = {}
    for case in cases:
        key = case.stage, case.seed, case.isolation, case.call_seconds
        (alone if case.tests is None else alike.setdefault(key, [])).append(case)
    chunks = [tuple(chunk) for group in alike.values() for chunk in _chunks(group)]
    waiting = [
        *(executor.submit(hunted, chunk) for chunk in chunks),
        *(executor.submit(_graded, case) for case in alone),
    ]
    for future in as_completed(waiting):
        yield from future.result()


def _chunks(cases: Iterable[Case]) -> Iterator[list[Case]]:
    cases = iter(cases)
    while chunk := list(itertools.islice(cases, TOGETHER)):
        yield chunk


_course: list[Course] = []
_warm: dict[tuple[str, float, str], Hunter] = {}  # by stage, the seconds that a call may take, and what is withheld


def _remember(course: Course) -> None:
    _course[:] = [course]
    _warm.clear()


def _forget() -> None:
    for grader in _warm.values():
        grader.close()
    _warm.clear()
    _course.clear()


def _grader(course: Course, stage: Stage) -> Hunter:
    """Return this process' grader of a stage, which keeps its tests."""
    return _warm.setdefault((stage.id, stage.limits.call_seconds, stage.withheld), Hunter(course, stage))


def _hunter(course: Course, stage: Stage, seconds: float) -> Hunter:
    limits = replace(stage.limits, call_seconds=min(stage.limits.call_seconds, seconds))
    return _grader(course, replace(stage, limits=limits))


def _snapshot(stage: Stage, text: str) -> Snapshot:
    source, label = text.encode(), f"stages/{stage.name}/{stage.module}"
    digest = hashlib.sha256(source).hexdigest()
    return Snapshot(stage.module, source, digest, Path(label), label, uses=used_modules(stage))


def hunted(cases: Sequence[Case]) -> list[Result]:
    """Hunt mutants of one stage that are aimed alike, in a process that knows its course.

    One that ran out of time is hunted once more with far more of it: other programs may have kept the machine busy.
    """
    (course,) = _course
    first = cases[0]
    stage = course.find(first.stage)
    right = _snapshot(stage, reference_source(stage))
    quarries = [Quarry(case.source, case.tests) for case in cases]
    options = Options(first.seed, first.isolation)
    ended = _hunter(course, stage, first.call_seconds).hunts(right, options, quarries)
    late = [number for number, each in enumerate(ended) if each is not None and each.status == "timed_out"]
    if late:
        patient = _hunter(course, stage, AGAIN * first.call_seconds)
        for number, outcome in zip(late, patient.hunts(right, options, [quarries[each] for each in late]), strict=True):
            ended[number] = outcome
    return [Result(case, None, _none_or(outcome)) for case, outcome in zip(cases, ended, strict=True)]


def _graded(case: Case) -> list[Result]:
    return [graded(case)]


def _none_or(outcome: Outcome | None) -> tuple[Outcome, ...]:
    return () if outcome is None else (outcome,)


def graded(case: Case) -> Result:
    """Grade one case in a process that knows its course."""
    (course,) = _course
    stage = replace(course.find(case.stage), withheld=case.withheld)
    if case.name == REACH:
        return Result(case, None, (), _grader(course, stage).reached(case.source, case.seed))
    snapshot = _snapshot(stage, case.source)
    options = Options(case.seed, case.isolation, case.only)
    if case.hunt is not None:
        outcome = _hunter(course, stage, MUTANT_CALL_SECONDS).hunt(snapshot, options, case.hunt)
        return Result(case, None, _none_or(outcome))
    outcomes: list[Outcome] = []
    verdict = _grader(course, stage).grade(snapshot, options, outcomes.append)
    return Result(case, verdict, tuple(outcomes))
