"""Activation functions and their derivatives, the perceptron, and the two layers that XOR needs.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. Every
activation works element by element: z is a number or an array of any shape, an empty one too, of floats or integers; z
itself is left as it is, and the result has its shape; float32 stays float32. Every derivative takes the same z as its
function, not the function's output. Results are finite and right for |z| up to 1000.
"""

import math

import numpy as np


def relu(z):
    """Return z where it is positive and 0 elsewhere: max(z, 0).

    Args:
        z: a number or an array of any shape.

    Returns:
        The shape of z; float32 for float32.

    Source: Nair and Hinton 2010, "Rectified linear units improve restricted Boltzmann machines".

    Example:
        >>> relu(np.array([-2.0, 0.0, 3.0]))
        array([0., 0., 3.])
    """
    return np.maximum(z, 0)


def relu_derivative(z):
    """Return the slope of relu: 1 where z is positive, 0 where it is negative.

    Args:
        z: a number or an array of any shape, the input of relu.

    Returns:
        Floating numbers of the shape of z, for integers too; float32 for float32. At 0, where relu has a kink, it is
        0; any slope from 0 to 1 is accepted there.

    Source: Nair and Hinton 2010.

    Example:
        >>> relu_derivative(np.array([-2.0, 0.5, 3.0]))
        array([0., 1., 1.])
    """
    return leaky_relu_derivative(z, alpha=0.0)


def leaky_relu(z, alpha=0.01):
    """Return z where it is positive and alpha * z elsewhere.

    Args:
        z: a number or an array of any shape.
        alpha: the slope of the negative side, from 0 to below 1.

    Returns:
        The shape of z; float32 for float32.

    Source: Maas, Hannun and Ng 2013, "Rectifier nonlinearities improve neural network acoustic models".

    Example:
        >>> leaky_relu(np.array([-2.0, 0.0, 3.0]), alpha=0.25)
        array([-0.5,  0. ,  3. ])
    """
    return np.maximum(z, 0) + alpha * np.minimum(z, 0)


def leaky_relu_derivative(z, alpha=0.01):
    """Return the slope of leaky_relu: 1 where z is positive, alpha where it is negative.

    Args:
        z: a number or an array of any shape, the input of leaky_relu.
        alpha: the slope of the negative side, from 0 to below 1.

    Returns:
        Floating numbers of the shape of z; float32 for float32. At 0, where leaky_relu has a kink, it is alpha; any
        slope from alpha to 1 is accepted there.

    Source: Maas, Hannun and Ng 2013.

    Example:
        >>> leaky_relu_derivative(np.array([-2.0, 0.5, 3.0]), alpha=0.25)
        array([0.25, 1.  , 1.  ])
    """
    return np.where(z > 0, 1, alpha).astype(_floating_type(z))


def elu(z, alpha=1.0):
    """Return z where it is positive and alpha * (exp(z) - 1) elsewhere.

    Args:
        z: a number or an array of any shape.
        alpha: minus the value that is approached far on the negative side, above 0.

    Returns:
        The shape of z; float32 for float32. Small values keep their digits: elu(-1e-12) is -1e-12 to at least nine
        digits, which exp(z) - 1 is not.

    Source: Clevert, Unterthiner and Hochreiter 2016, "Fast and accurate deep network learning by exponential linear
    units (ELUs)".

    Example:
        >>> elu(np.array([-2.0, 0.0, 3.0])).round(4)
        array([-0.8647,  0.    ,  3.    ])
    """
    return np.maximum(z, 0) + alpha * np.expm1(np.minimum(z, 0))


def elu_derivative(z, alpha=1.0):
    """Return the slope of elu: 1 where z is positive, alpha * exp(z) where it is negative.

    Args:
        z: a number or an array of any shape, the input of elu.
        alpha: minus the value that elu approaches far on the negative side, above 0.

    Returns:
        The shape of z; float32 for float32. At 0 it is alpha; any slope between alpha and 1 is accepted there, so for
        alpha = 1, where elu has no kink, only 1.

    Source: Clevert, Unterthiner and Hochreiter 2016.

    Example:
        >>> elu_derivative(np.array([-2.0, 0.5, 3.0])).round(4)
        array([0.1353, 1.    , 1.    ])
    """
    return np.where(z > 0, 1, alpha * np.exp(np.minimum(z, 0)))


def tanh(z):
    """Return the hyperbolic tangent: (exp(z) - exp(-z)) / (exp(z) + exp(-z)).

    Args:
        z: a number or an array of any shape.

    Returns:
        Values from -1 to 1, of the shape of z; float32 for float32.

    Source: LeCun, Bottou, Orr and Müller 1998, "Efficient BackProp", section 4.4.

    Example:
        >>> tanh(np.array([-2.0, 0.0, 0.5])).round(4)
        array([-0.964 ,  0.    ,  0.4621])
    """
    return np.tanh(z)


