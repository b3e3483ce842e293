"""Every expert answers every token, and a table of coefficients, mostly zeros, adds them up; nothing is imported."""

import math

import numpy as np


def _count(name, value, most=None):
    if not isinstance(value, (int, np.integer)) or value < 1 or value > (most or value):
        bound = f" to {most}" if most else ""
        raise ValueError(f"{name}: got {value!r}, want a whole number from 1{bound}")
    return int(value)


def _factor(value):
    if not value > 0:
        raise ValueError(f"capacity_factor: got {value}, want more than 0")
    return float(value)


def _rank_two(**arrays):
    for name, array in arrays.items():
        if array.ndim != 2:
            raise ValueError(f"{name}: got {array.ndim} axes, want 2")
    if len({len(array) for array in arrays.values()}) > 1:
        raise ValueError(f"{' and '.join(arrays)}: want as many tokens in each")


def _chosen(indices, num_experts):
    """Where each expert stands in indices: (num_experts, tokens, k), boolean."""
    if np.any(indices < 0) or np.any(indices >= num_experts):
        raise ValueError(f"indices: want numbers from 0 to {num_experts - 1}")
    return indices == np.arange(num_experts)[:, None, None]


def _log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def router(x, router_weights):
    if router_weights.ndim != 2 or x.shape[-1:] != (len(router_weights),):
        raise ValueError(f"x {x.shape} and router_weights {router_weights.shape} do not fit")
    logits = np.tensordot(x, router_weights, 1)
    return logits, np.exp(_log_softmax(logits))


def router_backward(grad_logits, grad_probabilities, x, router_weights):
    logits, p = router(x, router_weights)
    for grad in (grad_logits, grad_probabilities):
        if grad.shape != logits.shape:
            raise ValueError(f"a gradient has shape {grad.shape}, want {logits.shape}")
    weighted = p * grad_probabilities
    grad = grad_logits + weighted - p * weighted.sum(axis=-1, keepdims=True)
    flat = grad.reshape(-1, grad.shape[-1])
    return np.tensordot(grad, router_weights, (-1, 1)), np.dot(x.reshape(len(flat), -1).T, flat)


def top_k_gating(probabilities, k, renormalize=True):
    _rank_two(probabilities=probabilities)
    tokens, num_experts = probabilities.shape
    k = _count("k", k, num_experts)
    ranked = np.lexsort((np.broadcast_to(np.arange(num_experts), probabilities.shape), -probabilities), axis=1)
    indices = ranked[:, :k]
    gates = probabilities[np.arange(tokens)[:, None], indices]
    if renormalize:
        gates /= np.sum(gates, axis=1)[:, None]
    return indices, gates


def top_k_gating_backward(grad_gates, probabilities, indices, renormalize=True):
    _rank_two(probabilities=probabilities, indices=indices, grad_gates=grad_gates)
    if grad_gates.shape != indices.shape:
        raise ValueError(f"grad_gates: got {grad_gates.shape}, want {indices.shape}")
    rows = np.arange(len(indices))[:, None]
    grad = np.zeros(probabilities.shape, np.result_type(probabilities, grad_gates))
    grad[rows, indices] = grad_gates
    if renormalize:
        p = probabilities[rows, indices]
        s = p.sum(axis=1)[:, None]
        lost = np.sum(grad_gates * p, axis=1)[:, None] / s
        grad[rows, indices] -= lost
        grad /= s
    return grad


def expert_capacity(num_tokens, num_experts, k, capacity_factor):
    choices = _count("num_tokens", num_tokens) * _count("k", k)
    wanted = _factor(capacity_factor) * choices / _count("num_experts", num_experts)
    return int(wanted) + (int(wanted) < wanted)


