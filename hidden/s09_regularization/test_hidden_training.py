"""Hidden tests of stage s09: dropout and early stopping."""

import math

import numpy as np
import pytest

from grader.testing import (
    assert_array,
    assert_differ,
    assert_equal,
    assert_gradient,
    assert_shape,
    numerical_gradient,
    unchanged,
)
from hidden.s09_regularization.oracles import stopping, unpack

pytestmark = pytest.mark.values


@pytest.mark.criterion("dropout")
class TestDropoutOfAnyValues:
    @pytest.mark.parametrize("shape", [(7,), (4, 5), (2, 3, 4)], ids=str)
    def test_values_of_any_shape_times_the_mask(self, learner, rng, shape):
        x, rate = rng.normal(size=shape), float(rng.uniform(0.2, 0.8))
        with unchanged(x):
            y, mask = unpack(learner.dropout(x, rate, rng), "y", "mask")
        assert_shape(mask, shape, name="mask")
        dropped = np.asarray(mask) == 0
        assert_array(mask, np.where(dropped, 0.0, 1 / (1 - rate)), name="mask")
        assert_array(y, np.where(dropped, 0.0, x / (1 - rate)), name="y")

    @pytest.mark.parametrize("rate", [0.2, 0.7])
    def test_share_that_is_dropped(self, learner, rng, rate):
        """Of 60 000 entries: off by 0.015 with chance below 4e-12; of 200 in a column, by 0.3: below 2e-15 each."""
        x = rng.normal(3, 1, (200, 300))
        y, mask = unpack(learner.dropout(x, rate, rng), "y", "mask")
        assert_shape(mask, (200, 300), name="mask")
        assert_array(np.mean(mask == 0), rate, name="the share of entries that are dropped", rtol=0, atol=0.015)
        for axis, size, which in ((0, 300, "column"), (1, 200, "row")):
            shares = np.mean(mask == 0, axis=axis)
            assert_array(shares, np.full(size, rate), name=f"the share dropped in each {which}", rtol=0, atol=0.3)
        # the mean of y - x has a deviation of at most sqrt(10 * 2.4) / sqrt(60 000) = 0.02; nine of these are 0.18
        assert_array(np.mean(y), np.mean(x), name="the mean of y", rtol=0, atol=0.18)

    def test_entries_are_dropped_independently(self, learner, rng):
        """The number that is dropped varies; that 100 draws of 20 entries have one number has chance below 1e-70."""
        masks = [unpack(learner.dropout(np.ones(20), 0.5, rng), "y", "mask")[1] for _ in range(100)]
        counts = {int(np.sum(mask == 0)) for mask in masks}
        if len(counts) == 1:
            raise AssertionError(f"in 100 calls, {counts.pop()} of 20 entries were dropped each time")

    @pytest.mark.purity
    def test_generator_decides_the_mask(self, learner, rng, seed):
        x = rng.normal(size=(8, 12))
        first, same, other = (
            unpack(learner.dropout(x, 0.5, np.random.default_rng(s)), "y", "mask")[1] for s in (seed, seed, seed + 1)
        )
        assert_array(same, first, name="mask drawn again with a generator of the same seed")
        assert_differ(first, other, shape=(8, 12), name="masks of two different seeds")  # equal by a chance of 2^-96

    @pytest.mark.dtype
    def test_single_precision_is_kept_in_both(self, learner, rng):
        x = rng.normal(size=(4, 5)).astype(np.float32)
        for training in (True, False):
            y, mask = unpack(learner.dropout(x, 0.5, rng, training=training), "y", "mask")
            dropped = (np.asarray(mask) == 0) & training
            factors = np.where(dropped, 0.0, 2.0 if training else 1.0)
            assert_array(mask, factors, name="mask")
            assert_array(y, x * factors, name="y", dtype="float32")
            assert_array(mask, np.array(mask, np.float32), name="mask", dtype="float32")

    @pytest.mark.purity
    def test_nothing_is_dropped_scaled_or_drawn_after_training(self, learner, rng, seed):
        x, generator = rng.normal(size=(6, 7)), np.random.default_rng(seed)
        y, mask = unpack(learner.dropout(x, 0.9, generator, False), "y", "mask")
        assert_array(y, x, name="y")
        assert_array(mask, np.ones((6, 7)), name="mask")
        assert_array(generator.random(3), np.random.default_rng(seed).random(3), name="what the generator draws next")

    @pytest.mark.edges
    def test_rate_of_zero_drops_nothing(self, learner, rng):
        x = rng.normal(size=(6, 7))
        y, mask = unpack(learner.dropout(x, 0.0, rng), "y", "mask")
        assert_array(y, x, name="y")
        assert_array(mask, np.ones((6, 7)), name="mask")

    @pytest.mark.dtype
    def test_what_is_kept_of_whole_numbers_has_fractions(self, learner, rng):
        x = rng.integers(1, 10, size=(4, 5))
        y, mask = unpack(learner.dropout(x, 0.25, rng), "y", "mask")
        factors = np.where(np.asarray(mask) == 0, 0.0, 4 / 3)
        assert_array(mask, factors, name="mask")
        assert_array(y, x * factors, name="y")

    @pytest.mark.refusals
    def test_unsuitable_rates_are_refused(self, learner, rng):
        for rate in (-float(rng.uniform(1e-6, 0.1)), 1.0, 1 + float(rng.uniform(0.1, 2))):
            for training in (True, False):
                with pytest.raises(ValueError):
                    learner.dropout(np.ones(4), rate, rng, training=training)


