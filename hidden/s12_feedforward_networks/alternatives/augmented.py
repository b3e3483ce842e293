"""Feed-forward networks whose bias is one more row of the weights, with the eps of batch normalisation outside."""

import numpy as np


def _drawn(fan_in, fan_out, values):
    if fan_in < 1 or fan_out < 1:
        raise ValueError(f"fan_in {fan_in}, fan_out {fan_out}: expected 1 or more")
    return values()


def xavier_uniform(fan_in, fan_out, rng):
    return _drawn(fan_in, fan_out, lambda: _uniform((6 / (fan_in + fan_out)) ** 0.5, (fan_in, fan_out), rng))


def _uniform(limit, shape, rng):
    return np.reshape([rng.uniform(-limit, limit) for _ in range(shape[0] * shape[1])], shape)


def he_normal(fan_in, fan_out, rng):
    return _drawn(fan_in, fan_out, lambda: rng.normal(scale=(2 / fan_in) ** 0.5, size=(fan_in, fan_out)))


def _relu(z):
    return (z + np.abs(z)) / 2, (np.sign(z) > 0).astype(z.dtype)


def _tanh(z):
    value = np.tanh(z)
    return value, (1 - value) * (1 + value)


def _sigmoid(z):
    value = np.tanh(z / 2)
    return (value + 1) / 2, (1 - value * value) / 4


def _linear(z):
    return z, np.ones_like(z)


class Dense:
    def __init__(self, num_inputs, num_outputs, activation, rng):
        known = {"relu": _relu, "tanh": _tanh, "sigmoid": _sigmoid, "linear": _linear}
        if activation not in known:
            raise ValueError(f"activation {activation}: expected one of {sorted(known)}")
        self._curve = known[activation]
        draw = xavier_uniform if activation != "relu" else he_normal
        self._table = np.vstack([draw(num_inputs, num_outputs, rng), np.zeros(num_outputs)])
        self._slopes = self._grad_table = None

    @property
    def params(self):
        return {"weights": self._table[:-1], "bias": self._table[-1]}

    @params.setter
    def params(self, params):
        self._table = np.vstack([params["weights"], params["bias"]])

    @property
    def grads(self):
        return {} if self._grad_table is None else {"weights": self._grad_table[:-1], "bias": self._grad_table[-1]}

    def forward(self, x):
        if x.ndim != 2 or x.shape[1] + 1 != len(self._table):
            raise ValueError(f"x {x.shape}: expected (batch, {len(self._table) - 1})")
        self._x = np.hstack([x, np.ones((len(x), 1), dtype=x.dtype)])
        output, self._slopes = self._curve(self._x @ self._table)
        return output

    def backward(self, grad_output):
        if self._slopes is None:
            raise RuntimeError("backward before forward")
        if grad_output.shape != self._slopes.shape:
            raise ValueError(f"grad_output {grad_output.shape}: expected {self._slopes.shape}")
        grad = grad_output * self._slopes
        self._grad_table = self._x.T @ grad
        return (grad @ self._table.T)[:, :-1]


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5):
    if np.ndim(x) != 2:
        raise ValueError("x: expected (batch, features)")
    for vector in (gamma, beta, running_mean, running_var):
        if np.shape(vector) != (x.shape[1],):
            raise ValueError("vectors: expected (features,)")
    if not training:
        factor = 1 / (np.sqrt(running_var) + eps)
        normalized = (x - running_mean) * factor
        back = np.eye(len(x), dtype=x.dtype)
        return normalized * gamma + beta, running_mean, running_var, (normalized, gamma * factor, back, None)
    if len(x) < 2:
        raise ValueError("x: expected 2 samples or more")
    kind = np.result_type(x, 1.0)  # of whole numbers: float64
    center = np.eye(len(x), dtype=kind) - kind.type(1 / len(x))  # the matrix that subtracts the mean
    mean = x.mean(axis=0)
    centered = x - mean
    deviation = np.sqrt((centered * centered).mean(axis=0))
    normalized = centered / (deviation + eps)
    unit = centered / np.where(deviation > 0, deviation, 1)
    updated = [
        momentum * old + (1 - momentum) * new for old, new in ((running_mean, mean), (running_var, deviation**2))
    ]
    return normalized * gamma + beta, *updated, (normalized, gamma / (deviation + eps), center, unit)


