"""compare and describe: which difference is told first, and how it reads."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.comparison import Difference, Spot, compare, describe

X = np.array([[1.0, 2.0, 4.0], [7.0, 11.0, 16.0]])


class Tagged(np.ndarray[Any, Any]):
    """A subclass of NumPy's array."""


def differ(actual: object, expected: object, rtol: float = 1e-9, atol: float = 0.0, **options: Any) -> Difference:
    difference = compare(actual, expected, rtol, atol, options.pop("equal_nan", False), **options)
    assert difference is not None
    return difference


def told(actual: object, expected: object, **options: Any) -> str:
    return describe(differ(actual, expected, **options))


class TestType:
    @pytest.mark.parametrize(
        ("actual", "sentence"),
        [
            (None, "returned None: is a return statement missing?"),
            ((X, X), "returned a tuple of 2 where one array was expected"),
            ([1, 2, 3], "returned a list of 3; wrap it with np.array"),
            (3.5, "returned the single number 3.5 where an array of shape (2, 3) was expected"),
            (X.view(Tagged), "returned a Tagged, a subclass of NumPy's array; wrap it with np.asarray"),
            (np.ma.array(X), "returned a masked array where a plain NumPy array was expected"),
            (
                X.astype(object),
                "returned an array of Python objects (dtype object) where an array of numbers was expected",
            ),
            (np.zeros((2, 3), "i4,f8"), "returned a structured array where an array of numbers was expected"),
            (np.array(["a"]), "returned an array of text where an array of numbers was expected"),
            (X.sum, "returned a function where one array was expected: are the parentheses of a call missing?"),
        ],
    )
    def test_what_is_no_array_gets_a_sentence_of_its_own(self, actual: object, sentence: str) -> None:
        assert (differ(actual, X).kind, told(actual, X)) == ("type", sentence)

    def test_a_tuple_in_place_of_a_number_is_named(self) -> None:
        assert told((1.0, 2.0), 1.0) == "returned a tuple of 2 where a single number was expected"

    @pytest.mark.parametrize("actual", [0.5, np.float64(0.5), np.float32(0.5), np.array(0.5)])
    def test_any_single_number_does_where_the_expected_one_has_no_axes(self, actual: object) -> None:
        assert compare(actual, 0.5, 0.0, 0.0, False) is None

    def test_an_integer_that_fits_no_dtype_is_told(self) -> None:
        assert told(10**5000, 3) == "returned an integer too large for any NumPy dtype"

    def test_an_expected_value_that_is_no_array_equals_nothing(self) -> None:
        assert differ(X, None).kind == "type"


class Text(str):
    """A subclass of str."""


