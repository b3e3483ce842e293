"""What stage tests import: assertions that say what differs, and what a learner's refusal is."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.course.stage import Tolerance
from grader.testing import (
    Mismatch,
    assert_array,
    assert_differ,
    assert_equal,
    assert_gradient,
    assert_shape,
    configure,
    numerical_gradient,
    unchanged,
)
from tests.testing.refusing import X, refused


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


class TestAssertEqual:
    def test_equal_values_pass(self) -> None:
        assert_equal((np.int64(2), ["a", None]), [2, ("a", None)])

    def test_the_path_leads_to_the_difference(self) -> None:
        error = refused(assert_equal, {"loss": [1, 2]}, {"loss": [1, 3]}, name="history")
        assert (str(error), error.name) == ("history['loss'][1]: expected 3, got 2", "history['loss'][1]")

    def test_without_a_path_the_message_stands_alone(self) -> None:
        assert str(refused(assert_equal, True, 1)) == "an int was expected, a bool (True) came back"


def test_a_value_that_contains_itself_is_a_mismatch() -> None:
    first: list[object] = []
    second: list[object] = []
    first.append(first)
    second.append(second)
    with pytest.raises(Mismatch, match="contains itself"):
        assert_equal(first, second)


class TestNumericalGradient:
    def test_it_agrees_with_the_derivative(self) -> None:
        found = numerical_gradient(lambda x: np.sin(x).sum() * x[0, 0], X)
        expected = np.cos(X) * X[0, 0]
        expected[0, 0] += np.sin(X).sum()
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)

    @pytest.mark.parametrize(
        "x", [np.array(3.0), np.array([1, 2]), np.zeros((2, 0)), np.array([[1.5]], np.float32), np.array([1e12])]
    )
    def test_it_has_the_shape_of_x_in_float64(self, x: Any) -> None:
        found = numerical_gradient(lambda values: float((2 * values).sum()), x)
        assert (found.shape, found.dtype.name) == (x.shape, "float64")
        np.testing.assert_allclose(found, 2.0, rtol=1e-6)

    def test_x_is_left_alone_even_by_a_function_that_writes(self) -> None:
        x = X.copy()

        def overwrite(values: Any) -> float:
            values.fill(1.0)
            return 1.0

        assert not numerical_gradient(overwrite, x).any()
        np.testing.assert_array_equal(x, X)

    def test_a_function_of_many_values_is_refused(self) -> None:
        assert str(refused(numerical_gradient, lambda x: x, X)).startswith("f(x): shape (2, 3) should be ()")

    def test_a_function_of_nothing_is_refused(self) -> None:
        assert "returned None" in str(refused(numerical_gradient, lambda x: None, X))


class TestAssertGradient:
    def test_finite_differences_agree_with_the_gradient(self) -> None:
        assert_gradient(2 * X, numerical_gradient(lambda x: (x**2).sum(), X), name="grad_x")

    def test_the_message_tells_the_error_and_the_worst_element(self) -> None:
        actual = X.copy()
        actual[1, 1] += 1
        assert str(refused(assert_gradient, actual, X, name="grad_W")).splitlines() == [
            "grad_W: relative error 6.2e-02 against finite differences, at most 1e-05 is allowed",
            "shape (2, 3) is right; 1 of 6 values differs, worst at [1, 1]: expected 11.0, got 12.0",
        ]

    def test_a_factor_is_recognised(self) -> None:
        message = str(refused(assert_gradient, X, numerical_gradient(lambda x: (x**2).sum(), X), name="grad_x"))
        assert message.endswith("every value is 0.5 times (1/2 times) the expected one")

    def test_another_shape_is_told_first(self) -> None:
        assert str(refused(assert_gradient, X.T, X, name="grad_x")).startswith("grad_x: shape (3, 2) should be (2, 3)")

    def test_single_precision_has_more_room(self) -> None:
        assert_gradient((X * 1.005).astype(np.float32), X, name="grad_x")
        refused(assert_gradient, X * 1.005, X, name="grad_x")

    def test_a_gradient_of_zero_meets_the_noise_of_finite_differences(self) -> None:
        assert_gradient(np.zeros((2, 3)), np.full((2, 3), 3e-10), name="grad_b")


@pytest.fixture
def stage_tolerance() -> Iterator[None]:
    configure(Tolerance(float64=1e-3, float32=1e-2))
    yield
    configure(Tolerance())


class TestTolerance:
    @pytest.mark.parametrize(
        ("dtype", "accepted", "rejected"),
        [(np.float64, 1e-10, 3e-9), (np.float32, 1e-5, 3e-4), (np.longdouble, 1e-10, 3e-9)],
    )
    def test_it_follows_from_the_less_precise_dtype(self, dtype: Any, accepted: float, rejected: float) -> None:
        assert_array((X * (1 + accepted)).astype(dtype), X)
        refused(assert_array, (X * (1 + rejected)).astype(dtype), X)
        assert_array(X * (1 + accepted), X.astype(dtype))

    def test_half_precision_of_the_learners_own_choice_does_not_widen_it(self) -> None:
        refused(assert_array, (X * (1 + 1e-3)).astype(np.float16), X)
        refused(assert_array, np.float16(1.001), 1.0)
        assert_array((X * (1 + 1e-3)).astype(np.float16), X.astype(np.float16))

    def test_a_subclass_does_not_choose_it(self) -> None:
        class Coarse(np.ndarray[Any, Any]):
            dtype = np.dtype(np.float32)  # it says so

        assert "Coarse, a subclass of NumPy's array" in str(refused(assert_array, X.view(Coarse), X))

    def test_complex_arrays_have_the_tolerance_of_their_parts(self) -> None:
        assert_array((X * (1 + 1e-5)).astype(np.complex64), X + 0j)
        refused(assert_array, X * (1 + 1e-5) + 0j, X + 0j)

    def test_it_grows_with_the_number_of_terms(self) -> None:
        refused(assert_array, X * (1 + 1e-8), X)
        assert_array(X * (1 + 1e-8), X, terms=10**8)

    def test_small_values_share_the_tolerance_of_the_large_ones(self) -> None:
        assert_array(np.array([1e-10, 1.0]), np.array([0.0, 1.0]))

    def test_zero_is_met_by_what_rounding_leaves_of_it(self) -> None:
        assert_array(np.array([1e-17, -1e-16]), np.zeros(2))

    def test_a_mask_value_does_not_widen_the_tolerance_of_the_rest(self) -> None:
        refused(assert_array, np.array([0.5 + 1e-6, -1e9]), np.array([0.5, -1e9]))

    def test_large_values_of_all_sizes_do_widen_it(self) -> None:
        assert_array(np.array([0.5 + 1e-6, 1e3, 1e9]), np.array([0.5, 1e3, 1e9]))

    def test_infinity_does_not_widen_it(self) -> None:
        refused(assert_array, np.array([0.5 + 1e-6, -np.inf]), np.array([0.5, -np.inf]))

    def test_integers_are_exact(self) -> None:
        refused(assert_array, np.array([10**12 + 1]), np.array([10**12]))

    def test_an_explicit_tolerance_replaces_it(self) -> None:
        assert_array(X + 0.5, X, atol=0.5, rtol=0.0)
        refused(assert_array, X * (1 + 1e-12), X, rtol=0.0)

    @pytest.mark.usefixtures("stage_tolerance")
    def test_a_stage_sets_its_own(self) -> None:
        assert_array(X * (1 + 1e-4), X)
        assert_array((X * (1 + 3e-3)).astype(np.float32), X)

    @given(
        st.lists(st.floats(1e-30, 1e6) | st.floats(-1e6, -1e-30), min_size=1, max_size=9),
        st.sampled_from([np.float32, np.float64]),
    )
    def test_an_array_cast_to_its_dtype_always_passes(self, values: list[float], dtype: Any) -> None:
        assert_array(np.array(values, dtype), np.array(values))


class TestGradients:
    @pytest.mark.parametrize("dtype", [np.float16, object, bool])
    def test_only_single_precision_has_a_wider_tolerance(self, dtype: Any) -> None:
        refused(assert_gradient, (X * 1.004).astype(dtype), X, name="dx")
        assert_gradient((X * 1.004).astype(np.float32), X, name="dx")


class TestUnchanged:
    def test_arguments_that_stay_as_they_are_pass(self) -> None:
        with unchanged(X, np.zeros((0, 3)), np.array(1.0), X.T, np.array([np.nan])):
            pass

    @staticmethod
    def change(change: Any, *arrays: Any) -> str:
        def block() -> None:
            with unchanged(*arrays):
                change(*arrays)

        return str(refused(block))

    def test_the_changed_argument_has_the_name_that_it_has_around(self) -> None:
        scores, weights = X.copy(), X.copy()
        with pytest.raises(Mismatch, match=r"^weights was changed in place: 1 of 6 values"), unchanged(scores, weights):
            weights[0, 0] = 9.0

    def test_one_without_a_name_is_one_of_several(self) -> None:
        message = self.change(lambda x, y: y.__setitem__(0, 9.0), X.copy(), X.copy())
        assert message == (
            "one of the arguments was changed in place: "
            "3 of 6 values, first at [0, 0]: it was 1.0 and is 9.0 now; work on a copy"
        )

    def test_a_lone_argument_needs_no_name(self) -> None:
        message = self.change(lambda x: x.fill(3.0), np.array(1.0))
        assert message == "the argument was changed in place: it was 1.0 and is 3.0 now; work on a copy"

    def test_even_the_sign_of_zero_counts(self) -> None:
        assert "was 0.0 and is -0.0 now" in self.change(lambda x: np.negative(x, out=x), np.zeros(3))

    def test_another_shape_is_told(self) -> None:
        assert "its shape was (2, 3) and is (3, 2) now" in self.change(
            lambda x: x.resize((3, 2), refcheck=False), X.copy()
        )

    def test_a_change_through_a_view_is_seen(self) -> None:
        whole = np.zeros((4, 4))
        assert "1 of 4 values, first at [2]" in self.change(lambda column: whole.__setitem__((2, 1), 5.0), whole[:, 1])

    def test_an_exception_inside_passes_through(self) -> None:
        x = X.copy()
        with pytest.raises(KeyError), unchanged(x):
            x[0] = 9
            raise KeyError

    def test_what_is_no_array_is_a_fault_of_the_test(self) -> None:
        with pytest.raises(TypeError, match="not a list"), unchanged([1, 2]):  # type: ignore[arg-type]  # on purpose
            pass
