"""How a value of the reference is called by somebody who has never seen it: its public name, or what it is made of."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

NOUNS = {
    "sqrt": "the square root", "exp": "the exponential", "log": "the logarithm", "log1p": "log(1 + …)", "sum": "the sum",
    "mean": "the mean", "max": "the maximum", "min": "the minimum", "maximum": "the maximum", "minimum": "the minimum",
    "var": "the variance", "std": "the standard deviation", "abs": "the absolute value", "absolute": "the absolute value",
    "tanh": "tanh", "sin": "the sine", "cos": "the cosine", "square": "the square", "cumsum": "the running sum",
    "argmax": "the place of the maximum", "argmin": "the place of the minimum", "argsort": "the order", "sort": "the sorting",
    "sorted": "the sorting", "norm": "the norm", "len": "the length", "prod": "the product", "round": "the rounding",
    "triu": "the upper triangle", "tril": "the lower triangle", "copy": "the copy", "zeros": "zeros", "ones": "ones",
    "zeros_like": "zeros", "ones_like": "ones", "expm1": "exp(…) - 1", "floor": "rounding down", "ceil": "rounding up",
    "cumprod": "the running product", "any": "any", "all": "all", "median": "the median", "log2": "the logarithm to base 2",
    "log10": "the logarithm to base 10", "clip": "the clipping", "swapaxes": "the transpose", "transpose": "the transpose",
    "append": "append", "extend": "extend", "exp2": "the power of 2", "matmul": "the matrix product", "range": "the range",
    "multiply": "the elementwise product", "sign": "the sign", "diag": "the diagonal", "trace": "the trace", "outer": "the outer product",
    "inner": "the inner product", "lower": "lower case", "upper": "upper case", "split": "the split", "reversed": "the reversed order",
    "standard_normal": "normal numbers", "normal": "normal numbers", "uniform": "uniform numbers", "permutation": "the permutation",
    "row": "the row", "column": "the column", "real": "the real part", "imag": "the imaginary part", "unique": "the unique values",
}  # fmt: skip
AXES = {-1: "last", -2: "second-to-last", -3: "third-to-last", 0: "first", 1: "second", 2: "third"}
LIBRARIES = ("np", "math", "random", "linalg", "numpy", "itertools", "functools", "collections", "re", "heapq")
SYMBOLS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in",
    ast.Is: "is", ast.IsNot: "is not", ast.BitAnd: "&", ast.BitOr: "|",
}  # fmt: skip


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the names that stand in texts which a learner has: README, docstrings, signatures."""
    return frozenset(word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text))


