"""Puts probes into functions: which statements ran, what each expression held, what the names held at the end.

The probes are calls of functions of the prelude, which is the same for a learner's module in the sandbox and for a
right module here. What comes back chooses which edits are tried and proves nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.course.mutants import replaced
from grader.diagnosis.module_text import BODIES, Function, ModuleText, heads
from grader.diagnosis.trees import walk
from grader.diagnosis.values import Print, Sample, sample_of

STEP = "_probe_step"  # of what each round of a loop and each call calls first
FLIP = "_probe_flip"  # of a condition: what turns it round once
LOG, SAW, AT, HELD, CLEAR = "_probe_log", "_probe_saw", "_probe_at", "_probe_held", "_probe_clear"
MOST_TIMES = 4  # that an expression is noted in one run
MOST_NOTES = 3000  # in one run
MOST_NAMES = 60
MOST_NODES = 2500  # of a function whose values are noted
MOST_BYTES, MOST_KNOWN = 1 << 11, 1 << 12  # of arrays whose sums are kept: most values are seen several times
MOST_SIZE = 1 << 14  # numbers of an array, or entries of a container, that are summed up
INFINITE = 1e9  # what stands for an infinite number in a sum
EXPRESSIONS = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp,
    ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.Tuple, ast.List, ast.Dict,
)  # fmt: skip
PRELUDE = f"""
import math as _probe_math, zlib as _probe_zlib
import numpy as _probe_numpy

{LOG} = [[], {{}}, []]
_probe_times, _probe_weights, _probe_known, _probe_ran = {{}}, {{}}, {{}}, set()


def {CLEAR}():
    {LOG}[:] = [[], {{}}, []]
    _probe_times.clear(), _probe_ran.clear()


def _probe_sums(array):
    key = (array.dtype.str, array.size, array.tobytes()) if array.nbytes <= {MOST_BYTES} else None
    if key in _probe_known:
        return _probe_known[key]
    plain = array.astype(float).reshape(-1)
    size = float(abs(plain).sum())
    if not _probe_math.isfinite(size):
        plain = _probe_numpy.nan_to_num(plain, nan=0.5, posinf={INFINITE}, neginf=-{INFINITE})
        size = float(abs(plain).sum())
    if plain.size not in _probe_weights:
        _probe_weights[plain.size] = _probe_numpy.sin(_probe_numpy.arange(1.0, plain.size + 1))
    sums = float(plain.sum()), float(plain @ _probe_weights[plain.size]), size
    if key and len(_probe_known) < {MOST_KNOWN}:
        _probe_known[key] = sums
    return sums


def _probe_print(value, depth=0):
    kind = type(value)
    if value is None or kind is bool:
        return [[], 0.0, 0.0, 0.0, 11 if value is None else 12 + value]
    if kind is int or kind is float:
        number = float(value)
        if not _probe_math.isfinite(number):
            return [[], 0.0, 0.0, 0.0, _probe_zlib.crc32(repr(number).encode())]
        return [[], number, number * {0.8414709848078965!r}, abs(number), 0]
    if kind is str:
        return [[len(value)], 0.0, 0.0, 0.0, _probe_zlib.crc32(value[:{MOST_SIZE}].encode("utf-8", "replace")) | 1]
    if hasattr(value, "dtype") and isinstance(getattr(value, "shape", None), tuple):
        if value.dtype.kind not in "biuf" or value.size > {MOST_SIZE}:
            return None
        return [list(map(int, value.shape)), *_probe_sums(_probe_numpy.asarray(value)), int(value.dtype.kind == "b")]
    if depth > 3:
        return None
    if kind in (list, tuple, dict, set, frozenset) or isinstance(value, dict):
        if len(value) > {MOST_SIZE}:
            return None
        if kind in (list, tuple) and value and all(type(each) in (int, float) for each in value):
            return [[len(value)], *_probe_sums(_probe_numpy.array(value, dtype=float)), 0]
        digest = 3
        if kind in (set, frozenset):
            value = sorted(value, key=repr)
        elif kind not in (list, tuple):
            items = sorted(value.items(), key=lambda pair: repr(pair[0]))
            digest = _probe_zlib.crc32(repr([key for key, _ in items]).encode("utf-8", "replace"))
            value = [each for _, each in items]
        return _probe_joined(value, digest, depth)
    if kind.__module__ == __name__ and hasattr(value, "__dict__"):
        return _probe_joined(list(vars(value).values()), 5, depth)
    return None


