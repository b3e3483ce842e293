"""Hidden tests of stage s09: folds, and the scores of a model on them."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, unchanged
from hidden.s09_regularization.oracles import assert_folds, draw, share_together

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
            return {"number": float(X_train.sum()), "name": "model"}

        def score(model, X_test, y_test):
            scored.append((model["number"], X_test, y_test))
            return model["number"] ** 2

        with unchanged(X, y):
            scores = learner.cross_val_score(fit, score, X, y, folds)
        assert_equal(len(fitted), 3, name="the number of calls of fit")
        made = [float(X_train.sum()) for X_train, _ in fitted]
        assert_equal([each[0] for each in scored], made, name="the models given to score")
        for (train, test), (X_train, y_train), (_, X_test, y_test) in zip(folds, fitted, scored, strict=True):
            assert_array(X_train, X[train], name="X_train given to fit")
            assert_array(y_train, y[train], name="y_train given to fit")
            assert_array(X_test, X[test], name="X_test given to score")
            assert_array(y_test, y[test], name="y_test given to score")
        assert_array(scores, np.array(made) ** 2)

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
