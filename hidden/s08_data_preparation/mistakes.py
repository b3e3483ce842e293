"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import numpy as np

from grader.course.answers import mistake
from hidden.s08_data_preparation.solution import (
    _as_labels,
    _correlations,
    _no_zero,
    _require_table,
    correlation_filter,
    detect_outliers_iqr,
    impute,
    iterate_minibatches,
    label_encode,
    min_max_scale,
    missing_mask,
    one_hot_encode,
    pad_sequences,
    robust_scale,
)


@mistake(
    criterion="missing-mask",
    replaces="missing_mask",
    text="Nothing was found missing: NaN is not equal to anything, so X == np.nan is False everywhere.",
    fix="Ask np.isnan(X), or X != X.",
)
def equal_to_nan(X):
    return X == np.nan


@mistake(
    criterion="missing-mask",
    replaces="missing_mask",
    text="The mask is the wrong way round: True for the values that are there.",
    fix="Return True where a value is missing, False where there is one.",
)
def mask_of_what_is_there(X, right=missing_mask):
    return ~right(X)


@mistake(
    criterion="missing-mask",
    replaces="missing_mask",
    text="Infinite values were taken for missing ones.",
    fix="Only NaN is missing: use np.isnan, not the opposite of np.isfinite.",
)
def infinity_missing_too(X):
    return ~np.isfinite(X)


@mistake(
    criterion="missing-mask",
    replaces="missing_mask",
    text="Zeros were taken for missing values.",
    fix="Zero is a value like any other; only NaN is missing.",
)
def zero_missing_too(X, right=missing_mask):
    return right(X) | (X == 0)


@mistake(
    criterion="missing-mask",
    replaces="missing_mask",
    text="There is one answer for each row (or one in all), not one for each value.",
    fix="Leave any() out: the mask has the shape of X.",
)
def one_answer_for_each_row(X, right=missing_mask):
    return right(X).any(axis=-1)


@mistake(
    criterion="missing-mask",
    replaces="missing_mask",
    text="The mask holds the integers 0 and 1.",
    fix="Return booleans, as comparisons and np.isnan give them; then ~mask and X[mask] work.",
)
def mask_of_integers(X, right=missing_mask):
    return right(X).astype(int)


@mistake(
    criterion="impute-mean-median",
    replaces="impute",
    text="The holes are still NaN: the mean, or median, was taken of a column with NaN in it, which is NaN.",
    fix="Take it of the values that are present, X[~missing[:, j], j], or use np.nanmean and np.nanmedian.",
)
def statistic_of_nan(X, strategy, fill_value=0.0, right=impute):
    right(X, strategy, fill_value)
    if strategy not in ("mean", "median"):
        return right(X, strategy, fill_value)
    fill = np.mean(X, axis=0) if strategy == "mean" else np.median(X, axis=0)
    return np.where(np.isnan(X), fill, X)


@mistake(
    criterion="impute-mean-median",
    replaces="impute",
    text="Holes were counted as zeros in the mean, or median, and so pulled it towards 0.",
    fix="Leave missing values out altogether: divide by the number of those that are present.",
)
def holes_counted_as_zero(X, strategy, fill_value=0.0, right=impute):
    right(X, strategy, fill_value)
    if strategy not in ("mean", "median"):
        return right(X, strategy, fill_value)
    there = np.where(np.isnan(X), 0, X)
    fill = np.mean(there, axis=0) if strategy == "mean" else np.median(there, axis=0)
    return np.where(np.isnan(X), fill, X)


@mistake(
    criterion="impute-mean-median",
    replaces="impute",
    text="Holes were counted as zeros in the mean, which pulled it towards 0.",
    fix="Divide the sum of the values that are present by how many of them there are.",
)
def holes_counted_in_the_mean(X, strategy, fill_value=0.0, right=impute):
    fill = right(X, strategy, fill_value)
    return np.where(np.isnan(X), np.nansum(X, axis=0) / len(X), X) if strategy == "mean" else fill


@mistake(
    criterion="impute-mean-median",
    replaces="impute",
    text="One number was taken for the whole table: the mean, or median, over all features at once.",
    fix="Each feature has its own: work column by column, or pass axis=0.",
)
def statistic_of_the_table(X, strategy, fill_value=0.0, right=impute):
    right(X, strategy, fill_value)
    if strategy not in ("mean", "median"):
        return right(X, strategy, fill_value)
    fill = np.nanmean(X) if strategy == "mean" else np.nanmedian(X)
    return np.where(np.isnan(X), fill.astype(X.dtype), X)


@mistake(
    criterion="impute-mean-median",
    replaces="impute",
    text="The holes of a sample were filled from the sample's other features, which measure something else.",
    fix="Take the mean, or median, over the samples: axis=0.",
)
def statistic_of_the_sample(X, strategy, fill_value=0.0, right=impute):
    right(X, strategy, fill_value)
    if strategy not in ("mean", "median"):
        return right(X, strategy, fill_value)
    statistic = np.mean if strategy == "mean" else np.median
    result = X.copy()
    for row in result:
        gaps = np.isnan(row)
        if gaps.any() and not gaps.all():
            row[gaps] = statistic(row[~gaps])
    return result


@mistake(
    criterion="impute-mean-median",
    replaces="impute",
    text="The mean was filled in where the median was asked for.",
    fix="Look at strategy, and take np.median (or np.nanmedian) for 'median'.",
)
def mean_for_median(X, strategy, fill_value=0.0, right=impute):
    return right(X, "mean" if strategy == "median" else strategy, fill_value)


