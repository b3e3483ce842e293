"""Forward only: each operation writes down how to go back, and one reverse walk over the tape gives every gradient."""

import numpy as np


class _Value:
    """An array, the values that it was made from, and for each of them how its gradient follows."""

    def __init__(self, data, *sources):
        self.data, self.sources, self.grad = data, sources, 0

    def __add__(self, other):
        return _Value(self.data + other.data, (self, lambda g: g), (other, lambda g: g))

    def __mul__(self, other):
        return _Value(self.data * other.data, (self, lambda g: g * other.data), (other, lambda g: g * self.data))

    def __sub__(self, other):
        return _Value(self.data - other.data, (self, lambda g: g), (other, lambda g: -g))

    def __matmul__(self, other):
        return _Value(self.data @ other.data, (self, lambda g: g @ other.data.T), (other, lambda g: self.data.T @ g))

    def plus_row(self, row):
        return _Value(self.data + row.data, (self, lambda g: g), (row, lambda g: np.add.reduce(g, axis=0)))

    def tanh(self):
        result = np.tanh(self.data)
        return _Value(result, (self, lambda g: g - g * result * result))

    def sigmoid(self):
        with np.errstate(over="ignore"):
            result = 1 / (1 + np.exp(-self.data))
        return _Value(result, (self, lambda g: g * result * (1 - result)))

    def block(self, number, count):
        size = self.data.shape[1] // count
        part = slice(number * size, (number + 1) * size)

        def spread(g):
            whole = np.zeros(self.data.shape, g.dtype)
            whole[:, part] = g
            return whole

        return _Value(self.data[:, part], (self, spread))

    def at(self, t):
        def spread(g):
            whole = np.zeros(self.data.shape, g.dtype)
            whole[:, t] = g
            return whole

        return _Value(self.data[:, t], (self, spread))


def _walk(outputs, leaves, grads):
    """The gradients of the leaves; every value is visited after all that was made from it."""
    order, seen, waiting = [], set(), [(value, False) for value in outputs]
    while waiting:
        value, done = waiting.pop()
        if done:
            order.append(value)
        elif id(value) not in seen:
            seen.add(id(value))
            waiting.append((value, True))
            waiting.extend((source, False) for source, _ in value.sources)
    for value in [*order, *leaves]:
        value.grad = np.zeros_like(value.data)
    for value, grad in zip(outputs, grads):
        value.grad = value.grad + grad
    for value in reversed(order):
        for source, back in value.sources:
            source.grad = source.grad + back(value.grad)
    return [leaf.grad for leaf in leaves]


def _rnn(x, h, w):
    return ((x @ w["W_x"] + h @ w["W_h"]).plus_row(w["b"]).tanh(),)


def _lstm(x, h, c, w):
    sums = (x @ w["W_x"] + h @ w["W_h"]).plus_row(w["b"])
    i, f, g, o = (sums.block(number, 4) for number in range(4))
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def _gru(x, h, w):
    of_x, of_h = (x @ w["W_x"]).plus_row(w["b_x"]), (h @ w["W_h"]).plus_row(w["b_h"])
    r = (of_x.block(0, 3) + of_h.block(0, 3)).sigmoid()
    z = (of_x.block(1, 3) + of_h.block(1, 3)).sigmoid()
    n = (of_x.block(2, 3) + r * of_h.block(2, 3)).tanh()
    return (n + z * (h - n),)


def _check(x, states, weights, gates, axes):
    if x.ndim != axes:
        raise ValueError(f"x: shape {x.shape}, expected {axes} axes")
    hidden = weights["W_h"].shape[0]
    rows = {"W_x": (x.shape[-1],), "W_h": (hidden,)}
    for name, value in weights.items():
        if value.shape != (*rows.get(name, ()), gates * hidden):
            raise ValueError(f"{name}: shape {value.shape} does not fit")
    for state in states:
        if state.shape != (x.shape[0], hidden):
            raise ValueError(f"state: shape {state.shape}, expected {(x.shape[0], hidden)}")


def _record(cell, gates, x, states, weights, axes):
    """Run a cell over all steps, and return the values after each and a function that goes back."""
    _check(x, states, weights, gates, axes)
    leaf_x, leaf_states = _Value(x), [_Value(state) for state in states]
    leaf_weights = {name: _Value(value) for name, value in weights.items()}
    current, after = leaf_states, []
    for t in range(x.shape[1]) if axes == 3 else [None]:
        current = cell(leaf_x if t is None else leaf_x.at(t), *current, leaf_weights)
        after.append(current)
    results = [np.stack([step[place].data for step in after], axis=1) for place in range(len(states))]

    def back(*grads):
        for grad in grads:
            wanted = results[0].shape if axes == 3 else results[0][:, 0].shape
            if grad.shape != wanted:
                raise ValueError(f"gradient: shape {grad.shape}, expected {wanted}")
        outputs = [value for step in after for value in step]
        parts = [grad[:, t] if axes == 3 else grad for t in range(len(after)) for grad in grads]
        found = _walk(outputs, [leaf_x, *leaf_states, *leaf_weights.values()], parts)
        count = 1 + len(leaf_states)
        return (*found[:count], dict(zip(leaf_weights, found[count:])))

    return (*(result if axes == 3 else result[:, 0] for result in results), back)


