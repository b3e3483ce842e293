"""Hidden tests of stage s18: greedy and sampled tokens, whose shares are compared with probabilities.

A share of N draws has a standard deviation of at most 1 / (2 sqrt(N)); NOISE is six of them, so that of a thousand
million correct answers about one is turned down. Which tokens come up at all is compared exactly.
"""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_shape, unchanged
from hidden.s18_decoder_and_generation.oracles import probabilities

pytestmark = pytest.mark.values

DRAWS = 5000
NOISE = 3 / math.sqrt(DRAWS)


def draw_logits(rng, count=5):
    """Return scores in any order, no two closer than 0.4."""
    return rng.permutation(rng.uniform(0.4, 0.7, size=count).cumsum()) + rng.normal()


def check_shares(learner, rng, logits, **options):
    """Compare the shares of drawn tokens with the oracle's probabilities, and what is never drawn."""
    expected = probabilities(logits.tolist(), **options)
    drawn = learner.sample(np.tile(logits, (DRAWS, 1)), **options, rng=rng)
    assert_shape(drawn, (DRAWS,), name="tokens")
    found = np.bincount(drawn, minlength=len(logits)) / DRAWS
    never = [token for token, share in enumerate(expected) if share == 0]
    assert_equal([token for token in never if found[token] > 0], [], name="drawn tokens that should have been left out")
    assert_array(found, expected, rtol=0, atol=NOISE, name=f"shares of the tokens in {DRAWS} draws")


def between(rng, shares):
    """Return a top_p well between two sums of the likeliest shares, and not below the first."""
    sums = np.cumsum(sorted(shares, reverse=True))
    place = int(rng.integers(len(sums) - 2))
    return float((sums[place] + sums[place + 1]) / 2)


@pytest.mark.criterion("greedy")
class TestGreedy:
    @pytest.mark.parametrize("shape", [(7,), (4, 5), (2, 3, 6)], ids=str)
    def test_highest_score(self, learner, rng, shape):
        logits = rng.normal(size=shape)
        best = rng.integers(0, shape[-1], size=shape[:-1])
        np.put_along_axis(logits, np.asarray(best)[..., None], 10.0, axis=-1)
        with unchanged(logits):
            result = learner.greedy(logits)
        assert_array(result, best, name="tokens")

    @pytest.mark.edges
    def test_equal_and_endless_scores(self, learner, rng):
        first, second = sorted(int(place) for place in rng.choice(6, size=2, replace=False))
        logits = np.full((2, 6), -np.inf)
        logits[:, [first, second]] = 1.0
        logits[1, first] = 0.5
        assert_array(learner.greedy(logits), [first, second], name="tokens")

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        logits = -1e100 * rng.uniform(1.0, 2.0, size=(4, 6))
        assert_array(learner.greedy(logits), np.argsort(logits, axis=-1)[:, -1], name="tokens")


@pytest.mark.criterion("temperature")
class TestTemperature:
    @pytest.mark.parametrize("temperature", [1.0, 0.4, 3.0])
    def test_shares(self, learner, rng, temperature):
        check_shares(learner, rng, draw_logits(rng), temperature=temperature)

    def test_defaults_leave_all_tokens(self, learner, rng):
        check_shares(learner, rng, draw_logits(rng))

    @pytest.mark.parametrize("shape", [(), (4,), (2, 3)], ids=str)
    def test_each_row_has_its_own_scores(self, learner, rng, shape):
        logits, best = rng.normal(size=(*shape, 5)), np.asarray(rng.integers(0, 5, size=shape))
        np.put_along_axis(logits, best[..., None], 800.0, axis=-1)
        with unchanged(logits):
            result = learner.sample(logits, rng=rng)
        assert_array(result, best, name="tokens, of which one in each row is all but certain")

    def test_each_row_has_its_own_draw(self, learner, rng):
        drawn = learner.sample(np.zeros((20, 30, 50)), rng=rng)
        assert_shape(drawn, (20, 30), name="tokens")
        assert_equal(sorted(set(range(50)).union(drawn.ravel().tolist())), list(range(50)), name="tokens of all draws")
        for axis, name in enumerate(("rows", "columns")):
            is_varied = bool(np.ptp(drawn, axis=axis).all())
            assert_equal(is_varied, True, name=f"whether tokens of different {name} differ")

    def test_generators(self, learner, seed):
        logits = np.zeros((40, 8))
        first, again = (learner.sample(logits, rng=np.random.default_rng(seed)) for _ in range(2))
        assert_array(again, first, name="tokens of an equal generator")
        rng = np.random.default_rng(seed)
        one, other = (learner.sample(logits, rng=rng) for _ in range(2))
        assert_differ(one, other, shape=(40,), dtype=int, name="tokens of two calls with the same generator")
        one, other = (learner.sample(logits) for _ in range(2))
        assert_differ(one, other, shape=(40,), dtype=int, name="tokens of two calls without a generator")

    @pytest.mark.edges
    def test_scores_far_out(self, learner, rng):
        check_shares(learner, rng, np.array([-1e4, 1e4, -np.inf, 1e4 - 1.0, 0.0]), temperature=2.0)

    @pytest.mark.refusals
    @pytest.mark.parametrize("temperature", [0, 0.0, -1.0])
    def test_no_temperature(self, learner, rng, temperature):
        with pytest.raises(ValueError):
            learner.sample(rng.normal(size=4), temperature=temperature)