@mistake(
    criterion="impute-mean-median",
    replaces="impute",
    text="Of an even number of values the lower one in the middle was taken as the median.",
    fix="Take the mean of the two in the middle, as np.median does.",
)
def lower_of_two_in_the_middle(X, strategy, fill_value=0.0, right=impute):
    result = right(X, strategy, fill_value)
    if strategy == "median":
        for feature in range(X.shape[1]):
            gaps = np.isnan(X[:, feature])
            there = np.sort(X[~gaps, feature])
            result[gaps, feature] = there[(len(there) - 1) // 2]
    return result


@mistake(
    criterion="impute-mean-median",
    replaces="impute",
    text="Values that are there were replaced, too: the whole feature is its mean, or median.",
    fix="Keep X where it is not missing: np.where(missing, fill, X).",
)
def everything_replaced(X, strategy, fill_value=0.0, right=impute):
    result = right(X, strategy, fill_value)
    if strategy in ("mean", "median"):
        result[:] = np.nanmean(X, axis=0) if strategy == "mean" else np.nanmedian(X, axis=0)
    return result


@mistake(
    criterion="impute-mean-median",
    replaces="impute",
    text="A feature without any value went through, and is still NaN.",
    fix="Raise ValueError where a whole column is missing: missing.all(axis=0).any().",
)
def empty_feature_left_empty(X, strategy, fill_value=0.0, right=impute):
    if strategy == "constant" or X.ndim != 2 or len(X) == 0:
        return right(X, strategy, fill_value)
    empty = np.all(np.isnan(X), axis=0)
    return np.where(empty, np.nan, right(np.where(empty, 0.0, X), strategy, fill_value))


@mistake(
    criterion="impute-mean-median",
    replaces="impute",
    text="The values are right, but float32 became float64.",
    fix="Let fill have the dtype of X; an array made without a dtype, such as np.zeros(features), is float64.",
)
def widened_to_double(X, strategy, fill_value=0.0, right=impute):
    return right(X, strategy, fill_value).astype(float)


@mistake(
    criterion="impute-mean-median",
    replaces="impute",
    text="fill_value was filled in, although the strategy is not 'constant'.",
    fix="Look at fill_value for the strategy 'constant' only.",
)
def fill_value_always(X, strategy, fill_value=0.0, right=impute):
    result = right(X, strategy, fill_value)
    return np.where(np.isnan(X), X.dtype.type(fill_value), X) if fill_value else result


@mistake(
    criterion="impute-frequent-constant",
    replaces="impute",
    text="Of equally frequent values the largest was taken.",
    fix="Take the smallest: np.unique sorts, and np.argmax of its counts finds the first.",
)
def largest_of_equals(X, strategy, fill_value=0.0, right=impute):
    return -right(-X, strategy, fill_value) if strategy == "most_frequent" else right(X, strategy, fill_value)


@mistake(
    criterion="impute-frequent-constant",
    replaces="impute",
    text="Of equally frequent values the one that comes first in the data was taken.",
    fix="Take the smallest, so that the order of the samples does not matter.",
)
def first_seen_of_equals(X, strategy, fill_value=0.0, right=impute):
    result = right(X, strategy, fill_value)
    if strategy == "most_frequent":
        for feature in range(X.shape[1]):
            gaps = np.isnan(X[:, feature])
            there = X[~gaps, feature].tolist()
            result[gaps, feature] = max(there, key=there.count)
    return result


@mistake(
    criterion="impute-frequent-constant",
    replaces="impute",
    text="Holes were counted as a value, and where they are the most frequent one they were filled with NaN.",
    fix="Count the values that are present only.",
)
def holes_counted_as_a_value(X, strategy, fill_value=0.0, right=impute):
    result = right(X, strategy, fill_value)
    if strategy == "most_frequent":
        for feature in range(X.shape[1]):
            distinct, counts = np.unique(X[:, feature], return_counts=True)
            result[np.isnan(X[:, feature]), feature] = distinct[np.argmax(counts)]
    return result


@mistake(
    criterion="impute-frequent-constant",
    replaces="impute",
    text="How often the most frequent value occurs was filled in, not the value.",
    fix="Use the counts to find the place of the largest, and take the value at that place.",
)
def count_for_value(X, strategy, fill_value=0.0, right=impute):
    result = right(X, strategy, fill_value)
    if strategy == "most_frequent":
        for feature in range(X.shape[1]):
            gaps = np.isnan(X[:, feature])
            result[gaps, feature] = np.max(np.unique(X[~gaps, feature], return_counts=True)[1])
    return result


@mistake(
    criterion="impute-frequent-constant",
    replaces="impute",
    text="fill_value has no effect: the holes are 0 whatever is passed.",
    fix="Fill with the argument fill_value.",
)
def always_zero(X, strategy, fill_value=0.0, right=impute):
    return right(X, strategy, 0.0)


@mistake(
    criterion="impute-frequent-constant",
    replaces="impute",
    text="A feature without any value was refused for the strategy 'constant', too.",
    fix="A constant needs no values: deal with it before you look for empty features.",
)
def empty_feature_refused_always(X, strategy, fill_value=0.0, right=impute):
    if X.ndim == 2 and np.any(np.all(np.isnan(X), axis=0)):
        raise ValueError("X: a feature without any value")
    return right(X, strategy, fill_value)


@mistake(
    criterion="impute-frequent-constant",
    replaces="impute",
    text="An unknown strategy was taken for one of the four instead of being refused.",
    fix="End the choice with a ValueError, not with an else that catches everything.",
)
def unknown_is_constant(X, strategy, fill_value=0.0, right=impute):
    known = ("mean", "median", "most_frequent", "constant")
    return right(X, strategy if strategy in known else "constant", fill_value)


@mistake(
    criterion="label-encode",
    replaces="label_encode",
    text="The classes are in the order in which they first appear.",
    fix="Sort the different labels before you number them: then the order of the samples does not matter.",
)
def order_of_appearance(labels, right=label_encode):
    right(labels)
    classes = list(dict.fromkeys(np.asarray(labels).tolist()))
    return np.array([classes.index(label) for label in np.asarray(labels).tolist()]), np.array(classes)


@mistake(
    criterion="label-encode",
    replaces="label_encode",
    text="Only the codes came back.",
    fix="Return both, codes and classes: without the classes nobody can read the codes.",
)
def codes_alone(labels, right=label_encode):
    return right(labels)[0]


@mistake(
    criterion="label-encode",
    replaces="label_encode",
    text="The two results are swapped: np.unique gives the classes first.",
    fix="Return codes, classes in this order.",
)
def classes_first(labels, right=label_encode):
    codes, classes = right(labels)
    return classes, codes


@mistake(
    criterion="label-encode",
    replaces="label_encode",
    text="The codes begin with 1.",
    fix="Begin with 0, so that classes[codes] is the labels again.",
)
def numbered_from_one(labels, right=label_encode):
    codes, classes = right(labels)
    return codes + 1, classes


@mistake(
    criterion="label-encode",
    replaces="label_encode",
    text="The codes are floating numbers, which cannot be used as indices.",
    fix="Make them integers: codes of dtype int.",
)
def floating_codes(labels, right=label_encode):
    codes, classes = right(labels)
    return codes.astype(float), classes


@mistake(
    criterion="label-encode",
    replaces="label_encode",
    text="A table of labels was flattened, or an empty list taken.",
    fix="Raise ValueError unless labels has one axis and one label or more.",
)
def any_labels(labels):
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    return codes, classes


@mistake(
    criterion="one-hot-encode",
    replaces="one_hot_encode",
    text="The columns are the classes in sorted order, not in the order of the argument.",
    fix="Column j is about classes[j], however the classes are ordered.",
)
def classes_sorted(labels, classes, right=one_hot_encode):
    return right(labels, np.sort(np.asarray(classes)))


@mistake(
    criterion="one-hot-encode",
    replaces="one_hot_encode",
    text="The columns are the classes that occur among the labels; the others are left out.",
    fix="Make one column for each entry of classes, so that two sets of samples get the same columns.",
)
def classes_of_the_labels(labels, classes, right=one_hot_encode):
    result = right(labels, classes)
    return result[:, result.any(axis=0)]


@mistake(
    criterion="one-hot-encode",
    replaces="one_hot_encode",
    text="The table holds booleans, as the comparison gave them.",
    fix="Convert it with astype(float).",
)
def truth_for_numbers(labels, classes, right=one_hot_encode):
    return right(labels, classes).astype(bool)


@mistake(
    criterion="one-hot-encode",
    replaces="one_hot_encode",
    text="The table lies on its side: a row for each class and a column for each sample.",
    fix="Let the samples be the rows: compare labels[:, np.newaxis] with classes.",
)
def classes_as_rows(labels, classes, right=one_hot_encode):
    return right(labels, classes).T


@mistake(
    criterion="one-hot-encode",
    replaces="one_hot_encode",
    text="A label that is no class became a row of zeros.",
    fix="Raise ValueError for it: somebody misspelt it, or the classes are out of date.",
)
def zeros_for_the_unknown(labels, classes):
    hot = _as_labels(labels)[:, np.newaxis] == np.asarray(classes)
    return hot.astype(float)


@mistake(
    criterion="one-hot-encode",
    replaces="one_hot_encode",
    text="The labels were used as the numbers of columns.",
    fix="Look for the place of each label in classes; labels may be words, or numbers such as 40 and -1.",
)
def labels_as_columns(labels, classes):
    return np.eye(len(classes))[np.asarray(labels)]


@mistake(
    criterion="one-hot-encode",
    replaces="one_hot_encode",
    text="The labels were converted to the dtype of the classes: long words are cut off, and 1.5 becomes 1.",
    fix="Compare the labels as they are: NumPy finds a dtype for both.",
)
def labels_made_like_classes(labels, classes, right=one_hot_encode):
    classes = np.asarray(classes)
    return right(_as_labels(labels).astype(classes.dtype), classes)


@mistake(
    criterion="min-max-scale",
    replaces="min_max_scale",
    text="All features were scaled by the smallest and largest value of the whole table.",
    fix="Each feature has its own: pass axis=0.",
)
def extremes_of_the_table(X, right=min_max_scale):
    right(X)
    minimum, span = np.full(X.shape[1], X.min()), np.full(X.shape[1], np.ptp(X))
    return (X - minimum) / span, minimum, span


@mistake(
    criterion="min-max-scale",
    replaces="min_max_scale",
    text="The extremes were taken for each sample, not for each feature.",
    fix="A feature is a column: axis=0 runs over the samples.",
)
def extremes_of_the_sample(X, right=min_max_scale):
    right(X)
    minimum, span = X.min(axis=1), np.ptp(X, axis=1)
    return (X - minimum[:, np.newaxis]) / np.where(span == 0, 1, span)[:, np.newaxis], minimum, span


@mistake(
    criterion="min-max-scale",
    replaces="min_max_scale",
    text="Z is right, but the largest value was returned, where the span is asked for.",
    fix="Return what you divide by: the largest minus the smallest, and 1 where that is 0.",
)
def maximum_returned(X, right=min_max_scale):
    Z, minimum, _ = right(X)
    return Z, minimum, X.max(axis=0)


@mistake(
    criterion="min-max-scale",
    replaces="min_max_scale",
    text="It was divided by the largest value, not by the span.",
    fix="Divide by the largest minus the smallest.",
)
def divided_by_the_maximum(X, right=min_max_scale):
    _, minimum, span = right(X)
    return (X - minimum) / X.max(axis=0), minimum, span


@mistake(
    criterion="min-max-scale",
    replaces="min_max_scale",
    text="The largest value was returned (and divided by), where the span is asked for.",
    fix="span is the largest minus the smallest.",
)
def maximum_for_span(X, right=min_max_scale):
    _, minimum, _ = right(X)
    maximum = X.max(axis=0)
    return (X - minimum) / np.where(maximum == 0, 1, maximum), minimum, maximum


@mistake(
    criterion="min-max-scale",
    replaces="min_max_scale",
    text="The smallest value was not taken away before dividing.",
    fix="Subtract the minimum first: z = (x - min) / (max - min).",
)
def not_moved_to_zero(X, right=min_max_scale):
    _, minimum, span = right(X)
    return X / span, minimum, span


@mistake(
    criterion="min-max-scale",
    replaces="min_max_scale",
    text="The mean was taken away, not the minimum, so the feature does not begin at 0.",
    fix="Subtract the minimum of each column.",
)
def mean_for_minimum(X, right=min_max_scale):
    _, _, span = right(X)
    return (X - X.mean(axis=0)) / span, X.mean(axis=0), span


@mistake(
    criterion="min-max-scale",
    replaces="min_max_scale",
    text="Only the scaled table came back.",
    fix="Return Z, minimum and span: new samples are scaled with the old numbers.",
)
def scaled_table_alone(X, right=min_max_scale):
    return right(X)[0]


@mistake(
    criterion="robust-scale",
    replaces="robust_scale",
    text="The mean stands where the median is asked for: one far value moves it.",
    fix="Take np.median(X, axis=0), or the 50th percentile.",
)
def mean_in_the_middle(X, right=robust_scale):
    _, _, iqr = right(X)
    mean = X.mean(axis=0)
    return (X - mean) / iqr, mean, iqr


@mistake(
    criterion="robust-scale",
    replaces="robust_scale",
    text="It was divided by the standard deviation, which one far value makes large.",
    fix="Divide by the interquartile range, q75 - q25.",
)
def deviation_for_range(X, right=robust_scale):
    _, median, iqr = right(X)
    deviation = np.where(iqr == 1, 1, X.std(axis=0))
    return (X - median) / deviation, median, deviation


@mistake(
    criterion="robust-scale",
    replaces="robust_scale",
    text="np.percentile was asked for 0.25 and 0.75: a quarter of a percent, next to the minimum.",
    fix="Ask np.percentile for 25 and 75, or np.quantile for 0.25 and 0.75.",
)
def quarter_of_a_percent(X, right=robust_scale):
    _, median, iqr = right(X)
    lower, upper = np.percentile(X, [0.25, 0.75], axis=0).astype(np.result_type(X, 1.0))
    iqr = np.where(upper == lower, 1, upper - lower)
    return (X - median) / iqr, median, iqr


@mistake(
    criterion="robust-scale",
    replaces="robust_scale",
    text="The percentiles were taken of the whole table.",
    fix="Each feature has its own: pass axis=0.",
)
def percentiles_of_the_table(X, right=robust_scale):
    right(X)
    lower, median, upper = (np.full(X.shape[1], np.percentile(X, q), np.result_type(X, 1.0)) for q in (25, 50, 75))
    iqr = np.where(upper == lower, 1, upper - lower)
    return (X - median) / iqr, median, iqr


@mistake(
    criterion="robust-scale",
    replaces="robust_scale",
    text="A percentile that falls between two values was taken from one of them.",
    fix="Interpolate between the two neighbours, which is what np.percentile does unless told otherwise.",
)
def percentiles_not_interpolated(X, right=robust_scale):
    right(X)
    ordered = np.sort(X, axis=0)
    lower, median, upper = (ordered[int(q * (len(X) - 1))] for q in (0.25, 0.5, 0.75))
    iqr = np.where(upper == lower, 1, upper - lower)
    return (X - median) / iqr, median, iqr


@mistake(
    criterion="robust-scale",
    replaces="robust_scale",
    text="The values are right, but float32 became float64, as np.percentile does with a list of percentages.",
    fix="Convert what np.percentile gives with astype(X.dtype), where X holds floats.",
)
def percentiles_in_double(X, right=robust_scale):
    return tuple(values.astype(float) for values in right(X))


@mistake(
    criterion="flat-features",
    replaces="min_max_scale",
    text="A feature that never changes was divided by its span of 0, which gives NaN.",
    fix="Put 1 where the span is 0: np.where(span == 0, 1, span).",
)
def span_of_zero(X, right=min_max_scale):
    right(X)
    minimum, span = X.min(axis=0), np.ptp(X, axis=0)
    with np.errstate(invalid="ignore"):
        return (X - minimum) / span, minimum, span


@mistake(
    criterion="flat-features",
    replaces="min_max_scale",
    text="A small number was added to the span: it changes every other feature, and a flat one has it for a span.",
    fix="Leave spans as they are, and put 1 where one is exactly 0.",
)
def span_with_a_little_more(X, right=min_max_scale):
    right(X)
    minimum, span = X.min(axis=0), np.ptp(X, axis=0) + 1e-8
    return (X - minimum) / span, minimum, span


@mistake(
    criterion="flat-features",
    replaces="min_max_scale",
    text="A feature of small values was taken for one that never changes.",
    fix="Compare the span with 0 exactly: a feature in metres may be large in nanometres.",
)
def small_span_is_none(X, right=min_max_scale):
    _, minimum, span = right(X)
    span = np.where(span < 1e-8, 1, span)
    return (X - minimum) / span, minimum, span


@mistake(
    criterion="flat-features",
    replaces="min_max_scale",
    text="Z is finite, but the span that came back is still 0, and the next sample divided by it is not.",
    fix="Return the span in which 0 was replaced by 1.",
)
def zero_span_returned(X, right=min_max_scale):
    Z, minimum, _ = right(X)
    return Z, minimum, np.ptp(X, axis=0)


@mistake(
    criterion="flat-features",
    replaces="robust_scale",
    text="Where the middle half is one number, it was divided by 0.",
    fix="Put 1 where the interquartile range is 0.",
)
def range_of_zero(X, right=robust_scale):
    right(X)
    lower, median, upper = np.percentile(X, [25, 50, 75], axis=0).astype(np.result_type(X, 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (X - median) / (upper - lower), median, upper - lower


@mistake(
    criterion="flat-features",
    replaces="robust_scale",
    text="Only constant features were looked after; the middle half may be one number though the ends are not.",
    fix="Ask whether the interquartile range is 0, not whether all values are equal.",
)
def only_constants_looked_after(X, right=robust_scale):
    right(X)
    lower, median, upper = np.percentile(X, [25, 50, 75], axis=0).astype(np.result_type(X, 1.0))
    iqr = np.where(np.ptp(X, axis=0) == 0, 1, upper - lower)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (X - median) / iqr, median, iqr


@mistake(
    criterion="flat-features",
    replaces="robust_scale",
    text="All of Z is 0 where the middle half is one number, the ends included.",
    fix="Divide by 1 there: values away from the median stay away from 0.",
)
def ends_flattened(X, right=robust_scale):
    Z, median, iqr = right(X)
    lower, upper = np.percentile(X, [25, 75], axis=0)
    return np.where(upper == lower, 0, Z), median, iqr


@mistake(
    criterion="outliers",
    replaces="detect_outliers_iqr",
    text="A value exactly on the fence was marked.",
    fix="An outlier is farther away than the fence: compare with < and >.",
)
def fence_included(X, factor=1.5, right=detect_outliers_iqr):
    right(X, factor)
    lower, upper = np.percentile(X, [25, 75], axis=0)
    reach = factor * (upper - lower)
    return (X <= lower - reach) | (X >= upper + reach)


@mistake(
    criterion="outliers",
    replaces="detect_outliers_iqr",
    text="Only values above the middle half were looked at.",
    fix="Look at both sides, and join them with |.",
)
def upper_fence_alone(X, factor=1.5, right=detect_outliers_iqr):
    return right(X, factor) & (X > np.median(X, axis=0))


@mistake(
    criterion="outliers",
    replaces="detect_outliers_iqr",
    text="The mask is the wrong way round: True for what is no outlier.",
    fix="True marks outliers; what remains is ~mask.",
)
def mask_of_the_rest(X, factor=1.5, right=detect_outliers_iqr):
    return ~right(X, factor)


@mistake(
    criterion="outliers",
    replaces="detect_outliers_iqr",
    text="The distance was measured from the median, not from the ends of the middle half.",
    fix="Put the fences at q25 - reach and q75 + reach.",
)
def measured_from_the_median(X, factor=1.5, right=detect_outliers_iqr):
    right(X, factor)
    lower, median, upper = np.percentile(X, [25, 50, 75], axis=0)
    return np.abs(X - median) > factor * (upper - lower)


@mistake(
    criterion="outliers",
    replaces="detect_outliers_iqr",
    text="Mean and standard deviation were used, which the outliers themselves make large.",
    fix="Use the percentiles: reach = factor * (q75 - q25), from q25 and q75.",
)
def deviations_from_the_mean(X, factor=1.5, right=detect_outliers_iqr):
    right(X, factor)
    return np.abs(X - X.mean(axis=0)) > factor * X.std(axis=0)


@mistake(
    criterion="outliers",
    replaces="detect_outliers_iqr",
    text="factor has no effect: it is 1.5 whatever is passed.",
    fix="Multiply the interquartile range by the argument.",
)
def factor_fixed(X, factor=1.5, right=detect_outliers_iqr):
    right(X, factor)
    return right(X, 1.5)


@mistake(
    criterion="outliers",
    replaces="detect_outliers_iqr",
    text="There is one answer for each sample, not one for each value.",
    fix="Return the mask of X's shape; whoever wants whole samples takes any(axis=1) of it.",
)
def samples_marked(X, factor=1.5, right=detect_outliers_iqr):
    return right(X, factor).any(axis=1)


@mistake(
    criterion="outliers",
    replaces="detect_outliers_iqr",
    text="The percentiles were taken of the whole table, so a feature of large values is all outliers.",
    fix="Each feature has its own: pass axis=0.",
)
def fences_of_the_table(X, factor=1.5, right=detect_outliers_iqr):
    right(X, factor)
    lower, upper = np.percentile(X, [25, 75])
    reach = factor * (upper - lower)
    return (X < lower - reach) | (X > upper + reach)


@mistake(
    criterion="outliers",
    replaces="detect_outliers_iqr",
    text="A factor below 0 was taken, which puts the fences inside the middle half.",
    fix="Raise ValueError for it.",
)
def factor_not_looked_at(X, factor=1.5):
    _require_table(X)
    lower, upper = np.percentile(X, [25, 75], axis=0)
    reach = factor * (upper - lower)
    return (X < lower - reach) | (X > upper + reach)


@mistake(
    criterion="outliers",
    replaces="detect_outliers_iqr",
    text="Where the middle half is one number, its width was taken for 1, as in the iqr that robust_scale returns.",
    fix="Compute the width here, upper - lower, and leave it 0 where it is: then every other value is an outlier.",
)
def width_of_robust_scale(X, factor=1.5, right=detect_outliers_iqr):
    right(X, factor)
    lower, upper = np.percentile(X, [25, 75], axis=0)
    reach = factor * _no_zero(upper - lower)
    return (X < lower - reach) | (X > upper + reach)


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="A feature that was dropped was still held against others.",
    fix="Compare with the kept features only: what was dropped is not there any more to be repeated.",
)
def dropped_ones_count(X, threshold=0.9, right=correlation_filter):
    right(X, threshold)
    above = np.triu(np.abs(_correlations(X)) > threshold, 1)
    return np.flatnonzero(~above.any(axis=0))


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="The sign was looked at: a feature that is the opposite of another was kept.",
    fix="Compare the absolute value with the threshold; -0.95 is as much a repetition as 0.95.",
)
def sign_looked_at(X, threshold=0.9, right=correlation_filter):
    right(X, threshold)
    correlations, kept = _correlations(X), []
    for feature in range(X.shape[1]):
        if not np.any(correlations[feature, kept] > threshold):
            kept.append(feature)
    return np.array(kept)


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="Both features of a pair were dropped.",
    fix="Keep the first of them, and drop what comes later and repeats it.",
)
def both_dropped(X, threshold=0.9, right=correlation_filter):
    right(X, threshold)
    above = np.abs(_correlations(X)) > threshold
    np.fill_diagonal(above, False)
    return np.flatnonzero(~above.any(axis=0))


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="The columns to drop came back.",
    fix="Return those to keep, so that X[:, result] is what remains.",
)
def columns_to_drop(X, threshold=0.9, right=correlation_filter):
    return np.setdiff1d(np.arange(X.shape[1]), right(X, threshold))


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="The remaining table came back, not its columns.",
    fix="Return the numbers of the columns, which can be used for new samples as well.",
)
def table_that_remains(X, threshold=0.9, right=correlation_filter):
    return X[:, right(X, threshold)]


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="A boolean for each feature came back, not the numbers of those to keep.",
    fix="Return the numbers: np.flatnonzero turns a mask into them.",
)
def mask_of_columns(X, threshold=0.9, right=correlation_filter):
    return np.isin(np.arange(X.shape[1]), right(X, threshold))


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="The features were taken from the right: the last of a pair was kept.",
    fix="Go from the first to the last, so that the first of a pair stays.",
)
def last_one_kept(X, threshold=0.9, right=correlation_filter):
    return np.sort(X.shape[1] - 1 - right(X[:, ::-1], threshold))


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="threshold has no effect: it is 0.9 whatever is passed.",
    fix="Compare with the argument.",
)
def threshold_fixed(X, threshold=0.9, right=correlation_filter):
    right(X, threshold)
    return right(X, 0.9)


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="The means were not taken away: this is the cosine of the features, not their correlation.",
    fix="Centre each feature before you multiply.",
)
def cosine_for_correlation(X, threshold=0.9, right=correlation_filter):
    right(X, threshold)
    unit = X / _no_zero(np.linalg.norm(X, axis=0))
    cosines, kept = np.abs(unit.T @ unit), []
    for feature in range(X.shape[1]):
        if not np.any(cosines[feature, kept] > threshold):
            kept.append(feature)
    return np.array(kept)


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="The covariance was divided by n - 1 and the variances by n: copies then have correlations above 1.",
    fix="Use one divisor for both (np.cov has n - 1, np.std has n), or np.corrcoef.",
)
def two_divisors(X, threshold=0.9, right=correlation_filter):
    right(X, threshold)
    correlations, kept = _correlations(X) * len(X) / max(len(X) - 1, 1), []
    for feature in range(X.shape[1]):
        if not np.any(np.abs(correlations[feature, kept]) > threshold):
            kept.append(feature)
    return np.array(kept)


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="The covariance was compared with the threshold; it grows with the values of a feature.",
    fix="Divide it by both deviations, which makes a correlation of it.",
)
def covariance_for_correlation(X, threshold=0.9, right=correlation_filter):
    right(X, threshold)
    centred = X - np.mean(X, axis=0)
    covariances, kept = centred.T @ centred / len(X), []
    for feature in range(X.shape[1]):
        if not np.any(np.abs(covariances[feature, kept]) > threshold):
            kept.append(feature)
    return np.array(kept)


