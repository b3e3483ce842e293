"""Answers that do not count as different, and why."""

from __future__ import annotations

import numpy as np
import pytest

from grader.diagnosis.comparison.exact import Likeness, likeness

X = np.array([[1.0, 2.0, 4.0], [7.0, 11.0, 16.0]])
OTHER = X + 1.0


def found(
    one: object, other: object, shape: tuple[int, ...] = (2, 3), dtype: object = float, everywhere: bool = False
) -> Likeness:
    result = likeness(one, other, shape, dtype, everywhere)
    assert result is not None
    return result


class TestDifferent:
    def test_one_other_value_is_enough(self) -> None:
        other = X.copy()
        other[1, 0] += 1e-9
        assert likeness(X, other, (2, 3), float, everywhere=False) is None
        assert likeness(X, OTHER.astype(np.float32), (2, 3), float, everywhere=True) is None

    def test_zeros_are_numbers(self) -> None:
        assert likeness(np.zeros(3), np.ones(3), (3,), float, everywhere=True) is None

    def test_integers_of_every_width_are_of_one_kind(self) -> None:
        assert likeness(np.zeros(3, np.uint8), np.arange(3), (3,), int, everywhere=False) is None


class TestAlike:
    def test_equal_values(self) -> None:
        assert found(X, X.copy()).text == "all 6 values are equal in both, and some should differ"

    def test_one_equal_value_where_each_must_differ(self) -> None:
        other = OTHER.copy()
        other[0, 0] = X[0, 0]
        assert found(X, other, everywhere=True).text == "1 of 6 values are equal in both, and none should be"

    def test_empty_arrays(self) -> None:
        assert "equal in both" in found(np.zeros((0, 3)), np.zeros((0, 3)), (0, 3)).text


class TestWrongByItself:
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_a_value_that_is_not_finite(self, value: float) -> None:
        strange = X.copy()
        strange[0, 0] = value
        for both, which in (((X, strange), "second"), ((strange, X), "first")):
            result = found(*both)
            assert result.text.startswith(f"the {which}: ") and result.text.endswith("finite ones were expected")
            assert result.difference is not None and result.difference.kind == "non-finite"
            assert result.actual is strange

    def test_nan_for_a_single_number(self) -> None:
        assert found(1.0, float("nan"), ()).text == "the second: the value is NaN, and a finite one was expected"

    @pytest.mark.parametrize(("one", "other"), [(X, OTHER.ravel()), (np.zeros(0), np.ones(0)), (1.0, 2.0)])
    def test_another_shape(self, one: object, other: object) -> None:
        assert found(one, other).text.startswith("the ")

    def test_another_kind_of_dtype(self) -> None:
        assert "dtype int64 should be" in found(X.astype(np.int64), OTHER).text
        assert "dtype float64 should be" in found(X, OTHER, dtype=int).text
        assert "dtype complex128 should be" in found(X, OTHER * 1j).text

    def test_what_is_no_plain_array(self) -> None:
        class Weights(np.ndarray): ...

        for value in (X.tolist(), None, "weights", X.view(Weights), X.astype(object)):
            assert found(X, value).text.startswith("the second: ")
