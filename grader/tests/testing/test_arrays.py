"""What assertions on arrays and shapes accept, refuse and say."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from grader.testing import Mismatch, assert_array, assert_equal, assert_gradient, assert_shape
from grader.tests.testing.refusing import X, refused


class TestAssertArray:
    def test_an_equal_array_passes(self) -> None:
        assert_array(X.copy(), X)

    def test_the_message_leads_with_the_name(self) -> None:
        message = str(refused(assert_array, None, X, name="weights"))
        assert message == "weights: returned None: is a return statement missing?"

    def test_without_a_name_the_message_stands_alone(self) -> None:
        assert str(refused(assert_array, None, X)) == "returned None: is a return statement missing?"

    def test_the_error_carries_name_and_difference(self) -> None:
        error = refused(assert_array, X + 1, X, name="scores")
        assert error.name == "scores"
        assert error.difference is not None
        assert error.difference.kind == "values"

    def test_the_error_survives_pickling(self) -> None:
        error = pickle.loads(pickle.dumps(refused(assert_array, X + 1, X, name="scores")))
        assert (error.name, error.difference.count) == ("scores", 6)

    def test_axes_are_named_in_the_message(self) -> None:
        assert "should be (seq 2, d_k 3)" in str(refused(assert_array, X.T, X, axes="seq d_k"))

    def test_lists_and_numbers_may_be_expected(self) -> None:
        assert_array(np.array([1.0, 2.0]), [1.0, 2.0])
        assert_array(np.float64(2.0), 2.0)

    def test_an_exact_dtype_can_be_demanded(self) -> None:
        assert_array(X.astype(np.float32), X, dtype="float32")
        assert "float64 should be float32" in str(refused(assert_array, X, X, dtype="float32"))

    def test_nan_is_accepted_when_asked_for(self) -> None:
        assert_array(np.array([np.nan, 1.0]), np.array([np.nan, 1.0]), equal_nan=True)


class TestUnsuitableExpected:
    @pytest.mark.parametrize(
        "expected",
        [None, "text", X.astype(object), np.ma.array(X), {"a": 1}, [[1.0], [1.0, 2.0]], ["a"], np.array(["a"])],
    )
    def test_it_is_no_fault_of_the_learner(self, expected: object) -> None:
        with pytest.raises(TypeError, match="expected"):
            assert_array(X, expected)

    def test_nan_without_equal_nan_could_never_pass(self) -> None:
        with pytest.raises(ValueError, match="equal_nan"):
            assert_array(X, X * np.nan)


class TestAssertShape:
    def test_the_shape_alone_matters(self) -> None:
        assert_shape(X, (2, 3))
        assert_shape(3.5, ())

    def test_another_shape_is_told(self) -> None:
        message = str(refused(assert_shape, X, (3, 2), name="scores"))
        assert message == "scores: shape (2, 3) should be (3, 2)\naxes 0 and 1 are swapped"

    def test_what_is_no_array_is_told(self) -> None:
        assert "list of 2; wrap it with np.array" in str(refused(assert_shape, [1, 2], (2,)))


@pytest.mark.parametrize("compare", [assert_array, lambda a, b: assert_gradient(a, b, name="x"), assert_equal])
def test_shapes_are_compared_before_values_so_that_nothing_is_broadcast(compare: Callable[..., None]) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(Mismatch, match="shape"):
            compare(np.zeros((1 << 16, 1, 1)), np.ones((40, 40)))
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
