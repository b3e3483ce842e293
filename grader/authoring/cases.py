"""The modules that are graded to prove a stage, with their seeds, and the tests that can tell each mutant."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.authoring.trusted_runs import LinesReached
from grader.course.answers import hidden_folder, load_mistakes, reference_source
from grader.course.mutants import Mutant, reach
from grader.course.stage import Stage
from grader.outcome import Outcome
from grader.verdict import Verdict

MUTANT_CALL_SECONDS = 5.0  # a mutant that loops for ever is caught by the clock; a slower test may take longer
WORKER_SEEDS = 2  # with which right modules are graded through a worker; further ones show what inputs they meet
PLAN = "plan"  # the case that looks how many tests of each alternative ask what the reference is not asked
REACH = "reach"  # the case that only looks which lines of the reference each test runs


@dataclass(frozen=True)
class ProofCase:
    """One module to grade with one seed; name is "reference", "alternatives/loops", "mistakes/no-scale"…

    first_failure holds the criteria to try first, where the first test that the module does not pass is all that is
    wanted; tests the only ones that can tell, in the order to try them, and call_seconds what a call may take at most.
    withheld are the alternatives that the diagnosis does not see, pool holds texts of right modules of which it sees
    the values alone. A module that is meant to be right may be run without
    a worker.
    """

    name: str
    stage: str
    source: str
    seed: int
    only: str | None = None
    isolation: str = "auto"
    first_failure: tuple[str, ...] | None = None
    tests: tuple[str, ...] | None = None
    call_seconds: float = MUTANT_CALL_SECONDS
    withheld: tuple[str, ...] = ()
    pool: tuple[bytes, ...] = ()
    worker: bool = True


@dataclass(frozen=True)
class CaseResult:
    """What came of a case: the verdict and every outcome, or of a run to the first failure the outcome that ended it.

    reached says of each test what it runs, where that was looked for.
    """

    case: ProofCase
    verdict: Verdict | None
    outcomes: tuple[Outcome, ...]
    reached: tuple[LinesReached, ...] = ()
    planned: Planned | None = None


@dataclass(frozen=True)
class Planned:
    """How well the tests of a stage can be planned: their questions asked before they run, as the reference was asked.

    tests is how many can; strayed, by alternative, how many of these asked something else; slow are those in which the
    reference took long for one answer, with its seconds: they gain nothing by a plan, and may be marked `live`.
    """

    tests: int
    strayed: Mapping[str, int]
    slow: Mapping[str, float]


def plan_cases(stage: Stage, seeds: Iterable[int]) -> list[ProofCase]:
    """Return what grades a stage's alternatives by a plan, once a seed."""
    return [ProofCase(PLAN, stage.id, "", seed) for seed in seeds if alternative_files(stage)]


def reference_cases(stage: Stage, seeds: Iterable[int]) -> list[ProofCase]:
    """Return the reference solution, once a seed."""
    return _right("reference", stage, reference_source(stage), seeds)


def _right(name: str, stage: Stage, source: str, seeds: Iterable[int]) -> list[ProofCase]:
    return [ProofCase(name, stage.id, source, seed, worker=number < WORKER_SEEDS) for number, seed in enumerate(seeds)]


def stub_cases(stage: Stage, seeds: Iterable[int]) -> list[ProofCase]:
    """Return the stub that lies in the stage's folder."""
    return [ProofCase("stub", stage.id, stage.module_path.read_text(encoding="utf-8"), seed) for seed in seeds]


def alternative_files(stage: Stage) -> list[Path]:
    """Return the modules of a stage's alternative solutions."""
    return sorted(path for path in (hidden_folder(stage) / "alternatives").glob("*.py") if path.stem != "__init__")


def alternative_cases(stage: Stage, seeds: Iterable[int], most: int | None = None) -> list[ProofCase]:
    """Return each alternative correct solution, or so many of them, once a seed."""
    seeds = tuple(seeds)
    return [
        case
        for file in alternative_files(stage)[:most]
        for case in _right(f"alternatives/{file.stem}", stage, file.read_text(encoding="utf-8"), seeds)
    ]


def mistake_cases(stage: Stage, seeds: Iterable[int]) -> list[ProofCase]:
    """Return the module of each known mistake, once a seed."""
    reference, seeds = reference_source(stage), tuple(seeds)
    return [
        ProofCase(f"mistakes/{mistake.id}", stage.id, f"{reference}\n\n{mistake.source}", seed)
        for mistake in load_mistakes(stage)
        for seed in seeds
    ]


def mutant_cases(stage: Stage, mutants: Iterable[Mutant], seed: int) -> list[ProofCase]:
    """Return each mutant, to be run to its first failure: criteria about the changed function come first."""
    reached = reach(reference_source(stage))

    def rank(mutant: Mutant, functions: tuple[str, ...]) -> int:
        changed = {mutant.function, mutant.function.partition(".")[0]}
        return 0 if changed & set(functions) else 1 if any(changed & reached(name) for name in functions) else 2

    def order(mutant: Mutant) -> tuple[str, ...]:
        return tuple(each.id for each in sorted(stage.criteria, key=lambda other: rank(mutant, other.functions)))

    return [
        ProofCase(f"mutants/{number}", stage.id, mutant.source, seed, first_failure=order(mutant))
        for number, mutant in enumerate(mutants)
    ]


SLOWER = 3.0  # than the reference a mutant may be


def reach_cases(stage: Stage, seeds: Iterable[int]) -> list[ProofCase]:
    """Return what looks which lines of the reference solution each test runs, once a seed."""
    return [ProofCase(REACH, stage.id, reference_source(stage), seed) for seed in seeds]


def aimed(
    cases: Sequence[ProofCase], made: Sequence[Mutant], reached: Sequence[LinesReached], tests: Collection[str]
) -> list[ProofCase]:
    """Return the mutants' cases with the tests that run what is changed, quick ones of the first criteria first.

    tests are all that the stage has; where it is not known what each of them runs, the cases stay as they are.
    """
    if not tests or {each.test for each in reached} != set(tests):
        return list(cases)
    return [_aimed(case, mutant, reached) for case, mutant in zip(cases, made, strict=True)]


def _aimed(case: ProofCase, mutant: Mutant, reached: Sequence[LinesReached]) -> ProofCase:
    rank = {criterion: place for place, criterion in enumerate(case.first_failure or ())}
    able = [each for each in reached if each.runs(mutant.span)]
    able.sort(key=lambda each: (rank.get(each.criterion, len(rank)), each.seconds))
    return replace(case, tests=tuple(each.test for each in able), call_seconds=_patience(able))


def _patience(reached: Sequence[LinesReached]) -> float:
    """Return the seconds of a call: a mutant that takes longer than its tests did, and gives the same, is not caught.

    Few values are possible, since what is aimed alike is run together.
    """
    most, seconds = max((SLOWER * each.seconds for each in reached), default=0.0), MUTANT_CALL_SECONDS
    while seconds < most:
        seconds *= 2
    return seconds
