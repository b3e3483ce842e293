"""Known mistakes of one row that show in the tests of another.

A mistake that explains no failing test of its own row is told of none, and its own row's tests catch it. So each test
is held against the mistakes of its row at once, and against those of other rows when these are known: the mistakes that
explain a failing test there, and those whose row has no test that could tell.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.course.answers import Mistake
from grader.diagnosis.diagnostician import Diagnostician
from grader.diagnosis.slips.probes import Failing
from grader.outcome import Outcome

SECONDS = 0.1  # of processor time
UNLIKELY_SECONDS = 0.02  # where no known mistake explains a test of its own row
REFUTED = 2  # tests of one row that a mistake may not explain before any that it does


def from_other_rows(
    outcomes: Sequence[Outcome], failed: Mapping[str, Sequence[Failing]], answers: Diagnostician
) -> list[Outcome]:
    """Return outcomes with the known mistakes of other rows that explain them; failed are the tests to ask, by row.

    Of tests that take long, such as training, only as many are asked as there is time for; the others keep what they
    have.
    """
    left = SECONDS if any(each.explains for each in outcomes) else UNLIKELY_SECONDS
    seen = {each.test: each for row in failed.values() for each in row}
    possible = _possible(outcomes, failed, answers)
    refuted: Counter[tuple[str, str]] = Counter()
    told: set[tuple[str, str]] = set()

    def asked(outcome: Outcome) -> Outcome:
        nonlocal left
        row, failing = outcome.criterion, seen.get(outcome.test)
        among = [
            each
            for each in possible
            if each.criterion != row and ((row, each.id) in told or refuted[row, each.id] < REFUTED)
        ]
        if failing is None or not among:
            return outcome
        own = {each.mistake for each in outcome.explains}
        both = [*(each for each in answers.mistakes if each.id in own), *among]
        if sum(record.seconds for record in failing.records) * len(both) > left:
            return outcome
        began = time.process_time()
        found = answers.explain(failing.records, failing.names, among=both)
        left -= time.process_time() - began
        if found is None:
            return outcome
        explaining = {each.mistake for each in found}
        told.update((row, each) for each in explaining)
        refuted.update((row, each.id) for each in among if each.id not in explaining)
        return replace(outcome, explains=found)

    return list(map(asked, outcomes))


def _possible(
    outcomes: Sequence[Outcome], failed: Mapping[str, Sequence[Failing]], answers: Diagnostician
) -> list[Mistake]:
    """Return the mistakes that explain a failing test of their own row, or whose row has none that could tell."""
    explaining = {found.mistake for each in outcomes for found in each.explains}
    passed = {each.criterion for each in outcomes} - {each.criterion for each in outcomes if each.status != "passed"}
    tells = passed | {row for row, tests in failed.items() if tests}
    return [each for each in answers.mistakes if each.id in explaining or each.criterion not in tells]
