"""Causes that are edits: one that puts a failing call right, two that it needs, or a condition that decides wrongly.

Each is made for good before the next is looked for. Of a function that draws at random no answer is right by itself,
and right modules draw in another order: there the likeliest edits are held against the tests. Where no edit stands, a
condition may be seen to decide wrongly: turned round once, it alone puts each wrong call right.
Source: Xuan et al. 2017, Nopol: angelic values of conditions.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.course.mutants import replaced
from grader.course.stage import Stage
from grader.diagnosis.accept import OF_ANSWERS, Gate
from grader.diagnosis.checks import Check, Checks, is_given_generator
from grader.diagnosis.edits import Edit
from grader.diagnosis.edits.base import LIKELY, RARE, USUAL
from grader.diagnosis.instrument import FLIP, Trace
from grader.diagnosis.likeness import likeness, manner_of
from grader.diagnosis.locate import FIRST, NEAR, NEVER
from grader.diagnosis.module_text import ModuleText, parsed, statements
from grader.diagnosis.pool import Pool
from grader.diagnosis.runner import Runner, RunnerGone
from grader.diagnosis.search import Budget, Forms, Found, Search
from grader.diagnosis.stated import known_to
from grader.diagnosis.trees import walk
from grader.outcome import Diagnosis
from grader.sandbox.record import Record

MOST_BYTES = 100_000  # of a module
MOST_TOGETHER = 3  # edits that one call needs
DRAWN = 200  # trials for a call that draws, beside those of its criterion
MOST_TARGETS = 3  # failing calls of one function that are tried one after the other
MOST_TRIED = 200  # edits that are held against the tests of a function that draws at random
MOST_TESTS = 8  # of these that failed, and as many that passed
SEEDS = (0, 1, 2)
TRIALS = 8  # that one test counts as at least, and one more for each call that it makes
NUMBERS_OF_A_TRIAL = 200  # that are drawn in a call, likewise
MOST_COST = 40  # in trials, of a test that is not the only one
BATCH = 60  # edits that stand in one form of the functions
MOST_TIMES = 6  # that a condition is turned round in a call, one after the other
MOST_CONDITIONS = 12
MOST_CALLS = 8
MOST_SHOWN = 60  # characters of a call
SEVERAL = 2  # different right answers, where each says little
OTHER_SIDE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
ORDER = ("", "", "the second time", "the third time", "the fourth time", "the fifth time", "the sixth time")


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
    def place(self) -> tuple[str, str, int]:
        """What tells it from the other causes of a module."""
        return self.id, self.function, self.line

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
class Edited:
    """Finds the edits that explain failing calls of a module, each in the module with those that were found before."""

    stage: Stage
    module: ModuleText
    rights: Iterable[str]  # the texts of right modules
    runner: Runner | None
    stub_text: str = ""
    pool: Pool | None = None
    others: Iterable[str] = ()  # the texts of right modules of another convention
    search: Search | None = None
    broken: set[str] = field(default_factory=set)  # functions that answer wrongly, of which no line is known
    _held: list[Forms] = field(default_factory=list)  # whose module the runner holds, for all searches

    def begun(self, label: str) -> Search | None:
        """Return the search, the right modules first that are most like in a function; None if nothing can be tried."""
        self.search = self.search or self.afresh(label)
        if self.search is not None:
            self.search.rights = self._ordered(self.rights, label)
            self.search.others = self._ordered(self.others, label)
        return self.search

    def afresh(self, label: str) -> Search | None:
        """Return a search without an edit; None where nothing can be tried."""
        if self.runner is None or len(self.module.text) > MOST_BYTES:
            return None
        stub = parsed(self.stub_text) if self.stub_text else None
        constants = stub.constants if stub is not None else frozenset()
        return Search(
            self.stage, self.module, self._ordered(self.rights, label), self.runner, stub, constants,
            stated=known_to(self.stage, self.stub_text, self.module), pool=self.pool,
            others=self._ordered(self.others, label), held=self._held,
        )  # fmt: skip

    def _ordered(self, texts: Iterable[str], label: str) -> list[ModuleText]:
        """Return right modules, those most like the learner's in a function first."""
        mine = manner_of(self.module.text, label)
        return [parsed(each) for each in sorted(texts, key=lambda each: -likeness(mine, manner_of(each, label)))]

    def allowed(self, label: str, failing: Sequence[Check]) -> frozenset[str] | None:
        """Return the functions that may be edited: where one is called whose fault is not known, no other."""
        reached = {
            name
            for other in {label, *(x for each in failing for x in each.labels)}
            for name in self.module.reached(other)
        }
        called = [name for name in self.broken - {label} if name in reached]
        inner = {name for each in called for name in self.module.reached(each)}
        return frozenset(inner) if inner and label not in self.broken else None

    def by_edits(
        self, waiting: Sequence[Check], left: Sequence[Check], checks: Checks, budget: Budget,
        allowed: frozenset[str] | None,
    ) -> Cause | None:  # fmt: skip
        """Return an edit that explains some of a function's failing calls, with all calls that it explains."""
        search = self.begun(waiting[0].label)
        if search is None:
            return None
        trusted = checks.trusted()
        order = sorted(waiting, key=lambda each: (each.is_raised, each.says_little, each.is_empty, each.size))
        for check in order[:MOST_TARGETS]:
            if search.is_right(check):  # by the edits that were found before: then it is, with many more
                continue
            own = allowed if allowed is not None and self._runs_broken(search, check) else None
            found = self._edit_of(search, check, left, checks, trusted, budget, own)
            if found is None:
                continue
            steps, fixed = found
            if own is not None and not any(each.label in self.broken for each in fixed):
                continue  # it makes up for a fault that is not known
            for each in steps:
                search = search.after(each.edit)
            self.search = search
            others = [each for each in left if each not in fixed]
            try:
                more = search.fixed_by(others, {each.edit.function for each in steps})
            except RunnerGone:  # what the edit puts right is told all the same
                more = []
            return self._cause(steps, frozenset(fixed) | frozenset(more), check)
        return None

    def _runs_broken(self, search: Search, check: Check) -> bool:
        """Say whether a call runs a function whose fault is not known; what it may call by its text is more."""
        trace = search.trace(check)
        bodies = [search.module.functions[name].body for name in self.broken if name in search.module.functions]
        return trace is None or any(trace.did_run(each) for body in bodies for each in statements(body))

    def draws(self, check: Check, trusted: frozenset[str]) -> bool:
        """Say whether a call draws what right modules do not, so that they may answer otherwise."""
        try:
            trace = self.search.trace(check) if self.search is not None else None
        except RunnerGone:
            return False
        return trace is not None and self.search is not None and self.search.places(check, trace, trusted).draws

    def as_mended(self, checks: Sequence[Check]) -> dict[Check, Check]:
        """Return the calls of a function that was edited as they are answered now, each with what it was."""
        search = self.search
        if search is None or search.module is self.module:
            return {}
        changed = {
            name for name, node in search.module.functions.items() if self.module.functions.get(name) is not node
        }
        search.forms.put({})
        reaching = [each for each in checks if any(changed & search.reached(label) for label in each.labels)]
        return {made: each for each in reaching if (made := each.answered(search.runner)) is not None}

    @staticmethod
    def right_with(search: Search, checks: Sequence[Check]) -> list[Check]:
        """Return which calls are right in a module with edits, in their order."""
        try:
            return search.fixed_by(checks, {name for each in checks for name in each.labels})
        except RunnerGone:
            return []

    def by_tests(
        self, label: str, failing: Sequence[Check], left: Sequence[Check], checks: Checks, budget: Budget
    ) -> Cause | None:
        """Return the edit with which the tests of a function that draws at random pass."""
        search = self.begun(label)
        own = [each for each in failing if each.kind in OF_ANSWERS and each.label == label]
        drawing = [each for each in own if is_given_generator(each.last)]
        if search is None or label not in search.module.functions or not drawing:
            return None
        found = _passing(search, drawing, checks, budget)
        if found is None:
            return None
        self.search = search.after(found.edit)
        more = self.search.fixed_by([each for each in left if each not in own], {found.edit.function})
        return self._cause([found], frozenset((*own, *more)), min(own, key=lambda each: each.size))

    def by_bound(
        self, refused: Sequence[Check], others: Sequence[Check], checks: Checks, budget: Budget
    ) -> Cause | None:
        """Return the comparison in a check of arguments that lets pass what has to be refused, by one place.

        others are all calls that are not refused: it explains those that it puts right as well.
        """
        label, before = refused[0].label, self.search
        search, self.search = self.begun(label), before  # what is begun for another function stays its own
        edits = list(_bounds(search.module, search.reached(label)))[:MOST_CONDITIONS] if search is not None else []
        if search is None or budget.is_over:
            return None
        for check in (*refused, *checks.passing(lambda name: name == label, MOST_CALLS, label)):
            right = search.tried(check, edits) if edits else []
            budget.take(len(edits), check.work)
            edits = [edit for edit, is_right in zip(edits, right, strict=True) if is_right]
        if len(edits) != 1:
            return None
        fixed = frozenset(each for each in others if each in refused or search.tried(each, edits)[0])
        self.search = search.after(edits[0])
        return self._cause([Found(edits[0], 0, 0, fixed, 0)], fixed, refused[0])

    def by_condition(self, label: str, failing: Sequence[Check], budget: Budget) -> Cause | None:
        """Return the condition that decides wrongly in all failing calls of a function."""
        search = self.search
        is_there = search is not None and label in search.module.functions and not budget.is_over
        found = _blamed(search, label, failing, budget) if search is not None and is_there else None
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
            if places.draws:  # right modules may draw otherwise
                budget = Budget(min(budget.left, DRAWN))
                if search.runner.heard([], check.outcome.test, 0, check.label)[0]:
                    return None
            if allowed is not None:
                places.statements = [each for each in places.statements if places.function[id(each)] in allowed]
            best: Edit | None = None
            near: list[Found] = []  # edits near the fault, held against those that are farther away
            for first, last in ((FIRST, NEVER),) if check.is_plain else ((FIRST, NEAR), (NEAR, NEVER)):
                gate = Gate(check, same, checks, search, places, [each.edit for each in before])
                near, chosen, closest = self._chosen(gate, trace, (first, last), near, budget)
                if chosen is not None and not before and last == NEAR and chosen.cost > NEAR:
                    continue
                if chosen is not None and before:  # of two at once there are many, and one may take the other away
                    is_told = any(each.has_fractions for each in chosen.fixed)
                    if self._is_right_alone(first_search, check, chosen.edit):
                        return [chosen], set(chosen.fixed)
                    if not is_told or any(_is_within(each.edit, chosen.edit) for each in before):
                        return None
                if chosen is not None:
                    return [*before, chosen], set(chosen.fixed)
                if near and last == NEAR:
                    continue
                if near or check.is_plain:  # of two edits at once that give a plain answer there are many
                    again = self._once_more(gate, trace, near, budget) if near and not check.is_plain else None
                    return ([again], set(again.fixed)) if again is not None else None
                best = best or closest
                if first == FIRST and best is None:
                    best = search.locally_right(check, trace, places, budget)
            if best is None:
                return None
            before.append(Found(best, 0, 0, frozenset(), 0))
            search = search.after(best)
        return None

    @staticmethod
    def _chosen(
        gate: Gate, trace: Trace, within: tuple[int, int], near: list[Found], budget: Budget,
        refused: frozenset[tuple[object, ...]] = frozenset(),
    ) -> tuple[list[Found], Found | None, Edit | None]:  # fmt: skip
        """Return the edits of some distances, and nearer ones, that put a call right; its cause; and the closest."""
        search, check = gate.search, gate.check
        rings = search.candidates(check, trace, gate.places, *within)
        winners, closest = search.found(check, rings, budget, gate.failing, gate.checks.passing, refused)
        winners = search.locally_right_first(check, trace, gate.places, winners)
        winners = search.with_effect(check, trace, winners)
        if near:
            winners = sorted([*near, *winners], key=lambda each: each.rank)
        return list(winners), gate.chosen(winners), closest

    def _once_more(self, gate: Gate, trace: Trace, winners: Sequence[Found], budget: Budget) -> Found | None:
        """Return the cause of a call among the edits near the fault that others, which are none, cut off."""
        refused = frozenset(each.edit.key for each in winners)
        return None if gate.before else self._chosen(gate, trace, (FIRST, NEAR), [], budget, refused)[1]

    @staticmethod
    def _is_right_alone(search: Search, check: Check, edit: Edit) -> bool:
        """Say whether an edit that was found after others puts a call right without them."""
        nodes = {id(each) for each in walk(search.module.functions[edit.function])}
        return all(id(old) in nodes for old, _ in edit.changes) and search.tried(check, [edit])[0]

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

    def goes_wrong_at(self, cause: Cause, check: Check, trusted: frozenset[str]) -> bool:
        """Say whether a call first goes wrong in the line of a cause though its edit is made.

        Where nothing can be noted of it, as where no process is left to ask, the gate's word stands.
        """
        search = self.search
        if search is None or cause.function not in search.reached(check.label):
            return False
        try:
            trace = search.trace(check)
        except RunnerGone:
            return False
        body = search.module.functions[cause.function].body
        if trace is None or not any(trace.did_run(each) for each in statements(body)):
            return False
        places = search.places(check, trace, trusted)
        if places.raising is not None:
            return places.raising.lineno == cause.line
        if places.draws:
            return False
        first = next((each.lineno for each in places.origins if places.known), cause.line)
        return first == cause.line


