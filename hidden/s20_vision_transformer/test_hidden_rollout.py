"""Hidden tests of stage s20: attention rolled out over the layers, and the map of the class token."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, unchanged
from hidden.s20_vision_transformer import oracles

pytestmark = pytest.mark.values


def draw_weights(rng, depth, batch, heads, seq):
    """Return attention weights, each row of which sums to 1."""
    weights = rng.exponential(size=(depth, batch, heads, seq, seq))
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.criterion("attention-rollout")
class TestRollout:
    @pytest.mark.parametrize("depth, batch, heads, seq", [(3, 2, 2, 4), (1, 2, 3, 5), (2, 1, 1, 3), (4, 3, 2, 2)])
    def test_any_weights(self, learner, rng, depth, batch, heads, seq):
        weights = draw_weights(rng, depth, batch, heads, seq)
        assert_array(learner.attention_rollout(weights), oracles.roll_out(weights))

    def test_rows_of_any_sum_are_divided_by_it(self, learner, rng):
        weights = rng.exponential(size=(3, 2, 2, 4, 4))
        weights[1, 0, :, 2] = 0  # a token that attends to nothing stays what it was
        assert_array(learner.attention_rollout(weights), oracles.roll_out(weights))

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        weights = draw_weights(rng, 3, 2, 2, 4).astype(np.float32)
        expected = oracles.roll_out(weights.astype(np.float64)).astype(np.float32)
        assert_array(learner.attention_rollout(weights), expected, dtype=np.float32)

    @pytest.mark.purity
    def test_weights_stay_as_they_are(self, learner, rng):
        weights = draw_weights(rng, 2, 2, 2, 4)
        with unchanged(weights):
            assert_shape(learner.attention_rollout(weights), (2, 4, 4))

    @pytest.mark.refusals
    def test_other_shapes_are_refused(self, learner, rng):
        for shape in ((2, 4, 4), (2, 2, 4, 4), (1, 2, 2, 2, 4, 4), (2, 2, 2, 4, 3), (2, 2, 2, 1, 4), (0, 2, 2, 4, 4)):
            with pytest.raises(ValueError):
                learner.attention_rollout(rng.random(size=shape))


@pytest.mark.criterion("class-token-map")
class TestClassTokenMap:
    @pytest.mark.parametrize("batch, rows, columns", [(2, 2, 3), (1, 4, 1), (3, 2, 2), (2, 1, 1)])
    def test_any_rollout(self, learner, rng, batch, rows, columns):
        rollout = draw_weights(rng, 1, batch, 1, 1 + rows * columns)[0, :, 0]
        expected = np.zeros((batch, rows, columns))
        for b, row, column in np.ndindex(expected.shape):
            expected[b, row, column] = rollout[b, 0, 1 + row * columns + column] / (1 - rollout[b, 0, 0])
        assert_array(learner.class_token_map(rollout, (rows, columns)), expected)

    @pytest.mark.edges
    def test_a_class_token_that_took_nothing(self, learner, rng):
        rollout = draw_weights(rng, 1, 3, 1, 5)[0, :, 0]
        expected = (rollout[:, 0, 1:] / rollout[:, 0, 1:].sum(axis=1)[:, None]).reshape(3, 2, 2)
        rollout[1], expected[1] = np.eye(5), 0.0
        assert_array(learner.class_token_map(rollout, (2, 2)), expected)

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        rollout = draw_weights(rng, 1, 2, 1, 5)[0, :, 0]
        expected = (rollout[:, 0, 1:] / rollout[:, 0, 1:].sum(axis=1)[:, None]).reshape(2, 2, 2).astype(np.float32)
        assert_array(learner.class_token_map(rollout.astype(np.float32), (2, 2)), expected, dtype=np.float32)

    @pytest.mark.purity
    def test_rollout_stays_as_it_is(self, learner, rng):
        rollout = draw_weights(rng, 1, 2, 1, 5)[0, :, 0]
        with unchanged(rollout):
            assert_shape(learner.class_token_map(rollout, (2, 2)), (2, 2, 2))

    @pytest.mark.refusals
    def test_other_grids_are_refused(self, learner, rng):
        for shape in ((2, 6, 6), (2, 4, 4), (5, 5), (1, 2, 5, 5), (2, 5, 9), (2, 9, 5)):
            with pytest.raises(ValueError):
                learner.class_token_map(rng.random(size=shape), (2, 2))
