"""Activations one number at a time with the math module; the perceptron with sums written out."""

import math

import numpy as np


def _each(function, z):
    """Apply a function of one number to every entry; float32 stays float32."""
    if not isinstance(z, np.ndarray):
        return function(float(z))
    kind = z.dtype if z.dtype.kind == "f" else np.float64
    result = np.empty(z.shape, dtype=kind)
    for index in np.ndindex(z.shape):
        result[index] = function(float(z[index]))
    return result


def _sigmoid(v):
    if v >= 0:
        return 1 / (1 + math.exp(-v))
    power = math.exp(v)
    return power / (1 + power)


def _softplus(v):
    return v + math.log1p(math.exp(-v)) if v > 0 else math.log1p(math.exp(v))


def relu(z):
    return _each(lambda v: v if v > 0 else 0.0, z)


def relu_derivative(z):
    return _each(lambda v: 1.0 if v >= 0 else 0.0, z)


def leaky_relu(z, alpha=0.01):
    return _each(lambda v: v if v > 0 else alpha * v, z)


def leaky_relu_derivative(z, alpha=0.01):
    return _each(lambda v: 1.0 if v >= 0 else alpha, z)


def elu(z, alpha=1.0):
    return _each(lambda v: v if v > 0 else alpha * math.expm1(v), z)


def elu_derivative(z, alpha=1.0):
    return _each(lambda v: 1.0 if v >= 0 else alpha * math.exp(v), z)


def tanh(z):
    return _each(math.tanh, z)


def tanh_derivative(z):
    def slope(v):
        power = math.exp(-2 * abs(v))
        return 4 * power / (1 + power) ** 2

    return _each(slope, z)


def softplus(z):
    return _each(_softplus, z)


def softplus_derivative(z):
    return _each(_sigmoid, z)


def swish(z, beta=1.0):
    return _each(lambda v: v * _sigmoid(beta * v), z)


def swish_derivative(z, beta=1.0):
    def slope(v):
        value = v * _sigmoid(beta * v)
        return beta * value + _sigmoid(beta * v) * (1 - beta * value)

    return _each(slope, z)


def gelu(z):
    return _each(lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2))), z)


def gelu_derivative(z):
    def slope(v):
        return 0.5 * (1 + math.erf(v / math.sqrt(2))) + v * math.exp(-0.5 * v**2) / math.sqrt(2 * math.pi)

    return _each(slope, z)


def mish(z):
    return _each(lambda v: v * math.tanh(_softplus(v)), z)


def mish_derivative(z):
    def slope(v):
        gate = math.tanh(_softplus(v))
        return gate + v * _sigmoid(v) * (1 + gate) * (1 - gate)

    return _each(slope, z)


def perceptron_predict(X, weights, bias):
    if len(X.shape) != 2 or len(weights.shape) != 1 or X.shape[1] != len(weights):
        raise ValueError(f"X {X.shape} and weights {weights.shape} do not fit")
    return np.array([int(sum(x * w for x, w in zip(row, weights)) + bias > 0) for row in X], dtype=int)


def perceptron_train(X, y, learning_rate, num_epochs):
    if len(X.shape) != 2 or len(y.shape) != 1 or len(X) != len(y):
        raise ValueError(f"X {X.shape} and y {y.shape} do not fit")
    if any(label not in (0, 1) for label in y.tolist()):
        raise ValueError("labels must be 0 or 1")
    if not learning_rate > 0:
        raise ValueError(f"learning_rate is {learning_rate}, must be positive")
    if num_epochs <= 0:
        raise ValueError(f"num_epochs is {num_epochs}, must be positive")
    weights, bias = [0.0] * X.shape[1], 0.0
    errors = []
    for _ in range(num_epochs):
        count = 0
        for row, label in zip(X.tolist(), y.tolist()):
            fires = sum(x * w for x, w in zip(row, weights)) + bias > 0
            if fires and label == 0:
                weights = [w - learning_rate * x for x, w in zip(row, weights)]
                bias -= learning_rate
                count += 1
            elif not fires and label == 1:
                weights = [w + learning_rate * x for x, w in zip(row, weights)]
                bias += learning_rate
                count += 1
        errors.append(count)
    return np.array(weights, dtype=X.dtype if X.dtype.kind == "f" else float), bias, errors


def xor_network(x):
    """Step units: OR and NAND, then AND."""
    if x.ndim == 0 or x.shape[-1] != 2:
        raise ValueError(f"x has shape {x.shape}, must end in 2")
    either = x[..., 0] + x[..., 1] - 0.5 > 0
    not_both = 1.5 - x[..., 0] - x[..., 1] > 0
    return (either * 1.0 + not_both * 1.0 - 1.5 > 0) * 1
