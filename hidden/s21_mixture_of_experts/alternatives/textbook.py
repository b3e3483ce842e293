"""A mixture of experts as the README tells it, step by step, with its names."""

import math

import numpy as np

from stages.s17_transformer_blocks.blocks import MLP


def softmax(logits):
    exps = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


def log_sum_exp(logits):
    m = logits.max(axis=1, keepdims=True)
    return m[:, 0] + np.log(np.exp(logits - m).sum(axis=1))


def check_router(x, router_weights):
    if router_weights.ndim != 2:
        raise ValueError(f"router_weights has shape {router_weights.shape}, expected two axes")
    if x.ndim == 0 or x.shape[-1] != router_weights.shape[0]:
        raise ValueError(f"x has shape {x.shape}, expected {router_weights.shape[0]} features")


def check_integer(name, value):
    if not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} is {value}, expected a positive integer")


def check_choices(probabilities, indices):
    if probabilities.ndim != 2 or indices.ndim != 2:
        raise ValueError(f"probabilities {probabilities.shape} and indices {indices.shape}: expected two axes each")
    if probabilities.shape[0] != indices.shape[0]:
        raise ValueError(f"{probabilities.shape[0]} rows of probabilities, but {indices.shape[0]} of indices")


def router(x, router_weights):
    check_router(x, router_weights)
    logits = x @ router_weights
    probabilities = softmax(logits)
    return logits, probabilities


def router_backward(grad_logits, grad_probabilities, x, router_weights):
    logits, probabilities = router(x, router_weights)
    if grad_logits.shape != logits.shape or grad_probabilities.shape != logits.shape:
        raise ValueError(f"gradients {grad_logits.shape}, {grad_probabilities.shape}: expected {logits.shape}")
    dim, num_experts = router_weights.shape
    row_sums = (grad_probabilities * probabilities).sum(axis=-1, keepdims=True)
    through_softmax = probabilities * (grad_probabilities - row_sums)
    grad = grad_logits + through_softmax
    grad_x = grad @ router_weights.T
    grad_router_weights = x.reshape(-1, dim).T @ grad.reshape(-1, num_experts)
    return grad_x, grad_router_weights


def top_k_gating(probabilities, k, renormalize=True):
    if probabilities.ndim != 2:
        raise ValueError(f"probabilities has shape {probabilities.shape}, expected (tokens, num_experts)")
    check_integer("k", k)
    if k > probabilities.shape[1]:
        raise ValueError(f"k is {k}, expected at most {probabilities.shape[1]}")
    order = np.argsort(-probabilities, axis=1, kind="stable")
    indices = order[:, :k]
    gates = np.take_along_axis(probabilities, indices, axis=1)
    if renormalize:
        gates = gates / gates.sum(axis=1, keepdims=True)
    return indices, gates


def top_k_gating_backward(grad_gates, probabilities, indices, renormalize=True):
    check_choices(probabilities, indices)
    if grad_gates.shape != indices.shape:
        raise ValueError(f"grad_gates has shape {grad_gates.shape}, expected {indices.shape}")
    grad_chosen = grad_gates
    if renormalize:
        chosen = np.take_along_axis(probabilities, indices, axis=1)
        s = chosen.sum(axis=1, keepdims=True)
        gates = chosen / s
        average = (grad_gates * gates).sum(axis=1, keepdims=True)
        grad_chosen = (grad_gates - average) / s
    grad_probabilities = np.zeros(probabilities.shape, np.result_type(probabilities, grad_chosen))
    np.put_along_axis(grad_probabilities, indices, grad_chosen, axis=1)
    return grad_probabilities


def expert_capacity(num_tokens, num_experts, k, capacity_factor):
    check_integer("num_tokens", num_tokens)
    check_integer("num_experts", num_experts)
    check_integer("k", k)
    if not capacity_factor > 0:
        raise ValueError(f"capacity_factor is {capacity_factor}, expected more than 0")
    equal_share = k * num_tokens / num_experts
    return math.ceil(capacity_factor * equal_share)


def dispatch(indices, num_experts, capacity):
    if indices.ndim != 2:
        raise ValueError(f"indices has shape {indices.shape}, expected (tokens, k)")
    check_integer("num_experts", num_experts)
    check_integer("capacity", capacity)
    if indices.min() < 0 or indices.max() >= num_experts:
        raise ValueError(f"indices go from {indices.min()} to {indices.max()}, expected 0 to {num_experts - 1}")
    tokens, k = indices.shape
    taken = np.zeros(num_experts, dtype=int)
    positions = np.zeros((tokens, k), dtype=int)
    for j in range(k):
        for t in range(tokens):
            expert = indices[t, j]
            positions[t, j] = taken[expert]
            taken[expert] += 1
    kept = positions < capacity
    return positions, kept


def expert_shares(probabilities, indices):
    check_choices(probabilities, indices)
    num_experts = probabilities.shape[1]
    if indices.min() < 0 or indices.max() >= num_experts:
        raise ValueError(f"indices go from {indices.min()} to {indices.max()}, expected 0 to {num_experts - 1}")
    counts = np.bincount(indices.ravel(), minlength=num_experts)
    return counts / indices.size


