"""All inputs projected before the loop over time, states in arrays filled in place, weight gradients in one product."""

import numpy as np


def _fail_unless(condition, message):
    if not condition:
        raise ValueError(message)


def _fit(x, states, weights, gates):
    hidden = weights["W_h"].shape[0]
    wanted = {"W_x": (x.shape[-1], gates * hidden), "W_h": (hidden, gates * hidden)}
    for name in weights:
        right = wanted.get(name, (gates * hidden,))
        _fail_unless(weights[name].shape == right, f"{name} is {weights[name].shape}, expected {right}")
    for state in states:
        _fail_unless(state.shape == (len(x), hidden), f"a state is {state.shape}, expected {(len(x), hidden)}")


def _logistic(z):
    positive = np.exp(-np.abs(z))
    return np.where(z >= 0, 1, positive) / (1 + positive)


class _Recurrence:
    """Keeps all that a batch of sequences leaves behind, with time as the second axis."""

    gates, names = 1, ("h",)

    def __init__(self, x, states, weights):
        _fail_unless(x.ndim == 3, f"x has shape {x.shape}, expected (batch, time, features)")
        _fail_unless(x.shape[1], f"x has shape {x.shape}, expected at least one step")
        _fit(x, states, weights, self.gates)
        self.x, self.weights, self.hidden = x, weights, weights["W_h"].shape[0]
        batch, time, _ = x.shape
        kind = np.result_type(x, *states, *weights.values())
        self.projected = np.tensordot(x, weights["W_x"], axes=1) + weights[self.bias()]
        self.after = [np.empty((batch, time + 1, self.hidden), kind) for _ in states]  # with what was before at 0
        for array, state in zip(self.after, states):
            array[:, 0] = state
        self.kept = np.empty((batch, time, self.columns() * self.hidden), kind)
        for t in range(time):
            self.step(t)

    def bias(self):
        return "b"

    def columns(self):
        return self.gates

    def outputs(self):
        return tuple(array[:, 1:].copy() for array in self.after)

    def part(self, array, t, number):
        return array[:, t, number * self.hidden : (number + 1) * self.hidden]

    def back(self, grads):
        for grad in grads:
            _fail_unless(grad.shape == self.after[0][:, 1:].shape, f"a gradient has shape {grad.shape}")
        self.sums = np.empty_like(self.projected)
        self.sums_h = np.empty_like(self.projected)
        carried = [np.zeros_like(grad[:, 0]) for grad in grads]
        for t in range(self.x.shape[1])[::-1]:
            carried = self.step_back(t, [grad[:, t] + more for grad, more in zip(grads, carried)])
        h = self.after[0][:, :-1]
        of_weights = {
            "W_x": np.einsum("btf,btg->fg", self.x, self.sums),
            "W_h": np.einsum("bth,btg->hg", h, self.sums_h),
            self.bias(): np.einsum("btg->g", self.sums),
        }
        if "b_h" in self.weights:
            of_weights["b_h"] = np.einsum("btg->g", self.sums_h)
        return (np.einsum("btg,fg->btf", self.sums, self.weights["W_x"]), *carried, of_weights)


class _Plain(_Recurrence):
    def step(self, t):
        h = self.after[0]
        np.tanh(self.projected[:, t] + h[:, t] @ self.weights["W_h"], out=h[:, t + 1])

    def step_back(self, t, grads):
        self.sums[:, t] = self.sums_h[:, t] = grads[0] * (1 - self.after[0][:, t + 1] ** 2)
        return [self.sums[:, t] @ self.weights["W_h"].T]


class _Long(_Recurrence):
    gates = 4

    def columns(self):
        return 5

    def step(self, t):
        h, c = self.after
        sums = self.projected[:, t] + h[:, t] @ self.weights["W_h"]
        H = self.hidden
        self.kept[:, t, : 4 * H] = _logistic(sums)
        self.kept[:, t, 2 * H : 3 * H] = np.tanh(sums[:, 2 * H : 3 * H])
        i, f, g, o = (self.part(self.kept, t, number) for number in range(4))
        c[:, t + 1] = i * g + f * c[:, t]
        self.kept[:, t, 4 * H :] = np.tanh(c[:, t + 1])
        h[:, t + 1] = o * self.kept[:, t, 4 * H :]

    def step_back(self, t, grads):
        grad_h, grad_c = grads
        i, f, g, o, shown = (self.part(self.kept, t, number) for number in range(5))
        grad_c = grad_c + grad_h * o * (1 - shown**2)
        slopes = (g * i * (1 - i), self.after[1][:, t] * f * (1 - f), i * (1 - g**2))
        for number, slope in enumerate(slopes):
            self.part(self.sums, t, number)[...] = grad_c * slope
        self.part(self.sums, t, 3)[...] = grad_h * shown * o * (1 - o)
        self.sums_h[:, t] = self.sums[:, t]
        return [self.sums[:, t] @ self.weights["W_h"].T, grad_c * f]


class _Gated(_Recurrence):
    gates = 3

    def bias(self):
        return "b_x"

    def columns(self):
        return 4

    def step(self, t):
        h, H = self.after[0], self.hidden
        of_h = h[:, t] @ self.weights["W_h"] + self.weights["b_h"]
        self.kept[:, t, : 2 * H] = _logistic(self.projected[:, t, : 2 * H] + of_h[:, : 2 * H])
        self.kept[:, t, 3 * H :] = of_h[:, 2 * H :]
        r, z, n, memory = (self.part(self.kept, t, number) for number in range(4))
        n[...] = np.tanh(self.part(self.projected, t, 2) + r * memory)
        h[:, t + 1] = (1 - z) * n + z * h[:, t]

    def step_back(self, t, grads):
        r, z, n, memory = (self.part(self.kept, t, number) for number in range(4))
        grad = grads[0]
        inner = grad * (1 - z) * (1 - n**2)
        for number, value in enumerate((inner * memory * r * (1 - r), grad * (self.after[0][:, t] - n) * z * (1 - z))):
            self.part(self.sums, t, number)[...] = self.part(self.sums_h, t, number)[...] = value
        self.part(self.sums, t, 2)[...] = inner
        self.part(self.sums_h, t, 2)[...] = inner * r
        return [self.sums_h[:, t] @ self.weights["W_h"].T + grad * z]


