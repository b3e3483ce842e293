"""Hidden tests of stage s04: entropy and divergence, covariances, and estimates from samples."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, unchanged
from hidden.s04_probability.oracles import covariance, distribution, surprise, unpack

pytestmark = pytest.mark.values

NO_DISTRIBUTIONS = ([0.5, 0.4], [0.7, 0.7], [-0.2, 1.2], [1.5, -0.5], [np.nan, 1.0])


@pytest.mark.criterion("entropy")
class TestEntropyAnywhere:
    def test_entropy_of_any_distribution(self, learner, rng):
        p = distribution(rng, 5)
        with unchanged(p):
            assert_array(learner.entropy(p), surprise(p.tolist(), p.tolist()))

    def test_along_the_last_axis(self, learner, rng):
        p = distribution(rng, 2, 3, 4)
        expected = [[surprise(row, row) for row in table] for table in p.tolist()]
        assert_array(learner.entropy(p), np.array(expected))

    @pytest.mark.edges
    def test_impossible_outcomes_add_nothing(self, learner, rng):
        p = distribution(rng, 3)
        assert_array(learner.entropy(np.insert(p, [0, 2], 0.0)), surprise(p.tolist(), p.tolist()))
        assert_array(learner.entropy(np.eye(4)), np.zeros(4), name="the entropy of what is certain")

    @pytest.mark.edges
    def test_rare_outcomes_count(self, learner):
        p = np.array([1e-30, 1.0])
        result = learner.entropy(np.array([p, p[::-1]]))
        assert_array(result * 1e30, np.full(2, 30 * math.log(10)), name="the entropy of [1e-30, 1] / 1e-30", rtol=1e-6)

    @pytest.mark.dtype
    def test_entropy_in_single_precision(self, learner, rng):
        p = distribution(rng, 4).astype(np.float32)
        assert_array(learner.entropy(p[np.newaxis]), np.array([surprise(p.tolist(), p.tolist())]), dtype="float32")

    @pytest.mark.refusals
    def test_entropy_of_no_distribution_is_refused(self, learner):
        for p in NO_DISTRIBUTIONS:
            with pytest.raises(ValueError):
                learner.entropy(np.array(p))
        for p in (np.array([[0.5, 0.5], [0.5, 0.4]]), np.array([[0.5, 0.1], [0.5, 0.9]]), np.array(1.0)):
            with pytest.raises(ValueError):
                learner.entropy(p)

    @pytest.mark.edges
    def test_sums_that_are_one_up_to_rounding_are_taken(self, learner, rng):
        p = distribution(rng, 3)
        p[0] += 9e-7
        assert_array(learner.entropy(p), surprise(p.tolist(), p.tolist()))

    @pytest.mark.refusals
    def test_sums_that_are_off_by_more_than_a_millionth_are_refused(self, learner, rng):
        p = distribution(rng, 3)
        p[0] += 1.5e-6
        with pytest.raises(ValueError):
            learner.entropy(p)


@pytest.mark.criterion("kl-divergence")
class TestDivergenceAnywhere:
    def test_divergence_of_any_distributions(self, learner, rng):
        p, q = distribution(rng, 2, 5)
        expected = surprise(p.tolist(), q.tolist()) - surprise(p.tolist(), p.tolist())
        with unchanged(p, q):
            assert_array(learner.kl_divergence(p, q), expected, atol=1e-12)

    def test_divergence_along_the_last_axis(self, learner, rng):
        p, q = distribution(rng, 2, 3, 4)
        expected = [surprise(a, b) - surprise(a, a) for a, b in zip(p.tolist(), q.tolist(), strict=True)]
        assert_array(learner.kl_divergence(p, q), np.array(expected), atol=1e-12)

    def test_of_itself_it_is_zero(self, learner, rng):
        p = distribution(rng, 3, 4)
        assert_array(learner.kl_divergence(p, p.copy()), np.zeros(3), atol=1e-12)

    @pytest.mark.edges
    def test_zeros_on_either_side(self, learner, rng):
        half, p = np.array([0.5, 0.5, 0.0]), distribution(rng, 3)
        expected = surprise([0.5, 0.5], p[:2].tolist()) - math.log(2)
        result = learner.kl_divergence(np.array([half, p, half]), np.array([p, half, half]))
        assert_array(result, np.array([expected, np.inf, 0.0]), atol=1e-12)

    @pytest.mark.edges
    def test_believed_to_be_nearly_impossible(self, learner, rng):
        q = 10.0 ** -float(rng.uniform(309, 320))  # 0.5 / q is beyond the largest float
        expected = -math.log(2) - math.log(q) / 2
        assert_array(learner.kl_divergence(np.array([0.5, 0.5]), np.array([q, 1.0])), expected)

    @pytest.mark.refusals
    def test_divergence_of_unlike_shapes_is_refused(self, learner, rng):
        for one, other in (((3,), (4,)), ((2, 3), (3,)), ((3,), (2, 3)), ((3,), (1,)), ((1, 3), (2, 3))):
            with pytest.raises(ValueError):
                learner.kl_divergence(distribution(rng, *one), distribution(rng, *other))

    @pytest.mark.refusals
    def test_divergence_of_no_distributions_is_refused(self, learner):
        half = np.array([0.5, 0.5])
        for wrong in NO_DISTRIBUTIONS:
            with pytest.raises(ValueError):
                learner.kl_divergence(np.array(wrong), half)
            with pytest.raises(ValueError):
                learner.kl_divergence(half, np.array(wrong))


@pytest.mark.criterion("covariance")
class TestCovarianceAnywhere:
    @pytest.mark.parametrize(("samples", "features"), [(8, 3), (5, 1), (2, 4)])
    def test_covariances_of_any_features(self, learner, rng, samples, features):
        X = rng.normal(rng.uniform(-3, 3, features), rng.uniform(0.5, 2, features), (samples, features))
        with unchanged(X):
            assert_array(learner.covariance_matrix(X), covariance(X, 1), rtol=1e-8, atol=1e-10)
        assert_array(learner.covariance_matrix(X, ddof=0), covariance(X, 0), name="with ddof=0", rtol=1e-8, atol=1e-10)

    @pytest.mark.edges
    def test_features_far_from_zero(self, learner, rng):
        """The mean of the products has 16 digits, and the product of the means has the same first 16 of them."""
        X = rng.integers(-400, 400, (12, 2)) / 64 + 1e8
        assert_array(learner.covariance_matrix(X), covariance(X, 1), rtol=1e-6)

    @pytest.mark.dtype
    def test_whole_numbers_have_covariances(self, learner, rng):
        X = rng.integers(-9, 9, (6, 2))
        assert_array(learner.covariance_matrix(X), covariance(X, 1), atol=1e-10)

    @pytest.mark.dtype
    def test_covariance_in_single_precision(self, learner, rng):
        X = rng.normal(size=(7, 2)).astype(np.float32)
        assert_array(learner.covariance_matrix(X), covariance(X, 1), dtype="float32", atol=1e-4)

    def test_one_sample_does_not_vary(self, learner, rng):
        assert_array(learner.covariance_matrix(rng.normal(size=(1, 3)), ddof=0), np.zeros((3, 3)))

    @pytest.mark.refusals
    def test_too_few_samples_are_refused(self, learner, rng):
        for shape in ((1, 3), (0, 3), (4,), (2, 3, 2)):
            with pytest.raises(ValueError):
                learner.covariance_matrix(rng.normal(size=shape))
        for shape, ddof in (((0, 3), 0), ((2, 3), 2)):
            with pytest.raises(ValueError):
                learner.covariance_matrix(rng.normal(size=shape), ddof=ddof)


@pytest.mark.criterion("correlation")
class TestCorrelationAnywhere:
    @pytest.mark.parametrize(("samples", "features"), [(8, 3), (5, 1), (3, 4)])
    def test_correlations_of_any_features(self, learner, rng, samples, features):
        X = rng.normal(rng.uniform(-3, 3, features), rng.uniform(0.01, 90, features), (samples, features))
        covariances = covariance(X, 1)
        std = np.sqrt(np.diag(covariances))
        with unchanged(X):
            result = learner.correlation_matrix(X)
        assert_array(result, covariances / np.outer(std, std), rtol=1e-8, atol=1e-9)

    def test_features_that_follow_each_other(self, learner, rng):
        x = rng.normal(size=7)
        X = np.column_stack([x, 3 * x + 2, -x / 7])
        assert_array(learner.correlation_matrix(X), np.array([[1.0, 1, -1], [1, 1, -1], [-1, -1, 1]]))

    @pytest.mark.edges
    def test_tiny_numbers_have_correlations(self, learner, rng):
        X = rng.integers(-9, 10, (5, 2)) + np.array([[0, 0.5]] * 4 + [[20, 30]])
        std = np.sqrt(np.diag(covariance(X, 1)))
        expected = covariance(X, 1) / np.outer(std, std)
        assert_array(learner.correlation_matrix(X * [1e-20, 1.0]), expected, rtol=1e-8)

    @pytest.mark.edges
    @pytest.mark.parametrize(
        ("dtype", "unit"), [("float64", 1e-200), ("float64", 1e160), ("float32", 1e-27), ("float32", 1e25)]
    )
    def test_numbers_whose_squares_no_float_holds(self, learner, rng, dtype, unit):
        X = rng.integers(-9, 10, (6, 2)) + np.array([[0, 0.5]] * 5 + [[20, 30]])
        std = np.sqrt(np.diag(covariance(X, 1)))
        result = learner.correlation_matrix((X * unit).astype(dtype))
        assert_array(
            result, covariance(X, 1) / np.outer(std, std), dtype=dtype, atol=1e-4 if dtype == "float32" else 1e-9
        )

    @pytest.mark.edges
    def test_features_of_very_different_units(self, learner, rng):
        X = rng.integers(-9, 10, (6, 2)) + np.array([[0, 0.5]] * 5 + [[20, 30]])
        std = np.sqrt(np.diag(covariance(X, 1)))
        result = learner.correlation_matrix(X * [1e-150, 1e150])
        assert_array(result, covariance(X, 1) / np.outer(std, std), atol=1e-9)

    def test_two_samples_are_enough(self, learner, rng):
        X = np.cumsum(rng.uniform(0.5, 2, (2, 2)), axis=0)
        assert_array(learner.correlation_matrix(X), np.ones((2, 2)))

    @pytest.mark.edges
    def test_numbers_close_together_have_correlations(self, learner, rng):
        X = rng.integers(-9, 10, (8, 2)) + np.array([[0, 0]] * 7 + [[20, 30]])
        std = np.sqrt(np.diag(covariance(X, 1)))
        expected = covariance(X, 1) / np.outer(std, std)
        assert_array(learner.correlation_matrix(X + np.array([2.0**31, 0.0])), expected, rtol=1e-6)

    @pytest.mark.edges
    def test_feature_that_never_changes_goes_with_none(self, learner, rng):
        """The computed mean of equal numbers may differ from them in the last digit."""
        for samples in (3, 7, int(rng.integers(8, 30))):
            X = np.column_stack([np.full(samples, 0.1), rng.normal(size=(samples, 2)), np.full(samples, 1e6 + 0.1)])
            result = learner.correlation_matrix(X)
            assert_shape(result, (4, 4))
            for i in (0, 3):
                assert_array(result[i], np.eye(4)[i], name=f"the correlations of feature {i}, which never changes")
                assert_array(result[:, i], np.eye(4)[i], name=f"the correlations with feature {i}")

    def test_correlations_of_multiples_in_any_unit(self, learner, rng):
        for _ in range(5):
            x = rng.normal(size=3) * 10.0 ** float(rng.uniform(-5, 5))
            result = learner.correlation_matrix(np.column_stack([x, x * float(rng.uniform(0.1, 9)), -x]))
            assert_array(result, np.array([[1.0, 1, -1], [1, 1, -1], [-1, -1, 1]]))

    @pytest.mark.dtype
    def test_correlation_in_single_precision(self, learner, rng):
        X = rng.normal(size=(9, 2)).astype(np.float32)
        expected = covariance(X, 1)
        std = np.sqrt(np.diag(expected))
        assert_array(learner.correlation_matrix(X), expected / np.outer(std, std), dtype="float32", atol=1e-4)

    @pytest.mark.refusals
    def test_correlation_of_too_few_samples_is_refused(self, learner, rng):
        for shape in ((1, 3), (0, 3), (4,), (2, 3, 2)):
            with pytest.raises(ValueError):
                learner.correlation_matrix(rng.normal(size=shape))


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
        best = float(learner.map_normal_mean(x, 1.5, prior_mean, 0.8))

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