@mistake(
    criterion="correlation-filter",
    replaces="correlation_filter",
    text="A threshold of 0, 1 or beyond was taken.",
    fix="Raise ValueError unless 0 < threshold < 1.",
)
def threshold_not_looked_at(X, threshold=0.9):
    _require_table(X)
    repeats, kept = np.abs(_correlations(X)) > threshold, []
    for feature in range(X.shape[1]):
        if not np.any(repeats[feature, kept]):
            kept.append(feature)
    return np.array(kept)


@mistake(
    criterion="correlation-care",
    replaces="correlation_filter",
    text="A constant feature was taken for a repetition: rounding leaves 1e-17 of it, which correlates with anything.",
    fix="Find such a feature by np.ptp(X, axis=0) == 0, and let its correlations be 0.",
)
def rounding_correlated(X, threshold=0.9, right=correlation_filter):
    right(X, threshold)
    centred = X - np.mean(X, axis=0)
    unit = centred / _no_zero(np.linalg.norm(centred, axis=0))
    repeats, kept = np.abs(unit.T @ unit) > threshold, []
    for feature in range(X.shape[1]):
        if not np.any(repeats[feature, kept]):
            kept.append(feature)
    return np.array(kept)


@mistake(
    criterion="correlation-care",
    replaces="correlation_filter",
    text="Features that never change were dropped.",
    fix="Keep them: this function drops what repeats another feature, and they repeat none.",
)
def flat_features_dropped(X, threshold=0.9, right=correlation_filter):
    kept = right(X, threshold)
    return kept[np.ptp(X[:, kept], axis=0) > 0]


