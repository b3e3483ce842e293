"""Known mistakes that are no small change of the reference: results in the dtype of whole numbers."""

import numpy as np

from grader.course.answers import mistake
from hidden.s09_regularization.solution import elastic_net_gradient, lasso_penalty, ridge_gradient, soft_threshold


@mistake(
    criterion="ridge-penalty",
    replaces="ridge_gradient",
    text="The slopes were put into an array of the dtype of the weights: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(weights) holds integers where weights does: return 2 * alpha * weights as it is.",
)
def ridge_slopes_in_the_dtype_of_weights(weights, alpha, right=ridge_gradient):
    return right(weights, alpha).astype(weights.dtype)


@mistake(
    criterion="lasso-penalty",
    replaces="lasso_penalty",
    text="The penalty has the dtype of the weights: of whole numbers, its fraction is cut off.",
    fix="alpha times a sum is a float, also where the weights are whole numbers: return it as it is.",
)
def penalty_in_the_dtype_of_weights(weights, alpha, right=lasso_penalty):
    return np.asarray(right(weights, alpha)).astype(weights.dtype)


@mistake(
    criterion="soft-threshold",
    replaces="soft_threshold",
    text="The result was put into an array of the dtype of z: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(z) holds integers where z does: give it dtype=float, or calculate with whole arrays.",
)
def shrunk_in_the_dtype_of_z(z, threshold, right=soft_threshold):
    return np.asarray(right(z, threshold)).astype(np.asarray(z).dtype)


@mistake(
    criterion="elastic-net",
    replaces="elastic_net_gradient",
    text="The slopes were put into an array of the dtype of the weights: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(weights) holds integers where weights does: give it dtype=float, or return the whole sum.",
)
def mixture_in_the_dtype_of_weights(weights, alpha, l1_ratio, right=elastic_net_gradient):
    return right(weights, alpha, l1_ratio).astype(weights.dtype)