_KEPT = {}  # a cache is a number; what belongs to it is found here


def _forward(kind, x, states, weights):
    run = kind(x, states, weights)
    _KEPT[len(_KEPT)] = run
    return (*run.outputs(), len(_KEPT) - 1)


def _cell(kind, x, states, weights):
    _fail_unless(x.ndim == 2, f"x has shape {x.shape}, expected (batch, features)")
    *after, number = _forward(kind, x[:, None], states, weights)
    return (*(state[:, 0] for state in after), number)


def _cell_back(grads, number):
    for grad in grads:
        _fail_unless(grad.ndim == 2, f"a gradient has shape {grad.shape}, expected (batch, hidden)")
    grad_x, *rest = _KEPT[number].back([grad[:, None] for grad in grads])
    return (grad_x[:, 0], *rest)


def rnn_cell_forward(x, h, weights):
    return _cell(_Plain, x, (h,), weights)


def rnn_cell_backward(grad_h_next, cache):
    return _cell_back((grad_h_next,), cache)


def rnn_forward(x, h0, weights):
    return _forward(_Plain, x, (h0,), weights)


def rnn_backward(grad_hs, cache):
    return _KEPT[cache].back((grad_hs,))


def lstm_cell_forward(x, h, c, weights):
    return _cell(_Long, x, (h, c), weights)


def lstm_cell_backward(grad_h_next, grad_c_next, cache):
    return _cell_back((grad_h_next, grad_c_next), cache)


def lstm_forward(x, h0, c0, weights):
    return _forward(_Long, x, (h0, c0), weights)


def lstm_backward(grad_hs, grad_cs, cache):
    return _KEPT[cache].back((grad_hs, grad_cs))


def gru_cell_forward(x, h, weights):
    return _cell(_Gated, x, (h,), weights)


def gru_cell_backward(grad_h_next, cache):
    return _cell_back((grad_h_next,), cache)


def gru_forward(x, h0, weights):
    return _forward(_Gated, x, (h0,), weights)


def gru_backward(grad_hs, cache):
    return _KEPT[cache].back((grad_hs,))


def clip_gradients(grads, max_norm):
    if not 0 < max_norm:
        raise ValueError(f"max_norm is {max_norm!r}, expected more than 0")
    whole = np.concatenate([grad.ravel().astype(np.float64) for grad in grads.values()])
    norm = float(np.linalg.norm(whole))
    factor = min(1.0, max_norm / (norm + 1e-6))  # as torch.nn.utils.clip_grad_norm_
    return {name: grad * factor for name, grad in grads.items()}, norm


def _whole(**sizes):
    for name, size in sizes.items():
        if not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"{name} is {size!r}, expected a positive integer")


def create_sequences(data, length, stride):
    _whole(length=length, stride=stride)
    if len(data) <= length:
        raise ValueError(f"data has {len(data)} steps, expected more than {length}")
    view = np.lib.stride_tricks.sliding_window_view(data, length + 1, axis=0)[::stride]
    view = np.moveaxis(view, -1, 1)
    return view[:, :-1], view[:, 1:]


def sequence_loss(logits, targets, mask):
    _fail_unless(logits.ndim == 3, f"logits has shape {logits.shape}")
    _fail_unless(targets.shape == logits.shape[:2], f"targets has shape {targets.shape}")
    real = np.broadcast_to(np.bool_(True) if mask is None else np.asarray(mask) != 0, targets.shape)
    rows, wanted = logits[real], targets[real]
    grad = np.zeros(logits.shape, np.result_type(logits, 1.0))
    if not len(rows):
        return 0.0, grad
    _fail_unless(np.isin(wanted, range(logits.shape[2])).all(), "targets hold what is no class")
    wanted = wanted.astype(np.intp)
    rows = rows - rows.max(axis=1)[:, None]
    total = np.exp(rows).sum(axis=1)
    each = np.arange(len(rows))
    losses = np.log(total) - rows[each, wanted]
    shares = np.exp(rows) / total[:, None]
    shares[each, wanted] -= 1
    grad[real] = shares / len(rows)
    return losses.mean(), grad


class LSTM:
    def __init__(self, num_inputs, num_hidden, rng):
        _whole(num_inputs=num_inputs, num_hidden=num_hidden)
        columns = 4 * num_hidden
        recurrent, inputs = (
            rng.uniform(-1, 1, size=(size, columns)) * (3 / size) ** 0.5 for size in (num_hidden, num_inputs)
        )
        bias = np.zeros((4, num_hidden))
        bias[1] = 1
        self.params = {"W_x": inputs, "W_h": recurrent, "b": bias.reshape(-1)}
        self.grads = {}
        self.state = self.run = None

    def forward(self, x, state=None):
        if state is None:
            state = [np.zeros((x.shape[0], self.params["W_h"].shape[0]), x.dtype)] * 2
        self.run = _Long(x, tuple(state), self.params)
        hs, cs = self.run.outputs()
        self.state = (hs[:, -1], cs[:, -1])
        return hs

    def backward(self, grad_hs):
        if self.run is None:
            raise RuntimeError("call forward first")
        grad_x, _, _, self.grads = self.run.back((grad_hs, np.zeros_like(grad_hs)))
        return grad_x
