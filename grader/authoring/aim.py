"""Which tests of a stage can tell a mutant from the reference: those that run what is changed, the quick ones first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from grader.authoring.cases import MUTANT_CALL_SECONDS, REACH, Case
from grader.authoring.trusted_runs import Reached
from grader.course.answers import reference_source
from grader.course.mutants import Mutant
from grader.course.stage import Stage

SLOWER = 3.0  # than the reference a mutant may be


def reach_cases(stage: Stage, seeds: Iterable[int]) -> list[Case]:
    """Return what looks which lines of the reference solution each test runs, once a seed."""
    return [Case(REACH, stage.id, reference_source(stage), seed) for seed in seeds]


def aimed(
    cases: Sequence[Case], made: Sequence[Mutant], reached: Sequence[Reached], tests: Collection[str]
) -> list[Case]:
    """Return the mutants' cases with the tests that run what is changed, quick ones of the first rows first.

    tests are all that the stage has; where it is not known what each of them runs, the cases stay as they are.
    """
    if not tests or {each.test for each in reached} != set(tests):
        return list(cases)
    return [_aimed(case, mutant, reached) for case, mutant in zip(cases, made, strict=True)]


def _aimed(case: Case, mutant: Mutant, reached: Sequence[Reached]) -> Case:
    rank = {row: place for place, row in enumerate(case.first_failure or ())}
    able = [each for each in reached if each.runs(mutant.span)]
    able.sort(key=lambda each: (rank.get(each.criterion, len(rank)), each.seconds))
    return replace(case, tests=tuple(each.test for each in able), call_seconds=_patience(able))


def _patience(reached: Sequence[Reached]) -> float:
    """Return the seconds of a call: a mutant that takes longer than its tests did, and gives the same, is not caught.

    Few values are possible, since what is aimed alike is run together.
    """
    most, seconds = max((SLOWER * each.seconds for each in reached), default=0.0), MUTANT_CALL_SECONDS
    while seconds < most:
        seconds *= 2
    return seconds
