"""A mixture of experts, written from the README and the stub of its stage alone; what the slips beside it edit."""

import math

import numpy as np

from stages.s17_transformer_blocks.blocks import MLP


def floats(x):
    return x if x.dtype.kind == "f" else x.astype(float)


def softmax(z):
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def logsumexp(z):
    m = np.max(z, axis=-1)
    return m + np.log(np.sum(np.exp(z - m[:, None]), axis=-1))


def need(ok, text):
    if not ok:
        raise ValueError(text)


def is_positive_integer(value):
    return isinstance(value, (int, np.integer)) and value >= 1


def router(x, router_weights):
    need(router_weights.ndim == 2, "router_weights: expected two axes")
    need(x.ndim >= 1 and x.shape[-1] == router_weights.shape[0], "x: expected dim features")
    logits = x @ router_weights
    return logits, softmax(logits)


def router_backward(grad_logits, grad_probabilities, x, router_weights):
    logits, probabilities = router(x, router_weights)
    need(grad_logits.shape == logits.shape, "grad_logits: another shape")
    need(grad_probabilities.shape == logits.shape, "grad_probabilities: another shape")
    rowsum = np.sum(grad_probabilities * probabilities, axis=-1, keepdims=True)
    grad = probabilities * (grad_probabilities - rowsum)
    grad = grad + grad_logits
    grad_x = grad @ router_weights.T
    x_flat = x.reshape(-1, x.shape[-1])
    grad_flat = grad.reshape(-1, grad.shape[-1])
    return grad_x, x_flat.T @ grad_flat


def top_k_gating(probabilities, k, renormalize=True):
    need(probabilities.ndim == 2, "probabilities: expected (tokens, num_experts)")
    need(is_positive_integer(k) and k <= probabilities.shape[1], "k: expected 1 to num_experts")
    order = np.argsort(-probabilities, axis=-1, kind="stable")
    indices = order[:, :k]
    gates = np.take_along_axis(probabilities, indices, axis=-1)
    if renormalize:
        gates = gates / np.sum(gates, axis=-1, keepdims=True)
    return indices, gates


def top_k_gating_backward(grad_gates, probabilities, indices, renormalize=True):
    need(probabilities.ndim == 2, "probabilities: expected (tokens, num_experts)")
    need(indices.ndim == 2 and len(indices) == len(probabilities), "indices: expected (tokens, k)")
    need(grad_gates.shape == indices.shape, "grad_gates: expected the shape of indices")
    probabilities = floats(probabilities)
    p = np.take_along_axis(probabilities, indices, axis=-1)
    if renormalize:
        s = np.sum(p, axis=-1, keepdims=True)
        g = p / s
        dp = (grad_gates - np.sum(grad_gates * g, axis=-1, keepdims=True)) / s
    else:
        dp = grad_gates
    result = np.zeros_like(probabilities)
    np.put_along_axis(result, indices, dp, axis=-1)
    return result


def expert_capacity(num_tokens, num_experts, k, capacity_factor):
    for value in (num_tokens, num_experts, k):
        need(is_positive_integer(value), "expected positive integers")
    need(capacity_factor > 0, "capacity_factor: expected more than 0")
    share = k * num_tokens / num_experts
    return math.ceil(capacity_factor * share)


def dispatch(indices, num_experts, capacity):
    need(indices.ndim == 2, "indices: expected (tokens, k)")
    need(is_positive_integer(num_experts), "num_experts: expected a positive integer")
    need(is_positive_integer(capacity), "capacity: expected a positive integer")
    need(np.all((indices >= 0) & (indices < num_experts)), "indices: expected 0 to num_experts - 1")
    tokens, k = indices.shape
    positions = np.zeros((tokens, k), dtype=int)
    seen = dict.fromkeys(range(num_experts), 0)
    for choice in range(k):
        for token in range(tokens):
            e = int(indices[token, choice])
            positions[token, choice] = seen[e]
            seen[e] = seen[e] + 1
    return positions, positions < capacity


def check_choices(probabilities, indices):
    need(probabilities.ndim == 2 and indices.ndim == 2, "expected two axes each")
    need(len(probabilities) == len(indices), "expected as many tokens in both")
    need(np.all((indices >= 0) & (indices < probabilities.shape[1])), "indices: no such expert")


def fractions(probabilities, indices):
    check_choices(probabilities, indices)
    tokens, k = indices.shape
    num_experts = probabilities.shape[1]
    f = np.zeros(num_experts)
    for e in range(num_experts):
        f[e] = np.sum(indices == e) / (tokens * k)
    return f


