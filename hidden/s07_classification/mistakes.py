"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import numpy as np

from grader.course.answers import mistake
from hidden.s07_classification.solution import (
    _require_binary,
    _require_logits,
    _require_pairs,
    accuracy,
    binary_cross_entropy,
    binary_cross_entropy_gradient,
    confusion_matrix,
    cross_entropy,
    cross_entropy_gradient,
    fit_softmax_regression,
    log_softmax,
    precision_recall_f1,
    roc_auc,
    sigmoid,
    softmax,
)


@mistake(
    criterion="sigmoid",
    replaces="sigmoid",
    text="The curve falls: this is 1 / (1 + exp(z)), the probability of the other class.",
    fix="Put a minus sign into the exponent: 1 / (1 + exp(-z)).",
)
def exponent_without_its_sign(z, right=sigmoid):
    return right(-z)


@mistake(
    criterion="sigmoid",
    replaces="sigmoid",
    text="The bracket is missing: 1 / 1 + exp(-z) is 1 + exp(-z), which is above 1.",
    fix="Put the whole divisor into brackets: 1 / (1 + np.exp(-z)).",
)
def divisor_without_bracket(z):
    return 1 / 1 + np.exp(-z)


@mistake(
    criterion="sigmoid",
    replaces="sigmoid",
    text="This is tanh, which goes from -1 to 1 and is 0 at 0.",
    fix="A probability goes from 0 to 1: 1 / (1 + exp(-z)).",
)
def tanh_for_sigmoid(z):
    return np.tanh(z)


@mistake(
    criterion="sigmoid",
    replaces="sigmoid",
    text="This is s (1 - s), the slope of the sigmoid, not the sigmoid s itself.",
    fix="Return s = 1 / (1 + exp(-z)).",
)
def slope_of_the_sigmoid(z, right=sigmoid):
    return right(z) * (1 - right(z))


@mistake(
    criterion="softmax",
    replaces="softmax",
    text="The exponentials were divided by the sum of the whole array, so that no single row adds up to 1.",
    fix="Sum along axis only, with keepdims=True, so that every row is divided by its own sum.",
)
def one_sum_for_all_rows(z, axis=-1):
    return np.exp(z) / np.sum(np.exp(z))


@mistake(
    criterion="softmax",
    replaces="softmax",
    text="axis has no effect: the sums are along the last axis whatever is passed.",
    fix="Hand the argument axis on to np.max and np.sum.",
)
def softmax_without_axis(z, axis=-1, right=softmax):
    return right(z)


@mistake(
    criterion="softmax",
    replaces="softmax",
    text="The sums are along axis 0, down the columns, where axis was not given.",
    fix="Let the default of axis be -1: the last axis holds the scores that compete.",
)
def first_axis_by_default(z, axis=0, right=softmax):
    return right(z, axis)


@mistake(
    criterion="softmax",
    replaces="softmax",
    text="The exponential is missing: these are the scores themselves over their sum, which may be negative.",
    fix="Take np.exp of the scores first, then divide by the sum of those.",
)
def scores_over_their_sum(z, axis=-1):
    return z / np.sum(z, axis=axis, keepdims=True)


@mistake(
    criterion="softmax",
    replaces="softmax",
    text="This is the sigmoid of every score: each looks at itself alone, and the rows do not add up to 1.",
    fix="Divide exp(z) by the sum of exp(z) along the axis.",
)
def sigmoid_for_softmax(z, axis=-1, right=sigmoid):
    return right(z)


@mistake(
    criterion="softmax",
    replaces="softmax",
    text="The sums have lost their axis, so that they no longer line up with the rows that they belong to.",
    fix="Pass keepdims=True to np.sum (and np.max): the axis stays, with size 1, and broadcasts.",
)
def sum_without_keepdims(z, axis=-1):
    return np.exp(z) / np.sum(np.exp(z), axis=axis)


@mistake(
    criterion="log-softmax",
    replaces="log_softmax",
    text="These are the probabilities; their logarithm was not taken.",
    fix="Return the logarithm of softmax: z minus the logarithm of the sum of exp(z).",
)
def logarithm_forgotten(z, axis=-1, right=log_softmax):
    return np.exp(right(z, axis))


@mistake(
    criterion="log-softmax",
    replaces="log_softmax",
    text="The largest logit was subtracted, and nothing else: the logarithm of the sum is missing.",
    fix="Subtract np.log(np.sum(np.exp(shifted))) along the axis as well.",
)
def only_the_largest_subtracted(z, axis=-1):
    return z - np.max(z, axis=axis, keepdims=True)


@mistake(
    criterion="log-softmax",
    replaces="log_softmax",
    text="The largest logit was subtracted within the sum but not from z, so that the result is too large by it.",
    fix="Use the shifted logits in both places: shifted - log(sum(exp(shifted))).",
)
def shifted_in_one_place_only(z, axis=-1):
    shifted = z - np.max(z, axis=axis, keepdims=True)
    return z - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


@mistake(
    criterion="log-softmax",
    replaces="log_softmax",
    text="The sign is wrong: these are -log of the probabilities, which belongs into the loss.",
    fix="Return the logarithms themselves; they are 0 or below.",
)
def minus_the_logarithm(z, axis=-1, right=log_softmax):
    return -right(z, axis)


@mistake(
    criterion="log-softmax",
    replaces="log_softmax",
    text="The logarithm is to base 2.",
    fix="Use the natural logarithm, np.log.",
)
def softmax_in_base_two(z, axis=-1, right=log_softmax):
    return right(z, axis) / np.log(2)


@mistake(
    criterion="log-softmax",
    replaces="log_softmax",
    text="axis has no effect: the exponentials are summed along the last axis whatever is passed.",
    fix="Hand the argument axis on to np.max and np.sum.",
)
def log_softmax_without_axis(z, axis=-1, right=log_softmax):
    return right(z)


