"""Two answers that should differ: what is no array of finite numbers differs from nothing."""

from __future__ import annotations

import numpy as np

from grader.testing import assert_differ
from grader.tests.testing.refusing import X, refused


def test_answers_that_differ_pass() -> None:
    assert_differ(X, X + 1.0, shape=X.shape, name="weights of two layers", everywhere=True)
    assert_differ(np.arange(3), np.zeros(3, np.int64), shape=(3,), name="two draws", dtype=int)


def test_arrays_of_nan_are_refused_by_the_name_of_both() -> None:
    nan = np.full((3,), np.nan)
    error = refused(assert_differ, nan, nan.copy(), shape=(3,), name="weights of two layers")
    assert str(error) == (
        "weights of two layers: the first: shape (3,) is right; all 3 values are NaN, and finite ones were expected"
    )
    assert error.name == "weights of two layers" and error.difference is not None and error.actual is nan


def test_equal_answers_are_refused() -> None:
    assert "equal in both" in str(refused(assert_differ, X, X.copy(), shape=X.shape, name="weights"))
