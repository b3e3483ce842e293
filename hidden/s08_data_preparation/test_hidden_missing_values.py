"""Hidden tests of stage s08: missing values of tables, and what is put in their place."""

import contextlib
import math

import numpy as np
import pytest

from grader.testing import assert_array, unchanged
from hidden.s08_data_preparation.oracles import (
    filled,
    mean,
    most_frequent,
    percentile,
    refuses_tables,
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
