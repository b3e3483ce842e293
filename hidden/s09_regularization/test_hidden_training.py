"""Hidden tests of stage s09: folds, scores, dropout and early stopping.

Statistical bounds are Hoeffding's: the mean of n numbers from [0, 1] is off by t or more with chance 2 exp(-2 n t^2).
"""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, assert_shape, numerical_gradient, unchanged
from hidden.s09_regularization.oracles import assert_folds, draw, share_together, stopping, unpack

pytestmark = pytest.mark.values

DRAWS = 400


def assert_share(share, expected, name):
    """Assert that a share of 400 draws is within 0.18 of its chance; the chance of more is below 2e-11."""
    assert_array(share, expected, name=name, rtol=0, atol=0.18)


@pytest.mark.criterion("k-fold")
class TestKFoldOfAnySamples:
    @pytest.mark.parametrize(("num_samples", "num_folds"), [(10, 5), (11, 3), (17, 4), (6, 6), (2, 2)])
    def test_every_sample_of_any_number_is_tested_once(self, learner, rng, num_samples, num_folds):
        assert_folds(learner.k_fold_indices(num_samples, num_folds, rng), num_samples, num_folds)

    @pytest.mark.purity
    def test_generator_decides_and_nothing_else(self, learner, seed):
        one, same, other = (learner.k_fold_indices(40, 4, np.random.default_rng(s)) for s in (seed, seed, seed + 1))
        tests = [assert_folds(folds, 40, 4) for folds in (one, same, other)]
        for first, second in zip(tests[0], tests[1], strict=True):
            assert_array(second, first, name="a test set drawn again with a generator of the same seed, sorted")
        groups = [{tuple(test.tolist()) for test in each} for each in tests]
        if groups[0] == groups[2]:  # chance below 1e-20
            raise AssertionError("two generators of different seeds gave the same test sets")

    def test_each_pair_is_equally_likely_to_come_together(self, learner, rng):
        """With 6 samples in 2 folds a pair is together with chance 2/5; off by 0.18 in 400 draws: below 2e-11."""
        draws = [learner.k_fold_indices(6, 2, rng) for _ in range(DRAWS)]
        for other in (1, 3, 5):
            share = share_together(draws, 0, other)
            assert_share(share, 0.4, f"share of draws in which samples 0 and {other} are tested together")

    @pytest.mark.refusals
    def test_unsuitable_numbers_of_folds(self, learner, rng):
        for num_samples, num_folds in ((5, 1), (5, 0), (5, -2), (5, 6), (1, 2), (0, 2)):
            with pytest.raises(ValueError):
                learner.k_fold_indices(num_samples, num_folds, rng)


def assert_stratified(folds, y, num_folds):
    """Assert folds, and that the members of each class differ by at most one from fold to fold."""
    tests = assert_folds(folds, len(y), num_folds)
    for label in sorted(set(y.tolist())):
        found = sorted(int(np.sum(y[test] == label)) for test in tests)
        small, extra = divmod(int(np.sum(y == label)), num_folds)
        even = [small] * (num_folds - extra) + [small + 1] * extra
        assert_equal(found, even, name=f"members of class {label} in the test sets, sorted")


@pytest.mark.criterion("stratified-k-fold")
class TestStratifiedKFoldOfAnyClasses:
    @pytest.mark.parametrize(
        ("counts", "num_folds"),
        [((8, 12), 4), ((7, 5, 11), 3), pytest.param((1, 1, 1, 1, 1, 1), 3, marks=pytest.mark.edges)],
        ids=str,
    )
    def test_each_class_and_the_whole_are_spread_evenly(self, learner, rng, counts, num_folds):
        y = rng.permutation(np.repeat(rng.permutation(20)[: len(counts)] - 5, counts))
        with unchanged(y):
            folds = learner.stratified_k_fold_indices(y, num_folds, rng)
        assert_stratified(folds, y, num_folds)

    @pytest.mark.edges
    def test_classes_smaller_than_the_number_of_folds(self, learner, rng):
        y = rng.permutation(np.repeat([0, 1, 2, 3], [2, 3, 6, 2]))
        assert_stratified(learner.stratified_k_fold_indices(y, 4, rng), y, 4)
        assert_stratified(learner.stratified_k_fold_indices(y[:4], 4, rng), y[:4], 4)
        assert_stratified(learner.stratified_k_fold_indices(y[:2], 2, rng), y[:2], 2)

    def test_members_of_a_class_are_mixed(self, learner, rng, seed):
        """Of 4 members in 2 folds a pair is together with chance 1/3; off by 0.18 in 400 draws: below 2e-11."""
        y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
        draws = [learner.stratified_k_fold_indices(y, 2, rng) for _ in range(DRAWS)]
        for one, other in ((0, 1), (0, 2), (4, 7)):
            share = share_together(draws, one, other)
            assert_share(share, 1 / 3, f"share of draws in which samples {one} and {other} are tested together")
        first, second = (learner.stratified_k_fold_indices(y, 2, np.random.default_rng(seed)) for _ in range(2))
        for one, other in zip(first, second, strict=True):
            assert_array(np.sort(other[1]), np.sort(one[1]), name="a test set drawn again with the same seed, sorted")

    @pytest.mark.refusals
    def test_unsuitable_classes_and_numbers_of_folds(self, learner, rng):
        for shape, num_folds in (((6,), 1), ((6,), 0), ((6,), 7), ((6, 1), 2), ((6, 2), 2), ((), 2), ((1,), 2)):
            with pytest.raises(ValueError):
                learner.stratified_k_fold_indices(rng.integers(0, 2, shape) + np.zeros(shape, int), num_folds, rng)


