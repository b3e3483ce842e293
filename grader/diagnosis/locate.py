"""Find where a value first goes wrong: an expression of right parts whose value no right module has.

Source: Jones and Harrold 2005 on the localisation of faults; here by values rather than by the lines that ran.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.diagnosis.instrument import Trace
from grader.diagnosis.module_text import (
    BODIES,
    ModuleText,
    called,
    heads,
    loaded,
    parameters,
    root_name,
    statements,
    stored,
)
from grader.diagnosis.trees import walk
from grader.diagnosis.values import Print, Prints

FIRST, FEEDING, NEAR, DEEP, OTHER, NEVER = 0, 1, 2, 3, 4, 9  # how far a statement is from the fault
MADE = (
    ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript, ast.Compare, ast.IfExp, ast.BoolOp, ast.ListComp, ast.Tuple,
    ast.List, ast.Dict, ast.DictComp, ast.SetComp, ast.Attribute,
)  # fmt: skip
MOST_STEPS = 12
# What right modules may not ask of an array.
ABOUT = ("dtype", "kind", "itemsize", "ndim", "size", "shape", "flags")
NEXT = "@__next__"  # what an object is asked that a generator made
FAR = 99  # how far a statement is from an answer that it takes no part in


@dataclass
class Places:
    """How far each statement is from the fault, by its id, and the expressions in which a value first goes wrong."""

    far: dict[int, int] = field(default_factory=dict)
    function: dict[int, str] = field(default_factory=dict)
    statements: list[ast.stmt] = field(default_factory=list)  # the nearest first
    wrong: set[int] = field(default_factory=set)  # ids of expressions whose value no right module has
    origins: list[ast.expr] = field(default_factory=list)  # of these, those of right parts, in the order they ran
    idle: list[ast.stmt] = field(default_factory=list)  # that take no part in the answer, such as checks of arguments
    storing: list[ast.stmt] = field(default_factory=list)  # that put right values where they do not belong
    raising: ast.stmt | None = None  # the statement in which the learner's module raised
    known: bool = False  # whether there was a right module to compare with
    drawn: set[int] = field(default_factory=set)  # ids of expressions made of what a generator draws
    draws: bool = False  # whether the call draws what right modules do not, so that they may answer otherwise


def locate(
    module: ModuleText,
    trace: Trace,
    right: Prints | None,
    label: str,
    parts: Sequence[int | str],
    trusted: frozenset[str],
    raising: ast.stmt | None,
    is_refusal: bool = False,
) -> Places:
    """Return how far statements are from the fault of a call that was traced.

    right holds the values of right modules in the same call; trusted are functions whose own answers are right; raising
    is the statement in which the learner's module raised. Checks of arguments that let a call pass make no value of its
    answer, unless it is a refusal that is missing.
    """
    trusted -= {label}  # its answer is wrong in this call
    ran = {name: module.functions[name] for name in trace.probes.functions if _did_run(module, name, trace)}
    places = Places(raising=raising, known=right is not None)
    for name, node in ran.items():
        for each in statements(node.body):
            places.function[id(each)] = name
            places.statements.append(each)
    depths = Relevance(ran).depths(label, parts)
    for each in places.statements:
        depth = depths.get(id(each), FAR)
        far = NEAR if depth <= 1 else DEEP if depth < FAR else OTHER
        if places.function[id(each)] in trusted or _sets_up(places.function[id(each)], label):
            far += 2
        places.far[id(each)] = far if trace.did_run(each) else NEVER
    places.idle = [each for each in places.statements if depths and id(each) not in depths]
    if raising is not None:
        _mark_raising(places, raising)
    places.drawn = {
        id(part) for node, sample in trace.entries if sample.name == "Generator" for part in _drawn(module, trace, node)
    }
    draws = [(node, sample.known) for node, sample in trace.entries if id(node) in places.drawn and sample.is_numeric]
    others = [node for node, known in draws if right is None or known is None or known not in right]
    places.draws = any(not _sets_up(trace.probes.within[id(each)], label) for each in others)
    if right is not None:
        passed = [each for each in places.statements if raising is None and not is_refusal and _is_guard(each)]
        _mark_wrong(module, places, trace, right, label, trusted, {id(each) for each in passed})
    order = trace.ran
    places.statements.sort(key=lambda each: (places.far[id(each)], order.get(id(each), 1 << 20)))
    return places


def _is_guard(statement: ast.stmt) -> bool:
    """Say whether a statement checks something, and raises where it does not hold."""
    return isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Raise)


def _sets_up(function: str, label: str) -> bool:
    """Say whether a function makes an object of which something else is asked."""
    return function.endswith(".__init__") and function.removesuffix(".__init__") != label


def _did_run(module: ModuleText, name: str, trace: Trace) -> bool:
    return any(trace.did_run(each) for each in statements(module.functions[name].body))


def _mark_raising(places: Places, raising: ast.stmt) -> None:
    """Put the raising statement first, and behind it those that set what it uses."""
    places.far[id(raising)] = FIRST
    function = places.function.get(id(raising))
    used = {name for head in heads(raising) for name in loaded(head)}
    for each in places.statements:
        if places.function[id(each)] == function and sets(each) & used and places.far[id(each)] < NEVER:
            places.far[id(each)] = min(places.far[id(each)], FEEDING)


def _mark_wrong(
    module: ModuleText, places: Places, trace: Trace, right: Prints, label: str, trusted: frozenset[str],
    passed: set[int],
) -> None:  # fmt: skip
    wrong, began, drawn = places.wrong, _Beginnings(), places.drawn
    for node, sample in trace.entries:
        is_told = sample.known is not None and sample.kind != "object" and id(node) not in drawn
        is_told = is_told and getattr(node, "attr", "") not in ABOUT
        is_wrong = is_told and sample.known is not None and sample.known not in right
        began.note(node, is_wrong)
        if is_wrong:
            wrong.add(id(node))
    doubted: dict[int, list[ast.expr]] = {}
    for statement in places.statements:
        if not trace.did_run(statement) or id(statement) in passed:
            continue
        found = [
            each
            for head in heads(statement)
            for each in walk(head)
            if isinstance(each, MADE) and id(each) in began.found
        ]
        if _stores_another(statement, places.function[id(statement)], trace, right, wrong):
            places.storing.append(statement)
        if found or statement in places.storing[-1:]:
            doubted[id(statement)] = [each for each in found if isinstance(each, ast.expr)]
    fine = _cleared(places, trace, doubted, wrong, right, label)
    first = None
    for statement in sorted(places.statements, key=lambda each: trace.ran.get(id(each), 1 << 20)):
        if id(statement) not in doubted or id(statement) in fine:
            continue
        own = doubted[id(statement)]
        places.origins += own
        function = places.function[id(statement)]
        is_trusted = function in trusted or _sets_up(function, label)
        is_packed = bool(own) and all(_is_packed(module, statement, each, function != label) for each in own)
        far = FIRST if first is None and not is_packed else FEEDING
        places.far[id(statement)] = min(places.far[id(statement)], far + (2 if is_trusted else 0))
        is_trusted = is_trusted or is_packed  # a helper may give its parts otherwise
        if first is None and not is_trusted:  # it may be that this line should not have run
            _mark_condition(places, statement)
        first = first or (None if is_trusted else statement)
        used = {name for head in heads(statement) for name in loaded(head)}
        for each in places.statements:
            same = places.function[id(each)] == places.function[id(statement)]
            if same and trace.did_run(each) and sets(each) & used:
                places.far[id(each)] = min(places.far[id(each)], FEEDING + (2 if is_trusted else 0))
        if used & set(parameters(module.functions[function])):  # an argument that its caller chose wrongly
            _mark_callers(places, trace, function, trusted)


def _is_packed(module: ModuleText, statement: ast.stmt, node: ast.expr, is_inner: bool) -> bool:
    """Say whether an expression only holds together what a helper gives, or takes it apart."""
    if isinstance(node, ast.Tuple):
        return is_inner
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    is_own = isinstance(node, ast.Call) and getattr(node.func, "id", "") in module.functions
    return is_own and any(isinstance(each, ast.Tuple) for each in targets)


def _mark_condition(places: Places, statement: ast.stmt) -> None:
    """Put the condition on which a statement runs beside it."""
    for each in places.statements:
        if isinstance(each, ast.If) and any(inner is statement for inner in (*each.body, *each.orelse)):
            places.far[id(each)] = min(places.far[id(each)], FIRST)


def _mark_callers(places: Places, trace: Trace, function: str, trusted: frozenset[str]) -> None:
    """Put the statements that call a function next to those that use its arguments."""
    name = function.removesuffix(".__init__").rpartition(".")[2]
    for each in places.statements:
        caller = places.function[id(each)]
        calls = (called(node) == name for head in heads(each) for node in walk(head) if isinstance(node, ast.Call))
        if caller != function and trace.did_run(each) and any(calls):
            places.far[id(each)] = min(places.far[id(each)], FEEDING + (2 if caller in trusted else 0))


def _drawn(module: ModuleText, trace: Trace, generator: ast.AST) -> list[ast.AST]:
    """Return the expressions that are made of what a generator draws: right modules may draw otherwise."""
    parents = module.parents_of(trace.probes.within[id(generator)])
    found: list[ast.AST] = []
    node = parents.get(id(generator))
    while isinstance(node, ast.expr):
        found.append(node)
        node = parents.get(id(node))
    return found


class _Beginnings:
    """The expressions that once went wrong while their parts were right: in a loop what is wrong goes round."""

    def __init__(self) -> None:
        self.found: set[int] = set()  # their ids
        self._wrong: set[int] = set()  # ids of expressions that are wrong at the moment

    def note(self, node: ast.AST, is_wrong: bool) -> None:
        """Note one value of an expression."""
        if not is_wrong:
            self._wrong.discard(id(node))
            return
        self._wrong.add(id(node))
        if not any(id(each) in self._wrong for each in walk(node)[1:]):
            self.found.add(id(node))


def sets(statement: ast.stmt) -> set[str]:
    """Return the names that a statement's head sets, or whose entries it sets."""
    found: set[str] = set()
    for head in heads(statement):
        found |= stored(head)
        for each in walk(head):
            if isinstance(getattr(each, "ctx", None), ast.Store):
                found.add(root_name(each))
            elif (
                isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and isinstance(statement, ast.Expr)
            ):
                found.add(root_name(each.func))
    return found - {""}


