"""A student's answer to stage s11, written from its README and stub alone; the slips of slips.toml are made in it."""

import math

import numpy as np


def floating(z):
    z = np.asarray(z)
    if not np.issubdtype(z.dtype, np.floating):
        z = z.astype(np.float64)
    return z


def sigmoid(z):
    e = np.exp(-np.abs(z))
    return np.where(z > 0, 1, e) / (1 + e)


def relu(z):
    return np.maximum(z, 0)


def relu_derivative(z):
    z = floating(z)
    return (z > 0).astype(z.dtype)


def leaky_relu(z, alpha=0.01):
    z = floating(z)
    return np.where(z > 0, z, alpha * z)


def leaky_relu_derivative(z, alpha=0.01):
    z = floating(z)
    slope = np.full_like(z, alpha)
    slope[z > 0] = 1
    return slope


def elu(z, alpha=1.0):
    z = floating(z)
    negative = np.minimum(z, 0)
    return np.where(z > 0, z, alpha * np.expm1(negative))


def elu_derivative(z, alpha=1.0):
    z = floating(z)
    negative = np.minimum(z, 0)
    return np.where(z > 0, 1, alpha * np.exp(negative)).astype(z.dtype)


def tanh(z):
    return np.tanh(floating(z))


def tanh_derivative(z):
    t = tanh(z)
    return 1 - t**2


def softplus(z):
    z = floating(z)
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


def softplus_derivative(z):
    return sigmoid(floating(z))


def swish(z, beta=1.0):
    z = floating(z)
    gate = sigmoid(beta * z)
    return z * gate


def swish_derivative(z, beta=1.0):
    z = floating(z)
    gate = sigmoid(beta * z)
    return gate + beta * z * gate * (1 - gate)


def inner(z):
    return math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)


def gelu(z):
    z = floating(z)
    return 0.5 * z * (1 + np.tanh(inner(z)))


def gelu_derivative(z):
    z = floating(z)
    t = np.tanh(inner(z))
    inner_slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * z**2)
    return 0.5 * (1 + t) + 0.5 * z * (1 - t**2) * inner_slope


def mish(z):
    z = floating(z)
    return z * np.tanh(softplus(z))


def mish_derivative(z):
    z = floating(z)
    t = np.tanh(softplus(z))
    dt = (1 - t**2) * sigmoid(z)
    return t + z * dt


def perceptron_predict(X, weights, bias):
    if X.ndim != 2:
        raise ValueError(f"X: shape {X.shape}, expected (samples, features)")
    if weights.shape != (X.shape[1],):
        raise ValueError(f"weights: shape {weights.shape}, expected ({X.shape[1]},)")
    total = X @ weights + bias
    return np.where(total > 0, 1, 0)


def check_training(X, y, learning_rate, num_epochs):
    if X.ndim != 2:
        raise ValueError(f"X: shape {X.shape}, expected (samples, features)")
    if y.shape != (len(X),):
        raise ValueError(f"y: shape {y.shape}, expected ({len(X)},)")
    if not np.all((y == 0) | (y == 1)):
        raise ValueError("y: expected labels 0 and 1 only")
    if not learning_rate > 0:
        raise ValueError(f"learning_rate: {learning_rate}, expected above 0")
    if num_epochs < 1:
        raise ValueError(f"num_epochs: {num_epochs}, expected at least 1")


def perceptron_train(X, y, learning_rate, num_epochs):
    y = np.asarray(y)
    check_training(X, y, learning_rate, num_epochs)
    X = floating(X)
    weights = np.zeros(X.shape[1], dtype=X.dtype)
    bias = 0.0
    errors = []
    for _ in range(num_epochs):
        wrong = 0
        for i in range(len(X)):
            predicted = 1 if X[i] @ weights + bias > 0 else 0
            delta = int(y[i]) - predicted
            if delta != 0:
                wrong += 1
                weights = weights + learning_rate * delta * X[i]
                bias = bias + learning_rate * delta
        errors.append(wrong)
    return weights, bias, errors


def xor_network(x):
    x = np.asarray(x)
    if x.ndim == 0 or x.shape[-1] != 2:
        raise ValueError(f"x: shape {x.shape}, expected (..., 2)")
    W = np.array([[1.0, -1.0], [-1.0, 1.0]])
    b = np.array([0.0, 0.0])
    hidden = relu(x @ W + b)
    return hidden @ np.array([1.0, 1.0])
