"""Feed-forward networks without a derivative of a layer: forward records steps, backward goes back through them."""

import numpy as np


class _Tape:
    """Values by number, and for each step how a gradient of its result comes back to its arguments."""

    def __init__(self):
        self.steps = []
        self.values = []

    def put(self, value):
        self.values.append(value)
        return len(self.values) - 1

    def record(self, value, *backs):
        result = self.put(value)
        self.steps.append((result, backs))
        return result

    def matmul(self, a, b):
        x, y = self.values[a], self.values[b]
        return self.record(x @ y, (a, lambda g: g @ y.T), (b, lambda g: x.T @ g))

    def add(self, a, b, sign=1):
        x, y = self.values[a], self.values[b]
        return self.record(x + sign * y, (a, lambda g: _fold(g, x)), (b, lambda g: _fold(sign * g, y)))

    def multiply(self, a, b):
        x, y = self.values[a], self.values[b]
        return self.record(x * y, (a, lambda g: _fold(g * y, x)), (b, lambda g: _fold(g * x, y)))

    def mean(self, a):
        x = self.values[a]
        return self.record(x.mean(axis=0), (a, lambda g: np.broadcast_to(g / len(x), x.shape)))

    def each(self, a, value, slope):
        return self.record(value, (a, lambda g: g * slope))

    def gradients(self, result, grad):
        found = {result: grad}
        for number, backs in reversed(self.steps):
            for source, back in backs:
                found[source] = found.get(source, 0) + back(found[number])
        return found


def _fold(grad, like):
    """Add up along the axis that was broadcast."""
    return grad.sum(axis=0) if grad.ndim > like.ndim else grad


def _sizes(*sizes):
    for size in sizes:
        if size < 1:
            raise ValueError(f"{size} is no size of a layer")


def xavier_uniform(fan_in, fan_out, rng):
    _sizes(fan_in, fan_out)
    limit = np.sqrt(6.0) / np.sqrt(fan_in + fan_out)
    return limit - 2 * limit * rng.random((fan_in, fan_out))


def he_normal(fan_in, fan_out, rng):
    _sizes(fan_in, fan_out)
    return rng.normal(size=(fan_in, fan_out)) / np.sqrt(fan_in / 2)


class Dense:
    def __init__(self, num_inputs, num_outputs, activation, rng):
        if activation not in ("relu", "tanh", "sigmoid", "linear"):
            raise ValueError(f"activation: {activation}")
        self.kind = activation
        draw = he_normal if activation == "relu" else xavier_uniform
        self.params = {"weights": draw(num_inputs, num_outputs, rng), "bias": np.zeros(num_outputs)}
        self.grads = {}
        self.tape = None

    def forward(self, x):
        if x.shape[1:] != self.params["weights"].shape[:1]:
            raise ValueError(f"x: {x.shape}")
        tape = self.tape = _Tape()
        for value in (x, self.params["weights"], self.params["bias"]):
            tape.put(value)
        z = tape.add(tape.matmul(0, 1), 2)
        self.result = self._activated(tape, z, tape.values[z])
        return tape.values[self.result]

    def _activated(self, tape, z, value):
        if self.kind == "relu":
            return tape.each(z, np.clip(value, 0, None), value > 0)
        if self.kind == "linear":
            return tape.each(z, value, 1)
        half = value if self.kind == "tanh" else value / 2
        curve = np.tanh(half)
        if self.kind == "tanh":
            return tape.each(z, curve, 1 - curve**2)
        return tape.each(z, 0.5 + 0.5 * curve, (1 - curve**2) / 4)

    def backward(self, grad_output):
        if self.tape is None:
            raise RuntimeError("nothing was recorded")
        if grad_output.shape != self.tape.values[self.result].shape:
            raise ValueError(f"grad_output: {grad_output.shape}")
        found = self.tape.gradients(self.result, grad_output)
        self.grads = {"weights": found[1], "bias": found[2]}
        return found[0]


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5):
    if x.ndim != 2 or (training and x.shape[0] in (0, 1)):
        raise ValueError(f"x: {x.shape}")
    if {gamma.shape, beta.shape, running_mean.shape, running_var.shape} != {x.shape[1:]}:
        raise ValueError("gamma, beta, running_mean, running_var: expected (features,)")
    tape = _Tape()
    for value in (x, gamma, beta):
        tape.put(value)
    mean = tape.mean(0) if training else tape.put(running_mean)
    centered = tape.add(0, mean, -1)
    variance = tape.mean(tape.multiply(centered, centered)) if training else tape.put(running_var)
    power = (tape.values[variance] + eps) ** -0.5
    inverse = tape.each(variance, power, -0.5 * power**3)
    result = tape.add(tape.multiply(tape.multiply(centered, inverse), 1), 2)
    if training:
        batch_mean, batch_var = tape.values[mean], tape.values[variance] * (len(x) / (len(x) - 1))
        running_mean = momentum * running_mean + (1 - momentum) * batch_mean
        running_var = momentum * running_var + (1 - momentum) * batch_var
    return tape.values[result], running_mean, running_var, (tape, result)


