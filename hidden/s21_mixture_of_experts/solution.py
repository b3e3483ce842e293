"""Mixture of experts: a router, top-k gating, capacity, two losses that keep the router in order, and the layer.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
the feature axis is last; a token is one feature vector; arrays of the router have one row a token, (tokens, ...); the
experts are the MLPs of stage s17; inputs are never changed.
"""

import math

import numpy as np

from stages.s17_transformer_blocks.blocks import MLP


def router(x, router_weights):
    """Return how well every expert suits every token: the logits, and their softmax.

    Args:
        x: tokens, shape (..., dim).
        router_weights: shape (dim, num_experts), a column for each expert.

    Returns:
        (logits, probabilities), both of shape (..., num_experts): x router_weights, and its softmax along the last
        axis. Logits of any size give probabilities that sum to 1. float32 for float32 inputs.

    Raises:
        ValueError: router_weights has not two axes, or x has not dim features.

    Source: Shazeer et al. 2017, equation 2 (softmax gating).

    Example:
        >>> logits, probabilities = router(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[np.log(3), 0.0], [0.0, 0.0]]))
        >>> probabilities.round(4)
        array([[0.75, 0.25],
               [0.5 , 0.5 ]])
    """
    _require_router(x, router_weights)
    logits = x @ router_weights
    return logits, _softmax(logits)


def router_backward(grad_logits, grad_probabilities, x, router_weights):
    """Return the gradients of router's inputs from those of what it returned.

    Args:
        grad_logits: what reaches the logits by other ways than through the probabilities, shape (..., num_experts).
        grad_probabilities: gradient of the loss with respect to the probabilities, shape (..., num_experts).
        x, router_weights: what router was given.

    Returns:
        (grad_x, grad_router_weights), each of the shape of its input; the second is summed over all tokens.

    Raises:
        ValueError: what router refuses, or a gradient has not the shape (..., num_experts).

    Source: the chain rule on Shazeer et al. 2017, equation 2.

    Example:
        >>> x, router_weights = np.array([[2.0]]), np.array([[0.0, 0.0]])
        >>> grad_x, grad_router_weights = router_backward(np.zeros((1, 2)), np.array([[1.0, 0.0]]), x, router_weights)
        >>> grad_router_weights
        array([[ 0.5, -0.5]])
    """
    _require_router(x, router_weights)
    shape = (*x.shape[:-1], router_weights.shape[1])
    _require_shape("grad_logits", grad_logits, shape)
    _require_shape("grad_probabilities", grad_probabilities, shape)
    probabilities = _softmax(x @ router_weights)
    weighted = grad_probabilities * probabilities
    grad = grad_logits + weighted - probabilities * weighted.sum(axis=-1, keepdims=True)
    leading = range(x.ndim - 1)
    return grad @ router_weights.T, np.tensordot(x, grad, (leading, leading))


def top_k_gating(probabilities, k, renormalize=True):
    """Return the k most probable experts of every token, and how much each of them counts.

    Args:
        probabilities: shape (tokens, num_experts).
        k: how many experts a token gets, 1 to num_experts.
        renormalize: True divides the k probabilities by their sum, False takes them as they are.

    Returns:
        (indices, gates), both of shape (tokens, k). indices are integers, the most probable expert first; of experts
        that are equally probable, the one with the lower index comes first. gates[t, j] belongs to indices[t, j].
        gates are float32 for float32 probabilities.

    Raises:
        ValueError: probabilities has not two axes, or k is not an integer from 1 to num_experts.

    Source: Shazeer et al. 2017, equations 3 to 5; a softmax over the k largest logits, as in Jiang et al. 2024
    (Mixtral), section 2.1, gives the same gates. Without renormalize: Fedus et al. 2021 (Switch), section 2.1.

    Example:
        >>> indices, gates = top_k_gating(np.array([[0.125, 0.5, 0.375]]), 2)
        >>> indices.tolist(), gates.round(4).tolist()
        ([[1, 2]], [[0.5714, 0.4286]])
    """
    _require_table("probabilities", probabilities)
    _require_k(k, probabilities.shape[1])
    indices = np.argsort(-probabilities, kind="stable")[:, :k]  # stable: ties stay in the order of the experts
    gates = np.take_along_axis(probabilities, indices, axis=1)
    return indices, gates / gates.sum(axis=1, keepdims=True) if renormalize else gates


