"""How long two right modules take over the same calls: those of a stage's tests, in isolated workers, in turn."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from grader.course.stage import Course, Stage
from grader.submission import Snapshot

if TYPE_CHECKING:
    from grader.outcome import Outcome

ROUNDS = 3
RUN_SECONDS = 12.0  # that the tests of one module may take; what they do not come to has no times
SECONDS = 2 * RUN_SECONDS  # that all rounds may take: a further one is begun only if it is likely to fit
LEAST = 1e-7  # seconds: no call takes less
Times = Mapping[str, list[tuple[str, float]]]  # by test: its calls, in order


@dataclass(frozen=True)
class Timing:
    """The median time of one call, in seconds, of a learner's function and of the reference's.

    Both were called alike, calls times in each of so many rounds; ratio, the learner's over the reference's time, is
    the median of the rounds'.
    """

    own: float
    reference: float
    ratio: float
    calls: int
    rounds: int


def measured(
    course: Course,
    stage: Stage,
    both: tuple[Snapshot, Snapshot],
    isolation: str = "auto",
    on_test: Callable[[Outcome], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Timing]:
    """Return how long the functions of a learner's module and of the reference take, in the tests that both pass.

    However loaded the machine is, and however long the stage's tests may take, it ends after about SECONDS.
    Raises IsolationRefused where the requested isolation is unavailable, CourseError where the course lacks a file.
    """
    from grader.judging.grading import Grader, Options, fresh_seed

    began = clock()
    rounds: list[tuple[Times, Times]] = []
    with Grader(course, hurried(stage)) as grader:

        def run(snapshot: Snapshot, seed: int) -> Times:
            found: dict[str, list[tuple[str, float]]] = {}

            def keep(outcome: Outcome) -> None:
                found[outcome.test] = [(call.function, call.seconds) for call in outcome.calls]
                if on_test is not None:
                    on_test(outcome)

            grader.grade(snapshot, Options(seed, isolation, timed=True), keep)
            return found

        while len(rounds) < ROUNDS and fits(clock() - began, len(rounds)):
            seed = fresh_seed()
            rounds.append((run(both[0], seed), run(both[1], seed)))
    return timings(rounds)


def hurried(stage: Stage) -> Stage:
    """Return a stage of which the tests take no longer than a run may."""
    limits = stage.limits
    seconds = min(limits.stage_seconds, RUN_SECONDS)
    limits = replace(limits, stage_seconds=seconds, call_seconds=min(limits.call_seconds, seconds))
    return replace(stage, limits=limits)


def fits(taken: float, rounds: int) -> bool:
    """Say whether another round is likely to end in time, as long as those before it took; the first one always.

    >>> fits(0.0, 0), fits(10.0, 1), fits(13.0, 1)
    (True, True, False)
    """
    return not rounds or taken + taken / rounds <= SECONDS


def timings(rounds: list[tuple[Times, Times]]) -> dict[str, Timing]:
    """Return by function how two modules compare; tests in which they were not called alike do not count.

    >>> timings([({"t": [("f", 0.2), ("f", 0.4)]}, {"t": [("f", 0.1), ("f", 0.2)]})])["f"].ratio
    2.0
    """
    found: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    for own, reference in rounds:
        totals: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0])
        for test in own.keys() & reference.keys():
            if [name for name, _ in own[test]] != [name for name, _ in reference[test]]:
                continue
            for (name, mine), (_, theirs) in zip(own[test], reference[test], strict=True):
                total = totals[name]
                total[0], total[1], total[2] = total[0] + max(mine, LEAST), total[1] + max(theirs, LEAST), total[2] + 1
        for name, (mine, theirs, calls) in totals.items():
            found[name].append((mine / calls, theirs / calls, int(calls)))
    return {name: _timing(each) for name, each in found.items()}


def _timing(rounds: list[tuple[float, float, int]]) -> Timing:
    ratio = median(mine / theirs for mine, theirs, _ in rounds)
    own, reference = median(mine for mine, _, _ in rounds), median(theirs for _, theirs, _ in rounds)
    return Timing(own, reference, ratio, max(calls for _, _, calls in rounds), len(rounds))
