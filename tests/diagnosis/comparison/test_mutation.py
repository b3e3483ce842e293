"""Arrays that were changed in place, held against what was taken of them before."""

from __future__ import annotations

import numpy as np

from grader.diagnosis.comparison.difference import mutation

X = np.array([1.0, 2.0, 3.0])


def test_another_shape_or_dtype_is_told_before_values() -> None:
    assert mutation(X.reshape(3, 1), X, (3,), X.dtype) == "its shape was (3,) and is (3, 1) now"
    assert mutation(X.astype(np.float32), X, (3,), X.dtype) == "its dtype was float64 and is float32 now"


def test_bytes_count_so_that_nan_is_as_it_was() -> None:
    nan = np.array([np.nan, 0.0])
    assert mutation(nan, nan.copy(), (2,), nan.dtype) is None
    assert mutation(np.array([np.nan, -0.0]), nan, (2,), nan.dtype) is not None
