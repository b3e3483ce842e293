"""Hidden tests of stage s06: what is done to data before a model sees it."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_shape, plain_array, unchanged
from hidden.s06_linear_regression.oracles import draw, monomials, unpack

pytestmark = pytest.mark.values

WRONG_TABLES = ((4,), (2, 3, 4), (0, 3))


@pytest.mark.criterion("standardize")
class TestStandardizeAnyFeatures:
    @pytest.mark.parametrize(("samples", "features"), [(9, 3), (2, 4), (7, 1)])
    def test_mean_and_spread_of_any_features(self, learner, rng, samples, features):
        X, _ = draw(rng, samples, features)
        with unchanged(X):
            Z, mean, std = unpack(learner.standardize(X), "Z", "mean", "std")
        means = [math.fsum(column) / samples for column in X.T.tolist()]
        spreads = [
            math.sqrt(math.fsum((x - m) ** 2 for x in column) / samples)
            for column, m in zip(X.T.tolist(), means, strict=True)
        ]
        assert_array(mean, np.array(means), name="mean", terms=samples)
        assert_array(std, np.array(spreads), name="std", terms=samples)
        assert_array(Z, (X - np.array(means)) / np.array(spreads), name="Z", rtol=1e-8, atol=1e-8)

    def test_new_samples_go_by_the_old_numbers(self, learner, rng):
        X, _ = draw(rng, 8, 3)
        Z, mean, std = unpack(learner.standardize(X), "Z", "mean", "std")
        assert_array((X[:2] - mean) / std, Z[:2], name="(X[:2] - mean) / std", rtol=1e-8, atol=1e-8)

    @pytest.mark.edges
    def test_features_far_from_zero_keep_their_spread(self, learner, rng):
        """mean(x^2) - mean(x)^2 has no digit left here: both are 1e16, and their difference is about 1."""
        X, _ = draw(rng, 20, 2)
        _, _, near = unpack(learner.standardize(X), "Z", "mean", "std")
        _, _, far = unpack(learner.standardize(X + 1e8), "Z", "mean", "std")
        assert_array(far, near, name="std of features 1e8 away from 0", rtol=1e-5)

    @pytest.mark.dtype
    def test_whole_numbers_are_standardized(self, learner, rng):
        X = np.array([[1, -4], [5, 2], [3, 5]]) + int(rng.integers(0, 9))
        Z, _, std = unpack(learner.standardize(X), "Z", "mean", "std")
        expected = np.sqrt(np.array([8.0, 42.0]) / 3)
        assert_array(std, expected, name="std")
        assert_array(Z, np.array([[-2.0, -5.0], [2.0, 1.0], [0.0, 4.0]]) / expected, name="Z", atol=1e-12)

    @pytest.mark.dtype
    def test_single_precision_is_standardized_as_such(self, learner, rng):
        X = draw(rng, 9, 2)[0].astype(np.float32)
        for name, value in zip(("Z", "mean", "std"), unpack(learner.standardize(X), "Z", "mean", "std"), strict=True):
            assert_array(value, np.array(value, np.float32), name=name, dtype="float32")

    @pytest.mark.refusals
    def test_tables_of_other_axes_are_not_standardized(self, learner, rng):
        for shape in WRONG_TABLES:
            with pytest.raises(ValueError):
                learner.standardize(rng.normal(size=shape))


@pytest.mark.criterion("constant-features")
class TestConstantFeatures:
    @pytest.mark.edges
    def test_any_number_that_never_changes(self, learner, rng):
        """The computed mean of equal numbers may differ in the last digit, and their deviation from 0 is then 1e-17."""
        for samples in (3, 7, int(rng.integers(8, 30))):
            constants = [0.1, 1e6 + 0.1, float(rng.normal()), 0.0]
            X = np.column_stack([np.full((samples, 4), constants), rng.normal(size=samples)])
            Z, mean, std = unpack(learner.standardize(X), "Z", "mean", "std")
            assert_array(Z[:, :4], np.zeros((samples, 4)), name="Z of features that never change", atol=1e-9)
            assert_array(std[:4], np.ones(4), name="std of features that never change")
            assert_array(mean[:4], np.array(constants), name="mean of features that never change")
            assert_array(std[4], np.std(X[:, 4]), name="std of the feature that changes", rtol=1e-8)

    @pytest.mark.edges
    def test_large_number_that_never_changes(self, learner, rng):
        """The computed mean of seven times this number is 1e-4 off, one digit of float64 at 1e12."""
        number = 1e12 + 0.2
        Z, mean, std = unpack(learner.standardize(np.full((7, 1), number)), "Z", "mean", "std")
        assert_array(Z, np.zeros((7, 1)), name="Z of a large number that never changes", atol=1e-9)
        assert_array(mean, np.array([number]), name="its mean", rtol=0)
        assert_array(std, np.ones(1), name="its std")

    @pytest.mark.edges
    def test_feature_that_hardly_changes_is_not_constant(self, learner, rng):
        X = np.array([[1.0], [3.0], [5.0]]) * 10.0 ** -int(rng.integers(9, 12))
        Z, _, std = unpack(learner.standardize(X), "Z", "mean", "std")
        assert_array(std, np.std(X, axis=0), name="std", rtol=1e-8)
        assert_array(Z[:, 0], np.array([-1.0, 0.0, 1.0]) * math.sqrt(1.5), name="Z", atol=1e-8)

    @pytest.mark.edges
    def test_single_sample_is_constant(self, learner, rng):
        X = rng.normal(size=(1, 3))
        Z, mean, std = unpack(learner.standardize(X), "Z", "mean", "std")
        assert_array(Z, np.zeros((1, 3)), name="Z")
        assert_array(mean, X[0], name="mean")
        assert_array(std, np.ones(3), name="std")


@pytest.mark.criterion("polynomial-features")
class TestPolynomialFeatures:
    @pytest.mark.parametrize(("features", "degree"), [(1, 4), (2, 3), (3, 2), (4, 1), (3, 3)])
    def test_all_products_in_order(self, learner, rng, features, degree):
        X = rng.uniform(0.5, 2, (5, features)) * rng.choice([-1.0, 1.0], (5, features))
        with unchanged(X):
            result = learner.polynomial_features(X, degree)
        assert_shape(result, (5, math.comb(features + degree, degree) - 1))
        assert_array(result, monomials(X, degree))

    @pytest.mark.dtype
    def test_single_precision_is_multiplied_as_such(self, learner, rng):
        X = rng.uniform(0.5, 2, (4, 2)).astype(np.float32)
        assert_array(learner.polynomial_features(X, 2), monomials(X, 2), dtype="float32")

    @pytest.mark.refusals
    def test_unsuitable_tables_and_degrees_are_refused(self, learner, rng):
        for shape in WRONG_TABLES:
            with pytest.raises(ValueError):
                learner.polynomial_features(rng.normal(size=shape), 2)
        for degree in (0, -1):
            with pytest.raises(ValueError):
                learner.polynomial_features(rng.normal(size=(3, 2)), degree)


def split(learner, samples, share, rng):
    """Return the four parts of numbered samples, checked for their shapes: features 10 i and 10 i + 1, target -i."""
    X = 10.0 * np.arange(samples)[:, np.newaxis] + np.array([0.0, 1.0])
    y = -np.arange(samples)
    with unchanged(X, y):
        parts = unpack(learner.train_test_split(X, y, share, rng), "X_train", "X_test", "y_train", "y_test")
    num_test = int(share * samples + 0.5)
    for name, part, shape in zip(
        ("X_train", "X_test", "y_train", "y_test"),
        parts,
        ((samples - num_test, 2), (num_test, 2), (samples - num_test,), (num_test,)),
        strict=True,
    ):
        assert_shape(part, shape, name=name)
    return parts


@pytest.mark.criterion("train-test-split")
class TestSplitAnySamples:
    @pytest.mark.parametrize(("samples", "share"), [(10, 0.3), (7, 0.4), (30, 0.1), (5, 0.75), (2, 0.5), (9, 0.7)])
    def test_every_sample_once_with_its_target(self, learner, rng, samples, share):
        X_train, X_test, y_train, y_test = split(learner, samples, share, rng)
        for X, y, name in ((X_train, y_train, "train"), (X_test, y_test, "test")):
            kept = int(np.sum(X[:, 0] == -10.0 * y))
            assert_equal(kept, len(X), name=f"samples of X_{name} whose own target stands beside them in y_{name}")
            assert_array(X[:, 1], -10.0 * y + 1, name=f"the second feature of X_{name}")
        both = sorted([*map(int, y_train), *map(int, y_test)])
        assert_equal(both, sorted(range(0, -samples, -1)), name="the targets of both parts")

    @pytest.mark.dtype
    def test_types_are_those_of_the_data(self, learner, rng):
        parts = split(learner, 6, 0.5, rng)
        X32 = learner.train_test_split(np.ones((4, 2), np.float32), np.arange(4), 0.5, rng)
        assert_array(X32[0], np.ones((2, 2)), dtype="float32", name="X_train")
        assert_equal(np.asarray(parts[3]).dtype.kind, "i", name="the kind of y_test")

    @pytest.mark.refusals
    def test_unsuitable_data_and_shares_are_refused(self, learner, rng):
        for table, targets in (((4,), (4,)), ((4, 3), (3,)), ((4, 3), (4, 1)), ((4, 3), (1,)), ((2, 4, 3), (2,))):
            with pytest.raises(ValueError):
                learner.train_test_split(rng.normal(size=table), rng.normal(size=targets), 0.5, rng)
        X, y = draw(rng, 5, 2)
        for share in (0.0, 1.0, 0.05, 0.95, -0.5, 1.5):
            with pytest.raises(ValueError):
                learner.train_test_split(X, y, share, rng)
        with pytest.raises(ValueError):
            learner.train_test_split(np.zeros((0, 2)), np.zeros(0), 0.5, rng)


@pytest.mark.criterion("split-is-random")
class TestSplitIsRandom:
    def test_each_sample_is_tested_as_often_as_another(self, learner, rng):
        """120 splits of 8 samples, 2 tested. A sample's count is binomial (120, 1/4): outside of 4..66 by 5e-11.

        For eight samples and both ends the chance to fail a right solution is below 1e-9.
        """
        X, y = np.arange(16.0).reshape(8, 2), np.arange(8)
        counts = np.zeros(8, int)
        for seed in rng.integers(0, 2**32, 120):
            y_test = learner.train_test_split(X, y, 0.25, np.random.default_rng(seed))[3]
            counts[np.asarray(plain_array(y_test), int)] += 1
        name = f"whether all 8 samples are tested about as often (in 120 splits {counts.tolist()} times)"
        assert_equal(bool(np.all((counts >= 4) & (counts <= 66))), True, name=name)

    def test_pairs_of_neighbours_are_not_kept_together(self, learner, rng):
        """A cut without shuffling, or a rotation, tests neighbours only, the ends counted as such.

        60 splits of 5 samples, 2 tested: half of the 10 pairs are neighbours, so all 60 are by chance with 2^-60.
        """
        X, y = np.arange(10.0).reshape(5, 2), np.arange(5)
        apart = 0
        for seed in rng.integers(0, 2**32, 60):
            first, second = sorted(map(int, learner.train_test_split(X, y, 0.4, np.random.default_rng(seed))[3]))
            apart += (second - first) not in (1, 4)
        assert_equal(apart > 0, True, name="whether samples that are no neighbours are ever tested together")

    @pytest.mark.purity
    def test_same_seed_same_split_and_it_moves_on(self, learner, seed):
        X, y = np.arange(80.0).reshape(40, 2), np.arange(40)
        first, again = (learner.train_test_split(X, y, 0.5, np.random.default_rng(seed)) for _ in range(2))
        assert_array(first[3], again[3], name="y_test of the same seed")
        rng = np.random.default_rng(seed)
        one, two = (np.sort(plain_array(learner.train_test_split(X, y, 0.5, rng)[3])) for _ in range(2))
        assert_differ(one, two, shape=(20,), dtype=int, name="y_test, sorted, of two splits in a row")
