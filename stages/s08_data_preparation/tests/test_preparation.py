"""Public tests of stage s08: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, plain_array, unchanged

pytestmark = pytest.mark.values

NAN = np.nan
HOLES = np.array([[1.0, 8.0], [NAN, 6.0], [4.0, NAN], [1.0, 1.0]])


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def listed(values):
    """Return an array or a list of labels or of columns as a list."""
    return np.asarray(values).tolist()


@pytest.mark.criterion("missing-mask")
class TestMissingMask:
    def test_nan_is_missing_and_nothing_else(self, learner):
        with unchanged(HOLES):
            result = learner.missing_mask(HOLES)
        assert_array(result, np.array([[False, False], [True, False], [False, True], [False, False]]))

    @pytest.mark.edges
    def test_zero_and_infinity_are_values(self, learner):
        assert_array(learner.missing_mask(np.array([0.0, np.inf, NAN, -np.inf])), np.array([False, False, True, False]))


@pytest.mark.criterion("impute-mean-median")
class TestImpute:
    def test_mean_of_the_feature(self, learner):
        with unchanged(HOLES):
            result = learner.impute(HOLES, "mean")
        assert_array(result, np.array([[1.0, 8.0], [2.0, 6.0], [4.0, 5.0], [1.0, 1.0]]))

    def test_median_of_the_feature(self, learner):
        result = learner.impute(HOLES, "median")
        assert_array(result, np.array([[1.0, 8.0], [1.0, 6.0], [4.0, 6.0], [1.0, 1.0]]))

    @pytest.mark.refusals
    def test_feature_without_any_value_has_no_mean(self, learner):
        with pytest.raises(ValueError):
            learner.impute(np.array([[1.0, NAN], [NAN, NAN], [2.0, NAN]]), "mean")


@pytest.mark.criterion("impute-frequent-constant")
class TestImputeWithAValue:
    def test_most_frequent_value_of_the_feature(self, learner):
        X = np.array([[8.0, 7.0], [8.0, NAN], [NAN, 4.0], [1.0, 4.0], [3.0, 9.0]])
        result = learner.impute(X, "most_frequent")
        assert_array(result, np.array([[8.0, 7.0], [8.0, 4.0], [8.0, 4.0], [1.0, 4.0], [3.0, 9.0]]))

    @pytest.mark.edges
    def test_smallest_of_equally_frequent_values(self, learner):
        X = np.array([[5.0], [9.0], [3.0], [NAN], [9.0], [5.0], [3.0], [1.0], [4.0]])
        result = learner.impute(X, "most_frequent")
        assert_array(result, np.array([[5.0], [9.0], [3.0], [3.0], [9.0], [5.0], [3.0], [1.0], [4.0]]))

    def test_constant(self, learner):
        X = np.array([[1.0, NAN], [NAN, NAN]])
        assert_array(learner.impute(X, "constant", -1.0), np.array([[1.0, -1.0], [-1.0, -1.0]]))
        assert_array(learner.impute(X, "constant"), np.array([[1.0, 0.0], [0.0, 0.0]]))

    @pytest.mark.refusals
    def test_unknown_strategy(self, learner):
        with pytest.raises(ValueError):
            learner.impute(HOLES, "zero")


@pytest.mark.criterion("label-encode")
class TestLabelEncode:
    def test_codes_follow_the_order_of_the_classes(self, learner):
        codes, classes = unpack(learner.label_encode(["pear", "apple", "plum", "apple"]), "codes", "classes")
        assert_array(codes, np.array([1, 0, 2, 0]), name="codes")
        assert_equal(listed(classes), ["apple", "pear", "plum"], name="classes")

    def test_numbers_are_labels_too(self, learner):
        codes, classes = unpack(learner.label_encode(np.array([30, -5, 30, 7])), "codes", "classes")
        assert_array(codes, np.array([2, 0, 2, 1]), name="codes")
        assert_equal(listed(classes), [-5, 7, 30], name="classes")

    def test_classes_are_an_array_that_codes_index(self, learner):
        labels = ["pear", "apple", "plum", "apple"]
        codes, classes = unpack(learner.label_encode(labels), "codes", "classes")
        assert_equal(isinstance(classes, np.ndarray), True, name="whether classes is an array")
        assert_array(codes, np.array([1, 0, 2, 0]), name="codes")
        assert_equal(classes.tolist(), ["apple", "pear", "plum"], name="classes")
        assert_equal(classes[codes].tolist(), labels, name="classes[codes]")

    @pytest.mark.refusals
    def test_no_label_at_all(self, learner):
        with pytest.raises(ValueError):
            learner.label_encode([])


@pytest.mark.criterion("one-hot-encode")
class TestOneHotEncode:
    def test_columns_are_the_classes_in_their_order(self, learner):
        result = learner.one_hot_encode(["b", "a", "b", "c"], ["c", "b", "a", "d"])
        assert_array(result, np.array([[0.0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]))

    @pytest.mark.dtype
    def test_entries_are_floats(self, learner):
        assert_array(learner.one_hot_encode([2, 1], [1, 2]), np.array([[0.0, 1], [1, 0]]), dtype="float64")

    @pytest.mark.refusals
    def test_label_that_is_no_class(self, learner):
        with pytest.raises(ValueError):
            learner.one_hot_encode(["a", "x"], ["a", "b"])


@pytest.mark.criterion("min-max-scale")
class TestMinMaxScale:
    def test_from_zero_to_one(self, learner):
        X = np.array([[1.0, 30.0], [2.0, -10.0], [5.0, 20.0]])
        with unchanged(X):
            Z, minimum, span = unpack(learner.min_max_scale(X), "Z", "minimum", "span")
        assert_array(Z, np.array([[0.0, 1.0], [0.25, 0.0], [1.0, 0.75]]), name="Z")
        assert_array(minimum, np.array([1.0, -10.0]), name="minimum")
        assert_array(span, np.array([4.0, 40.0]), name="span")


@pytest.mark.criterion("robust-scale")
class TestRobustScale:
    def test_by_median_and_middle_half(self, learner):
        X = np.array([[5.0, 0.0], [1.0, 10.0], [900.0, 40.0], [2.0, 30.0], [3.0, 20.0]])
        with unchanged(X):
            Z, median, iqr = unpack(learner.robust_scale(X), "Z", "median", "iqr")
        expected = np.array([[2 / 3, -1.0], [-2 / 3, -0.5], [299.0, 1.0], [-1 / 3, 0.5], [0.0, 0.0]])
        assert_array(Z, expected, name="Z")
        assert_array(median, np.array([3.0, 20.0]), name="median")
        assert_array(iqr, np.array([3.0, 20.0]), name="iqr")

    def test_percentiles_between_two_values(self, learner):
        _, median, iqr = unpack(learner.robust_scale(np.array([[0.0], [4.0], [8.0], [20.0]])), "Z", "median", "iqr")
        assert_array(median, np.array([6.0]), name="median")
        assert_array(iqr, np.array([8.0]), name="iqr")


@pytest.mark.criterion("flat-features")
class TestFlatFeatures:
    @pytest.mark.edges
    def test_span_of_a_feature_that_never_changes(self, learner):
        Z, minimum, span = unpack(learner.min_max_scale(np.array([[7.0, 1.0], [7.0, 3.0]])), "Z", "minimum", "span")
        assert_array(Z, np.array([[0.0, 0.0], [0.0, 1.0]]), name="Z")
        assert_array(minimum, np.array([7.0, 1.0]), name="minimum")
        assert_array(span, np.array([1.0, 2.0]), name="span")

    @pytest.mark.edges
    def test_middle_half_that_is_one_number(self, learner):
        X = np.array([[5.0, 7.0], [5.0, 7.0], [5.0, 7.0], [5.0, 7.0], [8.0, 7.0]])
        Z, median, iqr = unpack(learner.robust_scale(X), "Z", "median", "iqr")
        assert_array(Z, np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [3.0, 0.0]]), name="Z")
        assert_array(median, np.array([5.0, 7.0]), name="median")
        assert_array(iqr, np.array([1.0, 1.0]), name="iqr")


@pytest.mark.criterion("outliers")
class TestOutliers:
    def test_far_outside_the_middle_half(self, learner):
        X = np.array([[1.0, 10.0], [2.0, 11.0], [3.0, 12.0], [4.0, 13.0], [99.0, -50.0]])
        with unchanged(X):
            result = learner.detect_outliers_iqr(X)
        expected = np.zeros((5, 2), bool)
        expected[4] = True
        assert_array(result, expected)

    @pytest.mark.edges
    def test_on_the_fence_is_inside(self, learner):
        X = np.array([[-1.0], [1.0], [2.0], [3.0], [3.0], [3.5], [4.0], [5.0], [7.0]])  # fences 2 - 3 and 4 + 3
        assert_array(learner.detect_outliers_iqr(X), np.zeros((9, 1), bool))

    @pytest.mark.edges
    def test_middle_half_of_no_width(self, learner):
        X = np.array([[5.0], [7.0], [5.0], [5.0], [-20.0], [5.0], [5.0], [5.5], [5.0]])  # both fences are at 5
        expected = np.array([False, True, False, False, True, False, False, True, False])
        assert_array(learner.detect_outliers_iqr(X)[:, 0], expected)

    def test_factor_sets_the_fences(self, learner):
        X = np.array([[1.0], [2.0], [3.0], [4.0], [9.0]])
        assert_array(learner.detect_outliers_iqr(X, 2.0)[:, 0], np.array([False, False, False, False, True]))
        assert_array(learner.detect_outliers_iqr(X, 3.0)[:, 0], np.zeros(5, bool))


@pytest.mark.criterion("correlation-filter")
class TestCorrelationFilter:
    def test_copies_are_dropped_whatever_their_sign(self, learner):
        """The third is 3 times the first and 2 more, the fourth and the fifth are the first and the second negated."""
        first, second = np.array([1.0, 2.0, 3.0, 5.0]), np.array([0.3, 0.1, 0.4, 0.2])
        X = np.column_stack([first, second, 3 * first + 2, -first, -second])
        with unchanged(X):
            result = learner.correlation_filter(X)
        assert_equal(listed(result), [0, 1], name="the columns to keep")

    def test_dropped_feature_speaks_against_no_other(self, learner):
        """The middle column has 0.71 with both others, which have 0 with each other."""
        X = np.array([[1.0, 2.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 0.0, 1.0], [-1.0, -2.0, -1.0]])
        assert_equal(listed(learner.correlation_filter(X, 0.6)), [0, 2], name="the columns to keep")

    def test_threshold(self, learner):
        """The first column has 0.6 with the second and -0.6 with the third, which have 0.28 with each other."""
        X = np.array([[2.0, 17.0, 11.0], [2.0, 9.0, 3.0], [0.0, 11.0, 17.0], [0.0, 3.0, 9.0]])
        for threshold, expected in ((0.3, [0]), (0.9, [0, 1, 2]), (0.5, [0]), (0.7, [0, 1, 2])):
            result = learner.correlation_filter(X, threshold)
            assert_equal(listed(result), expected, name=f"the columns to keep for {threshold}")


@pytest.mark.criterion("correlation-care")
class TestCorrelationCare:
    @pytest.mark.edges
    def test_features_that_never_change_are_kept(self, learner):
        X = np.array([[1.0, 0.1, 0.1, 0.5], [2.0, 0.1, 0.1, 0.5], [3.0, 0.1, 0.1, 0.5]])
        assert_equal(listed(learner.correlation_filter(X)), [0, 1, 2, 3], name="the columns to keep")

    @pytest.mark.edges
    def test_small_features_change_too(self, learner):
        """The second is a millionth of the first; the last two, 1e-13 large, are the third and the first."""
        first, second = np.array([1.0, 2.0, 3.0, 5.0]), np.array([3.0, 1.0, 4.0, 2.0])
        X = np.column_stack([first, 1e-6 * first, second, 1e-13 * second, -1e-13 * first])
        assert_equal(listed(learner.correlation_filter(X)), [0, 2], name="the columns to keep")

    @pytest.mark.edges
    def test_far_from_zero(self, learner):
        X = np.array([[1.0, 3.0, 2.0], [2.0, 1.0, 4.0], [3.0, 2.0, 6.0]]) + 1e8
        assert_equal(listed(learner.correlation_filter(X)), [0, 1], name="the columns to keep")


@pytest.mark.criterion("pad-sequences")
class TestPadSequences:
    def test_longest_sets_the_length(self, learner):
        array, mask = unpack(learner.pad_sequences([[5, 3, 0], [7], [8, 9]]), "array", "mask")
        assert_array(array, np.array([[5, 3, 0], [7, 0, 0], [8, 9, 0]]), name="array")
        expected = np.array([[True, True, True], [True, False, False], [True, True, False]])
        assert_array(mask, expected, name="mask")

    def test_shorter_than_the_longest(self, learner):
        array, mask = unpack(learner.pad_sequences([[5, 3, 4], [7]], 2, -1), "array", "mask")
        assert_array(array, np.array([[5, 3], [7, -1]]), name="array")
        assert_array(mask, np.array([[True, True], [True, False]]), name="mask")

    @pytest.mark.refusals
    def test_nothing_to_pad(self, learner):
        with pytest.raises(ValueError):
            learner.pad_sequences([])


@pytest.mark.criterion("minibatches")
class TestMinibatches:
    def test_every_sample_once_with_its_target(self, learner):
        X, y = np.arange(14.0).reshape(7, 2), np.arange(7) * 100
        with unchanged(X, y):
            batches = [unpack(batch, "X_batch", "y_batch") for batch in learner.iterate_minibatches(X, y, 3, draws())]
        assert_equal([len(targets) for _, targets in batches], [3, 3, 1], name="the sizes of the batches")
        for features, targets in batches:
            assert_array(features[:, 0] * 50, targets.astype(float), name="50 times the first feature beside y_batch")
        assert_equal(sorted(int(t) for _, ts in batches for t in ts), list(range(0, 700, 100)), name="all targets")

    def test_batches_are_made_when_asked_for(self, learner):
        batches = learner.iterate_minibatches(np.ones((4, 1)), np.ones(4), 2, draws())
        assert_equal(isinstance(batches, (list, tuple)), False, name="whether all batches came at once, as a list")
        assert_array(next(batches)[0], np.ones((2, 1)), name="X_batch")

    @pytest.mark.refusals
    def test_batch_without_samples(self, learner):
        with pytest.raises(ValueError):
            list(learner.iterate_minibatches(np.ones((4, 1)), np.ones(4), 0, draws()))


def draws():
    return np.random.default_rng(8)


def order_of(learner, seed):
    """Return the order in which 40 samples come in batches of 20."""
    batches = learner.iterate_minibatches(
        np.arange(40.0)[:, np.newaxis], np.arange(40), 20, np.random.default_rng(seed)
    )
    return [int(plain_array(target)) for _, targets in batches for target in targets]


@pytest.mark.criterion("minibatches-random")
class TestMinibatchesRandom:
    def test_order_is_drawn(self, learner):
        """Two of the 40! orders are equal by chance once in 1e47."""
        first, second = (np.array(order_of(learner, seed)) for seed in (8, 9))
        for other, which in ((np.arange(40), "the order of X"), (second, "that of another generator")):
            assert_differ(first, other, shape=(40,), dtype=int, name=f"the order of the samples, and {which}")

    @pytest.mark.purity
    def test_same_seed_same_batches(self, learner):
        first, second = order_of(learner, 8), order_of(learner, 8)
        assert_equal(second, first, name="the order of the same seed")
