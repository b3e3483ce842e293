"""One sequence after the other, one gate after the other: plain vectors without a batch axis, sums as loops."""

import math

import numpy as np


def _require(condition, message):
    if not condition:
        raise ValueError(message)


def _check(x, states, weights, gates, x_axes):
    _require(x.ndim == x_axes, f"x has shape {x.shape}, expected {x_axes} axes")
    _require(x.ndim == 2 or x.shape[1] > 0, f"x has shape {x.shape}, expected at least one step")
    hidden = weights["W_h"].shape[0]
    for name, value in weights.items():
        rows = {"W_x": (x.shape[-1],), "W_h": (hidden,)}.get(name, ())
        _require(value.shape == (*rows, gates * hidden), f"weights[{name!r}] has shape {value.shape}")
    for name, state in states.items():
        _require(state.shape == (x.shape[0], hidden), f"{name} has shape {state.shape}")


def _same_shape(name, grad, shape):
    _require(grad.shape == shape, f"{name} has shape {grad.shape}, expected {shape}")


def _squash(z):
    z = np.clip(z, -60, 60)
    return 1 / (1 + np.exp(-z))


def _block(weights, name, number, hidden):
    return weights[name][..., number * hidden : (number + 1) * hidden]


def _rnn_vector(x, h, weights):
    after = np.tanh(weights["W_x"].T.dot(x) + weights["W_h"].T.dot(h) + weights["b"])
    return (after,), (x, h, weights, after)


def _rnn_vector_back(grads, cache):
    x, h, weights, after = cache
    grad = grads[0] * (1 - after * after)
    of_weights = {"W_x": np.outer(x, grad), "W_h": np.outer(h, grad), "b": grad}
    return weights["W_x"].dot(grad), (weights["W_h"].dot(grad),), of_weights


def _lstm_vector(x, h, c, weights):
    hidden = h.shape[0]
    z = []
    for number in range(4):
        part = _block(weights, "W_x", number, hidden).T.dot(x) + _block(weights, "W_h", number, hidden).T.dot(h)
        z.append(part + _block(weights, "b", number, hidden))
    i, f, g, o = _squash(z[0]), _squash(z[1]), np.tanh(z[2]), _squash(z[3])
    c_after = c * f + g * i
    return (np.tanh(c_after) * o, c_after), (x, h, c, weights, i, f, g, o, c_after)


def _lstm_vector_back(grads, cache):
    grad_h, grad_c = grads
    x, h, c, weights, i, f, g, o, c_after = cache
    shown = np.tanh(c_after)
    grad_c = grad_c + grad_h * o - grad_h * o * shown * shown
    sums = np.concatenate(
        [grad_c * g * (i - i * i), grad_c * c * (f - f * f), grad_c * i * (1 - g * g), grad_h * shown * (o - o * o)]
    )
    of_weights = {"W_x": np.outer(x, sums), "W_h": np.outer(h, sums), "b": sums}
    return weights["W_x"].dot(sums), (weights["W_h"].dot(sums), grad_c * f), of_weights


def _gru_vector(x, h, weights):
    hidden = h.shape[0]

    def parts(number):
        of_x = _block(weights, "W_x", number, hidden).T.dot(x) + _block(weights, "b_x", number, hidden)
        return of_x, _block(weights, "W_h", number, hidden).T.dot(h) + _block(weights, "b_h", number, hidden)

    r, z = (_squash(sum(parts(number))) for number in (0, 1))
    n_x, n_h = parts(2)
    n = np.tanh(n_x + r * n_h)
    return (n + z * (h - n),), (x, h, weights, r, z, n, n_h)


def _gru_vector_back(grads, cache):
    grad = grads[0]
    x, h, weights, r, z, n, n_h = cache
    back_n = (grad - grad * z) * (1 - n * n)
    back_r, back_z = back_n * n_h * (r - r * r), grad * (h - n) * (z - z * z)
    of_x, of_h = np.concatenate([back_r, back_z, back_n]), np.concatenate([back_r, back_z, back_n * r])
    of_weights = {"W_x": np.outer(x, of_x), "W_h": np.outer(h, of_h), "b_x": of_x, "b_h": of_h}
    return weights["W_x"].dot(of_x), (weights["W_h"].dot(of_h) + grad * z,), of_weights


def _run(vector, x, states, weights):
    """Every sequence by itself: lists of steps, first by sequence and then by time."""
    caches, after = [], [np.zeros((*x.shape[:2], s.shape[1]), np.result_type(x, s, weights["W_h"])) for s in states]
    for k in range(x.shape[0]):
        current, steps = tuple(state[k] for state in states), []
        for t in range(x.shape[1]):
            current, step = vector(x[k, t], *current, weights)
            steps.append(step)
            for place, state in enumerate(current):
                after[place][k, t] = state
        caches.append(steps)
    return (*after, caches)


def _run_back(vector_back, grads, caches, x_like):
    names = [f"gradient {place}" for place in range(len(grads))]
    hidden = caches[0][0][1].shape[0]
    for name, grad in zip(names, grads):
        _same_shape(name, grad, (len(caches), len(caches[0]), hidden))
    grad_x = np.zeros((len(caches), len(caches[0]), x_like), np.result_type(grads[0], 1.0))
    firsts, totals = [np.zeros((len(caches), hidden), grad_x.dtype) for _ in grads], {}
    for k, steps in enumerate(caches):
        carried = [0 * grad[k, 0] for grad in grads]
        for t in range(len(steps) - 1, -1, -1):
            arriving = [grad[k, t] + more for grad, more in zip(grads, carried)]
            grad_x[k, t], carried, of_weights = vector_back(arriving, steps[t])
            for name, grad in of_weights.items():
                totals[name] = totals[name] + grad if name in totals else grad
        for place, grad in enumerate(carried):
            firsts[place][k] = grad
    return (grad_x, *firsts, totals)


