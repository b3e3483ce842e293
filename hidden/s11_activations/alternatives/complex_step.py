"""Slopes by the complex step, Im f(z + ih) / h, which cancels nothing; GELU in its tanh form; XOR by saturated tanh."""

import numpy as np

STEP = 1e-30


def _floating(z):
    z = np.asarray(z)
    return z if z.dtype.kind == "f" else z.astype(float)


def _slope(function, z):
    z = _floating(z)
    return (function(z.astype(np.complex128) + 1j * STEP).imag / STEP).astype(z.dtype)


def _plain(function, z):
    z = _floating(z)
    return function(z.astype(np.float64)).astype(z.dtype)


def _positive(z):
    return z.real > 0


def _stable_tanh(z):
    power = np.exp(np.where(_positive(z), -2 * z, 2 * z))
    return np.where(_positive(z), 1.0, -1.0) * (1 - power) / (1 + power)


def _stable_sigmoid(z):
    power = np.exp(np.where(_positive(z), -z, z))
    return np.where(_positive(z), 1, power) / (1 + power)


def _stable_softplus(z):
    power = np.exp(np.where(_positive(z), -z, z))
    return np.where(_positive(z), z, 0) + np.log1p(power)


def _rectifier(z, alpha):
    return np.where(_positive(z), z, alpha * z)


def _elu(z, alpha):
    return np.where(_positive(z), z, alpha * np.expm1(np.where(_positive(z), 0, z)))


def _gelu(z):
    return 0.5 * z * (1 + _stable_tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z * z * z)))


def _mish(z):
    return z * _stable_tanh(_stable_softplus(z))


def relu(z):
    return _plain(lambda at: _rectifier(at, 0.0), z)


def relu_derivative(z):
    return _slope(lambda at: _rectifier(at, 0.0), z)


def leaky_relu(z, alpha=0.01):
    return _plain(lambda at: _rectifier(at, alpha), z)


def leaky_relu_derivative(z, alpha=0.01):
    return _slope(lambda at: _rectifier(at, alpha), z)


def elu(z, alpha=1.0):
    return _plain(lambda at: _elu(at, alpha), z)


def elu_derivative(z, alpha=1.0):
    return _slope(lambda at: _elu(at, alpha), z)


def tanh(z):
    return _plain(_stable_tanh, z)


def tanh_derivative(z):
    return _slope(_stable_tanh, z)


def softplus(z):
    return _plain(_stable_softplus, z)


def softplus_derivative(z):
    return _slope(_stable_softplus, z)


def swish(z, beta=1.0):
    return _plain(lambda at: at * _stable_sigmoid(beta * at), z)


def swish_derivative(z, beta=1.0):
    return _slope(lambda at: at * _stable_sigmoid(beta * at), z)


def gelu(z):
    return _plain(_gelu, z)


def gelu_derivative(z):
    return _slope(_gelu, z)


def mish(z):
    return _plain(_mish, z)


def mish_derivative(z):
    return _slope(_mish, z)


def _with_ones(X):
    return np.hstack([X, np.ones((len(X), 1), dtype=X.dtype)])


def perceptron_predict(X, weights, bias):
    if X.ndim != 2 or weights.shape != (X.shape[1],):
        raise ValueError(f"shapes {X.shape} and {weights.shape} do not go together")
    return np.heaviside(_with_ones(X) @ np.append(weights, bias), 0).astype(int)


def perceptron_train(X, y, learning_rate, num_epochs):
    """The bias as the weight of a feature that is always 1, the labels as -1 and 1."""
    if X.ndim != 2 or y.shape != (len(X),):
        raise ValueError(f"shapes {X.shape} and {y.shape} do not go together")
    if not set(np.unique(y).tolist()) <= {0, 1}:
        raise ValueError(f"labels {np.unique(y)} should be 0 and 1")
    if learning_rate <= 0 or num_epochs < 1:
        raise ValueError(f"learning_rate {learning_rate}, num_epochs {num_epochs}: both must be positive")
    samples, signs = _with_ones(_floating(X)), 2 * y.astype(int) - 1
    weights, errors = np.zeros(samples.shape[1], dtype=samples.dtype), []
    for _ in range(num_epochs):
        errors.append(0)
        for sample, sign in zip(samples, signs):
            total = float(sample @ weights)
            if (total > 0) != (sign > 0):
                weights = weights + float(learning_rate * sign) * sample
                errors[-1] += 1
    return weights[:-1], weights[-1], np.array(errors)


def xor_network(x):
    """tanh units so steep that the corners saturate them."""
    if x.shape[-1:] != (2,):
        raise ValueError(f"x has shape {x.shape}, the last axis should be 2")
    hidden = np.tanh(20 * (x @ np.array([[1.0, 1.0], [1.0, 1.0]])) - np.array([10.0, 30.0]))
    return 0.5 * (hidden[..., 0] - hidden[..., 1])
