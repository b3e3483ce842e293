"""What can be asked of an object: a call, an attribute, or one of Python's operators by its name."""

from __future__ import annotations

import operator
import tracemalloc
from collections.abc import Callable
from typing import Any

OPERATIONS: dict[str, Callable[..., Any]] = {
    "len": len, "iter": iter, "next": next, "bool": bool, "float": float, "int": int, "complex": complex,
    "repr": repr, "str": str, "abs": abs, "neg": operator.neg, "pos": operator.pos, "invert": operator.invert,
    "getitem": operator.getitem, "setitem": operator.setitem, "delitem": operator.delitem,
    "contains": operator.contains,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
IN_PLACE = frozenset(
    ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor")
)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"):
    _function = getattr(operator, _name)
    OPERATIONS[_name.strip("_")] = _function
    OPERATIONS["r" + _name.strip("_")] = lambda a, b, _f=_function: _f(b, a)
    OPERATIONS["i" + _name.strip("_")] = getattr(operator, "i" + _name.strip("_"))  # a += b, by __iadd__ or __add__


def perform(kind: str, target: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Do what a request asks of its target, and return what comes of it."""
    if kind == "call":
        return (getattr(target, name) if name else target)(*args, **kwargs)
    if kind == "traced":
        return traced(target, *args, **kwargs)
    if kind == "getattr":
        return getattr(target, name)
    if kind == "setattr":
        return setattr(target, name, args[0])
    return OPERATIONS[name](target, *args)


def traced(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, int]:
    """Return what a call returns, and how many bytes more than before it held at most, its result among them.

    The figure explains and proves nothing: the code that is measured can stop tracemalloc, or reset its peak. Of a
    generator it says what making it took.
    """
    is_new = not tracemalloc.is_tracing()
    if is_new:
        tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        result = function(*args, **kwargs)
        return result, max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if is_new:
            tracemalloc.stop()