class Whole(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Real(float):
    def __sub__(self, other: object) -> float:
        return 0.0

    __rsub__ = __sub__


class TestDisguises:
    """Values that would pass a careless comparison: each is refused for what it is, before any arithmetic."""

    @pytest.mark.parametrize(
        ("actual", "kind"),
        [
            (X.view(Tagged), "type"),
            (np.ma.array(X, mask=True), "type"),
            (X.view(np.matrix), "type"),
            (X.view(np.recarray), "type"),
            (X.astype(object), "type"),
            (np.zeros((2, 3), [("a", "f8")]), "type"),
            (np.zeros((2, 3), "M8[s]"), "type"),
            (np.zeros((2, 3), "m8[s]"), "type"),
            (np.zeros((2, 3), "V8"), "type"),
            (X.astype(str), "type"),
            (X.tolist(), "type"),
            pytest.param(memoryview(X.tobytes()), "type", id="memoryview"),
            (X[None], "shape"),
            (np.broadcast_to(X, (2, 2, 3)), "shape"),
            (X[:, :0], "shape"),
            (np.array(1.0), "shape"),
            (X > 0, "dtype"),
            (X.astype(np.uint8), "dtype"),
            (X + 0j, "dtype"),
            (np.where(X > 3, np.nan, X), "non-finite"),
            (np.where(X > 3, -np.inf, X), "non-finite"),
            (X.astype(">f8").view("<f8"), "values"),
        ],
        ids=lambda value: str(getattr(value, "dtype", value))[:20],
    )
    def test_of_an_array(self, actual: object, kind: str) -> None:
        assert differ(actual, X, rtol=1e300 if kind != "values" else 1e-9).kind == kind

    @pytest.mark.parametrize(
        "actual", [Whole(3), Real(4), Text("3"), np.str_("3"), np.datetime64(3, "s"), np.timedelta64(3), [3], {3: 3}]
    )
    def test_of_a_number(self, actual: object) -> None:
        assert differ(actual, 3.0).kind == "type"

    def test_layout_is_no_difference(self) -> None:
        overlapping = np.lib.stride_tricks.as_strided(np.ones(4), (2, 3), (8, 8))
        assert compare(overlapping, np.ones((2, 3)), 0.0, 0.0, False) is None
        read_only = X.copy()
        read_only.flags.writeable = False
        for array in (np.asfortranarray(X), X[::-1][::-1], X.astype(">f8"), read_only):
            assert compare(array, X, 0.0, 0.0, False) is None

    def test_tiny_values_are_told_apart_and_zeros_of_either_sign_are_not(self) -> None:
        assert compare(np.array([-0.0, 0.0]), np.zeros(2), 0.0, 0.0, False) is None
        assert differ(np.array([5e-324, 0.0]), np.array([1e-323, 0.0])).count == 1

    def test_integers_that_wrap_round_are_far_apart(self) -> None:
        for actual, expected in (
            (np.int64(-1), np.uint64(2**64 - 1)),
            (np.int64(-(2**63)), np.uint64(2**63)),
            (np.int8(-1), np.uint8(255)),
        ):
            assert differ(actual, expected, rtol=0.0).count == 1

    def test_a_difference_that_overflows_is_not_small(self) -> None:
        assert differ(np.array([-1.7e308]), np.array([1.7e308]), rtol=0.5).kind == "values"
        assert differ(np.float16(-60000), np.float16(60000), rtol=0.5).kind == "values"

    def test_what_has_no_values_still_has_shape_and_dtype(self) -> None:
        assert differ(np.zeros((0, 3)), np.zeros((3, 0))).kind == "shape"
        assert differ(np.zeros((0, 3), int), np.zeros((0, 3))).kind == "dtype"
        assert differ(np.zeros((0, 3), object), np.zeros((0, 3))).kind == "type"


class TestShape:
    def test_the_expected_shape_carries_the_names_of_its_axes(self) -> None:
        message = told(np.zeros((2, 6, 8)), np.zeros((2, 2, 6, 4)), axes=["batch", "heads", "seq", "d_k"])
        assert message.splitlines()[0] == "shape (2, 6, 8) should be (batch 2, heads 2, seq 6, d_k 4)"

    def test_names_that_are_too_few_are_left_out(self) -> None:
        assert told(np.zeros(3), X, axes=["row"]).startswith("shape (3,) should be (2, 3)")

    def test_names_can_be_added_to_a_difference_later(self) -> None:
        named = replace(differ(X.T, X), axes=("row", "column"))
        assert describe(named) == "shape (3, 2) should be (row 2, column 3)\naxes 0 and 1 are swapped"

    @pytest.mark.parametrize("shape", [(1, 3), (3,), (2, 1), (1, 1), (1, 2, 3), ()])
    def test_nothing_is_broadcast(self, shape: tuple[int, ...]) -> None:
        assert differ(np.ones(shape), np.ones((2, 3))).kind == "shape"

    def test_shape_comes_before_dtype_and_values(self) -> None:
        assert differ(np.full((3, 2), True), X).kind == "shape"


class TestDtype:
    @pytest.mark.parametrize(
        ("actual", "expected", "text"),
        [
            (X.astype(int), X, "dtype int64 should be a floating one, such as float64"),
            (X, X.astype(int), "dtype float64 should be an integer one, such as int64"),
            (X > 3, X.astype(int), "dtype bool should be an integer one, such as int64"),
            (X.astype(int), X > 3, "dtype int64 should be bool"),
            (X, X + 0j, "dtype float64 should be a complex one, such as complex128"),
        ],
    )
    def test_another_kind_of_dtype_is_told(self, actual: object, expected: object, text: str) -> None:
        assert told(actual, expected) == f"shape (2, 3) is right; {text}"

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, ">f8"])
    def test_any_floating_dtype_does_where_none_is_demanded(self, dtype: Any) -> None:
        assert compare(X.astype(dtype), X, 0.0, 0.0, False) is None

    def test_unsigned_integers_do_for_signed_ones(self) -> None:
        assert compare(np.array([1, 2], np.uint8), np.array([1, 2]), 0.0, 0.0, False) is None

    def test_a_demanded_dtype_is_exact(self) -> None:
        assert told(X, X, dtype="float32") == "shape (2, 3) is right; dtype float64 should be float32"

    def test_byte_order_is_no_difference(self) -> None:
        assert compare(X.astype(">f8"), X, 0.0, 0.0, False, dtype="float64") is None

    def test_a_single_integer_does_for_a_floating_number(self) -> None:
        assert compare(3, 3.0, 0.0, 0.0, False) is None

    def test_a_single_floating_number_does_not_do_for_an_integer(self) -> None:
        assert differ(3.0, 3).kind == "dtype"

    def test_true_is_no_integer(self) -> None:
        assert differ(True, 1).kind == "dtype"

    def test_empty_arrays_of_one_shape_are_told_apart_by_dtype_alone(self) -> None:
        assert compare(np.zeros((0, 3)), np.zeros((0, 3), np.float32), 0.0, 0.0, False) is None
        assert differ(np.zeros((0, 3), bool), np.zeros((0, 3))).kind == "dtype"


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
