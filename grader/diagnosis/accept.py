"""The gate: which of the edits that put a call right is the cause that is told, or that none is.

An edit has to put right enough of the failing calls of its kind, to bring in nothing that is not stated, to leave the
suspect line and every branch in use, and to stand with inputs of another seed.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, zip_longest
from typing import Any

from grader.diagnosis.checks import Check, Checks, answer_of
from grader.diagnosis.edits.base import LIKELY, RARE, SURE, UNUSUAL, USUAL, Edit, number_in
from grader.diagnosis.instrument import INFINITE, Trace
from grader.diagnosis.locate import FIRST, Places
from grader.diagnosis.module_text import Function, ModuleText, called, heads, loaded, root_name, statements, stored
from grader.diagnosis.pool import noting
from grader.diagnosis.runner import LEAST_STEPS, RunnerGone
from grader.diagnosis.search import Found, Search
from grader.diagnosis.trees import is_same, walk
from grader.diagnosis.values import Sample
from grader.sandbox.connection import Ended

SEEDS = (1, 2)  # further on, with which an edit has to stand as well
MOST_FURTHER = 12  # edits that are tried in further calls
MOST_WRONG = 3  # one of so many of these may stay wrong
MOST_LOOKED_AT = 12  # edits of which it is seen what they leave in use
MOST_SEEDED = 6  # edits that are tried with other inputs
MOST_TESTS = 3  # of which the calls are looked at with another seed, until one asks the function
MOST_WATCHED = 8  # calls in which an edit is watched
OF_DTYPE = frozenset(("whole-numbers-overflow", "whole-numbers", "dtype-lost"))
EVIDENCE = 3  # calls, failing or right, that speak for an edit where one answer has many causes
MORE = 5  # of one call
SEVERAL = 2  # different right answers: else an edit may make the answer a constant
FEW = 2  # failing calls that choose between edits
NAMES_CONFUSED = frozenset(("name-confused", "key-confused", "number-for-name"))
OF_ANSWERS = ("values", "edges")  # kinds of tests that one fault of a plain program fails alike
UNDEFINED = ("NameError", "UnboundLocalError")
BRANCHES = (ast.If, ast.IfExp, ast.While, ast.For, ast.Try, ast.BoolOp, ast.comprehension)
OF_POSITIVE = ("sqrt", "log", "log2", "log10")
KILLED = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)
INVERSE = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}

BOUNDS = {(ast.Lt, ast.LtE), (ast.LtE, ast.Lt), (ast.Gt, ast.GtE), (ast.GtE, ast.Gt)}
MOST_CALLS = 24  # further calls
MOST_OF_ONE = 6  # of one call of a test
MOST_RIGHT = 3  # right modules that are asked


@dataclass
class Gate:
    """Decides which edit is the cause of a failing call; before are edits that the call needs as well."""

    check: Check
    failing: Sequence[Check]
    checks: Checks
    search: Search
    places: Places
    before: Sequence[Edit] = ()
    _supported: set[int] = field(default_factory=set)  # the ids of edits that are right in several further calls

    def chosen(self, winners: Sequence[Found]) -> Found | None:
        """Return the edit that is the cause of the call; None where none is sure enough."""
        kinds = {self.check.kind, *(OF_ANSWERS if self.check.is_plain else ())}
        peers = [each for each in self.failing if each.label == self.check.label and each.kind in kinds]
        standing = [each for each in winners if self._is_stated(each.edit) and not _is_constant(each.edit)]
        if self.check.is_plain:
            standing = [each for each in standing if _is_enough(each, peers)]
            standing = self._in_further_calls(standing[:MOST_FURTHER], set(peers))
        supported = self._supported
        standing = [each for each in standing if id(each) in supported or _explains_enough(each, self.check, peers)]
        if standing and (others := self._of_one_fault(kinds)):
            peers += others
            standing = [each for each in standing if id(each) in supported or _explains_enough(each, self.check, peers)]
        if self.before:  # of two edits at once there are many: both have to be usual, and to put several calls right
            is_usual = all(
                each.rank <= USUAL and self._is_stated(each) and not _is_constant(each) for each in self.before
            )
            standing = [each for each in standing if is_usual and each.edit.rank <= USUAL and len(each.fixed) >= FEW]
        if self.check.kind == "dtype":
            standing = [each for each in standing if each.edit.id in OF_DTYPE]
        try:
            watched = [each for each in standing[:MOST_LOOKED_AT] if self._is_watched(each)]
            standing = [each for each in watched[:MOST_SEEDED] if self._is_seeded(each)]
        except RunnerGone:  # what nothing has proved is not told
            return None
        return self._likeliest(standing)

    def _of_one_fault(self, kinds: set[str]) -> list[Check]:
        """Return failing calls of another kind that go wrong where the call first does: an edit there has to mend them.

        One that mends an edge alone, and leaves the same line wrong elsewhere, goes round the fault.
        """
        first = next((each.lineno for each in self.places.origins if self.places.known), 0)
        own = [each for each in self.failing if each.label == self.check.label and not each.is_refusal]
        others = [each for each in own if each.kind not in kinds]
        found = []
        for each in sorted(others, key=lambda each: each.size)[: MOST_WATCHED if first else 0]:
            trace = self.search.trace(each)
            places = self.search.places(each, trace, self.checks.trusted()) if trace is not None else None
            if places is not None and places.known and any(origin.lineno == first for origin in places.origins):
                found.append(each)
        return found

    def _likeliest(self, standing: Sequence[Found]) -> Found | None:
        if not standing:
            return None
        best = standing[0]
        tied = [each for each in standing if each.fixed >= best.fixed and each.cost <= best.cost]
        is_little = len(best.fixed) <= FEW and id(best) not in self._supported
        if len({each.edit.line for each in tied}) > 1 and self.check.says_little and is_little:
            return None
        if best.edit.rank >= RARE and is_little:
            return None
        far = self.places.far.get(id(best.edit.statement), 9)
        is_alone = len(best.fixed) == 1 and is_little and self.places.known and far > FIRST + 1
        return None if best.edit.rank >= UNUSUAL and is_alone else best

    def _in_further_calls(self, standing: Sequence[Found], peers: set[Check]) -> list[Found]:
        """Return the edits that stand in calls that the tests did not make, those that put most of them right first.

        One that leaves a failing call for another fault may leave these calls wrong as well, and may break none.
        """
        try:
            numbers = self.search.place([each.edit for each in standing])
            calls = further([*self._failing, *self._right], self.search.rights) if standing else []
            right, broken = dict.fromkeys(numbers, 0), set[int]()
            for call in calls:
                own, *scores = call.scores(self.search.runner, [[], *([number] for number in numbers)], LEAST_STEPS)
                for number, score in zip(numbers, scores, strict=True):
                    right[number] += call.is_right(score)
                    if call.is_right(own) and not call.is_right(score):
                        broken.add(number)
        except RunnerGone:
            return []
        good = []
        for place, (number, each) in enumerate(zip(numbers, standing, strict=True)):
            is_all, is_right = peers <= each.fixed, MOST_WRONG * right[number] >= (MOST_WRONG - 1) * len(calls)
            if number not in broken and (is_right or not is_all):
                good.append((-len(each.fixed), -right[number], place))
                if is_all and right[number] >= MORE:
                    self._supported.add(id(each))
        return [standing[place] for *_, place in sorted(good)]

    def stands_by_text(self, found: Found) -> bool:
        """Say whether an edit brings in only what is stated, and makes no answer a number that was none."""
        return self._is_stated(found.edit) and not _is_constant(found.edit)

    def _is_stated(self, edit: Edit) -> bool:
        return all(self.search.stated.allows(old, new) for old, new in edit.changes)

    def _is_watched(self, found: Found) -> bool:
        """Say whether an edit leaves the suspect line, its branches, its terms and the answers in use."""
        edit, function = found.edit, self.search.module.functions.get(found.edit.function)
        if function is None or self._is_answer_constant(found):
            return False
        module = self.search.module.applied(edit.function, edit.changes)
        changed = module.functions[edit.function]
        conditions, terms = list(_conditions(edit, function, changed)), list(_terms(edit, function, changed))
        masks, rooted = list(_comparisons(function, changed)), list(_rooted(edit, function))
        if not (conditions or terms or masks or rooted or self._may_pass_by_suspect):
            return True
        pairs = [*conditions, *terms, *masks, *((each, each) for each in rooted)]
        old, new = zip(*pairs, strict=True) if pairs else ((), ())
        before, after = self._watched(self.search.module, old), self._watched(module, new)
        if not before or not after:
            return True
        if not self._keeps_suspect(edit, function, before, after) or any(_is_below_0(before, each) for each in rooted):
            return False
        is_name = edit.id in NAMES_CONFUSED
        if any(new is not None and _is_one_way(before, after, old, new, is_name) for old, new in conditions):
            return False
        if any(_is_of_arrays(after, new) and _is_one_way(before, after, old, new, True) for old, new in masks):
            return False
        gone = [old for old, new in conditions if new is None and len(_truths(before, old)) == SEVERAL]
        if gone and edit.rank > LIKELY and len(found.fixed) < EVIDENCE:
            return False
        return not any(_kills(before, after, *pair) for pair in terms)

    def _watched(self, module: ModuleText, nodes: Sequence[ast.expr | None]) -> list[Trace]:
        """Return what conditions, operations and the suspect line of a form of the module do in calls."""
        wanted: list[ast.AST] = [each for each in nodes if each is not None]
        wanted += [side for each in wanted if isinstance(each, ast.BinOp) for side in (each.left, each.right)]
        if self._suspect is not None:
            own = module.functions[self.places.function[id(self._suspect)]]
            wanted += [each for each in statements(own.body) if _place(each) == _place(self._suspect)]
        return self.search.watched([*self._failing, *self._right], module, wanted)

    @cached_property
    def _failing(self) -> list[Check]:
        """The call, and others of its function that fail."""
        others = [each for each in self.failing if each is not self.check and each.label == self.check.label]
        return [self.check, *sorted(others, key=lambda each: each.size)[: MOST_WATCHED - 1]]

    @cached_property
    def _right(self) -> list[Check]:
        """Calls of the function that are right."""
        name = self.check.label
        return list(self.checks.passing(lambda label: label == name, MOST_WATCHED, name))

    def _is_answer_constant(self, found: Found) -> bool:
        """Say whether the answers that an edit gives are all one, where the learner's were several."""
        own = [each for each in self._failing if each in found.fixed] + self._right
        right = {answer_of(each.right) for each in own}
        return len(own) > 1 and len(right) == 1 and len({answer_of(each.last) for each in own}) > 1

    def _keeps_suspect(self, edit: Edit, function: Function, before: Sequence[Trace], after: Sequence[Trace]) -> bool:
        """Say whether the line that raised, or in which a value first went wrong, still runs; or is edited itself."""
        suspect = self._suspect
        if suspect is None or _is_at(edit, suspect):
            return True
        if any(_did_run(trace, suspect) for trace in after) or not any(_did_run(trace, suspect) for trace in before):
            return True
        is_undefined = type(self.check.last.error).__name__ in UNDEFINED
        if self.places.raising is not suspect or is_undefined:
            return False
        is_refusal = isinstance(suspect, (ast.Raise, ast.Assert))
        if self.places.function.get(id(suspect)) != edit.function:
            return is_refusal
        guards = _guards(function, suspect) if is_refusal else []
        return id(edit.statement) in _leading(function, [suspect, *guards])

    @cached_property
    def _may_pass_by_suspect(self) -> bool:
        """Whether there is a suspect line, and a branch or a loop by which it may be left out."""
        names = {self.search.module.functions[name] for name in self.places.function.values()}
        return self._suspect is not None and any(isinstance(each, BRANCHES) for name in names for each in walk(name))

    @cached_property
    def _suspect(self) -> ast.stmt | None:
        if self.places.raising is not None:
            return self.places.raising
        for origin in self.places.origins[:1]:
            name = self.places.function
            for each in self.places.statements:
                if id(each) in name and any(node is origin for head in heads(each) for node in walk(head)):
                    return each if name[id(each)] not in self.checks.trusted() else None  # a right one may be replaced
        return None

    def _is_seeded(self, found: Found) -> bool:
        """Say whether an edit stands with inputs of other seeds: the test passes, or its calls of the function do.

        A test that has other faults ends at the first; what it asked of the function until there has to be right. Of
        a call that draws no answer is right by itself: tests have to pass.
        Further tests of its calls have one seed: they may ask for more than a first step.
        """
        (number,) = self.search.place([found.edit])
        runner, label, is_seen = self.search.runner, self.check.label, False
        tests = {self.check.outcome.test: self.check} | {each.outcome.test: each for each in self._of_fixed(found)}
        for check in list(tests.values())[:MOST_TESTS]:
            same = [each for each in self.failing if each.outcome.test == check.outcome.test]
            is_whole = check.is_whole or all(each in found.fixed for each in same)
            wrong = sum(each.label == label and each not in found.fixed for each in same)
            seen = 0
            for seed in SEEDS if not is_seen else SEEDS[:1]:
                passed, calls = runner.heard([number], check.outcome.test, seed, label)
                if passed:
                    seen += 1
                    continue
                if self.places.draws or (check.is_whole and not calls.records):
                    return False
                bad, good = self._split(check, calls, label)
                if bad > wrong:
                    return False
                seen += good > 0
            is_seen = is_seen or bool(seen) or is_whole
        return True

    def _of_fixed(self, found: Found) -> list[Check]:
        own = [each for each in found.fixed if each.label == self.check.label]
        return sorted(own, key=lambda each: (each.outcome.test, *each.order))

    def _split(self, check: Check, calls: Any, label: str) -> tuple[int, int]:
        """Return how many calls of a function were answered wrongly, and how many rightly."""
        if not calls.records:
            return 0, 0
        wrong, right = self.checks.maker.split(Ended(check.outcome, calls.records, calls.names), check.is_exact)
        return sum(each.label == label for each in wrong), len(right)


