"""Looks for the edits that put a wrong call right: locates the fault, tries edits there first, keeps what stands."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from grader.course.stage import Stage
from grader.course.table import together
from grader.diagnosis.checks import Check, answer_of
from grader.diagnosis.edits import Context, Edit, Site, edits_at
from grader.diagnosis.edits.base import RARE
from grader.diagnosis.instrument import EXPRESSIONS, MOST_TIMES, SAW, Probes, Trace
from grader.diagnosis.locate import FIRST, Places, locate
from grader.diagnosis.lookup import Lookup
from grader.diagnosis.module_text import Function, ModuleText, own_nodes
from grader.diagnosis.pool import Pool, noting
from grader.diagnosis.runner import LEAST_STEPS, MORE_STEPS, MOST_STEPS, Runner, RunnerGone
from grader.diagnosis.stated import Stated
from grader.diagnosis.trees import walk
from grader.diagnosis.values import Print, Prints, Sample
from grader.diagnosis.variants import Switched, code_of, compiled

FULL = 2400  # trials, for the criterion that fails first and for one that was asked for
SHARE = 900  # for each further one
IN_ALL = 6000  # for all criteria of a module
STEPS_OF_A_TRIAL = 1500  # rounds of loops and calls that count as one trial more
BATCH = 240  # edits that stand in one form of the functions
FAR_BEYOND = 4  # where none of these puts right all that it could
BEYOND = 1  # of cost, by which later edits are still held against the first that does
MOST_FOUND = 40  # edits that put a call right
MOST_RIGHT = 3  # right modules whose runs are compared
MOST_KEPT = 14  # calls that have to stay right
MOST_FIXED = 30  # failing calls that an edit is held against
MOST_ORIGINS = 3  # expressions that first go wrong, of which the values are looked at alone
MOST_TESTS = 8  # that are run whole where a call stays wrong
MOST_STATEMENTS = 60  # the nearest to the fault
FEW = 5  # edits that are told apart by what they change
MOST_CODES = 200  # that are kept
MOST_ALIKE = 5  # places of one function that are changed at once
SMALL = (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript, ast.BinOp, ast.UnaryOp)
ALIGNED = "value-aligned"  # the id of an edit that writes what a right module has in that place
SMALLEST = 8  # nodes of what is looked for at several places
SAME_VALUE = frozenset(("copy-missing", "entries-shared", "whole-numbers", "dtype-lost", "changed-while-iterated"))
ALSO_ALIKE = frozenset(
    ("element-converted", "axis-added", "keepdims-missing", "axis-missing", "index-of-pair", "exponent-unshifted")
)

Ring = tuple[int, list[tuple[int, Edit]]]  # the least that an edit of it costs, and the edits with their costs
Kept = Callable[[Callable[[str], bool], int, str], Sequence[Check]]  # right calls that lead to some function


@dataclass
class Budget:
    """The trials that are left for one criterion."""

    left: float = FULL
    spent: float = 0.0

    @property
    def is_over(self) -> bool:
        """Whether nothing more may be tried."""
        return self.left <= 0

    def take(self, trials: int, steps: int) -> None:
        """Count trials of a call that takes so many steps."""
        cost = trials * (1 + steps / STEPS_OF_A_TRIAL)
        self.left -= cost
        self.spent += cost


@dataclass(frozen=True, eq=False)
class Found:
    """An edit that puts a call right: the failing calls that it puts right, of those that it could."""

    edit: Edit
    number: int
    cost: int
    fixed: frozenset[Check]
    asked: int
    kept: int = 0  # right calls of the same function that stay right
    answers: int = 2  # different right answers among these and the fixed ones
    met: frozenset[Check] = frozenset()  # the failing calls that it was held against

    @property
    def rank(self) -> tuple[object, ...]:
        """How early it comes among edits: what puts more right, costs less, takes away, changes little."""
        return -len(self.fixed), self.cost, self.edit.adds, self.edit.grown, self.edit.line


@dataclass
class Forms:
    """The learner's module on a runner, with other definitions of some of its functions."""

    module: ModuleText
    runner: Runner
    held: list[Forms] = field(default_factory=list)  # whose module the runner holds, for all that share the runner
    _placed: dict[str, Function] = field(default_factory=dict)
    _plain: dict[str, Function] = field(default_factory=dict)
    _codes: dict[int, tuple[Function, bytes]] = field(default_factory=dict)  # of what is put in place again and again
    _is_loaded: bool = False

    def put(self, definitions: Mapping[str, Function]) -> None:
        """Have the runner hold other definitions of functions; those that are not named are the module's own."""
        if not any(each is self for each in self.held):  # another form of the module has been there meanwhile
            self._is_loaded = False
        self.held[:] = [self]
        wanted = dict(definitions)
        for name in self._placed:
            if name not in wanted:
                if name not in self._plain:
                    self._plain[name] = Switched(self.module.functions[name], []).definition()
                wanted[name] = self._plain[name]
        changed = {name: node for name, node in wanted.items() if self._placed.get(name) is not node}
        if self._is_loaded:
            try:
                codes = [self._code(name, node) for name, node in changed.items()]
            except ValueError:
                self._is_loaded = False
            else:
                for code in codes:
                    self.runner.extend(code)
        if not self._is_loaded:
            self.runner.load([compiled(self.module.whole(wanted))])
        self._is_loaded, self._placed = True, wanted

    def _code(self, name: str, node: Function) -> bytes:
        """Return the code that puts a definition in place; the newest are kept: many come again."""
        if id(node) not in self._codes:
            made = code_of(self.module, {name: node})[0]
            self._codes[id(node)] = node, made
            if len(self._codes) > MOST_CODES:
                self._codes.pop(next(iter(self._codes)))
        return self._codes[id(node)][1]


