"""Token by token: every choice, seat and expert in a Python loop, and the experts asked again on the way back."""

import math

import numpy as np

from stages.s17_transformer_blocks.blocks import MLP


def _integer(name, value, most=math.inf):
    if not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
        raise ValueError(f"{name}: {value!r} is not an integer from 1 to {most}")


def _table(name, array, rows=None):
    if array.ndim != 2 or rows not in (None, array.shape[0]):
        raise ValueError(f"{name}: shape {array.shape} is no table of {rows or 'some'} tokens")


def _same_shape(name, array, other):
    if array.shape != other.shape:
        raise ValueError(f"{name}: shape {array.shape} is not {other.shape}")


def _fits(x, router_weights):
    if router_weights.ndim != 2 or x.ndim == 0 or x.shape[-1] != len(router_weights):
        raise ValueError(f"x {x.shape} and router_weights {router_weights.shape} do not go together")


def _softmax_row(row):
    top = max(row)
    powers = [math.exp(value - top) for value in row]
    return [power / math.fsum(powers) for power in powers]


def _log_sum_exp_row(row):
    top = max(row)
    return top + math.log(math.fsum(math.exp(value - top) for value in row))


def router(x, router_weights):
    _fits(x, router_weights)
    logits = np.matmul(x, router_weights)
    probabilities = np.empty(logits.shape, np.result_type(logits, 1.0))
    for place in np.ndindex(x.shape[:-1]):
        probabilities[place] = _softmax_row(logits[place].tolist())
    return logits, probabilities


def router_backward(grad_logits, grad_probabilities, x, router_weights):
    logits, probabilities = router(x, router_weights)
    _same_shape("grad_logits", grad_logits, logits)
    _same_shape("grad_probabilities", grad_probabilities, logits)
    dtype = np.result_type(x, grad_probabilities, 1.0)
    grad_x, grad_router_weights = np.zeros(x.shape, dtype), np.zeros(router_weights.shape, dtype)
    for place in np.ndindex(x.shape[:-1]):
        p, grad_p = probabilities[place], grad_probabilities[place]
        jacobian = np.diag(p) - np.outer(p, p)
        grad = grad_logits[place] + jacobian @ grad_p
        grad_x[place] = router_weights @ grad
        grad_router_weights += np.outer(x[place], grad)
    return grad_x, grad_router_weights


def top_k_gating(probabilities, k, renormalize=True):
    _table("probabilities", probabilities)
    tokens, num_experts = probabilities.shape
    _integer("k", k, num_experts)
    indices, gates = np.zeros((tokens, k), dtype=int), np.zeros((tokens, k), dtype=probabilities.dtype)
    for t, row in enumerate(probabilities):
        left = list(range(num_experts))
        for j in range(k):
            best = left[0]
            for expert in left:
                if row[expert] > row[best]:
                    best = expert
            left.remove(best)
            indices[t, j], gates[t, j] = best, row[best]
        if renormalize:
            gates[t] /= gates[t].sum()
    return indices, gates


def top_k_gating_backward(grad_gates, probabilities, indices, renormalize=True):
    _table("probabilities", probabilities)
    _table("indices", indices, len(probabilities))
    _same_shape("grad_gates", grad_gates, indices)
    grad = np.zeros(probabilities.shape, np.result_type(probabilities, grad_gates))
    for t, experts in enumerate(indices):
        if not renormalize:
            grad[t, experts] = grad_gates[t]
            continue
        p = probabilities[t, experts]
        total = p.sum()
        for i, expert in enumerate(experts):
            for j in range(len(experts)):
                slope = (total - p[j] if i == j else -p[j]) / total**2
                grad[t, expert] += grad_gates[t, j] * slope
    return grad


def expert_capacity(num_tokens, num_experts, k, capacity_factor):
    for name, value in {"num_tokens": num_tokens, "num_experts": num_experts, "k": k}.items():
        _integer(name, value)
    if not capacity_factor > 0:
        raise ValueError(f"capacity_factor: {capacity_factor} is not above 0")
    return int(np.ceil(capacity_factor * num_tokens * k / num_experts))


def dispatch(indices, num_experts, capacity):
    _table("indices", indices)
    _integer("num_experts", num_experts)
    _integer("capacity", capacity)
    queues = [[] for _ in range(num_experts)]
    positions = np.zeros(indices.shape, dtype=int)
    for j, column in enumerate(indices.T.tolist()):
        for t, expert in enumerate(column):
            if not 0 <= expert < num_experts:
                raise ValueError(f"indices: {expert} is no expert from 0 to {num_experts - 1}")
            positions[t, j] = len(queues[expert])
            queues[expert].append(t)
    return positions, np.array([[position < capacity for position in row] for row in positions])


