"""Which explanations stand against everything that a stage's tests saw: a coincidence in one test names no mistake."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from grader.diagnosis.diagnostician import LONG, Diagnostician, seconds_of
from grader.diagnosis.elsewhere import from_other_rows
from grader.diagnosis.obvious import OBVIOUS
from grader.diagnosis.passed import Passed, Seen
from grader.diagnosis.repairs.attempts import Row
from grader.diagnosis.repairs.bench import Bench
from grader.diagnosis.repairs.search import RECALL_SECONDS, Repairs
from grader.diagnosis.repairs.standing import REPAIR
from grader.diagnosis.replay import usable
from grader.diagnosis.slips.probes import Failing
from grader.diagnosis.slips.telling import Slip, is_vague
from grader.diagnosis.weighing import (
    chosen,
    explained,
    has_wrong_values,
    is_explained,
    is_own,
    is_shown,
    one_cause,
    passed_functions,
    with_problems,
    with_told,
    without_callers,
    without_effects,
)
from grader.garbage import uncollected
from grader.outcome import Diagnosis, Outcome
from grader.sandbox.log import RequestLog

SEARCH_SECONDS = 0.1  # of processor time, for changes of right modules that explain what no repair does
KEPT_SECONDS = 0.09  # of processor time, that no repair is looked for in: what is found is still held against all tests
PROBLEM = 300  # characters
LOCATING = 0.05  # of processor time, for where an answer goes wrong that nothing explains
ROW_SHARE = 0.6  # of what is left of it, for one row: the first that fails is the one that is shown whole


class Evidence:
    """What the tests of one run asked and were answered, to question explanations with when all have ended."""

    def __init__(self, log: RequestLog) -> None:
        self.problems: dict[str, str] = {}  # by row: why no change of a right module was found
        self._called = log.called
        self._taken: Callable[[], float] = lambda: 0.0  # seconds of processor time, on the bench
        self._passed = Passed()
        self._failed: dict[str, list[Failing]] = {}  # by row: what can be replayed of failed tests
        self._contradicted: dict[tuple[str, str], bool] = {}  # by mistake and row
        for outcome, records, names in log.failed:
            self._failed.setdefault(outcome.criterion, []).append(Failing(outcome.test, records, names))
        for outcome, records, names in log.passed:
            if usable(records):
                self._passed.add(outcome.criterion, Seen(outcome.test, records, names))

    @property
    def _all_failed(self) -> list[Failing]:
        return [each for row in self._failed.values() for each in row]

    def settled(self, outcomes: Iterable[Outcome], answers: Diagnostician, bench: Bench | None = None) -> list[Outcome]:
        """Return the outcomes with the explanations that stand against all that the tests saw.

        A mistake is not made where a test that passed would not have passed with it, nor where it explains no failure
        of its own row; nor where most tests of the same functions fail in a way that no mistake explains. Else what the
        answer itself shows is told, or the change that puts the learner's lines right, or one of a right module.
        """
        self._taken = lambda: 0.0 if bench is None else bench.seconds
        with answers.purse.spending():
            outcomes = self._with_late(list(outcomes), answers)
        ends_at = self._clock() + answers.purse.left
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"), uncollected():
            outcomes = from_other_rows(outcomes, self._failed, answers)
            known = self._shown(self._standing(outcomes, answers, ends_at), answers)
            repairs = None
            if bench is not None and not answers.is_stub:
                repairs = answers.repairs(bench, self._all_failed, self._passed.of)
                repairs.left = min(repairs.left, ends_at - self._clock() - KEPT_SECONDS)
            slips = self._searched(known, answers, repairs, ends_at)
            known = with_problems(known, self.problems)
            left = self._told(slips, known, answers, ends_at)
            more = self._recalled(repairs, left, answers, slips, ends_at) if repairs is not None else []
            if more:
                left = self._told([*slips, *more], known, answers, ends_at)
            left = without_callers(without_effects(one_cause(left)), answers.stage, answers.about, answers.reached)
            return self._located(left, answers)

    def _with_late(self, outcomes: list[Outcome], answers: Diagnostician) -> list[Outcome]:
        """Return the outcomes with the known mistakes of rows whose tests were late, the shortest test asked first.

        A row that one known mistake explains has no need of it; a test that takes long, as training does, is asked
        where no other of its row was, or where several mistakes explain those.
        """
        if answers.is_stub:
            return outcomes
        tests = {each.test: each for each in self._all_failed if each.test not in self._called}
        settled = {each.criterion for each in outcomes if len(each.explains) == 1}
        ambiguous = {each.criterion for each in outcomes if len(each.explains) > 1} - settled
        asked = {each.criterion for each in outcomes if each.test in self._called}
        found: dict[str, tuple[Diagnosis, ...]] = {}
        late = [(seconds_of(tests[each.test].records), each) for each in outcomes if each.test in tests]
        for seconds, outcome in sorted(late, key=lambda each: each[0]):
            row, test = outcome.criterion, tests[outcome.test]
            if row in settled or (seconds > LONG and row in asked - ambiguous):
                continue
            mistakes = answers.last_of_row(row, test.records, test.names)
            if mistakes is None:
                continue
            self._called[test.test] = test.called
            asked.add(row)
            if len(mistakes) == 1:
                settled.add(row)
            if mistakes:
                found[test.test] = mistakes
        return [replace(each, explains=found.get(each.test, each.explains)) for each in outcomes]

    def _told(self, slips: list[Slip], known: list[Outcome], answers: Diagnostician, ends_at: float) -> list[Outcome]:
        """Return the outcomes with what repairs and changes say, and of several explanations the one that prevails."""
        added = [with_told(slips, each) for each in known]
        return chosen(self._standing(added, answers, ends_at), slips) if slips else known

    def _located(self, outcomes: list[Outcome], answers: Diagnostician) -> list[Outcome]:
        """Return the outcomes with where the answer goes wrong, in rows of which no test has a better explanation."""
        if answers.is_stub:
            return outcomes
        fine = passed_functions(outcomes, answers.stage)
        told = {each.criterion for each in outcomes if each.explains}
        failed = {each.test: each for each in self._all_failed}
        ends_at = time.process_time() + LOCATING

        def located(outcome: Outcome) -> Outcome:
            seen = failed.get(outcome.test)
            if seen is None or outcome.help or outcome.criterion in told or time.process_time() > ends_at:
                return outcome  # what the exception means on its line says more
            found = answers.slips.located(seen, outcome.criterion, fine)
            return replace(outcome, explains=(found,)) if found else outcome

        return list(map(located, outcomes))

    def _shown(self, outcomes: list[Outcome], answers: Diagnostician) -> list[Outcome]:
        """Return the outcomes with what an answer shows by itself, where no known mistake explains it."""
        if answers.is_stub:
            return outcomes
        failed = {each.test: each for each in self._all_failed}

        def shown(outcome: Outcome) -> Outcome:
            seen = failed.get(outcome.test)
            if seen is None or outcome.explains:
                return outcome
            found = answers.obvious(seen.records, seen.names, outcome.criterion)
            return replace(outcome, explains=(found,)) if found else outcome

        return list(map(shown, outcomes))

    def _standing(self, outcomes: list[Outcome], answers: Diagnostician, ends_at: float) -> list[Outcome]:
        left = [self._uncontradicted(outcome, answers, ends_at) for outcome in outcomes]
        return [self._prevailing(outcome, left) for outcome in left]

    def _clock(self) -> float:
        """Return the processor time that was taken, on a bench too."""
        return time.process_time() + self._taken()

    def _searched(
        self, outcomes: list[Outcome], answers: Diagnostician, repairs: Repairs | None, ends_at: float
    ) -> list[Slip]:
        """Return what explains rows that no known mistake explains: repairs, else changes of a right module."""
        if answers.is_stub:
            return []
        fine = passed_functions(outcomes, answers.stage)
        repaired: list[Slip] = []
        changed: list[Slip] = []
        left = SEARCH_SECONDS
        asked = {row: failing for row in answers.stage.criteria if (failing := self._unexplained(row.id, outcomes))}
        for row, failing in sorted(asked.items(), key=lambda each: not has_wrong_values(each[1], outcomes)):
            own = frozenset(row.functions)
            elsewhere = frozenset(each for each in fine if not is_own(each, own))
            found: list[Slip] = []
            if repairs is not None:
                with self._noting(row.id):
                    found = repairs.explain(self._row(row.id, failing, elsewhere, own))
                    found = [self._with_shown(each, row.id, outcomes, repairs) for each in found]
            repaired += found
            left = min(left, ends_at - self._clock() - (KEPT_SECONDS if repaired else 0.0))
            if not found and left > 0:
                began = time.process_time()
                with self._noting(row.id):
                    changed += answers.slips.explain(row.id, failing, elsewhere, own, began + ROW_SHARE * left)
                left = max(0.0, left - (time.process_time() - began))
        if repairs is not None and repairs.has_searched:
            changed = [slip for slip in changed if not is_vague(slip.diagnosis.text)]
        return [*repaired, *answers.slips.everywhere(changed, self._all_failed)]

    def _with_shown(self, slip: Slip, row: str, outcomes: list[Outcome], repairs: Repairs) -> Slip:
        """Return a repair's slip with the tests whose answer shows something by itself, and which pass with it."""
        shown = [each.test for each in outcomes if each.criterion == row and any(map(is_shown, each.explains))]
        return replace(slip, tests=slip.tests | repairs.settles(slip, shown)) if shown else slip

    def _recalled(
        self, repairs: Repairs, outcomes: list[Outcome], answers: Diagnostician, known: list[Slip], ends_at: float
    ) -> list[Slip]:
        """Return what of the repairs that were found explains tests of rows that were asked before."""
        told_of = {test for slip in known for test in slip.tests}
        repairs.left_to_recall = min(RECALL_SECONDS, ends_at - self._clock())  # as much as before
        found: list[Slip] = []
        for row in answers.stage.criteria:
            failing = [each for each in self._unexplained(row.id, outcomes) if each.test not in told_of]
            with self._noting(row.id):
                found += repairs.recall(self._row(row.id, failing))
        return found

    @contextmanager
    def _noting(self, row: str) -> Iterator[None]:
        """Note why a search broke off: over values that a learner's process chose, or a change that cannot be made."""
        try:
            yield
        except Exception as error:
            self.problems[row] = f"{type(error).__name__}: {error}"[:PROBLEM]

    def _row(
        self, row: str, failing: list[Failing], fine: frozenset[str] = frozenset(), own: frozenset[str] = frozenset()
    ) -> Row:
        return Row(row, failing, self._passed.of(row), fine, own, self._passed.of(row, refused=True))

    def _unexplained(self, row: str, outcomes: list[Outcome]) -> list[Failing]:
        """Return the failing tests of a row that nothing explains for certain; none where a known mistake does."""
        own = [each for each in outcomes if each.criterion == row and each.test in self._called]
        certain = {each.test for each in own if any(found.mistake in OBVIOUS for found in each.explains)}
        failing = [each for each in self._failed.get(row, []) if each.test not in certain]
        return [] if is_explained([each for each in own if each.test not in certain]) else failing

    def _uncontradicted(self, outcome: Outcome, answers: Diagnostician, ends_at: float) -> Outcome:
        stands = tuple(
            each
            for each in outcome.explains
            if not any(self._speaks_against(each, row, answers, ends_at) for row in {outcome.criterion, each.criterion})
        )
        return replace(outcome, explains=stands)

    def _speaks_against(self, diagnosis: Diagnosis, row: str, answers: Diagnostician, ends_at: float) -> bool:
        if diagnosis.mistake in OBVIOUS or diagnosis.mistake.startswith(REPAIR):
            return False
        key = diagnosis.mistake, row
        if key not in self._contradicted:
            seen = self._passed.telling(row)
            self._contradicted[key] = any(self._differs(each, diagnosis, answers, ends_at) for each in seen)
        return self._contradicted[key]

    def _differs(self, seen: Seen, diagnosis: Diagnosis, answers: Diagnostician, ends_at: float) -> bool:
        """Say whether a module that answered as the reference does would have answered otherwise with the mistake."""
        if self._clock() > ends_at:
            return False
        if seen.right is None:
            seen.right = answers.agrees(None, seen.records, seen.names)
        return seen.right and not answers.agrees(diagnosis.mistake, seen.records, seen.names)

    def _prevailing(self, outcome: Outcome, others: list[Outcome]) -> Outcome:
        called = self._called.get(outcome.test, set())
        asked = [other for other in others if other.test in self._called]
        peers = [o for o in asked if o.criterion == outcome.criterion and called & self._called[o.test]]
        unexplained = sum(not other.explains for other in peers)

        def stands(diagnosis: Diagnosis) -> bool:
            if diagnosis.mistake in OBVIOUS:
                return True
            own_row = [other for other in asked if other.criterion == diagnosis.criterion]
            known = not own_row or explained(diagnosis, own_row) > 0
            return known and (not peers or explained(diagnosis, peers) > unexplained)

        return replace(outcome, explains=tuple(filter(stands, outcome.explains)))
