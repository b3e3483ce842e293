"""Tries small changes of a learner's own functions until the failing tests of a row are answered rightly."""

from __future__ import annotations

import math
import time
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from grader.course.stage import Stage
from grader.diagnosis.repairs.asked import has_arrays, is_drawn, is_of_nothing, is_raised
from grader.diagnosis.repairs.attempts import Candidates, Row, Tried
from grader.diagnosis.repairs.bench import Bench, BenchGone
from grader.diagnosis.repairs.confirmed import MOST_RUN_AGAIN, Confirmer
from grader.diagnosis.repairs.forms import Forms
from grader.diagnosis.repairs.passing import Passing
from grader.diagnosis.repairs.repair import Repair
from grader.diagnosis.repairs.rights.answers import Answers
from grader.diagnosis.repairs.rights.prepared import Prepared
from grader.diagnosis.repairs.standing import Told, is_chance, is_weak, left_wrong, ran_first
from grader.diagnosis.repairs.trial import Trial
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.slips.probes import Failing, size_of
from grader.diagnosis.slips.telling import Slip

MOST_BYTES = 100_000  # of a module: to read and compile a longer one takes time that no clock looks into
SECONDS = 0.4  # of processor time, here and on the bench
RECALL_SECONDS = 0.07  # of processor time, for what one row needed to be tried on the others, and once more at the end
ROW_SHARE = 0.85  # of what is left, for one row
DOUBT_SECONDS = 0.15  # of processor time, to look for what puts right other rows as well
DRAWS_SHARE = 0.5  # of what is left, to run whole tests where numbers are drawn and arrays given: answers may tell more
ALONE_DRAWS_SHARE = 0.75  # of the same, where nothing but draws can tell
ALONE_SHARE = 0.35  # of what is left, to look for one cause where a repair of few tests may be the first of two
LEAST = 0.03  # seconds, below which nothing is begun
MOST_BATCHES = 4  # of changes that put a test right and do not stand
ROUNDS = 3  # of one change more


