"""Linear regression: a model, its loss and gradient, two ways to fit it, and what data needs before and after.

X holds one sample in each row and one feature in each column, (samples, features); y holds one target for each sample,
(samples,). A model is weights, (features,), and a bias, one number.

For all functions: arguments are never changed; float32 arrays in give float32 arrays out; bad shapes and values raise
ValueError with a sentence that names the argument. What is fitted, standardised or scored may be whole numbers, of
unsigned types such as uint8, too.
"""

import numpy as np


def predict(X, weights, bias):
    """Return the prediction for each sample: its features times the weights, plus the bias.

    X is (samples, features), weights (features,), bias one number; the result is (samples,).

    Raises ValueError when X has not two axes, has no sample, or weights is not one number for each feature.

    Formula: y = X w + b.
    Example:

    >>> predict(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([10.0, 1.0]), 0.5)
    array([12.5, 30.5])
    """
    raise NotImplementedError("predict")


def mse_loss(y_true, y_pred):
    """Return the mean squared error, the mean over the samples of (y_pred - y_true)^2, as one number.

    y_true and y_pred are (samples,).

    Raises ValueError when y_true is not a vector, is empty, or y_pred has another shape (nothing is broadcast).

    Formula: L = 1/n sum (y_pred - y_true)^2.
    Example:

    >>> float(mse_loss(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 2.0])))
    1.6666666666666667
    """
    raise NotImplementedError("mse_loss")


def mse_gradient(X, y_true, y_pred):
    """Return the gradient of the mean squared error with respect to weights and bias.

    X is (samples, features), y_true and y_pred are (samples,), y_pred what the model predicts for X. The result is
    (grad_weights, grad_bias): (features,) and one number.

    Raises ValueError when X has not two axes, has no sample, or y_true or y_pred is not one number for each sample.

    Formula: dL/dw = 2/n X^T (y_pred - y_true), dL/db = 2/n sum (y_pred - y_true).
    Example:

    >>> grad_weights, grad_bias = mse_gradient(np.array([[1.0], [2.0]]), np.array([1.0, 1.0]), np.array([2.0, 4.0]))
    >>> grad_weights, float(grad_bias)
    (array([7.]), 4.0)
    """
    raise NotImplementedError("mse_gradient")


def r2_score(y_true, y_pred):
    """Return R^2, the share of the targets' variance that the predictions explain, as one number.

    1 is perfect, 0 is what always predicting the mean of y_true would reach, and it is negative for what is worse.
    Where all of y_true is one number there is no variance to explain: then it is 1 if every prediction is exactly
    right, and 0 if not.

    y_true and y_pred are (samples,).

    Raises ValueError when y_true is not a vector, is empty, or y_pred has another shape (nothing is broadcast).

    Formula: R^2 = 1 - sum (y_true - y_pred)^2 / sum (y_true - mean(y_true))^2.
    Example:

    >>> float(r2_score(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])))
    0.5
    """
    raise NotImplementedError("r2_score")


def normal_equation(X, y):
    """Return the (weights, bias) of least mean squared error, in one step.

    X is (samples, features), y is (samples,); weights is (features,), bias one number. Where several models are
    equally good, because a feature is the sum of others or there are fewer samples than features, any of them will do.
    Neither a feature far away from 0 nor targets far away from 0 spoil the digits: with means a million times the
    spreads, weights and predictions are right to six digits. Nor does a feature that is small beside the others count
    for nothing: with a spread some million times below theirs, the predictions are right to three digits.

    Raises ValueError when X has not two axes, has no sample, or y is not one number for each sample.

    Formula: (X^T X) w = X^T y, of X and y without their means; b = mean(y) - mean(X) w.
    Example:

    >>> weights, bias = normal_equation(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]))
    >>> weights.round(6), round(float(bias), 6)
    (array([2.]), 1.0)
    """
    raise NotImplementedError("normal_equation")


def standardize(X):
    """Return (Z, mean, std): each feature with its mean taken away, divided by its standard deviation.

    X and Z are (samples, features), mean and std (features,). std divides by the number of samples. Of a feature that
    is the same number in all samples, Z is 0, mean is that number, and std is 1, so that (new - mean) / std works for
    any new sample.

    Raises ValueError when X has not two axes, or has no sample.

    Formula: z = (x - mean) / std.
    Example:

    >>> Z, mean, std = standardize(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> Z, mean, std
    (array([[-1.,  0.],
           [ 1.,  0.]]), array([2., 5.]), array([1., 1.]))
    """
    raise NotImplementedError("standardize")


def polynomial_features(X, degree):
    """Return all products of one to degree features, repeats included, as new features.

    X is (samples, features). First come the features themselves, then the products of two, and so on; within a degree
    in the order of the features: for (a, b) and degree 2, a, b, a^2, a b, b^2. There is no column of ones, since a
    model has its bias.

    Raises ValueError when X has not two axes, has no sample, or degree is below 1.

    Source: itertools.combinations_with_replacement has the order.
    Example:

    >>> polynomial_features(np.array([[2.0, 3.0]]), 2)
    array([[2., 3., 4., 6., 9.]])
    """
    raise NotImplementedError("polynomial_features")


def train_test_split(X, y, test_size, rng):
    """Return (X_train, X_test, y_train, y_test): the samples in random order, cut in two.

    X is (samples, features), y is (samples,). test_size is the share of the samples to test with, between 0 and 1; the
    number of test samples is test_size * samples, rounded to the nearest whole number (of two, either). Every sample is
    in one of the parts, once, together with its target. rng is a np.random.Generator; each choice of test samples is
    equally likely.

    Raises ValueError when X has not two axes, has no sample, y is not one number for each sample, or one of the parts
    would be empty.

    Example:

    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([10, 20, 30, 40])
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, 0.25, np.random.default_rng(0))
    >>> X_train.shape, X_test.shape, bool(np.all(X_test[:, 0] * 10 == y_test))
    ((3, 1), (1, 1), True)
    """
    raise NotImplementedError("train_test_split")


def fit_gradient_descent(X, y, learning_rate, num_iterations):
    """Return (weights, bias, losses): the model after num_iterations steps against the gradient, from zeros.

    X is (samples, features), y is (samples,). Every step takes learning_rate times the gradient of the mean squared
    error over all samples from weights and bias at once. losses is a list of num_iterations + 1 numbers: the loss
    before the first step, and after each step.

    Raises ValueError when X has not two axes, has no sample, y is not one number for each sample, learning_rate is not
    above 0, or num_iterations is below 0.

    Formula: w <- w - learning_rate dL/dw, b <- b - learning_rate dL/db.
    Example:

    >>> X, y = np.array([[-1.0], [1.0]]), np.array([1.0, 3.0])
    >>> weights, bias, losses = fit_gradient_descent(X, y, 0.25, 1)
    >>> weights, float(bias), [float(loss) for loss in losses]
    (array([0.5]), 1.0, [5.0, 1.25])
    """
    raise NotImplementedError("fit_gradient_descent")