@pytest.mark.criterion("top-k")
class TestTopK:
    @pytest.mark.parametrize("top_k", [2, 3, 5, 9])
    def test_shares(self, learner, rng, top_k):
        check_shares(learner, rng, draw_logits(rng), top_k=top_k)

    @pytest.mark.parametrize("temperature", [0.5, 4.0])
    def test_with_a_temperature(self, learner, rng, temperature):
        check_shares(learner, rng, draw_logits(rng), temperature=temperature, top_k=3)

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        logits = -1e100 * rng.uniform(1.0, 2.0, size=(4, 6))
        best = np.argsort(logits, axis=-1)[:, -1]
        assert_array(learner.sample(logits, top_k=2, rng=rng), best, name="tokens, of which one in each row is certain")

    def test_each_row_keeps_its_own(self, learner, rng):
        logits = np.stack([draw_logits(rng, 6) for _ in range(12)]).reshape(3, 4, 6)
        assert_array(learner.sample(logits, top_k=1, rng=rng), logits.argmax(axis=-1), name="tokens under top_k=1")
        ranks = (logits[..., None, :] > logits[..., None]).sum(axis=-1)
        for _ in range(5):
            drawn = learner.sample(logits, temperature=5.0, top_k=2, rng=rng)
            assert_shape(drawn, (3, 4), name="tokens")
            worst = int(np.take_along_axis(ranks, drawn[..., None], axis=-1).max())
            assert_equal(worst < 2, True, name="whether each token is one of the two best of its row")

    @pytest.mark.purity
    def test_logits_stay_as_they_are(self, learner, rng):
        logits = rng.normal(size=(3, 6))
        with unchanged(logits):
            learner.sample(logits, 0.7, 2, 0.9, rng)

    @pytest.mark.refusals
    @pytest.mark.parametrize("top_k", [0, -1])
    def test_no_tokens(self, learner, rng, top_k):
        with pytest.raises(ValueError):
            learner.sample(rng.normal(size=4), top_k=top_k)


@pytest.mark.criterion("top-p")
class TestTopP:
    def test_shares(self, learner, rng):
        for _ in range(3):
            logits = draw_logits(rng)
            check_shares(learner, rng, logits, top_p=between(rng, probabilities(logits.tolist())))

    def test_less_than_the_likeliest(self, learner, rng):
        logits = draw_logits(rng)
        check_shares(learner, rng, logits, top_p=0.45 * max(probabilities(logits.tolist())))

    def test_one_keeps_all(self, learner, rng):
        check_shares(learner, rng, draw_logits(rng), top_p=1.0)

    @pytest.mark.parametrize("temperature", [0.5, 3.0])
    def test_of_probabilities_under_the_temperature(self, learner, rng, temperature):
        logits = draw_logits(rng)
        top_p = between(rng, probabilities(logits.tolist(), temperature))
        check_shares(learner, rng, logits, temperature=temperature, top_p=top_p)

    @pytest.mark.parametrize("top_p", [0.6, 0.82])
    def test_of_what_top_k_kept(self, learner, rng, top_p):
        logits = rng.permutation(np.log([0.35, 0.2, 0.15, 0.1, 0.08, 0.07, 0.05])) + rng.normal()
        check_shares(learner, rng, logits, top_k=4, top_p=top_p)

    def test_each_row_keeps_its_own(self, learner, rng):
        sharp, flat = np.array([9.0, 0.0, 0.1, 0.2]), np.array([0.0, 0.1, 0.2, 0.3])
        drawn = learner.sample(np.tile(np.stack([sharp, flat]), (200, 1, 1)), top_p=0.9, rng=rng)
        assert_shape(drawn, (200, 2), name="tokens")
        assert_equal(sorted(set(drawn[:, 0].tolist())), [0], name="tokens of the row with one likely token")
        assert_equal(sorted(set(drawn[:, 1].tolist())), [0, 1, 2, 3], name="tokens of the row with four likely ones")

    @pytest.mark.edges
    @pytest.mark.parametrize(("halvings", "top_p", "kept"), [([0, 1, 1], 0.5, 1), ([0, 1, 2, 2], 0.75, 2)])
    def test_a_sum_of_exactly_top_p_suffices(self, learner, rng, halvings, top_p, kept):
        """The probabilities are halves, quarters and eighths, which floats hold exactly, and so are their sums."""
        places = rng.permutation(len(halvings))
        drawn = learner.sample(np.tile(-np.log(2) * np.array(halvings)[places], (100, 1)), top_p=top_p, rng=rng)
        assert_shape(drawn, (100,), name="tokens")
        likeliest = sorted(np.argsort(places)[:kept].tolist())
        assert_equal(sorted(set(drawn.tolist())), likeliest, name="tokens that were drawn")

    @pytest.mark.refusals
    @pytest.mark.parametrize("top_p", [0.0, -0.5, 1.01])
    def test_no_probability(self, learner, rng, top_p):
        with pytest.raises(ValueError):
            learner.sample(rng.normal(size=4), top_p=top_p)