@pytest.mark.criterion("cross-validation")
class TestCrossValidationOfAnyModel:
    def test_each_model_sees_its_training_samples_only(self, learner, rng):
        X, y = draw(rng, 11, 3)[0], rng.integers(0, 3, 11)
        order = rng.permutation(11)
        folds = [(order[4:], order[:4]), (np.append(order[:4], order[8:]), order[4:8]), (order[:8], order[8:])]
        fitted, scored = [], []

        def fit(X_train, y_train):
            fitted.append((X_train, y_train))
            return {"number": len(fitted), "name": "model"}

        def score(model, X_test, y_test):
            scored.append((model["number"], X_test, y_test))
            return float(model["number"]) ** 2

        with unchanged(X, y):
            scores = learner.cross_val_score(fit, score, X, y, folds)
        assert_array(scores, np.array([1.0, 4.0, 9.0]))
        assert_equal(len(fitted), 3, name="the number of calls of fit")
        assert_equal([each[0] for each in scored], [1, 2, 3], name="the models given to score")
        for (train, test), (X_train, y_train), (_, X_test, y_test) in zip(folds, fitted, scored, strict=True):
            assert_array(X_train, X[train], name="X_train given to fit")
            assert_array(y_train, y[train], name="y_train given to fit", dtype="int64")
            assert_array(X_test, X[test], name="X_test given to score")
            assert_array(y_test, y[test], name="y_test given to score", dtype="int64")

    def test_scores_of_least_squares(self, learner, rng):
        X, y = draw(rng, 14, 2)
        order = rng.permutation(14)
        folds = [(order[5:], order[:5]), (order[:5], order[5:])]

        def fit(X_train, y_train):
            return np.linalg.lstsq(np.column_stack([np.ones(len(X_train)), X_train]), y_train, rcond=None)[0]

        def score(model, X_test, y_test):
            return float(np.mean((y_test - model[0] - X_test @ model[1:]) ** 2))

        expected = [score(fit(X[train], y[train]), X[test], y[test]) for train, test in folds]
        assert_array(learner.cross_val_score(fit, score, X, y, folds), np.array(expected), rtol=1e-7)
        assert_array(learner.cross_val_score(fit, score, X, y, folds[1:]), np.array(expected[1:]), rtol=1e-7)

    @pytest.mark.refusals
    def test_unsuitable_samples_and_folds_are_not_scored(self, learner, rng):
        def fit(X_train, y_train):
            return 0.0

        def score(model, X_test, y_test):
            return 1.0

        folds = [(np.array([0]), np.array([1])), (np.array([1]), np.array([0]))]
        for table, targets in (((4,), (4,)), ((4, 3, 2), (4,)), ((0, 3), (0,)), ((4, 3), (3,)), ((4, 3), (4, 1))):
            with pytest.raises(ValueError):
                samples = rng.normal(size=table), rng.normal(size=targets)
                learner.cross_val_score(fit, score, *samples, folds if table[0] else [(np.zeros(0, int),) * 2])
        with pytest.raises(ValueError):
            learner.cross_val_score(fit, score, *draw(rng, 4, 2), [])