def batch_norm_backward(grad_output, cache):
    tape, result = cache
    if grad_output.shape != tape.values[result].shape:
        raise ValueError(f"grad_output: {grad_output.shape}")
    found = tape.gradients(result, grad_output)
    return found[0], found[1], found[2]


class NeuralNetwork:
    def __init__(self, layers):
        if layers == []:
            raise ValueError("layers: none")
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, grad_output):
        waiting = list(self.layers)
        while waiting:
            grad_output = waiting.pop().backward(grad_output)
        return grad_output

    @property
    def params(self):
        return {f"layers.{i}.{key}": layer.params[key] for i, layer in enumerate(self.layers) for key in layer.params}

    @property
    def grads(self):
        return {f"layers.{i}.{key}": layer.grads[key] for i, layer in enumerate(self.layers) for key in layer.grads}


def _loss_and_gradient(logits, targets):
    if logits.ndim != 2 or targets.shape != (len(logits),) or not set(targets.tolist()) <= set(range(logits.shape[1])):
        raise ValueError("logits, targets: expected (batch, classes) and a class for each sample")
    rows, targets = np.arange(len(logits)), targets.astype(int)
    tape = _Tape()
    tape.put(logits)
    shifted = tape.record(logits - logits.max(axis=1, keepdims=True), (0, lambda g: g))  # its maximum changes nothing
    powers = np.exp(tape.values[shifted])
    totals = powers.sum(axis=1, keepdims=True)
    logs = tape.record(np.log(totals)[:, 0], (shifted, lambda g: g[:, None] * powers / totals))

    def spread(g):
        whole = np.zeros_like(logits, dtype=g.dtype)
        whole[rows, targets] = g
        return whole

    own = tape.record(tape.values[shifted][rows, targets], (shifted, spread))
    result = tape.mean(tape.add(logs, own, -1))
    found = tape.gradients(result, np.ones((), dtype=tape.values[result].dtype))
    return tape.values[result], found[0]


def compute_loss(logits, targets):
    return _loss_and_gradient(logits, targets)[0]


def compute_loss_gradient(logits, targets):
    return _loss_and_gradient(logits, targets)[1]


def train_step(network, X, y, learning_rate):
    loss, grad = _loss_and_gradient(network.forward(X), y)
    network.backward(grad)
    for layer in network.layers:
        layer.params.update({key: layer.params[key] - learning_rate * layer.grads[key] for key in layer.grads})
    return loss


def train(network, X, y, num_epochs, batch_size, learning_rate, rng):
    if batch_size < 1 or len(X) != len(y):
        raise ValueError("batch_size below 1, or X and y of different lengths")
    history = {"loss": [], "accuracy": []}
    for _ in range(num_epochs):
        order = list(rng.choice(len(X), size=len(X), replace=False))
        losses = []
        while order:
            batch = [order.pop() for _ in range(min(batch_size, len(order)))]
            losses += [train_step(network, X[batch], y[batch], learning_rate)] * len(batch)
        history["loss"].append(np.mean(losses))
        history["accuracy"].append(np.mean(network.forward(X).argmax(axis=1) == y))
    return history
