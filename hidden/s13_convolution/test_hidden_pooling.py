"""Hidden tests of stage s13: pooling by the maximum and by the mean, and their gradients."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, numerical_gradient, plain_array, unchanged
from hidden.s13_convolution import oracles
from hidden.s13_convolution.oracles import unpack

pytestmark = pytest.mark.values

POOLS = [(2, 2), (3, 2), (2, 1), (2, 3), (1, 2), (3, 3)]  # size and stride
OTHER_SHAPES = [(2, 4, 3, 2), (4, 2, 2, 3), (2, 4, 6), (1, 4, 2, 3), (2, 4, 2, 1), (2, 4, 2, 3, 1)]


def draw_images(rng):
    """Return images without equals, no two axes of one size."""
    return oracles.draw_distinct(rng, (*oracles.draw_sizes(rng, 2), *oracles.draw_sizes(rng, 2, least=6)))


@pytest.mark.criterion("max-pool")
class TestMaxPool2dForward:
    @pytest.mark.parametrize("size, stride", POOLS)
    def test_any_windows_of_max_pooling(self, learner, rng, size, stride):
        x = draw_images(rng)
        with unchanged(x):
            out, _ = unpack(learner.max_pool2d_forward(x, size, stride), "out", "cache")
        assert_array(out, oracles.pool(x, size, stride, np.max), name="out")

    def test_windows_lie_side_by_side_unless_told_otherwise(self, learner, rng):
        x = draw_images(rng)
        assert_array(learner.max_pool2d_forward(x)[0], oracles.pool(x, 2, 2, np.max), name="out")
        assert_array(learner.max_pool2d_forward(x, 3)[0], oracles.pool(x, 3, 3, np.max), name="out for pool_size 3")

    def test_all_negative(self, learner, rng):
        x = draw_images(rng) - 1000
        assert_array(learner.max_pool2d_forward(x, 3, 2)[0], oracles.pool(x, 3, 2, np.max), name="out")

    @pytest.mark.edges
    def test_numbers_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        x = -1e100 * (1 + rng.random(draw_images(rng).shape))
        assert_array(learner.max_pool2d_forward(x, 3, 2)[0], oracles.pool(x, 3, 2, np.max), name="out")

    @pytest.mark.dtype
    def test_single_precision_stays_in_max_pooling(self, learner, rng):
        x = draw_images(rng).astype(np.float32)
        assert_array(learner.max_pool2d_forward(x)[0], oracles.pool(x, 2, 2, np.max), dtype=np.float32, name="out")

    @pytest.mark.refusals
    def test_max_pooling_refuses_windows_that_do_not_fit(self, learner):
        for arguments in [(5,), (0,), (-1,), (2, 0), (2, -1)]:
            with pytest.raises(ValueError):
                learner.max_pool2d_forward(np.ones((2, 3, 6, 4)), *arguments)

    @pytest.mark.refusals
    def test_max_pooling_refuses_other_numbers_of_axes(self, learner):
        for shape in [(4, 4), (3, 4, 4), (1, 2, 3, 4, 4)]:
            with pytest.raises(ValueError):
                learner.max_pool2d_forward(np.ones(shape))


@pytest.mark.criterion("max-pool-gradients")
class TestMaxPool2dBackward:
    @pytest.mark.parametrize("size, stride", POOLS)
    def test_gradients_of_any_max_pooling(self, learner, rng, size, stride):
        x = draw_images(rng)
        _, cache = unpack(learner.max_pool2d_forward(x, size, stride), "out", "cache")
        grad_output = rng.normal(size=oracles.pool(x, size, stride, np.max).shape)
        with unchanged(grad_output):
            grad_x = learner.max_pool2d_backward(grad_output, cache)
        assert_array(grad_x, oracles.max_pool_gradient(grad_output, x, size, stride), terms=9, name="grad_x")

    @pytest.mark.purity
    def test_backward_of_max_pooling_goes_through_the_call_whose_cache_it_gets(self, learner, rng):
        x = oracles.draw_distinct(rng, (2, 3, 4, 6))
        _, cache = unpack(learner.max_pool2d_forward(x), "out", "cache")
        unpack(learner.max_pool2d_forward(-x), "out", "cache")
        grad_output = rng.normal(size=(2, 3, 2, 3))
        right = oracles.max_pool_gradient(grad_output, x, 2, 2)
        name = "grad_x of the first of two forward calls, from its cache"
        assert_array(learner.max_pool2d_backward(grad_output, cache), right, name=name)

    def test_finite_differences_of_max_pooling(self, learner, rng):
        x, grad_output = oracles.draw_distinct(rng, (2, 1, 5, 4)), rng.normal(size=(2, 1, 2, 1))
        _, cache = unpack(learner.max_pool2d_forward(x, 3, 2), "out", "cache")
        grad_x = learner.max_pool2d_backward(grad_output, cache)
        numerical = numerical_gradient(
            lambda each: np.sum(plain_array(learner.max_pool2d_forward(each, 3, 2)[0]) * grad_output), x
        )
        assert_gradient(grad_x, numerical, name="grad_x")

    @pytest.mark.edges
    def test_the_first_of_equals_in_reading_order(self, learner, rng):
        x = rng.integers(0, 2, size=(3, 2, 7, 6)).astype(float)
        _, cache = unpack(learner.max_pool2d_forward(x, 3, 2), "out", "cache")
        grad_output = rng.normal(size=(3, 2, 3, 2))
        grad_x = learner.max_pool2d_backward(grad_output, cache)
        assert_array(grad_x, oracles.max_pool_gradient(grad_output, x, 3, 2), terms=9, name="grad_x")

    @pytest.mark.dtype
    def test_single_precision_stays_in_the_gradient_of_max_pooling(self, learner, rng):
        x = oracles.draw_distinct(rng, (2, 3, 4, 6)).astype(np.float32)
        _, cache = unpack(learner.max_pool2d_forward(x), "out", "cache")
        grad_output = rng.normal(size=(2, 3, 2, 3)).astype(np.float32)
        grad_x = learner.max_pool2d_backward(grad_output, cache)
        assert_array(grad_x, oracles.max_pool_gradient(grad_output, x, 2, 2), dtype=np.float32, name="grad_x")

    @pytest.mark.dtype
    def test_gradients_of_whole_numbers_keep_their_fractions(self, learner, rng):
        x = oracles.draw_distinct(rng, (2, 3, 4, 6))
        x = x.ravel().argsort().argsort().reshape(x.shape)  # whole numbers in the same order
        _, cache = unpack(learner.max_pool2d_forward(x), "out", "cache")
        grad_output = rng.normal(size=(2, 3, 2, 3))
        grad_x = learner.max_pool2d_backward(grad_output, cache)
        assert_array(grad_x, oracles.max_pool_gradient(grad_output, x, 2, 2), name="grad_x")

    @pytest.mark.refusals
    def test_max_pooling_refuses_gradients_of_other_shapes(self, learner):
        for shape in OTHER_SHAPES:
            _, cache = unpack(learner.max_pool2d_forward(np.ones((2, 4, 4, 6))), "out", "cache")
            with pytest.raises(ValueError):
                learner.max_pool2d_backward(np.ones(shape), cache)


@pytest.mark.criterion("average-pool")
class TestAvgPool2d:
    @pytest.mark.parametrize("size, stride", POOLS)
    def test_any_average_pooling(self, learner, rng, size, stride):
        x = draw_images(rng)
        with unchanged(x):
            out, cache = unpack(learner.avg_pool2d_forward(x, size, stride), "out", "cache")
        expected = oracles.pool(x, size, stride, np.mean)
        assert_array(out, expected, name="out")
        grad_output = rng.normal(size=expected.shape)
        with unchanged(grad_output):
            grad_x = learner.avg_pool2d_backward(grad_output, cache)
        assert_array(grad_x, oracles.avg_pool_gradient(grad_output, x, size, stride), terms=9, name="grad_x")

    def test_average_windows_lie_side_by_side_unless_told_otherwise(self, learner, rng):
        x = draw_images(rng)
        assert_array(learner.avg_pool2d_forward(x)[0], oracles.pool(x, 2, 2, np.mean), name="out")
        assert_array(learner.avg_pool2d_forward(x, 3)[0], oracles.pool(x, 3, 3, np.mean), name="out for pool_size 3")

    @pytest.mark.purity
    def test_backward_of_average_pooling_goes_through_the_call_whose_cache_it_gets(self, learner, rng):
        x = rng.normal(size=(2, 3, 4, 6))
        _, cache = unpack(learner.avg_pool2d_forward(x), "out", "cache")
        unpack(learner.avg_pool2d_forward(rng.normal(size=(2, 3, 6, 4)), 3, 1), "out", "cache")
        grad_output = rng.normal(size=(2, 3, 2, 3))
        right = oracles.avg_pool_gradient(grad_output, x, 2, 2)
        name = "grad_x of the first of two forward calls, from its cache"
        assert_array(learner.avg_pool2d_backward(grad_output, cache), right, name=name)

    def test_finite_differences_of_average_pooling(self, learner, rng):
        x, grad_output = rng.normal(size=(2, 1, 5, 4)), rng.normal(size=(2, 1, 2, 1))
        _, cache = unpack(learner.avg_pool2d_forward(x, 3, 2), "out", "cache")
        grad_x = learner.avg_pool2d_backward(grad_output, cache)
        numerical = numerical_gradient(
            lambda each: np.sum(plain_array(learner.avg_pool2d_forward(each, 3, 2)[0]) * grad_output), x
        )
        assert_gradient(grad_x, numerical, name="grad_x")

    @pytest.mark.dtype
    def test_single_precision_stays_in_average_pooling(self, learner, rng):
        x = rng.normal(size=(2, 3, 4, 6)).astype(np.float32)
        out, cache = unpack(learner.avg_pool2d_forward(x), "out", "cache")
        assert_array(out, oracles.pool(x, 2, 2, np.mean), dtype=np.float32, name="out")
        grad_output = rng.normal(size=(2, 3, 2, 3)).astype(np.float32)
        grad_x = learner.avg_pool2d_backward(grad_output, cache)
        assert_array(grad_x, oracles.avg_pool_gradient(grad_output, x, 2, 2), dtype=np.float32, name="grad_x")

    @pytest.mark.dtype
    def test_averages_of_whole_numbers_keep_their_fractions(self, learner, rng):
        x = rng.integers(0, 256, size=(2, 3, 4, 6))
        x[0, 0, 0, 0] += 1 - x[0, 0, :2, :2].sum() % 2  # one sum at least is odd
        out, cache = unpack(learner.avg_pool2d_forward(x), "out", "cache")
        assert_array(out, oracles.pool(x, 2, 2, np.mean), name="out")
        grad_output = rng.normal(size=(2, 3, 2, 3))
        grad_x = learner.avg_pool2d_backward(grad_output, cache)
        assert_array(grad_x, oracles.avg_pool_gradient(grad_output, x, 2, 2), terms=9, name="grad_x")

    @pytest.mark.refusals
    def test_average_pooling_refuses_gradients_of_other_shapes(self, learner):
        for shape in OTHER_SHAPES:
            _, cache = unpack(learner.avg_pool2d_forward(np.ones((2, 4, 4, 6))), "out", "cache")
            with pytest.raises(ValueError):
                learner.avg_pool2d_backward(np.ones(shape), cache)

    @pytest.mark.refusals
    def test_average_pooling_refuses_windows_that_do_not_fit(self, learner):
        for arguments in [(5,), (0,), (-1,), (2, 0), (2, -1)]:
            with pytest.raises(ValueError):
                learner.avg_pool2d_forward(np.ones((2, 3, 6, 4)), *arguments)

    @pytest.mark.refusals
    def test_average_pooling_refuses_other_numbers_of_axes(self, learner):
        for shape in [(4, 4), (3, 4, 4), (1, 2, 3, 4, 4)]:
            with pytest.raises(ValueError):
                learner.avg_pool2d_forward(np.ones(shape))
