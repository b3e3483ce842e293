"""A student's answer to stage s12, written from its README and stub alone; the slips of slips.toml are made in it."""

import numpy as np


def check_fans(fan_in, fan_out):
    if fan_in < 1 or fan_out < 1:
        raise ValueError(f"fan_in, fan_out: {fan_in}, {fan_out}, expected at least 1 each")


def xavier_uniform(fan_in, fan_out, rng):
    check_fans(fan_in, fan_out)
    limit = np.sqrt(6.0 / (fan_in + fan_out))
    return rng.uniform(-limit, limit, (fan_in, fan_out))


def he_normal(fan_in, fan_out, rng):
    check_fans(fan_in, fan_out)
    std = np.sqrt(2.0 / fan_in)
    return rng.normal(0.0, std, (fan_in, fan_out))


def activate(name, z):
    if name == "relu":
        return np.maximum(z, 0)
    if name == "tanh":
        return np.tanh(z)
    if name == "sigmoid":
        return 0.5 * (1 + np.tanh(0.5 * z))
    return z


def slope(name, z, a):
    if name == "relu":
        return (z > 0).astype(z.dtype)
    if name == "tanh":
        return 1 - a * a
    if name == "sigmoid":
        return a * (1 - a)
    return np.ones_like(a)


class Dense:
    def __init__(self, num_inputs, num_outputs, activation, rng):
        if activation not in ("relu", "tanh", "sigmoid", "linear"):
            raise ValueError(f"activation: {activation!r}, expected relu, tanh, sigmoid or linear")
        self.activation = activation
        if activation == "relu":
            W = he_normal(num_inputs, num_outputs, rng)
        else:
            W = xavier_uniform(num_inputs, num_outputs, rng)
        self.params = {"weights": W, "bias": np.zeros(num_outputs)}
        self.grads = {}
        self.saved = None

    def forward(self, x):
        W, b = self.params["weights"], self.params["bias"]
        if x.ndim != 2 or x.shape[1] != W.shape[0]:
            raise ValueError(f"x: shape {x.shape}, expected (batch, {W.shape[0]})")
        z = x @ W + b
        a = activate(self.activation, z)
        self.saved = (x.copy(), z, a.copy(), W)
        return a

    def backward(self, grad_output):
        if self.saved is None:
            raise RuntimeError("backward was called before forward")
        x, z, a, W = self.saved
        if grad_output.shape != a.shape:
            raise ValueError(f"grad_output: shape {grad_output.shape}, expected {a.shape}")
        dz = grad_output * slope(self.activation, z, a)
        self.grads = {"weights": x.T @ dz, "bias": dz.sum(axis=0)}
        return dz @ W.T


def check_batch_norm(x, training, **vectors):
    if x.ndim != 2:
        raise ValueError(f"x: shape {x.shape}, expected (batch, features)")
    if training and len(x) < 2:
        raise ValueError(f"x: {len(x)} samples, expected at least 2 in training")
    for name, vector in vectors.items():
        if vector.shape != (x.shape[1],):
            raise ValueError(f"{name}: shape {vector.shape}, expected ({x.shape[1]},)")


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5):
    check_batch_norm(x, training, gamma=gamma, beta=beta, running_mean=running_mean, running_var=running_var)
    if training:
        mu = x.mean(axis=0)
        var = ((x - mu) ** 2).mean(axis=0)
        running_mean = momentum * running_mean + (1 - momentum) * mu
        running_var = momentum * running_var + (1 - momentum) * var
    else:
        mu = running_mean
        var = running_var
    std = np.sqrt(var + eps)
    x_hat = (x - mu) / std
    out = gamma * x_hat + beta
    cache = {"x_hat": x_hat, "std": std, "gamma": gamma.copy(), "training": training}
    return out, running_mean, running_var, cache


def batch_norm_backward(grad_output, cache):
    x_hat, std, gamma = cache["x_hat"], cache["std"], cache["gamma"]
    if grad_output.shape != x_hat.shape:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected {x_hat.shape}")
    grad_gamma = (grad_output * x_hat).sum(axis=0)
    grad_beta = grad_output.sum(axis=0)
    dx_hat = grad_output * gamma
    if cache["training"]:
        mean_term = dx_hat.mean(axis=0)
        stretch_term = x_hat * (dx_hat * x_hat).mean(axis=0)
        grad_x = (dx_hat - mean_term - stretch_term) / std
    else:
        grad_x = dx_hat / std
    return grad_x, grad_gamma, grad_beta


class NeuralNetwork:
    def __init__(self, layers):
        if len(layers) == 0:
            raise ValueError("layers: empty, expected at least one layer")
        self.layers = list(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, grad_output):
        grad = grad_output
        for layer in reversed(self.layers):
            grad = layer.backward(grad)
        return grad

    @property
    def params(self):
        named = {}
        for i, layer in enumerate(self.layers):
            for key, value in layer.params.items():
                named[f"layers.{i}.{key}"] = value
        return named

    @property
    def grads(self):
        found = {}
        for i, layer in enumerate(self.layers):
            for key, value in layer.grads.items():
                found[f"layers.{i}.{key}"] = value
        return found


def check_targets(logits, targets):
    targets = np.asarray(targets)
    if logits.ndim != 2:
        raise ValueError(f"logits: shape {logits.shape}, expected (batch, classes)")
    if targets.shape != (len(logits),):
        raise ValueError(f"targets: shape {targets.shape}, expected ({len(logits)},)")
    whole = targets.astype(np.int64)
    if np.any(whole != targets) or np.any(whole < 0) or np.any(whole >= logits.shape[1]):
        raise ValueError(f"targets: expected whole numbers from 0 to {logits.shape[1] - 1}")
    return whole


def log_softmax(logits):
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def compute_loss(logits, targets):
    targets = check_targets(logits, targets)
    log_p = log_softmax(logits)
    chosen = log_p[np.arange(len(targets)), targets]
    return -chosen.mean()


def compute_loss_gradient(logits, targets):
    targets = check_targets(logits, targets)
    grad = np.exp(log_softmax(logits))
    grad[np.arange(len(targets)), targets] -= 1
    return grad / len(targets)


def train_step(network, X, y, learning_rate):
    logits = network.forward(X)
    loss = compute_loss(logits, y)
    network.backward(compute_loss_gradient(logits, y))
    for layer in network.layers:
        new = {}
        for key in layer.params:
            new[key] = layer.params[key] - learning_rate * layer.grads[key]
        layer.params = new
    return loss


def train(network, X, y, num_epochs, batch_size, learning_rate, rng):
    if batch_size < 1:
        raise ValueError(f"batch_size: {batch_size}, expected at least 1")
    if len(X) != len(y):
        raise ValueError(f"y: {len(y)} labels for {len(X)} samples, expected as many")
    n = len(X)
    history = {"loss": [], "accuracy": []}
    for _ in range(num_epochs):
        order = rng.permutation(n)
        total = 0.0
        for start in range(0, n, batch_size):
            rows = order[start : start + batch_size]
            batch_loss = train_step(network, X[rows], y[rows], learning_rate)
            total += batch_loss * len(rows)
        history["loss"].append(total / n)
        predicted = network.forward(X).argmax(axis=1)
        history["accuracy"].append(float(np.mean(predicted == y)))
    return history
