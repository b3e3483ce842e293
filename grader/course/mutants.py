"""Small wrong changes to a reference solution, made on its syntax tree: a test suite should notice each of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Mod,), ast.Mod: (ast.FloorDiv,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
}  # fmt: skip
ORDERED = (ast.Sub, ast.Div, ast.MatMult, ast.Pow, ast.FloorDiv, ast.Mod)  # swapping their operands matters
TERMS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.BitAnd, ast.BitOr, ast.MatMult)  # one operand may be dropped
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
PARTNERS = {
    one: other
    for pair in (
        ("maximum", "minimum"), ("max", "min"), ("sum", "mean"), ("argmax", "argmin"), ("zeros", "ones"),
        ("zeros_like", "ones_like"), ("triu", "tril"), ("sin", "cos"), ("any", "all"), ("floor", "ceil"),
        ("cumsum", "cumprod"), ("exp", "expm1"), ("log", "log1p"), ("logical_and", "logical_or"), ("var", "std"),
        ("row", "column"), ("append", "extend"), ("real", "imag"),
    )
    for one, other in (pair, pair[::-1])
}  # fmt: skip
EITHER_WAY = {"result_type", "max", "min", "maximum", "minimum", "swapaxes", "logical_and", "logical_or", "allclose"}
GUARDS = {"strict"}  # keywords that do nothing where all is well


def changed_statements(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield what may stand in a statement's place: nothing, another condition, another order, another error."""
    if isinstance(node, ast.If):
        yield replaced(node, test=ast.Constant(False))
        if not isinstance(node.body[0], ast.Raise):
            yield replaced(node, test=ast.Constant(True))
    elif isinstance(node, (ast.For, ast.While)):
        yield replaced(node, **({"iter": _empty()} if isinstance(node, ast.For) else {"test": ast.Constant(False)}))
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
        yield replaced(node, exc=replaced(node.exc, func=ast.Name("Exception", ast.Load())))
    elif isinstance(node, ast.AugAssign):
        yield ast.Pass()
        for other in OPERATORS.get(type(node.op), ()):
            yield replaced(node, op=other())
    elif isinstance(node, ast.Expr) or (isinstance(node, ast.Assign) and _may_go(node)):
        yield ast.Pass()


def _may_go(node: ast.Assign) -> bool:
    """Say whether the names of an assignment stand without it: it sets parts of something, or a name anew."""
    targets = [each for target in node.targets for each in ast.walk(target)]
    names = {each.id for each in targets if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return names <= {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}


def changed_expressions(node: ast.AST, holder: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in an expression's place inside of its holder."""
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)) or getattr(holder, "arg", None) in GUARDS:
        return
    match node:
        case ast.BinOp():
            yield from _operations(node, holder)
        case ast.Compare():
            yield from _comparisons(node)
        case ast.BoolOp():
            yield replaced(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
            yield from _one_less(node)
        case ast.UnaryOp(operand=ast.Constant(value=int() | float() as number), op=ast.USub()):
            yield from _numbers(-number)
        case ast.UnaryOp():
            yield node.operand
        case ast.Constant():
            yield from _constants(node, holder)
        case ast.IfExp():
            yield from (node.body, node.orelse)
        case ast.Call():
            yield from _calls(node)
        case ast.Attribute() if node.attr in PARTNERS and isinstance(holder, ast.Call) and holder.func is node:
            yield replaced(node, attr=PARTNERS[node.attr])
        case ast.Attribute(attr="T"):
            yield node.value
        case ast.Slice():
            yield from _slices(node)
        case ast.Tuple() | ast.List() if not isinstance(holder, ast.Compare):
            yield from _swapped(node, "elts")
        case ast.comprehension(ifs=[_, *_]):
            yield replaced(node, ifs=[])


def _operations(node: ast.BinOp, holder: ast.AST) -> Iterator[ast.AST]:
    for other in OPERATORS.get(type(node.op), ()):
        yield replaced(node, op=other())
    if isinstance(node.op, ORDERED) and not (isinstance(node.op, ast.Sub) and _is_square(holder)):
        yield replaced(node, left=node.right, right=node.left)
    if isinstance(node.op, TERMS):
        yield from (node.left, node.right)
    if isinstance(node.op, ast.Pow):
        yield node.left


def _is_square(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and ast.unparse(node.right) == "2"


def _comparisons(node: ast.Compare) -> Iterator[ast.AST]:
    for place, operator in enumerate(node.ops):
        for other in COMPARISONS[type(operator)]:
            yield replaced(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])


def _constants(node: ast.Constant, holder: ast.AST) -> Iterator[ast.AST]:
    """Yield other constants; a text is changed only where it is a key, is compared, or is an argument's default."""
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, (int, float)) and not _is_negated(holder):
        yield from _numbers(node.value)
    elif isinstance(node.value, str) and (
        isinstance(holder, (ast.Subscript, ast.Compare, ast.arguments))
        or (isinstance(holder, ast.Dict) and any(node is key for key in holder.keys))
    ):
        yield ast.Constant(f"{node.value}_")


