"""Public tests of stage s04: small examples with the numbers written out."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, unchanged, plain_array

pytestmark = pytest.mark.values

X = np.array([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]])


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


@pytest.mark.criterion("normal-pdf")
class TestDensity:
    def test_standard_normal(self, learner):
        result = learner.normal_pdf(np.array([-2.0, 0.0, 1.0]), 0.0, 1.0)
        assert_array(result, np.array([0.05399096651318806, 0.3989422804014327, 0.24197072451914337]))

    def test_wide_is_flat(self, learner):
        assert_array(learner.normal_pdf(5.0, 1.0, 4.0), 0.24197072451914337 / 4)

    @pytest.mark.refusals
    def test_no_spread_is_no_density(self, learner):
        with pytest.raises(ValueError):
            learner.normal_pdf(0.0, 0.0, 0.0)


@pytest.mark.criterion("normal-log-pdf")
class TestLogDensity:
    @pytest.mark.edges
    def test_middle_and_tail(self, learner):
        result = learner.normal_log_pdf(np.array([0.0, 100.0]), 0.0, 1.0)
        assert_array(result, np.array([-0.9189385332046727, -5000.918938533205]))

    def test_mean_and_spread(self, learner):
        assert_array(learner.normal_log_pdf(7.0, 1.0, 2.0), -4.5 - math.log(2) - 0.9189385332046727)


@pytest.mark.criterion("bernoulli")
class TestBernoulli:
    def test_one_and_zero(self, learner):
        assert_array(learner.bernoulli_log_pmf(np.array([1, 0]), 0.25), np.log([0.25, 0.75]))

    @pytest.mark.edges
    def test_certain_and_impossible(self, learner):
        result = learner.bernoulli_log_pmf(np.array([0, 1]), np.array([0.0, 0.0]))
        assert_array(result, np.array([0.0, -np.inf]))

    @pytest.mark.refusals
    def test_outcome_of_two_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.bernoulli_log_pmf(2, 0.5)


@pytest.mark.criterion("categorical-sample")
class TestSample:
    def test_certain_outcome(self, learner):
        p, rng = np.array([0.0, 0.0, 1.0]), np.random.default_rng(3)
        with unchanged(p):
            assert_array(learner.categorical_sample(p, 5, rng), np.array([2, 2, 2, 2, 2]))

    def test_as_many_as_asked_for(self, learner):
        drawn = learner.categorical_sample(np.array([0.5, 0.5]), 7, np.random.default_rng(3))
        assert_shape(drawn, (7,))

    @pytest.mark.refusals
    def test_probabilities_have_to_sum_to_one(self, learner):
        with pytest.raises(ValueError):
            learner.categorical_sample(np.array([0.5, 0.6]), 5, np.random.default_rng(3))


@pytest.mark.criterion("categorical-frequencies")
class TestFrequencies:
    def test_half_quarter_quarter(self, learner):
        """Of 20 000 draws a share is off by more than 0.025 with 2 exp(-2 * 20000 * 0.025^2) = 3e-11 (Hoeffding)."""
        drawn = learner.categorical_sample(np.array([0.5, 0.25, 0.25]), 20_000, np.random.default_rng(3))
        shares = [float(np.mean(np.asarray(plain_array(drawn)) == i)) for i in range(3)]
        for i, expected in enumerate([0.5, 0.25, 0.25]):
            assert_array(shares[i], expected, name=f"the share of outcome {i}", rtol=0, atol=0.025)


@pytest.mark.criterion("log-sum-exp")
class TestLogSumExp:
    def test_of_logarithms(self, learner):
        assert_array(learner.log_sum_exp(np.log([1.0, 2.0, 5.0])), math.log(8))

    def test_rows_and_columns(self, learner):
        x = np.log([[1.0, 3.0], [2.0, 4.0]])
        assert_array(learner.log_sum_exp(x), np.log([4.0, 6.0]))
        assert_array(learner.log_sum_exp(x, axis=0), np.log([3.0, 7.0]), name="along axis 0")


@pytest.mark.criterion("log-sum-exp-extremes")
@pytest.mark.edges
class TestExtremes:
    def test_thousands(self, learner):
        assert_array(learner.log_sum_exp(np.array([1000.0, 1000.0])), 1000 + math.log(2))
        assert_array(learner.log_sum_exp(np.array([-1000.0, -1000.0])), -1000 + math.log(2))

    def test_nothing_at_all(self, learner):
        assert_array(learner.log_sum_exp(np.array([-np.inf, -np.inf])), np.array(-np.inf))


@pytest.mark.criterion("entropy")
class TestEntropy:
    def test_coins(self, learner):
        result = learner.entropy(np.array([[0.5, 0.5], [0.25, 0.75]]))
        assert_array(result, np.array([0.6931471805599453, 0.5623351446188083]))

    @pytest.mark.edges
    def test_what_is_certain_surprises_nobody(self, learner):
        assert_array(learner.entropy(np.array([[1.0, 0.0], [0.5, 0.5]])), np.array([0.0, 0.6931471805599453]))

    def test_even_distribution_has_most(self, learner):
        assert_array(learner.entropy(np.full(8, 0.125)), math.log(8))

    @pytest.mark.refusals
    def test_what_is_no_distribution(self, learner):
        with pytest.raises(ValueError):
            learner.entropy(np.array([0.5, 0.6]))


@pytest.mark.criterion("kl-divergence")
class TestDivergence:
    def test_two_coins(self, learner):
        fair, unfair = np.array([0.5, 0.5]), np.array([0.25, 0.75])
        assert_array(learner.kl_divergence(fair, unfair), 0.14384103622589042)
        assert_array(learner.kl_divergence(unfair, fair), 0.13081203594113697, name="the other way round")

    @pytest.mark.edges
    def test_what_never_happens_and_what_never_should(self, learner):
        assert_array(learner.kl_divergence(np.array([1.0, 0.0]), np.array([0.5, 0.5])), math.log(2))
        assert_array(learner.kl_divergence(np.array([0.5, 0.5]), np.array([1.0, 0.0])), np.array(np.inf))


@pytest.mark.criterion("covariance")
class TestCovariance:
    def test_sample_of_three(self, learner):
        assert_array(learner.covariance_matrix(X), np.array([[4.0, -1.0], [-1.0, 7.0]]))

    def test_divided_by_the_number_of_samples(self, learner):
        assert_array(learner.covariance_matrix(X, ddof=0), np.array([[8.0, -2.0], [-2.0, 14.0]]) / 3)

    @pytest.mark.refusals
    def test_one_sample_has_no_covariance(self, learner):
        with pytest.raises(ValueError):
            learner.covariance_matrix(X[:1])


@pytest.mark.criterion("correlation")
class TestCorrelation:
    def test_covariance_without_units(self, learner):
        r = -1 / math.sqrt(28)
        assert_array(learner.correlation_matrix(X), np.array([[1.0, r], [r, 1.0]]))
        assert_array(learner.correlation_matrix(X * [1000.0, 0.01]), np.array([[1.0, r], [r, 1.0]]), name="other units")

    @pytest.mark.edges
    def test_feature_that_never_changes(self, learner):
        result = learner.correlation_matrix(np.array([[0.1, 1.0], [0.1, 5.0], [0.1, 2.0]]))
        assert_array(result, np.eye(2))


@pytest.mark.criterion("fit-normal")
class TestFit:
    def test_mean_and_spread_of_three(self, learner):
        mean, std = unpack(learner.fit_normal(np.array([1.0, 2.0, 6.0])), "mean", "std")
        assert_array(mean, 3.0, name="mean")
        assert_array(std, math.sqrt(14 / 3), name="std")


@pytest.mark.criterion("map-mean")
class TestPosterior:
    def test_half_way(self, learner):
        assert_array(learner.map_normal_mean(np.array([6.0]), 1.0, 2.0, 1.0), 4.0)

    def test_more_samples_pull_harder(self, learner):
        assert_array(learner.map_normal_mean(np.array([4.0, 6.0]), 1.0, 0.0, 1.0), 10 / 3)
        assert_array(
            learner.map_normal_mean(np.array([4.0, 6.0]), 2.0, 1.0, 0.5), (4 + 2.5) / 4.5, name="less sure ones"
        )


@pytest.mark.criterion("monte-carlo")
class TestMonteCarlo:
    def test_mean_and_its_error(self, learner):
        result = learner.monte_carlo_mean(
            lambda x: x**2, lambda n, rng: np.arange(float(n)), 4, np.random.default_rng(0)
        )
        estimate, error = unpack(result, "estimate", "standard_error")
        assert_array(estimate, 3.5, name="estimate")
        assert_array(error, math.sqrt(49 / 3 / 4), name="standard_error")

    def test_quarter_of_pi(self, learner):
        """Off by more than 0.05 with a chance below 2 exp(-2 * 10000 * 0.05^2) = 4e-22 (Hoeffding)."""

        def inside(points):
            return (np.sum(points**2, axis=1) < 1).astype(float)

        estimate, _ = unpack(
            learner.monte_carlo_mean(inside, lambda n, rng: rng.random((n, 2)), 10_000, np.random.default_rng(3)),
            "estimate",
            "standard_error",
        )
        assert_array(estimate, math.pi / 4, name="estimate", rtol=0, atol=0.05)
        assert_equal(bool(estimate == math.pi / 4), False, name="whether the estimate is exact")
