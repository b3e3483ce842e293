"""What functions, axes and operators are called in a sentence."""

from __future__ import annotations

import ast
from collections.abc import Mapping

NOUNS = {
    "sqrt": "the square root", "exp": "the exponential", "log": "the logarithm", "log1p": "log(1 + …)",
    "sum": "the sum", "mean": "the mean", "max": "the maximum", "min": "the minimum", "maximum": "the maximum",
    "minimum": "the minimum", "var": "the variance", "std": "the standard deviation", "abs": "the absolute value",
    "absolute": "the absolute value", "tanh": "tanh", "sin": "the sine", "cos": "the cosine", "square": "the square",
    "cumsum": "the running sum", "argmax": "the place of the maximum", "argmin": "the place of the minimum",
    "argsort": "the order", "sort": "the sorting", "sorted": "the sorting", "norm": "the norm", "len": "the length",
    "prod": "the product", "round": "the rounding", "triu": "the upper triangle", "tril": "the lower triangle",
    "copy": "the copy", "zeros": "an array of zeros", "ones": "an array of ones", "zeros_like": "an array of zeros",
    "ones_like": "an array of ones", "expm1": "exp(…) - 1", "floor": "rounding down", "ceil": "rounding up",
    "cumprod": "the running product", "any": "any", "all": "all", "median": "the median",
    "log2": "the logarithm to base 2", "log10": "the logarithm to base 10", "clip": "the clipping",
    "swapaxes": "the transpose", "transpose": "the transpose", "append": "`append`", "extend": "`extend`",
    "exp2": "the power of 2", "matmul": "the matrix product", "range": "the range",
    "multiply": "the elementwise product", "sign": "the sign", "diag": "the diagonal", "trace": "the trace",
    "outer": "the outer product", "inner": "the inner product", "lower": "lower case", "upper": "upper case",
    "split": "the split", "reversed": "the reversed order", "standard_normal": "normal numbers",
    "normal": "normal numbers", "uniform": "uniform numbers", "permutation": "the permutation", "row": "the row",
    "column": "the column", "real": "the real part", "imag": "the imaginary part", "unique": "the unique values",
}  # fmt: skip
MADE = ("an array of zeros", "an array of ones", "normal numbers", "uniform numbers")  # nouns of what is made anew
AXES = {-1: "last", -2: "second-to-last", -3: "third-to-last", 0: "first", 1: "second", 2: "third", 3: "fourth"}
LIBRARIES = ("np", "math", "random", "linalg", "numpy", "itertools", "functools", "collections", "re", "heapq")
SYMBOLS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not", ast.BitAnd: "&", ast.BitOr: "|",
}  # fmt: skip


def axis_named(place: object) -> str:
    """Return what an axis is called: the last axis, axis 5."""
    return f"the {AXES[place]} axis" if isinstance(place, int) and place in AXES else f"axis {place}"


def lacking(name: str, noun: str, what: str | None) -> str:
    """Return what is said of a function that was not applied to a value; noun is what it is called."""
    if noun in MADE:
        return f"{noun} were not made"
    if noun.startswith("`"):
        return f"{noun} were not called" + (f" for {what}" if what else "")
    if not noun.startswith("the ") and name in NOUNS:
        return f"{noun} were not applied" + (f" to {what}" if what else "")
    done = "done" if noun.endswith(("ing", "split")) else "made" if noun == "the copy" else "taken"
    return f"{noun}{f' of {what}' if what else ''} were not {done}"
