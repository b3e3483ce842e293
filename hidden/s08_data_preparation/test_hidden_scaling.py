"""Hidden tests of stage s08: scales and outliers of tables."""

import numpy as np
import pytest

from grader.testing import assert_array, unchanged
from hidden.s08_data_preparation.oracles import (
    outliers,
    quartiles,
    refuses_tables,
    unpack,
)

pytestmark = pytest.mark.values


@pytest.mark.criterion("min-max-scale")
class TestMinMaxAnyTable:
    @pytest.mark.parametrize(("samples", "features"), [(6, 3), (2, 4), (9, 1)])
    def test_any_table(self, learner, rng, samples, features):
        X = rng.normal(rng.normal(0, 5, features), rng.uniform(0.1, 9, features), (samples, features))
        with unchanged(X):
            Z, minimum, span = unpack(learner.min_max_scale(X), "Z", "minimum", "span")
        low, high = [min(column) for column in X.T.tolist()], [max(column) for column in X.T.tolist()]
        expected = [[(v - a) / (b - a) for v, a, b in zip(row, low, high, strict=True)] for row in X.tolist()]
        assert_array(Z, expected, name="Z")
        assert_array(minimum, low, name="minimum")
        assert_array(span, [b - a for a, b in zip(low, high, strict=True)], name="span")

    @pytest.mark.dtype
    def test_single_precision_throughout(self, learner, rng):
        X = rng.normal(size=(5, 2)).astype(np.float32)
        Z, minimum, span = unpack(learner.min_max_scale(X), "Z", "minimum", "span")
        assert_array(minimum, X.min(axis=0), name="minimum", dtype="float32")
        assert_array(span, X.max(axis=0) - X.min(axis=0), name="span", dtype="float32")
        assert_array(Z, (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)), name="Z", dtype="float32")

    @pytest.mark.dtype
    def test_integers_are_stretched_to_fractions(self, learner, rng):
        X = np.array([[0, 5], [1, 6], [3, 9], [7, 16]]) + rng.integers(-9, 10, size=2)
        Z, _, _ = unpack(learner.min_max_scale(X), "Z", "minimum", "span")
        assert_array(Z, (X - X.min(axis=0)) / [7, 11], name="Z")

    @pytest.mark.refusals
    def test_what_cannot_be_stretched_is_refused(self, learner, rng):
        refuses_tables(learner.min_max_scale, rng)


@pytest.mark.criterion("robust-scale")
class TestRobustAnyTable:
    @pytest.mark.parametrize(("samples", "features"), [(6, 3), (7, 2), (8, 1), (9, 4), (2, 3)])
    def test_numbers_of_any_table(self, learner, rng, samples, features):
        X = rng.normal(rng.normal(0, 5, features), rng.uniform(0.5, 9, features), (samples, features))
        X[rng.integers(samples)] += 1000
        with unchanged(X):
            Z, median, iqr = unpack(learner.robust_scale(X), "Z", "median", "iqr")
        lower, middle, upper = (np.array(values) for values in quartiles(X))
        assert_array(median, middle, name="median")
        assert_array(iqr, upper - lower, name="iqr")
        assert_array(Z, (X - middle) / (upper - lower), name="Z")

    @pytest.mark.dtype
    def test_single_precision_is_not_widened(self, learner, rng):
        X = rng.normal(size=(7, 2)).astype(np.float32)
        lower, middle, upper = (np.array(values) for values in quartiles(X))
        Z, median, iqr = unpack(learner.robust_scale(X), "Z", "median", "iqr")
        assert_array(median, middle, name="median", dtype="float32")
        assert_array(iqr, upper - lower, name="iqr", dtype="float32")
        assert_array(Z, (X - middle) / (upper - lower), name="Z", dtype="float32")

    @pytest.mark.dtype
    def test_integers_have_a_middle_with_fractions(self, learner, rng):
        X = np.array([[0, 5], [1, 6], [4, 9], [9, 16]]) + rng.integers(-9, 10, size=2)
        lower, middle, upper = (np.array(values) for values in quartiles(X))
        Z, median, iqr = unpack(learner.robust_scale(X), "Z", "median", "iqr")
        assert_array(median, middle, name="median")
        assert_array(iqr, upper - lower, name="iqr")
        assert_array(Z, (X - middle) / (upper - lower), name="Z")

    @pytest.mark.refusals
    def test_what_has_no_middle_is_refused(self, learner, rng):
        refuses_tables(learner.robust_scale, rng)