def _is_negated(holder: ast.AST) -> bool:
    return isinstance(holder, ast.UnaryOp) and isinstance(holder.op, ast.USub)


def _numbers(number: int | float) -> Iterator[ast.AST]:
    wrong = (number + 1, number - 1) if isinstance(number, int) else (number * 2, -number)
    for value in wrong if number else (1,):
        yield ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    """Yield a call with arguments swapped or a keyword left out, and what it was applied to instead of it."""
    if getattr(node.func, "attr", getattr(node.func, "id", "")) not in EITHER_WAY:
        yield from _swapped(node, "args")
    for place, keyword in enumerate(node.keywords):
        if keyword.arg is not None and keyword.arg not in GUARDS:
            yield replaced(node, keywords=[*node.keywords[:place], *node.keywords[place + 1 :]])
    is_method = isinstance(node.func, ast.Attribute) and not _is_module(node.func.value)
    if is_method and isinstance(node.func, ast.Attribute):
        yield node.func.value
    if node.args and not isinstance(node.args[0], (ast.Starred, ast.GeneratorExp, ast.Constant)):
        yield node.args[0]


def _is_module(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id in ("np", "math", "self")) or (
        isinstance(node, ast.Attribute) and _is_module(node.value)
    )


def _slices(node: ast.Slice) -> Iterator[ast.AST]:
    for bound in ("lower", "upper", "step"):
        value = getattr(node, bound)
        if value is None:
            continue
        yield replaced(node, **{bound: None})
        if not isinstance(value, (ast.Constant, ast.UnaryOp)):
            yield replaced(node, **{bound: ast.BinOp(value, ast.Add(), ast.Constant(1))})
            yield replaced(node, **{bound: ast.BinOp(value, ast.Sub(), ast.Constant(1))})


def _swapped(node: ast.AST, field: str) -> Iterator[ast.AST]:
    """Yield the node with each two neighbours of a list swapped; a text names things in errors and stays."""
    items = getattr(node, field)
    for place in range(len(items) - 1):
        if not any(_is_fixed(item) for item in items[place : place + 2]):
            yield replaced(node, **{field: [*items[:place], items[place + 1], items[place], *items[place + 2 :]]})


def _is_fixed(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _one_less(node: ast.BoolOp) -> Iterator[ast.AST]:
    for place in range(len(node.values)):
        rest = [*node.values[:place], *node.values[place + 1 :]]
        yield rest[0] if len(rest) == 1 else replaced(node, values=rest)


def replaced(node: Any, **fields: Any) -> Any:
    """Return a shallow copy of a node with other fields."""
    fresh = node.__class__.__new__(node.__class__)  # a tenth of the time that copy.copy takes
    vars(fresh).update(vars(node), **fields)
    return fresh


def _empty() -> ast.expr:
    return ast.Tuple([], ast.Load())


BETWEEN = "\n\n\n"  # two statements of a module


@dataclass(frozen=True)
class Mutant:
    """A reference with one change; was and now are the changed statement's first line before and after.

    span holds the first and the last line of what has to run for the change to matter; None where any test may tell.
    """

    function: str
    line: int
    was: str
    now: str
    source: str
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class NodePlace:
    """Where a node hangs: holder.field or, in a list, holder.field[index]; statement is the innermost around it."""

    holder: ast.AST
    field: str
    index: int | None
    function: str
    statement: ast.stmt

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.holder, self.field, node)
        else:
            getattr(self.holder, self.field)[self.index] = node


