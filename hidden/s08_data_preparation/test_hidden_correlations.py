"""Hidden tests of stage s08: correlations of tables."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, unchanged
from hidden.s08_data_preparation.oracles import (
    gaps,
    kept,
    listed,
    refuses_tables,
    sizes,
)

pytestmark = pytest.mark.values


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