def _stores_another(statement: ast.stmt, function: str, trace: Trace, right: Prints, wrong: set[int]) -> bool:
    """Say whether a statement of right values sets a part of something that ends with a value that is wrong."""
    if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)):
        return False
    if any(id(each) in wrong for head in heads(statement) for each in walk(head)):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", statement)]
    set_here = [
        each for target in targets for each in walk(target) if isinstance(getattr(each, "ctx", None), ast.Store)
    ]
    if isinstance(statement, ast.Assign) and not any(
        isinstance(each, (ast.Subscript, ast.Attribute)) for each in set_here
    ):
        return False
    held = trace.held.get(function, {})
    ends = [held[name].known for name in sets(statement) if name in held]
    return any(isinstance(each, Print) and each not in right for each in ends)


def _cleared(
    places: Places, trace: Trace, doubted: Mapping[int, list[ast.expr]], wrong: set[int], right: Prints, label: str
) -> set[int]:
    """Return the ids of doubted statements of which all that is made comes out right: ways to a value differ."""
    fine: set[int] = set()
    ran = [each for each in places.statements if trace.did_run(each)]

    def is_right(statement: ast.stmt) -> bool:
        value = getattr(statement, "value", None)
        samples = trace.samples.get(id(value), ()) if isinstance(value, ast.AST) else ()
        known = [each.known for each in samples if each.known is not None]
        if not known or not all(each in right for each in known):
            return False
        return any(each.shape or not float(each.size).is_integer() for each in known)

    users: dict[tuple[str, str], list[ast.stmt]] = {}
    for each in ran:
        for name in {name for head in heads(each) for name in loaded(head)}:
            users.setdefault((places.function[id(each)], name), []).append(each)
    sound = {id(each) for each in ran if is_right(each)}
    fine |= sound & set(doubted)
    for _ in range(MOST_STEPS):
        more: set[int] = set()
        for each in ran:
            function = places.function[id(each)]
            if id(each) in fine or id(each) not in doubted or isinstance(each, ast.Return):
                continue
            using = [user for name in sets(each) for user in users.get((function, name), ()) if user is not each]
            if using and all(id(user) in sound or id(user) in fine for user in using):
                more.add(id(each))
        if not more:
            break
        fine |= more
    return fine