def _passing(search: Search, failing: Sequence[Check], checks: Checks, budget: Budget) -> Found | None:
    """Return the one edit with which all failing tests of a function pass, and those that passed."""
    check = min(failing, key=lambda each: (each.is_raised, each.size))
    trace = search.trace(check)
    if trace is None or not is_given_generator(check.last):
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
        if _passes(search, number, (*failed, *kept), check.label, budget):
            each = Found(edit, number, cost, frozenset(failing), len(failing), met=frozenset(failing))
            found += [each] if gate.stands_by_text(each) else []
    return found[0] if found and len({each.edit.line for each in found}) == 1 else None


def _placed(search: Search, likely: Sequence[tuple[int, Edit]]) -> Iterator[tuple[int, int, Edit]]:
    """Yield edits with their numbers in the form of the functions that is in force, and their costs."""
    for start in range(0, len(likely), BATCH):
        batch = likely[start : start + BATCH]
        for number, (cost, edit) in zip(search.place([edit for _, edit in batch]), batch, strict=True):
            yield number, cost, edit


def _costs(failing: Sequence[Check]) -> dict[str, int]:
    """Return the trials that each test of some calls counts as at least."""
    calls: dict[str, list[Record]] = {}
    for each in failing:
        calls.setdefault(each.outcome.test, []).append(each.right)
    return {test: _cost(records) for test, records in calls.items()}