@dataclass
class Search:
    """Looks for edits of one module; rights are the texts of right modules, those most like the learner's first."""

    stage: Stage
    module: ModuleText
    rights: Sequence[ModuleText]
    runner: Runner
    stub: ModuleText | None = None
    constants: frozenset[float] = frozenset()
    trials: int = 0
    stated: Stated = field(default_factory=Stated)
    pool: Pool | None = None
    others: Sequence[ModuleText] = ()  # right modules of another convention: what they hold counts in some calls
    _traces: dict[Check, list[Trace]] = field(default_factory=dict)
    held: list[Forms] = field(default_factory=list)  # whose module the runner holds, for all searches on it
    _reached: dict[str, set[str]] = field(default_factory=dict)
    _probes: dict[tuple[str, ...], tuple[Probes, dict[str, Function]]] = field(default_factory=dict)

    def reached(self, label: str) -> set[str]:
        """Return the functions that a call of one may run."""
        if label not in self._reached:
            self._reached[label] = set(self.module.reached(label))
        return self._reached[label]

    @cached_property
    def forms(self) -> Forms:
        return Forms(self.module, self.runner, self.held)

    def after(self, edit: Edit) -> Search:
        """Return a search that goes on in the module with an edit made for good."""
        module = self.module.applied(edit.function, edit.changes)
        return Search(
            self.stage, module, self.rights, self.runner, self.stub, self.constants, self.trials, self.stated,
            self.pool, self.others, self._traces, self.held,
        )  # fmt: skip

    def trace(self, check: Check) -> Trace | None:
        """Return what the learner's functions held in a call; None where that cannot be noted."""
        key = tuple(dict.fromkeys(name for label in check.labels for name in self.module.reached(label)))
        if key not in self._probes:
            probes = Probes(self.module, key)
            self._probes[key] = probes, probes.definitions()
        probes, definitions = self._probes[key]
        try:
            self.forms.put(definitions)
        except (SyntaxError, RecursionError, RunnerGone):
            return None
        found = check.noted(self.runner)
        self.forms.put({})
        if found is None:
            return None
        log, check.steps = found
        return Trace.of(probes, log)

    def watched(self, checks: Sequence[Check], module: ModuleText, nodes: Iterable[ast.AST]) -> list[Trace]:
        """Return what some expressions and statements of a form of the module do in calls."""
        ids, own = frozenset(map(id, nodes)), self.module.functions
        names = [
            name for name, node in module.functions.items()
            if node is not own[name] or any(id(each) in ids for each in walk(node))
        ]  # fmt: skip
        probes = Probes(module, names, ids)
        self.forms.put(probes.definitions())
        logs = [check.noted(self.runner) for check in checks]
        self.forms.put({})
        self.trials += len(checks)
        return [Trace.of(probes, log[0]) for log in logs if log is not None]

    def right_traces(self, check: Check) -> list[Trace]:
        """Return what right modules held in a call; those of another convention where they answer it rightly."""
        if check not in self._traces:
            modules = [*((each, False) for each in self.rights), *((each, True) for each in self.others)][:MOST_RIGHT]
            traces = [noting(each.text).trace(check, is_asked) for each, is_asked in modules]
            self._traces[check] = [each for each in traces if each is not None]
        return self._traces[check]

    def trace_with(self, text: str, check: Check, names: Iterable[str]) -> Trace | None:
        """Return what another module of the course held in a call, some functions of it too; None where it failed."""
        return noting(text, tuple(sorted({*check.labels, *names}))).trace(check)

    def right_values(self, check: Check) -> Prints | None:
        """Return the values that right modules held in a call, those of a pool among them; None where none is known."""
        rights = self.right_traces(check)
        pooled = self.pool.prints(check, self._steps(check)) if self.pool is not None else []
        if not rights and not pooled:
            return None
        return Prints([*(known for trace in rights for known in trace.prints()), *pooled])

    def places(self, check: Check, trace: Trace, trusted: frozenset[str]) -> Places:
        """Return how far statements are from the fault."""
        raising = trace.last if check.is_raised or check.last.error is not None else None
        right = self.right_values(check)
        parts = check.wrong_parts()
        return locate(self.module, trace, right, check.label, parts, trusted, raising, check.is_refusal)

    def candidates(self, check: Check, trace: Trace, places: Places, first: int, last: int) -> Iterator[Ring]:
        """Return the edits to try on a call, those of the statements nearest to the fault first; of some distances."""
        context = self.context(check, trace, places.raising)
        return self._rings(context, places, Lookup(trace, self.right_traces(check)), first, last)

    def context(self, check: Check, trace: Trace, raising: ast.stmt | None) -> Context:
        """Return what edits of a call are made from."""
        error = type(check.last.error).__name__ if check.last.error is not None else ""
        return Context(self.module, trace, self.constants | self.module.constants, self.stub, raising, error)

    def _rings(self, context: Context, places: Places, lookup: Lookup, first: int, last: int) -> Iterator[Ring]:
        """Yield the edits of the statements that are equally far from the fault, with their costs, the least first."""
        origins = {id(each) for each in places.origins}
        seen: set[str] = set()
        groups = Groups()
        for far in range(first, last):
            found: list[tuple[int, Edit]] = []
            yield 2 * far - 1, found
            for statement in places.statements[:MOST_STATEMENTS]:
                if places.far[id(statement)] != far:
                    continue
                name = places.function[id(statement)]
                nodes: list[ast.AST] = [statement, *own_nodes(statement)]
                if name not in seen:
                    seen.add(name)
                    nodes.insert(0, self.module.functions[name])
                for node in nodes:
                    site = Site(context, name, statement, node)
                    near = _is_near(node, origins, site)
                    found += [(2 * far + 2 * edit.rank + edit.adds - near, edit) for edit in edits_at(site)]
                    if id(node) in origins or (
                        far <= FIRST and isinstance(node, ast.expr) and _is_value(node, statement)
                    ):
                        found += [(2 * far + 2 * edit.rank + 1, edit) for edit in lookup.edits(site)]
            found += groups.edits(found, self.module)
            found.sort(key=lambda pair: pair[0])

    def found(
        self, check: Check, rings: Iterable[Ring], budget: Budget, others: Sequence[Check], kept: Kept,
        refused: frozenset[tuple[object, ...]] = frozenset(),
    ) -> tuple[list[Found], Edit | None]:  # fmt: skip
        """Return the edits that put a call right and break nothing, the likeliest first; and the best that does not.

        others are the failing calls that they are held against, kept those that have to stay right, refused the keys of
        edits that are no cause, as was seen before.
        """
        winners: list[Found] = []
        if budget.is_over:
            return [], None
        best: tuple[tuple[int, int], Edit | None] = (check.scores(self.runner, [[]], self._steps(check))[0], None)
        limit: list[int] = []  # the most that an edit may cost, once one is found
        for batch in _batches(rings, limit):
            if budget.is_over:
                break
            numbers = self.place([edit for _, edit in batch])
            groups = [[number] for number in numbers]
            tried = groups[: max(1, int(budget.left))]
            scores = check.scores(self.runner, tried, self._steps(check))
            budget.take(len(tried), check.work)
            self.trials += len(tried)
            right = []
            for (cost, edit), (number,), score in zip(batch, tried, scores, strict=False):
                if check.is_right(score) and edit.key not in refused:
                    right.append((cost, edit, number))
                elif score > best[0]:
                    best = score, edit
            if right:
                winners += self._standing(check, right[:MOST_FOUND], others, kept, budget)
                is_all = any(len(each.fixed) == each.asked for each in winners)
                if winners and not limit and (is_all or not check.is_plain):
                    least = min(each.cost for each in winners)
                    limit.append(least + (BEYOND if is_all and not check.says_little else FAR_BEYOND))
            if len(winners) >= MOST_FOUND and (limit or not check.is_plain):
                break
        winners.sort(key=lambda each: each.rank)
        return self._by_name(winners), best[1]

    def _by_name(self, winners: Sequence[Found]) -> list[Found]:
        """Return edits of which no two make one text; what says more than an aligned one stands in its place."""
        found: dict[str, Found] = {}
        for each in winners:
            changed = self.module.applied(each.edit.function, each.edit.changes).functions[each.edit.function]
            text = each.edit.function + ast.unparse(changed)
            before = found.setdefault(text, each)
            is_clearer = each.edit.id != ALIGNED or (before.edit.is_vague and not each.edit.is_vague)
            if before.edit.id == ALIGNED and is_clearer:
                rank = min(each.edit.rank, before.edit.rank)
                found[text] = replace(each, cost=before.cost, edit=replace(each.edit, rank=rank))
        return list(found.values())

    def locally_right(self, check: Check, trace: Trace, places: Places, budget: Budget) -> Edit | None:
        """Return the likeliest edit with which the value that first goes wrong is right, whatever comes of it later.

        Where two faults are in one call, each is seen at its own place.
        """
        if not places.known or not places.origins:
            return None
        context = self.context(check, trace, places.raising)
        origins = [each for each in places.origins if not isinstance(each, (ast.Tuple, ast.List, ast.Dict))]
        for origin in origins[:MOST_ORIGINS]:
            function = trace.probes.within[id(origin)]
            whole, statement = self._outermost(origin, function)
            inside = {id(each) for each in walk(whole)}
            some = [edit for node in walk(whole) for edit in edits_at(Site(context, function, statement, node))]
            some = [edit for edit in some if all(id(old) in inside for old, _ in edit.changes)]
            some = sorted(some, key=lambda edit: (edit.rank, edit.adds))[:BATCH]
            if not some or budget.is_over:
                continue
            budget.take(len(some), check.work)
            elsewhere = (each.known for node, each in trace.entries if id(node) not in inside)
            found = self._right_at(check, trace, whole, some, Prints(each for each in elsewhere if each is not None))
            if found:
                return found[0]
        return None

    def locally_right_first(self, check: Check, trace: Trace, places: Places, winners: Sequence[Found]) -> list[Found]:
        """Return edits that put a call right, first those with which the value that first went wrong is right too.

        An answer that is right by a wrong value is a coincidence more often than not.
        """
        if not places.origins or not winners:
            return list(winners)
        origin = places.origins[0]
        function = trace.probes.within[id(origin)]
        whole, _ = self._outermost(origin, function)
        inside = {id(each) for each in walk(whole)}
        near = [each for each in winners if all(id(old) in inside for old, _ in each.edit.changes)]
        good = set(map(id, self._right_at(check, trace, whole, [each.edit for each in near])))
        if not good or any(each.cost < near[0].cost and each not in near for each in winners):
            return list(winners)
        return sorted(winners, key=lambda each: (-len(each.fixed), id(each.edit) not in good, *each.rank))

    def with_effect(self, check: Check, trace: Trace, winners: Sequence[Found]) -> list[Found]:
        """Return edits that put a call right without those of an expression whose value stays what it was.

        What rounding or the order in memory then makes right is a coincidence.
        """
        found: list[Found] = []
        right = self.right_values(check)
        for each in winners:
            (old, new), *more = each.edit.changes
            before = trace.samples.get(id(old), [])
            is_seen = 0 < len(before) < MOST_TIMES and all(one.known is not None for one in before)
            if more or not isinstance(new, ast.expr) or each.edit.id in SAME_VALUE or not is_seen or len(found) > FEW:
                found.append(each)
                continue
            logs = self._held(check, trace, old, [each.edit])
            after = logs[0] if logs else before[:0]
            pairs = zip(before, after, strict=False)
            is_same = len(before) == len(after) and all(one.is_same(other) for one, other in pairs)
            if (
                each.edit.rank >= RARE
                and right is not None
                and not any(one.known in right for one in after if one.known)
            ):
                continue  # a function that is taken of a value gives what is needed by chance
            if not is_same or any(one.kind != other.kind for one, other in zip(before, after, strict=True)):
                found.append(each)
        return found

    def _held(self, check: Check, trace: Trace, node: ast.AST, edits: Sequence[Edit]) -> list[list[Sample]]:
        """Return what an expression held with each of some edits of its function in force."""
        function = trace.probes.within[id(node)]
        watch = {id(node): partial(_noted, trace.probes.numbers.get(id(node), -1))}
        changes = [(n, change) for n, edit in enumerate(edits, 1) for change in edit.changes]
        try:
            self.forms.put({function: Switched(self.module.functions[function], changes, watch).definition()})
        except (SyntaxError, RecursionError, ValueError, TypeError):
            return [[] for _ in edits]
        self.trials += len(edits)
        logs = check.logs(self.runner, [[n] for n in range(1, len(edits) + 1)], self._steps(check))
        return [[each for seen, each in Trace.of(trace.probes, log).entries if seen is node] for log in logs]

    def _right_at(
        self, check: Check, trace: Trace, whole: ast.expr, edits: Sequence[Edit], told: Prints | None = None
    ) -> list[Edit]:
        """Return the edits with which an expression has values that right modules have, and not one that was told."""
        right = self.right_values(check) or Prints()
        found = []
        for edit, samples in zip(edits, self._held(check, trace, whole, edits), strict=False):
            seen = [each.known for each in samples]
            is_right = bool(seen) and all(each is not None and each in right and _tells(each) for each in seen)
            if is_right and (told is None or not all(each is not None and each in told for each in seen)):
                found.append(edit)
        return found

    def _outermost(self, origin: ast.expr, function: str) -> tuple[ast.expr, ast.stmt]:
        """Return the largest expression that an expression is a part of, but for tuples, and its statement."""
        parents, found = self.module.parents_of(function), origin
        node: Any = parents.get(id(origin))
        while isinstance(node, ast.AST) and not isinstance(node, ast.stmt):
            if isinstance(node, EXPRESSIONS) and not isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
                found = node
            node = parents.get(id(node))
        return found, node if isinstance(node, ast.stmt) else self.module.functions[function].body[0]

    def _steps(self, check: Check) -> int:
        return min(MOST_STEPS, max(LEAST_STEPS, MORE_STEPS * check.steps))

    def tried(self, check: Check, edits: Sequence[Edit]) -> list[bool]:
        """Say of edits, each by itself, whether a call is right with it."""
        numbers = self.place(edits)
        self.trials += len(numbers)
        scores = check.scores(self.runner, [[number] for number in numbers], self._steps(check))
        return [check.is_right(score) for score in scores]

    def place(self, edits: Sequence[Edit]) -> list[int]:
        """Have the runner hold edits behind switches; return the number of each."""
        by_function: dict[str, list[tuple[int, Any]]] = {}
        for number, edit in enumerate(edits, 1):
            by_function.setdefault(edit.function, []).extend((number, change) for change in edit.changes)
        definitions = {}
        for name, changes in by_function.items():
            definitions[name] = Switched(self.module.functions[name], changes).definition()
        try:
            self.forms.put(definitions)
        except (SyntaxError, RecursionError, ValueError, TypeError):
            definitions = {}
            for name, changes in by_function.items():
                good = [pair for pair in changes if _compiles(self.module.functions[name], pair)]
                definitions[name] = Switched(self.module.functions[name], good).definition()
            self.forms.put(definitions)
        return list(range(1, len(edits) + 1))

    def _standing(
        self, check: Check, right: Sequence[tuple[int, Edit, int]], others: Sequence[Check], kept: Kept, budget: Budget
    ) -> list[Found]:
        """Return which edits break no call that was right, each with the failing calls that it puts right."""
        left = list(right)
        functions = {edit.function for _, edit, _ in right}
        held: list[Check] = []
        for each in kept(lambda label: bool(functions & self.reached(label)), MOST_KEPT, check.label):
            own, *scores = each.scores(self.runner, [[], *([number] for _, _, number in left)], self._steps(each))
            budget.take(len(left) // 2, each.work)
            self.trials += len(left)
            if not each.is_right(own):  # it does not come out here as it did in the test
                continue
            if check.label in {record.label for record in each.records}:
                held.append(each)
            left = [one for one, score in zip(left, scores, strict=True) if each.is_right(score)]
            if not left:
                return []
        fixed: dict[int, set[Check]] = {number: {check} for _, _, number in left}
        asked = self._reaching(
            [each for each in others if each is not check], {edit.function for _, edit, _ in left}, check
        )
        for each in asked[:MOST_FIXED]:
            scores = each.scores(self.runner, [[number] for _, _, number in left], self._steps(each))
            budget.take(len(left) // 2, each.work)
            self.trials += len(left)
            for (_, _, number), score in zip(left, scores, strict=True):
                if each.is_right(score):
                    fixed[number].add(each)
        return [
            Found(
                edit,
                number,
                cost,
                frozenset(fixed[number]),
                len(asked) + 1,
                len(held),
                _answers(check, held, fixed[number]),
                frozenset((check, *asked[:MOST_FIXED])),
            )
            for cost, edit, number in left
        ]

    def _reaching(self, checks: Sequence[Check], functions: set[str], first: Check) -> list[Check]:
        """Return the calls that lead to one of some functions: those of the same function first, then the shortest."""
        found = [each for each in checks if any(functions & self.reached(label) for label in each.labels)]
        return sorted(found, key=lambda each: (each.label != first.label, each.size))

    def is_right(self, check: Check) -> bool:
        """Say whether a call is right by the edits that were made."""
        self.forms.put({})
        return check.is_right(check.scores(self.runner, [[]], self._steps(check))[0])

    def fixed_by(self, checks: Sequence[Check], functions: set[str]) -> list[Check]:
        """Return which calls that lead to some functions are right now, and those of tests that the module passes now.

        A test may allow more answers than right modules give: where sums are rounded, or a sign is free.
        """
        checks = [each for each in checks if any(functions & self.reached(label) for label in each.labels)]
        checks = [each for each in checks if not each.is_refusal]  # that something raises does not say that it refuses
        found = [each for each in checks if self.is_right(each)]
        left = [each for each in checks if each not in found and functions & self.reached(each.label)]
        for test in list(dict.fromkeys(each.outcome.test for each in left))[:MOST_TESTS]:
            if self.runner.heard([], test, 0, "")[0]:
                found += [each for each in left if each.outcome.test == test]
        return found


@dataclass
class Groups:
    """The edits that make one change at several places of a function: what was wrongly thought stands in each."""

    _members: dict[tuple[str, ...], list[tuple[int, Edit]]] = field(default_factory=dict)
    _twins: dict[str, dict[int, str]] = field(default_factory=dict)  # by function and node: the text of a small node

    def edits(self, found: Sequence[tuple[int, Edit]], module: ModuleText) -> list[tuple[int, Edit]]:
        """Return the edits of all places at once of which one place is new."""
        grown: dict[tuple[str, ...], None] = {}
        for cost, edit in found:
            (old, new), *more = edit.changes
            text = self._text(edit.function, old, module)
            is_kind = edit.id in ALSO_ALIKE or not (edit.adds or edit.id == "number-wrong")
            is_one = isinstance(new, ast.expr) and not more and is_kind
            if not text or not is_one:
                continue
            parent = module.parents_of(edit.function).get(id(old))
            around = f"{type(parent).__name__} {type(getattr(parent, 'op', None)).__name__}"
            for key in ((edit.function, edit.id, text, ast.dump(new), each) for each in ("", around)):
                members = self._members.setdefault(key, [])
                if not any(each.changes[0][0] is old for _, each in members):
                    members.append((cost, edit))
                    grown[key] = None
        several = [self._members[key] for key in grown if 1 < len(self._members[key]) <= MOST_ALIKE]
        return [_together(each) for number, each in enumerate(several) if each not in several[:number]]

    def _text(self, function: str, node: ast.AST, module: ModuleText) -> str:
        if function not in self._twins:
            small = [each for each in walk(module.functions[function]) if isinstance(each, SMALL)]
            texts = {id(each): ast.dump(each) for each in small if len(walk(each)) <= SMALLEST}
            times = Counter(texts.values())
            self._twins[function] = {key: text for key, text in texts.items() if times[text] > 1}
        return self._twins[function].get(id(node), "")


def _together(members: Sequence[tuple[int, Edit]]) -> tuple[int, Edit]:
    """Return one edit of several that are alike, with its cost."""
    edits = sorted((each for _, each in members), key=lambda each: (each.line, each.changes[0][0].col_offset))  # type: ignore[attr-defined]
    first, others = edits[0], sorted({each.line for each in edits} - {edits[0].line})
    places = f" (in line {together(others)} too)" if others else " (each time)"
    changes = tuple(each.changes[0] for each in edits)
    return max(cost for cost, _ in members) + 1, replace(first, changes=changes, template=first.template + places)


def _answers(check: Check, kept: Sequence[Check], fixed: Iterable[Check]) -> int:
    """Return how many different right answers a function has in calls."""
    own = (each.right for each in (*fixed, *kept) if each.label == check.label)
    return len({answer_of(each) for each in own if each.error is None})


def _noted(number: int, node: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(SAW, ast.Load()), [ast.Constant(number), node], [])


def _tells(known: Print) -> bool:
    """Say whether a value is not one that many expressions have."""
    return bool(known.shape) or not float(known.size).is_integer()


def _batches(rings: Iterable[Ring], limit: Sequence[int]) -> Iterator[list[tuple[int, Edit]]]:
    """Yield edits some at a time, first few: most faults are near. Those that cost more than a limit are left out."""
    size = BATCH // 3
    for least, found in _made(rings, limit):
        del least
        start = 0
        while start < len(found):
            most = limit[0] if limit else None
            batch = [pair for pair in found[start : start + size] if most is None or pair[0] <= most]
            if batch:
                yield batch
            start, size = start + size, BATCH


def _made(rings: Iterable[Ring], limit: Sequence[int]) -> Iterator[Ring]:
    """Yield rings whose edits are made when the next one is asked for; none that costs more than the limit."""
    before: Ring | None = None
    for ring in rings:
        if before is not None and before[1]:
            yield before
        most = limit[0] if limit else None
        if most is not None and ring[0] > most:
            return
        before = ring
    if before is not None and before[1]:
        yield before


def _is_near(node: ast.AST, origins: set[int], site: Site) -> int:
    """Say whether an expression is one that first goes wrong, or a part of it."""
    each: Any = node
    for _ in range(4):
        if id(each) in origins:
            return 1
        each = site.parent_of(each)
        if each is None or isinstance(each, ast.stmt):
            return 0
    return 0


def _is_value(node: ast.expr, statement: ast.stmt) -> bool:
    """Say whether an expression is what a statement sets or returns, or one of several."""
    value = getattr(statement, "value", None)
    return node is value or any(node is each for each in getattr(value, "elts", ()))


def _compiles(function: Function, pair: tuple[int, Any]) -> bool:
    try:
        definition = Switched(function, [pair]).definition()
        compiled([ast.FunctionDef("tried", definition.args, definition.body, [], None)])
    except (SyntaxError, RecursionError, ValueError, TypeError):
        return False
    return True
