"""The edit: one change of a learner's text that may put it right, with its id, its likelihood and its sentence.

A generator that is registered with `@edit` looks at a site and yields edits. The search orders and tells edits by their
ids and ranks; a sentence steers nothing.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from grader.diagnosis.instrument import INFINITE, Trace
from grader.diagnosis.module_text import (
    COMPREHENSIONS,
    MOST_SHOWN,
    Change,
    Function,
    ModuleText,
    loaded,
    own_nodes,
    parameters,
    stored,
)
from grader.diagnosis.trees import is_same, substituted, walk
from grader.diagnosis.values import Sample

SURE, LIKELY, USUAL, UNUSUAL, RARE = range(-1, 4)  # how often learners make a mistake; a text that cannot be meant
BUILT_IN = frozenset(dir(builtins)) | {"np", "math", "numpy"}
MOST_NAMES = 40
SEVERAL = 2
EXTREMES = ("max", "min", "amax", "amin")
USED_FOR = "`{old}` is used where `{new}` is needed"
VAGUE = "`{old}` has another value than is needed"  # where what is needed is a formula
Load = ast.Load()


@dataclass(frozen=True, eq=False)
class Edit:
    """What stands in the place of some nodes of a function; template and remedy make its sentences."""

    id: str
    function: str
    changes: tuple[Change, ...]
    rank: int
    template: str
    remedy: str
    statement: ast.stmt
    adds: bool = False  # whether it puts in what was not there; what takes something away is tried and told first
    show: Callable[[ast.AST], str] = ast.unparse
    at: ast.AST | None = None  # where the fault is, if that is not the first node that changes

    @property
    def says(self) -> str:
        """What is wrong, as a clause that holds no more of what to write than a name or a number."""
        if self._around is None or "{old}" not in self.template:
            return self._filled(VAGUE if self.is_vague else self.template, is_short=True)
        around = self.show(self._around)
        if self.template == USED_FOR and not self.is_vague:
            return self._filled(USED_FOR.replace(" where", f" in `{around}` where"))
        return f"in `{around}`, {self._filled(VAGUE if self.is_vague else self.template)}"

    @property
    def is_vague(self) -> bool:
        """Whether it says only where something is wrong: what is needed is a formula."""
        old, new = self.changes[0]
        is_told = not isinstance(new, list) and (is_small(new) or ast.unparse(new) in ast.unparse(old))
        is_told = is_told or _is_other_attribute(old, new)
        return self.template == VAGUE or ("{new}" in self.template and not is_told)

    @property
    def fix(self) -> str:
        """What to write."""
        if self._around is not None and not self.remedy:
            return f"Write `{_shortened(ast.unparse(substituted(self._around, *self.changes[0])))}`."
        return self._filled(self.remedy or "Write `{new}`.")

    @cached_property
    def _around(self) -> ast.expr | None:
        """What tells a small part that changes from others like it in its line; None where there are none."""
        (old, new), *more = self.changes
        nodes = own_nodes(self.statement) if is_small(old) and isinstance(new, ast.expr) and not more else []
        if sum(is_same(each, old) for each in nodes) < SEVERAL:
            return None
        holding = [each for each in nodes if isinstance(each, ast.expr) and any(part is old for part in walk(each)[1:])]
        for each in sorted(holding, key=lambda each: len(walk(each))):
            is_one = sum(is_same(part, old) for part in walk(each)) == 1
            if is_one and sum(is_same(other, each) for other in nodes) == 1 and len(ast.unparse(each)) <= MOST_SHOWN:
                return each
        return None

    def _filled(self, text: str, is_short: bool = False) -> str:
        old, new = self.changes[0]
        if is_short and _is_other_attribute(old, new) and not is_small(new):  # two methods of one value
            return text.replace("{old}", getattr(old, "attr", "")).replace("{new}", new.attr)
        news = new if isinstance(new, list) else [new]
        shown = "; ".join(_shortened(ast.unparse(each).split("\n")[0]) for each in news)
        words = {"old": self.show(old), "new": shown, "line": self.show(self.statement)}
        for key, word in words.items():
            text = text.replace("{" + key + "}", word)
        return text

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from others, also when it is made once more."""
        return self.function, self.id, self.line, self.says, self.fix

    @property
    def line(self) -> int:
        """The line of the fault."""
        old = self.at or self.changes[0][0]
        return int(getattr(old, "lineno", getattr(self.statement, "lineno", 0)))

    @cached_property
    def grown(self) -> int:
        """By how many nodes the text changes in size."""
        total = 0
        for old, new in self.changes:
            nodes = new if isinstance(new, list) else [new]
            total += abs(sum(len(walk(each)) for each in nodes) - len(walk(old)))
        return total