@mistake(
    criterion="binary-cross-entropy",
    replaces="binary_cross_entropy",
    text="The losses of the samples were added up, not averaged.",
    fix="Divide by the number of samples: take np.mean.",
)
def binary_sum(logits, targets, right=binary_cross_entropy):
    return right(logits, targets) * len(logits)


@mistake(
    criterion="binary-cross-entropy",
    replaces="binary_cross_entropy",
    text="Only samples of class 1 have a loss: the term -(1 - y) log(1 - p) is missing.",
    fix="Add the term for class 0, whose probability is 1 - sigmoid(z), the same as sigmoid(-z).",
)
def one_class_only(logits, targets):
    _require_binary("targets", targets, "logits", logits)
    return np.mean(targets * np.logaddexp(0, -logits))


@mistake(
    criterion="binary-cross-entropy",
    replaces="binary_cross_entropy",
    text="The logits were taken for probabilities: the logarithm of a logit below 0 or of 1 minus one above 1 is NaN.",
    fix="Pass the logits through the sigmoid, or use log(1 + exp(-z)) for class 1 and log(1 + exp(z)) for class 0.",
)
def logits_taken_for_probabilities(logits, targets):
    _require_binary("targets", targets, "logits", logits)
    return -np.mean(targets * np.log(logits) + (1 - targets) * np.log(1 - logits))


@mistake(
    criterion="binary-cross-entropy",
    replaces="binary_cross_entropy",
    text="The sign is missing: the mean of log p is negative, and better predictions would have the larger loss.",
    fix="Take the mean of -log p.",
)
def binary_loss_below_zero(logits, targets, right=binary_cross_entropy):
    return -right(logits, targets)


@mistake(
    criterion="binary-cross-entropy",
    replaces="binary_cross_entropy",
    text="The classes are swapped: sigmoid(logit) was taken for the probability of class 0.",
    fix="log(1 + exp(-z)) is the loss where the target is 1, log(1 + exp(z)) where it is 0.",
)
def classes_swapped(logits, targets, right=binary_cross_entropy):
    return right(-logits, targets)


@mistake(
    criterion="binary-cross-entropy",
    replaces="binary_cross_entropy",
    text="The logarithm is to base 2.",
    fix="Use the natural logarithm, np.log.",
)
def binary_loss_in_bits(logits, targets, right=binary_cross_entropy):
    return right(logits, targets) / np.log(2)


@mistake(
    criterion="binary-cross-entropy",
    replaces="binary_cross_entropy",
    text="Targets other than 0 and 1 were accepted, such as 2, -1 or 0.5, and a loss computed from them.",
    fix="Raise ValueError unless np.isin(targets, (0, 1)).all().",
)
def any_targets(logits, targets):
    _require_pairs("logits", logits, "targets", targets)
    return np.mean(np.logaddexp(0, logits) - targets * logits)


@mistake(
    criterion="binary-cross-entropy",
    replaces="binary_cross_entropy",
    text="Shapes were not compared: logits (n,) and targets (n, 1) are paired every one with every other.",
    fix="Raise ValueError unless logits has one axis, at least one sample, and the shape of targets.",
)
def any_shapes(logits, targets):
    if not np.isin(targets, (0, 1)).all():
        raise ValueError("targets: expected only 0 and 1")
    return np.mean(np.logaddexp(0, np.where(targets == 1, -logits, logits)))


@mistake(
    criterion="binary-cross-entropy-gradient",
    replaces="binary_cross_entropy_gradient",
    text="The division by the number of samples is missing: this is the gradient of the sum of the losses.",
    fix="The loss is a mean, so divide by len(logits).",
)
def binary_gradient_of_the_sum(logits, targets, right=binary_cross_entropy_gradient):
    return right(logits, targets) * len(logits)


@mistake(
    criterion="binary-cross-entropy-gradient",
    replaces="binary_cross_entropy_gradient",
    text="The sign is the wrong way round, target minus probability: a step against it would raise the loss.",
    fix="Subtract the target from the probability.",
)
def target_minus_probability(logits, targets, right=binary_cross_entropy_gradient):
    return -right(logits, targets)


@mistake(
    criterion="binary-cross-entropy-gradient",
    replaces="binary_cross_entropy_gradient",
    text="This is the gradient with respect to the probability, (p - y) / (p (1 - p)), not to the logit.",
    fix="Multiply by the slope of the sigmoid, p (1 - p), as the chain rule says; p - y is left.",
)
def gradient_of_the_probability(logits, targets, right=binary_cross_entropy_gradient, probability=sigmoid):
    p = probability(logits)
    return right(logits, targets) / (p * (1 - p))


@mistake(
    criterion="binary-cross-entropy-gradient",
    replaces="binary_cross_entropy_gradient",
    text="p - y was multiplied by p (1 - p), the slope of the sigmoid, which is in it already.",
    fix="Return p - y over the samples: the slope of the logarithm, 1 / (p (1 - p)), has cancelled that factor.",
)
def slope_multiplied_once_more(logits, targets, right=binary_cross_entropy_gradient, probability=sigmoid):
    p = probability(logits)
    return right(logits, targets) * p * (1 - p)


@mistake(
    criterion="binary-cross-entropy-gradient",
    replaces="binary_cross_entropy_gradient",
    text="The sigmoid is missing: the targets were subtracted from the logits, as for the squared error.",
    fix="Subtract the targets from sigmoid(logits).",
)
def logit_minus_target(logits, targets):
    _require_binary("targets", targets, "logits", logits)
    return (logits - (targets == 1)) / len(logits)


