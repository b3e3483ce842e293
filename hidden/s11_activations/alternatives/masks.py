"""Boolean masks into fresh arrays, results that are views, slopes from values, and a unit for each half of XOR."""

import math
from functools import reduce

import numpy as np

_ERF = np.frompyfunc(math.erf, 1, 1)


def _column(z):
    """A floating copy of z as one long row, and what puts a result back into shape."""
    z = np.asarray(z)
    flat = np.array(z, dtype=z.dtype if z.dtype.kind == "f" else np.float64).reshape(-1)
    return flat, z.shape


def _back(flat, shape):
    return flat[::-1][::-1].reshape(shape)


def relu(z):
    out, shape = _column(z)
    out[out < 0] = 0
    return _back(out, shape)


def relu_derivative(z):
    z, shape = _column(z)
    return _back((np.sign(z) + 1) / 2, shape)


def leaky_relu(z, alpha=0.01):
    out, shape = _column(z)
    out[out < 0] *= alpha
    return _back(out, shape)


def leaky_relu_derivative(z, alpha=0.01):
    z, shape = _column(z)
    out = np.ones_like(z)
    out[z < 0] = alpha
    return _back(out, shape)


def elu(z, alpha=1.0):
    out, shape = _column(z)
    left = out < 0
    out[left] = alpha * np.expm1(out[left])
    return _back(out, shape)


def elu_derivative(z, alpha=1.0):
    z, shape = _column(z)
    out, left = np.ones_like(z), z < 0
    out[left] = alpha * np.exp(z[left])
    return _back(out, shape)


def tanh(z):
    z, shape = _column(z)
    return _back(2 * _sigmoid(2 * z) - 1, shape)


def _sigmoid(z):
    out, right = np.empty_like(z), z >= 0
    out[right] = 1 / (1 + np.exp(-z[right]))
    powers = np.exp(z[~right])
    out[~right] = powers / (1 + powers)
    return out


def tanh_derivative(z):
    z, shape = _column(z)
    return _back(4 * _sigmoid(2 * z) * _sigmoid(-2 * z), shape)


def softplus(z):
    z, shape = _column(z)
    return _back(np.logaddexp(np.zeros_like(z), z), shape)


def softplus_derivative(z):
    z, shape = _column(z)
    return _back(_sigmoid(z), shape)


def swish(z, beta=1.0):
    z, shape = _column(z)
    z *= _sigmoid(beta * z)
    return _back(z, shape)


def swish_derivative(z, beta=1.0):
    z, shape = _column(z)
    gate = _sigmoid(beta * z)
    return _back(gate * (1 + beta * z * _sigmoid(-beta * z)), shape)


def _normal(z):
    return (1 + _ERF(z / math.sqrt(2)).astype(z.dtype)) / 2


def gelu(z):
    z, shape = _column(z)
    return _back(z * _normal(z), shape)


def gelu_derivative(z):
    z, shape = _column(z)
    bell = np.exp(-np.square(np.clip(z, -30, 30)) / 2) / math.sqrt(2 * math.pi)
    return _back(_normal(z) + z * bell, shape)


def _mish_gate(z):
    """tanh(log(1 + e^z)) = (e^2z + 2 e^z) / (e^2z + 2 e^z + 2), cut at z = 20, where it is 1 already."""
    power = np.exp(np.minimum(z, 20))
    rising = power * (power + 2)
    return rising / (rising + 2)


def mish(z):
    z, shape = _column(z)
    return _back(z * _mish_gate(z), shape)


def mish_derivative(z):
    z, shape = _column(z)
    power = np.exp(np.minimum(z, 20))
    falling = 4 * power * (power + 1) / (power * (power + 2) + 2) ** 2
    falling[z > 20] = 0
    return _back(_mish_gate(z) + z * falling, shape)


def perceptron_predict(X, weights, bias):
    if X.ndim != 2:
        raise ValueError(f"X should have two axes, not {X.ndim}")
    if weights.shape != X[0].shape:
        raise ValueError(f"weights should be {X[0].shape}, not {weights.shape}")
    sums = np.einsum("sf,f->s", X, weights) + bias
    return np.where(sums > 0, 1, 0)


def perceptron_train(X, y, learning_rate, num_epochs):
    """Count how often each sample was added or taken away; the weights follow from the counts (the dual form)."""
    if X.ndim != 2 or y.ndim != 1 or len(y) != len(X):
        raise ValueError(f"X {X.shape} and y {y.shape}: expected (samples, features) and (samples,)")
    labels = y.astype(float)
    if not np.all(labels * (1 - labels) == 0):
        raise ValueError("y should hold 0 and 1 only")
    if learning_rate <= 0:
        raise ValueError(f"learning_rate should be above 0, not {learning_rate}")
    if num_epochs < 1:
        raise ValueError(f"num_epochs should be at least 1, not {num_epochs}")
    kind = X.dtype if X.dtype.kind == "f" else np.float64
    alike = X.astype(float) @ X.T.astype(float) + 1
    counts, errors = np.zeros(len(X)), []

    def visit(wrong, i):
        difference = labels[i] - (alike[i] @ counts > 0)
        counts[i] += difference
        return wrong + int(abs(difference))

    for _ in range(num_epochs):
        errors.append(reduce(visit, range(len(X)), 0))
    weights = (learning_rate * (X.T.astype(float) @ counts)).astype(kind)
    return weights, float(learning_rate * counts.sum()), tuple(errors)


def xor_network(x):
    """relu(a - b) + relu(b - a)."""
    if x.ndim < 1 or x.shape[-1] != 2:
        raise ValueError(f"x should be pairs, not {x.shape}")
    differences = x.astype(float) @ np.array([[1.0, -1.0], [-1.0, 1.0]])
    return np.maximum(differences, 0).sum(axis=-1)
