"""errors: distances without overflow, and which of them are too large."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.diagnosis.comparison.difference import errors, in_common

WHOLE = hnp.integer_dtypes() | hnp.unsigned_integer_dtypes()


@given(st.data(), WHOLE, WHOLE)
def test_the_distance_of_integers_is_exact_up_to_64_bits(data: st.DataObject, one: Any, other: Any) -> None:
    a, b = data.draw(hnp.arrays(one, 2)), data.draw(hnp.arrays(other, 2))
    distances, _ = errors(a, b, 0.0, 0.0, False)
    assert distances.tolist() == [
        float(min(abs(x - y), 2**64 - 1)) for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**64 - 1), st.sampled_from([0.5, 0.25, 2.0**-20]))
def test_the_relative_tolerance_of_integers_is_exact_for_powers_of_two(a: int, b: int, rtol: float) -> None:
    _, wrong = errors(np.array([a]), np.array([b], np.uint64), rtol, 0.0, False)
    assert wrong.item() is (abs(a - b) > b * rtol)


def test_a_tolerance_beyond_64_bits_accepts_what_it_holds() -> None:
    assert not errors(np.array([0]), np.array([2**64 - 1], np.uint64), 2.0, 0.0, False)[1].any()


def test_a_difference_beyond_the_largest_float_is_wrong() -> None:
    with np.errstate(all="ignore"):
        assert errors(np.array([1.7e308]), np.array([-1.7e308]), 1.5, 0.0, False)[1].all()


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128, np.clongdouble])
def test_a_part_that_is_nan_does_not_excuse_the_other_part(dtype: Any) -> None:
    expected = np.array([[complex(np.nan, 1), complex(1, np.nan), complex(np.nan, np.nan), 5]], dtype).T
    actual = np.array([[complex(np.nan, 2), complex(1, np.nan), complex(np.nan, np.nan), 5]], dtype).T
    wrong = errors(*in_common(actual, expected), 1e-6, 1e-6, True)[1]
    assert wrong.ravel().tolist() == [True, False, False, False]
    assert not errors(*in_common(expected, expected), 1e-6, 1e-6, True)[1].any()
    assert errors(actual, actual, 1.0, 1.0, False)[1].ravel().tolist() == [True, True, True, False]
    swapped = np.array([complex(1, np.nan)], dtype), np.array([complex(np.nan, 1)], dtype)
    assert errors(*swapped, 1.0, 1.0, True)[1].all()


@pytest.mark.parametrize("tolerance", [0.0, 1.0, 1e300, np.inf])
def test_no_tolerance_makes_what_is_not_finite_right(tolerance: float) -> None:
    strange = np.array([np.nan, np.inf, -np.inf, np.inf])
    with np.errstate(all="ignore"):
        for rtol, atol in ((tolerance, 0.0), (0.0, tolerance), (tolerance, tolerance)):
            assert errors(strange, np.array([1.0, 1.0, 1.0, -np.inf]), rtol, atol, True)[1].all()
            assert errors(np.ones(4), strange, rtol, atol, True)[1].all()


def test_bool_arrays_differ_where_one_is_true() -> None:
    assert errors(np.array([True, False]), np.array([False, False]), 5.0, 5.0, False)[1].tolist() == [True, False]


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ("float16", "float32", "float64"),
        ("float32", "longdouble", "longdouble"),
        ("complex64", "float32", "complex128"),
        ("int64", "float64", "longdouble"),
    ],
)
def test_inexact_types_meet_in_one_that_holds_both(one: str, other: str, common: str) -> None:
    found = in_common(np.ones(2, one), np.ones(2, other))
    assert [array.dtype for array in found] == [np.dtype(common)] * 2


def test_integers_stay_as_they_are() -> None:
    found = in_common(np.ones(2, np.int8), np.ones(2, np.uint64))
    assert [array.dtype.name for array in found] == ["int8", "uint64"]
