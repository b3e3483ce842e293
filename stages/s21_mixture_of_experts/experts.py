"""Mixture of experts: a router, top-k gating, capacity, two losses that keep the router in order, and the layer.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
the feature axis is last; a token is one feature vector; arrays of the router have one row a token, (tokens, ...); the
experts are the MLPs of stage s17; inputs are never changed.
"""

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
    raise NotImplementedError("router")


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
    raise NotImplementedError("router_backward")


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
    raise NotImplementedError("top_k_gating")


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
    raise NotImplementedError("top_k_gating_backward")


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
    raise NotImplementedError("expert_capacity")


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
    raise NotImplementedError("dispatch")


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
    raise NotImplementedError("load_balancing_loss")


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
    raise NotImplementedError("load_balancing_loss_gradient")


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
    raise NotImplementedError("router_z_loss")


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
    raise NotImplementedError("router_z_loss_gradient")


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
        raise NotImplementedError("MoELayer.__init__")

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
        raise NotImplementedError("MoELayer.forward")

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
        raise NotImplementedError("MoELayer.backward")

    @property
    def params(self):
        """All parameters by dotted name: "router_weights", "experts.0.W1", "experts.0.b1" and so on.

        To replace some, set router_weights, or the params of an expert: layer.experts[0].params = {"W1": ..., ...}.
        """
        raise NotImplementedError("MoELayer.params")

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        raise NotImplementedError("MoELayer.grads")