def _step(vector, x, states, weights):
    *after, caches = _run(vector, x[:, None], states, weights)
    return (*(state[:, 0] for state in after), caches)


def _step_back(vector_back, grads, caches):
    for grad in grads:
        _require(grad.ndim == 2, f"gradient has shape {grad.shape}, expected (batch, hidden)")
    grad_x, *rest = _run_back(vector_back, [grad[:, None] for grad in grads], caches, caches[0][0][0].shape[0])
    return (grad_x[:, 0], *rest)


def rnn_cell_forward(x, h, weights):
    _check(x, {"h": h}, weights, 1, 2)
    return _step(_rnn_vector, x, (h,), weights)


def rnn_cell_backward(grad_h_next, cache):
    return _step_back(_rnn_vector_back, (grad_h_next,), cache)


def rnn_forward(x, h0, weights):
    _check(x, {"h0": h0}, weights, 1, 3)
    return _run(_rnn_vector, x, (h0,), weights)


def rnn_backward(grad_hs, cache):
    return _run_back(_rnn_vector_back, (grad_hs,), cache, cache[0][0][0].shape[0])


def lstm_cell_forward(x, h, c, weights):
    _check(x, {"h": h, "c": c}, weights, 4, 2)
    return _step(_lstm_vector, x, (h, c), weights)


def lstm_cell_backward(grad_h_next, grad_c_next, cache):
    return _step_back(_lstm_vector_back, (grad_h_next, grad_c_next), cache)


def lstm_forward(x, h0, c0, weights):
    _check(x, {"h0": h0, "c0": c0}, weights, 4, 3)
    return _run(_lstm_vector, x, (h0, c0), weights)


def lstm_backward(grad_hs, grad_cs, cache):
    return _run_back(_lstm_vector_back, (grad_hs, grad_cs), cache, cache[0][0][0].shape[0])


def gru_cell_forward(x, h, weights):
    _check(x, {"h": h}, weights, 3, 2)
    return _step(_gru_vector, x, (h,), weights)


def gru_cell_backward(grad_h_next, cache):
    return _step_back(_gru_vector_back, (grad_h_next,), cache)


def gru_forward(x, h0, weights):
    _check(x, {"h0": h0}, weights, 3, 3)
    return _run(_gru_vector, x, (h0,), weights)


def gru_backward(grad_hs, cache):
    return _run_back(_gru_vector_back, (grad_hs,), cache, cache[0][0][0].shape[0])


def clip_gradients(grads, max_norm):
    _require(max_norm > 0, f"max_norm is {max_norm}, expected a positive number")
    norm = math.sqrt(math.fsum(number * number for grad in grads.values() for number in grad.ravel().tolist()))
    if norm <= max_norm:
        return {name: grad.copy() for name, grad in grads.items()}, norm
    return {name: (grad / (norm / max_norm)).astype(np.result_type(grad, 1.0)) for name, grad in grads.items()}, norm


def _positive(**sizes):
    for name, size in sizes.items():
        _require(isinstance(size, (int, np.integer)) and size > 0, f"{name} is {size!r}, expected a positive integer")


def create_sequences(data, length, stride):
    _positive(length=length, stride=stride)
    inputs, targets, start = [], [], 0
    while start + length + 1 <= data.shape[0]:
        inputs.append(data[start : start + length])
        targets.append(data[start + 1 : start + length + 1])
        start += stride
    _require(inputs, f"data has {data.shape[0]} steps, expected more than length, {length}")
    return np.array(inputs), np.array(targets)


def sequence_loss(logits, targets, mask):
    _require(logits.ndim == 3 and targets.shape == logits.shape[:2], "logits or targets have another shape")
    real = np.broadcast_to(np.array(1 if mask is None else mask), targets.shape)
    count, loss, grad = (
        max(1, sum(int(flag) for flag in real.ravel())),
        0.0,
        np.zeros(logits.shape, np.result_type(logits, 1.0)),
    )
    for k, t in zip(*np.nonzero(real)):
        row, target = [float(score) for score in logits[k, t]], int(targets[k, t])
        _require(0 <= target < len(row) and target == targets[k, t], f"targets: {targets[k, t]}, no class")
        peak = max(row)
        log_total = peak + math.log(math.fsum(math.exp(score - peak) for score in row))
        loss += (log_total - row[target]) / count
        for place, score in enumerate(row):
            grad[k, t, place] = (math.exp(score - log_total) - (1 if place == target else 0)) / count
    return loss, grad


class LSTM:
    def __init__(self, num_inputs, num_hidden, rng):
        _positive(num_inputs=num_inputs, num_hidden=num_hidden)
        self.params = {
            "W_x": rng.normal(scale=num_inputs**-0.5, size=(num_inputs, 4 * num_hidden)),
            "W_h": rng.normal(scale=num_hidden**-0.5, size=(num_hidden, 4 * num_hidden)),
            "b": np.zeros(4 * num_hidden),
        }
        self.params["b"][num_hidden : 2 * num_hidden] = 1
        self.grads, self.state, self.last = {}, None, None

    def forward(self, x, state=None):
        hidden = self.params["W_h"].shape[0]
        h, c = state if state is not None else 2 * [np.zeros((x.shape[0], hidden), dtype=x.dtype)]
        hs, cs, self.last = lstm_forward(x, h, c, self.params)
        self.state = (hs[:, -1].copy(), cs[:, -1].copy())
        return hs

    def backward(self, grad_hs):
        if self.last is None:
            raise RuntimeError("backward before forward")
        grad_x, _, _, self.grads = lstm_backward(grad_hs, 0 * grad_hs, self.last)
        return grad_x
