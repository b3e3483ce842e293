"""The causes of a run's failures: of each failing call by itself, known mistakes first, then edits of the own text.

A function that others call comes before them: what puts it right may put their calls right as well.
"""

from __future__ import annotations

import types
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from grader.course.answers import Mistake
from grader.course.stage import Stage
from grader.diagnosis.accept import OF_ANSWERS
from grader.diagnosis.answers import Answers
from grader.diagnosis.checks import Check, Checks, by_asked_name, evidence_of, of_convention
from grader.diagnosis.edited import Cause, Edited
from grader.diagnosis.known_mistakes import KnownMistakes, Match
from grader.diagnosis.module_text import ModuleText, parsed
from grader.diagnosis.obvious import BY_ACCIDENT, MISSING, NOTHING, REFUSED, ended_at, obvious
from grader.diagnosis.pool import Pool
from grader.diagnosis.runner import RemoteRunner, Runner, RunnerGone
from grader.diagnosis.search import FULL, IN_ALL, SHARE, Budget, Search
from grader.outcome import CUT, SEARCH, Diagnosis, Outcome
from grader.process import uncollected
from grader.sandbox.connection import Ended, Passed, RequestLog
from grader.submission.parsing import shown_text

MOST_CAUSES = 8  # edits that are looked for in one module
PLACED = 200  # trials for the line of a known mistake that no value tells
ENOUGH = 2  # failing calls that a known mistake explains, where it does not explain half of them
MOST_PROVING = 6  # failing calls without a cause that an edit is held against
Location = tuple[str, int, frozenset[Check]]  # a function, its line and the calls that an edit there puts right
NOWHERE: Location = ("", 0, frozenset())


