"""Edits that make the tests of a function pass that draws at random: no answer of it is right or wrong by itself.

Right modules draw in another order. There the likeliest edits, those near the fault first, are held against the tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from grader.diagnosis.accept import Gate
from grader.diagnosis.budget import Budget
from grader.diagnosis.checks import Check, Checks
from grader.diagnosis.edits import Edit
from grader.diagnosis.edits.base import USUAL
from grader.diagnosis.locate import FIRST, NEVER
from grader.diagnosis.search import Found, Search

MOST_TRIED = 200  # edits
MOST_TESTS = 8  # that failed, and as many that passed
SEEDS = (0, 1, 2)
TRIALS = 2  # that one test counts as at least, and one more for each call that it makes
NUMBERS_OF_A_TRIAL = 200  # that are drawn in a call, likewise
MOST_COST = 40  # in trials, of a test that is not the only one
BATCH = 60  # edits that stand in one form of the functions


def draws(check: Check) -> bool:
    """Say whether a call is given a random generator."""
    return any(isinstance(each, np.random.Generator) for each in (*check.last.args, *check.last.kwargs.values()))


def passing(search: Search, failing: Sequence[Check], checks: Checks, budget: Budget) -> Found | None:
    """Return the one edit with which all failing tests of a function pass, and those that passed."""
    check = min(failing, key=lambda each: (each.is_raised, each.size))
    trace = search.trace(check)
    if trace is None or not draws(check):
        return None
    places = search.places(check, trace, checks.trusted())
    gate = Gate(check, failing, checks, search, places)
    rings = list(search.candidates(check, trace, places, FIRST, NEVER))  # each is filled when the next one is asked for
    edits = [pair for _, ring in rings for pair in ring]
    likely = sorted((pair for pair in edits if pair[1].rank <= USUAL), key=lambda pair: (pair[0], pair[1].adds))
    costs = _costs(failing)
    failed = sorted(costs, key=lambda test: (costs[test], test))[:MOST_TESTS]
    failed = [test for test in failed if test == failed[0] or costs[test] <= MOST_COST]
    kept = checks.passed_tests(check.label, MOST_TESTS)
    if search.runner.heard([], failed[0], 0, check.label)[0]:  # by the edits that were found before
        return None
    found: list[Found] = []
    for number, cost, edit in _placed(search, likely[:MOST_TRIED]):
        if budget.is_over or (found and cost > found[0].cost):
            break
        if _passes(search, number, failed, kept, check.label, budget, costs):
            each = Found(edit, number, cost, frozenset(failing), len(failing))
            found += [each] if gate.stands_by_text(each) else []
    return found[0] if found and len({each.edit.line for each in found}) == 1 else None


def _placed(search: Search, likely: Sequence[tuple[int, Edit]]) -> Iterator[tuple[int, int, Edit]]:
    """Yield edits with their numbers in the form of the functions that is in force, and their costs."""
    for start in range(0, len(likely), BATCH):
        batch = likely[start : start + BATCH]
        for number, (cost, edit) in zip(search.place([edit for _, edit in batch]), batch, strict=True):
            yield number, cost, edit


def _costs(failing: Sequence[Check]) -> dict[str, int]:
    """Return the trials that each test of some calls counts as."""
    calls, drawn = Counter[str](), Counter[str]()
    for each in failing:
        calls[each.outcome.test] += 1
        drawn[each.outcome.test] += int(np.size(each.right.result)) if isinstance(each.right.result, np.ndarray) else 0
    return {test: TRIALS + calls[test] + drawn[test] // NUMBERS_OF_A_TRIAL for test in calls}


def _passes(
    search: Search, number: int, failed: Sequence[str], kept: Sequence[str], label: str, budget: Budget,
    costs: Mapping[str, int],
) -> bool:  # fmt: skip
    for seed in SEEDS:
        for test in (*failed, *kept):
            budget.take(costs.get(test, TRIALS), 0)
            if not search.runner.heard([number], test, seed, label)[0]:
                return False
    return True
