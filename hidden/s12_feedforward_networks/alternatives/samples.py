"""Feed-forward networks one sample at a time: no product of whole batches, gradients added up sample by sample."""

import numpy as np


def _curve(name, z):
    if name == "relu":
        return z * (z > 0)
    if name == "tanh":
        return np.tanh(z)
    if name == "sigmoid":
        powers = np.exp(-np.abs(z))
        return np.where(z >= 0, 1, powers) / (1 + powers)
    if name == "linear":
        return z + 0
    raise ValueError(f"activation: {name}, expected relu, tanh, sigmoid or linear")


def _slope(name, z):
    if name == "relu":
        return (z > 0).astype(z.dtype)
    if name == "tanh":
        return 1 - np.tanh(z) ** 2
    if name == "sigmoid":
        return _curve(name, z) * _curve(name, -z)
    return np.ones_like(z)


def xavier_uniform(fan_in, fan_out, rng):
    if min(fan_in, fan_out) < 1:
        raise ValueError("fan_in, fan_out: expected at least 1")
    return (2 * rng.random((fan_in, fan_out)) - 1) * (6.0 / (fan_in + fan_out)) ** 0.5


def he_normal(fan_in, fan_out, rng):
    if min(fan_in, fan_out) < 1:
        raise ValueError("fan_in, fan_out: expected at least 1")
    return rng.normal(0.0, (2.0 / fan_in) ** 0.5, size=(fan_in, fan_out))


class Dense:
    def __init__(self, num_inputs, num_outputs, activation, rng):
        _curve(activation, np.zeros(1))
        self.activation = activation
        weights = (he_normal if activation == "relu" else xavier_uniform)(num_inputs, num_outputs, rng)
        self.params = {"weights": weights, "bias": np.zeros(num_outputs)}
        self.grads = {}
        self.seen = None

    def forward(self, x):
        weights, bias = self.params["weights"], self.params["bias"]
        if x.ndim != 2 or x.shape[1] != weights.shape[0]:
            raise ValueError(f"x: {x.shape}, expected (batch, {weights.shape[0]})")
        self.seen = [(sample, sample @ weights + bias) for sample in x]
        return np.array([_curve(self.activation, z) for _, z in self.seen])

    def backward(self, grad_output):
        if self.seen is None:
            raise RuntimeError("forward comes first")
        weights = self.params["weights"]
        if grad_output.shape != (len(self.seen), weights.shape[1]):
            raise ValueError(f"grad_output: {grad_output.shape}")
        of_weights, of_bias, of_x = np.zeros_like(weights), np.zeros_like(self.params["bias"]), []
        for (sample, z), grad in zip(self.seen, grad_output, strict=True):
            grad_z = grad * _slope(self.activation, z)
            of_weights += np.outer(sample, grad_z)
            of_bias += grad_z
            of_x.append(weights @ grad_z)
        self.grads = {"weights": of_weights, "bias": of_bias}
        return np.array(of_x)


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5):
    if x.ndim != 2:
        raise ValueError("x: expected two axes")
    count, features = x.shape
    if any(vector.shape != (features,) for vector in (gamma, beta, running_mean, running_var)):
        raise ValueError("gamma, beta and the running statistics: expected (features,)")
    if not training:
        inverse = 1 / np.sqrt(running_var + eps)
        rows = [(sample - running_mean) * inverse for sample in x]
        return np.array([gamma * row + beta for row in rows]), running_mean, running_var, (rows, gamma * inverse, False)
    if count < 2:
        raise ValueError("x: expected two samples at least")
    mean, squares = np.zeros_like(x[0]), np.zeros_like(x[0])
    for number, sample in enumerate(x, start=1):  # Welford
        away = sample - mean
        mean = mean + away / number
        squares = squares + away * (sample - mean)
    inverse = 1 / np.sqrt(squares / count + eps)
    rows = [(sample - mean) * inverse for sample in x]
    running_mean = running_mean * momentum + mean * (1 - momentum)
    running_var = running_var * momentum + squares / (count - 1) * (1 - momentum)  # what the paper keeps
    return np.array([gamma * row + beta for row in rows]), running_mean, running_var, (rows, gamma * inverse, True)


