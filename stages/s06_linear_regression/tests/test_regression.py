"""Public tests of stage s06: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_shape, plain_array, unchanged

pytestmark = pytest.mark.values

X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 3.0]])
LINE = np.array([[0.0], [1.0], [2.0], [3.0]])


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


@pytest.mark.criterion("predict")
class TestPredict:
    def test_features_times_weights_plus_bias(self, learner):
        assert_array(learner.predict(X, np.array([2.0, -1.0]), 0.5), np.array([-0.5, 1.5, 1.5]))

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner):
        weights = np.array([2.0, -1.0])
        with unchanged(X, weights):
            learner.predict(X, weights, 0.5)

    @pytest.mark.refusals
    def test_weight_for_a_feature_that_is_not_there(self, learner):
        with pytest.raises(ValueError):
            learner.predict(X, np.array([2.0, -1.0, 3.0]), 0.5)

    @pytest.mark.refusals
    def test_single_sample_needs_two_axes(self, learner):
        with pytest.raises(ValueError):
            learner.predict(np.array([1.0, 2.0]), np.array([2.0, -1.0]), 0.5)


@pytest.mark.criterion("mse-loss")
class TestLoss:
    def test_mean_of_the_squares(self, learner):
        assert_array(learner.mse_loss(np.array([1.0, 2.0, 3.0]), np.array([1.0, 5.0, 1.0])), 13 / 3)

    def test_perfect_predictions_lose_nothing(self, learner):
        assert_array(learner.mse_loss(np.array([1.0, 2.0]), np.array([1.0, 2.0])), 0.0)

    @pytest.mark.refusals
    def test_column_of_predictions_is_refused(self, learner):
        with pytest.raises(ValueError):  # broadcasting would compare every target with every prediction
            learner.mse_loss(np.array([1.0, 2.0]), np.array([[1.0], [2.0]]))


@pytest.mark.criterion("mse-gradient")
class TestGradient:
    def test_of_weights_and_bias(self, learner):
        result = learner.mse_gradient(X, np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 3.0]))
        grad_weights, grad_bias = unpack(result, "grad_weights", "grad_bias")
        assert_array(grad_weights, np.array([4.0, 16 / 3]), name="grad_weights")
        assert_array(grad_bias, 4 / 3, name="grad_bias")

    def test_is_zero_where_predictions_are_right(self, learner):
        y = np.array([1.0, 0.0, 2.0])
        grad_weights, grad_bias = unpack(learner.mse_gradient(X, y, y.copy()), "grad_weights", "grad_bias")
        assert_array(grad_weights, np.zeros(2), name="grad_weights")
        assert_array(grad_bias, 0.0, name="grad_bias")


@pytest.mark.criterion("r2-score")
class TestScore:
    def test_share_of_the_variance(self, learner):
        assert_array(learner.r2_score(np.array([1.0, 2.0, 3.0, 6.0]), np.array([2.0, 3.0, 3.0, 5.0])), 1 - 3 / 14)

    def test_perfect_predictions_score_one(self, learner):
        assert_array(learner.r2_score(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 4.0])), 1.0)

    @pytest.mark.edges
    def test_targets_that_are_all_the_same(self, learner):
        y = np.array([0.1, 0.1, 0.1])
        assert_array(learner.r2_score(y, np.array([0.1, 0.1, 0.1])), 1.0)
        assert_array(learner.r2_score(y, np.array([0.1, 0.1, 0.2])), 0.0)


@pytest.mark.criterion("normal-equation")
class TestNormalEquation:
    def test_line_through_points(self, learner):
        weights, bias = unpack(learner.normal_equation(LINE, np.array([1.0, 3.0, 5.0, 7.0])), "weights", "bias")
        assert_array(weights, np.array([2.0]), name="weights")
        assert_array(bias, 1.0, name="bias")

    def test_line_between_points(self, learner):
        weights, bias = unpack(learner.normal_equation(LINE, np.array([0.0, 2.0, 1.0, 5.0])), "weights", "bias")
        assert_array(weights, np.array([1.4]), name="weights")
        assert_array(bias, -0.1, name="bias", atol=1e-9)


@pytest.mark.criterion("rank-deficient")
class TestRankDeficient:
    @pytest.mark.edges
    def test_same_feature_twice(self, learner):
        twice, y = np.column_stack([LINE, LINE]), np.array([1.0, 3.0, 5.0, 7.0])
        weights, bias = unpack(learner.normal_equation(twice, y), "weights", "bias")
        assert_array(twice @ weights + bias, y, name="the predictions", rtol=1e-6)

    @pytest.mark.edges
    def test_feature_of_ones(self, learner):
        wide, y = np.column_stack([LINE, np.ones(4)]), np.array([1.0, 3.0, 5.0, 7.0])
        weights, bias = unpack(learner.normal_equation(wide, y), "weights", "bias")
        assert_array(wide @ weights + bias, y, name="the predictions", rtol=1e-6)


@pytest.mark.criterion("offsets")
class TestOffsets:
    @pytest.mark.edges
    def test_years_instead_of_ages(self, learner):
        years, y = LINE * 1e-3 + 2000.0, np.array([1.0, 3.0, 5.0, 7.0])
        weights, bias = unpack(learner.normal_equation(years, y), "weights", "bias")
        assert_array(weights, np.array([2000.0]), name="weights", rtol=1e-6)
        assert_array(years @ weights + bias, y, name="the predictions", rtol=1e-6)


@pytest.mark.criterion("standardize")
class TestStandardize:
    def test_mean_zero_and_spread_one(self, learner):
        Z, mean, std = unpack(
            learner.standardize(np.array([[1.0, 10.0], [3.0, 40.0], [5.0, 10.0]])), "Z", "mean", "std"
        )
        assert_array(mean, np.array([3.0, 20.0]), name="mean")
        assert_array(std, np.array([np.sqrt(8 / 3), np.sqrt(200)]), name="std")
        assert_array(Z[:, 0], np.array([-2.0, 0.0, 2.0]) / np.sqrt(8 / 3), name="Z[:, 0]")
        assert_array(Z[:, 1], np.array([-10.0, 20.0, -10.0]) / np.sqrt(200), name="Z[:, 1]")


@pytest.mark.criterion("constant-features")
class TestConstantFeatures:
    @pytest.mark.edges
    def test_feature_that_never_changes(self, learner):
        Z, mean, std = unpack(learner.standardize(np.array([[0.1, 1.0], [0.1, 3.0], [0.1, 2.0]])), "Z", "mean", "std")
        assert_array(Z[:, 0], np.zeros(3), name="Z of the feature that never changes", atol=1e-9)
        assert_array(mean[0], 0.1, name="its mean")
        assert_array(std[0], 1.0, name="its std")


@pytest.mark.criterion("polynomial-features")
class TestPolynomialFeatures:
    def test_powers_of_one_feature(self, learner):
        result = learner.polynomial_features(np.array([[2.0], [-1.0]]), 3)
        assert_array(result, np.array([[2.0, 4.0, 8.0], [-1.0, 1.0, -1.0]]))

    def test_products_of_two_features(self, learner):
        result = learner.polynomial_features(np.array([[2.0, 5.0]]), 2)
        assert_array(result, np.array([[2.0, 5.0, 4.0, 10.0, 25.0]]))

    def test_first_degree_changes_nothing(self, learner):
        assert_array(learner.polynomial_features(X, 1), X)


@pytest.mark.criterion("train-test-split")
class TestSplit:
    def test_sizes_and_pairs(self, learner):
        table, targets = np.arange(20.0).reshape(10, 2), 2.0 * np.arange(10)
        with unchanged(table, targets):
            result = learner.train_test_split(table, targets, 0.3, np.random.default_rng(5))
        X_train, X_test, y_train, y_test = unpack(result, "X_train", "X_test", "y_train", "y_test")
        for part, shape, name in ((X_train, (7, 2), "X_train"), (X_test, (3, 2), "X_test")):
            assert_shape(part, shape, name=name)
        for X_part, y_part, name in ((X_train, y_train, "train"), (X_test, y_test, "test")):
            assert_shape(y_part, X_part.shape[:1], name=f"y_{name}")
            kept = int(np.sum(X_part[:, 0] == y_part))
            assert_equal(kept, len(X_part), name=f"samples of X_{name} whose own target stands beside them in y_{name}")
        assert_array(np.sort(np.concatenate([y_train, y_test])), targets, name="the targets of both parts, sorted")

    @pytest.mark.refusals
    def test_empty_part_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.train_test_split(X, np.zeros(3), 0.1, np.random.default_rng(5))


@pytest.mark.criterion("split-is-random")
class TestSplitIsRandom:
    @pytest.mark.purity
    def test_generator_decides(self, learner):
        table, targets = np.arange(200.0).reshape(100, 2), np.arange(100)
        first, again, other = (
            np.asarray(plain_array(learner.train_test_split(table, targets, 0.5, np.random.default_rng(seed))[3]))
            for seed in (1, 1, 2)
        )
        assert_equal(first.tolist(), again.tolist(), name="y_test of the same seed")
        assert_differ(
            np.sort(first), np.sort(other), shape=(50,), dtype=int, name="y_test, sorted, of two different seeds"
        )


@pytest.mark.criterion("gradient-descent")
class TestGradientDescent:
    def test_two_steps(self, learner):
        table, targets = np.array([[-1.0], [1.0]]), np.array([1.0, 3.0])
        result = learner.fit_gradient_descent(table, targets, 0.25, 2)
        weights, bias, losses = unpack(result, "weights", "bias", "losses")
        assert_array(weights, np.array([0.75]), name="weights")
        assert_array(bias, 1.5, name="bias")
        assert_array(np.array(losses), np.array([5.0, 1.25, 0.3125]), name="losses")

    def test_rate_that_is_too_large_makes_the_loss_rise(self, learner):
        table, targets = np.array([[-1.0], [1.0]]), np.array([1.0, 3.0])
        result = learner.fit_gradient_descent(table, targets, 1.25, 3)
        weights, bias, losses = unpack(result, "weights", "bias", "losses")
        assert_equal(len(losses), 4, name="number of losses")
        assert_array(np.array(losses), np.array([5.0, 11.25, 25.3125, 56.953125]), name="losses")
        assert_array(weights, np.array([4.375]), name="weights")
        assert_array(bias, 8.75, name="bias")

    @pytest.mark.refusals
    def test_rate_of_zero_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.fit_gradient_descent(X, np.zeros(3), 0.0, 2)


@pytest.mark.criterion("learns")
class TestLearns:
    def test_line_is_found(self, learner):
        targets = np.array([1.0, 3.0, 5.0, 7.0])
        weights, bias, losses = unpack(
            learner.fit_gradient_descent(LINE, targets, 0.1, 500), "weights", "bias", "losses"
        )
        assert_equal(len(losses), 501, name="number of losses")
        assert_array(weights, np.array([2.0]), name="weights", rtol=1e-6)
        assert_array(bias, 1.0, name="bias", rtol=1e-6)
        assert_array(losses[-1], 0.0, atol=1e-9, name="the last loss")