def ends_of(loop: ast.For | ast.While) -> list[ast.stmt]:
    """Return the conditions on which a loop, or one of its rounds, ends early: all of its lines depend on them."""
    return [
        each
        for each in statements(loop.body)
        if isinstance(each, ast.If) and isinstance(each.body[-1], (ast.Break, ast.Continue, ast.Return))
    ]


@dataclass(frozen=True)
class Line:
    """A statement, or the head of a compound one: what it sets, what it uses for that, and what it calls."""

    statement: ast.stmt
    function: str
    sets: Mapping[str, frozenset[str]]  # token set: the tokens that are used for it
    uses: frozenset[str]
    around: tuple[ast.stmt, ...]  # the statements around it
    gives: Mapping[str, frozenset[str]]  # argument of another function: the tokens that are given on for it


@dataclass
class Relevance:
    """How far each statement of some functions is from an answer."""

    definitions: Mapping[str, ast.FunctionDef]
    lines: list[Line] = field(default_factory=list)
    _setting: dict[str, list[Line]] = field(default_factory=dict)
    _provider: dict[str, list[Line]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, node in self.definitions.items():
            self._read(name, node.body, ())
        for line in self.lines:
            for token in line.sets:
                self._setting.setdefault(token, []).append(line)
            for token in line.gives:
                self._provider.setdefault(token, []).append(line)

    def depths(self, label: str, parts: Iterable[int | str]) -> dict[int, int]:
        """Return by the id of each statement how far it is from what was asked of a module; parts are what is wrong.

        label is a function, a class or an attribute by its full name. A statement that takes no part is not in it. What
        an attribute is made of was given to its object by others, which nobody asks by name.
        """
        found: dict[int, int] = {}
        waiting = self._asked(label, list(parts))
        depth = 0
        seen: set[str] = set()
        is_attribute = f"@{label.rpartition('.')[2]}" in waiting
        while waiting:
            seen |= waiting
            following: set[str] = set()
            for token in waiting:
                for line in self._setting.get(token, []):
                    for each in (line.statement, *line.around):
                        found.setdefault(id(each), depth)
                    following |= line.sets[token]
                for line in self._provider.get(token, []) if is_attribute else ():
                    for each in (line.statement, *line.around):
                        found.setdefault(id(each), depth)
                    following |= line.gives[token]
            waiting = following - seen
            depth += 1
        return found

    def _asked(self, label: str, parts: list[int | str]) -> set[str]:
        """Return the tokens that an answer is known by."""
        keys = {f"#{each}" for each in parts if isinstance(each, str)}
        if keys and keys & set(self._setting):
            return keys
        if label in self.definitions or f"{label}.__init__" in self.definitions:
            own = {f"{label}[{each}]" for each in parts if isinstance(each, int)}
            if own and own <= set(self._setting):
                return own
            made = {token for line in self.lines if line.function == f"{label}.__init__" for token in line.sets}
            return {f"{label}()"} | made
        return {f"@{label.rpartition('.')[2]}"}

    def _read(self, function: str, body: list[ast.stmt], outer: tuple[ast.stmt, ...]) -> None:
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                self._read(function, statement.body, outer)
                continue
            around = (*outer, statement) if hasattr(statement, "body") else outer
            around = (*around, *ends_of(statement)) if isinstance(statement, (ast.For, ast.While)) else around
            self.lines.append(self._line(function, statement, outer))
            for name in (*BODIES, "handlers"):
                for each in getattr(statement, name, None) or ():
                    self._read(function, [each] if isinstance(each, ast.stmt) else each.body, around)

    def _line(self, function: str, statement: ast.stmt, outer: tuple[ast.stmt, ...]) -> Line:
        uses = frozenset(self._used(function, heads(statement)))
        uses |= {token for each in outer for token in self._used(function, heads(each))}
        sets: dict[str, frozenset[str]] = {}
        if isinstance(getattr(statement, "value", None), (ast.Yield, ast.YieldFrom)):
            sets[f"{function}()"] = sets[NEXT] = uses
        if isinstance(statement, ast.Return):
            sets[f"{function}()"] = uses
            owner, _, name = function.rpartition(".")
            if owner:
                sets[f".{name}()"] = sets[f"@{name}"] = uses
            for part, each in _parts(statement.value):
                token = f"{function}[{part}]" if isinstance(part, int) else f"#{part}"
                sets[token] = frozenset(self._used(function, [each]))
        for token in self._set(function, statement):
            sets[token] = uses
        value = getattr(statement, "value", None)
        for part, each in _parts(value) if isinstance(value, ast.Dict) else ():
            sets[f"#{part}"] = frozenset(self._used(function, [each]))
        return Line(statement, function, sets, uses, outer, dict(self._given(function, heads(statement))))

    def _given(self, function: str, nodes: Iterable[ast.AST]) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield the arguments of other functions that expressions give a value, with what they use for it."""
        for call in (each for node in nodes for each in walk(node) if isinstance(each, ast.Call)):
            name = getattr(call.func, "id", "")
            own = name if name in self.definitions else f"{name}.__init__"
            known = self.definitions[own].args.args if own in self.definitions else []
            names = [each.arg for each in known if each.arg != "self"]
            pairs = [*zip(names, call.args, strict=False), *((each.arg, each.value) for each in call.keywords)]
            for argument, value in pairs if names else ():
                yield f"{own}:{argument}", frozenset(self._used(function, [value]))

    def _used(self, function: str, nodes: Iterable[ast.AST]) -> Iterator[str]:
        """Yield what expressions use: names, attributes, keys, and what the functions return that they call."""
        for node in nodes:
            for each in walk(node):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                    yield f"{function}:{each.id}"
                elif isinstance(each, ast.Attribute):
                    yield f"@{each.attr}"
                elif isinstance(each, ast.Subscript) and isinstance(key := _key(each), str):
                    yield f"#{key}"
                elif isinstance(each, ast.Call):
                    name = getattr(each.func, "id", None)
                    yield f"{name}()" if name else f".{getattr(each.func, 'attr', '')}()"

    def _set(self, function: str, statement: ast.stmt) -> Iterator[str]:
        """Yield what a statement sets: names, attributes, entries, and what a call that stands alone may change."""
        for head in heads(statement):
            for each in walk(head):
                if isinstance(getattr(each, "ctx", None), ast.Store):
                    yield from self._tokens(function, each)
        if isinstance(statement, ast.AugAssign):
            yield from self._tokens(function, statement.target)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            for changed in (getattr(call.func, "value", None), *call.args[:1]):
                yield from self._tokens(function, changed)

    def _tokens(self, function: str, node: ast.AST | None) -> Iterator[str]:
        while isinstance(node, (ast.Subscript, ast.Starred)):
            if isinstance(node, ast.Subscript) and isinstance(key := _key(node), str):
                yield f"#{key}"
                return
            node = node.value
        if isinstance(node, ast.Attribute):
            yield f"@{node.attr}"
        elif isinstance(node, ast.Name):
            yield f"{function}:{node.id}"


def _key(node: ast.Subscript) -> object:
    return getattr(node.slice, "value", None) if isinstance(node.slice, ast.Constant) else None


def _parts(value: ast.expr | None) -> Iterator[tuple[int | str, ast.expr]]:
    """Yield the entries of what is returned, by place or by key."""
    if isinstance(value, ast.Tuple):
        yield from enumerate(value.elts)
    elif isinstance(value, ast.Dict):
        for key, each in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, each
