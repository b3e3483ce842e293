"""The causes of a run's failures: of each failing call by itself, known mistakes first, then edits of the own text.

A function that others call comes before them: what puts it right may put their calls right as well.
"""

from __future__ import annotations

import ast
import hashlib
import types
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from grader.course.answers import Mistake
from grader.course.stage import Stage
from grader.diagnosis.accept import OF_ANSWERS, Gate
from grader.diagnosis.budget import FULL, IN_ALL, SHARE, Budget
from grader.diagnosis.by_tests import draws, passing
from grader.diagnosis.checks import Check, Checks, Ended
from grader.diagnosis.conditions import blamed
from grader.diagnosis.edits import Edit
from grader.diagnosis.known_mistakes import KnownMistakes, Match
from grader.diagnosis.likeness import likeness, manner_of
from grader.diagnosis.locate import FIRST, NEAR, NEVER
from grader.diagnosis.module_text import ModuleText, statements
from grader.diagnosis.obvious import NOTHING, obvious
from grader.diagnosis.pool import Pool
from grader.diagnosis.refused import REFUSED
from grader.diagnosis.runner import Runner, RunnerGone
from grader.diagnosis.search import Found, Search
from grader.diagnosis.stated import known_to
from grader.diagnosis.trees import walk
from grader.outcome import SEARCH, Diagnosis, Outcome

CUT = f"{SEARCH} was cut short: it took longer than its far bound of time"
MOST_CAUSES = 8  # edits that are looked for in one module
MOST_TOGETHER = 3  # edits that one call needs
ENOUGH = 2  # failing calls that a known mistake explains, where it does not explain half of them
MOST_TARGETS = 3  # failing calls of one function that are tried one after the other
MOST_PROVING = 6  # failing calls without a cause that an edit is held against
SAYS_NOTHING = frozenset(("none", "bool", "object", "function", "other"))  # kinds of values that many lines give
MOST_BYTES = 100_000  # of a module


