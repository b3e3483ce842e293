"""Tries small changes of a learner's own functions until the failing tests of a row are answered rightly."""

from __future__ import annotations

import hashlib
import time
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from grader.course.stage import Stage
from grader.diagnosis.repairs.bench import Bench, BenchGone
from grader.diagnosis.repairs.expected import expected
from grader.diagnosis.repairs.forms import Forms
from grader.diagnosis.repairs.repair import Repair, grown, refuses, together
from grader.diagnosis.repairs.trial import Trial
from grader.diagnosis.repairs.wording import told
from grader.diagnosis.replay import Replay
from grader.diagnosis.slips.probes import Failing, size_of
from grader.diagnosis.slips.telling import Slip, distance, is_fine
from grader.outcome import Diagnosis

REPAIR = "repair-"  # how the id of what is told begins
MOST_BYTES = 100_000  # of a module: to read and compile a longer one takes time that no clock looks into
SECONDS = 0.45  # of processor time, here and on the bench
ROW_SHARE = 0.7  # of what is left, for one row
LEAST = 0.03  # seconds, below which nothing is begun
AT_ONCE = 16  # changes that are tried in one exchange
MOST_FOUND = 10  # repairs that are held against a row's other tests
MOST_CONFIRMED = 6  # of the tests that passed
ROUNDS = 3  # of one change more
MOST_TOLD = 1000  # characters: a learner's names may be as long as the module


@dataclass(frozen=True)
class Row:
    """What a row's search is about: its id, its tests that fail and those that passed, and whose lines are asked.

    fine are the functions of which all rows pass, own those of this row; the search ends at a time of the clock.
    """

    id: str
    failing: Sequence[Failing]
    passed: Sequence[Failing]
    fine: frozenset[str]
    own: frozenset[str]
    ends_at: float = 0.0


@dataclass
class _Tried:
    """What came of the changes that were tried on one test: those that put it right, and the best that does not."""

    trial: Trial
    most: tuple[int, int]  # the score of the best
    ends_at: float
    clock: Callable[[], float]
    found: list[Repair] = field(default_factory=list)
    best: Repair | None = None

    def all(self, candidates: Iterable[Repair]) -> None:
        """Try changes, some at a time, while there is time."""
        for late, group in groupby(candidates, key=_is_late):
            waiting = list(group)
            while waiting:
                if self.clock() > self.ends_at or len(self.found) >= MOST_FOUND:
                    return
                some, waiting = waiting[:AT_ONCE], waiting[AT_ONCE:]
                for each, score in zip(some, self.trial.scores([each.numbers for each in some], late), strict=True):
                    if self.trial.is_right(score):
                        self.found.append(each)
                    elif score > self.most:
                        self.most, self.best = score, each


def _is_late(repair: Repair) -> bool:
    """Say whether what is changed ran in the last request of a test alone."""
    return not any(repair.written.ran_before(change.statement) for change in repair.changes)