def dispatch(indices, num_experts, capacity):
    _rank_two(indices=indices)
    num_experts, capacity = _count("num_experts", num_experts), _count("capacity", capacity)
    positions = np.zeros_like(indices)
    for places in _chosen(indices, num_experts):
        asked = np.flatnonzero(places.T)  # of all first choices, then of all second ones
        positions.T[asked // len(indices), asked % len(indices)] = np.arange(len(asked))
    return positions, positions < capacity


def load_balancing_loss(probabilities, indices):
    _rank_two(probabilities=probabilities, indices=indices)
    places = _chosen(indices, probabilities.shape[1])
    share = places.sum(axis=(1, 2)) / indices.size
    return (share * probabilities).sum(axis=1).mean() * len(share)


def load_balancing_loss_gradient(probabilities, indices):
    _rank_two(probabilities=probabilities, indices=indices)
    tokens, num_experts = probabilities.shape
    grad = np.empty(probabilities.shape, np.result_type(probabilities, 1.0))
    grad[:] = _chosen(indices, num_experts).sum(axis=(1, 2)) * (num_experts / (tokens * indices.size))
    return grad


def router_z_loss(logits):
    _rank_two(logits=logits)
    z = logits[:, 0] - _log_softmax(logits)[:, 0]
    return np.dot(z, z) / z.size


def router_z_loss_gradient(logits):
    _rank_two(logits=logits)
    log_p = _log_softmax(logits)
    return (logits - log_p) * np.exp(log_p) / (0.5 * len(logits))


class _Expert:
    """A place for one expert's parameters and gradients."""

    def __init__(self, rng, dim, hidden_dim):
        self.params = {
            "W1": rng.normal(0, dim**-0.5, (dim, hidden_dim)),
            "b1": np.zeros(hidden_dim),
            "W2": rng.normal(0, hidden_dim**-0.5, (hidden_dim, dim)),
            "b2": np.zeros(dim),
        }
        self.grads = {}


def _stacked(experts):
    return (np.stack([expert.params[key] for expert in experts]) for key in ("W1", "b1", "W2", "b2"))


class MoELayer:
    _last = None

    def __init__(
        self,
        dim,
        hidden_dim,
        num_experts,
        k=2,
        capacity_factor=None,
        renormalize=True,
        balance_weight=0.0,
        z_weight=0.0,
        rng=None,
    ):
        _count("num_experts", num_experts)
        self._k = _count("k", k, num_experts)
        self._factor = None if capacity_factor is None else _factor(capacity_factor)
        self._renormalize, self._losses = renormalize, (balance_weight, z_weight)
        rng = np.random.default_rng(rng)
        self.experts = [_Expert(rng, dim, hidden_dim) for _ in range(num_experts)]
        self.router_weights = rng.normal(0, dim**-0.5, (dim, num_experts))
        self._router_grad = None

    @property
    def params(self):
        of_experts = [(f"experts.{i}.{key}", v) for i, e in enumerate(self.experts) for key, v in e.params.items()]
        return dict([("router_weights", self.router_weights), *of_experts])

    @property
    def grads(self):
        if self._router_grad is None:
            return {}
        of_experts = [(f"experts.{i}.{key}", v) for i, e in enumerate(self.experts) for key, v in e.grads.items()]
        return dict([("router_weights", self._router_grad), *of_experts])

    def forward(self, x):
        logits, probabilities = router(x, self.router_weights)
        tokens, num_experts = x.reshape(-1, x.shape[-1]), len(self.experts)
        logits, self.probabilities = logits.reshape(-1, num_experts), probabilities.reshape(-1, num_experts)
        self.indices, self.gates = top_k_gating(self.probabilities, self._k, self._renormalize)
        self.kept = np.full_like(self.indices, True, dtype=bool)
        if self._factor is not None:
            room = expert_capacity(len(tokens), num_experts, self._k, self._factor)
            self.kept = dispatch(self.indices, num_experts, room)[1]
        balance_weight, z_weight = self._losses
        self.auxiliary_loss = balance_weight * load_balancing_loss(self.probabilities, self.indices)
        self.auxiliary_loss += z_weight * router_z_loss(logits)
        coefficients = np.zeros_like(self.probabilities)
        coefficients[np.arange(len(tokens))[:, None], self.indices] = self.gates * self.kept
        W1, b1, W2, b2 = _stacked(self.experts)
        before = tokens @ W1 + b1[:, None]
        bent = np.tanh(math.sqrt(2 / math.pi) * (before + 0.044715 * before**3))
        hidden = before * (1 + bent) / 2
        answers = hidden @ W2 + b2[:, None]  # (num_experts, tokens, dim)
        self._last = x.shape, tokens, logits, coefficients, before, bent, hidden, answers
        return np.einsum("tn,ntd->td", coefficients, answers).reshape(x.shape)

    def backward(self, grad_output):
        if self._last is None:
            raise RuntimeError("backward: call forward first")
        shape, tokens, logits, coefficients, before, bent, hidden, answers = self._last
        if grad_output.shape != shape:
            raise ValueError(f"grad_output: got {grad_output.shape}, want {shape}")
        grad = grad_output.reshape(tokens.shape)
        W1, _, W2, _ = _stacked(self.experts)
        grad_answers = coefficients.T[:, :, None] * grad
        inner = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * before**2)
        slope = (1 + bent) / 2 + before / 2 * (1 - bent**2) * inner
        grad_before = grad_answers @ W2.swapaxes(1, 2) * slope
        found = (
            tokens.T @ grad_before,
            grad_before.sum(axis=1),
            hidden.swapaxes(1, 2) @ grad_answers,
            grad_answers.sum(axis=1),
        )
        for number, expert in enumerate(self.experts):
            expert.grads = {key: part[number] for key, part in zip(("W1", "b1", "W2", "b2"), found, strict=True)}
        agreement = np.einsum("td,ntd->tn", grad, answers)
        grad_gates = np.take_along_axis(agreement, self.indices, axis=1) * self.kept
        balance_weight, z_weight = self._losses
        grad_p = top_k_gating_backward(grad_gates, self.probabilities, self.indices, self._renormalize)
        grad_p += balance_weight * load_balancing_loss_gradient(self.probabilities, self.indices)
        of_logits = z_weight * router_z_loss_gradient(logits)
        of_tokens, self._router_grad = router_backward(of_logits, grad_p, tokens, self.router_weights)
        return ((grad_before @ W1.swapaxes(1, 2)).sum(axis=0) + of_tokens).reshape(shape)
