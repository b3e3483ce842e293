"""Holds repairs of one failing test against the other tests of its row: what puts more right is likelier the cause."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from grader.diagnosis.repairs.asked import is_raised, says_little
from grader.diagnosis.repairs.attempts import Row
from grader.diagnosis.repairs.bench import Bench
from grader.diagnosis.repairs.forms import Forms
from grader.diagnosis.repairs.repair import Repair, aside, grown
from grader.diagnosis.repairs.rights.answers import Answers
from grader.diagnosis.repairs.standing import Told, diagnosis_of, needed, places_of
from grader.diagnosis.repairs.trial import Trial
from grader.diagnosis.slips.probes import Failing, size_of
from grader.diagnosis.slips.telling import Slip

MOST_CONFIRMED = 6  # of the tests that passed
MOST_KEPT = 24  # of these, where a repair puts no more than one test right
MOST_REFUSED = 8  # of those in which something was refused rightly
MOST_USERS = 3  # tests that passed, of other functions that use a changed one
OTHERS_SECONDS = 0.06  # of processor time, to see whether others stay wrong
MOST_LEFT = 5  # failing tests, of which none may be left wrong
MOST_ELSEWHERE = 12  # failing tests of other rows, which choose between repairs that one test needs all alike
MOST_RUN_AGAIN = 4  # tests of a row, to see whether they pass with a change
MOST_RUN_ANEW = 2  # tests with other inputs, to see whether an unlikely change is the cause
SAMPLE = 4  # failing tests of a row, one of which a repair has to put right for the others to be asked as well


@dataclass
class Confirmer:
    """Runs whole tests with repairs in force; failing are the tests that fail, of all rows."""

    bench: Bench
    forms: Forms
    answers: Answers
    failing: Sequence[Failing] = ()
    passed: Callable[[], Sequence[Failing]] = tuple  # the tests that passed, of all rows
    _reaching: dict[frozenset[str], list[Trial]] = field(default_factory=dict)  # by the functions that are changed
    _passing: dict[str, bool] = field(default_factory=dict)  # by test: whether it is right as it is

    def confirmed(self, found: Sequence[Repair], probe: Failing, row: Row) -> list[Told]:
        """Return what is said of repairs of one text, with the failing tests that each puts right.

        None breaks what passed. Of several that make one line right, the likeliest is told.
        """
        likeliest = sorted(found, key=lambda one: (len(one.all), one.likelihood, aside(one), grown(one)))
        texts = {each: text for each in likeliest if (text := diagnosis_of(each, row.id)) is not None}
        if not texts:
            return []
        self.forms.place(likeliest[0])
        left = list(texts)
        for trial in (*self._kept(probe, row), *self._refused(probe, row)):
            left = _right_ones(trial, left)
        left = [each for each in left if all(_right_ones(trial, [each]) for trial in self._users(each, probe))]
        peers = [each for each in row.failing if each is not probe and probe.called & each.called]
        settling = self._settling(left, peers)
        slips: dict[str, Told] = {}
        settled: set[frozenset[int]] = set()  # statements of which a repair answers for every test
        for each in left:
            statements = frozenset(id(change.statement) for change in each.changes)
            tests = {test for test, repairs in settling.items() if each in repairs} | {probe.test}
            is_partial = len(each.all) > 1 and len(tests) <= len(settling)
            is_partial |= each.adds and says_little(probe) and len(tests) <= len(settling)
            if statements in settled or is_partial or len(tests) < needed(each, self.forms.constants):
                continue  # unlikely changes that put little right, or several that leave a test, may be a coincidence
            if len(tests) == len(settling) + 1:
                settled.add(statements)
            diagnosis = texts[each]
            rank = (-len(tests), len(each.all), each.likelihood, aside(each), grown(each), len(diagnosis.text))
            before = slips.get(diagnosis.mistake)
            if before is None or rank < before[0].rank:
                slips[diagnosis.mistake] = Slip(diagnosis, rank, frozenset(tests)), each
        return self.ordered(slips.values(), probe)

    def _settling(self, repairs: Sequence[Repair], peers: Sequence[Failing]) -> dict[str, list[Repair]]:
        """Return for each test that can be repeated which repairs put it right.

        Those that put none right of some tests are a coincidence: the others are not asked about them.
        """
        found: dict[str, list[Repair]] = {}
        left = list(repairs)
        ordered = sorted(peers, key=size_of)
        for each in [*ordered[:: max(1, len(ordered) // SAMPLE)], *ordered]:
            if left and each.test not in found and (trial := self.answers.whole(each)) is not None:
                found[each.test] = _right_ones(trial, left)
            if len(found) == SAMPLE:
                left = [one for one in left if any(one in right for right in found.values())]
        return found

    def leaves_wrong(self, repair: Repair, probe: Failing, row: Row) -> bool:
        """Say whether a failing test that calls the same functions, of this row or another, stays wrong with a repair.

        Tests of refusals do not count: whoever computes wrongly may forget to refuse as well.
        """
        others = {each.test: each for each in (*row.failing, *self.failing) if each.test != probe.test}
        alike = [each for each in others.values() if probe.called & each.called]
        some = sorted((each for each in alike if not is_raised(each)), key=size_of)
        chosen = _spread(some, MOST_LEFT)
        self.forms.place(repair)
        ends_at = time.process_time() + self.bench.seconds + OTHERS_SECONDS
        for each in chosen:
            if time.process_time() + self.bench.seconds > ends_at:
                break
            trial = self.answers.whole_soon(each)
            if trial is not None and not trial.is_right(trial.score(repair.numbers)):
                return True
        return False

    def stands(self, slip: Slip, repair: Repair, probe: Failing, row: Row) -> bool:
        """Say whether more speaks for a repair that may be a coincidence: all that passed, and tests with other inputs.

        It may be one where it puts a single test right, or is unlikely.
        """
        if len(slip.tests) == 1 and not self.keeps_all(repair, probe, row):
            return False
        if len(repair.all) == 1 and repair.likelihood < 2:
            return True
        self.forms.place(repair)
        some = sorted(slip.tests)[:MOST_RUN_ANEW]
        return all(self.bench.passes(repair.numbers, test, again) for again, test in enumerate(some, 1))

    def counted(self, slip: Slip, repair: Repair, row: Row) -> Slip:
        """Return a slip with the failing tests that pass with its repair, up to one that fails: answers may differ."""
        left = [each.test for each in sorted(row.failing, key=size_of) if each.test not in slip.tests]
        if 2 * len(slip.tests) > len(row.failing):
            return slip
        more = set(takewhile(lambda test: self.bench.passes(repair.numbers, test), left[:MOST_RUN_AGAIN]))
        tests = slip.tests | more
        return Slip(slip.diagnosis, (-len(tests), *slip.rank[1:]), tests)

    def keeps_all(self, repair: Repair, probe: Failing, row: Row) -> bool:
        """Say whether all tests of a row that passed stay right with a repair, many at most."""
        self.forms.place(repair)
        alike = [each for each in row.passed if probe.called & each.called]
        return all(_right_ones(trial, [repair]) for trial in self._right(alike, MOST_KEPT))

    def _kept(self, probe: Failing, row: Row) -> list[Trial]:
        """Return some tests of a row that passed, which have to stay right."""
        return self._right([each for each in row.passed if probe.called & each.called], MOST_CONFIRMED)

    def _refused(self, probe: Failing, row: Row) -> list[Trial]:
        """Return some tests of a row in which what has to be refused is: with a repair it still has to be."""
        return self._right([each for each in row.refused if probe.called & each.called], MOST_REFUSED)

    def _users(self, repair: Repair, probe: Failing) -> list[Trial]:
        """Return some tests that passed and lead, by another function, to one that a repair changes: it is right there.

        Of what a test calls itself, the tests of its own row tell.
        """
        helpers = {change.function for change in repair.all} - probe.called
        if not helpers:
            return []
        key = frozenset(helpers)
        if key not in self._reaching:
            tests = [each for each in self.passed() if not probe.called & each.called]
            reached = {name for each in tests for name in each.called}
            leading = {name for name in reached if helpers & set(repair.written.reached(name))}
            self._reaching[key] = self._right([each for each in tests if leading & each.called], MOST_USERS)
        return self._reaching[key]

    def _right(self, tests: Sequence[Failing], most: int) -> list[Trial]:
        """Return some tests, the shortest, that a right module answers as the learner's does."""
        others = sorted(tests, key=size_of)[:most]
        trials = {each.test: trial for each in others if (trial := self.answers.whole(each)) is not None}
        for test, trial in trials.items():
            if test not in self._passing:
                self._passing[test] = trial.is_right(trial.score(()))
        return [trial for test, trial in trials.items() if self._passing[test]]

    def ordered(self, slips: Collection[Told], probe: Failing) -> list[Told]:
        """Return the likeliest first; nothing where one test cannot tell which of several places it is."""
        order = self.ranked(slips, probe)
        best = [pair for pair in order if pair[0].rank[:3] == order[0][0].rank[:3]]
        if order and len(order[0][0].tests) == 1 and len(places_of(best)) > 1:
            return []
        return order

    def ranked(self, slips: Collection[Told], probe: Failing) -> list[Told]:
        """Return the likeliest first; of those that are equally good, what the tests of other rows speak for."""
        order = sorted(slips, key=lambda pair: pair[0].rank)
        tied = [pair for pair in order if pair[0].rank[:3] == order[0][0].rank[:3]]
        return [*self._by_other_rows(tied, probe), *(pair for pair in order if pair not in tied)]

    def _by_other_rows(self, tied: list[Told], probe: Failing) -> list[Told]:
        """Return those that put the most failing tests of other rows right, where those of one need them all alike."""
        if len(places_of(tied)) < 2:
            return tied
        known = {probe.test, *(test for slip, _ in tied for test in slip.tests)}
        alike = [each for each in self.failing if each.test not in known and probe.called & each.called]
        trials = [
            trial for each in _spread(sorted(alike, key=size_of), MOST_ELSEWHERE) if (trial := self.answers.whole(each))
        ]
        settled: list[int] = []
        for _, each in tied:
            self.forms.place(each)
            settled.append(sum(trial.is_right(trial.score(each.numbers)) for trial in trials))
        return [pair for pair, number in zip(tied, settled, strict=True) if number == max(settled)]


def _spread(tests: Sequence[Failing], most: int) -> list[Failing]:
    """Return so many tests at most: the first, the last, and some between them."""
    steps = min(most, len(tests)) - 1
    return [tests[place * (len(tests) - 1) // max(steps, 1)] for place in range(steps + 1)]


def _right_ones(trial: Trial, repairs: Sequence[Repair]) -> list[Repair]:
    """Return the repairs with which all that a test asks is answered rightly."""
    if not repairs:
        return []
    scores = trial.scores([each.numbers for each in repairs])
    return [each for each, score in zip(repairs, scores, strict=True) if trial.is_right(score)]