@mistake(
    criterion="correlation-care",
    replaces="correlation_filter",
    text="Far from 0 the correlations are rounding errors: mean(ab) - mean(a) mean(b) subtracts large numbers.",
    fix="Take the means away first, and multiply what is left.",
)
def difference_of_large_numbers(X, threshold=0.9, right=correlation_filter):
    right(X, threshold)
    mean, flat = np.mean(X, axis=0), np.ptp(X, axis=0) == 0
    covariance = X.T @ X / len(X) - np.outer(mean, mean)
    size = np.sqrt(np.abs(np.diag(covariance)))
    correlations = np.where(flat | flat[:, np.newaxis], 0, covariance / _no_zero(np.outer(size, size)))
    kept = []
    for feature in range(X.shape[1]):
        if not np.any(np.abs(correlations[feature, kept]) > threshold):
            kept.append(feature)
    return np.array(kept)


@mistake(
    criterion="correlation-care",
    replaces="correlation_filter",
    text="A small number was added to the deviations, so features of small values correlate with nothing.",
    fix="Divide by the deviation as it is, and treat a feature that never changes apart.",
)
def deviations_with_a_little_more(X, threshold=0.9, right=correlation_filter):
    right(X, threshold)
    flat = np.ptp(X, axis=0) == 0
    centred = np.where(flat, 0, X - np.mean(X, axis=0))
    unit = centred / (np.linalg.norm(centred, axis=0) + 1e-5)
    repeats, kept = np.abs(unit.T @ unit) > threshold, []
    for feature in range(X.shape[1]):
        if not np.any(repeats[feature, kept]):
            kept.append(feature)
    return np.array(kept)


