"""Hidden tests of stage s08: missing values, scales, outliers and correlations of tables."""

import contextlib
import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, unchanged
from hidden.s08_data_preparation.oracles import (
    WRONG_TABLES,
    filled,
    gaps,
    kept,
    listed,
    mean,
    most_frequent,
    outliers,
    percentile,
    quartiles,
    sizes,
    unpack,
    with_holes,
)

pytestmark = pytest.mark.values


@pytest.mark.criterion("missing-mask")
class TestMissingAnywhere:
    @pytest.mark.parametrize("shape", [(7,), (5, 3), (2, 4, 3)])
    def test_array_of_any_shape(self, learner, rng, shape):
        X = np.where(rng.random(shape) < 0.4, np.nan, rng.choice([0.0, -1.5, np.inf, 3.0], shape))
        with unchanged(X):
            result = learner.missing_mask(X)
        expected = np.array([math.isnan(value) for value in X.ravel()]).reshape(shape)
        assert_array(result, expected)

    @pytest.mark.edges
    def test_nothing_and_everything(self, learner, rng):
        assert_array(learner.missing_mask(rng.normal(size=(3, 2))), np.zeros((3, 2), bool))
        assert_array(learner.missing_mask(np.full((2, 3), np.nan)), np.ones((2, 3), bool))


def refuses_tables(call, rng):
    """See that call refuses whatever is no table with a sample."""
    for shape in WRONG_TABLES:
        with pytest.raises(ValueError):
            call(rng.normal(size=shape))


@pytest.mark.criterion("impute-mean-median")
class TestImputeAnyTable:
    @pytest.mark.parametrize(("samples", "features"), [(8, 3), (9, 1), (2, 4), (15, 2)])
    def test_mean_and_median_of_what_is_there(self, learner, rng, samples, features):
        X = with_holes(rng.normal(3, 2, (samples, features)), rng)
        with unchanged(X):
            means, medians = learner.impute(X, "mean"), learner.impute(X, "median")
        assert_array(means, filled(X, mean), terms=samples, name="impute(X, 'mean')")
        assert_array(medians, filled(X, lambda v: percentile(v, 0.5)), name="impute(X, 'median')")

    @pytest.mark.edges
    def test_infinity_is_a_value_and_complete_tables_stay(self, learner, rng):
        X = rng.normal(size=(5, 3))
        for strategy in ("mean", "median"):
            assert_array(learner.impute(X, strategy), X.copy(), name=f"impute(X, {strategy!r})")
        column = np.array([[1.0], [np.nan], [5.0], [2.0], [np.inf]])
        assert_array(learner.impute(column, "median"), np.array([[1.0], [3.5], [5.0], [2.0], [np.inf]]))

    def test_fill_value_has_no_say_in_a_mean_or_median(self, learner, rng):
        X = with_holes(rng.normal(size=(7, 2)), rng)
        assert_array(learner.impute(X, "mean", 17.0), filled(X, mean), terms=7, name="impute(X, 'mean', 17.0)")
        medians = learner.impute(X, "median", fill_value=17.0)
        assert_array(medians, filled(X, lambda v: percentile(v, 0.5)), name="impute(X, 'median', fill_value=17.0)")

    @pytest.mark.dtype
    def test_single_precision_is_kept(self, learner, rng):
        X = with_holes(rng.normal(size=(6, 2)).astype(np.float32), rng)
        for strategy, statistic in (("mean", mean), ("median", lambda v: percentile(v, 0.5))):
            assert_array(learner.impute(X, strategy), filled(X, statistic), dtype="float32")

    @pytest.mark.refusals
    def test_features_without_values_are_refused(self, learner, rng):
        X = rng.normal(size=(4, 3))
        X[:, 1] = np.nan
        for strategy in ("mean", "median"):
            with pytest.raises(ValueError):
                learner.impute(X, strategy)

    def test_features_beside_one_without_values(self, learner, rng):
        """Whether the whole table is refused is asked elsewhere; without the empty feature the others are filled."""
        X = rng.normal(size=(4, 3))
        X[:, 1] = np.nan
        others = with_holes(X[:, [0, 2]], rng)
        with contextlib.suppress(ValueError):
            learner.impute(X, "mean")
        assert_array(learner.impute(others, "mean"), filled(others, mean), terms=4)

    @pytest.mark.refusals
    def test_what_is_no_table_is_refused(self, learner, rng):
        for strategy in ("mean", "median"):
            refuses_tables(lambda X, strategy=strategy: learner.impute(X, strategy), rng)