@dataclass(frozen=True, eq=False)
class Cause:
    """What is wrong, where, and the failing calls that it explains."""

    id: str
    function: str
    line: int
    text: str
    fix: str
    checks: frozenset[Check]
    criterion: str
    declared: bool = False

    @property
    def kinds(self) -> set[str]:
        """The kinds of the calls that it explains."""
        return {each.kind for each in self.checks}

    @property
    def diagnosis(self) -> Diagnosis:
        """The cause as an outcome has it."""
        name = self.id if self.declared else f"{self.id}-{_digest(self.function, str(self.line), self.text)}"
        return Diagnosis(name, self.criterion, self.text, self.fix, self.declared, self.function, self.line)


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
    _search: Search | None = None
    _labels: frozenset[str] = frozenset()  # the functions of which calls fail
    _broken: set[str] = field(default_factory=set)  # functions that answer wrongly, of which no line is known

    def explained(self, outcomes: Sequence[Outcome], failed: Sequence[Ended], passed: Sequence[Ended]) -> list[Outcome]:
        """Return the outcomes with the causes of those that failed."""
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            checks = Checks.of(self.stage, failed, passed, list(self.rights.values()), self.learner)
            direct = self._direct(failed)
            wrong = {each.criterion for each in outcomes if each.status != "passed"}  # a verdict tells no other row's
            self.mistakes = [each for each in self.mistakes if each.criterion in wrong]
            self._explain(checks, direct)
        undecided = {check.outcome.test: ids for check, ids in self._undecided.items()}
        return [replace(self._with_cause(each, direct), undecided=undecided.get(each.test, ())) for each in outcomes]

    def _direct(self, failed: Sequence[Ended]) -> dict[str, Diagnosis]:
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
            )
            if shown is not None:
                found[each.outcome.test] = shown
        return found

    def _explain(self, checks: Checks, direct: Mapping[str, Diagnosis]) -> None:
        known = KnownMistakes(self.stage, self.reference_text, self.mistakes, self.learner)
        self._undecided = known.undecided
        left = list(checks.failing)
        self._labels = frozenset(each.label for each in left)
        budgets: dict[str, Budget] = {}
        order = self._order(left)
        full = {*self.asked, *self._first_to_fail(left, order)}
        left = self._without_known(order, left, checks, known, direct)
        for label in order:
            group = [each for each in left if each.label == label]
            if not group:
                continue
            row = group[0].criterion
            budget = budgets.setdefault(row, Budget(FULL if row in full else SHARE))
            if row not in full and sum(each.spent for name, each in budgets.items() if name not in full) > IN_ALL:
                budget.left = 0
            try:
                explained = self._of_function(label, group, left, checks, known, direct, budget)
            except RunnerGone:
                explained = set()
            except Exception as error:  # of values that a learner's process chose, or of a change that cannot be made
                self.problems[row] = f"{SEARCH} failed: {type(error).__name__}: {error}"[:300]
                explained = set()
            left = [each for each in left if each not in explained]
        self._drop_unproved([each for each in checks.failing if each.outcome.test not in direct], checks.trusted())

    def _without_known(
        self, order: Sequence[str], failing: Sequence[Check], checks: Checks, known: KnownMistakes,
        direct: Mapping[str, Diagnosis],
    ) -> list[Check]:  # fmt: skip
        """Tell the known mistakes that explain all failing calls of their function; return the calls that are left.

        No edit is looked for there. A function that calls one whose failing calls are not explained waits.
        """
        left, unexplained = list(failing), set[str]()
        module = ModuleText(self.learner.decode("utf-8-sig", "replace"))
        for label in order:
            group = [each for each in left if each.label == label]
            waiting = [each for each in group if not (each.is_refusal and each.outcome.test in direct)]
            if not waiting:
                continue
            match = None
            if not unexplained & set(module.reached(label)):
                match = known.match(waiting, checks, self._labels - {label})
            searched = [each for each in waiting if each.outcome.test not in direct]
            if match is not None and self._is_all(match, searched, left, known):
                explained = self._take_known(match, left, known, self._place_of(match, checks))
                left = [each for each in left if each not in explained]
            else:
                unexplained.add(label)
        return left

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
            if not is_sure or any(self._goes_wrong_at(cause, each, trusted) for each in some[:MOST_PROVING]):
                self.causes.remove(cause)
                dropped |= cause.checks
        for cause in self._contradicting():
            self.causes.remove(cause)
            dropped |= cause.checks
        return dropped

    def _contradicting(self) -> list[Cause]:
        """Return edits of one line of which each explains some calls of a kind, and none all of them."""
        edits = [each for each in self.causes if not each.declared and each.line]
        pairs = [(a, b) for a, b in combinations(edits, 2) if (a.function, a.line) == (b.function, b.line)]
        both = [pair for pair in pairs if pair[0].kinds & pair[1].kinds]
        return [each for each in edits if any(each in pair for pair in both)]

    def _goes_wrong_at(self, cause: Cause, check: Check, trusted: frozenset[str]) -> bool:
        """Say whether a call goes wrong in the line of a cause though its edit is made.

        Where no process is left to ask, the gate's word stands.
        """
        search = self._search
        if search is None or cause.function not in search.reached(check.label):
            return False
        try:
            trace = search.trace(check)
        except RunnerGone:
            return False
        if trace is None:
            return True
        if not any(trace.did_run(each) for each in statements(search.module.functions[cause.function].body)):
            return False
        places = search.places(check, trace, trusted)
        if places.raising is not None:
            return places.raising.lineno == cause.line
        first = [each.lineno for each in places.origins if places.known]
        return cause.line in first if first else True

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
        match = known.match(waiting, checks, self._labels - {label}) if waiting else None
        explained: set[Check] = set()
        first = search = self._search
        searched = [each for each in waiting if each not in shown]
        while searched and not budget.is_over and len(self.causes) < MOST_CAUSES:
            try:
                cause = self._by_tests(label, searched, left, checks, budget) if match is None else None
                cause = cause or self._edited(searched, left, checks, budget, self._allowed(label, searched))
            except RunnerGone:  # what is known without trials is told all the same
                break
            if cause is None and match is None:
                cause = self._condition(label, searched, budget)
            if cause is None:
                break
            if match is not None and _is_against(match, cause):
                self._search = search
                break
            search = self._search
            if match is not None and _is_about(match, cause):  # the edit is where the known mistake is
                cause = self._known_as(
                    match, replace(cause, checks=cause.checks | frozenset(known.also(match, left))), cause
                )
                match = None
            self.causes.append(cause)
            explained |= cause.checks
            checks.mended |= cause.checks
            searched, left = ([each for each in some if each not in explained] for some in (searched, left))
        refused = [each for each in group if each.is_refusal and each in shown]
        known_refusal = known.match(refused, checks, self._labels - {label}) if refused else None
        if known_refusal is not None:  # it says more than that nothing was refused
            explained |= self._take_known(known_refusal, left, known)
        if match is not None and not match.checks <= explained and _is_enough(match, waiting):
            explained |= self._take_known(match, left, known)
            more = known.pair(match, [each for each in waiting if each not in explained])
            explained |= self._take_known(more, left, known) if more is not None else set()
            self._broken.add(match.mistakes[0].replaces)
        if any(each not in explained for each in searched):
            self._broken.add(label)
            dropped = self._drop_unproved(searched, checks.trusted())
            self._search = first if dropped else self._search
            explained -= dropped
            checks.mended -= dropped
        return explained

    def _allowed(self, label: str, failing: Sequence[Check]) -> frozenset[str] | None:
        """Return the functions that may be edited: where one is called whose fault is not known, no other."""
        module = ModuleText(self.learner.decode("utf-8-sig", "replace"))
        reached = {
            name for other in {label, *(x for each in failing for x in each.labels)} for name in module.reached(other)
        }
        called = [name for name in self._broken - {label} if name in reached]
        inner = {name for each in called for name in module.reached(each)}
        return frozenset(inner) if inner and label not in self._broken else None

    def _known_as(self, match: Match, cause: Cause, edited: Cause) -> Cause:
        """Return a cause by the words of a known mistake, in the line of an edit that puts it right."""
        mistake = match.mistakes[-1]
        return replace(
            cause, id=mistake.id, function=mistake.replaces, line=edited.line, text=mistake.text, fix=mistake.fix,
            criterion=mistake.criterion, declared=True,
        )  # fmt: skip

    def _take_known(
        self, match: Match, left: Sequence[Check], known: KnownMistakes, place: tuple[str, int] = ("", 0)
    ) -> set[Check]:
        mistake, (function, line) = match.mistakes[-1], place
        checks = match.checks | frozenset(known.also(match, left))
        name = function if line else self._own_name(mistake, match)
        self.causes.append(Cause(mistake.id, name, line, mistake.text, mistake.fix, checks, mistake.criterion, True))
        return set(checks)

    def _own_name(self, mistake: Mistake, match: Match) -> str:
        """Return the function of a known mistake; where the learner's module has none of its name, what was asked."""
        module = ModuleText(self.learner.decode("utf-8-sig", "replace"))
        is_there = mistake.replaces in module.functions or any(
            name.startswith(f"{mistake.replaces}.") for name in module.functions
        )
        return mistake.replaces if is_there else min((each.size, each.label) for each in match.checks)[1]

    def _is_all(self, match: Match, searched: Sequence[Check], left: Sequence[Check], known: KnownMistakes) -> bool:
        """Say whether a known mistake explains all failing calls that lead to its function."""
        explained = {*match.checks, *known.also(match, left)}
        if not all(each in explained for each in searched):
            return False
        module = ModuleText(self.learner.decode("utf-8-sig", "replace"))
        return not any(
            match.mistakes[-1].replaces in module.reached(each.label) for each in left if each not in explained
        )

    def _place_of(self, match: Match, checks: Checks) -> tuple[str, int]:
        """Return the function and the line in which a known mistake stands, by the smallest calls that show one."""
        order = sorted(match.checks, key=lambda each: (each.says_little, each.size, each.outcome.test))
        found = match.mistakes[-1].replaces, 0
        for check in order[:MOST_TARGETS]:
            found = self._place_in(check, match.mistakes[-1], checks)
            if found[1]:
                break
        return found

    def _place_in(self, check: Check, mistake: Mistake, checks: Checks) -> tuple[str, int]:
        """Return the function and the line of a known mistake in a call: of the first value that is wrong as its is.

        The line is 0 where no value is, nor one line alone goes wrong first.
        """
        search = self._search or self._begin(check.label)
        nowhere = mistake.replaces, 0
        try:
            trace = search.trace(check) if search is not None else None
        except RunnerGone:
            return nowhere
        if search is None or trace is None:
            return nowhere
        places, within = search.places(check, trace, checks.trusted()), trace.probes.within
        own = self._functions_of(mistake, search) or search.reached(check.label)
        if not places.known:
            return nowhere
        alike = search.values_with(f"{self.reference_text}\n\n{mistake.source}", check)
        wrong = [each for each in trace.entries if id(each[0]) in places.wrong and within[id(each[0])] in own]
        said = [(node, each) for node, each in wrong if each.kind not in SAYS_NOTHING]
        said = [(node, each) for node, each in said if each.known is not None and each.known in alike]
        said = [(node, each) for node, each in said if within[id(node)] == mistake.replaces] or said  # else in a helper
        found: list[ast.AST] = [node for node, each in said if each.shape or each.is_real] or [node for node, _ in said]
        if found:
            return within[id(found[0])], int(getattr(found[0], "lineno", 0))
        begun = [each for each in places.origins if not any(id(part) in places.wrong for part in walk(each)[1:])]
        lines = {(within[id(each)], each.lineno) for each in begun if within[id(each)] in own}
        if not lines:  # no value is wrong but what is answered
            ran = [each for each in places.statements if places.function[id(each)] in own and trace.did_run(each)]
            least = min((places.far[id(each)] for each in ran), default=0)
            lines = {(places.function[id(each)], each.lineno) for each in ran if places.far[id(each)] == least}
        return lines.pop() if len(lines) == 1 else nowhere

    def _functions_of(self, mistake: Mistake, search: Search) -> set[str]:
        """Return the learner's function that a known mistake stands in, and the helpers that no criterion asks for."""
        asked = {name for row in self.stage.criteria for name in row.functions}
        reached = search.module.reached(mistake.replaces)
        helpers = {name for name in reached if name.partition(".")[0] not in {each.partition(".")[0] for each in asked}}
        return helpers | {
            name for name in reached if name == mistake.replaces or name.startswith(f"{mistake.replaces}.")
        }

    def _edited(
        self, waiting: Sequence[Check], left: Sequence[Check], checks: Checks, budget: Budget,
        allowed: frozenset[str] | None,
    ) -> Cause | None:  # fmt: skip
        """Return an edit that explains some of a function's failing calls, with all calls that it explains."""
        search = self._search or self._begin(waiting[0].label)
        if search is None:
            return None
        trusted = checks.trusted()
        order = sorted(waiting, key=lambda each: (each.is_raised, each.says_little, each.size))
        for check in order[:MOST_TARGETS]:
            found = self._edit_of(search, check, left, checks, trusted, budget, allowed)
            if found is None:
                continue
            steps, fixed = found
            if allowed is not None and not any(each.label in self._broken for each in fixed):
                continue  # it makes up for a fault that is not known
            for each in steps:
                search = search.after(each.edit)
            self._search = search
            others = [each for each in left if each not in fixed]
            try:
                more = search.fixed_by(others, {each.edit.function for each in steps})
            except RunnerGone:  # what the edit puts right is told all the same
                more = []
            return self._cause(steps, frozenset(fixed) | frozenset(more), check)
        return None

    def _by_tests(
        self, label: str, failing: Sequence[Check], left: Sequence[Check], checks: Checks, budget: Budget
    ) -> Cause | None:
        """Return the edit with which the tests of a function that draws at random pass."""
        search = self._search or self._begin(label)
        own = [each for each in failing if each.kind in OF_ANSWERS and each.label == label]
        if search is None or label not in search.module.functions or not any(map(draws, own)):
            return None
        found = passing(search, [each for each in own if draws(each)], checks, budget)
        if found is None:
            return None
        self._search = search.after(found.edit)
        more = self._search.fixed_by([each for each in left if each not in own], {found.edit.function})
        return self._cause([found], frozenset((*own, *more)), min(own, key=lambda each: each.size))

    def _condition(self, label: str, failing: Sequence[Check], budget: Budget) -> Cause | None:
        """Return the condition that decides wrongly in all failing calls of a function."""
        search = self._search
        is_there = search is not None and label in search.module.functions and not budget.is_over
        found = blamed(search, label, failing, budget) if search is not None and is_there else None
        if found is None:
            return None
        text = f"{label}, line {found.node.lineno}: {found.says}."
        return Cause(
            "condition-wrong", label, found.node.lineno, text, found.fix, frozenset(failing), failing[0].criterion
        )

    def _edit_of(
        self,
        search: Search,
        check: Check,
        left: Sequence[Check],
        checks: Checks,
        trusted: frozenset[str],
        budget: Budget,
        allowed: frozenset[str] | None,
    ) -> tuple[list[Found], set[Check]] | None:
        """Return the edit that puts a call right, or two of which the first puts more of it right."""
        same = [each for each in left if each.kind == check.kind or each.kind in ("values", "edges")]
        before: list[Found] = []
        first_search = search
        for _ in range(MOST_TOGETHER):
            trace = search.trace(check)
            if trace is None or budget.is_over:
                return None
            places = search.places(check, trace, trusted)
            if allowed is not None:
                places.statements = [each for each in places.statements if places.function[id(each)] in allowed]
            best: Edit | None = None
            near: list[Found] = []  # edits near the fault, held against those that are farther away
            for first, last in ((FIRST, NEVER),) if check.is_plain else ((FIRST, NEAR), (NEAR, NEVER)):
                rings = search.candidates(check, trace, places, first, last)
                winners, closest = search.found(check, rings, budget, same, checks.passing)
                winners = search.locally_right_first(check, trace, places, winners)
                winners = search.with_effect(check, trace, winners)
                if near:
                    winners = sorted([*near, *winners], key=lambda each: each.rank)
                gate = Gate(check, same, checks, search, places, [each.edit for each in before])
                chosen = gate.chosen(winners)
                if chosen is not None and not before and last == NEAR and chosen.cost > NEAR:
                    near = list(winners)
                    continue
                if chosen is not None and before:  # of two at once there are many, and one may take the other away
                    is_told = any(each.has_fractions for each in chosen.fixed)
                    if self._is_right_alone(first_search, check, chosen.edit):
                        return [chosen], set(chosen.fixed)
                    if not is_told or any(_is_within(each.edit, chosen.edit) for each in before):
                        return None
                if chosen is not None:
                    return [*before, chosen], set(chosen.fixed)
                if winners and last == NEAR:
                    near = list(winners)
                    continue
                if winners or check.is_plain:  # of two edits at once that give a plain answer there are many
                    return None
                best = best or closest
                if first == FIRST and best is None:
                    best = search.locally_right(check, trace, places, budget)
            if best is None:
                return None
            before.append(Found(best, 0, 0, frozenset(), 0))
            search = search.after(best)
        return None

    @staticmethod
    def _is_right_alone(search: Search, check: Check, edit: Edit) -> bool:
        """Say whether an edit that was found after others puts a call right without them."""
        nodes = {id(each) for each in walk(search.module.functions[edit.function])}
        return all(id(old) in nodes for old, _ in edit.changes) and search.tried(check, [edit])[0]

    def _begin(self, label: str) -> Search | None:
        if self.runner is None or len(self.learner) > MOST_BYTES:
            return None
        text = self.learner.decode("utf-8-sig", "replace")
        mine = manner_of(text, label)
        rights = sorted(self.rights, key=lambda each: -likeness(mine, manner_of(each, label)))
        stub = ModuleText(self.stub_text) if self.stub_text else None
        constants = stub.constants if stub is not None else frozenset()
        self._search = Search(
            self.stage, ModuleText(text), [ModuleText(each) for each in rights], self.runner, stub, constants,
            stated=known_to(self.stage, self.stub_text, ModuleText(text)), pool=self.pool,
        )  # fmt: skip
        return self._search

    def _cause(self, steps: Sequence[Found], checks: frozenset[Check], target: Check) -> Cause:
        """Return what edits say that a call needs together; the first is where a value first goes wrong."""
        first = steps[0].edit
        said: list[str] = []
        for each in steps:
            name = (
                ""
                if said and each.edit.function == first.function
                else f"{each.edit.function.removesuffix('.__init__')}, "
            )
            says = each.edit.says
            said.append(f"{name}line {each.edit.line}: {says[0].upper() + says[1:]}.")
        text = " ".join(each[0].upper() + each[1:] if number else each for number, each in enumerate(said))
        fix = " ".join(dict.fromkeys(each.edit.fix for each in steps))
        criterion = self.stage.criterion_of(first.function)
        own = criterion.id if criterion is not None else target.criterion
        rows = {each.criterion for each in checks}
        name = "-and-".join(dict.fromkeys(each.edit.id for each in steps))
        return Cause(name, first.function, first.line, text, fix, checks, own if own in rows else target.criterion)

    def _order(self, failing: Sequence[Check]) -> list[str]:
        """Return the functions that were asked: those that others call first, then in the order of the checklist."""
        module = ModuleText(self.learner.decode("utf-8-sig", "replace"))
        labels = list(dict.fromkeys(each.label for each in failing))
        reached = {label: set(module.reached(label)) for label in labels}
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
        shown = direct.get(outcome.test)
        if shown is not None and shown.mistake in REFUSED and not any(cause.declared for cause, _ in own):
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


