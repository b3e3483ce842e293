"""How far an array may be from the expected one: by dtype, by terms, and as the stage says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.course.stage import Tolerance
from grader.testing import assert_array, assert_gradient, configure
from grader.tests.testing.refusing import X, refused


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