def mutants(source: str) -> list[Mutant]:
    """Return every mutant of a module's functions and classes, in the order of its lines, each text once."""
    tree = without_docstrings(ast.parse(source))
    chunks = _chunks(tree)
    found: dict[str, Mutant] = {}
    for number, top in enumerate(tree.body):
        if not isinstance(top, (ast.FunctionDef, ast.ClassDef)):
            continue
        for mutant in _of_definition(tree, number, top, chunks):
            found.setdefault(mutant.source, mutant)
    found.pop(BETWEEN.join(chunks), None)
    return sorted(found.values(), key=lambda mutant: mutant.line)


def plain(source: str) -> str:
    """Return a module's text in the form that its mutants have: without comments and docstrings, a statement a line."""
    return BETWEEN.join(_chunks(without_docstrings(ast.parse(source))))


def _chunks(tree: ast.Module) -> list[str]:
    return [ast.unparse(node) for node in tree.body]


def _of_definition(
    tree: ast.Module, number: int, top: ast.FunctionDef | ast.ClassDef, chunks: list[str]
) -> Iterator[Mutant]:
    inside = _in_functions(top)
    for place, node in list(places(tree, "body", number, top, top.name)):
        was = _headline(place.statement)
        changes = changed_statements(node) if isinstance(node, ast.stmt) else changed_expressions(node, place.holder)
        for change in changes:
            place.put(change)
            now = _headline(change if isinstance(change, ast.stmt) else place.statement)
            source = BETWEEN.join([*chunks[:number], ast.unparse(tree.body[number]), *chunks[number + 1 :]])
            place.put(node)
            yield Mutant(place.function, place.statement.lineno, was, now, source, inside.get(id(place.statement)))


def _in_functions(top: ast.stmt) -> dict[int, tuple[int, int]]:
    """Return the lines of each statement that runs when a function is called, not when the module is loaded.

    A function's own head, with its defaults, matters once any of its lines runs.
    """
    functions = [node for node in ast.walk(top) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    found = (node for function in functions for node in ast.walk(function) if isinstance(node, ast.stmt))
    return {id(node): (node.lineno, node.end_lineno or node.lineno) for node in found if hasattr(node, "lineno")}


def places(
    holder: ast.AST, field: str, index: int | None, node: ast.AST, function: str, statement: ast.stmt | None = None
) -> Iterator[tuple[NodePlace, ast.AST]]:
    """Yield each node that may be changed; texts of errors, annotations and decorators are left as they are."""
    statement = node if isinstance(node, ast.stmt) else statement
    assert statement is not None
    yield NodePlace(holder, field, index, function, statement), node
    if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)):
        return
    for name, value in ast.iter_fields(node):
        if name in ("decorator_list", "annotation", "returns", "bases", "ctx", "op", "ops"):
            continue
        for number, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST):
                continue
            inner = f"{function}.{child.name}" if isinstance(child, (ast.FunctionDef, ast.ClassDef)) else function
            yield from places(node, name, number if isinstance(value, list) else None, child, inner, statement)


def _headline(statement: ast.stmt) -> str:
    """Return a statement as one line; of a compound one what stands before its colon, of a definition its def."""
    lines = ast.unparse(statement).splitlines()
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return next(line for line in lines if not line.startswith("@"))
    return lines[0]


BODIES = ("body", "orelse", "finalbody", "handlers", "cases")  # of a compound statement


def without_docstrings(tree: ast.Module) -> ast.Module:
    waiting: list[Any] = [tree]
    for node in waiting:
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        waiting += [each for name in BODIES for each in getattr(node, name, ())]
    return tree


def reach(source: str) -> Callable[[str], set[str]]:
    """Return what tells the functions and classes of a module that one of them, by its full name, may come to use."""
    uses: dict[str, set[str]] = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            uses[node.name] = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}

    def reached(name: str) -> set[str]:
        found: set[str] = set()
        waiting = [name.partition(".")[0]]
        while waiting:
            here = waiting.pop()
            if here not in found and here in uses:
                found.add(here)
                waiting += uses[here]
        return found

    return reached
