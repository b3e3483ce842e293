"""What a function does at one place and not at another: a factor, a step, a copy; and with what a value begins."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from grader.course.changes import replaced
from grader.diagnosis.repairs.kinds.analogy import in_other_case
from grader.diagnosis.repairs.kinds.draws import drawn_alike
from grader.diagnosis.slips.statements import Kind
from grader.diagnosis.slips.wording.phrases import called, constant_of
from grader.diagnosis.trees import substituted, walk

CURVED = ("tanh", "exp", "sigmoid", "cosh", "sinh", "sin", "cos", "erf", "log")  # that a factor inside of them changes
OUTER = (ast.Assign, ast.AugAssign, ast.Return, ast.Tuple)
NO_STEPS = ("len", "range", "float", "int")
MOST_FACTORS = 4
MOST_STEPS = 3
MOST_PLACES = 6
MOST_ARGUMENTS = 4
LINES_BEHIND = 6  # in which a factor may stand that an earlier value lacks


def likewise(
    node: ast.AST,
    holder: ast.AST,
    definition: ast.FunctionDef,
    values: Mapping[str, Any],
    value_of: Callable[[ast.AST], Any],
) -> Iterator[ast.AST]:
    """Yield what belongs in the place of an expression if it is made as another of the function is."""
    yield from copied(node, holder, definition)
    yield from curved(node, holder)
    yield from own_or_given(node, definition, values)
    yield from from_zeros(node, holder, definition, value_of(node))
    yield from scaled(node, holder, definition, value_of)
    yield from in_other_case(node, holder, definition)
    yield from drawn_alike(node, holder, definition)


def copied(node: ast.AST, holder: ast.AST, definition: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the copy of an array, or of a part of one, whose name is changed in place later on."""
    if not isinstance(holder, ast.Assign) or holder.value is not node or not isinstance(holder.targets[0], ast.Name):
        return
    if not isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)):
        return
    name = holder.targets[0].id
    if any(name == _changed(each) for each in walk(definition)):
        yield ast.Call(ast.Attribute(node, "copy", ast.Load()), [], [])


def _changed(node: ast.AST) -> str:
    """Return the name of the array that a line changes in place; nothing where it changes none."""
    target: ast.expr | None = node.target if isinstance(node, ast.AugAssign) else None
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0]
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def scaled(
    node: ast.AST, holder: ast.AST, definition: ast.FunctionDef, value_of: Callable[[ast.AST], Any]
) -> Iterator[ast.AST]:
    """Yield a value with the factor, or the divisor, that another value of the function has."""
    value, line = value_of(node), getattr(node, "lineno", 0)
    if not isinstance(holder, OUTER) or not isinstance(node, (ast.BinOp, ast.Call)) or not _is_real(value):
        return
    own, known = {id(each) for each in walk(node)}, ast.unparse(node)
    found: dict[str, ast.BinOp] = {}
    for each in walk(definition):
        if not isinstance(each, ast.BinOp) or not isinstance(each.op, (ast.Mult, ast.Div)) or id(each) in own:
            continue
        if _is_factor(each.right, value_of) and each.right.lineno <= line + LINES_BEHIND:
            text = ast.unparse(each.right)
            if text not in known:  # else it is there, and one too many or the wrong way round
                found.setdefault(text, each)
    for other in list(found.values())[:MOST_FACTORS]:
        yield replaced(other, left=node)


def _is_real(value: Any) -> bool:
    return isinstance(value, float) or getattr(getattr(value, "dtype", None), "kind", "") == "f"


def _is_factor(node: ast.expr, value_of: Callable[[ast.AST], Any]) -> bool:
    """Say whether an expression is one number that is computed, as the root of a size."""
    if isinstance(node, (ast.Constant, ast.Name)):
        return False  # names are tried as factors anyway, and a number that is written out has its own place
    value = value_of(node)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number or (getattr(value, "shape", None) == () and value.dtype.kind == "f")


