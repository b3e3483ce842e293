"""Hidden tests of stage s05: clipping by the global norm, for gradients of every size."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, unchanged
from hidden.s05_optimization.oracles import assert_arrays, clipped, draw_arrays, unpack

pytestmark = pytest.mark.values

GUARD = 2e-5  # relative tolerance that accepts 1e-6 added to the norm before dividing by it


@pytest.mark.criterion("clip-norm")
class TestClipping:
    def test_long_gradients_become_max_norm_long_together(self, learner, rng):
        grads, max_norm = draw_arrays(rng), float(rng.uniform(0.5, 1.0))  # 28 entries above 1/4: longer than 1.3
        expected, length = clipped(grads, max_norm)
        with unchanged(*grads.values()):
            result, norm = unpack(learner.clip_by_global_norm(grads, max_norm), "grads", "norm")
        assert_array(norm, length, name="norm", rtol=GUARD)
        assert_arrays(result, expected, "grads", rtol=GUARD)

    @pytest.mark.purity
    def test_dict_that_is_passed_in_is_not_changed(self, learner, rng):
        grads = draw_arrays(rng)
        before = dict(grads)
        for max_norm in (0.5, 1000.0):
            unpack(learner.clip_by_global_norm(grads, max_norm), "grads", "norm")
            assert_equal(grads, before, name="grads after the call")

    def test_short_gradients_stay_as_they_are(self, learner, rng):
        grads = draw_arrays(rng)
        expected, length = clipped(grads, np.inf)
        for max_norm in (1.001 * length, 1000 * length):
            result, norm = unpack(learner.clip_by_global_norm(grads, max_norm), "grads", "norm")
            assert_array(norm, length, name="norm", rtol=GUARD)
            assert_arrays(result, expected, "grads")

    @pytest.mark.edges
    def test_zero_gradients_have_norm_zero(self, learner, rng):
        grads = {name: 0 * value for name, value in draw_arrays(rng).items()}
        result, norm = unpack(learner.clip_by_global_norm(grads, 2.0), "grads", "norm")
        assert_array(norm, 0.0, name="norm", atol=2e-6)
        assert_arrays(result, grads, "grads")

    @pytest.mark.dtype
    def test_each_array_keeps_its_dtype(self, learner, rng):
        grads = draw_arrays(rng)
        grads["bias"] = grads["bias"].astype(np.float32)
        grads["weights"] *= 16  # the largest entry is one of float64
        for max_norm in (0.5, 1000.0):
            expected, length = clipped(grads, max_norm)
            result, norm = unpack(learner.clip_by_global_norm(grads, max_norm), "grads", "norm")
            assert_array(norm, length, name="norm", rtol=1e-4)
            assert_arrays(result, expected, "grads", rtol=1e-4)
            for name, value in grads.items():
                assert_array(result[name], expected[name], name=f"grads[{name!r}]", rtol=1e-4, dtype=value.dtype)

    @pytest.mark.refusals
    def test_max_norm_that_is_not_above_zero_is_refused(self, learner, rng):
        for max_norm in (0.0, -1.0, np.nan):
            with pytest.raises(ValueError):
                learner.clip_by_global_norm(draw_arrays(rng), max_norm)


@pytest.mark.criterion("clip-extremes")
class TestExtremes:
    @pytest.mark.edges
    def test_squares_that_overflow(self, learner, rng):
        for dtype, size in ((np.float32, 1e25), (np.float64, 1e200)):
            grads = {name: (-size * np.abs(value)).astype(dtype) for name, value in draw_arrays(rng).items()}
            for value in grads.values():  # what is largest is so by size, and not each entry is
                value.flat[0] = 0.001
            expected, length = clipped(grads, 2.0)
            result, norm = unpack(learner.clip_by_global_norm(grads, 2.0), "grads", "norm")
            rtol = 1e-4 if dtype is np.float32 else None
            assert_array(norm, length, name=f"norm of {np.dtype(dtype).name} gradients near {size:g}", rtol=rtol)
            assert_arrays(result, expected, "grads", rtol=rtol)

    @pytest.mark.edges
    def test_squares_that_underflow(self, learner, rng):
        for dtype, size in ((np.float32, 1e-25), (np.float64, 1e-200)):
            grads = {name: (size * value).astype(dtype) for name, value in draw_arrays(rng).items()}
            for max_norm in (float(size), 1.0):
                expected, length = clipped(grads, max_norm)
                result, norm = unpack(learner.clip_by_global_norm(grads, max_norm), "grads", "norm")
                rtol = 1e-4 if dtype is np.float32 else None
                assert_array(norm, length, name=f"norm of {np.dtype(dtype).name} gradients near {size:g}", rtol=rtol)
                assert_arrays(result, expected, "grads", rtol=rtol)

    @pytest.mark.edges
    def test_short_gradients_stay_as_they_are_at_any_size(self, learner, rng):
        for size in (1e-9, 1e-100):
            grads = {name: size * value for name, value in draw_arrays(rng).items()}
            expected, length = clipped(grads, np.inf)
            for max_norm in (1.5 * length, 1000 * length):
                result, norm = unpack(learner.clip_by_global_norm(grads, max_norm), "grads", "norm")
                assert_array(norm, length, name="norm")
                assert_arrays(result, expected, "grads")

    @pytest.mark.edges
    def test_one_array_far_larger_than_the_others(self, learner, rng):
        grads = draw_arrays(rng)
        for name in grads:
            scaled = {key: value * (1e180 if key == name else 1e-180) for key, value in grads.items()}
            expected, length = clipped(scaled, 1.0)
            result, norm = unpack(learner.clip_by_global_norm(scaled, 1.0), "grads", "norm")
            assert_array(norm, length, name="norm")
            assert_arrays(result, expected, "grads")

    @pytest.mark.refusals
    def test_what_is_not_finite_is_refused_wherever_it_stands(self, learner, rng):
        for bad in (np.nan, np.inf, -np.inf):
            for name in ("weights", "table"):
                grads = draw_arrays(rng)
                grads[name].flat[int(rng.integers(grads[name].size))] = bad
                with pytest.raises(ValueError):
                    learner.clip_by_global_norm(grads, 1.0)
