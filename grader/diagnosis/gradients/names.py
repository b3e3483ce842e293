"""Which gradient is which: the names of what a backward pass returns, and the inputs and parameters they belong to."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.diagnosis.calls import parameter_names
from grader.sandbox.record import Record

BACKWARD = re.compile(r"(^|_)backward$|_gradient$|^gradient$")
ALL_KEPT = re.compile(r"^(get_)?grad(s|ient|ients)?$")  # an attribute or method that gives gradients
KEPT = re.compile(rf"{ALL_KEPT.pattern}|^grad(ient)?_\w+$")
DEEPEST = 3  # containers in one another
_PREFIX = re.compile(r"^(grad(ient)?_|d_)")
_NAMED = re.compile(r"\(\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)+)\s*\)")


@dataclass(frozen=True)
class Pair:
    """One value that a backward pass gave, beside the reference's; of is what it is the gradient of, where known."""

    name: str
    of: str
    got: Any
    expected: Any


def is_about_gradients(functions: tuple[str, ...]) -> bool:
    """Say whether a row is about gradients, by the names of its functions.

    >>> is_about_gradients(("Dense.backward", "Dense")), is_about_gradients(("backward_substitution",))
    (True, False)
    """
    last = [name.rpartition(".")[2] for name in functions]
    return any(BACKWARD.search(name) or ALL_KEPT.search(name) for name in last)


def is_backward(record: Record) -> bool:
    """Say whether a request runs a backward pass or computes a gradient."""
    return record.kind == "call" and bool(BACKWARD.search(record.label.rpartition(".")[2]))


def reads_gradients(record: Record) -> bool:
    """Say whether a request reads gradients that an earlier one left behind."""
    last = record.label.rpartition(".")[2]
    return record.kind in ("getattr", "call") and bool(KEPT.search(last)) and not is_backward(record)


def pairs(record: Record, local: Any, module: types.ModuleType, earlier: list[Record]) -> Iterator[Pair]:
    """Yield what one request gave beside the reference's answer, each array by its name."""
    if is_backward(record):
        yield from _returned(record, local, module, earlier)
        return
    name = record.label.rpartition(".")[2]
    yield from _parts(name, "" if isinstance(local, dict) else _belongs(name), record.result, local)


def _returned(record: Record, local: Any, module: types.ModuleType, earlier: list[Record]) -> Iterator[Pair]:
    if not isinstance(local, tuple):
        of = _only_input(record, local, module, earlier)
        yield from _parts(f"grad_{of}" if of else "result", of, record.result, local)
        return
    if not isinstance(record.result, (tuple, list)) or len(record.result) != len(local):
        return
    names = documented(_target(module, record.label), len(local))
    for name, got, expected in zip(names, record.result, local, strict=True):
        yield from _parts(name, _belongs(name), got, expected)


def _parts(name: str, of: str, got: Any, expected: Any, depth: int = 0) -> Iterator[Pair]:
    """Yield a value, or those of a dict by their keys; what has no counterpart is left out."""
    if isinstance(expected, dict):
        if not isinstance(got, dict) or depth == DEEPEST:
            return
        for key, value in expected.items():
            if key in got:
                yield from _parts(f"{name}[{key!r}]", str(key), got[key], value, depth + 1)
    elif isinstance(expected, (tuple, list)):
        if isinstance(got, (tuple, list)) and len(got) == len(expected) and depth < DEEPEST:
            for place, each in enumerate(zip(got, expected, strict=True)):
                yield from _parts(f"{name}[{place}]", of, *each, depth + 1)
    else:
        yield Pair(name, of, got, expected)


def documented(target: Any, count: int) -> list[str]:
    """Return the names of what a function returns, from its docstring; where it names none, their places.

    >>> def backward(grad_output, cache):
    ...     "Return (grad_x, grad_W) of the last call."
    >>> documented(backward, 2), documented(backward, 3)
    (['grad_x', 'grad_W'], ['result[0]', 'result[1]', 'result[2]'])
    """
    for found in _NAMED.finditer(inspect.getdoc(target) or ""):
        names = [name.strip() for name in found[1].split(",")]
        if len(names) == count and all(_PREFIX.match(name) for name in names):
            return names
    return [f"result[{place}]" for place in range(count)]


def _belongs(name: str) -> str:
    """Return what a gradient is of by its name, as grad_W is of W; empty where the name does not say."""
    return _PREFIX.sub("", name) if _PREFIX.match(name) else ""


def _target(module: types.ModuleType, label: str) -> Any:
    target: Any = module
    for part in label.split("."):
        target = getattr(target, part, None)
    return target


def _only_input(record: Record, local: Any, module: types.ModuleType, earlier: list[Record]) -> str:
    """Return the first argument of the forward call before a backward one, where the gradient has its shape.

    A single gradient is that of what comes first: the others are parameters, and kept apart.
    """
    owner, dot, last = record.label.rpartition(".")
    stem = last.removesuffix("_backward")
    forwards = (
        {f"{owner}{dot}forward"} if last == "backward" else {f"{owner}{dot}{stem}", f"{owner}{dot}{stem}_forward"}
    )
    call = next((each for each in reversed(earlier) if each.kind == "call" and each.label in forwards), None)
    first = call.args[0] if call is not None and call.args else None
    names = parameter_names(module, call.label) if call is not None else []
    alike = isinstance(first, np.ndarray) and isinstance(local, np.ndarray) and first.shape == local.shape
    return names[0] if alike and names else ""