def top_k_gating_backward(grad_gates, probabilities, indices, renormalize=True):
    """Return the gradient of the probabilities from that of the gates.

    Which experts are chosen does not change under a small step, so the choice itself has no gradient.

    Args:
        grad_gates: gradient of the loss with respect to the gates, shape (tokens, k).
        probabilities, renormalize: what top_k_gating was given.
        indices: what top_k_gating returned, shape (tokens, k).

    Returns:
        Shape (tokens, num_experts); 0 for experts that were not chosen. float64 for integer probabilities.

    Raises:
        ValueError: probabilities has not two axes, or grad_gates has not the shape of indices, (tokens, k).

    Source: the quotient rule on Shazeer et al. 2017, equation 3.

    Example:
        >>> probabilities, indices = np.array([[0.125, 0.5, 0.375]]), np.array([[1, 2]])
        >>> top_k_gating_backward(np.array([[1.0, 0.0]]), probabilities, indices).round(4) + 0.0
        array([[ 0.    ,  0.4898, -0.6531]])
    """
    _require_table("probabilities", probabilities)
    _require_choices(indices, len(probabilities))
    _require_shape("grad_gates", grad_gates, indices.shape)
    chosen = grad_gates
    if renormalize:
        values = np.take_along_axis(probabilities, indices, axis=1)
        total = values.sum(axis=1, keepdims=True)
        chosen = (grad_gates - (grad_gates * values).sum(axis=1, keepdims=True) / total) / total
    grad = np.zeros_like(_floats(probabilities))
    np.put_along_axis(grad, indices, chosen, axis=1)
    return grad


def expert_capacity(num_tokens, num_experts, k, capacity_factor):
    """Return how many tokens one expert may get: capacity_factor * k * num_tokens / num_experts, rounded up.

    Args:
        num_tokens: how many tokens the layer was given, those of all sequences together; a positive integer.
        num_experts, k: positive integers.
        capacity_factor: 1 leaves each expert its equal share, more leaves room for an uneven load; above 0.

    Returns:
        An integer of at least 1. The product is that of floats: 1.1 is a little more than 11/10, so that
        expert_capacity(50, 2, 2, 1.1) is 56, where exact tenths would give 55.

    Raises:
        ValueError: a count is not a positive integer, or capacity_factor is not above 0.

    Source: Fedus et al. 2021 (Switch), equation 3, times k as in Lepikhin et al. 2020 (GShard), section 2.2.

    Example:
        >>> expert_capacity(8, 4, 1, 1.25), expert_capacity(8, 4, 2, 1.0)
        (3, 4)
    """
    _require_count("num_tokens", num_tokens)
    _require_count("num_experts", num_experts)
    _require_count("k", k)
    _require_positive("capacity_factor", capacity_factor)
    return math.ceil(capacity_factor * k * num_tokens / num_experts)


def dispatch(indices, num_experts, capacity):
    """Return the seat that every token takes at its experts, and whether that expert still had room.

    Seats are given out in the order of the tokens: first to the first choices of all tokens, then to the second
    choices of all tokens, and so on. A token that finds an expert full is dropped there, and asks no other expert.

    Args:
        indices: the chosen experts, integers of shape (tokens, k), from 0 to num_experts - 1.
        num_experts: how many experts there are; a positive integer.
        capacity: how many tokens an expert takes; a positive integer.

    Returns:
        (positions, kept), both of shape (tokens, k). positions[t, j] is an integer: how many were sent to the same
        expert before. kept is boolean, True where the position is below capacity.

    Raises:
        ValueError: indices has not two axes or names no expert from 0 to num_experts - 1, or a count is not a positive
            integer.

    Source: Lepikhin et al. 2020 (GShard), algorithm 1; Fedus et al. 2021 (Switch), figure 3.

    Example:
        >>> positions, kept = dispatch(np.array([[0, 1], [0, 2], [1, 0]]), 3, 2)
        >>> positions.tolist()
        [[0, 1], [1, 0], [0, 2]]
        >>> kept.tolist()
        [[True, True], [True, True], [True, False]]
    """
    _require_table("indices", indices)
    _require_count("num_experts", num_experts)
    _require_count("capacity", capacity)
    _require_experts(indices, num_experts)
    sent = indices.T.ravel()[:, None] == np.arange(num_experts)  # a row for each seat asked for, in order
    before = np.cumsum(sent, axis=0) - sent
    positions = before[sent].reshape(indices.shape[::-1]).T
    return positions, positions < capacity