def _is_constant(edit: Edit) -> bool:
    """Say whether an edit makes all of what a line sets or returns a number that was not one."""
    old, new = edit.changes[0]
    is_whole = getattr(edit.statement, "value", None) is old and edit.id != "start-wrong"
    return is_whole and isinstance(new, ast.Constant) and not isinstance(old, ast.Constant)


def _is_enough(found: Found, peers: Sequence[Check]) -> bool:
    """Say whether an edit puts all failing calls of its function right, or most of several."""
    own = sum(each in found.fixed for each in peers)
    return own == len(peers) or (own >= FEW and 2 * own > len(peers))


def _explains_enough(found: Found, check: Check, peers: Sequence[Check]) -> bool:
    """Say whether an edit puts enough of the failing calls of the same function and kind right, of those it met."""
    peers = [each for each in peers if each in found.met]
    own = sum(each in found.fixed for each in peers)
    if found.edit.rank <= SURE and own == len(peers):  # its text alone shows that it is wrong
        return True
    least = EVIDENCE if own > 1 else MORE
    if check.says_little and (own + found.kept < least or found.answers < SEVERAL):
        return False
    if found.edit.rank >= UNUSUAL and own + found.kept < EVIDENCE:
        return False
    if own == len(peers):
        return len(peers) > 1 or not check.says_little or found.edit.rank < UNUSUAL
    return own >= FEW and 2 * own > len(peers) and not check.says_little


