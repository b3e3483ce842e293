"""Why two answers do not count as different: one is no array of finite numbers of its shape, or both are equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.diagnosis.comparison.difference import Difference, compare, describe
from grader.diagnosis.comparison.distance import Array
from grader.diagnosis.comparison.wording import Shape


@dataclass(frozen=True)
class Likeness:
    """Why two answers do not differ, in words; the answer that is wrong, and how, where it is one alone."""

    text: str
    actual: object
    difference: Difference | None = None


def likeness(one: object, other: object, shape: Shape, dtype: object, everywhere: bool) -> Likeness | None:
    """Why two answers are not arrays of this shape and kind of dtype that differ; None where they differ.

    With everywhere no value may be equal to its counterpart. What is NaN or infinite differs from nothing.

    >>> likeness(np.ones(2), np.full(2, np.nan), (2,), float, everywhere=False).text
    'the second: shape (2,) is right; all 2 values are NaN, and finite ones were expected'
    """
    pattern = np.zeros(shape, dtype=dtype)  # type: ignore[call-overload]  # any name of a dtype
    for which, value in (("first", one), ("second", other)):
        difference = compare(value, pattern, 0.0, 0.0, equal_nan=False)
        if difference is not None and difference.kind != "values":
            return Likeness(f"the {which}: {_problem(difference)}", value, difference)
    equal: Array = np.equal(np.asarray(one), np.asarray(other))
    if equal.all() or (everywhere and equal.any()):
        return Likeness(_equal(equal, everywhere), other)
    return None


def _problem(difference: Difference) -> str:
    if difference.kind != "non-finite":
        return describe(difference)
    shape = difference.expected_shape
    wanted = "finite ones were expected" if shape else "a finite one was expected"
    return f"{f'shape {shape} is right; ' if shape else ''}{difference.problem}, and {wanted}"


def _equal(equal: np.ndarray[Any, Any], everywhere: bool) -> str:
    count = int(equal.sum())
    share = f"all {equal.size} values" if count == equal.size else f"{count} of {equal.size} values"
    wanted = "none should be" if everywhere else "some should differ"
    return f"{share} are equal in both, and {wanted}"