def load_balancing_loss(probabilities, indices):
    """Return num_experts * sum over the experts of f * P: 1 where the load is even, more where it is not.

    f is the share of the tokens * k choices that fell on an expert, before any is dropped; P is its mean probability.

    Args:
        probabilities: shape (tokens, num_experts), each row sums to 1.
        indices: the chosen experts, shape (tokens, k), from 0 to num_experts - 1.

    Returns:
        A number, at least 0.

    Raises:
        ValueError: probabilities or indices has not two axes, they differ in tokens, or an index names no expert.

    Source: Fedus et al. 2021 (Switch), equations 4 to 6; for k above 1, f is divided by k so that even stays 1.

    Example:
        >>> even, uneven = np.full((2, 2), 0.5), np.array([[0.75, 0.25], [0.75, 0.25]])
        >>> float(load_balancing_loss(even, np.array([[0], [1]])))
        1.0
        >>> float(load_balancing_loss(uneven, np.array([[0], [0]])))
        1.5
    """
    num_experts = probabilities.shape[-1]
    return num_experts * (_load_shares(probabilities, indices) * probabilities.mean(axis=0)).sum()


def load_balancing_loss_gradient(probabilities, indices):
    """Return the gradient of load_balancing_loss with respect to the probabilities.

    f counts choices and does not change under a small step: it is a constant here. The gradient comes from P alone.

    Args:
        probabilities, indices: as for load_balancing_loss.

    Returns:
        Shape (tokens, num_experts). float32 for float32 probabilities, float64 for integers.

    Raises:
        ValueError: what load_balancing_loss refuses.

    Source: Fedus et al. 2021 (Switch), section 2.2: the vector P is differentiable, f is not.

    Example:
        >>> load_balancing_loss_gradient(np.array([[0.75, 0.25], [0.75, 0.25]]), np.array([[0], [0]]))
        array([[1., 0.],
               [1., 0.]])
    """
    probabilities = _floats(probabilities)
    tokens, num_experts = probabilities.shape[0], probabilities.shape[-1]
    slope = num_experts * _load_shares(probabilities, indices) / max(tokens, 1)
    return np.zeros_like(probabilities) + slope.astype(probabilities.dtype)


def router_z_loss(logits):
    """Return the mean over the tokens of (log of the sum of exp(logits))^2, which keeps the logits small.

    Args:
        logits: shape (tokens, num_experts), of any size.

    Returns:
        A number, at least 0.

    Raises:
        ValueError: logits has not two axes.

    Source: Zoph et al. 2022 (ST-MoE), equation 5.

    Example:
        >>> round(float(router_z_loss(np.zeros((3, 2)))), 4)  # (log 2)^2
        0.4805
    """
    _require_table("logits", logits)
    return (_log_sum_exp(logits) ** 2).mean()


def router_z_loss_gradient(logits):
    """Return the gradient of router_z_loss with respect to the logits.

    Args:
        logits: shape (tokens, num_experts), of any size.

    Returns:
        Shape (tokens, num_experts). float32 for float32 logits.

    Raises:
        ValueError: logits has not two axes.

    Source: the chain rule on Zoph et al. 2022 (ST-MoE), equation 5: the slope of log-sum-exp is the softmax.

    Example:
        >>> router_z_loss_gradient(np.zeros((1, 2))).round(4)  # 2 log 2 * 0.5
        array([[0.6931, 0.6931]])
    """
    _require_table("logits", logits)
    return 2 * _log_sum_exp(logits)[:, None] * _softmax(logits) / len(logits)