@pytest.mark.criterion("dropout")
class TestDropoutOfAnyValues:
    @pytest.mark.parametrize("shape", [(7,), (4, 5), (2, 3, 4)], ids=str)
    def test_values_of_any_shape_times_the_mask(self, learner, rng, shape):
        x, rate = rng.normal(size=shape), float(rng.uniform(0.2, 0.8))
        with unchanged(x):
            y, mask = unpack(learner.dropout(x, rate, rng), "y", "mask")
        assert_shape(mask, shape, name="mask")
        dropped = np.asarray(mask) == 0
        assert_array(mask, np.where(dropped, 0.0, 1 / (1 - rate)), name="mask")
        assert_array(y, np.where(dropped, 0.0, x / (1 - rate)), name="y")

    @pytest.mark.parametrize("rate", [0.2, 0.7])
    def test_share_that_is_dropped(self, learner, rng, rate):
        """Of 60 000 entries: off by 0.015 with chance below 4e-12; of 200 in a column, by 0.3: below 2e-15 each."""
        x = rng.normal(3, 1, (200, 300))
        y, mask = unpack(learner.dropout(x, rate, rng), "y", "mask")
        assert_shape(mask, (200, 300), name="mask")
        assert_array(np.mean(mask == 0), rate, name="the share of entries that are dropped", rtol=0, atol=0.015)
        for axis, size, which in ((0, 300, "column"), (1, 200, "row")):
            shares = np.mean(mask == 0, axis=axis)
            assert_array(shares, np.full(size, rate), name=f"the share dropped in each {which}", rtol=0, atol=0.3)
        # the mean of y - x has a deviation of at most sqrt(10 * 2.4) / sqrt(60 000) = 0.02; nine of these are 0.18
        assert_array(np.mean(y), np.mean(x), name="the mean of y", rtol=0, atol=0.18)

    def test_entries_are_dropped_independently(self, learner, rng):
        """The number that is dropped varies; that 100 draws of 20 entries have one number has chance below 1e-70."""
        masks = [unpack(learner.dropout(np.ones(20), 0.5, rng), "y", "mask")[1] for _ in range(100)]
        counts = {int(np.sum(mask == 0)) for mask in masks}
        if len(counts) == 1:
            raise AssertionError(f"in 100 calls, {counts.pop()} of 20 entries were dropped each time")

    @pytest.mark.purity
    def test_generator_decides_the_mask(self, learner, rng, seed):
        x = rng.normal(size=(8, 12))
        first, same, other = (
            unpack(learner.dropout(x, 0.5, np.random.default_rng(s)), "y", "mask")[1] for s in (seed, seed, seed + 1)
        )
        assert_array(same, first, name="mask drawn again with a generator of the same seed")
        if np.array_equal(first, other):  # chance 2^-96
            raise AssertionError("two generators of different seeds gave the same mask")

    @pytest.mark.dtype
    def test_single_precision_is_kept_in_both(self, learner, rng):
        x = rng.normal(size=(4, 5)).astype(np.float32)
        for training in (True, False):
            y, mask = unpack(learner.dropout(x, 0.5, rng, training=training), "y", "mask")
            dropped = (np.asarray(mask) == 0) & training
            factors = np.where(dropped, 0.0, 2.0 if training else 1.0)
            assert_array(mask, factors, name="mask")
            assert_array(y, x * factors, name="y", dtype="float32")
            assert_array(mask, np.array(mask, np.float32), name="mask", dtype="float32")

    @pytest.mark.purity
    def test_nothing_is_dropped_scaled_or_drawn_after_training(self, learner, rng, seed):
        x, generator = rng.normal(size=(6, 7)), np.random.default_rng(seed)
        y, mask = unpack(learner.dropout(x, 0.9, generator, False), "y", "mask")
        assert_array(y, x, name="y")
        assert_array(mask, np.ones((6, 7)), name="mask")
        assert_array(generator.random(3), np.random.default_rng(seed).random(3), name="what the generator draws next")

    @pytest.mark.edges
    def test_rate_of_zero_drops_nothing(self, learner, rng):
        x = rng.normal(size=(6, 7))
        y, mask = unpack(learner.dropout(x, 0.0, rng), "y", "mask")
        assert_array(y, x, name="y")
        assert_array(mask, np.ones((6, 7)), name="mask")

    @pytest.mark.refusals
    def test_unsuitable_rates_are_refused(self, learner, rng):
        for rate in (-float(rng.uniform(1e-6, 0.1)), 1.0, 1 + float(rng.uniform(0.1, 2))):
            for training in (True, False):
                with pytest.raises(ValueError):
                    learner.dropout(np.ones(4), rate, rng, training=training)