@dataclass(frozen=True)
class Vocabulary:
    """What a learner knows by name: words of the texts, public functions, names of axes by function and argument.

    made is what each local name of one function was made of, where that is one assignment.
    """

    words: frozenset[str]
    functions: frozenset[str] = frozenset()
    axes: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()
    made: Mapping[str, ast.expr] = field(default_factory=dict)

    def phrase(self, node: ast.AST | None, depth: int = 0) -> str | None:
        """Return how a value is called; None where nothing short and known says it."""
        match node:
            case ast.Constant(value=bool() | None):
                return str(node.value)
            case ast.Constant(value=int() | float()):
                return f"{node.value:g}" if isinstance(node.value, float) else str(node.value)
            case ast.Constant(value=str()):
                return node.value if node.value.isidentifier() else repr(node.value)
            case ast.Name():
                return self._name(node, depth)
            case ast.Attribute():
                return self._attribute(node, depth)
            case ast.Subscript():
                return self._subscript(node, depth)
            case ast.Call():
                return self._call(node, depth)
            case ast.UnaryOp(op=ast.USub()):
                inner = self.phrase(node.operand, depth + 1)
                return inner and f"-{inner}"
            case ast.UnaryOp(op=ast.Invert() | ast.Not()):
                inner = self.phrase(node.operand, depth + 1)
                return inner and f"not {inner}"
            case ast.BinOp():
                return self._operation(node, depth)
        return None

    def term(self, node: ast.AST | None) -> str | None:
        """Return how a value is called, else what is known in it: the term with grad_output and the mean."""
        said = self.phrase(node)
        if said or node is None:
            return said
        found: list[str] = []
        for each in ast.walk(node):
            name = self._name(each, 2) if isinstance(each, ast.Name) else None
            key = each.slice.value if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Constant) else None
            noun = NOUNS.get(called(each)) if isinstance(each, ast.Call) else None
            public = called(each) if isinstance(each, ast.Call) and called(each) in self.functions else None
            known = public or name or (key if isinstance(key, str) else None) or noun
            found += [known] if known and known not in LIBRARIES and known != "self" else []
        names = list(dict.fromkeys(found))[:3]
        return f"the term with {' and '.join(names)}" if names else None

    def _name(self, node: ast.Name, depth: int) -> str | None:
        if not node.id.startswith("_") and (node.id in self.parameters or node.id in self.words):
            return node.id
        made = self.made.get(node.id)
        return self.phrase(made, depth + 1) if made is not None and depth < 2 else None

    def _attribute(self, node: ast.Attribute, depth: int) -> str | None:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return (
                node.attr
                if not node.attr.startswith("_") or node.attr in self.words
                else node.attr.strip("_")
                if node.attr.strip("_") in self.words
                else None
            )
        if node.attr == "T":
            inner = self.phrase(node.value, depth + 1)
            return inner and f"{inner} transposed"
        if node.attr in ("size", "ndim", "shape"):
            inner = self.phrase(node.value, depth + 1)
            said = {"size": "the number of entries", "ndim": "the number of axes", "shape": "the shape"}[node.attr]
            return inner and f"{said} of {inner}"
        return node.attr if node.attr in self.words and not node.attr.startswith("_") else None

    def _subscript(self, node: ast.Subscript, depth: int) -> str | None:
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return node.slice.value
        place = constant_of(node.slice)
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and isinstance(place, int):
            inner = self.phrase(node.value.value, depth + 1)
            which = AXES.get(place, f"{place}th")
            return f"the size of {inner}'s {which} axis" if inner else f"the size of the {which} axis"
        inner = self.phrase(node.value, depth + 1)
        return inner and f"a part of {inner}" if depth else inner and f"that part of {inner}"

    def _call(self, node: ast.Call, depth: int) -> str | None:
        name = called(node)
        if name in self.functions:
            of = next(filter(None, map(self._main, node.args)), "")
            return f"the result of {name} for {of}" if of else f"the result of {name}"
        noun = NOUNS.get(name)
        if noun is None:
            return None
        own = isinstance(node.func, ast.Attribute) and not is_library(node.func.value)
        source = (
            node.func.value if own and isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None
        )
        inner = self.phrase(source, depth + 1) if depth < 2 else None
        return f"{noun} of {inner}" if inner and " of " not in inner else noun

    def _main(self, node: ast.expr) -> str:
        """Return the first argument or key of a dict that an expression is made of."""
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id in self.parameters:
                return each.id
            if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Constant) and isinstance(each.slice.value, str):
                return each.slice.value
            if isinstance(each, ast.Name) and each.id in self.made and each is not self.made[each.id]:
                inner = self.made[each.id]
                return next((n.id for n in ast.walk(inner) if isinstance(n, ast.Name) and n.id in self.parameters), "")
        return ""

    def _operation(self, node: ast.BinOp, depth: int) -> str | None:
        if isinstance(node.op, ast.Pow) and constant_of(node.right) == 0.5:
            inner = self.phrase(node.left, depth + 1)
            return f"the square root of {inner}" if inner else "the square root"
        left, right = self.phrase(node.left, depth + 1), self.phrase(node.right, depth + 1)
        if depth > 1 or not left or not right:
            return None
        if isinstance(node.op, ast.MatMult):
            return f"the product of {left} and {right}"
        if " " in left or " " in right:
            said = {ast.Add: "sum", ast.Sub: "difference", ast.Mult: "product", ast.Div: "quotient"}.get(type(node.op))
            simple = said and " of " not in left + right
            return f"the {said} of {left} and {right}" if simple else None
        return f"({left} {SYMBOLS[type(node.op)]} {right})" if type(node.op) in SYMBOLS else None


def constant_of(node: ast.AST | None) -> object:
    """Return the number or text that a node is, a minus sign included; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        return -number if isinstance(number, (int, float)) else None
    return None


def called(node: ast.AST | None) -> str:
    """Return the last part of the name that a call calls; empty for what is no call."""
    function = node.func if isinstance(node, ast.Call) else None
    return str(getattr(function, "attr", getattr(function, "id", "")))


def is_library(node: ast.expr) -> bool:
    """Say whether an expression is a module such as np or np.linalg."""
    if isinstance(node, ast.Name):
        return node.id in LIBRARIES
    return isinstance(node, ast.Attribute) and node.attr in LIBRARIES and is_library(node.value)