def _is_other_attribute(old: Any, new: Any) -> bool:
    """Say whether both are attributes of one value."""
    return isinstance(old, ast.Attribute) and isinstance(new, ast.Attribute) and is_equal(old.value, new.value)


def is_small(node: ast.AST) -> bool:
    """Say whether an expression is a name, a number, an attribute or an entry: no formula and no call."""
    if isinstance(node, ast.UnaryOp):
        return is_small(node.operand)
    if isinstance(node, ast.Attribute):
        return is_small(node.value)
    if isinstance(node, ast.Subscript):
        return is_small(node.value) and is_small(node.slice)
    if isinstance(node, ast.Tuple):
        return all(map(is_small, node.elts))
    return isinstance(node, (ast.Name, ast.Constant))


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


@dataclass
class Context:
    """What is known of a module while edits are made: its text, a run of it, and what may be written."""

    module: ModuleText
    trace: Trace
    constants: frozenset[float] = frozenset()  # that the README, the stub or the learner state
    stub: ModuleText | None = None
    raising: ast.stmt | None = None  # the statement in which an exception was raised
    error: str = ""  # the kind of that exception
    _first: dict[str, dict[str, int]] = field(default_factory=dict)
    _own: dict[str, frozenset[str]] = field(default_factory=dict)
    _unread: dict[str, list[str]] = field(default_factory=dict)
    _names: dict[tuple[str, int], Any] = field(default_factory=dict)  # by function and statement

    def parents(self, function: str) -> Mapping[int, ast.AST]:
        """Return what holds each node of a function."""
        return self.module.parents_of(function)

    def unread(self, function: str) -> list[str]:
        """Return the arguments, and other names, that a function sets and never reads."""
        if function not in self._unread:
            node = self.module.functions[function]
            loads = loaded(node)
            names = dict.fromkeys([*parameters(node), *sorted(stored(node))])
            self._unread[function] = [name for name in names if name not in loads and name != "_"]
        return self._unread[function]

    def own_names(self, function: str) -> frozenset[str]:
        """Return the names that a function sets or is given."""
        if function not in self._own:
            node = self.module.functions[function]
            self._own[function] = frozenset(stored(node) | set(parameters(node)) | {"self", "cls"})
        return self._own[function]

    def first_lines(self, function: str) -> Mapping[str, int]:
        """Return the line in which each name of a function gets its first value; 0 for arguments."""
        if function not in self._first:
            node = self.module.functions[function]
            found: dict[str, int] = dict.fromkeys([*parameters(node), "self"], 0)
            for each in walk(node):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    found[each.id] = min(found.get(each.id, each.lineno), each.lineno)
            self._first[function] = found
        return self._first[function]