def load_balancing_loss(probabilities, indices):
    f = fractions(probabilities, indices)
    P = np.mean(probabilities, axis=0)
    return len(f) * np.sum(f * P)


def load_balancing_loss_gradient(probabilities, indices):
    f = fractions(probabilities, indices)
    gradient = np.ones(probabilities.shape, floats(probabilities).dtype)
    gradient *= len(f) * f / len(probabilities)
    return gradient


def router_z_loss(logits):
    need(logits.ndim == 2, "logits: expected (tokens, num_experts)")
    return np.mean(logsumexp(logits) ** 2)


def router_z_loss_gradient(logits):
    need(logits.ndim == 2, "logits: expected (tokens, num_experts)")
    z = logsumexp(logits)
    return 2 * z[:, None] * softmax(logits) / logits.shape[0]


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
        need(is_positive_integer(num_experts), "num_experts: expected a positive integer")
        need(is_positive_integer(k) and k <= num_experts, "k: expected 1 to num_experts")
        need(capacity_factor is None or capacity_factor > 0, "capacity_factor: expected more than 0")
        rng = np.random.default_rng() if rng is None else rng
        self.num_experts = num_experts
        self.k = k
        self.capacity_factor = capacity_factor
        self.renormalize = renormalize
        self.balance_weight = balance_weight
        self.z_weight = z_weight
        self.router_weights = rng.standard_normal((dim, num_experts)) / np.sqrt(dim)
        self.experts = [MLP(dim, hidden_dim, rng=rng) for _ in range(num_experts)]
        self.x = None
        self.router_gradient = None

    def forward(self, x):
        need(x.ndim >= 1 and x.shape[-1] == self.router_weights.shape[0], "x: expected (..., dim)")
        x = floats(x)
        self.x = x
        flat = x.reshape(-1, x.shape[-1])
        self.logits, self.probabilities = router(flat, self.router_weights)
        self.indices, self.gates = top_k_gating(self.probabilities, self.k, self.renormalize)
        self.kept = np.ones_like(self.indices, dtype=bool)
        if self.capacity_factor is not None:
            capacity = expert_capacity(len(flat), self.num_experts, self.k, self.capacity_factor)
            self.kept = dispatch(self.indices, self.num_experts, capacity)[1]
        self.auxiliary_loss = self.balance_weight * load_balancing_loss(self.probabilities, self.indices)
        self.auxiliary_loss += self.z_weight * router_z_loss(self.logits)
        output = np.zeros_like(flat)
        self.answers = np.zeros((*self.indices.shape, flat.shape[1]), dtype=flat.dtype)
        for e in range(self.num_experts):
            chosen = (self.indices == e) & self.kept
            who, which = np.nonzero(chosen)
            self.answers[who, which] = self.experts[e].forward(flat[who])
        for choice in range(self.k):
            weight = self.gates[:, choice] * self.kept[:, choice]
            output += weight[:, None] * self.answers[:, choice]
        return output.reshape(x.shape)

    def backward(self, grad_output):
        if self.x is None:
            raise RuntimeError("backward: forward comes first")
        need(grad_output.shape == self.x.shape, "grad_output: expected the shape of the last output")
        flat = self.x.reshape(-1, self.x.shape[-1])
        grad = grad_output.reshape(flat.shape)
        grad_gates = np.sum(self.answers * grad[:, None, :], axis=-1) * self.kept
        grad_x = np.zeros_like(flat)
        for e in range(self.num_experts):
            who, which = np.nonzero((self.indices == e) & self.kept)
            into_expert = self.gates[who, which][:, None] * grad[who]
            grad_x[who] += self.experts[e].backward(into_expert)
        grad_p = top_k_gating_backward(grad_gates, self.probabilities, self.indices, self.renormalize)
        grad_p = grad_p + self.balance_weight * load_balancing_loss_gradient(self.probabilities, self.indices)
        grad_l = self.z_weight * router_z_loss_gradient(self.logits)
        through_router, self.router_gradient = router_backward(grad_l, grad_p, flat, self.router_weights)
        grad_x = grad_x + through_router
        return grad_x.reshape(self.x.shape)

    @property
    def params(self):
        result = {"router_weights": self.router_weights}
        for e in range(self.num_experts):
            result.update({f"experts.{e}.{name}": value for name, value in self.experts[e].params.items()})
        return result

    @property
    def grads(self):
        if self.router_gradient is None:
            return {}
        result = {"router_weights": self.router_gradient}
        for e in range(self.num_experts):
            result.update({f"experts.{e}.{name}": value for name, value in self.experts[e].grads.items()})
        return result