@dataclass
class Explainer:
    """Explains the failures of one module's run."""

    stage: Stage
    learner: bytes
    reference_text: str
    mistakes: Sequence[Mistake]
    rights: Mapping[str, types.ModuleType]  # right modules by their texts, the reference first
    runner: Runner | None
    stub_text: str = ""
    asked: tuple[str, ...] = ()  # criteria that get a full share of the trials, as the first that fails does
    pool: Pool | None = None  # right modules that run in processes of their own
    problems: dict[str, str] = field(default_factory=dict)  # by criterion
    causes: list[Cause] = field(default_factory=list)
    _undecided: Mapping[Check, tuple[str, ...]] = field(default_factory=dict)  # ids of known mistakes, by failing call
    _instead: Mapping[str, Any] = field(default_factory=dict)  # of the reference's: by the learner's convention
    _others: Sequence[str] = ()  # the texts of right modules of another convention than the learner's
    _labels: frozenset[str] = frozenset()  # the functions of which calls fail
    _full: set[str] = field(default_factory=set)  # criteria that get a full share
    _budgets: dict[str, Budget] = field(default_factory=dict)  # by criterion
    # the place of each cause that is an edit, the search with all edits before it, and with its own
    _made: list[tuple[tuple[str, str, int], Search | None, Search]] = field(default_factory=list)
    _still_wrong: set[str] = field(default_factory=set)  # tests that stay wrong when their first wrong call is mended

    @cached_property
    def _module(self) -> ModuleText:
        return parsed(shown_text(self.learner))

    @cached_property
    def _edited(self) -> Edited:
        return Edited(self.stage, self._module, self.rights, self.runner, self.stub_text, self.pool, self._others)

    def explained(
        self, outcomes: Sequence[Outcome], failed: Sequence[Ended], passed: Sequence[Passed]
    ) -> list[Outcome]:
        """Return the outcomes with the causes of those that failed."""
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            every = self.rights
            self.rights, self._instead = of_convention(self.stage, every, passed, self.learner)
            self._others = [each for each in every if each not in self.rights]
            checks = Checks.of(self.stage, failed, passed, list(self.rights.values()), self.learner)
            raising = frozenset(filter(None, (ended_at(each.last) for each in checks.failing if each.is_raised)))
            direct = _of_one_check(self._direct(failed, raising), checks.failing)
            wrong = {each.criterion for each in outcomes if each.status != "passed"}  # a verdict tells no other row's
            self.mistakes = [each for each in self.mistakes if each.criterion in wrong]
            self._explain(checks, direct)
        undecided = {check.outcome.test: ids for check, ids in self._undecided.items()}
        return [replace(self._with_cause(each, direct), undecided=undecided.get(each.test, ())) for each in outcomes]

    def _direct(self, failed: Sequence[Ended], raising: frozenset[tuple[str, str, int]]) -> dict[str, Diagnosis]:
        """Return what answers show by themselves, by test: a refusal that is missing, another dtype."""
        found = {}
        reference = next(iter(self.rights.values()))
        for each in failed:
            shown = obvious(
                self.stage,
                reference,
                each.records,
                each.names,
                each.outcome.criterion,
                self.learner,
                self.reference_text,
                raising,
            )
            if shown is not None:
                found[each.outcome.test] = shown
        return found

    def _explain(self, checks: Checks, direct: Mapping[str, Diagnosis]) -> None:
        known = KnownMistakes(self.stage, self.reference_text, self.mistakes, self.learner, self._instead)
        self._undecided = known.undecided
        left = list(checks.failing)
        self._labels = frozenset(each.label for each in left)
        order = self._order(left)
        self._full = {*self.asked, *self._first_to_fail(left, order)}
        left = self._without_known(order, left, checks, known, direct)
        self._search_each(order, left, checks, known, direct)
        self._go_on(checks, known, direct)
        self._refuse_together(checks, known)
        self.causes = [self._where_mended(each) for each in self.causes]
        self._drop_unproved([each for each in checks.failing if each.outcome.test not in direct], checks.trusted())

    def _search_each(
        self, order: Sequence[str], left: Sequence[Check], checks: Checks, known: KnownMistakes,
        direct: Mapping[str, Diagnosis],
    ) -> None:  # fmt: skip
        """Find the causes of the failing calls that are left, of one function after the other."""
        giving_nothing: set[str] = set()  # functions without a `return`, where no edit says what it would return
        for label in order:
            group = [each for each in left if each.label == label]
            if not group or giving_nothing & set(self._module.reached(label)):  # what it is given is not there
                continue
            row = group[0].criterion
            budget = self._budgets.setdefault(row, Budget(FULL if row in self._full else SHARE))
            further = [each.spent for name, each in self._budgets.items() if name not in self._full]
            if row not in self._full and sum(further) > IN_ALL:
                budget.left = 0
            try:
                explained = self._of_function(label, group, left, checks, known, direct, budget)
            except RunnerGone:
                explained = set()
            except Exception as error:  # of values that a learner's process chose, or of a change that cannot be made
                self.problems[row] = f"{SEARCH} failed: {type(error).__name__}: {error}"[:300]
                explained = set()
            left = [each for each in left if each not in explained]
            if any(
                each.outcome.test in direct and direct[each.outcome.test].mistake == NOTHING
                for each in set(group) - explained
            ):
                giving_nothing.add(label)

    def _without_known(
        self, order: Sequence[str], failing: Sequence[Check], checks: Checks, known: KnownMistakes,
        direct: Mapping[str, Diagnosis],
    ) -> list[Check]:  # fmt: skip
        """Tell the known mistakes that explain all failing calls of their function; return the calls that are left.

        No edit is looked for there. A function that calls one whose failing calls are not explained waits.
        """
        left, unexplained = list(failing), set[str]()
        for label in order:
            group = [each for each in left if each.label == label]
            waiting = [each for each in group if not (each.is_refusal and each.outcome.test in direct)]
            if not waiting:
                continue
            match = None
            if not unexplained & set(self._module.reached(label)):
                match = self._matched(known, waiting, checks, self._labels - {label})
            searched = [each for each in waiting if each.outcome.test not in direct]
            if match is not None and self._is_all(match, searched, left, known):
                explained = self._take_known(match, left, known, self._place_of(match, left, checks, known, label))
                left = [each for each in left if each not in explained]
            else:
                unexplained.add(label)
        return left

    def _go_on(self, checks: Checks, known: KnownMistakes, direct: Mapping[str, Diagnosis]) -> None:
        """Look at the last wrong calls of tests of which the first is explained: they may have a fault of their own.

        Where the first is right in what is mended, edits are looked for there, else known mistakes beside its own.
        """
        mended, others = self._wrong_later(known, direct)
        before = len(self.causes)
        self._labels |= {each.label for each in (*mended, *others)}
        for label in self._order(others):
            group = [each for each in others if each.label == label]
            match = known.match(group, checks, self._labels - {label}) if group else None
            if match is not None and _is_enough(match, group):
                explained = self._take_known(match, others, known, self._place_of(match, others, checks, known, label))
                others = [each for each in others if each not in explained]
        self._search_each(self._order(mended), mended, checks, known, direct)
        for cause in self.causes[before:]:  # an edit where a known mistake was told of other calls is that mistake
            for place, told in enumerate(self.causes[:before]):
                if told.declared and told.line and (told.function, told.line) == (cause.function, cause.line):
                    self.causes[place] = replace(told, checks=told.checks | cause.checks)
                    self.causes.remove(cause)
        explained = {check for cause in self.causes for check in cause.checks}
        self._still_wrong = {each.outcome.test for each in (*mended, *others) if each not in explained}

    def _refuse_together(self, checks: Checks, known: KnownMistakes) -> None:
        """Tell of all calls that one line of a right module refuses the same known mistake, or none.

        What is answered in their place is noise: one that refuses none of them is the mistake.
        """
        explained = {check for cause in self.causes for check in cause.checks}
        left = [each for each in checks.failing if each.is_refusal and each not in explained]
        for cause in [each for each in self.causes if each.declared]:
            places = {each.refused_at for each in cause.checks if each.is_refusal}
            others = [each for each in left if each.refused_at in places]
            mistake = next(each for each in self.mistakes if each.id == cause.id)
            is_it = all(known.accepts(mistake, each) for each in others)
            gone = set() if is_it else {each.refused_at for each in others}
            own = [each for each in (*cause.checks, *(others if is_it else ())) if each.refused_at not in gone]
            self.causes = [
                replace(each, checks=frozenset(own)) if each is cause else each
                for each in self.causes if own or each is not cause
            ]  # fmt: skip

    def _wrong_later(self, known: KnownMistakes, direct: Mapping[str, Diagnosis]) -> tuple[list[Check], list[Check]]:
        """Return the last wrong calls of tests that no cause explains: those whose first is right by edits, and others.

        Those that one explains are added to it: the cause of the first, or else that whose edit was made after it.
        """
        found: tuple[list[Check], list[Check]] = [], []
        for cause in list(self.causes):
            mistakes = tuple(each for each in self.mistakes if cause.declared and each.id == cause.id)
            own = [each for each in cause.checks if each.then is not None and each.outcome.test not in direct]
            pairs = [(each, each.then) for each in own if each.then is not None and not each.then.is_refusal]
            pairs.sort(key=lambda pair: pair[0].outcome.test)
            right = self._right_by([each for pair in pairs for each in pair])
            for first, then in pairs:
                then.beside = mistakes
                if then in right or (mistakes and known.is_explained(then)):
                    self._add(right.get(then, cause.place), then)
                elif mistakes and (other := known.told_beside(then)) is not None:
                    for place in [each.place for each in self.causes if each.declared and each.id == other.id]:
                        self._add(place, then)
                elif mistakes or first in right:
                    found[first not in right].append(then)
        return found

    def _where_mended(self, cause: Cause) -> Cause:
        """Return a known mistake in the line of an edit elsewhere that puts all its calls right as well."""
        checks = list(cause.checks) if cause.declared else []
        for (_, function, line), before, search in self._made if checks else ():
            is_by_others = before is not None and self._edited.right_with(before, checks)
            if not is_by_others and len(self._edited.right_with(search, checks)) == len(checks):
                return replace(cause, function=function, line=line)
        return cause

    def _right_by(self, checks: Sequence[Check]) -> dict[Check, tuple[str, str, int]]:
        """Return the calls that are right by the edits made so far, each with the cause whose edit makes it so."""
        right: dict[Check, tuple[str, str, int]] = {}
        for place, _, search in self._made:
            left = [each for each in checks if each not in right]
            right |= dict.fromkeys(self._edited.right_with(search, left), place)
        return right

    def _add(self, place: tuple[str, str, int], check: Check) -> None:
        self.causes = [
            replace(each, checks=each.checks | {check}) if each.place == place else each for each in self.causes
        ]

    def _drop_unproved(self, failing: Sequence[Check], trusted: frozenset[str]) -> set[Check]:
        """Drop edits in whose line a failing call of the same kind that no cause explains still goes wrong.

        Return the calls that these explained. Of answers without fractions many formulas give some: there an edit has
        to leave no call of its functions.
        """
        explained = {check for cause in self.causes for check in cause.checks}
        left = [each for each in failing if each not in explained]
        dropped: set[Check] = set()
        for cause in [each for each in self.causes if not each.declared]:
            kinds = cause.kinds | (set(OF_ANSWERS) if any(each.is_plain for each in cause.checks) else set())
            some = [each for each in left if each.kind in kinds]
            labels = {each.label for each in cause.checks}
            labels = {cause.function} if cause.function in labels else labels
            is_sure = any(each.has_fractions for each in cause.checks) or not any(each.label in labels for each in some)
            if cause.function in labels:  # by its own calls; what others make of its answers may be another way to them
                some = [each for each in some if each.label == cause.function]
            if not is_sure or any(self._edited.goes_wrong_at(cause, each, trusted) for each in some[:MOST_PROVING]):
                self.causes.remove(cause)
                dropped |= cause.checks
        for cause in (*self._contradicting(), *self._not_of_own_calls(failing)):
            self.causes.remove(cause)
            dropped |= cause.checks
        return dropped

    def _contradicting(self) -> list[Cause]:
        """Return edits of one line of which each explains some calls of a kind, and none all of them."""
        edits = [each for each in self.causes if not each.declared and each.line]
        pairs = [(a, b) for a, b in combinations(edits, 2) if (a.function, a.line) == (b.function, b.line)]
        both = [pair for pair in pairs if pair[0].kinds & pair[1].kinds]
        return [each for each in edits if any(each in pair for pair in both)]

    def _not_of_own_calls(self, failing: Sequence[Check]) -> list[Cause]:
        """Return edits of a function that is asked itself and answers wrongly, of which none of these calls speaks."""
        return [
            each for each in self.causes
            if not each.declared
            and any(check.label == each.function for check in failing)
            and not any(check.label == each.function for check in each.checks)
        ]  # fmt: skip

    def _first_to_fail(self, left: Sequence[Check], order: Sequence[str]) -> set[str]:
        """Return the criterion that fails first in the checklist, and that of the function that is explained first."""
        failing = [row.id for row in self.stage.criteria if any(each.criterion == row.id for each in left)]
        return {*failing[:1], *(each.criterion for label in order[:1] for each in left if each.label == label)}

    def _of_function(
        self, label: str, group: Sequence[Check], left: Sequence[Check], checks: Checks,
        known: KnownMistakes, direct: Mapping[str, Diagnosis], budget: Budget,
    ) -> set[Check]:  # fmt: skip
        """Find the causes of a function's failing calls; return all failing calls that they explain."""
        told = {test for test, each in direct.items() if each.mistake != NOTHING}  # an edit says where a return belongs
        shown = {each for each in group if each.outcome.test in told}
        waiting = [each for each in group if not (each.is_refusal and each in shown)]
        match = self._matched(known, waiting, checks, self._labels - {label}) if waiting else None
        match = known.beside_told(match, waiting) if match is not None else None
        explained: set[Check] = set()
        first = search = self._edited.search
        if match is None:
            explained |= self._known_in_mended(label, waiting, left, checks, known)
        searched = [each for each in waiting if each not in shown and each not in explained]
        while searched and not budget.is_over and len(self.causes) < MOST_CAUSES:
            try:
                cause = self._edited.by_tests(label, searched, left, checks, budget) if match is None else None
                cause = cause or self._edited.by_edits(
                    searched, left, checks, budget, self._edited.allowed(label, searched)
                )
            except RunnerGone:  # what is known without trials is told all the same
                break
            if cause is None and match is None:
                cause = self._edited.by_condition(label, searched, budget)
            if cause is None:
                break
            if match is not None and _is_against(match, cause):
                self._edited.search = search
                break
            before, search = search, self._edited.search
            if match is not None and _is_about(match, cause):  # the edit is where the known mistake is
                cause = replace(cause, checks=cause.checks | frozenset(known.also(match, left)))
                cause = self._known_as(match, cause, checks, known, before or self._edited.afresh(label))
                known.told.append(match.mistakes[-1])
                match = None
            self.causes.append(cause)
            self._made += [(cause.place, before, search)] if search is not None else []
            explained |= cause.checks
            checks.mended |= cause.checks
            searched, left = ([each for each in some if each not in explained] for some in (searched, left))
        explained |= self._of_refusals(label, told, left, checks, known, budget)
        if match is not None and not match.checks <= explained and _is_enough(match, waiting):
            explained |= self._take_pair(
                match, [each for each in waiting if each not in explained], left, checks, known
            )
            self._edited.broken.add(match.mistakes[0].replaces)
        if explained:
            explained |= self._second_known(
                label, [each for each in waiting if each not in explained], left, checks, known
            )
        if any(each not in explained for each in searched):
            self._doubt(label, [each for each in searched if each not in explained], checks)
            dropped = self._drop_unproved(searched, checks.trusted())
            self._edited.search = first if dropped else self._edited.search
            explained -= dropped
            checks.mended -= dropped
        return explained

    @staticmethod
    def _matched(
        known: KnownMistakes, failing: Sequence[Check], checks: Checks, others: frozenset[str]
    ) -> Match | None:
        """Return the known mistake of failing calls; none of a class or function of which all wrong calls deny it."""
        match = known.match(failing, checks, others)
        owner = match.mistakes[-1].replaces.partition(".")[0] if match is not None else ""
        own = [each for each in checks.failing if each.label.partition(".")[0] == owner and each not in checks.mended]
        if match is None or not own or match.checks & set(own):
            return match
        return match if known.also(match, sorted(own, key=lambda each: each.order)[:MOST_PROVING]) else None

    def _doubt(self, label: str, failing: Sequence[Check], checks: Checks) -> None:
        """Note that a function answers wrongly, unless its failing calls draw, and none of its own row fails."""
        row = self.stage.criterion_of(label)
        is_own = row is None or any(each.criterion == row.id for each in checks.failing)
        if is_own or not all(self._edited.draws(each, checks.trusted()) for each in failing):
            self._edited.broken.add(label)

    def _of_refusals(
        self, label: str, told: set[str], left: Sequence[Check], checks: Checks, known: KnownMistakes, budget: Budget
    ) -> set[Check]:
        """Find what says more of calls than that a function does not refuse them, as answers of the tests told show."""
        missing = [each for each in left if each.is_refusal and each.outcome.test in told]
        refused = [each for each in missing if each.label == label]
        match = known.match(refused, checks, self._labels - {label}) if refused else None
        if match is not None:
            return self._take_known(match, left, known)
        try:
            cause = self._edited.by_bound(refused, missing, checks, budget) if refused else None
        except RunnerGone:
            cause = None
        self.causes += [] if cause is None else [cause]
        return set() if cause is None else set(cause.checks)

    def _known_in_mended(
        self, label: str, waiting: Sequence[Check], left: Sequence[Check], checks: Checks, known: KnownMistakes
    ) -> set[Check]:
        """Tell the known mistake of calls that another fault hid, by what they are answered once its edit is made."""
        try:
            mended = self._edited.as_mended(waiting)
        except RunnerGone:
            return set()
        match = known.match(list(mended), checks, self._labels - {label}) if mended else None
        if match is None or not _is_enough(match, waiting):
            return set()
        place = self._sure_place(match, checks, known)
        own = replace(match, checks=frozenset(mended[each] for each in match.checks))
        self._edited.broken.add(match.mistakes[0].replaces)
        return self._take_known(own, left, known, place)

    def _take_pair(
        self, match: Match, rest: Sequence[Check], left: Sequence[Check], checks: Checks, known: KnownMistakes
    ) -> set[Check]:
        """Tell a known mistake, and one more that explains calls together with it; return those that they explain."""
        more = known.pair(match, [each for each in rest if each not in match.checks])
        both = replace(match, checks=match.checks | more.checks) if more is not None else match
        explained = self._take_known(both, left, known, self._sure_place(match, checks, known))
        return explained | (self._take_known(more, left, known) if more is not None else set())

    def _second_known(
        self, label: str, rest: Sequence[Check], left: Sequence[Check], checks: Checks, known: KnownMistakes
    ) -> set[Check]:
        """Tell the known mistake of a function's calls that its first fault does not explain; return those it does."""
        match = known.match(rest, checks, self._labels - {label}) if rest else None
        if match is None or not _is_enough(match, rest):
            return set()
        return self._take_known(match, left, known, self._sure_place(match, checks, known))

    def _place_of(
        self, match: Match, left: Sequence[Check], checks: Checks, known: KnownMistakes, label: str
    ) -> Location:
        """Return where a known mistake stands: by its values, else by the edit that puts it right."""
        search = self._edited.begun(label)
        if search is None:
            return match.mistakes[-1].replaces, 0, frozenset()
        function, line = known.place_of(match, checks, search)
        if line:
            return function, line, frozenset()
        own = sorted(match.checks, key=lambda each: each.order)
        try:
            cause = self._edited.by_edits(own, left, checks, Budget(PLACED), self._edited.allowed(label, own))
            is_all = cause is not None and match.checks <= cause.checks
            if cause is not None and is_all and known.may_stand(match, cause.function, checks, search):
                place = cause.function, cause.line
                if not known.is_right_line(match, *place, checks, search):
                    return *place, cause.checks
        except RunnerGone:
            pass
        self._edited.search = search
        return function, 0, frozenset()

    def _sure_place(self, match: Match, checks: Checks, known: KnownMistakes) -> Location:
        """Return the function and the line of a known mistake that values prove; else no line."""
        search = self._edited.search
        function, line = known.place_of(match, checks, search) if search is not None else ("", 0)
        return (function, line, frozenset()) if line else NOWHERE

    def _known_as(
        self, match: Match, edited: Cause, checks: Checks, known: KnownMistakes, search: Search | None
    ) -> Cause:
        """Return an edit's cause by the words of a known mistake, in its line unless all that it makes is right."""
        mistake, place = match.mistakes[-1], (edited.function, edited.line)
        if search is not None and known.is_right_line(match, *place, checks, search):
            place = self._own_name(mistake, match), 0
        return replace(
            edited, id=mistake.id, function=place[0], line=place[1], text=mistake.text, fix=mistake.fix,
            criterion=mistake.criterion, declared=True,
        )  # fmt: skip

    def _take_known(
        self, match: Match, left: Sequence[Check], known: KnownMistakes, place: Location = NOWHERE
    ) -> set[Check]:
        mistake, (function, line, others) = match.mistakes[-1], place
        known.told.append(mistake)
        checks = match.checks | frozenset(known.also(match, left)) | (others & frozenset(left))
        name = function if line else self._own_name(mistake, match)
        self.causes.append(Cause(mistake.id, name, line, mistake.text, mistake.fix, checks, mistake.criterion, True))
        return set(checks)

    def _own_name(self, mistake: Mistake, match: Match) -> str:
        """Return the function of a known mistake; where the learner's module has none of its name, what was asked."""
        is_there = mistake.replaces in self._module.functions or any(
            name.startswith(f"{mistake.replaces}.") for name in self._module.functions
        )
        return mistake.replaces if is_there else min((each.size, each.label) for each in match.checks)[1]

    def _is_all(self, match: Match, searched: Sequence[Check], left: Sequence[Check], known: KnownMistakes) -> bool:
        """Say whether a known mistake explains all failing calls that lead to its function."""
        explained = {*match.checks, *known.also(match, left)}
        if not all(each in explained for each in searched):
            return False
        return not any(
            match.mistakes[-1].replaces in self._module.reached(each.label) for each in left if each not in explained
        )

    def _order(self, failing: Sequence[Check]) -> list[str]:
        """Return the functions that were asked: those that others call first, then in the order of the checklist.

        What an object is made with, and is asked right away, comes before what its methods do.
        """
        labels = list(dict.fromkeys(each.label for each in failing))
        own = set(self._module.functions)
        made = {each.label for each in failing if own & {*each.labels}}
        reached = {label: set(self._module.reached(label)) if label in made else set() for label in labels}
        rows = {row.id: place for place, row in enumerate(self.stage.criteria)}
        first = {
            label: min(rows.get(each.criterion, 99) for each in failing if each.label == label) for label in labels
        }

        def depth(label: str) -> int:
            inner = set(reached[label])
            return sum(
                other != label and (other in inner or any(name.startswith(f"{other}.") for name in inner))
                for other in labels
            )

        return sorted(labels, key=lambda label: (depth(label), first[label]))

    def _with_cause(self, outcome: Outcome, direct: Mapping[str, Diagnosis]) -> Outcome:
        own = [(cause, check) for cause in self.causes for check in cause.checks if check.outcome.test == outcome.test]
        if outcome.test in self._still_wrong:  # mending what another row is about does not make it pass
            own = [pair for pair in own if pair[0].criterion == outcome.criterion]
        shown = direct.get(outcome.test)
        if (
            shown is not None
            and shown.mistake in REFUSED
            and not any(cause.declared or check.is_refusal for cause, check in own)
        ):
            return replace(outcome, explains=(shown,))
        if own:
            first = min(own, key=lambda pair: (pair[0].criterion != outcome.criterion, len(pair[1].records)))[0]
            return replace(_without_pattern(outcome), explains=(first.diagnosis,))
        if shown is not None:
            return replace(_without_pattern(outcome), explains=(shown,))
        if outcome.status == "failed" and self.runner is not None and self.runner.was_cut:
            return replace(outcome, unexplained=CUT, explains=())
        if outcome.status == "failed" and outcome.criterion in self.problems:
            return replace(outcome, unexplained=self.problems[outcome.criterion], explains=())
        return replace(outcome, explains=()) if outcome.explains else outcome


