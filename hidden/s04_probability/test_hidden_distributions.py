"""Hidden tests of stage s04: densities, samples, and sums of exponentials."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_shape, plain_array, unchanged
from hidden.s04_probability.oracles import distribution, log_density, log_sum

pytestmark = pytest.mark.values

NO_DISTRIBUTIONS = ([0.5, 0.4], [0.7, 0.7], [-0.2, 1.2], [1.5, -0.5], [np.nan, 1.0])


@pytest.mark.criterion("normal-pdf")
class TestDensityAnywhere:
    def test_density_of_any_distribution(self, learner, rng):
        mean, std = float(rng.normal()), float(rng.uniform(0.3, 3))
        x = rng.normal(mean, 2 * std, 9)
        with unchanged(x):
            result = learner.normal_pdf(x, mean, std)
        assert_array(result, np.array([math.exp(log_density(each, mean, std)) for each in x.tolist()]))

    def test_shapes_that_broadcast(self, learner, rng):
        x, mean, std = rng.normal(size=(4, 1)), rng.normal(size=3), rng.uniform(0.5, 2, 3)
        expected = [
            [math.exp(log_density(a, m, s)) for m, s in zip(mean.tolist(), std.tolist(), strict=True)]
            for a in x.ravel().tolist()
        ]
        assert_array(learner.normal_pdf(x, mean, std), np.array(expected))

    @pytest.mark.dtype
    def test_integers_have_a_density_with_fractions(self, learner, rng):
        x = rng.integers(-3, 4, size=6)
        expected = np.array([math.exp(log_density(a, 0, 2)) for a in x.tolist()])
        assert_array(learner.normal_pdf(x, 0, 2), expected)

    def test_area_under_the_density_is_one(self, learner, rng):
        mean, std = float(rng.normal()), float(rng.uniform(0.3, 3))
        x = np.linspace(mean - 9 * std, mean + 9 * std, 2001)
        density = learner.normal_pdf(x, mean, std)
        assert_shape(density, (2001,))
        assert_array(np.sum(density) * (x[1] - x[0]), 1.0, name="the area under the density", rtol=1e-6)

    @pytest.mark.refusals
    def test_density_without_spread_is_refused(self, learner, rng):
        for std in (0.0, -1.0, np.array([1.0, 0.0]), np.array([1.0, -2.0]), np.nan, np.array([np.nan, 1.0])):
            with pytest.raises(ValueError):
                learner.normal_pdf(rng.normal(size=2), 0.0, std)


@pytest.mark.criterion("normal-log-pdf")
class TestLogDensityAnywhere:
    def test_logarithm_of_any_density(self, learner, rng):
        x, mean, std = rng.normal(size=(3, 1)), rng.normal(size=4), rng.uniform(0.3, 3, 4)
        expected = [
            [log_density(a, m, s) for m, s in zip(mean.tolist(), std.tolist(), strict=True)] for a in x.ravel().tolist()
        ]
        with unchanged(x, mean, std):
            assert_array(learner.normal_log_pdf(x, mean, std), np.array(expected))

    @pytest.mark.dtype
    def test_integers_have_a_logarithm_with_fractions(self, learner, rng):
        x = rng.integers(-4, 5, size=6)
        assert_array(learner.normal_log_pdf(x, 0, 2), np.array([log_density(a, 0, 2) for a in x.tolist()]))

    @pytest.mark.edges
    def test_far_tails_are_no_minus_infinity(self, learner, rng):
        x = rng.uniform(50, 1000, 6) * np.array([1, -1, 1, -1, 1, -1])
        assert_array(learner.normal_log_pdf(x, 0.0, 1.0), np.array([log_density(a, 0.0, 1.0) for a in x.tolist()]))
        assert_array(learner.normal_log_pdf(1e-3, 0.0, 1e-6), log_density(1e-3, 0.0, 1e-6), name="1000 deviations away")

    @pytest.mark.refusals
    def test_log_density_without_spread_is_refused(self, learner, rng):
        for std in (0.0, -1.0, np.array([1.0, 0.0]), np.array([1.0, -2.0]), np.nan, np.array([np.nan, 1.0])):
            with pytest.raises(ValueError):
                learner.normal_log_pdf(rng.normal(size=2), 0.0, std)


@pytest.mark.criterion("bernoulli")
class TestBernoulliAnywhere:
    def test_both_outcomes_of_any_coin(self, learner, rng):
        k, p = rng.permutation([0, 1, 1, 0, 1]), rng.uniform(0.05, 0.95, 5)
        expected = [math.log(b if a else 1 - b) for a, b in zip(k.tolist(), p.tolist(), strict=True)]
        with unchanged(k, p):
            assert_array(learner.bernoulli_log_pmf(k, p), np.array(expected))

    @pytest.mark.dtype
    def test_outcomes_of_other_kinds(self, learner, rng):
        k, p = rng.permutation([0, 1, 1, 0, 1]), rng.uniform(0.05, 0.95, 5)
        expected = [math.log(b if a else 1 - b) for a, b in zip(k.tolist(), p.tolist(), strict=True)]
        assert_array(learner.bernoulli_log_pmf(k.astype(bool), p), np.array(expected), name="of booleans")
        assert_array(learner.bernoulli_log_pmf(k.astype(float), p), np.array(expected), name="of floats")

    def test_coins_that_broadcast(self, learner, rng):
        p = rng.uniform(0.05, 0.95, 4)
        expected = np.array([np.log1p(-p), np.log(p)])
        assert_array(learner.bernoulli_log_pmf(np.array([[0], [1]]), p), expected)
        assert_array(learner.bernoulli_log_pmf(1, p), np.log(p), name="of one outcome")
        assert_array(learner.bernoulli_log_pmf(np.array([0, 1]), float(p[0])), expected[:, 0], name="of one coin")

    @pytest.mark.edges
    def test_certain_and_impossible_outcomes(self, learner):
        result = learner.bernoulli_log_pmf(np.array([0, 1, 0, 1]), np.array([0.0, 1.0, 1.0, 0.0]))
        assert_array(result, np.array([0.0, 0.0, -np.inf, -np.inf]))

    @pytest.mark.edges
    def test_rare_outcomes_keep_their_digits(self, learner, rng):
        p = 10.0 ** -rng.uniform(10, 15, 4)
        assert_array(
            plain_array(learner.bernoulli_log_pmf(np.zeros(4, int), p)) / p, np.full(4, -1.0), name="log(1 - p) / p"
        )

    @pytest.mark.refusals
    def test_what_is_no_outcome_or_no_probability_is_refused(self, learner):
        for k in (2, -1, 0.5, np.array([0, 1, 2])):
            with pytest.raises(ValueError):
                learner.bernoulli_log_pmf(k, 0.5)
        for p in (-0.1, 1.1, np.nan, np.array([0.5, 1.5]), np.array([0.5, -0.5])):
            with pytest.raises(ValueError):
                learner.bernoulli_log_pmf(1, p)


@pytest.mark.criterion("categorical-sample")
class TestSampleAnywhere:
    @pytest.mark.parametrize(
        ("outcomes", "size"), [(4, 9), (2, 1), pytest.param(3, 0, marks=pytest.mark.edges), (1, 5)]
    )
    def test_outcomes_are_numbers_below_k(self, learner, rng, outcomes, size):
        p = distribution(rng, outcomes)
        with unchanged(p):
            drawn = learner.categorical_sample(p, size, rng)
        assert_shape(drawn, (size,))
        assert_equal(set(drawn.tolist()) <= set(range(outcomes)), True, name="whether all outcomes are below k")

    @pytest.mark.dtype
    def test_outcomes_are_integers(self, learner, rng):
        drawn = learner.categorical_sample(distribution(rng, 4), 9, rng)
        assert_shape(drawn, (9,))
        assert_equal(drawn.dtype.kind in "iu", True, name="whether the outcomes are integers")

    @pytest.mark.purity
    def test_same_seed_same_outcomes_and_they_move_on(self, learner, rng, seed):
        """Two draws of 200 from four outcomes are alike with a chance below 0.4^200."""
        p = distribution(rng, 4)
        first, again = (learner.categorical_sample(p, 200, np.random.default_rng(seed)) for _ in range(2))
        assert_array(again, first, name="the outcomes drawn again, from an rng of the same seed")
        generator = np.random.default_rng(seed)
        one, two = (learner.categorical_sample(p, 200, generator) for _ in range(2))
        assert_differ(one, two, shape=(200,), dtype=int, name="two draws in a row")

    @pytest.mark.edges
    def test_outcomes_of_probability_zero_are_never_drawn(self, learner, rng):
        for certain in range(4):
            drawn = learner.categorical_sample(np.eye(4)[certain], 50, rng)
            assert_array(drawn, np.full(50, certain))
        drawn = learner.categorical_sample(np.array([0.0, 0.5, 0.0, 0.5, 0.0]), 200, rng)
        assert_equal(sorted(set(plain_array(drawn).tolist())), [1, 3], name="the outcomes drawn")

    @pytest.mark.edges
    def test_sum_a_little_below_one(self, learner):
        """The next uniform number of this generator is 0.99999988, and the probabilities sum to 0.9999991."""
        for p in (np.array([0.3, 0.7 - 9e-7]), np.array([0.3, 0.7 - 9e-7, 0.0])):
            near_one = np.random.Generator(np.random.PCG64(0).advance(789_314))
            drawn = np.asarray(plain_array(learner.categorical_sample(p, 3, near_one)))
            assert_shape(drawn, (3,))
            assert_equal(bool(np.all(drawn < 2)), True, name="whether all outcomes have a probability above 0")

    @pytest.mark.refusals
    def test_what_is_no_distribution_is_refused(self, learner, rng):
        for p in NO_DISTRIBUTIONS:
            with pytest.raises(ValueError):
                learner.categorical_sample(np.array(p), 3, rng)
        for p in (distribution(rng, 2, 3), np.array(1.0)):
            with pytest.raises(ValueError):
                learner.categorical_sample(p, 3, rng)
        with pytest.raises(ValueError):
            learner.categorical_sample(distribution(rng, 3), -1, rng)


@pytest.mark.criterion("categorical-frequencies")
class TestFrequencies:
    @pytest.mark.parametrize("shape", ["even", "uneven"])
    def test_each_outcome_is_as_frequent_as_it_is_probable(self, learner, rng, shape):
        """Of 20 000 draws a share is off by more than 0.025 with 2 exp(-2 * 20000 * 0.025^2) = 3e-11 (Hoeffding)."""
        p = np.full(5, 0.2) if shape == "even" else rng.permutation([0.05, 0.1, 0.15, 0.25, 0.45])
        drawn = np.asarray(plain_array(learner.categorical_sample(p, 20_000, rng)))
        shares = np.bincount(drawn.astype(int), minlength=5)[:5] / 20_000
        for i in range(5):
            assert_array(shares[i], p[i], name=f"the share of outcome {i}", rtol=0, atol=0.025)

    def test_draws_do_not_depend_on_the_one_before(self, learner, rng):
        """20 000 draws, half of them outcome 1: the share of 1 after a 1 is off by 0.06 with a chance below 1e-9.

        After a 1 there are at least 9000 draws, or the test above fails; 2 exp(-2 * 9000 * 0.06^2) = 1.7e-28.
        """
        drawn = np.asarray(plain_array(learner.categorical_sample(np.array([0.5, 0.5]), 20_000, rng))).astype(int)
        after = drawn[1:][drawn[:-1] == 1]
        assert_array(np.mean(after), 0.5, name="the share of outcome 1 after an outcome 1", rtol=0, atol=0.06)

    def test_draws_of_one_call_are_alike_half_of_the_time(self, learner, rng):
        """Of 200 pairs half are two of a kind; off by 0.25 with a chance of 2 exp(-2 * 200 * 0.25^2) = 3e-11."""
        pairs = [plain_array(learner.categorical_sample(np.array([0.5, 0.5]), 2, rng)).tolist() for _ in range(200)]
        alike = sum(first == second for first, second in pairs) / 200
        assert_array(alike, 0.5, name="how often two draws of one call are alike", rtol=0, atol=0.25)


@pytest.mark.criterion("log-sum-exp")
class TestLogSumExpAnywhere:
    @pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
    def test_along_any_axis(self, learner, rng, axis):
        x = rng.normal(0, 2, (2, 3, 4))
        with unchanged(x):
            result = learner.log_sum_exp(x, axis=axis)
        assert_array(result, np.apply_along_axis(lambda values: log_sum(values.tolist()), axis, x))

    def test_last_axis_unless_told_otherwise(self, learner, rng):
        x = rng.normal(size=(3, 5))
        assert_array(learner.log_sum_exp(x), np.array([log_sum(row) for row in x.tolist()]))
        assert_array(learner.log_sum_exp(x[0]), log_sum(x[0].tolist()), name="of a vector")
        single = rng.normal(size=(3, 1, 4))
        assert_array(learner.log_sum_exp(single)[:, 0], np.array([log_sum(row) for row in single[:, 0].tolist()]))
        assert_shape(learner.log_sum_exp(single), (3, 1), name="the result for an axis of one")

    def test_shift_comes_out_again(self, learner, rng):
        x, shift = rng.normal(size=6), float(rng.uniform(5, 10))
        assert_array(
            plain_array(learner.log_sum_exp(x + shift)) - plain_array(learner.log_sum_exp(x)),
            shift,
            name="what a shift adds",
        )

    @pytest.mark.dtype
    def test_integers_have_a_sum_with_fractions(self, learner, rng):
        x = rng.integers(-3, 4, size=(2, 4))
        assert_array(learner.log_sum_exp(x), np.array([log_sum(row) for row in x.tolist()]))

    @pytest.mark.dtype
    def test_sum_in_single_precision(self, learner, rng):
        x = rng.normal(size=(2, 4)).astype(np.float32)
        assert_array(learner.log_sum_exp(x), np.array([log_sum(row) for row in x.tolist()]), dtype="float32")


@pytest.mark.criterion("log-sum-exp-extremes")
@pytest.mark.edges
class TestLogSumExpOfExtremes:
    @pytest.mark.parametrize("shift", [1000.0, -1000.0, 1e8, -1e8])
    def test_numbers_that_exp_cannot_take(self, learner, rng, shift):
        x = rng.integers(-8, 9, (3, 4)) / 8
        result = learner.log_sum_exp(x + shift)
        assert_array(result, np.array([shift + log_sum(row) for row in x.tolist()]), rtol=1e-12)

    def test_numbers_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        x = -1e100 * rng.uniform(1.0, 2.0, size=(3, 4))
        assert_array(learner.log_sum_exp(x), x.max(axis=1))

    def test_far_apart_in_one_array(self, learner, rng):
        x = np.array([[1000.0, -1000.0], [0.0, -2000.0], [-700.0, 700.0]])
        assert_array(learner.log_sum_exp(x), np.array([1000.0, 0.0, 700.0]))
        assert_array(learner.log_sum_exp(x, axis=0), np.array([1000.0, 700.0]), name="along axis 0")

    def test_minus_infinity_counts_as_nothing(self, learner, rng):
        x = rng.normal(size=4)
        whole = np.insert(x, 2, -np.inf)
        assert_array(learner.log_sum_exp(whole), log_sum(x.tolist()))
        assert_array(learner.log_sum_exp(np.full(3, -np.inf)), np.array(-np.inf), name="of nothing at all")
        both = np.array([[-np.inf, -np.inf], [-np.inf, 2.5]])
        assert_array(learner.log_sum_exp(both), np.array([-np.inf, 2.5]), name="of two rows")

    def test_infinity_wins(self, learner, rng):
        x = np.array([[float(rng.normal()), np.inf], [np.inf, -np.inf], [1.0, 1.0]])
        assert_array(learner.log_sum_exp(x), np.array([np.inf, np.inf, 1 + math.log(2)]))