@dataclass
class Site:
    """One node of a function, with what stands around it and what it held."""

    context: Context
    function: str
    statement: ast.stmt
    node: Any

    @property
    def module(self) -> ModuleText:
        return self.context.module

    @property
    def definition(self) -> Function:
        """The function's definition."""
        return self.module.functions[self.function]

    @property
    def parent(self) -> Any:
        """What holds the node."""
        return self.context.parents(self.function).get(id(self.node))

    def parent_of(self, node: ast.AST) -> Any:
        """Return what holds another node of the function."""
        return self.context.parents(self.function).get(id(node))

    def value(self, node: ast.AST | None = None) -> Sample | None:
        """Return what the node held, or another one."""
        return self.context.trace.value(self.node if node is None else node)

    def show(self, node: ast.AST) -> str:
        """Return a node as the learner wrote it."""
        return self.module.shown(node)

    @property
    def number(self) -> Sample | None:
        """What the node held, where that is numeric; what is assigned to or called is not noted."""
        value = self.value()
        return value if value is not None and value.is_numeric else None

    @cached_property
    def is_callee(self) -> bool:
        """Whether the node is what a call calls."""
        return isinstance(self.parent, ast.Call) and self.parent.func is self.node

    @cached_property
    def names(self) -> dict[str, Sample]:
        """What the names held that have a value at this place, those of a comprehension around it included."""
        key = self.function, id(self.statement)
        inner = self._inner
        if inner:
            return self._made_names(inner)
        if key not in self.context._names:
            self.context._names[key] = self._made_names(inner)
        found: dict[str, Sample] = self.context._names[key]
        return found

    def _made_names(self, inner: set[str]) -> dict[str, Sample]:
        held = self.context.trace.held.get(self.function, {})
        first = self.context.first_lines(self.function)
        line = getattr(self.statement, "lineno", 0)
        loops = self._loops
        found = {
            name: sample
            for name, sample in held.items()
            if name in first and (first[name] < line or (first[name] == line and name in loops) or loops & {name})
        }
        for name in inner:
            samples = [
                sample
                for each in walk(self.statement)
                if isinstance(each, ast.Name) and each.id == name and (sample := self.value(each)) is not None
            ]
            found |= {name: samples[0]} if samples else {}
        found.pop("_", None)
        return dict(list(found.items())[:MOST_NAMES])

    @property
    def is_in_loop(self) -> bool:
        """Whether a loop runs the statement several times."""
        return bool(self.loops)

    @cached_property
    def loops(self) -> list[ast.For | ast.While]:
        """The loops around the statement, the innermost first."""
        found = []
        node: Any = self.parent_of(self.statement)
        while node is not None:
            if isinstance(node, (ast.For, ast.While)):
                found.append(node)
            node = self.parent_of(node)
        return found

    @property
    def loop_names(self) -> list[str]:
        """The names that the loops around the statement give the entries that they go over."""
        return [name for loop in self.loops if isinstance(loop, ast.For) for name in sorted(_targets(loop.target))]

    def is_raised(self, *errors: str) -> bool:
        """Say whether the statement raised an exception of some kinds."""
        return self.statement is self.context.raising and self.context.error in errors

    def was_empty(self, node: ast.AST) -> bool:
        """Say whether an expression ever held a text, a list or a dict with nothing in it."""
        samples = self.context.trace.samples.get(id(node), ())
        return any((each.kind == "text" and each.value == "") or each.shape[:1] == (0,) for each in samples)

    def was_infinite(self, node: ast.AST) -> bool:
        """Say whether an expression ever held an array of floats with an infinite one among them."""
        samples = self.context.trace.samples.get(id(node), ())
        return any(each.is_real and each.known is not None and each.known.size >= INFINITE for each in samples)

    @cached_property
    def _loops(self) -> set[str]:
        """The names that the loops around the statement set, in any of their lines."""
        return {name for loop in self.loops for name in stored(loop)}

    @cached_property
    def _inner(self) -> set[str]:
        """The names of comprehensions and lambdas around the node."""
        found: set[str] = set()
        node: Any = self.node
        while node is not None and node is not self.statement:
            if isinstance(node, COMPREHENSIONS):
                found |= {name for each in node.generators for name in _targets(each.target)}
            elif isinstance(node, ast.Lambda):
                found |= {each.arg for each in node.args.args}
            node = self.parent_of(node)
        return found

    @cached_property
    def operands(self) -> list[tuple[ast.expr, Sample]]:
        """What may be used here: names, attributes of self, entries of dicts by their keys."""
        found: list[tuple[ast.expr, Sample]] = []
        for name, sample in self.names.items():
            node = ast.Name(name, Load)
            if name not in ("self", "cls"):
                found.append((node, sample))
            for key, part in sample.parts.items():
                if sample.kind == "object" and name == "self":
                    found.append((ast.Attribute(node, key, Load), part))
                elif sample.kind == "dict":
                    found.append((ast.Subscript(node, ast.Constant(key), Load), part))
        return found

    @property
    def unread(self) -> list[str]:
        """The arguments that the function never reads."""
        return self.context.unread(self.function)

    def alike(self, sample: Sample | None) -> list[ast.expr]:
        """Return what may be used here and is of the sort of a value without being that value."""
        if sample is None:
            return []
        return [node for node, other in self.operands if sample.is_alike(other) and not sample.is_same(other)]

    def make(
        self, new: Any, says: str, fix: str = "", *, old: ast.AST | None = None, rank: int | None = None,
        adds: bool = False, also: Sequence[Change] = (), at: ast.AST | None = None,
    ) -> Made:  # fmt: skip
        """Return an edit of the node, or of another one; says and fix may name {old}, {new} and {line}.

        at is where the fault is, if that is not the node that changes.
        """
        return Made(self.node if old is None else old, new, says, fix, rank, adds, tuple(also), at)


@dataclass(frozen=True, eq=False)
class Made:
    """What a generator yields: an edit without its id."""

    old: ast.AST
    new: Any
    says: str
    fix: str
    rank: int | None
    adds: bool
    also: tuple[Change, ...] = ()
    at: ast.AST | None = None


Generator = Callable[[Site], Iterator[Made]]


