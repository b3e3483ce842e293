"""As on an accelerator: a dispatch array (tokens, experts, seats) of 0 and 1 fills a buffer for each expert."""

import numpy as np

from stages.s17_transformer_blocks.blocks import MLP


def _require(condition, message):
    if not condition:
        raise ValueError(message)


def _is_count(value):
    return isinstance(value, (int, np.integer)) and value > 0


def _one_hot(indices, num_experts):
    """(tokens, k, num_experts) of 0 and 1."""
    _require(indices.ndim == 2, f"indices: {indices.ndim} axes, expected 2")
    _require(((indices >= 0) & (indices < num_experts)).all(), f"indices: not all from 0 to {num_experts - 1}")
    return np.eye(num_experts, dtype=int)[indices]


def router(x, router_weights):
    _require(router_weights.ndim == 2 and x.shape[-1:] == router_weights.shape[:1], f"x: {x.shape} does not fit")
    logits = np.einsum("...d,de->...e", x, router_weights)
    probabilities = logits - np.max(logits, axis=-1, keepdims=True)
    probabilities = np.exp(probabilities)
    probabilities /= probabilities.sum(axis=-1, keepdims=True)
    return logits, probabilities


def router_backward(grad_logits, grad_probabilities, x, router_weights):
    logits, probabilities = router(x, router_weights)
    _require(grad_logits.shape == grad_probabilities.shape == logits.shape, "gradients of another shape")
    shared = np.einsum("...e,...e->...", grad_probabilities, probabilities)
    grad = grad_logits + (grad_probabilities - shared[..., None]) * probabilities
    rows, tokens = grad.reshape(-1, grad.shape[-1]), x.reshape(-1, x.shape[-1])
    return np.einsum("...e,de->...d", grad, router_weights), np.einsum("td,te->de", tokens, rows)


def top_k_gating(probabilities, k, renormalize=True):
    _require(probabilities.ndim == 2, f"probabilities: {probabilities.ndim} axes, expected 2")
    _require(_is_count(k) and k <= probabilities.shape[1], f"k: {k!r}, expected 1 to {probabilities.shape[-1]}")
    left, chosen = probabilities.copy(), []
    for _ in range(k):
        best = left.argmax(axis=1)  # the first of the largest
        chosen.append(best)
        left[np.arange(len(left)), best] = -1
    indices = np.stack(chosen, axis=1)
    gates = np.einsum("tn,tkn->tk", probabilities, _one_hot(indices, probabilities.shape[1]).astype(left.dtype))
    return indices, gates / gates.sum(axis=1, keepdims=True) if renormalize else gates


def top_k_gating_backward(grad_gates, probabilities, indices, renormalize=True):
    _require(probabilities.ndim == 2, f"probabilities: {probabilities.ndim} axes, expected 2")
    _require(indices.ndim == 2 and len(indices) == len(probabilities), f"indices: {indices.shape} does not fit")
    _require(grad_gates.shape == indices.shape, f"grad_gates: {grad_gates.shape}, expected {indices.shape}")
    places = _one_hot(indices, probabilities.shape[1]).astype(probabilities.dtype)
    grad = np.einsum("tk,tkn->tn", grad_gates, places)
    if not renormalize:
        return grad
    asked = places.sum(axis=1)
    masked = probabilities * asked
    total = masked.sum(axis=1, keepdims=True)
    return asked * (grad / total - (grad * masked).sum(axis=1, keepdims=True) / total**2)