def _probe_joined(values, digest, depth):
    found = [_probe_print(each, depth + 1) for each in values]
    if None in found:
        return None
    shapes = {{tuple(each[0]) for each in found}}
    shape = [len(found), *(shapes.pop() if len(shapes) == 1 else (-1,))]
    if digest == 3 and len(shape) > 1 and shape[1:] != [-1] and not any(each[4] for each in found):
        return [shape, *_probe_sums(_probe_numpy.array(values, dtype=float)), 0]
    plain = weighted = size = 0.0
    for place, each in enumerate(found, 1):
        factor = _probe_math.sin(place * 12.9898) + 1.5
        plain, weighted, size = plain + factor * each[1], weighted + factor * each[2], size + factor * each[3]
        digest = (digest * 1000003 + each[4] + sum(each[0]) * 7919) & 0x7FFFFFFF
    return [shape, plain, weighted, size, digest]


def _probe_sample(value, depth=0):
    kind, known = type(value).__name__, None
    try:
        known = _probe_print(value)
    except Exception:
        pass
    if hasattr(value, "dtype") and isinstance(getattr(value, "shape", None), tuple):
        scalar = value.item() if value.ndim == 0 and value.dtype.kind in "biuf" else None
        named = "array" if isinstance(value, _probe_numpy.ndarray) and value.ndim else "number"
        letter = value.dtype.kind
        letter = "i" if letter == "u" else letter
        return [named, list(map(int, value.shape)), letter, scalar, known, {{}}, str(value.dtype)]
    if isinstance(value, bool) or value is None:
        return ["none" if value is None else "bool", [], "", value, known, {{}}, kind]
    if kind in ("int", "float"):
        return ["number", [], "i" if kind == "int" else "f", value, known, {{}}, kind]
    if kind == "str":
        return ["text", [], "", value[:40], known, {{}}, kind]
    if kind in ("list", "tuple", "set", "frozenset", "deque"):
        few = list(value) if len(value) < 8 and all(type(each) is int for each in value) else None
        inner = type(next(iter(value))).__name__ if len(value) else ""
        return ["sequence", [len(value)], inner, few, known, {{}}, kind]
    if isinstance(value, dict):
        some = [(k, v) for k, v in list(value.items())[:{MOST_NAMES}] if isinstance(k, str)] if depth < 2 else []
        return ["dict", [len(value)], "", None, known, {{k: _probe_sample(v, depth + 1) for k, v in some}}, kind]
    if type(value).__module__ == __name__ and depth < 2 and hasattr(value, "__dict__"):
        some = list(vars(value).items())[:{MOST_NAMES}]
        return ["object", [], "", None, known, {{k: _probe_sample(v, depth + 1) for k, v in some}}, kind]
    return ["function" if callable(value) else "other", [], "", None, known, {{}}, kind]


def {STEP}():
    _variant_step()


def {AT}(number):
    if number not in _probe_ran:
        _probe_ran.add(number)
        {LOG}[2].append(number)
    elif {LOG}[2][-1] != number and len({LOG}[2]) < {MOST_NOTES}:
        {LOG}[2].append(number)


def {SAW}(number, value):
    times = _probe_times[number] = _probe_times.get(number, 0) + 1
    if times <= {MOST_TIMES} and len({LOG}[0]) < {MOST_NOTES}:
        {LOG}[0].append([number, _probe_sample(value, 1)])
    return value


def {FLIP}(time, value):
    times = _probe_times[{FLIP!r}] = _probe_times.get({FLIP!r}, 0) + 1
    return (not value) if times == time else value


def {HELD}(name, values):
    times = _probe_times[name] = _probe_times.get(name, 0) + 1
    if times <= 20:
        some = [(k, v) for k, v in values.items() if k[:6] != "_probe"][:{MOST_NAMES}]
        {LOG}[1].setdefault(name, {{}}).update({{k: _probe_sample(v) for k, v in some}})