def _counts(probabilities, indices):
    _table("probabilities", probabilities)
    _table("indices", indices, len(probabilities))
    counts = [0] * probabilities.shape[1]
    for expert in indices.ravel().tolist():
        if not 0 <= expert < len(counts):
            raise ValueError(f"indices: {expert} is no expert from 0 to {len(counts) - 1}")
        counts[expert] += 1
    return counts


def load_balancing_loss(probabilities, indices):
    loss = 0.0
    for expert, count in enumerate(_counts(probabilities, indices)):
        loss += count / indices.size * float(np.mean(probabilities[:, expert]))
    return loss * probabilities.shape[1]


def load_balancing_loss_gradient(probabilities, indices):
    grad = np.zeros(probabilities.shape, np.result_type(probabilities, 1.0))
    tokens, num_experts = probabilities.shape[:1], probabilities.shape[-1]
    for expert, count in enumerate(_counts(probabilities, indices)):
        grad[:, expert] = num_experts * count / indices.size / tokens[0]
    return grad


def router_z_loss(logits):
    _table("logits", logits)
    return sum(_log_sum_exp_row(row) ** 2 for row in logits.tolist()) / len(logits)


def router_z_loss_gradient(logits):
    _table("logits", logits)
    grad = np.zeros(logits.shape, np.result_type(logits, 1.0))
    for t, row in enumerate(logits.tolist()):
        z = _log_sum_exp_row(row)
        for expert, share in enumerate(_softmax_row(row)):
            grad[t, expert] = 2 * z * share / len(logits)
    return grad


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
        _integer("num_experts", num_experts)
        _integer("k", k, num_experts)
        if capacity_factor is not None and not capacity_factor > 0:
            raise ValueError(f"capacity_factor: {capacity_factor} is not above 0")
        rng = rng or np.random.default_rng()
        self.experts = [MLP(dim, hidden_dim, 0.0, rng) for _ in range(num_experts)]
        self.router_weights = rng.normal(scale=dim**-0.5, size=(dim, num_experts))
        self._options = k, capacity_factor, renormalize
        self._weights = balance_weight, z_weight
        self.grads, self._x = {}, None

    @property
    def params(self):
        named = {"router_weights": self.router_weights}
        for number, expert in enumerate(self.experts):
            named.update({f"experts.{number}.{key}": value for key, value in expert.params.items()})
        return named

    def forward(self, x):
        _fits(x, self.router_weights)
        k, capacity_factor, renormalize = self._options
        tokens = x.reshape(-1, x.shape[-1])
        self._logits, self.probabilities = router(tokens, self.router_weights)
        self.indices, self.gates = top_k_gating(self.probabilities, k, renormalize)
        capacity = len(tokens)
        if capacity_factor is not None:
            capacity = expert_capacity(len(tokens), len(self.experts), k, capacity_factor)
        _, self.kept = dispatch(self.indices, len(self.experts), capacity)
        self.auxiliary_loss = self._weights[0] * load_balancing_loss(self.probabilities, self.indices)
        self.auxiliary_loss += self._weights[1] * router_z_loss(self._logits)
        output = np.zeros(tokens.shape, np.result_type(tokens, 1.0))
        for t, j in np.argwhere(self.kept):
            output[t] += self.gates[t, j] * self.experts[self.indices[t, j]].forward(tokens[t])
        self._x = x
        return output.reshape(x.shape)

    def backward(self, grad_output):
        if self._x is None:
            raise RuntimeError("backward: there was no forward")
        _same_shape("grad_output", grad_output, self._x)
        tokens = self._x.reshape(-1, self._x.shape[-1])
        grad = grad_output.reshape(tokens.shape)
        grad_x, grad_gates = np.zeros(tokens.shape, np.result_type(tokens, grad)), np.zeros_like(self.gates)
        grads = {name: np.zeros_like(value) for name, value in self.params.items()}
        for t, j in np.argwhere(self.kept):
            number = self.indices[t, j]
            expert = self.experts[number]
            grad_gates[t, j] = expert.forward(tokens[t]) @ grad[t]
            grad_x[t] += expert.backward(self.gates[t, j] * grad[t])
            for key, value in expert.grads.items():
                grads[f"experts.{number}.{key}"] += value
        grad_probabilities = top_k_gating_backward(grad_gates, self.probabilities, self.indices, self._options[2])
        grad_probabilities += self._weights[0] * load_balancing_loss_gradient(self.probabilities, self.indices)
        grad_logits = self._weights[1] * router_z_loss_gradient(self._logits)
        grad_router_x, grads["router_weights"] = router_backward(
            grad_logits, grad_probabilities, tokens, self.router_weights
        )
        self.grads = grads
        return (grad_x + grad_router_x).reshape(self._x.shape)
