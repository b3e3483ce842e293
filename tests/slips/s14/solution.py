"""Recurrent networks, written from the README and the stubs of their stage alone; what the slips beside it edit."""

import math

import numpy as np


def _expect(name, array, shape):
    if np.shape(array) != tuple(shape):
        raise ValueError(f"{name}: shape {np.shape(array)}, expected {tuple(shape)}")


def _check_step(x, states, weights, blocks):
    """Raise ValueError unless a step's input, states and weights fit one another."""
    if np.ndim(x) != 2:
        raise ValueError(f"x: shape {np.shape(x)}, expected (batch, features)")
    batch, features = np.shape(x)
    if np.ndim(states[0]) != 2:
        raise ValueError(f"h: shape {np.shape(states[0])}, expected (batch, hidden)")
    hidden = np.shape(states[0])[1]
    for name, state in zip(("h", "c"), states, strict=False):
        _expect(name, state, (batch, hidden))
    _expect("W_x", weights["W_x"], (features, blocks * hidden))
    _expect("W_h", weights["W_h"], (hidden, blocks * hidden))
    for name in set(weights) - {"W_x", "W_h"}:
        _expect(name, weights[name], (blocks * hidden,))


def _sigmoid(z):
    return 0.5 * (1 + np.tanh(0.5 * z))


def _positive_integer(name, value):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}: {value}, expected a positive integer")


def rnn_cell_forward(x, h, weights):
    _check_step(x, (h,), weights, 1)
    h_next = np.tanh(x @ weights["W_x"] + h @ weights["W_h"] + weights["b"])
    return h_next, (x, h, h_next, weights)


def rnn_cell_backward(grad_h_next, cache):
    x, h, h_next, weights = cache
    _expect("grad_h_next", grad_h_next, h_next.shape)
    grad_sum = grad_h_next * (1 - h_next**2)
    grad_weights = {"W_x": x.T @ grad_sum, "W_h": h.T @ grad_sum, "b": grad_sum.sum(axis=0)}
    grad_x = grad_sum @ weights["W_x"].T
    grad_h = grad_sum @ weights["W_h"].T
    return grad_x, grad_h, grad_weights


def _check_sequence(x):
    if np.ndim(x) != 3 or np.shape(x)[1] < 1:
        raise ValueError(f"x: shape {np.shape(x)}, expected (batch, time, features) with at least one step")


def _add_into(totals, grads):
    for name, grad in grads.items():
        totals[name] = totals[name] + grad if name in totals else grad


def rnn_forward(x, h0, weights):
    _check_sequence(x)
    h, hs, caches = h0, [], []
    for t in range(x.shape[1]):
        h, cache = rnn_cell_forward(x[:, t], h, weights)
        hs.append(h)
        caches.append(cache)
    return np.stack(hs, axis=1), caches


def rnn_backward(grad_hs, caches):
    batch, hidden = caches[0][2].shape
    _expect("grad_hs", grad_hs, (batch, len(caches), hidden))
    grad_xs = [None] * len(caches)
    totals = {}
    grad_h = np.zeros_like(grad_hs[:, 0])
    for t in reversed(range(len(caches))):
        grad_xs[t], grad_h, grads = rnn_cell_backward(grad_hs[:, t] + grad_h, caches[t])
        _add_into(totals, grads)
    return np.stack(grad_xs, axis=1), grad_h, totals


def lstm_cell_forward(x, h, c, weights):
    _check_step(x, (h, c), weights, 4)
    sums = x @ weights["W_x"] + h @ weights["W_h"] + weights["b"]
    i, f, g, o = np.split(sums, 4, axis=1)
    i = _sigmoid(i)
    f = _sigmoid(f)
    g = np.tanh(g)
    o = _sigmoid(o)
    c_next = f * c + i * g
    h_next = o * np.tanh(c_next)
    return h_next, c_next, (x, h, c, weights, i, f, g, o, c_next)


def lstm_cell_backward(grad_h_next, grad_c_next, cache):
    x, h, c, weights, i, f, g, o, c_next = cache
    _expect("grad_h_next", grad_h_next, c_next.shape)
    _expect("grad_c_next", grad_c_next, c_next.shape)
    shown = np.tanh(c_next)
    dc = grad_c_next + grad_h_next * o * (1 - shown**2)
    di = dc * g * i * (1 - i)
    df = dc * c * f * (1 - f)
    dg = dc * i * (1 - g**2)
    do = grad_h_next * shown * o * (1 - o)
    dsums = np.concatenate([di, df, dg, do], axis=1)
    grads = {"W_x": x.T @ dsums, "W_h": h.T @ dsums, "b": dsums.sum(axis=0)}
    return dsums @ weights["W_x"].T, dsums @ weights["W_h"].T, dc * f, grads


def lstm_forward(x, h0, c0, weights):
    _check_sequence(x)
    h, c = h0, c0
    hs, cs, caches = [], [], []
    for t in range(x.shape[1]):
        h, c, cache = lstm_cell_forward(x[:, t], h, c, weights)
        hs.append(h)
        cs.append(c)
        caches.append(cache)
    return np.stack(hs, axis=1), np.stack(cs, axis=1), caches


def lstm_backward(grad_hs, grad_cs, caches):
    batch, hidden = caches[0][-1].shape
    _expect("grad_hs", grad_hs, (batch, len(caches), hidden))
    _expect("grad_cs", grad_cs, (batch, len(caches), hidden))
    grad_xs = [None] * len(caches)
    totals = {}
    dh = np.zeros_like(grad_hs[:, 0])
    dc = np.zeros_like(grad_cs[:, 0])
    for t in range(len(caches) - 1, -1, -1):
        grad_xs[t], dh, dc, grads = lstm_cell_backward(grad_hs[:, t] + dh, grad_cs[:, t] + dc, caches[t])
        _add_into(totals, grads)
    return np.stack(grad_xs, axis=1), dh, dc, totals