@mistake(
    criterion="correlation-care",
    replaces="correlation_filter",
    text="A feature of small values was treated as flat: by a tolerance, or a number added to its deviation.",
    fix="A feature is flat where np.ptp(X, axis=0) == 0, and nowhere else; divide by the deviation as it is.",
)
def small_feature_is_flat(X, threshold=0.9, right=correlation_filter):
    right(X, threshold)
    return right(np.where(np.ptp(X, axis=0) < 1e-8, 0.0, X), threshold)


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="The mask was found by comparing with pad_value, so a real entry of that value counts as padding.",
    fix="Fill the mask from the lengths of the sequences.",
)
def mask_from_values(sequences, max_length=None, pad_value=0, right=pad_sequences):
    array, _ = right(sequences, max_length, pad_value)
    return array, array != pad_value


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="The padding stands before the sequences.",
    fix="Let each sequence begin in column 0, and pad behind it.",
)
def padded_in_front(sequences, max_length=None, pad_value=0, right=pad_sequences):
    array, mask = right(sequences, max_length, pad_value)
    shifts = mask.shape[1] - mask.sum(axis=1)
    turned = [(np.roll(a, s), np.roll(m, s)) for a, m, s in zip(array, mask, shifts)]
    return np.array([a for a, _ in turned]), np.array([m for _, m in turned])


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="Of a sequence that is too long the end was kept.",
    fix="Keep the first max_length entries: sequence[:max_length].",
)
def end_kept(sequences, max_length=None, pad_value=0, right=pad_sequences):
    right(sequences, max_length, pad_value)
    kept = sequences if max_length is None else [sequence[-max_length:] for sequence in sequences]
    return right(kept, max_length, pad_value)


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="Integers became floating numbers: np.zeros and np.full of a float make float64.",
    fix="Pass dtype: the np.result_type of the sequences that are not empty.",
)
def floating_tokens(sequences, max_length=None, pad_value=0, right=pad_sequences):
    array, mask = right(sequences, max_length, pad_value)
    return array.astype(float), mask


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="An empty sequence made floating numbers of all others: np.asarray([]) is float64.",
    fix="Leave empty sequences out when you look for the dtype.",
)
def empty_makes_floats(sequences, max_length=None, pad_value=0, right=pad_sequences):
    array, mask = right(sequences, max_length, pad_value)
    return array.astype(np.result_type(*(np.asarray(sequence) for sequence in sequences))), mask


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="pad_value had a say in the dtype: next to it, integers or float32 became float64.",
    fix="Take np.result_type of the sequences alone, and convert pad_value to it.",
)
def padding_in_the_type(sequences, max_length=None, pad_value=0, right=pad_sequences):
    array, mask = right(sequences, max_length, pad_value)
    return array.astype(np.result_type(array, np.asarray(pad_value))), mask


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="max_length was ignored: the longest sequence always sets the length.",
    fix="Use max_length where it is given.",
)
def length_of_the_longest(sequences, max_length=None, pad_value=0, right=pad_sequences):
    right(sequences, max_length, pad_value)
    return right(sequences, None, pad_value)


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="The array ends with the longest sequence, although max_length is longer.",
    fix="Make it max_length wide, whatever the sequences are.",
)
def never_wider_than_needed(sequences, max_length=None, pad_value=0, right=pad_sequences):
    right(sequences, max_length, pad_value)
    longest = max(len(sequence) for sequence in sequences)
    return right(sequences, longest if max_length is None else min(longest, max_length), pad_value)


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="The mask is the wrong way round: True for the padding.",
    fix="True is what comes from a sequence, as everywhere in this course.",
)
def mask_of_the_padding(sequences, max_length=None, pad_value=0, right=pad_sequences):
    array, mask = right(sequences, max_length, pad_value)
    return array, ~mask


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="pad_value has no effect: the padding is 0 whatever is passed.",
    fix="Fill the array with pad_value before the sequences are laid over it.",
)
def padded_with_zeros(sequences, max_length=None, pad_value=0, right=pad_sequences):
    return right(sequences, max_length, 0)


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="Only the array came back.",
    fix="Return array and mask.",
)
def array_alone(sequences, max_length=None, pad_value=0, right=pad_sequences):
    return right(sequences, max_length, pad_value)[0]