def batch_norm_backward(grad_output, cache):
    normalized, factor, center, unit = cache
    if grad_output.shape != normalized.shape:
        raise ValueError("grad_output: expected the shape of the output")
    grad_x = center @ grad_output
    if unit is not None:
        grad_x = grad_x - unit * (grad_output * normalized).mean(axis=0)
    return grad_x * factor, (grad_output * normalized).sum(axis=0), grad_output.sum(axis=0)


class NeuralNetwork:
    def __init__(self, layers):
        if not len(layers):
            raise ValueError("layers: expected at least one")
        self.layers = layers

    def forward(self, x):
        return self._forward(x, 0)

    def _forward(self, x, number):
        return x if number == len(self.layers) else self._forward(self.layers[number].forward(x), number + 1)

    def backward(self, grad_output):
        return self._backward(grad_output, len(self.layers))

    def _backward(self, grad, number):
        return grad if number == 0 else self._backward(self.layers[number - 1].backward(grad), number - 1)

    params = property(lambda self: self._named([layer.params for layer in self.layers]))
    grads = property(lambda self: self._named([layer.grads for layer in self.layers]))

    def _named(self, tables):
        return {f"layers.{number}.{name}": table[name] for number, table in enumerate(tables) for name in table}


def _shares(logits, targets):
    if np.ndim(logits) != 2 or np.shape(targets) != (len(logits),):
        raise ValueError("logits, targets: expected (batch, classes), (batch,)")
    if np.any(targets < 0) or np.any(targets > logits.shape[1] - 1) or np.any(targets % 1):
        raise ValueError("targets: expected classes")
    targets = targets.astype(np.int64)
    others = logits - np.take_along_axis(logits, targets[:, None], axis=1)  # what each class is ahead of the true one
    peak = others.max(axis=1, keepdims=True)
    powers = np.exp(others - peak)
    return powers / powers.sum(axis=1, keepdims=True), peak[:, 0] + np.log(powers.sum(axis=1))


def compute_loss(logits, targets):
    return float(np.average(_shares(logits, targets)[1]))


def compute_loss_gradient(logits, targets):
    shares = _shares(logits, targets)[0]
    targets = targets.astype(np.int64)
    np.put_along_axis(shares, targets[:, None], np.take_along_axis(shares, targets[:, None], axis=1) - 1, axis=1)
    shares /= len(targets)
    return shares


def train_step(network, X, y, learning_rate):
    logits = network.forward(X)
    loss = compute_loss(logits, y)
    network.backward(compute_loss_gradient(logits, y))
    for layer in network.layers:
        layer.params = {
            "weights": layer.params["weights"] - learning_rate * layer.grads["weights"],
            "bias": layer.params["bias"] - learning_rate * layer.grads["bias"],
        }
    return loss


def train(network, X, y, num_epochs, batch_size, learning_rate, rng):
    if not batch_size >= 1 or len(X) != len(y):
        raise ValueError("batch_size: at least 1; X and y: of one length")
    orders = [rng.permutation(len(X)) for _ in range(num_epochs)]  # all drawn before the first step
    history = {"loss": [], "accuracy": []}
    for order in orders:
        losses = np.zeros(len(X))
        for batch in np.array_split(order, np.arange(batch_size, len(X), batch_size)):
            losses[batch] = train_step(network, X[batch], y[batch], learning_rate)
        history["loss"].append(losses.mean())
        history["accuracy"].append(np.count_nonzero(np.argmax(network.forward(X), axis=-1) == y) / len(y))
    return history