def _cost(calls: Sequence[Record]) -> int:
    """Return the trials that a test with these calls counts as."""
    drawn = sum(each.result.size for each in calls if isinstance(each.result, np.ndarray))
    return TRIALS + len(calls) + drawn // NUMBERS_OF_A_TRIAL


def _passes(search: Search, number: int, tests: Sequence[str], label: str, budget: Budget) -> bool:
    """Say whether tests pass with an edit, each with several seeds: what is begun is seen to its end."""
    for seed in SEEDS:
        for test in tests:
            has_passed, heard = search.runner.heard([number], test, seed, label)
            budget.take(_cost(heard.records), 0)
            if not has_passed:
                return False
    return True


@dataclass(frozen=True, eq=False)
class _Blamed:
    """A condition of a function, what is said of it, and what to do."""

    node: ast.expr
    function: str
    says: str
    fix: str


def _blamed(search: Search, label: str, failing: Sequence[Check], budget: Budget) -> _Blamed | None:
    """Return the condition of a function that decides wrongly in all its failing calls; None where several may."""
    plain = [each for each in failing if each.is_plain]
    answers = {repr(each.right.result) for each in plain if type(each.right.result) is not bool}
    is_little = any(each.says_little for each in plain)
    if len(plain) < len(failing) or len(failing) > MOST_CALLS or len(answers) < (SEVERAL if is_little else 1):
        return None
    if any(each.right.result is None or isinstance(each.right.result, bool) for each in plain):
        return None
    left = list(_conditions(search.module.functions[label]))[:MOST_CONDITIONS]
    found: dict[int, tuple[Check, int]] = {}  # by the id of a condition: the shortest call, and how often it ran before
    for check in sorted(failing, key=lambda each: each.size):
        edits = [_turned(label, each, time) for each in left for time in range(1, MOST_TIMES + 1)]
        right = search.tried(check, edits) if edits else []
        budget.take(len(edits), check.work)
        times = {
            id(edit.changes[0][0]): (check, number % MOST_TIMES + 1)
            for number, edit in enumerate(edits)
            if right[number]
        }
        left = [each for each in left if id(each) in times]
        found = {id(each): found.get(id(each), times[id(each)]) for each in left}
    return _said(search, label, left[0], *found[id(left[0])]) if len(left) == 1 else None