class MoELayer:
    """A mixture of experts: each token goes to k of num_experts MLPs, and gets the sum of gate times output.

    All tokens of a call are taken together, in the order of x.reshape(-1, dim). For token t, with (indices, gates) of
    top_k_gating of the router's probabilities, output[t] is the sum over j of gates[t, j] * expert indices[t, j] of
    x[t]. Choices that dispatch drops add nothing, and the gates that are left stay as they are.

    Args:
        dim: number of features of input and output.
        hidden_dim: number of hidden units of each expert.
        num_experts: how many experts.
        k: how many of them a token gets, 1 to num_experts.
        capacity_factor: None drops nothing; a number gives each expert expert_capacity(...) seats.
        renormalize: as for top_k_gating.
        balance_weight: what load_balancing_loss counts in auxiliary_loss.
        z_weight: what router_z_loss counts in auxiliary_loss.
        rng: np.random.Generator that draws the weights; None draws a fresh one. Generators of the same seed give the
            same weights.

    Attributes:
        router_weights: shape (dim, num_experts). At first normally distributed with mean 0 and standard deviation
            1/sqrt(dim).
        experts: list of num_experts MLPs of stage s17, MLP(dim, hidden_dim), each with parameters of its own.
        probabilities: after forward, the router's, shape (tokens, num_experts).
        indices, gates: after forward, those of top_k_gating, shape (tokens, k).
        kept: after forward, which choices were not dropped, boolean, shape (tokens, k).
        auxiliary_loss: after forward, balance_weight * load_balancing_loss + z_weight * router_z_loss, a number.

    Raises:
        ValueError: num_experts is not a positive integer, k is not an integer from 1 to num_experts, or
            capacity_factor is neither None nor above 0.

    Source: Shazeer et al. 2017, equation 1; Lepikhin et al. 2020 (GShard); Fedus et al. 2021 (Switch).

    Example:
        >>> layer = MoELayer(8, 16, 4, k=2, rng=np.random.default_rng(0))
        >>> layer.forward(np.ones((3, 5, 8))).shape, layer.probabilities.shape, layer.gates.shape
        ((3, 5, 8), (15, 4), (15, 2))
        >>> len(layer.params), layer.params["experts.3.W1"].shape
        (17, (8, 16))
    """

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
        _require_count("num_experts", num_experts)
        _require_k(k, num_experts)
        if capacity_factor is not None:
            _require_positive("capacity_factor", capacity_factor)
        rng = np.random.default_rng() if rng is None else rng
        self._num_experts, self._k = num_experts, k
        self._capacity_factor, self._renormalize = capacity_factor, renormalize
        self._balance_weight, self._z_weight = balance_weight, z_weight
        self.router_weights = rng.standard_normal((dim, num_experts)) / math.sqrt(dim)
        self.experts = [MLP(dim, hidden_dim, rng=rng) for _ in range(num_experts)]
        self._grad_router_weights = None
        self._cache = None

    def forward(self, x):
        """Return the weighted sum of what its experts make of each token.

        Args:
            x: shape (..., dim), at least one token.

        Returns:
            The shape of x. A token that was dropped by all its experts has output 0. float32 for float32 x and
            parameters, float64 for integer x.

        Raises:
            ValueError: x is not (..., dim).
        """
        _require_router(x, self.router_weights)
        tokens = _floats(x.reshape(-1, x.shape[-1]))
        logits, self.probabilities = router(tokens, self.router_weights)
        self.indices, self.gates = top_k_gating(self.probabilities, self._k, self._renormalize)
        self.kept = self._seats(len(tokens))
        balance, z = load_balancing_loss(self.probabilities, self.indices), router_z_loss(logits)
        self.auxiliary_loss = self._balance_weight * balance + self._z_weight * z
        output = np.zeros_like(tokens)
        chosen = []
        for number, expert in enumerate(self.experts):
            rows, choices = np.nonzero((self.indices == number) & self.kept)
            result = expert.forward(tokens[rows])
            output[rows] += self.gates[rows, choices][:, None] * result
            chosen.append((rows, choices, result))
        self._cache = x.shape, tokens, logits, chosen
        return output.reshape(x.shape)

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x, and put those of the parameters in grads.

        The loss is the one that grad_output comes from plus auxiliary_loss. Gradients pass through the experts, and
        through the gates into the router; which experts are chosen, and what is dropped, has no gradient.

        Args:
            grad_output: gradient of the loss, without auxiliary_loss, with respect to the last output, of its shape.

        Returns:
            The shape of x. grads is replaced, not added to; an expert that got no token has gradients of zeros.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        if self._cache is None:
            raise RuntimeError("backward: forward has not been called, expected one forward call before it")
        shape, tokens, logits, chosen = self._cache
        _require_shape("grad_output", grad_output, shape)
        grad = grad_output.reshape(tokens.shape)
        grad_x, grad_gates = np.zeros_like(tokens), np.zeros_like(self.gates)
        for expert, (rows, choices, result) in zip(self.experts, chosen, strict=True):
            grad_gates[rows, choices] = (grad[rows] * result).sum(axis=-1)
            grad_x[rows] += expert.backward(self.gates[rows, choices][:, None] * grad[rows])
        grad_probabilities = top_k_gating_backward(grad_gates, self.probabilities, self.indices, self._renormalize)
        balance = load_balancing_loss_gradient(self.probabilities, self.indices)
        grad_of_router, self._grad_router_weights = router_backward(
            self._z_weight * router_z_loss_gradient(logits),
            grad_probabilities + self._balance_weight * balance,
            tokens,
            self.router_weights,
        )
        return (grad_x + grad_of_router).reshape(shape)

    @property
    def params(self):
        """All parameters by dotted name: "router_weights", "experts.0.W1", "experts.0.b1" and so on.

        To replace some, set router_weights, or the params of an expert: layer.experts[0].params = {"W1": ..., ...}.
        """
        return {"router_weights": self.router_weights, **self._of_experts("params")}

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        if self._grad_router_weights is None:
            return {}
        return {"router_weights": self._grad_router_weights, **self._of_experts("grads")}

    def _of_experts(self, which):
        return {
            f"experts.{number}.{key}": value
            for number, expert in enumerate(self.experts)
            for key, value in getattr(expert, which).items()
        }

    def _seats(self, num_tokens):
        """Return which choices find room, (tokens, k)."""
        if self._capacity_factor is None:
            return np.full(self.indices.shape, True)
        capacity = expert_capacity(num_tokens, self._num_experts, self._k, self._capacity_factor)
        return dispatch(self.indices, self._num_experts, capacity)[1]