def load_balancing_loss(probabilities, indices):
    f = expert_shares(probabilities, indices)
    P = probabilities.mean(axis=0)
    num_experts = probabilities.shape[1]
    return num_experts * np.sum(f * P)


def load_balancing_loss_gradient(probabilities, indices):
    f = expert_shares(probabilities, indices)
    tokens, num_experts = probabilities.shape
    row = num_experts * f / tokens
    return np.tile(row, (tokens, 1)).astype(np.result_type(probabilities, 1.0))


def router_z_loss(logits):
    if logits.ndim != 2:
        raise ValueError(f"logits has shape {logits.shape}, expected (tokens, num_experts)")
    return np.mean(log_sum_exp(logits) ** 2)


def router_z_loss_gradient(logits):
    if logits.ndim != 2:
        raise ValueError(f"logits has shape {logits.shape}, expected (tokens, num_experts)")
    z = log_sum_exp(logits)
    return 2 * z[:, None] * softmax(logits) / len(logits)


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
        check_integer("num_experts", num_experts)
        check_integer("k", k)
        if k > num_experts:
            raise ValueError(f"k is {k}, expected at most {num_experts}")
        if capacity_factor is not None and not capacity_factor > 0:
            raise ValueError(f"capacity_factor is {capacity_factor}, expected more than 0")
        if rng is None:
            rng = np.random.default_rng()
        self.dim = dim
        self.num_experts = num_experts
        self.k = k
        self.capacity_factor = capacity_factor
        self.renormalize = renormalize
        self.balance_weight = balance_weight
        self.z_weight = z_weight
        self.router_weights = rng.normal(0, 1 / math.sqrt(dim), size=(dim, num_experts))
        self.experts = []
        for _ in range(num_experts):
            self.experts.append(MLP(dim, hidden_dim, rng=rng))
        self.shape = None
        self.grad_router_weights = None

    @property
    def params(self):
        params = {"router_weights": self.router_weights}
        for i, expert in enumerate(self.experts):
            for key, value in expert.params.items():
                params[f"experts.{i}.{key}"] = value
        return params

    @property
    def grads(self):
        if self.grad_router_weights is None:
            return {}
        grads = {"router_weights": self.grad_router_weights}
        for i, expert in enumerate(self.experts):
            for key, value in expert.grads.items():
                grads[f"experts.{i}.{key}"] = value
        return grads

    def forward(self, x):
        check_router(x, self.router_weights)
        self.shape = x.shape
        self.tokens = x.reshape(-1, self.dim)
        self.logits, self.probabilities = router(self.tokens, self.router_weights)
        self.indices, self.gates = top_k_gating(self.probabilities, self.k, self.renormalize)

        if self.capacity_factor is None:
            self.kept = np.ones(self.indices.shape, dtype=bool)
        else:
            capacity = expert_capacity(len(self.tokens), self.num_experts, self.k, self.capacity_factor)
            positions, self.kept = dispatch(self.indices, self.num_experts, capacity)

        balance = load_balancing_loss(self.probabilities, self.indices)
        z = router_z_loss(self.logits)
        self.auxiliary_loss = self.balance_weight * balance + self.z_weight * z

        output = np.zeros(self.tokens.shape, np.result_type(self.tokens, 1.0))
        self.chosen_by = []
        self.expert_outputs = []
        for i, expert in enumerate(self.experts):
            rows, choices = np.where((self.indices == i) & self.kept)
            expert_output = expert.forward(self.tokens[rows])
            gate = self.gates[rows, choices][:, None]
            output[rows] += gate * expert_output
            self.chosen_by.append((rows, choices))
            self.expert_outputs.append(expert_output)
        return output.reshape(self.shape)

    def backward(self, grad_output):
        if self.shape is None:
            raise RuntimeError("backward needs a forward call before it")
        if grad_output.shape != self.shape:
            raise ValueError(f"grad_output has shape {grad_output.shape}, expected {self.shape}")
        grad = grad_output.reshape(-1, self.dim)

        grad_x = np.zeros(self.tokens.shape, np.result_type(self.tokens, grad))
        grad_gates = np.zeros_like(self.gates)
        for i, expert in enumerate(self.experts):
            rows, choices = self.chosen_by[i]
            gate = self.gates[rows, choices][:, None]
            grad_x[rows] += expert.backward(gate * grad[rows])
            grad_gates[rows, choices] = np.sum(grad[rows] * self.expert_outputs[i], axis=1)

        grad_probabilities = top_k_gating_backward(grad_gates, self.probabilities, self.indices, self.renormalize)
        grad_balance = load_balancing_loss_gradient(self.probabilities, self.indices)
        grad_probabilities = grad_probabilities + self.balance_weight * grad_balance
        grad_logits = self.z_weight * router_z_loss_gradient(self.logits)
        grad_x_router, self.grad_router_weights = router_backward(
            grad_logits, grad_probabilities, self.tokens, self.router_weights
        )
        grad_x = grad_x + grad_x_router
        return grad_x.reshape(self.shape)
