"""Feed-forward networks by einsum, one-hot rows and log-add-exp; batch normalisation goes back step by step."""

import numpy as np


def _sigmoid(z):
    return np.exp(-np.logaddexp(0, -z))


_CURVES = {"relu": lambda z: np.where(z > 0, z, 0 * z), "tanh": np.tanh, "sigmoid": _sigmoid, "linear": np.positive}
_SLOPES = {
    "relu": np.heaviside,
    "tanh": lambda z, _: 1 - np.square(np.tanh(z)),
    "sigmoid": lambda z, _: _sigmoid(z) * _sigmoid(-z),
    "linear": lambda z, _: np.ones_like(z),
}


def _need(truth, message):
    if not truth:
        raise ValueError(message)


def xavier_uniform(fan_in, fan_out, rng):
    _need(fan_in > 0 and fan_out > 0, "fan_in and fan_out: expected 1 or more")
    return np.sqrt(6 / (fan_in + fan_out)) * rng.uniform(-1, 1, (fan_out, fan_in)).T


def he_normal(fan_in, fan_out, rng):
    _need(fan_in > 0 and fan_out > 0, "fan_in and fan_out: expected 1 or more")
    return np.sqrt(2 / fan_in) * rng.standard_normal((fan_out, fan_in)).T


class Dense:
    def __init__(self, num_inputs, num_outputs, activation, rng):
        _need(activation in _CURVES, f"activation: {activation}")
        draw = {"relu": he_normal}.get(activation, xavier_uniform)
        self._curve, self._slope = _CURVES[activation], _SLOPES[activation]
        self.params = {"weights": draw(num_inputs, num_outputs, rng), "bias": np.zeros(num_outputs)}
        self.grads = {}
        self._seen = ()

    def forward(self, x):
        _need(x.ndim == 2 and x.shape[1] == len(self.params["weights"]), f"x: {x.shape}")
        z = np.einsum("ni,io->no", x, self.params["weights"]) + self.params["bias"][None]
        self._seen = x, z
        return self._curve(z)

    def backward(self, grad_output):
        if not self._seen:
            raise RuntimeError("no forward call yet")
        x, z = self._seen
        _need(grad_output.shape == z.shape, f"grad_output: {grad_output.shape}")
        grad_z = grad_output * self._slope(z, z.dtype.type(0))
        self.grads = {"weights": np.einsum("ni,no->io", x, grad_z), "bias": np.einsum("no->o", grad_z)}
        return np.einsum("no,io->ni", grad_z, self.params["weights"])


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5):
    _need(x.ndim == 2, f"x: {x.shape}")
    _need(not training or x.shape[0] >= 2, "x: expected 2 samples or more in training")
    for vector in (gamma, beta, running_mean, running_var):
        _need(vector.shape == x[0].shape if len(x) else False, f"a vector has shape {vector.shape}")
    if training:
        mean = np.einsum("nf->f", x) / len(x)
        centered = x - mean
        variance = np.einsum("nf,nf->f", centered, centered) / len(x)
        running_mean = running_mean + (1 - momentum) * (mean - running_mean)
        running_var = running_var + (1 - momentum) * (variance - running_var)
    else:
        centered, variance = x - running_mean, running_var
    root = np.sqrt(variance + eps)
    output = gamma * (centered / root) + beta
    return output, running_mean, running_var, {"centered": centered, "root": root, "gamma": gamma, "training": training}


def batch_norm_backward(grad_output, cache):
    centered, root, gamma = cache["centered"], cache["root"], cache["gamma"]
    _need(grad_output.shape == centered.shape, f"grad_output: {grad_output.shape}")
    of_gamma = np.einsum("nf,nf->f", grad_output, centered / root)
    of_normalized = gamma * grad_output
    of_centered = of_normalized / root
    if cache["training"]:
        of_root = -np.einsum("nf,nf->f", of_normalized, centered) / root**2
        of_variance = of_root / (2 * root)
        of_centered = of_centered + of_variance * 2 * centered / len(centered)
        of_centered = of_centered - np.einsum("nf->f", of_centered) / len(centered)  # the mean was subtracted
    return of_centered, of_gamma, np.einsum("nf->f", grad_output)


class NeuralNetwork:
    def __init__(self, layers):
        _need(bool(layers), "layers: expected one or more")
        self.layers = tuple(layers)

    def forward(self, x):
        output = x
        for layer in self.layers:
            output = layer.forward(output)
        return output

    def backward(self, grad_output):
        for layer in self.layers[::-1]:
            grad_output = layer.backward(grad_output)
        return grad_output

    @property
    def params(self):
        return dict(self._pairs("params"))

    @property
    def grads(self):
        return dict(self._pairs("grads"))

    def _pairs(self, which):
        for number, layer in enumerate(self.layers):
            yield from ((f"layers.{number}.{key}", value) for key, value in getattr(layer, which).items())


def _parts(logits, targets):
    _need(logits.ndim == 2 and targets.shape == (logits.shape[0],), "logits, targets: shapes")
    classes = np.arange(logits.shape[1])
    one_hot = targets[:, None] == classes
    _need(one_hot.any(axis=1).all(), "targets: expected classes")
    return logits - np.logaddexp.reduce(logits, axis=1, keepdims=True), one_hot.astype(logits.dtype)


def compute_loss(logits, targets):
    log_p, one_hot = _parts(logits, targets)
    return -np.einsum("nk,nk->", log_p, one_hot) / len(targets)


def compute_loss_gradient(logits, targets):
    log_p, one_hot = _parts(logits, targets)
    return (np.exp(log_p) - one_hot) / len(targets)


def train_step(network, X, y, learning_rate):
    logits = network.forward(X)
    network.backward(compute_loss_gradient(logits, y))
    for layer in network.layers:
        for name, grad in layer.grads.items():
            layer.params[name] -= learning_rate * grad  # in place: the network is meant to change
    return compute_loss(logits, y)


def train(network, X, y, num_epochs, batch_size, learning_rate, rng):
    _need(batch_size >= 1, f"batch_size: {batch_size}")
    _need(len(X) == len(y), "X and y differ in length")
    history = np.zeros((2, num_epochs))
    for epoch in range(num_epochs):
        X, y = _shuffled(X, y, rng)
        for batch in np.split(np.arange(len(y)), range(batch_size, len(y), batch_size)):
            history[0, epoch] += train_step(network, X[batch], y[batch], learning_rate) * len(batch) / len(y)
        history[1, epoch] = (network.forward(X).argmax(axis=1) == y).mean()
    return dict(zip(("loss", "accuracy"), history.tolist(), strict=True))


def _shuffled(X, y, rng):
    order = np.argsort(rng.random(len(y)))
    return X[order], y[order]