@mistake(
    criterion="pad-sequences",
    replaces="pad_sequences",
    text="A max_length below 1 was taken.",
    fix="Raise ValueError for it: [:0] and [:-2] are slices, too.",
)
def any_length(sequences, max_length=None, pad_value=0, right=pad_sequences):
    if max_length is not None and max_length < 1:
        return np.zeros((len(sequences), 0), int), np.zeros((len(sequences), 0), bool)
    return right(sequences, max_length, pad_value)


@mistake(
    criterion="minibatches",
    replaces="iterate_minibatches",
    text="The last batch was left out because it is smaller.",
    fix="Keep it: a slice past the end gives what there is.",
)
def last_batch_dropped(X, y, batch_size, rng, right=iterate_minibatches):
    for features, targets in right(X, y, batch_size, rng):
        if len(targets) == batch_size:
            yield features, targets


@mistake(
    criterion="minibatches",
    replaces="iterate_minibatches",
    text="X and y were shuffled apart: samples come with the targets of others.",
    fix="Draw one order, and use it for both.",
)
def shuffled_apart(X, y, batch_size, rng, right=iterate_minibatches):
    list(right(X, y, batch_size, np.random.default_rng(0)))
    samples, targets = X[rng.permutation(len(X))], y[rng.permutation(len(y))]
    for start in range(0, len(X), batch_size):
        yield samples[start : start + batch_size], targets[start : start + batch_size]