@dataclass
class Repairs:
    """Looks for repairs of one module; reference is the right one, and forms hold what a learner wrote."""

    stage: Stage
    learner: bytes
    reference: types.ModuleType
    reference_text: str
    bench: Bench
    left: float = field(default_factory=lambda: SECONDS)  # of processor time, here and on the bench, for all rows
    _known: list[Repair] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.forms = Forms(self.stage, self.learner, self.reference_text, self.bench)

    def clock(self) -> float:
        """Return the processor time that was taken, on the bench too."""
        return time.process_time() + self.bench.seconds

    def explain(
        self, row: str, failing: Sequence[Failing], passed: Sequence[Failing], fine: frozenset[str], own: frozenset[str]
    ) -> list[Slip]:
        """Return what repairs a row's failing tests, each thing once; one row may take a part of the time that is left.

        passed are tests of the row that passed: what is right there stays right. fine are the functions of which all
        rows pass, own those of this row. Of a module that is too long to be tried, nothing.
        """
        if len(self.learner) > MOST_BYTES:
            return []
        began = self.clock()
        try:
            return self._explained(Row(row, failing, passed, fine, own, began + ROW_SHARE * self.left))
        except BenchGone:
            return []
        finally:
            self.left = max(0.0, self.left - (self.clock() - began))

    def _explained(self, row: Row) -> list[Slip]:
        """Look for a change that puts a test right, then for another where tests are left or need both."""
        left = sorted(row.failing, key=size_of)
        partial: Repair | None = None
        chosen: list[Slip] = []
        for _ in range(ROUNDS):
            trial = next((made for each in left if (made := self._trial(each)) and made.right[-1].error is None), None)
            if trial is None or row.ends_at - self.clock() < LEAST:
                break
            found, best = self._found(trial, partial, row)
            slips = self._confirmed([each.after(partial) for each in found], trial.failing, row)
            if not slips:
                partial = best.after(partial) if best is not None else None
                left = left if best is not None else [each for each in left if each is not trial.failing]
                continue
            slip, partial = slips[0]
            left = [each for each in left if each.test not in slip.tests]
            peers = [each for each in row.failing if trial.right[-1].label in each.called]
            if 2 * len(slip.tests) > len(peers):
                chosen.append(slip)
                self._known.append(partial)
                partial = None
        return chosen

    def _trial(self, failing: Failing) -> Trial | None:
        """Return a failing test up to its first wrong answer; None where the right module cannot repeat it."""
        for exact in (False, True):
            replay = Replay(self.reference, self.stage, failing.names, exact, self.learner)
            first = replay.first_difference(failing.records)
            if first is None:
                continue
            record = failing.records[first]
            records = [record] if replay.stands_alone(record) else failing.records[: first + 1]
            right = expected(Replay(self.reference, self.stage, failing.names, exact, self.learner), records)
            return None if right is None else Trial(self.stage, self.bench, failing, right, exact)
        return None

    def _found(self, trial: Trial, partial: Repair | None, row: Row) -> tuple[list[Repair], Repair | None]:
        """Return the changes with which a test is answered rightly, and the one with which more of it is.

        Where a part of what is wrong is known, it is put right before.
        """
        for each in self._known if partial is None else ():
            self.forms.hold(each.written)
            if trial.is_right(trial.score(each.numbers)):
                return [each], None
        label = trial.right[-1].label
        written = self.forms.noted(trial, row.fine, partial)
        names = [name for name in written.that_ran() if not is_fine(name, row.fine)]
        names.sort(key=lambda name: (refuses(written.definitions[name]), distance(name, label, row.own)))
        late = [name for name in names if written.is_late(name)]
        early = [name for name in names if name not in late]
        self.forms.hold(written)
        tried = _Tried(trial, trial.score(()), row.ends_at, self.clock)
        for functions, level in ((late, 0), (late, 1), (early, 0), (early, 1), (late, 2), (early, 2)):
            for name in functions:
                if self.clock() > row.ends_at:
                    return [], tried.best
                singles = self.forms.made(written, name, level)
                tried.all(singles)
                if not tried.found and level == 0:
                    tried.all(together(singles))
                if tried.found:
                    return tried.found, None
        return [], tried.best

    def _confirmed(self, found: list[Repair], probe: Failing, row: Row) -> list[tuple[Slip, Repair]]:
        """Return what is said of repairs, with the failing tests that each puts right; none breaks what passed."""
        peers = [each for each in row.failing if each is not probe and probe.called & each.called]
        trials = [(each, trial) for each in peers if (trial := self._whole(each)) is not None]
        others = [each for each in sorted(row.passed, key=size_of) if probe.called & each.called][:MOST_CONFIRMED]
        kept = [trial for each in others if (trial := self._whole(each)) and trial.is_right(trial.score(()))]
        slips: dict[str, tuple[Slip, Repair]] = {}
        for each in found:
            self.forms.hold(each.written)
            diagnosis = self._diagnosis(each, row.id)
            if diagnosis is None or not all(trial.is_right(trial.score(each.numbers)) for trial in kept):
                continue
            tests = {other.test for other, trial in trials if trial.is_right(trial.score(each.numbers))} | {probe.test}
            if (each.likelihood > 1 and (len(tests) == 1 or len(each.all) > 1)) or len(tests) < len(each.all):
                continue  # unlikely changes, or several, that put little right may be a coincidence
            rank = (-len(tests), len(each.all), each.likelihood, grown(each), len(diagnosis.text))
            before = slips.get(diagnosis.mistake)
            if before is None or rank < before[0].rank:
                slips[diagnosis.mistake] = Slip(diagnosis, rank, frozenset(tests)), each
        order = sorted(slips.values(), key=lambda pair: pair[0].rank)
        if order and len(order[0][0].tests) == 1:
            best = [repair for slip, repair in order if slip.rank[:3] == order[0][0].rank[:3]]
            if len({change.statement.lineno for each in best for change in each.changes}) > 1:
                return []  # one test cannot tell which of several places it is
        return order

    def _whole(self, failing: Failing) -> Trial | None:
        right = expected(Replay(self.reference, self.stage, failing.names, False, self.learner), failing.records)
        return None if right is None else Trial(self.stage, self.bench, failing, right, False)

    def _diagnosis(self, repair: Repair, row: str) -> Diagnosis | None:
        """Return what is told of a repair; None where one of its changes has no words, or too many."""
        function = repair.all[0].function
        clauses = []
        for change in repair.all:
            said = told(change, repair.written.vocabulary(change.function))
            if said is None:
                return None
            clauses.append(said)
        function = function.removesuffix(".__init__")
        lines = sorted({change.statement.lineno for change in repair.all})
        words = ", and as if ".join(dict.fromkeys(each.said for each in clauses))
        at = f"line{'s' if len(lines) > 1 else ''} {' and '.join(map(str, lines))}"
        text = f"{function} answers as if {words} ({at})."
        fixes = " ".join(dict.fromkeys(each.fix for each in clauses))
        if len(text) + len(fixes) > MOST_TOLD:
            return None
        name = REPAIR + hashlib.sha256(text.encode()).hexdigest()[:8]
        return Diagnosis(name, row, text, fixes)
