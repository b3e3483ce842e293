"""Known mistakes that are no small change of the reference: results in the dtype of whole numbers."""

from grader.course.answers import mistake
from hidden.s12_feedforward_networks.solution import batch_norm_forward, compute_loss_gradient


@mistake(
    criterion="batch-norm-training",
    replaces="batch_norm_forward",
    text="The output was put into an array of the dtype of x: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(x) holds integers where x does: give it dtype=float, or calculate with whole arrays.",
)
def normalised_in_the_dtype_of_x(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, *rest = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    return output.astype(x.dtype), *rest


@mistake(
    criterion="loss-gradient",
    replaces="compute_loss_gradient",
    text="The gradient was put into an array of the dtype of the logits: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(logits) holds integers where logits does: give it dtype=float, or calculate with whole arrays.",
)
def loss_gradient_in_the_dtype_of_logits(logits, targets, right=compute_loss_gradient):
    return right(logits, targets).astype(logits.dtype)