@mistake(
    criterion="minibatches",
    replaces="iterate_minibatches",
    text="X was shuffled and y was not.",
    fix="Use the same row numbers for both: X[batch], y[batch].",
)
def targets_left_in_order(X, y, batch_size, rng, right=iterate_minibatches):
    start = 0
    for features, targets in right(X, y, batch_size, rng):
        yield features, y[start : start + len(targets)]
        start += len(targets)


@mistake(
    criterion="minibatches",
    replaces="iterate_minibatches",
    text="All batches were made at once and returned in a list.",
    fix="Write a generator: yield each batch instead of appending it.",
)
def list_of_batches(X, y, batch_size, rng, right=iterate_minibatches):
    return list(right(X, y, batch_size, rng))


@mistake(
    criterion="minibatches",
    replaces="iterate_minibatches",
    text="Each batch was drawn from all samples anew, so some come twice and others not at all.",
    fix="Draw one order of all samples, and cut it into batches.",
)
def drawn_anew_for_each_batch(X, y, batch_size, rng, right=iterate_minibatches):
    for features, targets in right(X, y, batch_size, rng):
        chosen = rng.integers(0, len(X), len(targets))
        yield X[chosen], y[chosen]


@mistake(
    criterion="minibatches",
    replaces="iterate_minibatches",
    text="Only the features came out of the generator.",
    fix="Yield pairs: X[batch], y[batch].",
)
def features_alone(X, y, batch_size, rng, right=iterate_minibatches):
    for features, _ in right(X, y, batch_size, rng):
        yield features