def expert_capacity(num_tokens, num_experts, k, capacity_factor):
    _require(all(map(_is_count, (num_tokens, num_experts, k))), "expected positive integers")
    _require(capacity_factor > 0, f"capacity_factor: {capacity_factor}, expected more than 0")
    return int(-(-(capacity_factor * k * num_tokens) // num_experts))


def dispatch(indices, num_experts, capacity):
    _require(_is_count(num_experts) and _is_count(capacity), "expected positive integers")
    sent = _one_hot(indices, num_experts)
    earlier_choices = np.cumsum(sent.sum(axis=0), axis=0) - sent.sum(axis=0)  # (k, num_experts)
    earlier_tokens = np.cumsum(sent, axis=0) - sent
    positions = ((earlier_tokens + earlier_choices) * sent).sum(axis=2)
    return positions, positions < capacity


def _shares(probabilities, indices):
    _require(probabilities.ndim == 2, f"probabilities: {probabilities.ndim} axes, expected 2")
    _require(len(indices) == len(probabilities), f"indices: {len(indices)} tokens, expected {len(probabilities)}")
    return _one_hot(indices, probabilities.shape[1]).mean(axis=(0, 1))


def load_balancing_loss(probabilities, indices):
    return probabilities.shape[-1] * float(_shares(probabilities, indices) @ probabilities.mean(axis=0))


def load_balancing_loss_gradient(probabilities, indices):
    row = _shares(probabilities, indices) * probabilities.shape[-1] / probabilities.shape[0]
    return np.broadcast_to(row, probabilities.shape).astype(np.result_type(probabilities, 1.0))


def router_z_loss(logits):
    _require(logits.ndim == 2, f"logits: {logits.ndim} axes, expected 2")
    return float(np.mean(np.square(np.logaddexp.reduce(logits, axis=1))))


def router_z_loss_gradient(logits):
    _require(logits.ndim == 2, f"logits: {logits.ndim} axes, expected 2")
    z = np.logaddexp.reduce(logits, axis=1)[:, None]
    return np.exp(logits - z) * z * (2 / len(logits))


class MoELayer:
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
        _require(_is_count(num_experts), f"num_experts: {num_experts!r}, expected a positive integer")
        _require(_is_count(k) and k <= num_experts, f"k: {k!r}, expected 1 to {num_experts}")
        _require(capacity_factor is None or capacity_factor > 0, f"capacity_factor: {capacity_factor}, expected more")
        self._rng = np.random.default_rng() if rng is None else rng
        self.router_weights = self._rng.standard_normal((dim, num_experts)) * dim**-0.5
        self.experts = [MLP(dim, hidden_dim, rng=self._rng) for _ in range(num_experts)]
        self._k, self._factor, self._renormalize = k, capacity_factor, renormalize
        self._balance_weight, self._z_weight = balance_weight, z_weight
        self._x = None
        self._router_gradient = None

    def _named(self, first, which):
        named = {"router_weights": first}
        for number, expert in enumerate(self.experts):
            named |= {f"experts.{number}.{key}": value for key, value in getattr(expert, which).items()}
        return named

    @property
    def params(self):
        return self._named(self.router_weights, "params")

    @property
    def grads(self):
        return {} if self._router_gradient is None else self._named(self._router_gradient, "grads")

    def forward(self, x):
        _require(x.shape[-1:] == self.router_weights.shape[:1], f"x: {x.shape} does not fit")
        num_experts = len(self.experts)
        flat = x.reshape(-1, x.shape[-1])
        self._logits, self.probabilities = router(flat, self.router_weights)
        self.indices, self.gates = top_k_gating(self.probabilities, self._k, self._renormalize)
        seats = len(flat)
        if self._factor is not None:
            seats = expert_capacity(len(flat), num_experts, self._k, self._factor)
        positions, self.kept = dispatch(self.indices, num_experts, seats)
        seat = np.eye(seats + 1, dtype=flat.dtype)[np.minimum(positions, seats)][:, :, :seats]  # zeros where dropped
        self._places = np.einsum("tke,tkc->tkec", _one_hot(self.indices, num_experts).astype(flat.dtype), seat)
        buffers = np.einsum("tkec,td->ecd", self._places, flat)
        self._answers = np.stack([expert.forward(buffer) for expert, buffer in zip(self.experts, buffers, strict=True)])
        self.auxiliary_loss = self._balance_weight * load_balancing_loss(self.probabilities, self.indices)
        self.auxiliary_loss += self._z_weight * router_z_loss(self._logits)
        self._x = x
        return np.einsum("tk,tkec,ecd->td", self.gates, self._places, self._answers).reshape(x.shape)

    def backward(self, grad_output):
        if self._x is None:
            raise RuntimeError("backward before forward")
        _require(grad_output.shape == self._x.shape, f"grad_output: {grad_output.shape}, expected {self._x.shape}")
        flat = self._x.reshape(-1, self._x.shape[-1])
        grad = grad_output.reshape(flat.shape)
        grad_answers = np.einsum("tk,tkec,td->ecd", self.gates, self._places, grad)
        grad_buffers = np.stack([each.backward(g) for each, g in zip(self.experts, grad_answers, strict=True)])
        grad_flat = np.einsum("tkec,ecd->td", self._places, grad_buffers)
        grad_gates = np.einsum("td,tkec,ecd->tk", grad, self._places, self._answers)
        of_p = top_k_gating_backward(grad_gates, self.probabilities, self.indices, self._renormalize)
        of_p = of_p + self._balance_weight * load_balancing_loss_gradient(self.probabilities, self.indices)
        of_logits = self._z_weight * router_z_loss_gradient(self._logits)
        through_router, self._router_gradient = router_backward(of_logits, of_p, flat, self.router_weights)
        return (grad_flat + through_router).reshape(self._x.shape)
