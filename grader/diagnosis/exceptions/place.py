"""The line that raised an exception: its operands as they are written, and the shapes that they had."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

Shape = tuple[int, ...]
MATMUL, DOT = "@", ("matmul", "dot")
MAX_NODES = 20_000  # of a module that is looked at


@dataclass(frozen=True)
class Operation:
    """Two operands that stand on a line, and their shapes where these are known."""

    left: ast.expr
    right: ast.expr
    shapes: tuple[Shape | None, Shape | None]

    @property
    def names(self) -> tuple[str, str]:
        return ast.unparse(self.left), ast.unparse(self.right)


@dataclass(frozen=True)
class Place:
    """A line of a module, the shapes that the function there had at hand (None of what was None), and names of axes."""

    source: str
    line: int
    seen: Mapping[str, Shape | None] = field(default_factory=dict)
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def tree(self) -> ast.Module:
        return _read(self.source)

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All that belongs to the statement on the line; of one with a body, its head."""
        return _statement(self.source, self.line)

    @property
    def is_raised_by_hand(self) -> bool:
        return any(isinstance(node, (ast.Raise, ast.Assert)) for node in self.nodes)

    def has(self, *kinds: type[ast.AST]) -> bool:
        return any(isinstance(node, kinds) for node in self.nodes)

    def calls(self, *names: str) -> bool:
        """Say whether a function or a method of such a name is called on the line."""
        return any(called(node) in names for node in self.nodes)

    def products(self) -> list[Operation]:
        """Return the matrix products on the line."""
        found = []
        for node in self.nodes:
            match node:
                case ast.BinOp(left, ast.MatMult(), right):
                    found.append(self._operation(left, right))
                case ast.Call(ast.Attribute(ast.Name("np" | "numpy"), "matmul" | "dot"), [left, right]):
                    found.append(self._operation(left, right))
                case ast.Call(ast.Attribute(left, "dot"), [right]):
                    found.append(self._operation(left, right))
        return found

    def computations(self) -> list[Operation]:
        """Return what is computed element by element on the line."""
        found = []
        for node in self.nodes:
            match node:
                case ast.BinOp(left, operator, right) if not isinstance(operator, ast.MatMult):
                    found.append(self._operation(left, right))
                case ast.Compare(left, [_], [right]):
                    found.append(self._operation(left, right))
        return found

    def _operation(self, left: ast.expr, right: ast.expr) -> Operation:
        return Operation(left, right, (self.shape(left), self.shape(right)))

    def shape(self, node: ast.expr) -> Shape | None:
        """Return the shape of an expression, where that is certain."""
        match node:
            case ast.Name() | ast.Attribute(ast.Name("self")) | ast.Subscript(ast.Name(), ast.Constant(str())):
                return self.seen.get(ast.unparse(node))
            case ast.Attribute(value, "T" | "mT" as kind):
                inner = self.shape(value)
                return inner[::-1] if inner and (kind == "T" or len(inner) == 2) else _swapped(inner)
            case ast.Call(ast.Attribute(value, "swapaxes"), [first, second]) if _last_two(first, second):
                return _swapped(self.shape(value))
            case ast.Call(ast.Attribute(ast.Name("np" | "numpy"), "swapaxes"), [value, first, second]) if _last_two(
                first, second
            ):
                return _swapped(self.shape(value))
            case ast.Constant(int() | float()):
                return ()
            case ast.BinOp(left, ast.MatMult(), right):
                return product(self.shape(left), self.shape(right))
            case ast.BinOp(left, _, right):
                return together(self.shape(left), self.shape(right))
            case ast.UnaryOp(ast.USub(), operand):
                return self.shape(operand)
        return None


@lru_cache(maxsize=2)
def _read(source: str) -> ast.Module:
    """Return a module; an empty one where it cannot be read, or is too large to be looked through."""
    try:
        found = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])
    return found if sum(1 for _ in ast.walk(found)) <= MAX_NODES else ast.Module([], [])


@lru_cache(maxsize=64)  # many tests of a module end on the same line
def _statement(source: str, line: int) -> tuple[ast.AST, ...]:
    """Return the nodes of the innermost statement on a line, without those of its body; none where there is none."""
    around = [node for node in ast.walk(_read(source)) if isinstance(node, ast.stmt) and _covers(node, line)]
    if not around:
        return ()
    return tuple(_head(min(around, key=lambda node: (node.end_lineno or node.lineno) - node.lineno)))


def called(node: ast.AST) -> str:
    """Return the name of the function or method that a node calls; empty where it calls none."""
    match node:
        case ast.Call(ast.Name(name)) | ast.Call(ast.Attribute(_, name)):
            return name
    return ""


def product(left: Shape | None, right: Shape | None) -> Shape | None:
    """Return the shape of a matrix product of two matrices, or stacks of them; None where there is none."""
    if left is None or right is None or len(left) < 2 or len(right) < 2 or left[-1] != right[-2]:
        return None
    leading = together(left[:-2], right[:-2])
    return None if leading is None else (*leading, left[-2], right[-1])


def together(left: Shape | None, right: Shape | None) -> Shape | None:
    """Return the shape to which two broadcast; None where they do not."""
    if left is None or right is None:
        return None
    rank = max(len(left), len(right))
    pairs = list(zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right, strict=True))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        return None
    return tuple(b if a == 1 else a for a, b in pairs)


def _swapped(shape: Shape | None) -> Shape | None:
    return (*shape[:-2], shape[-1], shape[-2]) if shape is not None and len(shape) > 1 else None


def _last_two(first: ast.expr, second: ast.expr) -> bool:
    return {ast.unparse(first), ast.unparse(second)} == {"-1", "-2"}


def _covers(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _head(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield a statement and what is in it, but for statements within it and functions that run elsewhere."""
    queue: list[ast.AST] = [node]
    while queue:
        each = queue.pop(0)
        yield each
        queue += [
            child
            for child in ast.iter_child_nodes(each)
            if not isinstance(child, (ast.stmt, ast.Lambda, ast.excepthandler))
        ]