def curved(node: ast.AST, holder: ast.AST) -> Iterator[ast.AST]:
    """Yield half and twice of what a function that is no straight line is taken of: tanh(z / 2) for tanh(z)."""
    is_given = isinstance(holder, ast.Call) and called(holder) in CURVED and holder.args[:1] == [node]
    if is_given and isinstance(node, (ast.Name, ast.BinOp, ast.Subscript, ast.Attribute)):
        yield ast.BinOp(node, ast.Div(), ast.Constant(2))
        yield ast.BinOp(node, ast.Mult(), ast.Constant(2))


def steps(node: ast.AST, holder: ast.AST, values: Mapping[str, Any], value: Any) -> Iterator[ast.AST]:
    """Yield an expression with a step more, or with one at another place of it."""
    yield from taken_from(node, values, value)
    yield from capped(node, value)
    yield from inward(node)
    yield from outward(node, holder)


def capped(node: ast.AST, value: Any) -> Iterator[ast.AST]:
    """Yield a quotient that is at most 1, where it is one number: a scale that shrinks and never stretches."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(value, float):
        yield ast.Call(ast.Name("min", ast.Load()), [ast.Constant(1.0), node], [])


def taken_from(node: ast.AST, values: Mapping[str, Any], value: Any) -> Iterator[ast.AST]:
    """Yield the numbers that places stand for: order[places], where an array of as many whole numbers is at hand."""
    is_places = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu"
    if not is_places or not isinstance(node, ast.Call):
        return
    known = {each.id for each in walk(node) if isinstance(each, ast.Name)}
    for name in sorted(known & set(values)):
        held = values[name]
        if isinstance(held, np.ndarray) and held.dtype.kind in "iu" and held.shape == value.shape:
            yield ast.Subscript(ast.Name(name, ast.Load()), node, ast.Load())


def from_zeros(node: ast.AST, holder: ast.AST, definition: ast.FunctionDef, value: Any) -> Iterator[ast.AST]:
    """Yield zeros in the place of a first value: of a name that a loop goes on with, or where nothing is kept yet."""
    if not _is_real(value) or not isinstance(node, ast.expr) or isinstance(node, (ast.Constant, ast.Subscript)):
        return
    if _is_default(node, holder) or _goes_on(node, holder, definition):
        yield ast.BinOp(ast.Constant(0), ast.Mult(), node) if getattr(value, "ndim", 0) else ast.Constant(0.0)


def _is_default(node: ast.AST, holder: ast.AST) -> bool:
    """Say whether an expression is what there is where nothing was kept: in `or {name: …}`, or a second argument."""
    if isinstance(holder, ast.Call) and called(holder) in ("get", "setdefault"):
        return holder.args[1:] == [node]
    return isinstance(holder, ast.DictComp) and holder.value is node


def _goes_on(node: ast.AST, holder: ast.AST, definition: ast.FunctionDef) -> bool:
    """Say whether a line before a loop gives a name its first value, and the loop adds to it or makes it anew."""
    if not isinstance(holder, ast.Assign) or holder.value is not node or not isinstance(holder.targets[0], ast.Name):
        return False
    name = holder.targets[0].id
    loops = [each for each in walk(definition) if isinstance(each, (ast.For, ast.While))]
    later = [each for each in loops if each.lineno > holder.lineno]
    return any(
        isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)
        for loop in later
        for part in loop.body
        for each in walk(part)
    )


def inward(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a step that is done to one part of what it is done to: relu(a @ b) @ c for relu(a @ b @ c)."""
    taken = _taken(node)
    if not isinstance(node, ast.Call) or not isinstance(taken, ast.BinOp):
        return
    inner = [each for each in walk(taken) if isinstance(each, (ast.BinOp, ast.Name)) and each is not taken]
    for each in [part for part in inner if part not in (taken.left, taken.right)][:MOST_PLACES]:
        if isinstance(each, ast.expr) and isinstance(getattr(each, "ctx", ast.Load()), ast.Load):
            yield substituted(taken, each, _done_to(node, each))
    if isinstance(taken.op, ast.MatMult):  # of sums and products, what has the operator knows
        yield replaced(taken, left=_done_to(node, taken.left))
        yield replaced(taken, right=_done_to(node, taken.right))


