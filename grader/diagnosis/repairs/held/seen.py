"""What a learner's functions hold while they answer: of which sort the value of each expression and name is.

The text takes these notes where it runs; what comes back chooses which changes are tried, and proves nothing.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.course.changes import replaced
from grader.diagnosis.repairs.held.prints import Print, print_of, prints_in
from grader.diagnosis.trees import walk

NOTED = "_slips_noted"  # the name, among those of the module, of what was noted
CLOCK = "_slips_clock"  # the name of what tells the processor time of the process
SAW, HELD = "_slips_saw", "_slips_held"
MOST_NAMES = 60
MOST_AXES = 20
_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|c(8|16))")
MOST_LENGTH = 1 << 12  # of an axis of what stands for an array
MOST_TIMES = 3  # that an expression is noted at once; after that what it held when the function ended
MOST_CALLS = 20  # of one function, at the end of which its names are noted
MOST_SIZE = 1 << 16  # of an array whose sums are noted
EXPRESSIONS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)
PRELUDE = f"""
import numpy as _slips_numpy

{NOTED} = [{{}}, {{}}]
_slips_times, _slips_later, _slips_weights = {{}}, {{}}, {{}}


def _slips_print(value):
    if value.dtype.kind not in "biuf" or value.size > {MOST_SIZE}:
        return []
    plain = value.astype(float).reshape(-1)
    if not _slips_numpy.isfinite(plain).all():
        plain = _slips_numpy.nan_to_num(plain, nan=0.5, posinf=1e9, neginf=-1e9)
    if plain.size not in _slips_weights:
        _slips_weights[plain.size] = _slips_numpy.sin(_slips_numpy.arange(1.0, plain.size + 1))
    return [float(plain.sum()), float(plain @ _slips_weights[plain.size]), float(abs(plain).sum())]


def _slips_sort(value, depth=0):
    kind = type(value).__name__
    if isinstance(getattr(value, "shape", None), tuple) and hasattr(value, "dtype"):
        return ["array", id(value), value.dtype.str, list(map(int, value.shape)), _slips_print(value)]
    if isinstance(value, (bool, int, float, str)) and kind in ("bool", "int", "float", "str"):
        return ["plain", id(value), value if kind != "str" else value[:50]]
    if kind == "tuple" and len(value) < {MOST_AXES} and all(type(each) is int for each in value):
        return ["sizes", id(value), list(value)]
    if isinstance(value, dict) and depth < 3:
        some = list(value.items())[:{MOST_NAMES}]
        return ["dict", id(value), {{k: _slips_sort(v, depth + 1) for k, v in some if isinstance(k, str)}}]
    if type(value).__module__ == __name__ and depth < 2 and hasattr(value, "__dict__"):
        some = list(vars(value).items())[:{MOST_NAMES}]
        return ["object", id(value), {{k: _slips_sort(v, depth + 1) for k, v in some}}]
    return ["other", id(value), kind, callable(value)]


def {SAW}(number, value):
    _slips_times[number] = times = _slips_times.get(number, 0) + 1
    if times <= {MOST_TIMES}:
        {NOTED}[0][str(number)] = _slips_sort(value, 3)
    else:
        _slips_later[str(number)] = value
    return value


def {HELD}(name, values):
    for number, value in _slips_later.items():
        {NOTED}[0][number] = _slips_sort(value, 3)
    _slips_later.clear()
    _slips_times[name] = times = _slips_times.get(name, 0) + 1
    if times > {MOST_CALLS}:
        return
    some = list(values.items())[:{MOST_NAMES}]
    {NOTED}[1].setdefault(name, {{}}).update({{k: _slips_sort(v) for k, v in some}})
"""


@dataclass
class Seen:
    """What was noted: the values of expressions by their number, and those of each function's names."""

    expressions: Mapping[int, Any] = field(default_factory=dict)
    names: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    prints: Mapping[int, Print] = field(default_factory=dict)  # by which values are told apart, of expressions
    held: Mapping[str, Mapping[tuple[str, ...], Print]] = field(default_factory=dict)  # of names, attributes, entries

    @classmethod
    def of(cls, noted: Any) -> Seen:
        """Return what a text's notes say; of notes in another form, nothing."""
        match noted:
            case [dict(expressions), dict(functions)]:
                numbered = {int(n): form for n, form in expressions.items() if str(n).isdigit()}
                values = {n: stood_in(form) for n, form in numbered.items()}
                names = {str(name): _held(held) for name, held in functions.items()}
                prints = {n: known for n, form in numbered.items() if (known := print_of(form)) is not None}
                held = {str(name): dict(prints_in((), held)) for name, held in functions.items()}
                return cls(values, names, prints, held)
        return cls()

    @classmethod
    def prints_of(cls, noted: Any) -> Seen:
        """Return what tells the values of a right module apart, and no more; nothing stands for them."""
        prints = {int(n): known for n, form in noted[0].items() if (known := print_of(form)) is not None}
        return cls(prints=prints, held={name: dict(prints_in((), held)) for name, held in noted[1].items()})