@pytest.mark.criterion("flat-features")
class TestFlatAnywhere:
    @pytest.mark.edges
    def test_among_others(self, learner, rng):
        flat = rng.normal(0, 100, 2)
        X = np.column_stack([np.full(7, flat[0]), rng.normal(size=7), np.full(7, flat[1])])
        Z, minimum, span = unpack(learner.min_max_scale(X), "Z", "minimum", "span")
        low, high = X.min(axis=0), X.max(axis=0)
        assert_array(Z[:, [0, 2]], np.zeros((7, 2)), name="Z of the flat features")
        assert_array(Z[:, 1], (X[:, 1] - low[1]) / (high[1] - low[1]), name="Z of the other one")
        assert_array(minimum, low, name="minimum")
        assert_array(span, [1.0, high[1] - low[1], 1.0], name="span")
        lower, middle, upper = quartiles(X)
        Z, median, iqr = unpack(learner.robust_scale(X), "Z", "median", "iqr")
        assert_array(Z[:, [0, 2]], np.zeros((7, 2)), name="Z of the flat features, robust")
        assert_array(median, middle, name="median")
        assert_array(iqr, [1.0, upper[1] - lower[1], 1.0], name="iqr")

    @pytest.mark.edges
    def test_hardly_any_spread_is_some(self, learner, rng):
        tiny = 10.0 ** -int(rng.integers(10, 14))
        X = np.array([[3.0], [0.0], [1.0], [4.0], [2.0]]) * tiny
        Z, _, span = unpack(learner.min_max_scale(X), "Z", "minimum", "span")
        assert_array(span, [4 * tiny], name="span")
        assert_array(Z[:, 0], [0.75, 0.0, 0.25, 1.0, 0.5], name="Z")
        Z, _, iqr = unpack(learner.robust_scale(X), "Z", "median", "iqr")
        assert_array(iqr, [2 * tiny], name="iqr")
        assert_array(Z[:, 0], [0.5, -1.0, -0.5, 1.0, 0.0], name="Z, robust")

    @pytest.mark.edges
    def test_middle_half_alone_is_flat(self, learner, rng):
        value, ends = float(rng.normal()), np.array([-40.0, 70.0])
        X = np.concatenate([np.full(9, value), ends])[rng.permutation(11), np.newaxis]
        Z, median, iqr = unpack(learner.robust_scale(X), "Z", "median", "iqr")
        assert_array(iqr, [1.0], name="iqr")
        assert_array(median, [value], name="median")
        assert_array(Z, X - value, name="Z")

    @pytest.mark.edges
    def test_single_sample_is_flat(self, learner, rng):
        X = rng.normal(size=(1, 3)).astype(np.float32)
        for function, names in ((learner.min_max_scale, "minimum span"), (learner.robust_scale, "median iqr")):
            Z, middle, spread = unpack(function(X), "Z", *names.split())
            assert_array(Z, np.zeros((1, 3)), name="Z")
            assert_array(middle, X[0], name=names.split()[0])
            assert_array(spread, np.ones(3), name=names.split()[1])


@pytest.mark.criterion("outliers")
class TestOutliersAnywhere:
    @pytest.mark.parametrize(("samples", "features", "factor"), [(20, 3, 1.5), (31, 2, 0.5), (14, 4, 3.0), (9, 1, 0.0)])
    def test_both_sides_of_any_table(self, learner, rng, samples, features, factor):
        X = rng.standard_t(1.5, (samples, features)) * rng.uniform(0.5, 20, features)
        X[0], X[1] = 1e4, -1e4
        with unchanged(X):
            result = learner.detect_outliers_iqr(X, factor)
        assert_array(result, outliers(X, factor))
        assert_array(learner.detect_outliers_iqr(X), outliers(X, 1.5), name="with the default factor")
        assert_array(learner.detect_outliers_iqr(X, factor=factor), outliers(X, factor), name="with factor by name")

    @pytest.mark.edges
    def test_flat_middle_makes_outliers_of_the_rest(self, learner, rng):
        value = float(rng.normal())
        column = np.array([value] * 6 + [value + 1e-3, value - 2.0])
        order = rng.permutation(8)
        assert_array(learner.detect_outliers_iqr(column[order, np.newaxis])[:, 0], (order >= 6))

    @pytest.mark.refusals
    def test_unsuitable_tables_and_factors_are_refused(self, learner, rng):
        refuses_tables(learner.detect_outliers_iqr, rng)
        for factor in (-1.5, -0.001):
            with pytest.raises(ValueError):
                learner.detect_outliers_iqr(rng.normal(size=(6, 2)), factor)