def tanh_derivative(z):
    """Return the slope of tanh: 1 - tanh(z)^2.

    Args:
        z: a number or an array of any shape, the input of tanh (not its output).

    Returns:
        Values from 0 to 1, of the shape of z; float32 for float32.

    Source: LeCun, Bottou, Orr and Müller 1998.

    Example:
        >>> tanh_derivative(np.array([-2.0, 0.0, 0.5])).round(4)
        array([0.0707, 1.    , 0.7864])
    """
    return 1 - np.tanh(z) ** 2


def softplus(z):
    """Return the smooth form of relu: log(1 + exp(z)).

    Args:
        z: a number or an array of any shape.

    Returns:
        The shape of z; float32 for float32. Small values keep their digits: softplus(-40) is 4.248e-18, where
        log(1 + exp(-40)) is 0.

    Source: Dugas, Bengio, Bélisle, Nadeau and Garcia 2001, "Incorporating second-order functional knowledge for
    better option pricing".

    Example:
        >>> softplus(np.array([-2.0, 0.0, 3.0])).round(4)
        array([0.1269, 0.6931, 3.0486])
    """
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


def softplus_derivative(z):
    """Return the slope of softplus, which is the sigmoid: 1 / (1 + exp(-z)).

    Args:
        z: a number or an array of any shape, the input of softplus.

    Returns:
        Values from 0 to 1, of the shape of z; float32 for float32.

    Source: Dugas and others 2001.

    Example:
        >>> softplus_derivative(np.array([-2.0, 0.0, 3.0])).round(4)
        array([0.1192, 0.5   , 0.9526])
    """
    return (1 + np.tanh(z / 2)) / 2


def swish(z, beta=1.0):
    """Return z times the sigmoid of beta * z: z / (1 + exp(-beta z)).

    With beta = 1 it is also called SiLU.

    Args:
        z: a number or an array of any shape.
        beta: how sharply the gate opens, above 0.

    Returns:
        The shape of z; float32 for float32.

    Source: Ramachandran, Zoph and Le 2017, "Searching for activation functions".

    Example:
        >>> swish(np.array([-2.0, 0.0, 3.0])).round(4)
        array([-0.2384,  0.    ,  2.8577])
    """
    return z * softplus_derivative(beta * z)


def swish_derivative(z, beta=1.0):
    """Return the slope of swish: s + beta * z * s * (1 - s), with s the sigmoid of beta * z.

    Args:
        z: a number or an array of any shape, the input of swish.
        beta: how sharply the gate opens, above 0.

    Returns:
        The shape of z; float32 for float32.

    Source: Ramachandran, Zoph and Le 2017.

    Example:
        >>> swish_derivative(np.array([-2.0, 0.0, 3.0])).round(4)
        array([-0.0908,  0.5   ,  1.0881])
    """
    gate = softplus_derivative(beta * z)
    return gate + beta * z * gate * (1 - gate)


def gelu(z):
    """Return z times the share of the standard normal distribution below z: z * (1 + erf(z / sqrt(2))) / 2.

    The approximation by tanh, z / 2 * (1 + tanh(sqrt(2 / pi) * (z + 0.044715 z^3))), is accepted too, if
    gelu_derivative is the slope of the same form.

    Args:
        z: a number or an array of any shape.

    Returns:
        The shape of z; float32 for float32.

    Source: Hendrycks and Gimpel 2016, "Gaussian error linear units (GELUs)".

    Example:
        >>> gelu(np.array([-2.0, 0.0, 3.0])).round(2)
        array([-0.05,  0.  ,  3.  ])
    """
    return z * _share_below(z)


def gelu_derivative(z):
    """Return the slope of gelu: the share of the normal distribution below z, plus z times its density at z.

    The density is exp(-z^2 / 2) / sqrt(2 pi). If your gelu is the approximation by tanh, return the slope of that.

    Args:
        z: a number or an array of any shape, the input of gelu.

    Returns:
        The shape of z; float32 for float32.

    Source: Hendrycks and Gimpel 2016.

    Example:
        >>> gelu_derivative(np.array([-2.0, 0.0, 3.0])).round(2)
        array([-0.09,  0.5 ,  1.01])
    """
    return _share_below(z) + z * np.exp(z * z / -2) / math.sqrt(2 * math.pi)


def mish(z):
    """Return z * tanh(softplus(z)).

    Args:
        z: a number or an array of any shape.

    Returns:
        The shape of z; float32 for float32.

    Source: Misra 2019, "Mish: a self regularized non-monotonic activation function".

    Example:
        >>> mish(np.array([-2.0, 0.0, 3.0])).round(4)
        array([-0.2525,  0.    ,  2.9865])
    """
    return z * np.tanh(softplus(z))


def mish_derivative(z):
    """Return the slope of mish: t + z * (1 - t^2) * sigmoid(z), with t = tanh(softplus(z)).

    Args:
        z: a number or an array of any shape, the input of mish.

    Returns:
        The shape of z; float32 for float32.

    Source: Misra 2019.

    Example:
        >>> mish_derivative(np.array([-2.0, 0.0, 3.0])).round(4)
        array([-0.1084,  0.6   ,  1.0211])
    """
    gate = np.tanh(softplus(z))
    return gate + z * (1 - gate**2) * softplus_derivative(z)


