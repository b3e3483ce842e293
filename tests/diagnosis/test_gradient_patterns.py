"""What the error of a gradient looks like: each cause, its nearest neighbours, and silence where nothing is known."""

from __future__ import annotations

import numpy as np
import pytest

from grader.diagnosis.gradients import Array, Given, finding, named

RNG = np.random.default_rng(7)
RIGHT = RNG.normal(size=(3, 4))
SQUARE = RNG.normal(size=(4, 4))
OTHER = RNG.normal(size=(3, 4))
STACK = RNG.normal(size=(2, 3, 4))
GIVEN = Given({"grad_K": OTHER}, {"batch": 8, "d_k": 16}, ("batch", "features"))


@pytest.mark.parametrize(
    ("got", "right", "kind", "text"),
    [
        (RIGHT / 8, RIGHT, "factor", "got = 0.125 × expected; 0.125 is 1/batch"),
        (RIGHT * 4, RIGHT, "factor", "got = 4 × expected; 4 is √d_k"),
        (RIGHT * 0.3, RIGHT, "factor", "got = 0.3 × expected"),
        (-RIGHT, RIGHT, "factor", "the sign is wrong: got = −expected"),
        (RIGHT * 0, RIGHT, "zeros", "all values are 0: no gradient arrives here"),
        (SQUARE.T, SQUARE, "transposed", "got = expectedᵀ: the product has its factors the wrong way round"),
        (RIGHT.T, RIGHT, "transposed", "got = expectedᵀ: the product has its factors the wrong way round"),
        (OTHER, RIGHT, "swapped", "these are the right values of grad_K"),
        (RIGHT, RIGHT.sum(axis=0), "missing-sum", "a sum over axis 0 (batch) is missing"),
        (RIGHT, RIGHT.sum(axis=1), "missing-sum", "a sum over axis 1 (features) is missing"),
        (STACK, STACK.sum(axis=(0, 1)), "missing-sum", "a sum over axes 0 and 1 is missing"),
        (RIGHT.sum(axis=0), RIGHT, "extra-sum", "a sum over axis 0 is too many"),
        (RIGHT.sum(axis=0, keepdims=True) + 0 * RIGHT, RIGHT, "extra-sum", None),
        (RIGHT.reshape(12), RIGHT, "shape", "the values are right, in another shape"),
        (RIGHT[:2], RIGHT, "shape", ""),
        (np.where(RIGHT > 1, np.nan, RIGHT), RIGHT, "non-finite", None),
        (RIGHT + RNG.normal(size=RIGHT.shape), RIGHT, "values", ""),
        (RIGHT + 1, RIGHT, "values", ""),
    ],
)
def test_an_error_is_named_by_what_it_looks_like(got: Array, right: Array, kind: str, text: str | None) -> None:
    found = finding(got, right, GIVEN)
    assert found[0] == kind
    assert text is None or found[1] == text


def test_two_values_are_too_few_to_name_a_cause() -> None:
    assert finding(np.array([2.0, 4.0]), np.array([1.0, 2.0]), GIVEN) == ("values", "")
    assert finding(np.array([[3.0]]), np.array([3.0, 0.0]), GIVEN) == ("shape", "")


def test_a_factor_is_said_where_it_fits_as_well_as_a_swap() -> None:
    ones = np.ones((2, 3))
    assert finding(2 * ones, ones, Given({"grad_h": 2 * ones})) == ("factor", "got = 2 × expected")


def test_which_axis_or_gradient_it_is_is_not_said_where_several_fit() -> None:
    ones = np.ones((4, 4))
    assert finding(ones, np.full(4, 4.0), GIVEN) == ("missing-sum", "a sum over an axis is missing")
    given = Given({"grad_K": OTHER, "grad_Q": OTHER})
    assert finding(OTHER, RIGHT, given) == ("swapped", "these are the right values of another gradient")


def test_a_factor_that_many_sizes_give_has_no_name() -> None:
    assert named(2.0, {"batch": 2, "heads": 2}) == "batch or heads"
    assert named(2.0, dict.fromkeys("abcde", 2)) == ""
    assert named(1.0, {"batch": 1}) == ""


def test_large_arrays_are_not_searched_for_a_cause() -> None:
    large = np.ones((500, 500))
    assert finding(large * 2, large, GIVEN) == ("values", "")
