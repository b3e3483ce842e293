"""Values of the right shape and dtype that differ: where, by how much, and what is not finite."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from grader.diagnosis.comparison import Spot, compare, describe
from tests.diagnosis.comparison.differing import X, differ, told


class TestNonFinite:
    def test_nan_is_told_before_other_differences(self) -> None:
        actual = X + 1
        actual[0, 1] = actual[1, 2] = np.nan
        assert told(actual, X) == "shape (2, 3) is right; 2 of 6 values are NaN, first at [0, 1]: expected 2.0"

    def test_nan_and_infinities_are_counted_apart(self) -> None:
        actual = np.array([np.nan, np.inf, -np.inf, np.inf, 5.0])
        assert "1 of 5 values is NaN, 2 are inf, 1 is -inf, first at [0]" in told(actual, np.arange(5.0))

    def test_a_row_of_nan_is_placed(self) -> None:
        actual = np.where(np.arange(3)[:, None] == 1, np.nan, np.ones((3, 4)))
        assert told(actual, np.ones((3, 4))).endswith("all of them are at index 1 of axis 0")

    def test_a_single_nan(self) -> None:
        assert told(math.nan, 3.0) == "the value is NaN: expected 3.0"

    def test_equal_infinities_are_equal(self) -> None:
        assert compare(np.array([np.inf, -np.inf]), np.array([np.inf, -np.inf]), 0.0, 0.0, False) is None

    def test_an_infinity_of_the_other_sign_is_told(self) -> None:
        assert told(np.array([1.0, -np.inf]), np.array([1.0, np.inf])).endswith("is -inf, first at [1]: expected inf")

    def test_a_finite_value_for_an_infinity_is_a_wrong_value(self) -> None:
        assert told(np.array([1.0, 5.0]), np.array([1.0, -np.inf])).endswith("first at [1]: expected -inf, got 5.0")

    @pytest.mark.parametrize("equal_nan", [False, True])
    def test_nan_equals_nan_only_when_asked(self, equal_nan: bool) -> None:
        assert (compare(X * np.nan, X * np.nan, 1.0, 1.0, equal_nan) is None) is equal_nan

    def test_complex_nan_and_infinity(self) -> None:
        actual = np.array([complex(np.nan, 0), complex(0, np.inf), 1j])
        assert "1 of 3 values is NaN, 1 is infinite" in told(actual, np.array([1j, 2j, 1j]))


class TestValues:
    def test_the_first_and_the_worst_difference_are_told(self) -> None:
        message = told(X + np.array([[0, 1, 0], [0, -3, 0]]), X)
        assert message.splitlines() == [
            "shape (2, 3) is right; 2 of 6 values differ, first at [0, 1]: expected 2.0, got 3.0",
            "worst at [1, 1]: expected 11.0, got 8.0",
            "all of them are at index 1 of axis 1",
        ]

    def test_one_difference_is_told_once(self) -> None:
        actual = np.where(X == 16, 17, X)
        assert (
            told(actual, X) == "shape (2, 3) is right; 1 of 6 values differs, first at [1, 2]: expected 16.0, got 17.0"
        )

    @pytest.mark.parametrize(
        ("actual", "expected", "text"),
        [
            (3.0, 3, "an int was expected, a float came back: 3.0"),
            (1, True, "a bool was expected, an int came back: 1"),
            (True, 1, "an int was expected, a bool came back: True"),
            (3, 3.0, None),
            (2j, 3.0, "a float was expected, a complex came back: 0.0+2.0j"),
            (np.float64(3), 3, "dtype float64 should be an integer one, such as int64"),
            ([3.0], 3.0, "returned a list of 1 where a single number was expected"),
            (np.array([3.0]), 3.0, "shape (1,) should be ()\nit holds a single number, but is not one: "
             "index it, or sum over its axes"),
        ],
    )  # fmt: skip
    def test_numbers_of_python_are_told_by_their_type(self, actual: object, expected: object, text: str | None) -> None:
        found = compare(actual, expected, 1e-9, 0.0, False)
        assert (found and describe(found)) == text

    def test_a_number_that_needs_a_dtype(self) -> None:
        found = compare(3.0, 3.0, 1e-9, 0.0, False, dtype="float32")
        assert found and describe(found) == "a number of dtype float32 was expected, a float came back: 3.0"

    def test_a_single_number_has_no_place(self) -> None:
        assert told(3.5, 3.0) == "expected 3.0, got 3.5"

    def test_the_record_holds_what_the_message_says(self) -> None:
        difference = differ(np.array([1, 5, 3]), np.array([1, 2, 4]), rtol=0.0)
        assert (difference.count, difference.total) == (2, 3)
        assert difference.first == difference.worst == Spot((1,), 2, 5)

    def test_without_a_first_place_the_worst_one_leads(self) -> None:
        message = describe(replace(differ(X + 1, X), first=None, pattern=None))
        assert message == "shape (2, 3) is right; all 6 values differ, worst at [0, 0]: expected 1.0, got 2.0"

    def test_a_close_value_is_called_close(self) -> None:
        assert told(X * (1 + 1e-6), X).endswith(
            "close: off by up to 1.0e-06 of the largest value; the tolerance is 1e-09"
        )

    def test_bool_is_compared_exactly_whatever_the_tolerance(self) -> None:
        assert differ(np.array([True, False]), np.array([True, True]), rtol=9.0, atol=9.0).count == 1

    @pytest.mark.parametrize(
        ("actual", "expected", "text"),
        [
            (np.array([-1]), np.array([2**64 - 1], np.uint64), "expected 18446744073709551615, got -1"),
            (np.array([-128], np.int8), np.array([127], np.int8), "expected 127, got -128"),
            (np.array([2**53 + 1]), np.array([2**53]), "expected 9007199254740992, got 9007199254740993"),
        ],
    )
    def test_integers_differ_without_overflow(self, actual: object, expected: object, text: str) -> None:
        assert told(actual, expected, rtol=0.0).endswith(text)

    def test_a_large_integer_is_not_rounded_to_a_floating_number(self) -> None:
        assert differ(2**53 + 1, float(2**53), rtol=0.0).kind == "values"

    def test_complex_values_differ_in_either_part(self) -> None:
        assert told(np.array([1 + 2j]), np.array([1 + 3j])).endswith("expected 1.0+3.0j, got 1.0+2.0j")

    def test_a_pattern_closes_the_message(self) -> None:
        assert told(X * np.sqrt(8), X).endswith("every value is 2.828 times (√8 times) the expected one")