"""


@dataclass
class Probes:
    """The numbers of the expressions and statements of a module that are noted: of all, or of some by their ids."""

    module: ModuleText
    functions: Sequence[str]
    only: frozenset[int] | None = None
    nodes: list[ast.AST] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)  # by the id of a node
    within: dict[int, str] = field(default_factory=dict)  # the function of a node, by the node's id

    def __post_init__(self) -> None:
        self.functions = [each for each in self.functions if len(walk(self.module.functions[each])) < MOST_NODES]
        for name in self.functions:
            for each in walk(self.module.functions[name]):
                is_stored = isinstance(getattr(each, "ctx", None), (ast.Store, ast.Del))
                is_noted = isinstance(each, ast.stmt) or (isinstance(each, EXPRESSIONS) and not is_stored)
                is_noted = is_noted and (self.only is None or id(each) in self.only)
                if is_noted and id(each) not in self.numbers:
                    self.numbers[id(each)] = len(self.nodes)
                    self.nodes.append(each)
                self.within.setdefault(id(each), name)

    def definitions(self) -> dict[str, Function]:
        """Return the functions with probes in them."""
        return {name: self._function(name, self.module.functions[name]) for name in self.functions}

    def _function(self, name: str, node: Function) -> Function:
        held = ast.Expr(_call(HELD, ast.Constant(name), _call("locals"))) if self.only is None else ast.Pass()
        body: list[ast.stmt] = [ast.Expr(_call(STEP)), ast.Try(self._body(node.body, held), [], [], [held])]
        result: Function = replaced(node, body=body)
        return result

    def _body(self, body: Sequence[ast.stmt], held: ast.stmt) -> list[ast.stmt]:
        lines: list[ast.stmt] = []
        for each in body:
            if not isinstance(each, (ast.Global, ast.Nonlocal)) and id(each) in self.numbers:
                lines.append(ast.Expr(_call(AT, ast.Constant(self.numbers[id(each)]))))
            if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for head in heads(each) for part in walk(head)):
                lines.append(held)
            lines.append(self._statement(each, held))
        return lines

    def _statement(self, node: ast.stmt, held: ast.stmt) -> ast.stmt:
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef)):
            return node
        fields: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if name in BODIES:
                step = [ast.Expr(_call(STEP))] if name == "body" and isinstance(node, (ast.For, ast.While)) else []
                fields[name] = [*step, *self._body(value, held)] if value else value
            elif name == "handlers":
                fields[name] = [replaced(each, body=self._body(each.body, held)) for each in value]
            elif name not in ("decorator_list", "returns", "annotation", "args", "type_params", "type_comment"):
                fields[name] = self._any(value)
        result: ast.stmt = replaced(node, **fields)
        return result

    def _any(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._any(each) for each in value]
        return self._expression(value) if isinstance(value, ast.AST) else value

    def _expression(self, node: Any, is_called: bool = False) -> Any:
        if isinstance(node, (ast.JoinedStr, ast.Constant, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)):
            return node
        fields: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if name in ("ctx", "op", "ops"):
                continue
            if isinstance(node, ast.Lambda) and name == "args":
                continue
            is_function = name == "func" and isinstance(value, ast.AST)
            fields[name] = self._expression(value, True) if is_function else self._any(value)
        made = replaced(node, **fields)
        if is_called or id(node) not in self.numbers:
            return made
        if isinstance(node, ast.Tuple) and any(isinstance(each, (ast.Slice, ast.Starred)) for each in walk(node)):
            return made
        if isinstance(node, ast.GeneratorExp):
            return made
        return _call(SAW, ast.Constant(self.numbers[id(node)]), made)


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


@dataclass
class Trace:
    """What a run noted: the samples of each expression in order, what names held at the end, which statements ran."""

    probes: Probes
    samples: dict[int, list[Sample]] = field(default_factory=dict)  # by the id of a node
    order: dict[int, int] = field(default_factory=dict)  # when a node was first noted, by its id
    held: dict[str, dict[str, Sample]] = field(default_factory=dict)  # by function, what its names held
    ran: dict[int, int] = field(default_factory=dict)  # when a statement first ran, by its id
    last: ast.stmt | None = None  # the statement that ran last
    entries: list[tuple[ast.AST, Sample]] = field(default_factory=list)  # all that was noted, in order

    @classmethod
    def of(cls, probes: Probes, log: Any) -> Trace:
        """Return what a log says; of a log in another form, nothing."""
        trace = cls(probes)
        match log:
            case [list(notes), dict(functions), list(ran)]:
                for place, note in enumerate(notes):
                    trace._add(place, note)
                trace.held = {
                    str(name): {str(key): sample_of(form) for key, form in names.items()}
                    for name, names in functions.items()
                    if isinstance(names, dict)
                }
                for place, number in enumerate(ran):
                    node = probes.nodes[number] if type(number) is int and 0 <= number < len(probes.nodes) else None
                    if isinstance(node, ast.stmt):
                        trace.ran.setdefault(id(node), place)
                        trace.last = node
        return trace

    def _add(self, place: int, note: Any) -> None:
        match note:
            case [int(number), form] if 0 <= number < len(self.probes.nodes):
                node, sample = self.probes.nodes[number], sample_of(form)
                self.samples.setdefault(id(node), []).append(sample)
                self.order.setdefault(id(node), place)
                self.entries.append((node, sample))

    def value(self, node: ast.AST) -> Sample | None:
        """Return what an expression held first; None where it never ran."""
        found = self.samples.get(id(node))
        return found[0] if found else None

    def prints(self) -> list[Print]:
        """Return what tells all values apart that expressions and names held."""
        found = [each.known for _, each in self.entries if each.known is not None]
        for names in self.held.values():
            for each in names.values():
                found += [part.known for part in (each, *_parts(each)) if part.known is not None]
        return found

    def did_run(self, statement: ast.AST) -> bool:
        """Say whether a statement ran."""
        return id(statement) in self.ran


def _parts(sample: Sample) -> Iterable[Sample]:
    for each in sample.parts.values():
        yield each
        yield from each.parts.values()