@pytest.mark.criterion("dropout-backward")
class TestDropoutBackwardOfAnyGradient:
    @pytest.mark.parametrize("shape", [(7,), (4, 5), (2, 3, 4)], ids=str)
    def test_any_gradient_times_the_mask(self, learner, rng, shape):
        grad_output = rng.normal(size=shape)
        mask = rng.integers(0, 2, shape) * float(rng.uniform(1.1, 4))
        with unchanged(grad_output, mask):
            result = learner.dropout_backward(grad_output, mask)
        expected = [g * m for g, m in zip(grad_output.ravel().tolist(), mask.ravel().tolist(), strict=True)]
        assert_array(result, np.array(expected).reshape(shape))

    def test_agrees_with_differences_of_the_own_dropout(self, learner, rng, seed):
        x, grad_output = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))

        def loss(at):
            return np.sum(grad_output * unpack(learner.dropout(at, 0.4, np.random.default_rng(seed)), "y", "mask")[0])

        _, mask = unpack(learner.dropout(x, 0.4, np.random.default_rng(seed)), "y", "mask")
        grad = learner.dropout_backward(grad_output, mask)
        assert_gradient(grad, numerical_gradient(loss, x), name="dropout_backward")

    @pytest.mark.dtype
    def test_gradient_of_single_precision(self, learner, rng):
        grad_output, mask = rng.normal(size=5).astype(np.float32), np.array([2, 0, 2, 2, 0], np.float32)
        assert_array(learner.dropout_backward(grad_output, mask), grad_output * mask, dtype="float32")

    @pytest.mark.refusals
    def test_shapes_that_only_broadcast_are_refused(self, learner, rng):
        for grad_shape, mask_shape in (((3, 4), (4,)), ((4,), (3, 4)), ((3, 4), (3, 1)), ((3, 4), (1, 4)), ((1,), ())):
            with pytest.raises(ValueError):
                learner.dropout_backward(rng.normal(size=grad_shape), np.ones(mask_shape))


@pytest.mark.criterion("early-stopping")
class TestEarlyStoppingOfAnyLosses:
    def test_any_course_of_losses(self, learner, rng):
        """Losses are whole eighths, so that no comparison hangs on rounding."""
        for _ in range(30):
            noise = rng.integers(-6, 7, 14)
            losses = (np.maximum(40 - 3 * np.arange(14), 12) + noise) / 8
            patience, min_delta = int(rng.integers(1, 6)), int(rng.integers(0, 7)) / 8
            with unchanged(losses):
                result = learner.early_stopping(losses, patience, min_delta)
            assert_equal(result, stopping(losses.tolist(), patience, min_delta))
            without = learner.early_stopping(losses.tolist(), patience)
            assert_equal(without, stopping(losses.tolist(), patience, 0.0))

    def test_slow_descent_is_measured_from_the_best_epoch(self, learner, rng):
        """Steps of less than min_delta add up, until one epoch is low enough."""
        steps = int(rng.integers(2, 5))
        losses = [0.75 - 0.25 * epoch for epoch in range(3 * (steps + 1) + 1)]
        for patience in (steps, steps + 1):
            result = learner.early_stopping(losses, patience, 0.25 * steps)
            assert_equal(result, stopping(losses, patience, 0.25 * steps))

    @pytest.mark.edges
    def test_equal_losses_and_the_last_epoch(self, learner, rng):
        level = float(rng.integers(1, 9)) / 8
        assert_equal(learner.early_stopping([level] * 6, 3), (3, 0))
        assert_equal(learner.early_stopping([level] * 4, 3), (3, 0))
        assert_equal(learner.early_stopping([level] * 3, 3), (2, 0))
        assert_equal(learner.early_stopping([level], 1), (0, 0))
        assert_equal(learner.early_stopping([level, level - 0.125, level], 1), (2, 1))

    @pytest.mark.edges
    def test_losses_that_are_not_a_number(self, learner, rng):
        level = float(rng.integers(1, 9)) / 8
        course = [level, math.nan, level + 1, level + 2, level + 3, level - 1]
        assert_equal(learner.early_stopping(course, 3), (3, 0))
        assert_equal(learner.early_stopping([level, math.nan, math.nan, level - 1], 2), (2, 0))
        assert_equal(learner.early_stopping([4.0, math.nan, 3.0, math.nan, 2.0, 5.0, 5.0], 2), (6, 4))
        assert_equal(learner.early_stopping([4.0, math.nan, 5.0, 4.5, 6.0, 6.0], 3), (3, 0))
        assert_equal(learner.early_stopping([4.0, 3.75, math.nan, 3.25], 3, 0.5), (3, 3))
        assert_equal(learner.early_stopping([math.nan, level, level + 1, level + 1], 2), (3, 1))
        assert_equal(learner.early_stopping([math.nan, math.nan, level, math.nan, level - 1], 3), (4, 4))
        assert_equal(learner.early_stopping([math.nan] * 5, 3), (3, 0))
        assert_equal(learner.early_stopping([math.nan, 2.0, 3.0, 3.0], 2), (3, 1))

    @pytest.mark.refusals
    def test_unsuitable_losses_patience_and_min_delta(self, learner, rng):
        for losses, patience, min_delta in (([], 2, 0.0), ([1.0, 2.0], 0, 0.0), ([1.0, 2.0], -1, 0.0)):
            with pytest.raises(ValueError):
                learner.early_stopping(losses, patience, min_delta)
        with pytest.raises(ValueError):
            learner.early_stopping([1.0, 2.0], 2, -float(rng.uniform(1e-6, 0.1)))