def _softmax(logits):
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _floats(array):
    """The array itself, or as float64 where it holds integers."""
    return array.astype(np.result_type(array, 1.0), copy=False)


def _log_sum_exp(logits):
    """Log of the sum of exp along the last axis, without overflow."""
    peak = logits.max(axis=-1)
    return peak + np.log(np.exp(logits - peak[..., None]).sum(axis=-1))


def _load_shares(probabilities, indices):
    """The share of all choices that each expert got, (num_experts,)."""
    _require_table("probabilities", probabilities)
    _require_choices(indices, len(probabilities))
    _require_experts(indices, probabilities.shape[1])
    return np.bincount(indices.ravel(), minlength=probabilities.shape[1]) / indices.size


def _require_router(x, router_weights):
    if router_weights.ndim != 2:
        raise ValueError(f"router_weights: shape {router_weights.shape}, expected (dim, num_experts)")
    if x.shape[-1:] != router_weights.shape[:1]:
        raise ValueError(f"x: shape {x.shape}, expected (..., {len(router_weights)})")


def _require_table(name, array):
    if array.ndim != 2:
        raise ValueError(f"{name}: shape {array.shape}, expected two axes, the first for the tokens")


def _require_choices(indices, num_tokens):
    if indices.ndim != 2 or len(indices) != num_tokens:
        raise ValueError(f"indices: shape {indices.shape}, expected ({num_tokens}, k)")


def _require_shape(name, array, shape):
    if array.shape != shape:
        raise ValueError(f"{name}: shape {array.shape}, expected {shape}")


def _require_experts(indices, num_experts):
    if indices.min() < 0 or indices.max() >= num_experts:
        raise ValueError(f"indices: {indices.min()} to {indices.max()}, expected 0 to {num_experts - 1}")


def _require_count(name, value):
    if not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}: {value!r}, expected a positive integer")


def _require_k(k, num_experts):
    _require_count("k", k)
    if k > num_experts:
        raise ValueError(f"k: {k}, expected at most num_experts, {num_experts}")


def _require_positive(name, value):
    if not value > 0:
        raise ValueError(f"{name}: {value}, expected a number above 0")