@pytest.mark.criterion("impute-frequent-constant")
class TestImputeValues:
    @pytest.mark.parametrize(("samples", "features"), [(12, 3), (20, 2), (3, 4)])
    def test_most_frequent_of_what_is_there(self, learner, rng, samples, features):
        X = with_holes(rng.choice([-2.0, 0.5, 1.0, 30.0], (samples, features)), rng, 0.4)
        with unchanged(X):
            result = learner.impute(X, "most_frequent")
        assert_array(result, filled(X, most_frequent))

    @pytest.mark.edges
    def test_holes_may_outnumber_every_value(self, learner, rng):
        low, high = np.sort(rng.normal(size=2))
        X = np.full((9, 1), np.nan)
        X[[1, 5, 4, 7], 0] = high, low, low, high
        assert_array(learner.impute(X, "most_frequent"), np.where(np.isnan(X), low, X))

    def test_constant_goes_into_the_holes_only(self, learner, rng):
        X = with_holes(rng.choice([0.0, np.inf, 2.5], (7, 3)), rng)
        X[:, 1] = np.nan
        value = float(rng.normal())
        with unchanged(X):
            result = learner.impute(X, "constant", value)
        assert_array(result, filled(X, lambda _: value))
        assert_array(learner.impute(X, "constant"), filled(X, lambda _: 0.0))
        assert_array(learner.impute(X, "constant", fill_value=value), filled(X, lambda _: value))

    def test_fill_value_is_for_the_constant_only(self, learner, rng):
        X = with_holes(rng.choice([1.0, 2.0, 3.0], (11, 2)), rng)
        assert_array(learner.impute(X, "most_frequent", 17.0), filled(X, most_frequent))

    @pytest.mark.dtype
    def test_single_precision_is_kept_too(self, learner, rng):
        X = with_holes(rng.choice([0.5, 2.0], (8, 2)).astype(np.float32), rng)
        assert_array(learner.impute(X, "most_frequent"), filled(X, most_frequent), dtype="float32")
        assert_array(learner.impute(X, "constant", 0.25), filled(X, lambda _: 0.25), dtype="float32")

    @pytest.mark.refusals
    def test_unsuitable_strategies_and_tables_are_refused(self, learner, rng):
        X = with_holes(rng.normal(size=(5, 2)), rng)
        for strategy in ("Mean", "mode", ""):
            with pytest.raises(ValueError):
                learner.impute(X, strategy)
        with pytest.raises(ValueError):
            learner.impute(rng.normal(size=(3, 2)), "nearest")  # nothing is missing, and still
        X[:, 1] = np.nan
        with pytest.raises(ValueError):
            learner.impute(X, "most_frequent")
        for strategy in ("most_frequent", "constant"):
            refuses_tables(lambda X, strategy=strategy: learner.impute(X, strategy), rng)


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
            assert_array(Z, np.zeros((1, 3)), name="Z", dtype="float32")
            assert_array(middle, X[0], name=names.split()[0], dtype="float32")
            assert_array(spread, np.ones(3), name=names.split()[1], dtype="float32")


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


def related(rng, samples, features):
    """Return features that mix a few common causes, so that their correlations are of all sizes and both signs."""
    return rng.normal(size=(samples, 3)) @ rng.normal(size=(3, features)) + 0.4 * rng.normal(size=(samples, features))


