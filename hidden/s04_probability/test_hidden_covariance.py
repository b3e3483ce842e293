"""Hidden tests of stage s04: covariances and correlations of any samples."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, unchanged
from hidden.s04_probability.oracles import covariance

pytestmark = pytest.mark.values


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
        assert_array(result, covariance(X, 1) / np.outer(std, std), atol=1e-4 if dtype == "float32" else 1e-9)

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
