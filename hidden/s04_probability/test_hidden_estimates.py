"""Hidden tests of stage s04: what is estimated from samples: a normal distribution, a posterior, an integral."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, plain_array, unchanged
from hidden.s04_probability.oracles import unpack

pytestmark = pytest.mark.values


@pytest.mark.criterion("fit-normal")
class TestFitAnywhere:
    @pytest.mark.parametrize("samples", [1, 2, 9])
    def test_most_likely_mean_and_spread(self, learner, rng, samples):
        x = rng.normal(4, 2, samples)
        with unchanged(x):
            mean, std = unpack(learner.fit_normal(x), "mean", "std")
        center = math.fsum(x.tolist()) / samples
        assert_array(mean, center, name="mean")
        assert_array(std, math.sqrt(math.fsum((a - center) ** 2 for a in x.tolist()) / samples), name="std", atol=1e-12)

    def test_nothing_near_is_more_likely(self, learner, rng):
        x = rng.normal(1, 3, 12)
        mean, std = (float(value) for value in unpack(learner.fit_normal(x), "mean", "std"))

        def likelihood(m, s):
            return float(np.sum(-(((x - m) / s) ** 2) / 2 - np.log(s)))

        best = likelihood(mean, std)
        around = [(mean + 0.05, std), (mean - 0.05, std), (mean, std * 1.02), (mean, std * 0.98)]
        assert_equal(all(likelihood(*each) < best for each in around), True, name="whether all around are less likely")

    @pytest.mark.dtype
    def test_integers_have_a_fit_with_fractions(self, learner, rng):
        x = rng.permutation(np.array([0, 1, 1, 3, 9, 9, 10]) + rng.integers(0, 5))  # the mean is 33 / 7, and more
        mean, std = unpack(learner.fit_normal(x), "mean", "std")
        center = math.fsum(x.tolist()) / 7
        assert_array(mean, center, name="mean")
        assert_array(std, math.sqrt(math.fsum((a - center) ** 2 for a in x.tolist()) / 7), name="std")

    @pytest.mark.edges
    def test_spread_far_from_zero(self, learner, rng):
        x = rng.integers(-400, 400, 12) / 64
        _, near = unpack(learner.fit_normal(x), "mean", "std")
        _, far = unpack(learner.fit_normal(x + 1e8), "mean", "std")
        assert_array(far, near, name="the std of samples 1e8 away from 0", rtol=1e-6)

    @pytest.mark.refusals
    def test_fit_of_no_samples_is_refused(self, learner, rng):
        for shape in ((0,), (3, 2), ()):
            with pytest.raises(ValueError):
                learner.fit_normal(rng.normal(size=shape))


@pytest.mark.criterion("map-mean")
class TestPosteriorAnywhere:
    @pytest.mark.parametrize("samples", [1, 6])
    def test_most_probable_mean(self, learner, rng, samples):
        x, prior_mean = rng.normal(5, 2, samples), float(rng.normal())
        std, prior_std = (float(value) for value in rng.uniform(0.5, 3, 2))
        trust = samples * prior_std**2 / (samples * prior_std**2 + std**2)  # how much of the way to the samples' mean
        expected = prior_mean + trust * (math.fsum(x.tolist()) / samples - prior_mean)
        with unchanged(x):
            assert_array(learner.map_normal_mean(x, std, prior_mean, prior_std), expected)

    def test_nothing_near_is_more_probable(self, learner, rng):
        x, prior_mean = rng.normal(2, 1, 5), float(rng.normal())
        best = float(plain_array(learner.map_normal_mean(x, 1.5, prior_mean, 0.8)))

        def posterior(mean):
            return -float(np.sum((x - mean) ** 2)) / (2 * 1.5**2) - (mean - prior_mean) ** 2 / (2 * 0.8**2)

        less = [posterior(best + step) < posterior(best) for step in (0.05, -0.05)]
        assert_equal(less, [True, True], name="whether means on both sides are less probable")

    @pytest.mark.edges
    def test_without_samples_what_was_believed_stays(self, learner, rng):
        prior_mean = float(rng.normal())
        assert_array(learner.map_normal_mean(np.zeros(0), 2.0, prior_mean, 0.5), prior_mean)

    @pytest.mark.edges
    def test_without_a_prior_the_samples_decide(self, learner, rng):
        x = rng.normal(3, 1, 7)
        assert_array(learner.map_normal_mean(x, 2.0, 40.0, np.inf), float(np.mean(x)))

    @pytest.mark.dtype
    def test_whole_numbers_for_all(self, learner, rng):
        x = rng.integers(-9, 9, 4)
        assert_array(learner.map_normal_mean(x, 2, 3, 1), (3 + float(np.sum(x)) / 4) / 2)

    @pytest.mark.refusals
    def test_unsuitable_samples_and_spreads_are_refused(self, learner, rng):
        x = rng.normal(size=3)
        for std, prior_std in ((0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (1.0, -2.0), (math.nan, 1.0), (1.0, math.nan)):
            with pytest.raises(ValueError):
                learner.map_normal_mean(x, std, 0.0, prior_std)
        for shape in ((3, 2), ()):
            with pytest.raises(ValueError):
                learner.map_normal_mean(rng.normal(size=shape), 1.0, 0.0, 1.0)


def drawn(rows):
    """Return a sampler that hands out rows and notes how often, and for how many, it was asked."""
    asked = []

    def sampler(num_samples, rng):
        asked.append(int(num_samples))
        return rows[:num_samples]

    return sampler, asked


@pytest.mark.criterion("monte-carlo")
class TestMonteCarlo:
    def test_mean_and_its_error(self, learner, rng):
        rows = rng.normal(1, 2, 9)
        for num_samples in (9, 2):
            sampler, asked = drawn(rows)
            result = learner.monte_carlo_mean(lambda x: x**3, sampler, num_samples, rng)
            estimate, error = unpack(result, "estimate", "standard_error")
            values = rows[:num_samples] ** 3
            spread = math.sqrt(float(np.sum((values - values.mean()) ** 2)) / (num_samples - 1))
            assert_array(estimate, float(np.mean(values)), name="estimate")
            assert_array(error, spread / math.sqrt(num_samples), name="standard_error")
            assert_equal(asked, [num_samples], name="for how many samples the sampler was asked")

    def test_samples_of_several_numbers(self, learner, rng):
        rows = rng.normal(size=(6, 3))
        sampler, _ = drawn(rows)
        result = learner.monte_carlo_mean(lambda x: np.sum(x**2, axis=-1), sampler, 6, rng)
        values = np.sum(rows**2, axis=1)
        assert_array(unpack(result, "estimate", "standard_error")[0], float(np.mean(values)), name="estimate")
        assert_array(result[1], float(np.std(values, ddof=1)) / math.sqrt(6), name="standard_error")

    @pytest.mark.edges
    def test_error_of_numbers_far_from_zero(self, learner, rng):
        rows = rng.integers(-400, 400, 12) / 64
        sampler, _ = drawn(rows)
        result = learner.monte_carlo_mean(lambda x: x + 1e8, sampler, 12, rng)
        expected = float(np.std(rows, ddof=1)) / math.sqrt(12)
        error = unpack(result, "estimate", "standard_error")[1]
        assert_array(error, expected, name="the standard_error of numbers 1e8 away from 0", rtol=1e-6)

    def test_truth_lies_within_the_error(self, learner, rng):
        """The mean of x^2 is 1; off by 8 errors with a chance below 1e-9 (20 000 samples, error 0.01, kurtosis 15)."""
        result = learner.monte_carlo_mean(lambda x: x**2, lambda n, generator: generator.normal(size=n), 20_000, rng)
        estimate, error = unpack(result, "estimate", "standard_error")
        assert_array(error, 0.01, name="standard_error", rtol=0.3)
        assert_array(estimate, 1.0, name="estimate", rtol=0, atol=0.08)

    @pytest.mark.purity
    def test_generator_reaches_the_sampler(self, learner, seed):
        result = learner.monte_carlo_mean(
            lambda x: x, lambda n, generator: generator.random(n), 50, np.random.default_rng(seed)
        )
        expected = np.random.default_rng(seed).random(50)
        assert_array(unpack(result, "estimate", "standard_error")[0], float(np.mean(expected)), name="estimate")

    @pytest.mark.refusals
    def test_single_sample_is_refused(self, learner, rng):
        for num_samples in (1, 0):
            with pytest.raises(ValueError):
                learner.monte_carlo_mean(lambda x: x, lambda n, generator: generator.random(n), num_samples, rng)