def _of_one_check(direct: Mapping[str, Diagnosis], failing: Sequence[Check]) -> dict[str, Diagnosis]:
    """Return what answers show, with one id where one check is missing: some of its calls are taken, some fail."""
    refused = [(each.outcome.test, each.refused_at) for each in failing if each.is_refusal]
    taken = {place for test, place in refused if test in direct and direct[test].mistake == MISSING}
    ended = {test for test, place in refused if place in taken and test in direct}
    return {
        test: replace(each, mistake=MISSING) if test in ended and each.mistake == BY_ACCIDENT else each
        for test, each in direct.items()
    }


def _without_pattern(outcome: Outcome) -> Outcome:
    """Return an outcome without what its numbers look like: beside a cause that is a guess."""
    if not outcome.pattern:
        return outcome
    lines = [line for line in outcome.message.splitlines() if line != outcome.pattern]
    return replace(outcome, message="\n".join(lines), pattern="")


def _is_enough(match: Match, waiting: Sequence[Check]) -> bool:
    is_sure = len(match.checks) >= ENOUGH and any(each.has_fractions for each in match.checks)
    return len(match.checks) * 2 >= len(waiting) or is_sure


def _is_about(match: Match, cause: Cause) -> bool:
    """Say whether a known mistake explains what an edit puts right, or most of it: of values, all that it may."""
    labels = {each.label for each in match.checks}
    own = [each for each in cause.checks if each.label in labels]
    of_values = {each for each in own if each.kind == "values"}
    is_all = of_values <= match.checks or not of_values & match.checks
    return match.checks <= cause.checks and 2 * len(match.checks) > len(own) and is_all


def _is_against(match: Match, cause: Cause) -> bool:
    """Say whether an edit puts right only some of the calls that a known mistake answers as the learner did."""
    return bool(match.checks & cause.checks) and not match.checks <= cause.checks


def settled(
    outcomes: Sequence[Outcome],
    log: RequestLog,
    answers: Answers,
    runner: RemoteRunner | None,
    asked: tuple[str, ...] = (),
    pool: Pool | None = None,
) -> list[Outcome]:
    """Return the outcomes of a whole run with the causes of its failures.

    runner tries changed forms of the module; without one, causes are known mistakes and what answers show alone.
    asked holds criteria that somebody wants to read the causes of: they get a full share of the trials.
    pool holds right modules of a class, whose values tell where the module's first go wrong.
    """
    if answers.is_stub:
        return list(outcomes)
    explainer = Explainer(
        answers.stage, answers.learner, answers.reference_text, answers.mistakes, answers.rights, runner,
        answers.stub_text, asked, pool,
    )  # fmt: skip
    with uncollected():
        return explainer.explained(
            outcomes, [*map(by_asked_name, log.failed)], [*filter(None, map(evidence_of, log.passed))]
        )