def _without_pattern(outcome: Outcome) -> Outcome:
    """Return an outcome without what its numbers look like: beside a cause that is a guess."""
    if not outcome.pattern:
        return outcome
    lines = [line for line in outcome.message.splitlines() if line != outcome.pattern]
    return replace(outcome, message="\n".join(lines), pattern="")


def _is_enough(match: Match, waiting: Sequence[Check]) -> bool:
    return len(match.checks) * 2 >= len(waiting) or len(match.checks) >= ENOUGH


def _is_about(match: Match, cause: Cause) -> bool:
    """Say whether a known mistake explains what an edit puts right, or most of it."""
    labels = {each.label for each in match.checks}
    own = [each for each in cause.checks if each.label in labels]
    return match.checks <= cause.checks and 2 * len(match.checks) > len(own)


def _is_within(one: Edit, other: Edit) -> bool:
    """Say whether an edit stands in a line that another one replaces as a whole."""
    olds = [old for old, _ in other.changes if isinstance(old, ast.stmt)]
    return one.function == other.function and any(
        old.lineno <= one.line <= (old.end_lineno or old.lineno) for old in olds
    )


def _is_against(match: Match, cause: Cause) -> bool:
    """Say whether an edit puts right only some of the calls that a known mistake answers as the learner did."""
    return bool(match.checks & cause.checks) and not match.checks <= cause.checks


def _digest(*parts: str) -> str:
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:8]
