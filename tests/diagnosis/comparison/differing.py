"""What is told of two values that differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.diagnosis.comparison import Difference, compare, describe

X = np.array([[1.0, 2.0, 4.0], [7.0, 11.0, 16.0]])


def differ(actual: object, expected: object, rtol: float = 1e-9, atol: float = 0.0, **options: Any) -> Difference:
    difference = compare(actual, expected, rtol, atol, options.pop("equal_nan", False), **options)
    assert difference is not None
    return difference


def told(actual: object, expected: object, **options: Any) -> str:
    return describe(differ(actual, expected, **options))