def batch_norm_backward(grad_output, cache):
    rows, scale, training = cache
    if grad_output.shape != (len(rows), len(scale)):
        raise ValueError("grad_output: expected the shape of the output")
    of_gamma, of_beta = np.zeros_like(scale), np.zeros_like(scale)
    for row, grad in zip(rows, grad_output, strict=True):
        of_gamma += row * grad
        of_beta += grad
    if not training:
        return np.array([grad * scale for grad in grad_output]), of_gamma, of_beta
    shared = [of_beta / len(rows) + row * (of_gamma / len(rows)) for row in rows]
    of_x = [(grad - common) * scale for grad, common in zip(grad_output, shared, strict=True)]
    return np.array(of_x), of_gamma, of_beta


class NeuralNetwork:
    def __init__(self, layers):
        if len(layers) == 0:
            raise ValueError("layers: expected one at least")
        self.layers = list(layers)

    def forward(self, x):
        for number in range(len(self.layers)):
            x = self.layers[number].forward(x)
        return x

    def backward(self, grad_output):
        for number in range(len(self.layers) - 1, -1, -1):
            grad_output = self.layers[number].backward(grad_output)
        return grad_output

    @property
    def params(self):
        found = {}
        for number, layer in enumerate(self.layers):
            for key in layer.params:
                found[f"layers.{number}.{key}"] = layer.params[key]
        return found

    @property
    def grads(self):
        found = {}
        for number, layer in enumerate(self.layers):
            for key in layer.grads:
                found[f"layers.{number}.{key}"] = layer.grads[key]
        return found


def _check(logits, targets):
    if logits.ndim != 2 or targets.ndim != 1 or len(targets) != len(logits):
        raise ValueError("logits, targets: expected (batch, classes) and (batch,)")
    for target in targets:
        if target not in range(logits.shape[1]):
            raise ValueError(f"targets: {target} is no class")


def compute_loss(logits, targets):
    _check(logits, targets)
    total = 0.0
    for row, target in zip(logits, targets, strict=True):
        peak = row.max()
        total += peak + np.log(np.exp(row - peak).sum()) - row[int(target)]
    return total / len(logits)


def compute_loss_gradient(logits, targets):
    _check(logits, targets)
    grad = np.empty_like(logits, dtype=np.result_type(logits, 1.0))
    for i, (row, target) in enumerate(zip(logits, targets, strict=True)):
        powers = np.exp(row - row.max())
        grad[i] = powers / powers.sum()
        grad[i, int(target)] -= 1
    return grad / len(logits)


def train_step(network, X, y, learning_rate):
    logits = network.forward(X)
    network.backward(compute_loss_gradient(logits, y))
    for layer in network.layers:
        for key in list(layer.params):
            layer.params[key] = layer.params[key] - learning_rate * layer.grads[key]
    return compute_loss(logits, y)


def train(network, X, y, num_epochs, batch_size, learning_rate, rng):
    if batch_size <= 0:
        raise ValueError("batch_size: expected at least 1")
    if X.shape[0] != y.shape[0]:
        raise ValueError("X and y: expected the same length")
    losses, accuracies = [], []
    for _ in range(num_epochs):
        left, total = list(range(len(y))), 0.0
        rng.shuffle(left)
        while left:
            batch, left = left[:batch_size], left[batch_size:]
            total += train_step(network, X[batch], y[batch], learning_rate) * len(batch)
        losses.append(float(total / len(y)))
        accuracies.append(float(np.mean(np.argmax(network.forward(X), axis=1) == y)))
    return {"loss": losses, "accuracy": accuracies}