def _said(search: Search, label: str, node: ast.expr, check: Check, time: int) -> _Blamed | None:
    trace = search.trace(check)
    samples = trace.samples.get(id(node), []) if trace is not None else []
    if len(samples) < time:
        return None
    given = ", ".join(repr(each) for each in check.last.args)
    call = f"{label}({given})"
    if len(call) > MOST_SHOWN:
        call = f"{call[:MOST_SHOWN]}…)"
    sample = samples[time - 1]
    is_true = bool(sample.value) if sample.shape == () else bool(sample.shape[0])
    now, wanted = ("true", "false") if is_true else ("false", "true")
    when = f", {ORDER[time]}" if ORDER[time] else ""
    says = f"`{search.module.shown(node)}` is {now} where it has to be {wanted}: in {call}{when}"
    return _Blamed(node, label, says, f"Change the condition, so that it is {wanted} there.")


def _turned(function: str, node: ast.expr, time: int) -> Edit:
    turned = ast.Call(ast.Name(FLIP, ast.Load()), [ast.Constant(time), node], [])
    statement = ast.Pass(lineno=node.lineno)
    return Edit("condition-wrong", function, ((node, turned),), RARE, "", "", statement)


def _bounds(module: ModuleText, names: set[str]) -> Iterator[Edit]:
    """Yield the comparisons of functions before a `raise`, each with the bound itself on its other side."""
    for name in sorted(names & module.functions.keys()):
        ifs = [each for each in walk(module.functions[name]) if isinstance(each, ast.If)]
        for guard in ifs:
            is_check = any(isinstance(each, ast.Raise) for each in guard.body)
            for each in walk(guard.test) if is_check else ():
                if not isinstance(each, ast.Compare):
                    continue
                for place, operator in enumerate(each.ops):
                    if type(operator) in OTHER_SIDE:
                        ops = [*each.ops[:place], OTHER_SIDE[type(operator)](), *each.ops[place + 1 :]]
                        new, says = replaced(each, ops=ops), "`{old}` lets pass what has to be refused"
                        yield Edit("comparison-wrong", name, ((each, new),), LIKELY, says, "", guard, show=module.shown)


def _conditions(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield the conditions of a function: tests, and outermost comparisons elsewhere."""
    inside: set[int] = set()
    for each in walk(function):
        tests = [each.test] if isinstance(each, (ast.If, ast.While, ast.IfExp)) else []
        tests += each.ifs if isinstance(each, ast.comprehension) else []
        if isinstance(each, (ast.Compare, ast.BoolOp)) and id(each) not in inside:
            tests.append(each)
        for test in tests:
            if id(test) not in inside:
                yield test
            inside |= {id(part) for part in walk(test)}


def _is_within(one: Edit, other: Edit) -> bool:
    """Say whether an edit stands in a line that another one replaces as a whole."""
    olds = [old for old, _ in other.changes if isinstance(old, ast.stmt)]
    return one.function == other.function and any(
        old.lineno <= one.line <= (old.end_lineno or old.lineno) for old in olds
    )


def _digest(*parts: str) -> str:
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:8]