def gru_cell_forward(x, h, weights):
    _check_step(x, (h,), weights, 3)
    r_x, z_x, n_x = np.split(x @ weights["W_x"] + weights["b_x"], 3, axis=1)
    r_h, z_h, n_h = np.split(h @ weights["W_h"] + weights["b_h"], 3, axis=1)
    r = _sigmoid(r_x + r_h)
    z = _sigmoid(z_x + z_h)
    n = np.tanh(n_x + r * n_h)
    h_next = (1 - z) * n + z * h
    return h_next, (x, h, weights, r, z, n, n_h)


def gru_cell_backward(grad_h_next, cache):
    x, h, weights, r, z, n, n_h = cache
    _expect("grad_h_next", grad_h_next, n.shape)
    dn = grad_h_next * (1 - z) * (1 - n**2)
    dr = dn * n_h * r * (1 - r)
    dz = grad_h_next * (h - n) * z * (1 - z)
    d_x = np.concatenate([dr, dz, dn], axis=1)
    d_h = np.concatenate([dr, dz, dn * r], axis=1)
    grads = {"W_x": x.T @ d_x, "W_h": h.T @ d_h, "b_x": d_x.sum(axis=0), "b_h": d_h.sum(axis=0)}
    grad_x = d_x @ weights["W_x"].T
    grad_h = d_h @ weights["W_h"].T + grad_h_next * z
    return grad_x, grad_h, grads


def gru_forward(x, h0, weights):
    _check_sequence(x)
    h, hs, caches = h0, [], []
    for step in range(x.shape[1]):
        h, cache = gru_cell_forward(x[:, step], h, weights)
        hs.append(h)
        caches.append(cache)
    return np.stack(hs, axis=1), caches


def gru_backward(grad_hs, caches):
    batch, hidden = caches[0][-1].shape
    _expect("grad_hs", grad_hs, (batch, len(caches), hidden))
    grad_xs = [None] * len(caches)
    totals = {}
    carried = np.zeros_like(grad_hs[:, 0])
    for step in reversed(range(len(caches))):
        arriving = grad_hs[:, step] + carried
        grad_xs[step], carried, grads = gru_cell_backward(arriving, caches[step])
        _add_into(totals, grads)
    return np.stack(grad_xs, axis=1), carried, totals


def clip_gradients(grads, max_norm):
    if not max_norm > 0:
        raise ValueError(f"max_norm: {max_norm}, expected a positive number")
    total = 0.0
    for grad in grads.values():
        total += float(np.sum(np.asarray(grad, dtype=np.float64) ** 2))
    norm = math.sqrt(total)
    factor = max_norm / norm if norm > max_norm else 1.0
    return {name: grad * factor for name, grad in grads.items()}, norm


def create_sequences(data, length, stride):
    data = np.asarray(data)
    _positive_integer("length", length)
    _positive_integer("stride", stride)
    if data.ndim < 1 or len(data) < length + 1:
        raise ValueError(f"data: shape {data.shape}, expected at least {length + 1} steps")
    inputs, targets = [], []
    for start in range(0, len(data) - length, stride):
        inputs.append(data[start : start + length])
        targets.append(data[start + 1 : start + length + 1])
    return np.stack(inputs), np.stack(targets)


def sequence_loss(logits, targets, mask):
    logits, targets = np.asarray(logits), np.asarray(targets)
    if logits.ndim != 3:
        raise ValueError(f"logits: shape {logits.shape}, expected (batch, time, classes)")
    batch, time, classes = logits.shape
    _expect("targets", targets, (batch, time))
    real = np.ones((batch, time), dtype=bool) if mask is None else np.asarray(mask).astype(bool)
    real = np.broadcast_to(real, (batch, time))
    wanted = targets[real]
    if np.any((wanted < 0) | (wanted >= classes) | (wanted != np.floor(wanted))):
        raise ValueError(f"targets: {wanted}, expected classes from 0 to {classes - 1}")
    count = max(int(real.sum()), 1)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    places = (*np.nonzero(real), wanted.astype(int))
    loss = -np.sum(log_p[places]) / count
    grad = np.exp(log_p)
    grad[places] -= 1
    grad[~real] = 0
    return float(loss), grad / count


class LSTM:
    def __init__(self, num_inputs, num_hidden, rng):
        _positive_integer("num_inputs", num_inputs)
        _positive_integer("num_hidden", num_hidden)
        self.num_inputs, self.num_hidden = num_inputs, num_hidden
        bias = np.zeros(4 * num_hidden)
        bias[num_hidden : 2 * num_hidden] = 1
        self.params = {
            "W_x": rng.normal(0, 1 / math.sqrt(num_inputs), (num_inputs, 4 * num_hidden)),
            "W_h": rng.normal(0, 1 / math.sqrt(num_hidden), (num_hidden, 4 * num_hidden)),
            "b": bias,
        }
        self.grads = {}
        self.state = None
        self.cache = None

    def forward(self, x, state=None):
        x = np.asarray(x)
        _check_sequence(x)
        if state is None:
            zeros = np.zeros((x.shape[0], self.num_hidden), dtype=x.dtype)
            state = (zeros, zeros)
        h0, c0 = state
        hs, cs, self.cache = lstm_forward(x, h0, c0, self.params)
        self.state = hs[:, -1], cs[:, -1]
        return hs

    def backward(self, grad_hs):
        if self.cache is None:
            raise RuntimeError("backward: forward has not been called")
        grad_x, _, _, self.grads = lstm_backward(grad_hs, np.zeros_like(grad_hs), self.cache)
        return grad_x