def _did_run(trace: Trace, statement: ast.stmt) -> bool:
    """Say whether a statement ran, or what an edit made of it by changing the statements that it holds."""
    nodes = (each for each in trace.probes.nodes if isinstance(each, ast.stmt) and trace.did_run(each))
    return any(_place(each) == _place(statement) for each in nodes)


def _place(statement: ast.stmt) -> tuple[int, int]:
    return getattr(statement, "lineno", 0), getattr(statement, "col_offset", 0)


def _is_at(edit: Edit, suspect: ast.stmt) -> bool:
    """Say whether an edit changes a statement, or one that holds it."""
    if edit.statement is suspect:
        return True
    inside = {id(each) for head in heads(suspect) for each in walk(head)}
    return any(id(old) in inside or any(each is suspect for each in walk(old)) for old, _ in edit.changes)


def _guards(function: Function, statement: ast.stmt) -> list[ast.stmt]:
    """Return the statements that decide whether a statement runs: those that hold it."""
    return [
        each for each in statements(function.body)
        if each is not statement and any(node is statement for node in walk(each))
    ]  # fmt: skip


def _leading(function: Function, to: Sequence[ast.stmt]) -> set[int]:
    """Return the ids of statements whose values lead to some statements, these included."""
    found = {id(each) for each in to}
    wanted = {name for each in to for head in heads(each) for name in loaded(head)}
    for _ in range(MOST_WATCHED):
        for each in statements(function.body):
            targets = {root_name(node) for head in heads(each) for node in walk(head) if _is_set(node)}
            if id(each) not in found and targets & wanted:
                found.add(id(each))
                wanted |= {name for head in heads(each) for name in loaded(head)}
    return found


