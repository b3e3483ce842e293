"""An answer whose values are right and whose type is not: another dtype, another container."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.course.stage import Stage
from grader.diagnosis.replay import same_array
from grader.outcome import Diagnosis

WIDE = (
    "Something in it is float64: np.sqrt(d) of a whole number, np.zeros(shape) and np.random give float64, and float32 "
    "times float64 is float64. A plain Python number, such as d ** 0.5, leaves float32 as it is."
)


def same(recorded: Any, local: Any, stage: Stage) -> bool:
    """Say whether two answers hold the same values, within the tolerance of a stage."""
    if isinstance(recorded, (list, tuple)) and isinstance(local, (list, tuple)):
        return len(recorded) == len(local) and all(same(a, b, stage) for a, b in zip(recorded, local, strict=True))
    if type(recorded) is type(local) is dict:
        return recorded.keys() == local.keys() and all(same(recorded[key], local[key], stage) for key in recorded)
    if isinstance(recorded, (np.ndarray, np.generic, float)):
        return same_array(recorded, local, stage.tolerance, False)
    if isinstance(recorded, (bool, int, str, bytes)):
        return type(recorded) is type(local) and bool(recorded == local)
    return recorded is None and local is None


def another_type(label: str, recorded: Any, local: Any, stage: Stage, row: str) -> Diagnosis | None:
    """Return what is told of an answer whose values are right, and whose dtype or container is not."""
    if _is_wrapped(recorded, local) and same(recorded.item(), np.asarray(local).item(), stage):
        text = (
            f"The value of {label} is right; it is in an array of shape {recorded.shape}, where a number is asked for."
        )
        return Diagnosis("another-container", row, text, "Return the number itself, without an axis around it.")
    if isinstance(recorded, np.ndarray) and isinstance(local, (np.ndarray, np.generic)):
        return _another_dtype(label, recorded, np.asarray(local), row)
    if {type(recorded), type(local)} == {list, tuple} and same(recorded, local, stage):
        return _another_container(label, type(recorded).__name__, type(local).__name__, row)
    pairs = list(_pairs(recorded, local))
    told = [_another_dtype(label, *pair, row) for pair in pairs if _are_unlike(*pair)]
    is_right = all(same(*pair, stage) for pair in pairs if not _are_unlike(*pair))
    return told[0] if is_right and told and None not in told else None


def _is_wrapped(one: Any, other: Any) -> bool:
    """Say whether one is a number in an array with axes, and the other is a number."""
    is_number = isinstance(other, (int, float, np.number)) or (isinstance(other, np.ndarray) and not other.ndim)
    return isinstance(one, np.ndarray) and one.size == 1 and one.ndim > 0 and is_number


def _are_unlike(one: Any, other: Any) -> bool:
    """Say whether two values are arrays of different dtypes."""
    return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype != other.dtype


def _another_container(label: str, mine: str, theirs: str, row: str) -> Diagnosis:
    text = f"What is in the answer of {label} is right; it is a {mine}, where a {theirs} is asked for."
    return Diagnosis("another-container", row, text, f"Return it as a {theirs}: `{theirs}(…)`.")


def _pairs(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the values of two tables or tuples of one form that stand in the same places."""
    if type(one) is type(other) is tuple and len(one) == len(other):
        for pair in zip(one, other, strict=True):
            yield from _pairs(*pair)
    elif type(one) is type(other) is dict and one.keys() == other.keys():
        for key in one:
            yield from _pairs(one[key], other[key])
    else:
        yield one, other


def _another_dtype(label: str, mine: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any], row: str) -> Diagnosis | None:
    if (
        mine.dtype == theirs.dtype
        or mine.shape != theirs.shape
        or not {mine.dtype.kind, theirs.dtype.kind} <= set("biuf")
    ):
        return None
    coarse = 1e-3 if "float16" in (str(mine.dtype), str(theirs.dtype)) else 1e-4
    with np.errstate(all="ignore"):
        if not np.allclose(mine.astype(float), theirs.astype(float), rtol=coarse, atol=coarse, equal_nan=True):
            return None
    text = f"The values of {label} are right; they are {mine.dtype}, where {theirs.dtype} is asked for."
    wide = mine.dtype == np.float64 and theirs.dtype == np.float32
    return Diagnosis(
        "another-dtype", row, text, WIDE if wide else f"Make the result {theirs.dtype}, as the docstring says."
    )
