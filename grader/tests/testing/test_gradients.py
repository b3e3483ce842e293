"""Finite differences, and gradients held against them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.testing import assert_gradient, numerical_gradient
from grader.tests.testing.refusing import X, refused


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