@pytest.mark.criterion("dropout-backward")
class TestDropoutBackwardOfAnyGradient:
    @pytest.mark.parametrize("shape", [(7,), (4, 5), (2, 3, 4)], ids=str)
    def test_any_gradient_times_the_mask(self, learner, rng, shape):
        grad_output = rng.normal(size=shape)
        mask = rng.integers(0, 2, shape) * float(rng.uniform(1.1, 4))
        with unchanged(grad_output, mask):
            result = learner.dropout_backward(grad_output, mask)
        expected = [g * m for g, m in zip(grad_output.ravel().tolist(), mask.ravel().tolist(), strict=True)]
        assert_array(result, np.array(expected).reshape(shape))

    def test_agrees_with_differences_of_the_own_dropout(self, learner, rng, seed):
        x, grad_output = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))

        def loss(at):
            return np.sum(grad_output * unpack(learner.dropout(at, 0.4, np.random.default_rng(seed)), "y", "mask")[0])

        _, mask = unpack(learner.dropout(x, 0.4, np.random.default_rng(seed)), "y", "mask")
        grad = learner.dropout_backward(grad_output, mask)
        assert_gradient(grad, numerical_gradient(loss, x), name="dropout_backward")

    @pytest.mark.dtype
    def test_gradient_of_single_precision(self, learner, rng):
        grad_output, mask = rng.normal(size=5).astype(np.float32), np.array([2, 0, 2, 2, 0], np.float32)
        assert_array(learner.dropout_backward(grad_output, mask), grad_output * mask, dtype="float32")

    @pytest.mark.dtype
    def test_gradient_of_whole_numbers_has_fractions(self, learner, rng):
        grad_output, mask = rng.integers(1, 10, size=5), rng.permutation([0.0, 4 / 3, 4 / 3, 0.0, 4 / 3])
        assert_array(learner.dropout_backward(grad_output, mask), grad_output * mask)

    @pytest.mark.refusals
    def test_shapes_that_only_broadcast_are_refused(self, learner, rng):
        for grad_shape, mask_shape in (((3, 4), (4,)), ((4,), (3, 4)), ((3, 4), (3, 1)), ((3, 4), (1, 4)), ((1,), ())):
            with pytest.raises(ValueError):
                learner.dropout_backward(rng.normal(size=grad_shape), np.ones(mask_shape))


@pytest.mark.criterion("early-stopping")
class TestEarlyStoppingOfAnyLosses:
    def test_any_course_of_losses(self, learner, rng):
        """Losses are whole eighths, so that no comparison hangs on rounding."""
        for _ in range(30):
            noise = rng.integers(-6, 7, 14)
            losses = (np.maximum(40 - 3 * np.arange(14), 12) + noise) / 8
            patience, min_delta = int(rng.integers(1, 6)), int(rng.integers(0, 7)) / 8
            with unchanged(losses):
                result = learner.early_stopping(losses, patience, min_delta)
            assert_equal(result, stopping(losses.tolist(), patience, min_delta))
            without = learner.early_stopping(losses.tolist(), patience)
            assert_equal(without, stopping(losses.tolist(), patience, 0.0))

    def test_slow_descent_is_measured_from_the_best_epoch(self, learner, rng):
        """Steps of less than min_delta add up, until one epoch is low enough."""
        steps = int(rng.integers(2, 5))
        losses = [0.75 - 0.25 * epoch for epoch in range(3 * (steps + 1) + 1)]
        for patience in (steps, steps + 1):
            result = learner.early_stopping(losses, patience, 0.25 * steps)
            assert_equal(result, stopping(losses, patience, 0.25 * steps))

    @pytest.mark.edges
    def test_equal_losses_and_the_last_epoch(self, learner, rng):
        level = float(rng.integers(1, 9)) / 8
        assert_equal(learner.early_stopping([level] * 6, 3), (3, 0))
        assert_equal(learner.early_stopping([level] * 4, 3), (3, 0))
        assert_equal(learner.early_stopping([level] * 3, 3), (2, 0))
        assert_equal(learner.early_stopping([level], 1), (0, 0))
        assert_equal(learner.early_stopping([level, level - 0.125, level], 1), (2, 1))

    @pytest.mark.edges
    def test_losses_that_are_not_a_number(self, learner, rng):
        level = float(rng.integers(1, 9)) / 8
        course = [level, math.nan, level + 1, level + 2, level + 3, level - 1]
        assert_equal(learner.early_stopping(course, 3), (3, 0))
        assert_equal(learner.early_stopping([level, math.nan, math.nan, level - 1], 2), (2, 0))
        assert_equal(learner.early_stopping([4.0, math.nan, 3.0, math.nan, 2.0, 5.0, 5.0], 2), (6, 4))
        assert_equal(learner.early_stopping([4.0, math.nan, 5.0, 4.5, 6.0, 6.0], 3), (3, 0))
        assert_equal(learner.early_stopping([4.0, 3.75, math.nan, 3.25], 3, 0.5), (3, 3))
        assert_equal(learner.early_stopping([math.nan, level, level + 1, level + 1], 2), (3, 1))
        assert_equal(learner.early_stopping([math.nan, math.nan, level, math.nan, level - 1], 3), (4, 4))
        assert_equal(learner.early_stopping([math.nan] * 5, 3), (3, 0))
        assert_equal(learner.early_stopping([math.nan, 2.0, 3.0, 3.0], 2), (3, 1))

    @pytest.mark.refusals
    def test_unsuitable_losses_patience_and_min_delta(self, learner, rng):
        for losses, patience, min_delta in (([], 2, 0.0), ([1.0, 2.0], 0, 0.0), ([1.0, 2.0], -1, 0.0)):
            with pytest.raises(ValueError):
                learner.early_stopping(losses, patience, min_delta)
        with pytest.raises(ValueError):
            learner.early_stopping([1.0, 2.0], 2, -float(rng.uniform(1e-6, 0.1)))
