"""compare and describe: which difference is told first, types, shapes and dtypes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.comparison import compare, describe
from tests.diagnosis.comparison.differing import X, differ, told


class Tagged(np.ndarray[Any, Any]):
    """A subclass of NumPy's array."""


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
        assert differ(np.zeros((0, 3), int), np.zeros((0, 3)), dtype="float64").kind == "dtype"
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
            (X.astype(int), X + 0.5, "dtype int64 should be a floating one, such as float64"),
            (X, X.astype(int), "dtype float64 should be an integer one, such as int64"),
            (X > 3, X.astype(int), "dtype bool should be an integer one, such as int64"),
            (X.astype(int), X > 3, "dtype int64 should be bool"),
            (X, X + 1j, "dtype float64 should be a complex one, such as complex128"),
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

    def test_integers_of_the_right_values_do_where_no_dtype_is_demanded(self) -> None:
        assert compare(X.astype(int), X, 0.0, 0.0, False) is None
        assert told(X.astype(int), X, dtype="float64") == "shape (2, 3) is right; dtype int64 should be float64"

    def test_empty_arrays_are_told_apart_by_a_demanded_dtype_alone(self) -> None:
        assert compare(np.zeros((0, 3)), np.zeros((0, 3), int), 0.0, 0.0, False) is None
        assert differ(np.zeros((0, 3)), np.zeros((0, 3), int), dtype="int64").kind == "dtype"