@dataclass(frozen=True)
class Kind:
    """A registered sort of edit."""

    id: str
    rank: int
    make: Generator


REGISTRY: dict[type[ast.AST], list[Kind]] = {}


def edit(id: str, *nodes: type[ast.AST], rank: int = USUAL) -> Callable[[Generator], Generator]:
    """Register a generator of edits for nodes of some types."""

    def registered(make: Generator) -> Generator:
        for each in nodes:
            REGISTRY.setdefault(each, []).append(Kind(id, rank, make))
        return make

    return registered


def edits_at(site: Site) -> Iterator[Edit]:
    """Yield the edits of one node."""
    for kind in REGISTRY.get(type(site.node), ()):
        for made in kind.make(site):
            if is_equal(made.new, made.old) or not _sets_own(site, made) or not _can_be_set(made):
                continue
            rank = kind.rank if made.rank is None else made.rank
            yield _finished(kind.id, site, made, ((made.old, made.new), *made.also), rank)


def _finished(id: str, site: Site, made: Made, changes: tuple[Change, ...], rank: int) -> Edit:
    return Edit(id, site.function, changes, rank, made.says, made.fix, site.statement, made.adds, site.show, made.at)


def _can_be_set(made: Made) -> bool:
    """Say whether what stands in the place of something that is assigned to can be assigned to."""
    context = getattr(made.old, "ctx", None)
    return not isinstance(context, (ast.Store, ast.Del)) or type(getattr(made.new, "ctx", None)) is type(context)


def _sets_own(site: Site, made: Made) -> bool:
    """Say whether only names are set that the function sets anyway: another would become its own in all lines."""
    news = (made.new, *(new for _, new in made.also))
    nodes = [each for new in news for each in (new if isinstance(new, list) else [new]) if isinstance(each, ast.stmt)]
    return all(stored(each) <= site.context.own_names(site.function) for each in nodes)


def is_equal(one: Any, other: Any) -> bool:
    """Say whether two trees have one text."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_equal, one, other))
    if isinstance(one, ast.AST):
        return all(
            is_equal(getattr(one, name, None), getattr(other, name, None)) for name in one._fields if name != "ctx"
        )
    return bool(one == other)


def _targets(node: ast.AST) -> set[str]:
    return {each.id for each in walk(node) if isinstance(each, ast.Name)}


def written(text: str, **parts: ast.expr) -> ast.expr:
    """Return an expression of which the names in capitals stand for parts.

    >>> ast.unparse(written("list(PART)", PART=ast.Name("text")))
    'list(text)'
    """
    found: ast.expr = Filled(parts).visit(copy.deepcopy(_template(text)))
    return found


@cache
def _template(text: str) -> ast.expr:
    found = ast.parse(text, mode="eval").body
    for each in ast.walk(found):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            each.__dict__.pop(name, None)
    return found


class Filled(ast.NodeTransformer):
    """Puts parts in the place of names."""

    def __init__(self, parts: Mapping[str, ast.expr]) -> None:
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._parts.get(node.id, node)


def number(value: float) -> ast.expr:
    """Return a number as it is written."""
    if value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def moved(node: ast.expr, step: int) -> ast.expr:
    """Return a whole number that is a step more, as one writes it: `n` for `n + 1` less 1.

    >>> ast.unparse(moved(ast.parse("n + 1", mode="eval").body, -1))
    'n'
    >>> ast.unparse(moved(ast.parse("n - 1", mode="eval").body, -1))
    'n - 2'
    """
    own, base = number_in(node), node
    if own is not None:
        return number(int(own) + step)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        last = number_in(node.right)
        if last is not None and float(last).is_integer():
            base, step = node.left, step + int(last if isinstance(node.op, ast.Add) else -last)
    if step == 0:
        return base
    return ast.BinOp(base, ast.Add() if step > 0 else ast.Sub(), ast.Constant(abs(step)))


def number_in(node: ast.AST | None) -> float | None:
    """Return the number that an expression writes out, with its sign; None for another expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_in(node.operand)
        return None if inner is None else -inner
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def named(function: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """Return the call of one of NumPy's functions."""
    target = ast.Attribute(ast.Name("np", Load), function, Load)
    return ast.Call(target, list(args), [ast.keyword(name, value) for name, value in keywords.items()])


def fits(one: Sequence[int], other: Sequence[int], whole: Sequence[int] | None = None) -> bool:
    """Say whether two shapes broadcast, and to a shape that is asked for."""
    try:
        found = np.broadcast_shapes(tuple(one), tuple(other))
    except ValueError:
        return False
    return whole is None or found == tuple(whole)