@dataclass
class Repairs:
    """Looks for repairs of one module; reference is the right one, and forms hold what a learner wrote."""

    stage: Stage
    learner: bytes
    reference: types.ModuleType
    reference_text: str
    bench: Bench
    alternatives: Sequence[str] = ()  # the texts of other right modules
    others: Callable[[], Sequence[types.ModuleType]] = tuple  # these modules
    prepared: Prepared | None = None
    left: float = field(default_factory=lambda: SECONDS)  # of processor time, here and on the bench, for all rows
    left_to_recall: float = RECALL_SECONDS
    has_searched: bool = False  # a row: what it did not find there is seldom told rightly by a change of another module
    _known: list[Repair] = field(default_factory=list)
    _told: dict[str, Repair] = field(default_factory=dict)  # by the id of what is said of it
    _noted: Written | None = None  # the learner's text, as it ran in the test that was looked at last
    _ends_at: float = math.inf  # by the clock: what is under way now

    def __post_init__(self) -> None:
        self.forms = Forms(self.stage, self.learner, self.reference_text, self.bench, self.alternatives, self.prepared)
        self.answers = Answers(self.stage, self.learner, self.reference, self.bench, self.others)
        self.confirmer = Confirmer(self.bench, self.forms, self.answers)
        self.passing = Passing(self.bench, self.forms)
        self.answers.remaining = lambda: self._ends_at - self.clock()

    def clock(self) -> float:
        """Return the processor time that was taken."""
        return time.process_time() + self.bench.seconds

    def explain(self, row: Row) -> list[Slip]:
        """Return what repairs a row's failing tests, each thing once; one row may take a part of the time that is left.

        What is right in tests of the row that passed stays right. Of a module that is too long to be tried, nothing.
        """
        if len(self.learner) > MOST_BYTES:
            return []
        began = self.clock()
        try:
            if (known := self.recall(row)) or self.left < LEAST:
                return known
            self._ends_at = began + ROW_SHARE * self.left
            found = self._explained(replace(row, ends_at=self._ends_at))
            self.has_searched = True
            return found
        except BenchGone:
            return []
        finally:
            self.left = max(0.0, self.left - (self.clock() - began))

    def recall(self, row: Row) -> list[Slip]:
        """Return what of the repairs that other rows needed puts right a row that was asked before they were found."""
        began = self.clock()
        self._ends_at = began + self.left_to_recall
        try:
            for each in self._known if row.failing else ():
                if self.clock() - began >= self.left_to_recall:
                    break
                self.forms.place(each)
                some = sorted(row.failing, key=size_of)[:MOST_RUN_AGAIN]
                trials = (self.answers.whole(test) for test in some)
                probe = next((one for one in trials if one and one.is_right(one.score(each.numbers))), None)
                slips = self.confirmer.confirmed([each], probe.failing, row) if probe is not None else []
                if slips:
                    return [slips[0][0]]
                if probe is None and (passing := self.passing.known(each, some, row)) is not None:
                    return [passing]
        except BenchGone:
            pass
        finally:
            self.left_to_recall = max(0.0, self.left_to_recall - (self.clock() - began))
        return []

    def settles(self, slip: Slip, tests: Sequence[str]) -> frozenset[str]:
        """Return which tests pass with what a slip tells put right, a few at most."""
        repair = self._told.get(slip.diagnosis.mistake)
        if repair is None or repair.before:
            return frozenset()
        self._ends_at = (began := self.clock()) + self.left
        try:
            self.forms.place(repair)
            return frozenset(test for test in tests[:MOST_RUN_AGAIN] if self.bench.passes(repair.numbers, test))
        except BenchGone:
            return frozenset()
        finally:
            self.left = max(0.0, self.left - (self.clock() - began))

    def _explained(self, row: Row) -> list[Slip]:
        """Look for a change that puts a test right, then for another where tests are left or need both."""
        left = sorted(row.failing, key=lambda each: (is_raised(each), is_of_nothing(each), size_of(each)))
        partial: Repair | None = None
        coincidences: list[Told] = []
        chosen: list[Slip] = []
        if left and (passing := self._of_draws(left[0], row)):
            return self._remembered(passing)
        for _ in range(ROUNDS):
            trials = (self.answers.first_wrong(each) for each in left)
            trial = next((made for made in trials if made and made.right[-1].error is None), None)
            if trial is None or row.ends_at - self.clock() < LEAST:
                break
            some = self._for_a_while(row, ALONE_SHARE) if coincidences and partial is None else row
            slips, best = self._repaired(trial, partial, some, not coincidences)
            if slips and not coincidences and partial is None and (others := left_wrong(slips, left, row)):
                coincidences, left = slips, others  # what is wrong shows better in a test that none of these puts right
                continue
            is_alone = not (partial or chosen or is_raised(trial.failing))  # what avoids an error makes tests pass, too
            if best is not None and is_alone and (passing := self.passing.closest(best, trial.failing, row)):
                return self._remembered(passing)
            slips = slips or ran_first(coincidences, self._noted)
            if not slips:
                partial = best.after(partial) if best is not None else None
                left = left if best is not None else [each for each in left if each is not trial.failing]
                continue
            stands = next((each for each in slips if self.confirmer.stands(*each, trial.failing, row)), None)
            if stands is None:
                left = [each for each in left if each is not trial.failing]
                continue
            self._told[stands[0].diagnosis.mistake] = partial = stands[1]
            slip = self.confirmer.counted(*stands, row)
            left = [each for each in left if each.test not in slip.tests]
            if 2 * len(slip.tests) > sum(trial.right[-1].label in each.called for each in row.failing):
                chosen.append(slip)
                self._known.append(partial)
                partial = None
        return chosen

    def _for_a_while(self, row: Row, share: float) -> Row:
        return replace(row, ends_at=self.clock() + share * (row.ends_at - self.clock()))

    def _of_draws(self, first: Failing, row: Row) -> list[Told]:
        """Return what makes tests pass as a whole, where numbers are drawn and several answers are right."""
        trial = self.answers.first_wrong(first)
        if trial is None or not (is_drawn(trial.right) or self.forms.may_draw(trial)):
            return []
        self.forms.hold(written := self.forms.noted(trial, row.fine, None))
        depths = self.forms.depths(written, trial, row.fine, ())
        share = DRAWS_SHARE if has_arrays(trial.right) else ALONE_DRAWS_SHARE
        made = Candidates(self.forms, self._for_a_while(row, share), self.clock)
        found = made.passing(made.of_draws(written, trial, depths), trial, self.bench)
        return self.passing.first(found, trial.failing, row)

    def _remembered(self, told: list[Told]) -> list[Slip]:
        """Return what is said of repairs, which are tried in other rows as well."""
        self._known += [repair for _, repair in told]
        return [slip for slip, _ in told]

    def _is_doubted(self, repair: Repair, trial: Trial, row: Row) -> bool:
        """Say whether to look for a better repair: steps are seldom in another order, and no test may stay wrong.

        Where the answer is yes or no, half of all changes give the other one.
        """
        is_order = any(isinstance(change.new, list) for change in repair.changes)
        return is_order or trial.says_little or self.confirmer.leaves_wrong(repair, trial.failing, row)

    def _begun(self, trial: Trial, partial: Repair | None, sure: frozenset[str]) -> tuple[Trial, Written] | None:
        """Return a test, and the learner's text as it ran there with what is known put right; None if that is all."""
        self._noted = written = self.forms.noted(trial, sure, partial)
        self.forms.hold(written)
        if not trial.is_right(trial.score(())):
            return trial, written
        whole = self.answers.whole(trial.failing)  # objects came back, and what is wrong with them shows later
        if whole is None or whole.is_right(score := whole.score(())):
            return None
        trial = whole.up_to(score[0])
        written = self.forms.noted(trial, sure, partial)
        self.forms.hold(written)
        return trial, written

    def _repaired(
        self, trial: Trial, partial: Repair | None, row: Row, is_first: bool
    ) -> tuple[list[Told], Repair | None]:
        """Return what is said of the changes with which a test is answered rightly, and that with which more of it is.

        Where a part of what is wrong is known, it is put right before. The first test that is asked gets less time
        where what puts it right looks like a coincidence.
        """
        for each in self._known if partial is None else ():
            self.forms.place(each)
            if trial.is_right(trial.score(each.numbers)):
                return self.confirmer.confirmed([each], trial.failing, row), None
        sure = self.forms.beyond_doubt(trial, row.fine)
        is_poor = partial is not None and trial.says_little  # many pairs of changes give so little
        if (begun := None if is_poor else self._begun(trial, partial, sure)) is None:
            return [], None
        trial, written = begun
        depths = self.forms.depths(written, trial, sure, trial.wrong_parts() if partial is None else ())
        row = replace(row, fine=self.forms.fine(written, depths, row.fine, sure), passing=row.fine)
        tried = Tried(trial, trial.score(()), row.ends_at, self.clock)
        batches = Candidates(self.forms, row, self.clock).right(written, tried, depths)
        weak: list[Told] = []  # of all that put little right the likeliest is told, if it is in one place
        doubted: list[Told] = []
        for found in islice(batches, MOST_BATCHES):
            slips = self.confirmer.confirmed([each.after(partial) for each in found], trial.failing, row)
            if is_first and partial is None and left_wrong(slips, row.failing, row):
                if not is_weak(slips[0][0], row):
                    return slips, None
                tried.ends_at = min(tried.ends_at, self._for_a_while(row, ALONE_SHARE).ends_at)
            if slips and not is_weak(slips[0][0], row):
                if partial is not None or not self._is_doubted(slips[0][1], trial, row):
                    return slips, None
                tried.ends_at = min(tried.ends_at, self.clock() + DOUBT_SECONDS)
                doubted += slips
            weak += slips
        doubted = self.confirmer.ranked(doubted, trial.failing)
        if is_chance(doubted, trial, row.failing):
            return [], None
        weak = doubted or self.confirmer.ordered(weak, trial.failing)
        return weak, None if weak else tried.best