def _is_set(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _conditions(edit: Edit, function: Function, changed: Function) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield the conditions that an edit changes, or that read what its line sets, before and after it.

    One that moves its bound by nothing (< for <=) stays what it is; after one that is left out comes None.
    """
    old, new = _tests(function), _tests(changed)
    kept, own = {id(each) for each in new}, {id(each) for each in old}
    gone, made = [each for each in old if id(each) not in kept], [each for each in new if id(each) not in own]
    yield from (pair for pair in zip_longest(gone, made) if pair[0] is not None and not _is_of_bound(*pair))
    names = _names_set(edit.statement)
    yield from ((each, each) for each in old if id(each) in kept and loaded(each) & names)


def _is_of_bound(old: ast.expr, new: ast.expr | None) -> bool:
    """Say whether two conditions differ in whether the bounds of a range belong to it."""
    if not isinstance(old, ast.Compare) or not isinstance(new, ast.Compare) or len(old.ops) != len(new.ops):
        return False
    signs = {(type(a), type(b)) for a, b in zip(old.ops, new.ops, strict=True) if type(a) is not type(b)}
    return bool(signs) and signs <= BOUNDS


def _names_set(statement: ast.stmt) -> set[str]:
    return stored(statement) if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) else set()


def _tests(function: Function) -> list[ast.expr]:
    found: list[ast.expr] = []
    for each in walk(function):
        if isinstance(each, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            found.append(each.test)
        elif isinstance(each, ast.comprehension):
            found += each.ifs
        elif isinstance(each, ast.BoolOp):
            found += each.values
    return found


def _comparisons(function: Function, changed: Function) -> Iterator[tuple[ast.Compare, ast.Compare]]:
    """Yield the comparisons that an edit changes, before and after it."""
    old, new = ([each for each in walk(node) if isinstance(each, ast.Compare)] for node in (function, changed))
    kept, own = {id(each) for each in new}, {id(each) for each in old}
    gone, made = [each for each in old if id(each) not in kept], [each for each in new if id(each) not in own]
    yield from zip(gone, made, strict=False)


def _is_of_arrays(traces: Sequence[Trace], node: ast.expr) -> bool:
    return any(each.kind == "array" for trace in traces for each in trace.samples.get(id(node), ()))


def _is_one_way(before: Sequence[Trace], after: Sequence[Trace], old: ast.expr, new: ast.expr, is_name: bool) -> bool:
    """Say whether a condition that was true and false in turn is always the same; of a name, also the opposite."""
    was, is_now = _truths(before, old), _truths(after, new)
    is_turned = is_name and old is not new and len(was) == 1 and was != is_now
    return len(is_now) == 1 and (len(was) == SEVERAL or is_turned)


def _truths(traces: Sequence[Trace], node: ast.expr) -> set[bool]:
    return {truth for trace in traces for each in trace.samples.get(id(node), ()) for truth in _truths_of(each)}


def _truths_of(sample: Sample) -> set[bool]:
    """Return the truth of a value, those of a mask's entries; none where it is not known."""
    if sample.kind == "array" and sample.dtype == "b" and sample.known is not None:
        true = round(sample.known.plain)
        return {truth for truth, times in ((True, true), (False, math.prod(sample.shape) - true)) if times}
    truth = _truth(sample)
    return set() if truth is None else {truth}


def _truth(sample: Sample) -> bool | None:
    match sample.kind:
        case "bool" | "number" | "text" if sample.value is not None:
            return bool(sample.value)
        case "none":
            return False
        case "sequence" | "dict" if sample.shape:
            return bool(sample.shape[0])
    return None


def _terms(edit: Edit, function: Function, changed: Function) -> Iterator[tuple[ast.BinOp | None, ast.BinOp]]:
    """Yield the operations that an edit makes or changes the operands of, each with what was in its place."""
    ours = {id(each) for each in walk(function)}
    theirs = {id(each) for each in walk(changed)}
    news = {id(part) for _, new in edit.changes for each in _listed(new) for part in walk(each)}
    gone = [each for each in walk(function) if id(each) not in theirs and isinstance(each, ast.BinOp)]
    gone = [each for each in gone if any(each is not old and _holds(each, old) for old, _ in edit.changes)]
    made = [each for each in walk(changed) if id(each) not in ours and isinstance(each, ast.BinOp)]
    around = [each for each in made if id(each) not in news]
    yield from zip(gone, around, strict=False)
    yield from ((None, each) for each in made if id(each) in news)
    names = _names_set(edit.statement)
    kept = [each for each in walk(function) if isinstance(each, ast.BinOp) and id(each) in theirs]
    yield from ((each, each) for each in kept if {root_name(each.left), root_name(each.right)} & names)


def _rooted(edit: Edit, function: Function) -> Iterator[ast.expr]:
    """Yield the expressions of a function of which an edit takes the root or the logarithm."""
    ours = {id(each) for each in walk(function)}
    for _, new in edit.changes:
        calls = [node for each in _listed(new) for node in walk(each) if called(node) in OF_POSITIVE]
        yield from (each for node in calls if isinstance(node, ast.Call) for each in node.args[:1] if id(each) in ours)


def _is_below_0(traces: Sequence[Trace], node: ast.expr) -> bool:
    """Say whether numbers of an expression are below 0: their root is none, and decides conditions by accident."""
    known = [each.known for trace in traces for each in trace.samples.get(id(node), ()) if each.known is not None]
    return any(each.plain < each.size for each in known)


def _listed(new: Any) -> list[ast.AST]:
    return new if isinstance(new, list) else [new]


def _holds(node: ast.AST, part: ast.AST) -> bool:
    return any(each is part for each in walk(node))


def _kills(before: Sequence[Trace], after: Sequence[Trace], old: ast.BinOp | None, new: ast.BinOp) -> bool:
    """Say whether an operation does nothing in all calls, gives 0 or takes another one back, and did not before."""
    if _takes_back(new) and not (old is not None and _takes_back(old)):
        return True
    if old is None:
        return _is_neutral(new)
    if not any(trace.samples.get(id(old)) for trace in before):  # what never ran is not killed
        return False
    return _does_nothing(after, new) and not _does_nothing(before, old)


def _takes_back(node: ast.BinOp) -> bool:
    """Say whether an operation undoes the one before it: x - y + y, x * y / y."""
    inner = node.left
    if not isinstance(inner, ast.BinOp) or INVERSE.get(type(inner.op)) is not type(node.op):
        return False
    return is_same(inner.right, node.right)


def _is_neutral(node: ast.BinOp) -> bool:
    """Say whether a number is written out that makes an operation useless: x + 0, x * 0, x ** 0."""
    left, right = number_in(node.left), number_in(node.right)
    match node.op:
        case ast.Add():
            return 0 in (left, right)
        case ast.Sub():
            return right == 0
        case ast.Mult():
            return left in (0, 1) or right in (0, 1)
        case ast.Pow():
            return right in (0, 1) or left in (0, 1)
        case ast.Div() | ast.FloorDiv():
            return right == 1 or left == 0
    return False


def _does_nothing(traces: Sequence[Trace], node: ast.BinOp) -> bool:
    """Say whether an operation always gives one of its operands, or always 0 or 1: x + 0, x * 0, x - x, x ** 0."""
    if not isinstance(node.op, KILLED):
        return False
    samples = [(trace.samples.get(id(node), []), trace) for trace in traces]
    whole = [each for own, _ in samples for each in own]
    if not whole or any(each.known is None or each.known.size >= INFINITE for each in whole):  # infinite hides the rest
        return False
    left = [each for own, trace in samples for each in _beside(trace, node.left, len(own))]
    right = [each for own, trace in samples for each in _beside(trace, node.right, len(own))]
    pairs = zip(whole, left, strict=True), zip(whole, right, strict=True)
    is_left, is_right = (all(other is not None and each.is_same(other) for each, other in pair) for pair in pairs)
    is_none = isinstance(node.op, (ast.Mult, ast.Sub)) and not any(
        each.known is not None and each.known.size for each in whole
    )
    is_one = isinstance(node.op, ast.Pow) and number_in(node.right) == 0
    return is_left or is_one or is_none or (is_right and isinstance(node.op, (ast.Add, ast.Mult)))


def _beside(trace: Trace, node: ast.expr, times: int) -> list[Sample | None]:
    """Return what an operand was each time its operation ran; nothing is known of a number that is written out."""
    samples = trace.samples.get(id(node), [])
    return [samples[place] if place < len(samples) else None for place in range(times)]


def further(checks: Sequence[Check], rights: Sequence[ModuleText]) -> list[Check]:
    """Return calls like some calls, with the answers on which right modules agree; without calls that these refuse."""
    found: list[Check] = []
    seen = {repr(each.last.args) for each in checks}
    for each in checks:
        if len(each.records) > 1 or each.last.kind != "call" or not each.is_plain:
            continue
        for args in islice(_changed(each.last.args), MOST_OF_ONE):
            if repr(args) in seen or len(found) == MOST_CALLS:
                continue
            seen.add(repr(args))
            check = _asked(each, args, rights)
            if check is not None:
                found.append(check)
    return found


def _asked(check: Check, args: tuple[Any, ...], rights: Sequence[ModuleText]) -> Check | None:
    record = copy.copy(check.last)
    record.args = record.given = args
    record.error, record.result, record.returned = None, None, None
    made = Check(check.stage, check.outcome, [record], check.names, [[record]])
    answers = [noting(each.text).answer(made) for each in rights[:MOST_RIGHT]]
    if None in answers or len({repr(each) for each in answers}) != 1 or answers[0] is None:
        return None
    right = copy.copy(record)
    right.result = answers[0][0]
    return Check(check.stage, check.outcome, [record], check.names, [[right]])


def _changed(args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield arguments with one of them changed, each in turn."""
    waiting = [(place, _near(value)) for place, value in enumerate(args)]
    while waiting:
        left = []
        for place, values in waiting:
            for value in islice(values, 1):
                yield (*args[:place], value, *args[place + 1 :])
                left.append((place, values))
        waiting = left


def _near(value: Any) -> Iterator[Any]:
    """Yield values of the same sort that differ a little."""
    match value:
        case bool() | None | float():
            return
        case int():
            yield from (value + 1, value - 1, 0)
        case str():
            yield from (value[1:], value.replace(" ", ""), value[::-1], value.swapcase(), value[:-1], value + value)
        case list() | tuple() if value:
            kind = type(value)
            inner = next(_near(value[0]), value[0])
            if isinstance(value[0], str):
                yield kind([f"{value[0]} {value[0]}", *value[1:]])
            yield from (
                value[1:],
                kind([*value, value[0]]),
                value[::-1],
                kind([inner, *value[1:]]),
                value[:-1],
                value[:2],
            )
        case dict() if value:
            yield dict(list(value.items())[1:])