def outward(node: ast.AST, holder: ast.AST) -> Iterator[ast.AST]:
    """Yield a step that is done to all of a formula where it is done to one part of it."""
    if not isinstance(node, ast.BinOp) or not isinstance(holder, OUTER):
        return
    calls = [each for each in walk(node) if isinstance(each, ast.Call) and _taken(each) is not None]
    for each in [call for call in calls if call not in (node.left, node.right)][:MOST_STEPS]:
        yield _done_to(each, substituted(node, each, _taken(each)))
    if isinstance(node.op, ast.MatMult):
        for side in ("left", "right"):
            call = getattr(node, side)
            if _taken(call) is not None:
                yield _done_to(call, replaced(node, **{side: _taken(call)}))


def _taken(node: ast.AST) -> ast.expr | None:
    """Return what one step is done to: x of relu(x), np.tanh(x) and np.maximum(x, 0); None for what is no such step."""
    if not isinstance(node, ast.Call) or node.keywords or not node.args or called(node) in NO_STEPS:
        return None
    is_plain = isinstance(node.func, ast.Name) or isinstance(getattr(node.func, "value", None), ast.Name)
    is_one = len(node.args) == 1 or all(constant_of(each) is not None for each in node.args[1:])
    first = node.args[0]
    return first if is_plain and is_one and isinstance(first, (ast.Name, ast.BinOp, ast.Call)) else None


def _done_to(step: ast.AST, value: Any) -> Any:
    assert isinstance(step, ast.Call)
    return replaced(step, args=[value, *step.args[1:]])


def steps_moved(body: list[ast.stmt]) -> Iterator[tuple[Kind, int, list[ast.stmt]]]:
    """Yield a body in which one line's step is done in another line: to what is made before or behind it."""
    lines = [place for place, each in enumerate(body) if isinstance(each, (ast.Assign, ast.Return))]
    for place in lines:
        value = getattr(body[place], "value", None)
        steps = [each for each in walk(value) if _taken(each) is not None] if value is not None else []
        for step in steps[:MOST_STEPS]:
            for other in [each for each in lines if each != place and abs(each - place) <= MOST_STEPS]:
                theirs = getattr(body[other], "value", None)
                if not isinstance(theirs, (ast.BinOp, ast.Call)) or ast.dump(theirs) == ast.dump(step):
                    continue
                changed = list(body)
                changed[place] = replaced(body[place], value=substituted(value, step, _taken(step)))
                changed[other] = replaced(body[other], value=_done_to(step, theirs))
                yield "moved", place, changed


def own_or_given(node: ast.AST, definition: ast.FunctionDef, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield an argument of a method in the place of the object's own number: other for self.value, as in `2 ** x`."""
    owner = getattr(node, "value", None)
    if not isinstance(node, ast.Attribute) or not isinstance(owner, ast.Name) or owner.id != "self":
        return
    for each in definition.args.args[1 : MOST_ARGUMENTS + 1]:
        if isinstance(values.get(each.arg), (int, float)) and not isinstance(values.get(each.arg), bool):
            yield ast.Name(each.arg, ast.Load())


def afresh(node: ast.stmt, definition: ast.FunctionDef, values: Mapping[str, Any]) -> Iterator[tuple[Kind, ast.stmt]]:
    """Yield a line that makes an array anew where it changes one that the function was given."""
    if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Name):
        return
    given = {each.arg for each in (*definition.args.args, *definition.args.kwonlyargs)}
    if node.target.id in given and isinstance(values.get(node.target.id), np.ndarray):
        load = replaced(node.target, ctx=ast.Load())
        yield "afresh", ast.Assign([node.target], ast.BinOp(load, node.op, node.value))