@pytest.mark.criterion("correlation-filter")
class TestCorrelationsOfAnyTable:
    @pytest.mark.parametrize(("samples", "features"), [(12, 7), (5, 4), (30, 9), (6, 1)])
    def test_thresholds_between_the_correlations(self, learner, rng, samples, features):
        X = related(rng, samples, features)
        strengths = sizes(X)
        possible = gaps(strengths)
        for threshold in rng.choice(possible, min(6, len(possible)), replace=False):
            with unchanged(X):
                result = learner.correlation_filter(X, float(threshold))
            assert_equal(listed(result), kept(strengths, threshold), name=f"the columns for {threshold:.3f}")

    def test_threshold_is_nine_tenths_unless_given(self, learner, rng):
        a, b, c, d = np.linalg.qr(np.column_stack([np.ones(10), rng.normal(size=(10, 4))]))[0].T[1:]
        X = np.column_stack([a, b, 0.89 * a + math.sqrt(1 - 0.89**2) * c, 0.91 * b + math.sqrt(1 - 0.91**2) * d])
        assert_equal(listed(learner.correlation_filter(X)), [0, 1, 2], name="the columns for correlations .89 and .91")
        assert_equal(listed(learner.correlation_filter(X, threshold=0.88)), [0, 1], name="the columns for 0.88")

    def test_integers_that_serve_as_columns(self, learner, rng):
        X = related(rng, 8, 3)
        strengths = sizes(X)
        threshold = float(rng.choice(gaps(strengths)))
        assert_array(learner.correlation_filter(X, threshold), np.array(kept(strengths, threshold)))

    @pytest.mark.refusals
    def test_unsuitable_tables_and_thresholds_are_refused(self, learner, rng):
        refuses_tables(learner.correlation_filter, rng)
        for threshold in (0.0, 1.0, -0.5, 1.5):
            with pytest.raises(ValueError):
                learner.correlation_filter(related(rng, 8, 3), threshold)


@pytest.mark.criterion("correlation-care")
class TestCorrelationsWithCare:
    @pytest.mark.edges
    def test_flat_features_repeat_nothing(self, learner, rng):
        """The mean of equal numbers may be another number; where it is, the rest must not be taken for a feature."""
        samples = int(rng.choice([3, 6, 7, 10, 11]))
        flat = [np.full(samples, value) for value in (0.1, 0.7, *rng.normal(0, 10, 3), 0.0)]
        one = rng.normal(size=samples)
        X = np.column_stack([*flat[:3], one, *flat[3:], -2 * one])
        assert_equal(listed(learner.correlation_filter(X, 0.3)), list(range(7)), name="the columns to keep")

    @pytest.mark.edges
    def test_offset_takes_no_digits(self, learner, rng):
        X = related(rng, 14, 6)
        strengths = sizes(X)
        thresholds = [gap for gap in gaps(strengths) if 0.01 < gap < 0.99]
        far = X + rng.choice([-1.0, 1.0], 6) * 1e8 * np.std(X, axis=0)
        for threshold in rng.choice(thresholds, min(4, len(thresholds)), replace=False):
            result = learner.correlation_filter(far, float(threshold))
            assert_equal(listed(result), kept(strengths, threshold), name=f"the columns for {threshold:.3f}")

    @pytest.mark.edges
    def test_size_of_a_feature_does_not_matter(self, learner, rng):
        X = related(rng, 10, 5)
        strengths = sizes(X)
        threshold = float(rng.choice(gaps(strengths)))
        result = learner.correlation_filter(X * 10.0 ** rng.integers(-12, 12, 5), threshold)
        assert_equal(listed(result), kept(strengths, threshold), name=f"the columns for {threshold:.3f}")

    @pytest.mark.edges
    def test_single_sample_says_nothing(self, learner, rng):
        assert_equal(listed(learner.correlation_filter(rng.normal(size=(1, 3)))), [0, 1, 2], name="the columns to keep")
