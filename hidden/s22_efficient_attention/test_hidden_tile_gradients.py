"""Hidden tests of stage s22: the backward pass of tiled attention against whole arrays."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, numerical_gradient, unchanged
from hidden.s22_efficient_attention import oracles
from hidden.s22_efficient_attention.checks import BACKWARD, BLOCKS, backward

pytestmark = pytest.mark.values


@pytest.mark.criterion("tiled-gradients")
class TestTiledGradients:
    @pytest.mark.parametrize("causal", [False, True])
    def test_finite_differences(self, learner, rng, causal):
        inputs = oracles.draw(rng, (), 4, 5, 3, 2)
        grad, allowed = rng.normal(size=(4, 2)), oracles.allowed_pairs(4, 5, causal)
        found = backward(learner, grad, *inputs, 2, allowed, causal=causal)
        for place, (name, actual) in enumerate(zip(BACKWARD, found, strict=True)):

            def loss(x, place=place):
                changed = [*inputs[:place], x, *inputs[place + 1 :]]
                return (oracles.attention(*changed, allowed)[0] * grad).sum()

            assert_gradient(actual, numerical_gradient(loss, inputs[place]), name=name)

    @pytest.mark.parametrize("block_size", BLOCKS)
    @pytest.mark.parametrize("causal", [False, True])
    def test_every_block_size_gives_the_same(self, learner, rng, block_size, causal):
        Q, K, V = oracles.draw(rng, (2, 3), 7, 9, 3, 2)
        grad, mask = rng.normal(size=(2, 3, 7, 2)), oracles.draw_key_mask(rng, (2, 1, 9))
        allowed = oracles.allowed_pairs(7, 9, causal, mask)
        found = backward(learner, grad, Q, K, V, block_size, allowed, causal=causal, key_mask=mask)
        expected = oracles.attention_gradients(grad, Q, K, V, allowed)
        for name, actual, right in zip(BACKWARD, found, expected, strict=True):
            assert_array(actual, right, name=name, terms=50)

    @pytest.mark.edges
    def test_queries_without_keys_pass_on_nothing(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 6, 6, 3, 2)
        grad, mask = rng.normal(size=(6, 2)), np.arange(6) >= 4
        allowed = oracles.allowed_pairs(6, 6, True, mask)
        found = backward(learner, grad, Q, K, V, 2, allowed, causal=True, key_mask=mask)
        for name, actual, right in zip(
            BACKWARD, found, oracles.attention_gradients(grad, Q, K, V, allowed), strict=True
        ):
            assert_array(actual, right, name=name, terms=50)

    @pytest.mark.edges
    @pytest.mark.parametrize("causal", [False, True])
    def test_no_keys_at_all(self, learner, rng, causal):
        (Q, K, V), grad = oracles.draw(rng, (2,), 4, 0, 3, 2), rng.normal(size=(2, 4, 2))
        given = (grad, Q, K, V, np.zeros((2, 4, 2)), np.full((2, 4), -np.inf), 2)
        found = oracles.parts(learner.tiled_attention_backward(*given, causal), BACKWARD)
        for name, actual, right in zip(BACKWARD, found, (Q, K, V), strict=True):
            assert_array(actual, np.zeros(right.shape), name=name)

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        """The key nearest to 0 has all the weight, and there is nothing to gain by another score."""
        Q, K = oracles.draw_far_below(rng, 4, 4)
        V, grad, mask = rng.normal(size=(4, 2)), rng.normal(size=(4, 2)), np.array([True, False, True, True])
        best = [max((j for j in range(i + 1) if mask[j]), key=lambda j: K[j, 0]) for i in range(4)]
        given = (grad, Q, K, V, V[best], Q[:, 0] * K[best, 0], 2)
        _, _, grad_V = oracles.parts(learner.tiled_attention_backward(*given, True, mask), BACKWARD)
        expected = np.zeros((4, 2))
        np.add.at(expected, best, grad)
        assert_array(grad_V, expected, name="grad_V")

    @pytest.mark.dtype
    def test_integers_are_numbers_too(self, learner, rng):
        Q, K, V = (rng.integers(-3, 4, size=shape) for shape in ((5, 3), (6, 3), (6, 2)))
        grad = rng.integers(-3, 4, size=(5, 2))
        found = backward(learner, grad, Q, K, V, 2)
        for name, actual, right in zip(BACKWARD, found, oracles.attention_gradients(grad, Q, K, V), strict=True):
            assert_array(actual, right, name=name, terms=50)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 6, 3, 2)
        grad = rng.normal(size=(5, 2))
        output, log_sum_exp, _ = oracles.attention(Q, K, V)
        given = [x.astype(np.float32) for x in (grad, Q, K, V, output, log_sum_exp)]
        found = oracles.parts(learner.tiled_attention_backward(*given, 2), BACKWARD)
        for name, actual, right in zip(BACKWARD, found, oracles.attention_gradients(grad, Q, K, V), strict=True):
            assert_array(actual, right.astype(np.float32), name=name, dtype=np.float32, rtol=1e-3)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 6, 3, 2)
        grad_output = rng.normal(size=(5, 2))
        output, log_sum_exp, _ = oracles.attention(Q, K, V)
        with unchanged(grad_output, Q, K, V, output, log_sum_exp):
            learner.tiled_attention_backward(grad_output, Q, K, V, output, log_sum_exp, 2)

    @pytest.mark.refusals
    @pytest.mark.parametrize("place", [0, 2, 3, 4, 5])
    def test_what_has_not_the_shapes_of_forward_is_refused(self, learner, place):
        right = [(5, 2), (5, 3), (6, 3), (6, 2), (5, 2), (5,)]
        others = {0: [(5, 3), (6, 2), (5, 1), (1, 2)], 2: [(6, 1), (1, 6, 3), (3,)], 3: [(5, 2), (1, 6, 2), (2,)]}
        for shape in {**others, 4: [(5, 3), (5,), (5, 1), (1, 2)], 5: [(6,), (5, 1), (1,)]}[place]:
            shapes = [*right[:place], shape, *right[place + 1 :]]
            with pytest.raises(ValueError):
                learner.tiled_attention_backward(*map(np.ones, shapes), 2)

    @pytest.mark.refusals
    def test_block_sizes_and_masks_that_do_not_fit(self, learner):
        given = [np.ones(shape) for shape in ((5, 2), (5, 3), (6, 3), (6, 2), (5, 2), (5,))]
        for block_size, mask in ((0, None), (-2, None), (2.5, None), (2, np.ones(5)), (2, np.ones((2, 6)))):
            with pytest.raises(ValueError):
                learner.tiled_attention_backward(*given, block_size, key_mask=mask)