@mistake(
    criterion="binary-cross-entropy-gradient",
    replaces="binary_cross_entropy_gradient",
    text="The samples were added up to a single number; every logit has its own slope.",
    fix="Return one number for each sample: divide by len(logits) without summing.",
)
def one_slope_for_all_samples(logits, targets, right=binary_cross_entropy_gradient):
    return np.sum(right(logits, targets))


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy",
    text="The losses of the samples were added up, not averaged.",
    fix="Divide by the number of samples: take np.mean of one number for each sample.",
)
def loss_sum(logits, targets, right=cross_entropy):
    return right(logits, targets) * len(logits)


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy",
    text="The sum was divided by samples times classes: the zeros of the one-hot table were counted in the mean.",
    fix="Divide by the number of samples only, or sum over the classes before taking the mean.",
)
def mean_over_classes_too(logits, targets, right=cross_entropy):
    return right(logits, targets) / logits.shape[1]


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy",
    text="log_softmax(logits)[:, targets] takes the columns of all targets from every row.",
    fix="Pick one column from each row: [np.arange(len(logits)), targets].",
)
def all_columns_of_all_rows(logits, targets, logarithms=log_softmax):
    _require_logits(logits, targets)
    return -np.mean(logarithms(logits)[:, targets])


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy",
    text="The logits of the true classes were used as they are: neither softmax nor logarithm was taken.",
    fix="Take log_softmax of the logits before you pick the true classes.",
)
def logits_not_normalised(logits, targets):
    _require_logits(logits, targets)
    return -np.mean(logits[np.arange(len(logits)), targets])


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy",
    text="The logarithm is missing: this is minus the mean probability of the true classes.",
    fix="Take the mean of -log p, with log_softmax.",
)
def probability_without_logarithm(logits, targets, probabilities=softmax):
    _require_logits(logits, targets)
    return -np.mean(probabilities(logits)[np.arange(len(logits)), targets])


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy",
    text="The softmax goes down the columns, so that samples compete with each other instead of classes.",
    fix="Take log_softmax along the last axis, the classes.",
)
def samples_compete(logits, targets, logarithms=log_softmax):
    _require_logits(logits, targets)
    return -np.mean(logarithms(logits, axis=0)[np.arange(len(logits)), targets])


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy",
    text="The sign is missing: the mean of log p is negative, and better predictions would have the larger loss.",
    fix="Take the mean of -log p.",
)
def loss_below_zero(logits, targets, right=cross_entropy):
    return -right(logits, targets)


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy",
    text="A target of -1 was accepted: indexing counts it from the end, so that it means the last class.",
    fix="Raise ValueError unless every target is from 0 to classes - 1.",
)
def negative_targets_count_from_the_end(logits, targets, right=cross_entropy):
    return right(logits, np.where(targets < 0, targets + logits.shape[-1], targets))


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy",
    text="Targets that are no integers were accepted and cut to integers.",
    fix="Raise ValueError unless targets.dtype.kind is 'i' or 'u'.",
)
def targets_cut_to_integers(logits, targets, right=cross_entropy):
    return right(logits, targets.astype(int))


@mistake(
    criterion="cross-entropy-gradient",
    replaces="cross_entropy_gradient",
    text="The division by the number of samples is missing: this is the gradient of the sum of the losses.",
    fix="The loss is a mean, so divide by len(logits).",
)
def gradient_of_the_sum(logits, targets, right=cross_entropy_gradient):
    return right(logits, targets) * len(logits)


@mistake(
    criterion="cross-entropy-gradient",
    replaces="cross_entropy_gradient",
    text="The sign is the wrong way round, one-hot minus softmax: a step against it would raise the loss.",
    fix="Subtract the one-hot targets from the probabilities.",
)
def one_hot_minus_softmax(logits, targets, right=cross_entropy_gradient):
    return -right(logits, targets)


@mistake(
    criterion="cross-entropy-gradient",
    replaces="cross_entropy_gradient",
    text="The gradient was divided by samples times classes.",
    fix="The loss is a mean over samples only: divide by len(logits).",
)
def divided_by_classes_too(logits, targets, right=cross_entropy_gradient):
    return right(logits, targets) / logits.shape[1]


@mistake(
    criterion="cross-entropy-gradient",
    replaces="cross_entropy_gradient",
    text="These are the probabilities over the samples: the 1 of the true class was not subtracted.",
    fix="Subtract 1 from the true class of each row: p[np.arange(len(p)), targets] -= 1.",
)
def one_hot_forgotten(logits, targets, probabilities=softmax):
    _require_logits(logits, targets)
    return probabilities(logits) / len(logits)


@mistake(
    criterion="cross-entropy-gradient",
    replaces="cross_entropy_gradient",
    text="Only the true classes have a slope here; raising another logit takes probability away and raises the loss.",
    fix="Keep the probabilities of the other classes: the gradient is softmax - one-hot in every column.",
)
def only_the_true_class(logits, targets, right=cross_entropy_gradient):
    gradient, rows = right(logits, targets), np.arange(len(logits))
    result = np.zeros_like(gradient)
    result[rows, targets] = gradient[rows, targets]
    return result


@mistake(
    criterion="cross-entropy-gradient",
    replaces="cross_entropy_gradient",
    text="p[:, targets] -= 1 takes 1 from the columns of all targets in every row.",
    fix="Pick one column from each row: p[np.arange(len(p)), targets] -= 1.",
)
def one_taken_from_whole_columns(logits, targets, probabilities=softmax):
    _require_logits(logits, targets)
    p = probabilities(logits)
    p[:, targets] -= 1
    return p / len(logits)


