"""When two results are the same array, within the stage's tolerance and exactly."""

from __future__ import annotations

import numpy as np
import pytest

from grader.course.stage import Tolerance
from grader.diagnosis.replay import same_array


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (np.ones(2), np.ones(2), True),
        (np.ones(2), np.ones(3), False),
        (np.ones(2), np.ones(2, int), False),
        (np.ones(2), np.ones(2) + 1e-12, True),
        (np.ones(2), np.ones(2) + 1e-4, False),
        (np.ones(2, "f4"), np.ones(2) + 1e-6, True),
        (np.array([np.nan, 1]), np.array([np.nan, 1]), True),
        (np.array([np.nan, 1]), np.array([1, np.nan]), False),
        (np.array([np.inf]), np.array([-np.inf]), False),
        (np.array([1e300, 1]), np.array([1e300, 1]), True),
        (1.0, np.float64(1.0), True),
        (np.array([True]), np.array([True]), True),
        (np.array([None]), np.array([None]), False),
        ([[1], [2, 3]], np.ones(2), False),
        (np.empty(0), np.empty(0), True),
    ],
    ids=str,
)
def test_the_same_array(a: object, b: object, same: bool) -> None:
    assert same_array(a, b, Tolerance(), exact=False) is same


def test_exactly_the_same_array_has_its_dtype_too() -> None:
    assert same_array(np.ones(2), np.ones(2), Tolerance(), exact=True)
    assert not same_array(np.ones(2), np.ones(2, "f4"), Tolerance(), exact=True)
