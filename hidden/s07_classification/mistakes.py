"""Known mistakes that are no small change of the reference: results in the dtype of whole numbers."""

from grader.course.answers import mistake
from hidden.s07_classification.solution import binary_cross_entropy_gradient, cross_entropy_gradient


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