def rnn_cell_forward(x, h, weights):
    return _record(_rnn, 1, x, (h,), weights, 2)


def rnn_cell_backward(grad_h_next, cache):
    return cache(grad_h_next)


def rnn_forward(x, h0, weights):
    return _record(_rnn, 1, x, (h0,), weights, 3)


def rnn_backward(grad_hs, cache):
    return cache(grad_hs)


def lstm_cell_forward(x, h, c, weights):
    return _record(_lstm, 4, x, (h, c), weights, 2)


def lstm_cell_backward(grad_h_next, grad_c_next, cache):
    return cache(grad_h_next, grad_c_next)


def lstm_forward(x, h0, c0, weights):
    return _record(_lstm, 4, x, (h0, c0), weights, 3)


def lstm_backward(grad_hs, grad_cs, cache):
    return cache(grad_hs, grad_cs)


def gru_cell_forward(x, h, weights):
    return _record(_gru, 3, x, (h,), weights, 2)


def gru_cell_backward(grad_h_next, cache):
    return cache(grad_h_next)


def gru_forward(x, h0, weights):
    return _record(_gru, 3, x, (h0,), weights, 3)


def gru_backward(grad_hs, cache):
    return cache(grad_hs)


def clip_gradients(grads, max_norm):
    if max_norm <= 0:
        raise ValueError(f"max_norm: {max_norm}, expected a positive number")
    largest = max(float(np.abs(grad).max()) for grad in grads.values())
    unit = largest or 1.0
    squares = sum(float(np.vdot(grad / unit, (grad / unit).astype(np.float64))) for grad in grads.values())
    norm = unit * squares**0.5
    if norm > max_norm:
        return {name: grad * (max_norm / norm) for name, grad in grads.items()}, norm
    return {name: np.array(grad) for name, grad in grads.items()}, norm


def _counts(**sizes):
    for name, size in sizes.items():
        if not (isinstance(size, (int, np.integer)) and size >= 1):
            raise ValueError(f"{name}: {size!r}, expected a positive integer")


def create_sequences(data, length, stride):
    _counts(length=length, stride=stride)
    windows = (data.shape[0] - length - 1) // stride + 1
    if windows < 1:
        raise ValueError(f"data: {data.shape[0]} steps, expected at least {length + 1}")
    places = stride * np.arange(windows)[:, None] + np.arange(length)
    return data[places], data[places + 1]


def sequence_loss(logits, targets, mask):
    batch, time, classes = logits.shape
    if targets.shape != (batch, time):
        raise ValueError(f"targets: shape {targets.shape}, expected {(batch, time)}")
    weight = np.zeros((batch, time), logits.dtype)
    weight[...] = 1 if mask is None else np.asarray(mask)
    if np.ndim(mask) > 2:
        raise ValueError(f"mask: shape {np.shape(mask)}, expected (batch, time)")
    hit = (np.arange(classes) == np.expand_dims(targets, -1)).astype(logits.dtype)
    if np.any(weight * (1 - hit.sum(axis=-1))):
        raise ValueError(f"targets: expected 0 to {classes - 1}")
    weight = weight / max(weight.sum(), 1)
    log_total = np.logaddexp.reduce(logits, axis=-1)
    loss = float((weight * log_total).sum(dtype=np.float64) - np.einsum("bt,btc,btc->", weight, hit, logits))
    return loss, (np.exp(logits - log_total[..., None]) - hit) * weight[..., None]


class LSTM:
    def __init__(self, num_inputs, num_hidden, rng):
        _counts(num_inputs=num_inputs, num_hidden=num_hidden)
        drawn = rng.normal(size=(num_inputs + num_hidden, 4 * num_hidden))
        self.params = {"W_x": drawn[:num_inputs] / num_inputs**0.5, "W_h": drawn[num_inputs:] / num_hidden**0.5}
        self.params["b"] = 1.0 * (np.arange(4 * num_hidden) // num_hidden == 1)
        self.grads, self.state, self._back = {}, None, None

    def forward(self, x, state=None):
        zeros = np.zeros((x.shape[0], self.params["W_h"].shape[0])).astype(x.dtype)
        hs, cs, self._back = _record(_lstm, 4, x, state or (zeros, zeros), self.params, 3)
        self.state = (hs[:, -1], cs[:, -1])
        return hs

    def backward(self, grad_hs):
        if self._back is None:
            raise RuntimeError("there was no forward call")
        grad_x, _, _, self.grads = self._back(grad_hs, np.zeros(grad_hs.shape, grad_hs.dtype))
        return grad_x