@mistake(
    criterion="arrays",
    replaces="sigmoid",
    text="The boolean index needs an array: for a plain number there is nothing to index.",
    fix="Use np.exp, np.minimum or np.where, which take numbers too, or begin with z = np.asarray(z).",
)
def sigmoid_of_arrays_only(z):
    result = np.empty(z.shape, np.result_type(z, 0.0))
    result[z >= 0] = 1 / (1 + np.exp(-z[z >= 0]))
    result[z < 0] = np.exp(z[z < 0]) / (1 + np.exp(z[z < 0]))
    return result


@mistake(
    criterion="arrays",
    replaces="sigmoid",
    text="The result has the dtype of z, so that for integers every probability was cut off to 0 or 1.",
    fix="Let np.exp find the dtype, or convert z to float before you make an array like it.",
)
def sigmoid_cut_to_integers(z, right=sigmoid):
    result = np.zeros_like(z)
    result[...] = right(z)
    return result


@mistake(
    criterion="arrays",
    replaces="sigmoid",
    text="Unsigned whole numbers (uint8) were taken as they are: -z wraps round, -1 to 255.",
    fix="Turn whole numbers into floats first; -1.0 * z does, and leaves float32 as it is.",
)
def sigmoid_of_unsigned(z, right=sigmoid):
    return np.exp(-np.logaddexp(0, -z)) if np.asarray(z).dtype.kind == "u" else right(z)


@mistake(
    criterion="arrays",
    replaces="softmax",
    text="Unsigned whole numbers (uint8) were subtracted as they are: what should be below 0 wraps round.",
    fix="Turn whole numbers into floats first; 1.0 * z does, and leaves float32 as it is.",
)
def softmax_of_unsigned(z, axis=-1):
    exponentials = np.exp(z - np.max(z, axis=axis, keepdims=True))
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


