"""find_pattern: each pattern is named where it is plain, and nothing is named where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from grader.diagnosis.comparison.patterns import find_pattern

Array = NDArray[Any]
RNG = np.random.default_rng(20)
Q = RNG.normal(size=(2, 5, 7))
SQUARE = RNG.normal(size=(5, 5))
LOWER = np.tril(np.ones((5, 5), dtype=bool))
NAMES = ("batch", "seq", "d_k")


def pattern(actual: Array, expected: Array, rtol: float = 1e-9, axes: tuple[str, ...] | None = None) -> str | None:
    if actual.dtype.kind in "biu":
        return find_pattern(actual, expected, np.asarray(actual != expected), 0.0, 0.0, axes)
    atol = rtol * np.abs(expected[np.isfinite(expected)]).max(initial=0)
    with np.errstate(invalid="ignore"):
        wrong = np.asarray(~((actual == expected) | (np.abs(actual - expected) <= atol + rtol * np.abs(expected))))
    return find_pattern(actual, expected, wrong, rtol, float(atol), axes)


class TestFactor:
    @pytest.mark.parametrize(
        ("factor", "text"),
        [
            (np.sqrt(8), "every value is 2.828 times (√8 times) the expected one"),
            (1 / np.sqrt(8), "every value is 0.3536 times (1/√8 times) the expected one"),
            (3.0, "every value is 3 times the expected one"),
            (-3.0, "every value is -3 times the expected one"),
            (1 / 64, "every value is 0.01562 times (1/64 times) the expected one"),
            (0.9, "every value is 0.9 times the expected one"),
            (-1.0, "every value has the opposite sign"),
        ],
    )
    def test_a_constant_factor_is_named(self, factor: float, text: str) -> None:
        assert pattern(Q * factor, Q) == text

    def test_the_axis_of_that_size_is_named(self) -> None:
        assert str(pattern(Q / 5, Q, axes=NAMES)).endswith(
            "(1/5 times) the expected one; 5 is the size of axis 1 (seq)"
        )

    def test_single_precision_is_enough_for_a_small_root(self) -> None:
        assert "√8" in str(pattern((Q * np.sqrt(8)).astype(np.float32).astype(np.float64), Q, rtol=1e-4))

    def test_a_root_that_chance_would_hit_too_is_not_named(self) -> None:
        assert pattern(Q * np.sqrt(1003), Q, rtol=1e-4) == "every value is 31.67 times the expected one"

    def test_integers_have_factors_too(self) -> None:
        assert pattern(np.array([3, 6, 12, 21]), np.array([1, 2, 4, 7])) == "every value is 3 times the expected one"

    def test_equal_infinities_do_not_hide_a_factor(self) -> None:
        expected = np.where(LOWER, SQUARE, -np.inf)
        assert pattern(2 * expected, expected) == "every value is 2 times the expected one"

    def test_a_complex_array_has_a_real_factor(self) -> None:
        assert pattern(2 * (Q + 1j), Q + 1j) == "every value is 2 times the expected one"

    def test_two_values_prove_no_factor(self) -> None:
        assert pattern(np.array([2.0, 4.0]), np.array([1.0, 2.0])) is None

    def test_a_constant_array_has_no_factor(self) -> None:
        assert pattern(np.array([2.0, 2.0, 2.0]), np.array([1.0, 1.0, 1.0])) is None

    def test_rounding_is_no_factor(self) -> None:
        assert pattern(Q * (1 + 1e-6), Q) is None


class TestOffsetAndConstants:
    @pytest.mark.parametrize(("offset", "text"), [(0.5, "0.5 more than"), (-2.0, "2 less than")])
    def test_a_constant_offset_is_named(self, offset: float, text: str) -> None:
        assert pattern(Q + offset, Q) == f"every value is {text} the expected one"

    def test_an_offset_of_whole_numbers(self) -> None:
        assert pattern(np.array([1, 2, 5]), np.array([0, 1, 4])) == "every value is 1 more than the expected one"

    @pytest.mark.parametrize(("value", "text"), [(0.0, "0.0"), (0.25, "0.25")])
    def test_one_value_everywhere_is_named(self, value: float, text: str) -> None:
        assert pattern(np.full_like(Q, value), Q) == f"every value is {text}"

    def test_a_mask_that_is_true_everywhere(self) -> None:
        assert pattern(LOWER | True, LOWER) == "every value is True"

    def test_an_inverted_mask(self) -> None:
        assert pattern(~LOWER, LOWER) == "every value is inverted: True and False are exchanged"

    def test_lost_signs(self) -> None:
        assert pattern(np.abs(Q), Q) == "only signs are wrong: the absolute values are right"


class TestMoved:
    def test_a_transposed_matrix(self) -> None:
        assert pattern(SQUARE.T, SQUARE) == "it is transposed: rows and columns are swapped"

    def test_swapped_axes_are_named(self) -> None:
        expected = RNG.normal(size=(4, 3, 3))
        assert pattern(expected.swapaxes(1, 2), expected, axes=("batch", "query", "key")) == (
            "axes 1 and 2 (query and key) are swapped"
        )

    def test_reshape_in_place_of_transpose(self) -> None:
        x = RNG.normal(size=(2, 6, 8))
        expected = x.reshape(2, 6, 2, 4).transpose(0, 2, 1, 3)
        text = str(pattern(x.reshape(2, 2, 6, 4), expected, axes=("batch", "heads", "seq", "d_k")))
        assert text.startswith("reshaped where axes 1 and 2 (heads and seq) should be swapped")

    def test_values_in_another_order(self) -> None:
        x = RNG.normal(size=(2, 6, 8))
        assert str(pattern(x.reshape(2, 2, 6, 4).transpose(0, 2, 1, 3).reshape(2, 6, 8), x)).startswith(
            "the right values in the wrong places"
        )

    def test_rows_in_another_order(self) -> None:
        rows = RNG.permutation(7)[[2, 0, 1, 4, 3, 6, 5]]
        x = RNG.normal(size=(7, 3))
        assert pattern(x[rows], x) == "the right rows in another order"
        assert pattern(x[rows, 0], x[:, 0]) == "the right values in another order"
        cube = x.reshape(7, 3, 1)
        assert pattern(cube[rows], cube, axes=NAMES) == f"the right entries along axis 0 ({NAMES[0]}) in another order"

    @pytest.mark.parametrize("axis", [0, 1, 2])
    def test_a_reversed_axis(self, axis: int) -> None:
        assert pattern(np.flip(Q, axis), Q, axes=NAMES) == f"reversed along axis {axis} ({NAMES[axis]})"

    def test_one_place_too_late(self) -> None:
        assert (
            pattern(np.roll(Q, 1, axis=1), Q) == "one place too late along axis 1: index i holds what belongs at i - 1"
        )

    def test_one_place_too_early_with_something_else_at_the_end(self) -> None:
        actual = np.concatenate([Q[:, 1:], np.zeros((2, 1, 7))], axis=1)
        assert str(pattern(actual, Q)).startswith("one place too early along axis 1")

    @pytest.mark.parametrize("k", [-1, 1])
    def test_a_causal_mask_off_by_one(self, k: int) -> None:
        assert pattern(np.tril(np.ones((5, 5), dtype=bool), k), LOWER) == "the diagonal is off by one"

    def test_a_transposed_mask(self) -> None:
        assert pattern(LOWER.T.copy(), LOWER) == "it is transposed: rows and columns are swapped"

    def test_two_rearrangements_that_fit_alike_are_not_named(self) -> None:
        text = str(pattern(np.array([[3.0, 4.0], [1.0, 2.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])))
        assert text == "reversed along axis 0"
        assert pattern(np.array([3.0, 1.0, 3.0]), np.array([1.0, 3.0, 1.0])) is None


class TestSums:
    EXPONENTIALS = np.exp(SQUARE)
    WEIGHTS = EXPONENTIALS / EXPONENTIALS.sum(axis=1, keepdims=True)

    def test_a_softmax_along_the_other_axis(self) -> None:
        actual = self.EXPONENTIALS / self.EXPONENTIALS.sum(axis=0)
        assert pattern(actual, self.WEIGHTS, axes=("query", "key")) == (
            "the values sum to 1 along axis 0 (query); they should do so along axis 1 (key)"
        )

    def test_a_softmax_over_everything(self) -> None:
        actual = self.EXPONENTIALS / self.EXPONENTIALS.sum()
        assert pattern(actual, self.WEIGHTS) == "all values together sum to 1; they should do so along axis 1"

    def test_one_row_that_holds_all_since_the_others_underflowed(self) -> None:
        scores = np.array([[900.0, 899.0, 898.5], [2.0, 3.0, 1.0], [5.0, 2.0, 4.0]])
        powers = np.exp(scores - scores.max())
        right = np.exp(scores - scores.max(axis=1, keepdims=True))
        right /= right.sum(axis=1, keepdims=True)
        assert pattern(powers / np.maximum(powers.sum(axis=1, keepdims=True), 1e-9), right) is None
        assert pattern(powers / powers.sum(), right) is None


class TestSilence:
    @given(st.integers(0, 2**32 - 1), st.sampled_from([(3,), (12,), (3, 4), (4, 4), (2, 3, 3), (1, 6)]))
    def test_unrelated_values_show_no_pattern(self, seed: int, shape: tuple[int, ...]) -> None:
        rng = np.random.default_rng(seed)
        assert pattern(rng.normal(size=shape), rng.normal(size=shape)) is None

    @given(st.integers(0, 2**32 - 1), st.sampled_from([1.5, np.sqrt(8), -1.0]))
    def test_one_exception_is_enough_to_say_nothing(self, seed: int, factor: float) -> None:
        rng = np.random.default_rng(seed)
        expected = rng.normal(size=(4, 4)) + 3
        actual = expected * factor
        actual[2, 3] += 1.0
        assert pattern(actual, expected) is None

    def test_a_coarse_tolerance_proves_nothing(self) -> None:
        assert pattern(2 * Q, Q, rtol=0.01) is None

    def test_differences_near_the_tolerance_prove_nothing(self) -> None:
        wrong = np.full(Q.shape, True)
        assert find_pattern(Q + 0.5, Q, wrong, 1e-9, 0.1) is None

    def test_integers_beyond_exact_floats_are_left_alone(self) -> None:
        large = np.array([2**60, 2**61, 2**62])
        assert pattern(large // 2, large) is None

    @pytest.mark.parametrize("extreme", [5e-324, 1e-300, 1e308, np.inf, np.nan])
    def test_extreme_values_raise_nothing(self, extreme: float) -> None:
        expected = np.array([extreme, 1.0, -extreme, 2.0])
        find_pattern(np.array([1.0, extreme, 1e308, 5e-324]), expected, np.full(4, True), 1e-9, 0.0)