def numbers_in(noted: Any) -> frozenset[int]:
    """Return the numbers of the expressions of which a text's notes say anything."""
    match noted:
        case [dict(expressions), _]:
            return frozenset(int(n) for n in expressions if str(n).isdigit())
    return frozenset()


def _held(names: Any) -> dict[str, Any]:
    """Return what stands for the values of names; one value that several names hold is one object here, too."""
    made: dict[int, Any] = {}
    held = {}
    for name, form in names.items() if isinstance(names, dict) else ():
        if isinstance(form, list) and len(form) > 1 and isinstance(form[1], int):
            held[str(name)] = made.setdefault(form[1], stood_in(form))
    return held


def stood_in(form: Any) -> Any:
    """Return a value of the sort that was noted: an array of its shape and dtype, a number, a table, an object."""
    match form:
        case ["array", _, str(dtype), list(shape), *_] if _DTYPE.fullmatch(dtype) and len(shape) < MOST_AXES:
            sizes = [min(max(each, 0), MOST_LENGTH) for each in shape if type(each) is int]
            return np.broadcast_to(np.zeros((), np.dtype(dtype)), sizes)
        case ["plain", _, bool() | int() | float() | str() as value]:
            return value
        case ["sizes", _, list(sizes)]:
            return tuple(each for each in sizes if type(each) is int)
        case ["dict", _, dict(items)]:
            return {name: stood_in(value) for name, value in items.items() if isinstance(name, str)}
        case ["object", _, dict(items)]:
            return types.SimpleNamespace(**{str(name): stood_in(value) for name, value in items.items()})
        case ["other", _, str(kind), bool(is_called)] if kind.isidentifier():
            methods = {"__call__": lambda self: None} if is_called else {}
            return type(f"Other{kind}", (), methods)()
    return None


def numbered(definitions: Mapping[str, ast.FunctionDef]) -> dict[int, int]:
    """Return the number of each expression of some functions, by the id of its node."""
    found: dict[int, int] = {}
    for node in definitions.values():
        for each in walk(node):
            if isinstance(each, EXPRESSIONS) and not isinstance(getattr(each, "ctx", None), (ast.Store, ast.Del)):
                found[id(each)] = len(found)
    return found


def noting(name: str, node: ast.FunctionDef, numbers: Mapping[int, int]) -> ast.FunctionDef:
    """Return a function's definition that notes what its expressions and names hold."""
    where = {"lineno": node.lineno, "end_lineno": node.lineno, "col_offset": 0, "end_col_offset": 0}
    held = ast.Expr(_call(where, HELD, ast.Constant(name, None, **where), _call(where, "locals")), **where)
    lines = _before_yields([_wrapped(each, numbers) for each in node.body], held)
    body: list[ast.stmt] = [ast.Try(lines, [], [], [held], **where)]
    result: ast.FunctionDef = replaced(node, body=body)
    return result


def _before_yields(body: list[ast.stmt], held: ast.stmt) -> list[ast.stmt]:
    """Return lines that note what names hold before each yield: a generator that nobody asks any more never ends."""
    lines: list[ast.stmt] = []
    for each in body:
        fields = {name: getattr(each, name, None) for name in ("body", "orelse", "finalbody")}
        inner = {name: _before_yields(part, held) for name, part in fields.items() if isinstance(part, list) and part}
        own = [part for _, part in ast.iter_fields(each) if isinstance(part, ast.expr)]
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for value in own for part in walk(value)):
            lines.append(held)
        lines.append(replaced(each, **inner) if inner and not isinstance(each, ast.FunctionDef) else each)
    return lines


def _call(where: Mapping[str, int], name: str, *args: ast.expr) -> ast.expr:
    """Return a call with its place, so that nobody has to go through the tree to give it one."""
    return ast.Call(ast.Name(name, ast.Load(), **where), list(args), [], **where)


def _wrapped(node: Any, numbers: Mapping[int, int], is_called: bool = False) -> Any:
    """Return a node with its expressions wrapped in calls that note them; the name that a call calls is left."""
    fields: dict[str, Any] = dict(_children(node, numbers))
    result = replaced(node, **fields)
    if id(node) in numbers and not is_called:
        where = {"lineno": node.lineno, "end_lineno": node.lineno, "col_offset": 0, "end_col_offset": 0}
        return _call(where, SAW, ast.Constant(numbers[id(node)], None, **where), result)
    return result


def _children(node: ast.AST, numbers: Mapping[int, int]) -> Iterator[tuple[str, Any]]:
    for name, value in ast.iter_fields(node):
        if name in ("decorator_list", "returns", "annotation", "args") and not isinstance(node, ast.Call):
            continue
        called = name == "func"
        if isinstance(value, list):
            yield name, [_wrapped(each, numbers) if isinstance(each, ast.AST) else each for each in value]
        elif isinstance(value, ast.AST):
            yield name, _wrapped(value, numbers, called)