@mistake(
    criterion="arrays",
    replaces="log_softmax",
    text="Unsigned whole numbers (uint8) were subtracted as they are: what should be below 0 wraps round.",
    fix="Turn whole numbers into floats first; 1.0 * z does, and leaves float32 as it is.",
)
def log_softmax_of_unsigned(z, axis=-1):
    shifted = z - np.max(z, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


@mistake(
    criterion="arrays",
    replaces="softmax",
    text="The largest logit was subtracted from the argument itself with -=: whoever passed it has lost the logits.",
    fix="Make a new array: shifted = z - np.max(z, axis=axis, keepdims=True).",
)
def softmax_into_the_argument(z, axis=-1):
    z -= np.max(z, axis=axis, keepdims=True)
    return np.exp(z) / np.sum(np.exp(z), axis=axis, keepdims=True)


@mistake(
    criterion="arrays",
    replaces="softmax",
    text="Transposing exchanges rows and columns of a table; with three axes it turns round the order of all of them.",
    fix="Hand axis on to np.max and np.sum, with keepdims=True: that works for any number of axes.",
)
def softmax_by_transposing(z, axis=-1, right=softmax):
    return right(z.T).T if axis in (0, -2) else right(z)


@mistake(
    criterion="arrays",
    replaces="binary_cross_entropy",
    text="1 - 2 * targets was computed in the type of the targets: for uint8 it is 255 where -1 was meant.",
    fix="Choose by comparing, np.where(targets == 1, -logits, logits), or convert the targets to the dtype of logits.",
)
def sign_of_unsigned_targets(logits, targets):
    _require_binary("targets", targets, "logits", logits)
    return np.mean(np.logaddexp(0, (1 - 2 * targets) * logits))


@mistake(
    criterion="arrays",
    replaces="binary_cross_entropy_gradient",
    text="The gradient is float64 for float32 logits: subtracting int64 targets has widened it.",
    fix="Subtract (targets == 1), or targets.astype(logits.dtype), which leave float32 as it is.",
)
def gradient_widened_by_targets(logits, targets, probability=sigmoid):
    _require_binary("targets", targets, "logits", logits)
    return (probability(logits) - targets.astype(np.int64)) / len(logits)


@mistake(
    criterion="arrays",
    replaces="cross_entropy_gradient",
    text="The gradient is float64 for float32 logits: np.eye(classes)[targets] is float64.",
    fix="Subtract 1 in place from the softmax, or give np.eye the dtype of the logits.",
)
def gradient_widened_by_one_hot(logits, targets, probabilities=softmax):
    _require_logits(logits, targets)
    return (probabilities(logits) - np.eye(logits.shape[1])[targets]) / len(logits)


@mistake(
    criterion="extreme-logits",
    replaces="sigmoid",
    text="exp(z) overflowed to infinity, and infinity divided by infinity is NaN.",
    fix="Divide by the exponential first, 1 / (1 + exp(-z)), or take exponentials of -|z| only.",
)
def sigmoid_of_two_infinities(z):
    return np.exp(z) / (1 + np.exp(z))


@mistake(
    criterion="extreme-logits",
    replaces="sigmoid",
    text="Small probabilities were lost: far below 0 sigmoid(z) is next to exp(z), neither 0 nor one small number.",
    fix="Neither clip z, nor subtract two numbers near 1, as 1 + tanh(z / 2) does: np.exp(-np.logaddexp(0, -z)).",
)
def sigmoid_by_tanh(z):
    return (1 + np.tanh(z / 2)) / 2


@mistake(
    criterion="extreme-logits",
    replaces="sigmoid",
    text="The logits were clipped to -20 and 20, so that every smaller probability comes out as 2e-9.",
    fix="Do not clip: np.exp(-np.logaddexp(0, -z)) is right for every z.",
)
def sigmoid_clipped(z, right=sigmoid):
    return right(np.clip(z, -20, 20))


@mistake(
    criterion="extreme-logits",
    replaces="softmax",
    text="exp overflowed to infinity, or all of a row underflowed to 0: either way the quotient is NaN.",
    fix="Subtract the largest logit along the axis first; the result is the same, and the largest exponential is 1.",
)
def softmax_not_shifted(z, axis=-1):
    return np.exp(z) / np.sum(np.exp(z), axis=axis, keepdims=True)


@mistake(
    criterion="extreme-logits",
    replaces="softmax",
    text="The largest logit was looked for from -1e9 on: where all are lower, their exponentials are all 0.",
    fix="Subtract the largest logit itself, or begin with -np.inf.",
)
def largest_from_a_finite_number(z, axis=-1):
    exponentials = np.exp(z - np.max(z, axis=axis, keepdims=True, initial=-1e9).astype(np.result_type(z, 1.0)))
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


@mistake(
    criterion="extreme-logits",
    replaces="softmax",
    text="The largest logit of the whole array was subtracted: rows far below it underflow to 0 / 0.",
    fix="Subtract from each row its own largest logit: np.max(z, axis=axis, keepdims=True).",
)
def shifted_by_the_largest_of_all(z, axis=-1):
    exponentials = np.exp(z - np.max(z))
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


@mistake(
    criterion="extreme-logits",
    replaces="log_softmax",
    text="The logarithm was taken of the probabilities, and where one has underflowed to 0 it is minus infinity.",
    fix="Return shifted - log(sum(exp(shifted))): the logit itself stays, without exponential and logarithm.",
)
def logarithm_of_softmax(z, axis=-1, probabilities=softmax):
    return np.log(probabilities(z, axis))


@mistake(
    criterion="extreme-logits",
    replaces="binary_cross_entropy",
    text="The probabilities were clipped to 1e-15 from 0 and 1: no loss is above 34.5, however wrong the logit.",
    fix="Compute the loss from the logits, np.logaddexp(0, -z) for class 1 and np.logaddexp(0, z) for class 0.",
)
def clipped_probabilities(logits, targets, probability=sigmoid):
    _require_binary("targets", targets, "logits", logits)
    p = np.clip(probability(logits), 1e-15, 1 - 1e-15)
    return -np.mean(np.where(targets == 1, np.log(p), np.log(1 - p)))


@mistake(
    criterion="extreme-logits",
    replaces="binary_cross_entropy",
    text="The loss is infinite where a logit is large: the sigmoid has rounded to 0 or 1, or exp(z) has overflowed.",
    fix="Compute the loss from the logits, np.logaddexp(0, -z) for class 1 and np.logaddexp(0, z) for class 0.",
)
def logarithm_of_sigmoid(logits, targets, probability=sigmoid):
    _require_binary("targets", targets, "logits", logits)
    p = probability(logits)
    return -np.mean(np.where(targets == 1, np.log(p), np.log(1 - p)))


@mistake(
    criterion="extreme-logits",
    replaces="cross_entropy",
    text="A small number was added to the probabilities before the logarithm: no loss can exceed -log of it.",
    fix="Pick from log_softmax(logits), which needs no such guard.",
)
def guarded_logarithm(logits, targets, probabilities=softmax):
    _require_logits(logits, targets)
    return -np.mean(np.log(probabilities(logits)[np.arange(len(logits)), targets] + 1e-15))


@mistake(
    criterion="accuracy",
    replaces="accuracy",
    text="This is the number of right predictions, not their share.",
    fix="Divide by the number of samples: np.mean instead of np.sum.",
)
def number_of_hits(y_true, y_pred, right=accuracy):
    return right(y_true, y_pred) * len(y_true)


@mistake(
    criterion="accuracy",
    replaces="accuracy",
    text="This is the share of wrong predictions, the error rate.",
    fix="Count where y_true == y_pred.",
)
def error_rate(y_true, y_pred, right=accuracy):
    return 1 - right(y_true, y_pred)


@mistake(
    criterion="accuracy",
    replaces="accuracy",
    text="This is a percentage, up to 100.",
    fix="Return the share, from 0 to 1.",
)
def per_cent(y_true, y_pred, right=accuracy):
    return 100 * right(y_true, y_pred)


@mistake(
    criterion="accuracy",
    replaces="accuracy",
    text="Shapes were not compared: classes (n,) and (n, 1) are compared every one with every other.",
    fix="Raise ValueError unless y_true has one axis, at least one sample, and the shape of y_pred.",
)
def accuracy_of_any_shapes(y_true, y_pred):
    return np.mean(y_true == y_pred)


@mistake(
    criterion="confusion-matrix",
    replaces="confusion_matrix",
    text="Rows and columns are swapped: the predicted class stands first.",
    fix="Count in counts[true, predicted].",
)
def predicted_in_rows(y_true, y_pred, num_classes, right=confusion_matrix):
    return right(y_true, y_pred, num_classes).T


@mistake(
    criterion="confusion-matrix",
    replaces="confusion_matrix",
    text="No cell exceeds 1: counts[y_true, y_pred] += 1 adds to a cell once, however many samples fall into it.",
    fix="Use np.add.at(counts, (y_true, y_pred), 1), or a loop over the samples.",
)
def repeated_cells_count_once(y_true, y_pred, num_classes, right=confusion_matrix):
    return np.minimum(right(y_true, y_pred, num_classes), 1)


@mistake(
    criterion="confusion-matrix",
    replaces="confusion_matrix",
    text="The counts are right, but they are floats: np.zeros makes float64 unless told otherwise.",
    fix="Make the table of integers: np.zeros((num_classes, num_classes), int).",
)
def counts_of_floats(y_true, y_pred, num_classes, right=confusion_matrix):
    return right(y_true, y_pred, num_classes).astype(float)


@mistake(
    criterion="confusion-matrix",
    replaces="confusion_matrix",
    text="These are shares of each true class; counts are asked for.",
    fix="Return the counts without dividing them by the sums of their rows.",
)
def shares_of_rows(y_true, y_pred, num_classes, right=confusion_matrix):
    counts = right(y_true, y_pred, num_classes)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


@mistake(
    criterion="confusion-matrix",
    replaces="confusion_matrix",
    text="The table has only as many rows and columns as the largest class asks for; num_classes has no effect on it.",
    fix="Make the table (num_classes, num_classes), with zeros for classes that no sample has.",
)
def table_of_occurring_classes(y_true, y_pred, num_classes, right=confusion_matrix):
    size = 1 + max(y_true.max(), y_pred.max())
    return right(y_true, y_pred, num_classes)[:size, :size]


@mistake(
    criterion="confusion-matrix",
    replaces="confusion_matrix",
    text="A class of -1 was accepted: indexing counts it from the end, so that it went to the last class.",
    fix="Raise ValueError unless every class is from 0 to num_classes - 1.",
)
def negative_classes_count_from_the_end(y_true, y_pred, num_classes, right=confusion_matrix):
    y_true, y_pred = (np.where(y < 0, y + num_classes, y) for y in (y_true, y_pred))
    return right(y_true, y_pred, num_classes)


@mistake(
    criterion="confusion-matrix",
    replaces="confusion_matrix",
    text="The numbers of the cells, y_true * num_classes + y_pred, wrap round: uint8 ends at 255.",
    fix="Turn the classes into int64 first, or use np.add.at(counts, (y_true, y_pred), 1).",
)
def cell_numbers_wrap_round(y_true, y_pred, num_classes, right=confusion_matrix):
    right(y_true, y_pred, num_classes)
    cells = y_true * num_classes + y_pred
    return np.bincount(cells, minlength=num_classes**2).reshape(num_classes, num_classes)


@mistake(
    criterion="confusion-matrix",
    replaces="confusion_matrix",
    text="The counts wrap round: a table of uint8 cannot count beyond 255.",
    fix="Make the table of int: np.zeros((num_classes, num_classes), int).",
)
def counts_in_a_byte(y_true, y_pred, num_classes, right=confusion_matrix):
    return right(y_true, y_pred, num_classes).astype(np.uint8)


@mistake(
    criterion="precision-recall-f1",
    replaces="precision_recall_f1",
    text="Precision and recall are swapped.",
    fix="Precision divides the hits by the samples given the class, recall by the samples that have it.",
)
def precision_and_recall_swapped(y_true, y_pred, average, right=precision_recall_f1):
    return right(y_pred, y_true, average)


@mistake(
    criterion="precision-recall-f1",
    replaces="precision_recall_f1",
    text='average has no effect: the result is the macro average also for "micro".',
    fix='For "micro" add up hits, samples given and samples that have over the classes, and divide once.',
)
def always_macro(y_true, y_pred, average, right=precision_recall_f1):
    right(y_true, y_pred, average)
    return right(y_true, y_pred, "macro")


@mistake(
    criterion="precision-recall-f1",
    replaces="precision_recall_f1",
    text='average has no effect: the result is the micro average also for "macro".',
    fix='For "macro" compute the three for each class and take the mean of each over the classes.',
)
def always_micro(y_true, y_pred, average, right=precision_recall_f1):
    right(y_true, y_pred, average)
    return right(y_true, y_pred, "micro")


@mistake(
    criterion="precision-recall-f1",
    replaces="precision_recall_f1",
    text="The macro f1 was computed from the averaged precision and recall.",
    fix="Compute f1 for each class first, then take the mean of those.",
)
def f1_of_the_averages(y_true, y_pred, average, right=precision_recall_f1):
    precision, recall, _ = right(y_true, y_pred, average)
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total > 0 else 0.0


@mistake(
    criterion="precision-recall-f1",
    replaces="precision_recall_f1",
    text="f1 is the arithmetic mean of precision and recall.",
    fix="f1 is their harmonic mean, 2 precision recall / (precision + recall), which is near the smaller of the two.",
)
def arithmetic_mean_for_f1(y_true, y_pred, average, right=precision_recall_f1):
    precision, recall, _ = right(y_true, y_pred, average)
    return precision, recall, (precision + recall) / 2


@mistake(
    criterion="precision-recall-f1",
    replaces="precision_recall_f1",
    text="The factor 2 of f1 is missing: with perfect precision and recall it would be a half.",
    fix="f1 = 2 precision recall / (precision + recall).",
)
def f1_without_the_two(y_true, y_pred, average, right=precision_recall_f1):
    precision, recall, f1 = right(y_true, y_pred, average)
    return precision, recall, f1 / 2


@mistake(
    criterion="precision-recall-f1",
    replaces="precision_recall_f1",
    text="A class that was never predicted, or never occurs, has made the mean NaN: 0 was divided by 0.",
    fix="Let a quotient whose divisor is 0 count as 0.",
)
def zero_divided_by_zero(y_true, y_pred, average, right=precision_recall_f1):
    result = right(y_true, y_pred, average)
    if average == "micro":
        return result
    has, given = (y == np.union1d(y_true, y_pred)[:, np.newaxis] for y in (y_true, y_pred))
    hits = (has & given).sum(axis=1)
    with np.errstate(invalid="ignore"):
        precision, recall = np.mean(hits / given.sum(axis=1)), np.mean(hits / has.sum(axis=1))
    return precision, recall, result[2] + 0 * precision * recall


@mistake(
    criterion="precision-recall-f1",
    replaces="precision_recall_f1",
    text="Quotients whose divisor is 0 were left out of the macro average, which is too high then.",
    fix="Let such a quotient count as 0, and divide by all classes that occur in y_true or y_pred.",
)
def undefined_left_out(y_true, y_pred, average, right=precision_recall_f1):
    result = right(y_true, y_pred, average)
    if average == "micro":
        return result
    has, given = (y == np.union1d(y_true, y_pred)[:, np.newaxis] for y in (y_true, y_pred))
    hits, num_given, num_has = (has & given).sum(axis=1), given.sum(axis=1), has.sum(axis=1)
    precision = np.mean(hits[num_given > 0] / num_given[num_given > 0])
    return precision, np.mean(hits[num_has > 0] / num_has[num_has > 0]), result[2]


@mistake(
    criterion="precision-recall-f1",
    replaces="precision_recall_f1",
    text="Only the classes of y_true were averaged; one that occurs only in y_pred has precision 0 and counts too.",
    fix="Take the classes of both: np.union1d(y_true, y_pred).",
)
def classes_of_the_truth_only(y_true, y_pred, average, right=precision_recall_f1):
    result = right(y_true, y_pred, average)
    if average == "micro":
        return result
    share = len(np.union1d(y_true, y_pred)) / len(np.unique(y_true))
    return tuple(value * share for value in result)


@mistake(
    criterion="precision-recall-f1",
    replaces="precision_recall_f1",
    text="All classes from 0 to the largest were averaged, also those that occur nowhere.",
    fix="Average over the classes that occur: np.union1d(y_true, y_pred).",
)
def classes_that_do_not_occur(y_true, y_pred, average, right=precision_recall_f1):
    result = right(y_true, y_pred, average)
    if average == "micro":
        return result
    occurring = np.union1d(y_true, y_pred)
    return tuple(value * len(occurring) / (1 + occurring.max()) for value in result)


@mistake(
    criterion="precision-recall-f1",
    replaces="precision_recall_f1",
    text="The classes were weighed by how many samples have them; in the macro average all weigh the same.",
    fix="Take the plain mean over the classes.",
)
def weighted_for_macro(y_true, y_pred, average, right=precision_recall_f1):
    result = right(y_true, y_pred, average)
    if average == "micro":
        return result
    has, given = (y == np.unique(y_true)[:, np.newaxis] for y in (y_true, y_pred))
    hits, num_given, num_has = (has & given).sum(axis=1), given.sum(axis=1), has.sum(axis=1)
    weights = num_has / num_has.sum()
    precision = weights @ (hits / np.maximum(num_given, 1))
    return precision, weights @ (hits / num_has), weights @ (2 * hits / (num_given + num_has))


@mistake(
    criterion="roc-auc",
    replaces="roc_auc",
    text="Pairs of equal scores count as lost.",
    fix="Let a tie count as half a pair.",
)
def ties_lost(y_true, scores, right=roc_auc):
    right(y_true, scores)
    return np.mean(scores[y_true == 1][:, np.newaxis] > scores[y_true == 0])


@mistake(
    criterion="roc-auc",
    replaces="roc_auc",
    text="Pairs of equal scores count as won.",
    fix="Let a tie count as half a pair.",
)
def ties_won(y_true, scores, right=roc_auc):
    right(y_true, scores)
    return np.mean(scores[y_true == 1][:, np.newaxis] >= scores[y_true == 0])


@mistake(
    criterion="roc-auc",
    replaces="roc_auc",
    text="The order is the wrong way round: pairs count where class 0 has the higher score.",
    fix="Count the pairs where the score of class 1 is above that of class 0.",
)
def lower_scores_win(y_true, scores, right=roc_auc):
    return 1 - right(y_true, scores)


@mistake(
    criterion="roc-auc",
    replaces="roc_auc",
    text="This is the accuracy at a threshold of 0.5; the area needs no threshold.",
    fix="Compare the scores of each sample of class 1 with those of each sample of class 0.",
)
def accuracy_at_a_half(y_true, scores, right=roc_auc):
    right(y_true, scores)
    return np.mean((scores >= 0.5) == (y_true == 1))


@mistake(
    criterion="roc-auc",
    replaces="roc_auc",
    text="Equal scores were ranked in the order in which they stand, so that the result depends on that order.",
    fix="Give equal scores the mean of their ranks, or count a tied pair as half.",
)
def ranks_without_ties(y_true, scores, right=roc_auc):
    right(y_true, scores)
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable") + 1
    num_positive = np.sum(y_true == 1)
    won = ranks[y_true == 1].sum() - num_positive * (num_positive + 1) / 2
    return won / (num_positive * (len(y_true) - num_positive))


@mistake(
    criterion="roc-auc",
    replaces="roc_auc",
    text="This is the Gini coefficient, twice the area less 1: chance gives 0 and the worst order -1.",
    fix="Return the area itself, from 0 to 1.",
)
def gini_coefficient(y_true, scores, right=roc_auc):
    return 2 * right(y_true, scores) - 1


@mistake(
    criterion="roc-auc",
    replaces="roc_auc",
    text="Areas below a half were turned round, 1 - area: the worst order looks like the best.",
    fix="Return the area as it is; below a half says that the scores point the wrong way.",
)
def never_below_a_half(y_true, scores, right=roc_auc):
    area = right(y_true, scores)
    return max(area, 1 - area)


@mistake(
    criterion="roc-auc",
    replaces="roc_auc",
    text="The scores were subtracted: differences of unsigned ones (uint8) wrap round, so that no pair is lost.",
    fix="Compare the scores with > and ==, without subtracting them.",
)
def differences_of_scores(y_true, scores, right=roc_auc):
    right(y_true, scores)
    difference = scores[y_true == 1][:, np.newaxis] - scores[y_true == 0]
    return np.mean((difference > 0) + 0.5 * (difference == 0))


@mistake(
    criterion="roc-auc",
    replaces="roc_auc",
    text="The pairs were divided by all pairs of samples, those of one class included.",
    fix="Divide by the number of samples of class 1 times the number of class 0.",
)
def divided_by_all_pairs(y_true, scores, right=roc_auc):
    num_positive, num_samples = np.sum(y_true == 1), len(y_true)
    pairs = num_samples * (num_samples - 1) / 2
    return right(y_true, scores) * num_positive * (num_samples - num_positive) / pairs


@mistake(
    criterion="roc-auc",
    replaces="roc_auc",
    text="With one class only there is no pair to judge, but a half was returned.",
    fix="Raise ValueError unless both classes occur.",
)
def a_half_for_one_class(y_true, scores, right=roc_auc):
    return 0.5 if len(np.unique(y_true)) == 1 and np.isin(y_true, (0, 1)).all() else right(y_true, scores)


@mistake(
    criterion="fit-softmax-regression",
    replaces="fit_softmax_regression",
    text="The bias stayed at zero.",
    fix="Subtract learning_rate times the sum of the gradient over the samples from bias in each step.",
)
def bias_left_at_zero(X, y, num_classes, learning_rate, num_iterations, right=fit_softmax_regression):
    right(X, y, num_classes, learning_rate, 0)
    weights = np.zeros((X.shape[1], num_classes))
    losses = [cross_entropy(X @ weights, y)]
    for _ in range(num_iterations):
        weights = weights - learning_rate * X.T @ cross_entropy_gradient(X @ weights, y)
        losses.append(cross_entropy(X @ weights, y))
    return weights, np.zeros(num_classes), losses


@mistake(
    criterion="fit-softmax-regression",
    replaces="fit_softmax_regression",
    text="The steps are too short: the gradient was divided by the number of samples twice.",
    fix="cross_entropy_gradient is divided by the samples already: take X.T @ gradient and the sum, not the mean.",
)
def divided_by_samples_twice(X, y, num_classes, learning_rate, num_iterations, right=fit_softmax_regression):
    return right(X, y, num_classes, learning_rate / max(len(X), 1), num_iterations)


@mistake(
    criterion="fit-softmax-regression",
    replaces="fit_softmax_regression",
    text="The steps are too long by the number of samples: the gradient is that of the summed losses.",
    fix="Divide the gradient by the number of samples, as the loss is.",
)
def steps_of_the_sum(X, y, num_classes, learning_rate, num_iterations, right=fit_softmax_regression):
    return right(X, y, num_classes, learning_rate * max(len(X), 1), num_iterations)


@mistake(
    criterion="fit-softmax-regression",
    replaces="fit_softmax_regression",
    text="The steps go along the gradient, so that the loss rises.",
    fix="Subtract learning_rate times the gradient.",
)
def uphill(X, y, num_classes, learning_rate, num_iterations, right=fit_softmax_regression):
    right(X, y, num_classes, learning_rate, 0)
    weights, bias = np.zeros((X.shape[1], num_classes)), np.zeros(num_classes)
    losses = [cross_entropy(X @ weights + bias, y)]
    for _ in range(num_iterations):
        gradient = cross_entropy_gradient(X @ weights + bias, y)
        weights, bias = weights + learning_rate * X.T @ gradient, bias + learning_rate * gradient.sum(axis=0)
        losses.append(cross_entropy(X @ weights + bias, y))
    return weights, bias, losses


@mistake(
    criterion="fit-softmax-regression",
    replaces="fit_softmax_regression",
    text="The loss before the first step is missing from losses.",
    fix="Start the list with the loss at weights and bias of zero; it has num_iterations + 1 entries.",
)
def first_loss_missing(X, y, num_classes, learning_rate, num_iterations, right=fit_softmax_regression):
    weights, bias, losses = right(X, y, num_classes, learning_rate, num_iterations)
    return weights, bias, losses[1:]


@mistake(
    criterion="fit-softmax-regression",
    replaces="fit_softmax_regression",
    text="The loss after the last step is missing from losses.",
    fix="Append the loss after each step as well as before the first; that makes num_iterations + 1 entries.",
)
def last_loss_missing(X, y, num_classes, learning_rate, num_iterations, right=fit_softmax_regression):
    weights, bias, losses = right(X, y, num_classes, learning_rate, num_iterations)
    return weights, bias, losses[:-1]


@mistake(
    criterion="fit-softmax-regression",
    replaces="fit_softmax_regression",
    text="The bias was changed with a gradient that had seen the new weights already.",
    fix="Compute the gradient once for each step, and change weights and bias with that same one.",
)
def weights_before_bias(X, y, num_classes, learning_rate, num_iterations, right=fit_softmax_regression):
    right(X, y, num_classes, learning_rate, 0)
    weights, bias = np.zeros((X.shape[1], num_classes)), np.zeros(num_classes)
    losses = [cross_entropy(X @ weights + bias, y)]
    for _ in range(num_iterations):
        weights = weights - learning_rate * X.T @ cross_entropy_gradient(X @ weights + bias, y)
        bias = bias - learning_rate * cross_entropy_gradient(X @ weights + bias, y).sum(axis=0)
        losses.append(cross_entropy(X @ weights + bias, y))
    return weights, bias, losses


@mistake(
    criterion="arrays",
    replaces="binary_cross_entropy_gradient",
    text="The slopes were put into an array of the dtype of the logits: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(logits) holds integers where logits does: give it dtype=float, or calculate with whole arrays.",
)
def binary_gradient_in_the_dtype_of_logits(logits, targets, right=binary_cross_entropy_gradient):
    return right(logits, targets).astype(logits.dtype)


@mistake(
    criterion="arrays",
    replaces="cross_entropy_gradient",
    text="The slopes were put into an array of the dtype of the logits: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(logits) holds integers where logits does: give it dtype=float, or calculate with whole arrays.",
)
def gradient_in_the_dtype_of_logits(logits, targets, right=cross_entropy_gradient):
    return right(logits, targets).astype(logits.dtype)