@mistake(
    criterion="minibatches",
    replaces="iterate_minibatches",
    text="The last batch was filled up with samples that were there before.",
    fix="Let it be smaller: every sample comes once.",
)
def last_batch_filled_up(X, y, batch_size, rng, right=iterate_minibatches):
    for features, targets in right(X, y, batch_size, rng):
        more = np.arange(batch_size - len(targets)) % len(X)
        yield np.concatenate([features, X[more]]), np.concatenate([targets, y[more]])


@mistake(
    criterion="minibatches",
    replaces="iterate_minibatches",
    text="A y with another number of entries than X has samples was taken.",
    fix="Compare y.shape[:1] with X.shape[:1], and raise ValueError where they differ.",
)
def any_targets(X, y, batch_size, rng, right=iterate_minibatches):
    if y.ndim == 0 or len(y) == len(X):
        yield from right(X, y, batch_size, rng)
    else:
        yield X[:batch_size], y[:batch_size]


@mistake(
    criterion="minibatches-random",
    replaces="iterate_minibatches",
    text="The samples come in the order of X.",
    fix="Draw an order with rng.permutation(len(X)).",
)
def order_of_the_data(X, y, batch_size, rng, right=iterate_minibatches):
    right(X, y, batch_size, rng)
    for start in range(0, len(X), batch_size):
        yield X[start : start + batch_size], y[start : start + batch_size]


@mistake(
    criterion="minibatches-random",
    replaces="iterate_minibatches",
    text="The batches were shuffled, not the samples: neighbours stay together for ever.",
    fix="Shuffle the row numbers of all samples, and cut afterwards.",
)
def batches_shuffled(X, y, batch_size, rng):
    starts = np.arange(0, len(X), batch_size)
    for start in starts[rng.permutation(len(starts))]:
        yield X[start : start + batch_size], y[start : start + batch_size]


@mistake(
    criterion="minibatches-random",
    replaces="iterate_minibatches",
    text="The order of X was kept and only its beginning drawn.",
    fix="Draw the whole order: rng.permutation(len(X)).",
)
def beginning_drawn(X, y, batch_size, rng):
    order = np.roll(np.arange(len(X)), rng.integers(len(X)))
    for start in range(0, len(X), batch_size):
        yield X[order[start : start + batch_size]], y[order[start : start + batch_size]]


@mistake(
    criterion="minibatches-random",
    replaces="iterate_minibatches",
    text="A generator of its own, with a fixed seed, decides: every round has the same order.",
    fix="Draw from the argument rng.",
)
def seed_of_its_own(X, y, batch_size, rng, right=iterate_minibatches):
    yield from right(X, y, batch_size, np.random.default_rng(0))


@mistake(
    criterion="min-max-scale",
    replaces="min_max_scale",
    text="Z was put into an array of the dtype of X: of integers only 0 and 1 are left.",
    fix="np.zeros_like(X) holds integers where X does: calculate with whole arrays, or give it a dtype of floats.",
)
def stretched_in_the_dtype_of_the_table(X, right=min_max_scale):
    Z, minimum, span = right(X)
    return Z.astype(X.dtype), minimum, span


@mistake(
    criterion="robust-scale",
    replaces="robust_scale",
    text="The percentiles were converted to the dtype of X: of integers, their halves and quarters are cut off.",
    fix="astype(X.dtype) is for floats. Leave the percentiles of integers as they are, float64.",
)
def percentiles_in_the_dtype_of_the_table(X):
    _require_table(X)
    lower, median, upper = np.percentile(X, [25, 50, 75], axis=0).astype(X.dtype)
    iqr = _no_zero(upper - lower)
    return (X - median) / iqr, median, iqr
