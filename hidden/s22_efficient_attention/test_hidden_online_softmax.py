"""Hidden tests of stage s22: online softmax against whole arrays."""

import numpy as np
import pytest

from grader.testing import assert_array, unchanged
from hidden.s22_efficient_attention import oracles
from hidden.s22_efficient_attention.checks import BLOCKS

pytestmark = pytest.mark.values
SOFTMAX = ("weights", "maximum", "total")


def assert_softmax(result, scores):
    """Assert that a result of online_softmax is right for the scores."""
    for name, actual, expected in zip(SOFTMAX, oracles.parts(result, SOFTMAX), oracles.softmax(scores), strict=True):
        assert_array(actual, expected, name=name, terms=scores.shape[-1])


@pytest.mark.criterion("online-softmax")
class TestOnlineSoftmax:
    @pytest.mark.parametrize("block_size", [*BLOCKS, np.int64(4)])
    def test_every_block_size_gives_the_same(self, learner, rng, block_size):
        for leading in ((3,), (2, 4), ()):
            scores = rng.normal(scale=3, size=(*leading, 11))
            assert_softmax(learner.online_softmax(scores, block_size), scores)

    @pytest.mark.parametrize("order", [1, -1], ids=["rising", "falling"])
    def test_scores_in_order(self, learner, rng, order):
        scores = np.sort(rng.normal(scale=4, size=(3, 10)), axis=-1)[:, ::order]
        assert_softmax(learner.online_softmax(scores, 3), scores)

    @pytest.mark.edges
    def test_scores_that_no_exponential_holds(self, learner, rng):
        scores = rng.choice([-800.0, 0.0, 750.0, 5000.0, 5001.0], size=(6, 9)) + rng.normal(size=(6, 9))
        assert_softmax(learner.online_softmax(scores, 2), scores)
        scores = np.array([[5000.0, -5000.0, -5000.0], [-5000.0, -5000.0, 5000.0]])
        assert_softmax(learner.online_softmax(scores, 1), scores)

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        scores = oracles.FAR_BELOW * rng.uniform(1.0, 2.0, size=(4, 7))
        assert_softmax(learner.online_softmax(scores, 2), scores)
        assert_softmax(learner.online_softmax(np.array([-90000.0, -90300.0]), 1), np.array([-90000.0, -90300.0]))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        scores = rng.normal(size=(3, 7)).astype(np.float32)
        found = oracles.parts(learner.online_softmax(scores, 3), SOFTMAX)
        for name, actual, expected in zip(SOFTMAX, found, oracles.softmax(scores.astype(np.float64)), strict=True):
            assert_array(actual, expected.astype(np.float32), name=name, dtype=np.float32)

    @pytest.mark.dtype
    def test_integers_are_scores_too(self, learner, rng):
        scores = rng.integers(-3, 4, size=(3, 7))
        assert_softmax(learner.online_softmax(scores, 3), scores.astype(np.float64))

    @pytest.mark.purity
    def test_scores_stay_as_they_are(self, learner, rng):
        scores = rng.normal(size=(3, 7))
        with unchanged(scores):
            learner.online_softmax(scores, 2)

    @pytest.mark.refusals
    @pytest.mark.parametrize("block_size", [0, -1, 2.0, None])
    def test_block_sizes_that_are_none(self, learner, rng, block_size):
        with pytest.raises(ValueError):
            learner.online_softmax(rng.normal(size=(3, 4)), block_size)

    @pytest.mark.refusals
    def test_a_number_has_no_rows(self, learner):
        with pytest.raises(ValueError):
            learner.online_softmax(np.array(2.0), 1)


@pytest.mark.criterion("online-softmax-masked")
class TestOnlineSoftmaxMasked:
    @pytest.mark.parametrize("block_size", [1, 2, 4, 20])
    def test_scattered_minus_infinities(self, learner, rng, block_size):
        scores = np.where(rng.random((2, 5, 9)) < 0.6, -np.inf, rng.normal(scale=2, size=(2, 5, 9)))
        scores[0, rng.integers(5)] = -np.inf
        assert_softmax(learner.online_softmax(scores, block_size), scores)

    def test_a_masked_start_middle_and_end(self, learner, rng):
        scores = rng.normal(size=(3, 9)) + rng.choice([-400.0, 400.0], size=(3, 1))
        for row in range(3):
            scores[row, 3 * row : 3 * row + 3] = -np.inf
        assert_softmax(learner.online_softmax(scores, 3), scores)

    @pytest.mark.edges
    @pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
    def test_rows_without_a_score(self, learner, leading):
        for actual, name, shape, value in zip(
            oracles.parts(learner.online_softmax(np.empty((*leading, 0)), 2), SOFTMAX),
            SOFTMAX,
            ((*leading, 0), leading, leading),
            (0.0, -np.inf, 0.0),
            strict=True,
        ):
            assert_array(actual, np.full(shape, value), name=name)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner):
        scores = np.full((2, 3), -np.inf, dtype=np.float32)
        for name, value in zip(SOFTMAX, learner.online_softmax(scores, 2), strict=True):
            expected = np.full(np.shape(value), -np.inf if name == "maximum" else 0.0, dtype=np.float32)
            assert_array(value, expected, name=name, dtype=np.float32)
