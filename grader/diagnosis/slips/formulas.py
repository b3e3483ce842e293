"""What people get wrong in a formula: numbers, operations, transposes, arguments of calls, comparisons."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.course.changes import replaced

AXIS_VALUES = (-1, -2, 0, 1, -3)
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
REDUCTIONS = ("sum", "mean", "max", "min", "std", "var", "argmax", "argmin", "any", "all")


def is_axis(holder: ast.AST) -> bool:
    return isinstance(holder, ast.keyword) and holder.arg in ("axis", "axes", "axis1", "axis2")


def other_numbers(node: ast.Constant, holder: ast.AST) -> Iterator[ast.AST]:
    """Yield numbers ten times as large or small, squared, rooted, 0, 1, and other axes."""
    number = node.value
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return
    if is_axis(holder):
        last = (-1,) if number == 0 else ()  # one less is tried of other numbers already
        yield from (number_node(value) for value in AXIS_VALUES if abs(value - number) > 1 or value in last)
        yield ast.Constant(None)
        return
    if isinstance(holder, ast.UnaryOp) and isinstance(holder.op, ast.USub):
        return
    if isinstance(holder, ast.Subscript):
        if number in (0, 1):
            yield number_node(-1)
        return
    others = {0, 1, number * 2, number / 2, number * 10, number / 10, number * 100, number / 100, -number}
    if 0 < number < 1e6:
        others |= {number**2, number**0.5}
    for value in sorted(others - {number, number + 1, number - 1}):
        whole = isinstance(number, int) and float(value).is_integer()
        yield number_node(int(value) if whole else float(value))


def other_transposes(node: ast.Call) -> Iterator[ast.AST]:
    """Yield all axes reversed, and the first axes swapped, where the last two are meant."""
    if getattr(node.func, "attr", "") != "swapaxes":
        return
    array = node.args[0] if len(node.args) == 3 else getattr(node.func, "value", None)
    if isinstance(array, ast.expr) and len(node.args) in (2, 3):
        yield ast.Attribute(array, "T", ast.Load())
        for pair in ((0, 1), (1, 2)):
            yield replaced(node, args=[*node.args[:-2], *map(ast.Constant, pair)])


def number_node(value: int | float) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def other_operations(node: ast.BinOp) -> Iterator[ast.AST]:
    """Yield other products, terms that count twice, a divisor's root or square."""
    if isinstance(node.op, ast.MatMult):
        yield replaced(node, left=transposed(node.left))
        yield replaced(node, right=transposed(node.right))
        yield replaced(node, op=ast.Mult())
        yield ast.BinOp(transposed(node.right), ast.MatMult(), transposed(node.left))
    elif isinstance(node.op, ast.Mult):
        yield replaced(node, op=ast.MatMult())
        yield replaced(node, op=ast.Add())
        yield ast.BinOp(node, ast.Mult(), node.right)
        yield ast.BinOp(node, ast.Mult(), node.left)
        yield replaced(node, left=ast.BinOp(ast.Constant(1), ast.Sub(), node.left))
        yield replaced(node, right=ast.BinOp(ast.Constant(1), ast.Sub(), node.right))
    elif isinstance(node.op, ast.Div):
        yield replaced(node, op=ast.FloorDiv())
        for power in (0.5, 2):
            yield replaced(node, right=ast.BinOp(node.right, ast.Pow(), ast.Constant(power)))
    elif isinstance(node.op, ast.Add):
        yield replaced(node, op=ast.Mult())
        yield ast.BinOp(node, ast.Add(), node.right)
    elif isinstance(node.op, ast.FloorDiv):
        yield replaced(node, op=ast.Div())
        yield ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), node.left), ast.FloorDiv(), node.right))


def transposed(node: ast.expr) -> ast.expr:
    """Return an expression with its last two axes swapped; of one that swaps axes, what it swaps them of."""
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return node.value
    function = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and function == "swapaxes" and node.args:
        return node.args[0] if len(node.args) == 3 else getattr(node.func, "value", node)
    return last_axes_swapped(node)


def last_axes_swapped(node: ast.expr) -> ast.expr:
    """Return an expression with its last two axes swapped, whatever it is."""
    swap = ast.Attribute(ast.Name("np", ast.Load()), "swapaxes", ast.Load())
    return ast.Call(swap, [node, number_node(-1), number_node(-2)], [])


def other_calls(node: ast.Call) -> Iterator[ast.AST]:
    """Yield a call without one of its last arguments, a range that ends or begins elsewhere, a function's absence."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name == "range" and node.args:
        end = len(node.args) - 1 if len(node.args) < 3 else 1
        for operator in (ast.Sub(), ast.Add()):
            changed = ast.BinOp(node.args[end], operator, ast.Constant(1))
            yield replaced(node, args=[*node.args[:end], changed, *node.args[end + 1 :]])
        if len(node.args) == 1:
            yield replaced(node, args=[ast.Constant(1), node.args[0]])
            yield ast.Call(ast.Name("reversed", ast.Load()), [node], [])
    elif len(node.args) > 1 and not isinstance(node.args[-1], ast.Starred):
        yield replaced(node, args=node.args[:-1])
    if name == "where" and len(node.args) == 3:
        yield from node.args[1:]
        yield replaced(node, args=[ast.UnaryOp(ast.Invert(), node.args[0]), *node.args[1:]])
    if name in ("tril", "triu") and len(node.args) == 1 and not node.keywords:
        yield from (replaced(node, args=[*node.args, number_node(k)]) for k in (-1, 1))
    if name == "arange" and len(node.args) == 1:
        yield replaced(node, args=[ast.Constant(1), ast.BinOp(node.args[0], ast.Add(), ast.Constant(1))])
    if name in REDUCTIONS:
        given = {keyword.arg for keyword in node.keywords}
        if "axis" not in given and len(node.args) <= 1:
            for axis in (-1, 0):
                yield replaced(node, keywords=[*node.keywords, ast.keyword("axis", number_node(axis))])
        if name in ("std", "var") and "ddof" not in given:
            others = [each for each in node.keywords if each.arg != "ddof"]
            yield replaced(node, keywords=[*others, ast.keyword("ddof", ast.Constant(1))])


def other_way(node: ast.Compare) -> Iterator[ast.AST]:
    """Yield a comparison the other way round."""
    if len(node.ops) == 1 and type(node.ops[0]) in OPPOSITE:
        yield replaced(node, ops=[OPPOSITE[type(node.ops[0])]()])
