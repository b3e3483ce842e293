"""Public tests of stage s09: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, unchanged

pytestmark = pytest.mark.values

WEIGHTS = np.array([1.0, -2.0, 0.0, 4.0])
LINE = np.array([[-1.0], [0.0], [1.0]])
CROSS = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def assert_model(result, weights, bias):
    """Assert that result is (weights, bias)."""
    found_weights, found_bias = unpack(result, "weights", "bias")
    assert_array(found_weights, np.array(weights), name="weights")
    assert_array(found_bias, bias, name="bias", atol=1e-9)


def sorted_tests(folds, num_samples, num_folds):
    """Return the test sets, each sorted, of pairs (train, test) in which train is what test has not."""
    assert_equal(len(folds), num_folds, name="the number of folds")
    tests = []
    for fold in folds:
        train, test = unpack(fold, "train", "test")
        both = np.sort(np.concatenate([train, test]))
        assert_array(both, np.arange(num_samples), name="train and test of a fold together, sorted")
        tests.append(np.sort(test))
    assert_array(np.sort(np.concatenate(tests)), np.arange(num_samples), name="all test sets together, sorted")
    return tests


@pytest.mark.criterion("ridge-penalty")
class TestRidgePenalty:
    def test_alpha_times_the_squares(self, learner):
        assert_array(learner.ridge_penalty(WEIGHTS, 0.75), 15.75)

    def test_slope_of_each_square(self, learner):
        with unchanged(WEIGHTS):
            assert_array(learner.ridge_gradient(WEIGHTS, 0.75), np.array([1.5, -3.0, 0.0, 6.0]))

    @pytest.mark.refusals
    def test_negative_alpha_is_no_ridge_penalty(self, learner):
        with pytest.raises(ValueError):
            learner.ridge_penalty(WEIGHTS, -0.5)
        with pytest.raises(ValueError):
            learner.ridge_gradient(WEIGHTS, -0.5)


@pytest.mark.criterion("lasso-penalty")
class TestLassoPenalty:
    def test_alpha_times_the_absolute_weights(self, learner):
        assert_array(learner.lasso_penalty(WEIGHTS, 0.75), 5.25)

    @pytest.mark.refusals
    def test_negative_alpha_is_no_lasso_penalty(self, learner):
        with pytest.raises(ValueError):
            learner.lasso_penalty(WEIGHTS, -0.5)


@pytest.mark.criterion("soft-threshold")
class TestSoftThreshold:
    def test_step_towards_zero(self, learner):
        z = np.array([3.0, -1.5, 0.5, -1.0, 0.0])
        with unchanged(z):
            assert_array(learner.soft_threshold(z, 1.0), np.array([2.0, -0.5, 0.0, 0.0, 0.0]))

    def test_single_number(self, learner):
        assert_array(learner.soft_threshold(-3.0, 0.5), -2.5)

    @pytest.mark.refusals
    def test_negative_threshold_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.soft_threshold(np.array([1.0]), -1.0)


@pytest.mark.criterion("elastic-net")
class TestElasticNet:
    def test_mixture_of_both_slopes(self, learner):
        # 3 * (0.25 * sign(w) + 0.75 * 2 w), with sign(0) = 0
        assert_array(learner.elastic_net_gradient(WEIGHTS, 3.0, 0.25), np.array([5.25, -9.75, 0.0, 18.75]))

    @pytest.mark.refusals
    def test_ratio_above_one_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.elastic_net_gradient(WEIGHTS, 1.0, 1.5)


@pytest.mark.criterion("fit-ridge")
class TestFitRidge:
    def test_penalty_makes_the_slope_smaller(self, learner):
        # 4 / (2 + 6), where least squares takes 4 / 2
        assert_model(learner.fit_ridge(LINE, np.array([1.0, 3.0, 5.0]), 6.0), [0.5], 3.0)

    def test_without_penalty_it_is_least_squares(self, learner):
        assert_model(learner.fit_ridge(LINE, np.array([1.0, 3.0, 5.0]), 0.0), [2.0], 3.0)

    def test_large_targets_are_left_to_the_bias(self, learner):
        assert_model(learner.fit_ridge(LINE + 10, np.array([101.0, 103.0, 105.0]), 6.0), [0.5], 98.0)

    @pytest.mark.refusals
    def test_negative_alpha_is_not_fitted(self, learner):
        with pytest.raises(ValueError):
            learner.fit_ridge(LINE, np.array([1.0, 3.0, 5.0]), -1.0)


@pytest.mark.criterion("ridge-hard-cases")
class TestRidgeHardCases:
    @pytest.mark.edges
    def test_same_feature_twice_shares_the_weight(self, learner):
        twice = np.column_stack([LINE, LINE])
        assert_model(learner.fit_ridge(twice, np.array([1.0, 3.0, 5.0]), 6.0), [0.4, 0.4], 3.0)

    @pytest.mark.edges
    def test_more_features_than_samples(self, learner):
        X = np.array([[1.0, 0.0, 2.0], [-1.0, 0.0, -2.0]])
        assert_model(learner.fit_ridge(X, np.array([6.0, 0.0]), 5.0), [0.4, 0.0, 0.8], 3.0)


@pytest.mark.criterion("fit-lasso")
class TestFitLasso:
    def test_one_feature(self, learner):
        # mean(x y) = 8/3, less 1, over mean(x^2) = 8/3
        assert_model(learner.fit_lasso(2 * LINE, np.array([1.0, 3.0, 5.0]), 1.0, 1), [0.625], 3.0)

    def test_one_iteration_visits_the_features_in_order(self, learner):
        X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])
        y = np.array([3.0, -3.0, 1.0, -1.0])
        # mean(x_0 y) = 2, less 0.25, over 1; then mean(x_1 (y - 1.75 x_0)) = 0.625, less 0.25, over 0.5
        assert_model(learner.fit_lasso(X, y, 0.25, 1), [1.75, 0.75], 0.0)

    @pytest.mark.refusals
    def test_no_iteration_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.fit_lasso(LINE, np.array([1.0, 3.0, 5.0]), 1.0, 0)


@pytest.mark.criterion("lasso-zeros")
class TestLassoZeros:
    def test_feature_that_is_not_worth_its_price(self, learner):
        # mean(x y) is 4 for the first feature and 0.5 for the second, mean(x^2) is 2 and 0.5
        y = np.array([9.0, 1.0, 6.0, 4.0])
        assert_model(learner.fit_lasso(CROSS, y, 1.0, 3), [1.5, 0.0], 5.0)

    @pytest.mark.edges
    def test_feature_that_never_changes(self, learner):
        X = np.column_stack([np.full(3, 4.0), LINE])
        assert_model(learner.fit_lasso(X, np.array([1.0, 3.0, 5.0]), 1.0, 3), [0.0, 0.5], 3.0)

    @pytest.mark.edges
    def test_feature_that_never_changes_although_its_mean_is_rounded(self, learner):
        X = np.column_stack([np.full(3, 0.1), LINE])  # np.mean([0.1, 0.1, 0.1]) is not quite 0.1
        assert_model(learner.fit_lasso(X, np.array([1.0, 2.0, 6.0]), 0.0, 5), [0.0, 2.5], 3.0)


@pytest.mark.criterion("k-fold")
class TestKFold:
    def test_every_sample_is_tested_once(self, learner):
        tests = sorted_tests(learner.k_fold_indices(7, 3, np.random.default_rng(1)), 7, 3)
        assert_equal(sorted(len(test) for test in tests), [2, 2, 3], name="the sizes of the test sets")

    @pytest.mark.refusals
    def test_number_of_folds_has_limits(self, learner):
        for num_folds in (1, 8):
            with pytest.raises(ValueError):
                learner.k_fold_indices(7, num_folds, np.random.default_rng(1))


@pytest.mark.criterion("stratified-k-fold")
class TestStratifiedKFold:
    def test_classes_are_spread_evenly(self, learner):
        y = np.array([0, 0, 0, 0, 0, 0, 7, 7, 7])
        for test in sorted_tests(learner.stratified_k_fold_indices(y, 3, np.random.default_rng(1)), 9, 3):
            assert_array(np.sort(y[test]), np.array([0, 0, 7]), name="classes of a test set, sorted")

    @pytest.mark.refusals
    def test_number_of_stratified_folds_has_limits(self, learner):
        for num_folds in (1, 5):
            with pytest.raises(ValueError):
                learner.stratified_k_fold_indices(np.array([0, 0, 1, 1]), num_folds, np.random.default_rng(1))


@pytest.mark.criterion("cross-validation")
class TestCrossValidation:
    def test_scores_of_a_mean_by_its_largest_error(self, learner):
        X, y = np.zeros((4, 1)), np.array([1.0, 3.0, 5.0, 9.0])
        folds = [(np.array([0, 1]), np.array([2, 3])), (np.array([1, 2, 3]), np.array([0]))]
        scores = learner.cross_val_score(
            lambda X, y: float(np.mean(y)), lambda model, X, y: float(np.max(np.abs(y - model))), X, y, folds
        )
        assert_array(scores, np.array([7.0, 14 / 3]))

    @pytest.mark.refusals
    def test_no_folds_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.cross_val_score(lambda X, y: 0.0, lambda model, X, y: 0.0, np.zeros((2, 1)), np.zeros(2), [])


@pytest.mark.criterion("dropout")
class TestDropout:
    def test_entries_are_dropped_or_scaled_up(self, learner):
        x = np.arange(1.0, 41.0).reshape(5, 8)
        with unchanged(x):
            y, mask = unpack(learner.dropout(x, 0.75, np.random.default_rng(3)), "y", "mask")
        assert_shape(mask, (5, 8), name="mask")
        dropped = np.asarray(mask) == 0
        assert_array(mask, np.where(dropped, 0.0, 4.0), name="mask")
        assert_array(y, np.where(dropped, 0.0, 4 * x), name="y")

    def test_nothing_is_dropped_after_training(self, learner):
        x = np.array([[1.0, -2.0], [0.5, 3.0]])
        y, mask = unpack(learner.dropout(x, 0.75, np.random.default_rng(3), training=False), "y", "mask")
        assert_array(y, x, name="y")
        assert_array(mask, np.ones((2, 2)), name="mask")

    @pytest.mark.refusals
    def test_rate_of_one_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.dropout(np.ones(3), 1.0, np.random.default_rng(3))


@pytest.mark.criterion("dropout-backward")
class TestDropoutBackward:
    def test_gradient_goes_by_the_mask(self, learner):
        grad = learner.dropout_backward(np.array([3.0, 5.0, -1.0]), np.array([4.0, 0.0, 4.0]))
        assert_array(grad, np.array([12.0, 0.0, -4.0]))

    @pytest.mark.refusals
    def test_mask_of_another_shape_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.dropout_backward(np.ones((2, 3)), np.ones(3))


@pytest.mark.criterion("early-stopping")
class TestEarlyStopping:
    def test_stops_after_patience_epochs(self, learner):
        assert_equal(learner.early_stopping([5.0, 3.0, 4.0, 3.5, 1.0], 2), (3, 1))

    def test_runs_to_the_end_while_it_improves(self, learner):
        assert_equal(learner.early_stopping([5.0, 3.0, 4.0, 2.0, 2.5], 2), (4, 3))

    def test_small_improvements_do_not_count(self, learner):
        assert_equal(learner.early_stopping([4.0, 3.75, 3.5, 3.25, 1.0], 2, min_delta=0.5), (2, 0))
        assert_equal(learner.early_stopping([4.0, 3.75], 3, min_delta=0.5), (1, 0))

    @pytest.mark.refusals
    def test_patience_of_zero_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.early_stopping([5.0, 3.0], 0)
