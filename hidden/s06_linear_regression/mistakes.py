"""Known mistakes that are no small change of the reference: results in the dtype of whole numbers."""

from grader.course.answers import mistake
from hidden.s06_linear_regression.solution import mse_gradient, predict


@mistake(
    criterion="predict",
    replaces="predict",
    text="The predictions were put into an array of the dtype of X: of whole numbers, the bias loses its fraction.",
    fix="np.zeros(len(X), X.dtype) holds integers where X does: return X @ weights + bias as it is.",
)
def predictions_in_the_dtype_of_X(X, weights, bias, right=predict):
    return right(X, weights, bias).astype(X.dtype)


@mistake(
    criterion="mse-gradient",
    replaces="mse_gradient",
    text="The slopes were put into an array of the dtype of X: of whole numbers, every fraction is cut off.",
    fix="np.zeros(d, X.dtype) holds integers where X does: give it dtype=float, or multiply whole arrays.",
)
def gradient_in_the_dtype_of_X(X, y_true, y_pred, right=mse_gradient):
    grad_weights, grad_bias = right(X, y_true, y_pred)
    return grad_weights.astype(X.dtype), grad_bias