def perceptron_predict(X, weights, bias):
    """Return the class of each sample: 1 where X weights + bias is above 0, otherwise 0.

    Args:
        X: samples, shape (samples, features).
        weights: shape (features,).
        bias: a number.

    Returns:
        Integers 0 and 1, shape (samples,). A sum of exactly 0 gives 0.

    Raises:
        ValueError: X has not two axes, or weights is not of shape (features,).

    Source: Rosenblatt 1958, "The perceptron: a probabilistic model for information storage and organization in the
    brain".

    Example:
        >>> perceptron_predict(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), np.array([2.0, 1.0]), -2.0)
        array([0, 0, 1])
    """
    if X.ndim != 2 or weights.shape != X.shape[1:]:
        raise ValueError(f"weights: shape {weights.shape}, expected (features,), X (samples, features) being {X.shape}")
    return (X @ weights + bias > 0).astype(np.int64)


def perceptron_train(X, y, learning_rate, num_epochs):
    """Learn weights and bias by Rosenblatt's rule: after each wrong prediction, a step towards the right one.

    Start from weights and bias of 0. In each epoch visit the samples in the order of their rows. Predict the sample
    with the weights as they are now, as perceptron_predict does, then add learning_rate * (label - prediction) times
    the sample to weights, and learning_rate * (label - prediction) to bias.

    Args:
        X: samples, shape (samples, features).
        y: labels 0 and 1 (integers of any type, floats or booleans), shape (samples,).
        learning_rate: size of the steps, above 0.
        num_epochs: how many times to visit all samples, at least 1.

    Returns:
        (weights, bias, errors): weights of shape (features,), float32 for float32 X and otherwise float64; bias, a
        number; errors, a list or array of num_epochs integers: how many predictions were wrong when their sample was
        visited, for each epoch.

    Raises:
        ValueError: X has not two axes, y is not of shape (samples,), a label is neither 0 nor 1, learning_rate is not
            above 0, or num_epochs is below 1.

    Source: Rosenblatt 1958; Novikoff 1962, "On convergence proofs on perceptrons".

    Example:
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> weights, bias, errors = perceptron_train(X, np.array([0, 1, 1, 1]), learning_rate=1.0, num_epochs=4)
        >>> weights, float(bias), errors
        (array([1., 1.]), 0.0, [1, 2, 1, 0])
    """
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"y: shape {y.shape}, expected (samples,), X (samples, features) being {X.shape}")
    if not np.isin(y, (0, 1)).all():
        raise ValueError(f"y: labels {np.unique(y)}, expected only 0 and 1")
    if learning_rate <= 0 or num_epochs < 1:
        raise ValueError(f"learning_rate: {learning_rate}, num_epochs: {num_epochs}, expected above 0 and at least 1")
    weights, bias, errors = np.zeros(X.shape[1], _floating_type(X)), 0.0, []
    for _ in range(num_epochs):
        wrong = 0
        for sample, label in zip(X, y, strict=True):
            surprise = int(label) - int(sample @ weights + bias > 0)
            weights += learning_rate * surprise * sample
            bias += learning_rate * surprise
            wrong += abs(surprise)
        errors.append(wrong)
    return weights, bias, errors


def xor_network(x):
    """Return the exclusive or of pairs of bits, by a network of two layers whose weights you choose yourself.

    No training: write the weights and biases down. The first layer has at least two units and an activation that is
    not linear; the second combines them into one number.

    Args:
        x: pairs of 0 and 1 (integers or floats), shape (..., 2).

    Returns:
        Numbers of shape (...): 1 where exactly one of the pair is 1, otherwise 0; a network of smooth units may be
        off by at most 0.01.

    Raises:
        ValueError: the last axis of x is not of size 2.

    Source: Rumelhart, Hinton and Williams 1986, "Learning internal representations by error propagation", on the XOR
    problem; Goodfellow, Bengio and Courville 2016, section 6.1, for this kind of solution.

    Example:
        >>> np.round(xor_network(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))).tolist()
        [0.0, 1.0, 1.0, 0.0]
    """
    if x.shape[-1:] != (2,):
        raise ValueError(f"x: shape {x.shape}, expected (..., 2)")
    hidden = relu(x @ [[1, 1], [1, 1]] + [0, -1])
    return hidden @ [1, -2]


def _floating_type(z):
    """Return the dtype of a result: that of z if it is floating, otherwise float64."""
    return np.result_type(z, 0.0)


def _share_below(z):
    """Return how much of the standard normal distribution lies below z."""
    return (_erfc(-z / math.sqrt(2)) / 2).astype(_floating_type(z))


_erfc = np.vectorize(math.erfc, otypes=[np.float64])
