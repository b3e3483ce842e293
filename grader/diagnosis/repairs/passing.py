"""Repairs by whole tests: where numbers are drawn several answers are right, and only the test says which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.diagnosis.repairs.attempts import Row
from grader.diagnosis.repairs.bench import Bench
from grader.diagnosis.repairs.forms import Forms
from grader.diagnosis.repairs.repair import Repair
from grader.diagnosis.repairs.standing import Told, can_be_drawn, diagnosis_of
from grader.diagnosis.slips.probes import Failing
from grader.diagnosis.slips.telling import Slip

MOST_RUN = 4  # tests of a row, to see whether they pass with a change
MOST_OF_A_ROW = 3  # tests of another row, for a change that is known
ANEW = 3  # times that a test which fails alone has to pass with other draws


@dataclass
class Passing:
    """Runs tests of the suite with repairs in force."""

    bench: Bench
    forms: Forms

    def first(self, found: Iterable[Repair], failing: Failing, row: Row) -> list[Told]:
        """Return what is said of the first repair with which other failing tests pass as well, and none fails anew.

        A failing test passes with each of them.
        """
        for each in found:
            diagnosis = diagnosis_of(each, row.id)
            kept = [other.test for other in row.passed if failing.called & other.called][:MOST_RUN]
            self.forms.place(each)
            if diagnosis is None or not all(self.bench.passes(each.numbers, test) for test in kept):
                continue
            others = [other.test for other in row.failing if other is not failing][:MOST_RUN]
            if not others and not all(self.bench.passes(each.numbers, failing.test, n) for n in range(1, ANEW + 1)):
                continue
            if can_be_drawn(each, len(others)) and all(self.bench.passes(each.numbers, test) for test in others):
                tests = frozenset(each.test for each in row.failing)
                return [(Slip(diagnosis, (-1, 1, each.likelihood), tests), each)]
        return []

    def closest(self, best: Repair, failing: Failing, row: Row) -> list[Told]:
        """Return what comes closest to the right answers, where tests pass with it: it may draw other numbers."""
        self.forms.place(best)
        return self.first([best], failing, row) if self.bench.passes(best.numbers, failing.test) else []

    def known(self, repair: Repair, some: Sequence[Failing], row: Row) -> Slip | None:
        """Return what is said of a repair that another row needed, if the shortest tests of this one pass with it."""
        diagnosis = diagnosis_of(repair, row.id)
        if diagnosis is None or not all(self.bench.passes(repair.numbers, each.test) for each in some[:MOST_OF_A_ROW]):
            return None
        tests = frozenset(each.test for each in row.failing)
        return Slip(diagnosis, (-len(tests), len(repair.all), repair.likelihood), tests)
