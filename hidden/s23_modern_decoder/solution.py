"""A decoder of today, of RMS norm, rotary positions, shared heads and SwiGLU, and the loop that trains it.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
token ids are integers of shape (batch, seq); the feature axis is last; inputs are never changed, but for a RollingCache
and for a model that is trained; a forward function that returns a cache returns it last, for the backward function of
its name, in a form of your choice. The loss comes from stage s18, the clipping of gradients from stage s05.
"""

import itertools
import math
import operator
import sys

import numpy as np

from stages.s05_optimization.optimizers import clip_by_global_norm
from stages.s18_decoder_and_generation.decoder import cross_entropy_loss


def rms_norm_forward(x, gamma, eps=1e-6):
    """Return gamma * x / sqrt(mean(x^2) + eps), the mean over the last axis, and what its backward pass needs.

    Args:
        x: shape (..., d).
        gamma: scale of each feature, shape (d,).
        eps: keeps the division finite. sqrt(mean(x^2)) + eps as the divisor is accepted as well.

    Returns:
        (output, cache): output of the shape of x; cache is whatever rms_norm_backward needs.

    Raises:
        ValueError: gamma is not of shape (d,).

    Source: Zhang and Sennrich 2019.

    Example:
        >>> output, cache = rms_norm_forward(np.array([1.0, 7.0]), np.array([1.0, 2.0]))
        >>> output.round(4)  # the root mean square of 1 and 7 is 5
        array([0.2, 2.8])
    """
    if gamma.shape != x.shape[-1:]:
        raise ValueError(f"x, gamma: shapes {x.shape} and {gamma.shape}, expected (..., d) and (d,)")
    root = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    normalized = x / root
    return gamma * normalized, (normalized, root, gamma)


def rms_norm_backward(grad_output, cache):
    """Return the gradients of rms_norm_forward with respect to x and gamma.

    Args:
        grad_output: gradient of the loss with respect to output, of its shape.
        cache: what the forward call returned.

    Returns:
        (grad_x, grad_gamma), of the shapes of x and gamma.

    Raises:
        ValueError: grad_output has not the shape of output.

    Source: Zhang and Sennrich 2019, section 4; derived in the README.

    Example:
        >>> output, cache = rms_norm_forward(np.array([1.0, 7.0]), np.ones(2))
        >>> grad_x, grad_gamma = rms_norm_backward(np.array([1.0, 0.0]), cache)
        >>> grad_x.round(4), grad_gamma.round(4)
        (array([ 0.196, -0.028]), array([0.2, 0. ]))
    """
    normalized, root, gamma = cache
    _check_shape("grad_output", grad_output, normalized.shape)
    grad = grad_output * gamma
    along = normalized * (grad * normalized).mean(axis=-1, keepdims=True)
    grad_gamma = (grad_output * normalized).sum(axis=tuple(range(normalized.ndim - 1)))
    return (grad - along) / root, grad_gamma


def rotary_forward(x, positions, base=10000.0):
    """Return queries or keys with each pair of features turned by an angle that grows with the position.

    The pairs are the features (0, 1), (2, 3) and so on. Pair number i of d/2, at position p, is turned by the angle
    p * base^(-2i/d): (a, b) becomes (a cos - b sin, a sin + b cos).

    Args:
        x: shape (..., seq, d), d even.
        positions: real numbers that broadcast to (..., seq), integers as a rule; negative ones turn the other way.
        base: how much slower the last pairs turn than the first.

    Returns:
        The shape of x. The angles are computed in float64, whatever the dtype of x.

    Raises:
        ValueError: x is not (..., seq, d) with an even d, or positions do not broadcast to (..., seq).

    Source: Su et al. 2021 (RoFormer), section 3.2.2.

    Example:
        >>> rotary_forward(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), np.arange(3)).round(4)
        array([[ 1.    ,  0.    ],
               [ 0.5403,  0.8415],
               [-0.4161,  0.9093]])
    """
    return _turned("x", x, positions, base)


def rotary_backward(grad_output, positions, base=10000.0):
    """Return the gradient of rotary_forward with respect to x: each pair of grad_output is turned back.

    Args:
        grad_output: gradient of the loss with respect to the output, shape (..., seq, d).
        positions, base: as they were given to rotary_forward.

    Returns:
        The shape of grad_output.

    Raises:
        ValueError: grad_output is not (..., seq, d) with an even d, or positions do not broadcast to (..., seq).

    Source: the transpose of a rotation is its inverse; derived in the README.

    Example:
        >>> rotary_backward(np.array([[1.0, 0.0]]), np.array([1])).round(4)
        array([[ 0.5403, -0.8415]])
    """
    return _turned("grad_output", grad_output, -1.0 * positions, base)


def scale_positions(positions, trained_length):
    """Return positions squeezed into those that a model was trained on, for a sequence that is longer.

    Args:
        positions: integers of any shape, 0 to n - 1 for a sequence of n tokens; their largest tells n.
        trained_length: how many positions the model has seen in training, 0 to trained_length - 1; a positive integer.

    Returns:
        The shape of positions: positions * trained_length / n where n is above trained_length, else their values.

    Raises:
        ValueError: trained_length is not a positive integer.

    Source: Chen et al. 2023 (position interpolation), equation 4.

    Example:
        >>> scale_positions(np.arange(6), 3).tolist(), scale_positions(np.arange(3), 4).tolist()
        ([0.0, 0.5, 1.0, 1.5, 2.0, 2.5], [0.0, 1.0, 2.0])
    """
    trained_length = _positive("trained_length", trained_length)
    return positions * min(1.0, trained_length / (positions.max() + 1))


def grouped_query_attention_forward(Q, K, V, window=None):
    """Return causal attention of many query heads that share few key and value heads, with or without a window.

    With G = query_heads / kv_heads, query heads 0 to G - 1 attend with key and value head 0, the next G with head 1,
    and so on. The queries are those of the last seq_q of seq_k positions: query i stands at t = seq_k - seq_q + i, and
    attends to the keys t - window + 1 to t, its own among them, as far as there are such keys; without a window, to the
    keys 0 to t.

    Args:
        Q: shape (..., query_heads, seq_q, d).
        K: shape (..., kv_heads, seq_k, d), with seq_k of at least seq_q.
        V: shape (..., kv_heads, seq_k, d_v).
        window: None, or how many keys a query sees at most; a positive integer.

    Returns:
        (output, cache): output of shape (..., query_heads, seq_q, d_v), softmax(Q K^T / sqrt(d)) V over the keys that
        each query sees; cache is whatever grouped_query_attention_backward needs.

    Raises:
        ValueError: shapes do not fit, kv_heads does not divide query_heads, there are more queries than keys, or window
            is not None and no positive integer.

    Source: Ainslie et al. 2023 (grouped queries); Jiang et al. 2023 (with a window).

    Example:
        >>> V = np.array([[[1.0], [3.0], [8.0]], [[10.0], [30.0], [80.0]]])
        >>> output, cache = grouped_query_attention_forward(np.zeros((4, 3, 1)), np.zeros((2, 3, 1)), V, window=2)
        >>> output[..., 0].tolist()  # each output is the mean of two values, the first of each head of one
        [[1.0, 2.0, 5.5], [1.0, 2.0, 5.5], [10.0, 20.0, 55.0], [10.0, 20.0, 55.0]]
    """
    _check_heads(Q, K, V)
    seq_q, seq_k = Q.shape[-2], K.shape[-2]
    group = Q.shape[-3] // K.shape[-3]
    queries = Q.reshape(*K.shape[:-2], group, *Q.shape[-2:])
    keys, values = K[..., None, :, :], V[..., None, :, :]
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(Q.shape[-1])
    behind = np.arange(seq_k - seq_q, seq_k)[:, None] - np.arange(seq_k)
    visible = behind >= 0
    if window is not None:
        visible = visible & (behind < _positive("window", window))
    weights = _softmax(np.where(visible, scores, -np.inf))
    output = (weights @ values).reshape(*Q.shape[:-1], V.shape[-1])
    return output, (queries, keys, values, weights, output.shape)


def grouped_query_attention_backward(grad_output, cache):
    """Return the gradients of grouped_query_attention_forward with respect to Q, K and V.

    Args:
        grad_output: gradient of the loss with respect to output, shape (..., query_heads, seq_q, d_v).
        cache: what the forward call returned.

    Returns:
        (grad_Q, grad_K, grad_V), each of the shape of its input. A head of keys and values gets the sum of what the
        query heads of its group give; a key that no query sees gets 0.

    Raises:
        ValueError: grad_output has not the shape of output.

    Source: the chain rule on Ainslie et al. 2023; derived in the README.

    Example:
        >>> Q, K, V = np.zeros((2, 2, 1)), np.array([[[0.0], [1.0]]]), np.array([[[1.0], [3.0]]])
        >>> output, cache = grouped_query_attention_forward(Q, K, V)
        >>> grad_Q, grad_K, grad_V = grouped_query_attention_backward(np.ones((2, 2, 1)), cache)
        >>> grad_Q[..., 0].tolist(), grad_V[..., 0].tolist()  # both heads of queries read the one of values
        ([[0.0, 0.5], [0.0, 0.5]], [[3.0, 1.0]])
    """
    queries, keys, values, weights, shape = cache
    _check_shape("grad_output", grad_output, shape)
    grad = grad_output.reshape(*queries.shape[:-1], shape[-1])
    grad_values = np.swapaxes(weights, -1, -2) @ grad
    grad_weights = grad @ np.swapaxes(values, -1, -2)
    shared = (grad_weights * weights).sum(axis=-1, keepdims=True)
    grad_scores = weights * (grad_weights - shared) / math.sqrt(queries.shape[-1])
    grad_queries = grad_scores @ keys
    grad_keys = np.swapaxes(grad_scores, -1, -2) @ queries
    return grad_queries.reshape(*shape[:-1], queries.shape[-1]), grad_keys.sum(axis=-3), grad_values.sum(axis=-3)


def swiglu_forward(x, W_gate, W_up, W_down):
    """Return (silu(x W_gate) * (x W_up)) W_down, an MLP whose hidden units are gated, and what its backward needs.

    silu(z) = z / (1 + exp(-z)), which s11 calls swish. There are no biases.

    Args:
        x: shape (..., dim).
        W_gate, W_up: shape (dim, hidden).
        W_down: shape (hidden, dim_out), with dim_out = dim in a Transformer.

    Returns:
        (output, cache): output of shape (..., dim_out), finite for gates of any size, also 1000 and -1000; cache is
        whatever swiglu_backward needs.

    Raises:
        ValueError: shapes do not fit.

    Source: Shazeer 2020, equation 6.

    Example:
        >>> output, cache = swiglu_forward(np.array([[2.0]]), np.array([[0.5]]), np.array([[3.0]]), np.array([[1.0]]))
        >>> output.round(4)  # silu(1) * 6
        array([[4.3864]])
    """
    if W_gate.shape[:1] != x.shape[-1:] or W_up.shape != W_gate.shape or W_down.shape[:1] != W_gate.shape[1:]:
        shapes = f"{x.shape}, {W_gate.shape}, {W_up.shape}, {W_down.shape}"
        wanted = "(..., dim), (dim, hidden) twice and (hidden, dim_out)"
        raise ValueError(f"x, W_gate, W_up, W_down: shapes {shapes}, expected {wanted}")
    gate, up = x @ W_gate, x @ W_up
    share = 0.5 * (1 + np.tanh(0.5 * gate))  # the sigmoid; no exponential that could overflow
    hidden = gate * share * up
    return hidden @ W_down, (x, W_gate, W_up, W_down, gate, share, up, hidden)


def swiglu_backward(grad_output, cache):
    """Return the gradients of swiglu_forward with respect to x and the three weights.

    Args:
        grad_output: gradient of the loss with respect to output, shape (..., dim_out).
        cache: what the forward call returned.

    Returns:
        (grad_x, grad_W_gate, grad_W_up, grad_W_down), each of the shape of its input.

    Raises:
        ValueError: grad_output has not the shape of output.

    Source: the chain rule on Shazeer 2020, equation 6; derived in the README.

    Example:
        >>> one = np.array([[1.0]])
        >>> output, cache = swiglu_forward(one, 0 * one, 4 * one, one)  # silu(0) = 0, and its slope is 1/2
        >>> [grad.item() for grad in swiglu_backward(one, cache)]
        [0.0, 2.0, 0.0, 0.0]
    """
    x, W_gate, W_up, W_down, gate, share, up, hidden = cache
    _check_shape("grad_output", grad_output, (*x.shape[:-1], W_down.shape[1]))
    grad_hidden = grad_output @ W_down.T
    grad_gate = grad_hidden * up * share * (1 + gate * (1 - share))
    grad_up = grad_hidden * gate * share
    grad_x = grad_gate @ W_gate.T + grad_up @ W_up.T
    return grad_x, _product(x, grad_gate), _product(x, grad_up), _product(hidden, grad_output)


class RollingCache:
    """The keys and values of the last positions that one block has read, of all of them where there is no window.

    With a window, memory and time of a step do not grow with what was read: position p is written over position
    p - window. A cache is changed by what is appended to it.

    Args:
        window: None, or how many positions are kept; a positive integer.

    Attributes:
        length: how many positions have been appended in all, 0 at first.
        keys, values: None at first; then those of the last positions, the oldest first, shape
            (batch, kv_heads, min(length, window), features).

    Raises:
        ValueError: window is not None and no positive integer.

    Source: Jiang et al. 2023 (Mistral 7B), section 2 (rolling buffer cache).

    Example:
        >>> cache = RollingCache(2)
        >>> for position in range(5):
        ...     new = np.full((1, 1, 1, 1), float(position))
        ...     keys, values = cache.append(new, 10 * new)
        >>> keys.ravel().tolist(), cache.keys.ravel().tolist(), cache.values.ravel().tolist(), cache.length
        ([2.0, 3.0, 4.0], [3.0, 4.0], [30.0, 40.0], 5)
    """

    def __init__(self, window=None):
        self._window = None if window is None else _positive("window", window)
        self._buffers = None  # keys and values; position p stands in slot p % window
        self.length = 0

    def append(self, keys, values):
        """Take in the keys and values of new positions, and return all that the queries of these may need.

        Args:
            keys: shape (batch, kv_heads, new, d), new at least 1 and possibly more than the window.
            values: shape (batch, kv_heads, new, d_v).

        Returns:
            (keys, values): those that were kept before, the oldest first, and behind them the new ones.

        Raises:
            ValueError: keys and values are not of four axes, differ in more than the last of them, or do not fit those
                that are kept.
        """
        if keys.ndim != 4 or values.ndim != 4 or keys.shape[:3] != values.shape[:3]:
            wanted = "(batch, kv_heads, new, d) and (batch, kv_heads, new, d_v)"
            raise ValueError(f"keys, values: shapes {keys.shape} and {values.shape}, expected {wanted}")
        seen = new = (keys, values)
        if self._buffers is not None:
            seen = tuple(np.concatenate(pair, axis=2) for pair in zip((self.keys, self.values), new, strict=True))
        if self._window is None:
            self._buffers = seen
        else:
            self._write(new)
        self.length += keys.shape[2]
        return seen

    def _write(self, new):
        """Put the last of the new keys and values in their slots."""
        window = self._window
        if self._buffers is None:
            self._buffers = tuple(np.zeros((*x.shape[:2], window, x.shape[3]), dtype=x.dtype) for x in new)
        positions = np.arange(self.length, self.length + new[0].shape[2])[-window:]
        for buffer, x in zip(self._buffers, new, strict=True):
            buffer[:, :, positions % window] = x[:, :, -window:]

    @property
    def keys(self):
        """The keys that are kept, the oldest first."""
        return self._kept(0)

    @property
    def values(self):
        """The values that are kept, the oldest first."""
        return self._kept(1)

    def _kept(self, which):
        if self._buffers is None:
            return None
        if self._window is None:
            return self._buffers[which]
        positions = np.arange(max(0, self.length - self._window), self.length)
        return self._buffers[which][:, :, positions % self._window]


class ModernBlock:
    """A pre-norm decoder block: RMS norm, grouped causal attention with rotary positions, RMS norm, SwiGLU.

        x = x + attention(norm1(x))
        x = x + mlp(norm2(x))

    Attention is merge(A(rotary(x Wq), rotary(x Wk), x Wv)) Wo: head h of the queries is made of the columns
    h * head_dim to (h + 1) * head_dim of Wq, with head_dim = dim / num_heads, and so are the heads of keys and values,
    of which there are fewer; merge lays the heads of a position side by side again. Positions count from 0. No part has
    a bias.

    Args:
        dim: number of features of input and output.
        num_heads: how many heads of queries; dim / num_heads has to be an even integer.
        num_kv_heads: how many heads of keys and values; must divide num_heads.
        hidden: how many hidden units the MLP has.
        rng: np.random.Generator that draws the weights; None draws a fresh one. Generators of the same seed give the
            same weights.
        window: None, or how many positions each position sees at most, its own among them.
        base: that of the rotary positions.

    Attributes:
        params: dict of "norm1.gamma" (dim,), "attention.query_weights" (dim, dim), "attention.key_weights" and
            "attention.value_weights" (dim, num_kv_heads * head_dim), "attention.output_weights" (dim, dim),
            "norm2.gamma" (dim,), "mlp.gate_weights" and "mlp.up_weights" (dim, hidden) and "mlp.down_weights"
            (hidden, dim). It can be set. At first gammas are 1, and weights of shape (fan_in, fan_out) normally
            distributed with mean 0 and standard deviation 1/sqrt(fan_in).
        grads: dict with the keys and shapes of params, filled by backward; empty until then.

    Raises:
        ValueError: a size or window is no positive integer, num_heads does not divide dim into heads of an even size,
            or num_kv_heads does not divide num_heads; or, where params is set, a name is missing, unknown, or its array
            has another shape than before. Nothing is changed then.

    Source: Touvron et al. 2023 (LLaMA 2), section 2.2; Jiang et al. 2023 (Mistral 7B) for the window.

    Example:
        >>> block = ModernBlock(8, 4, 2, 12, rng=np.random.default_rng(0))
        >>> block.forward(np.ones((3, 5, 8))).shape, block.params["attention.key_weights"].shape
        ((3, 5, 8), (8, 4))
    """

    def __init__(self, dim, num_heads, num_kv_heads, hidden, rng=None, window=None, base=10000.0):
        sizes = {"dim": dim, "num_heads": num_heads, "num_kv_heads": num_kv_heads, "hidden": hidden}
        dim, num_heads, num_kv_heads, hidden = (_positive(name, size) for name, size in sizes.items())
        if dim % (2 * num_heads):
            raise ValueError(f"num_heads: {num_heads}, expected a divisor of dim, {dim}, with heads of an even size")
        if num_heads % num_kv_heads:
            raise ValueError(f"num_kv_heads: {num_kv_heads}, expected a divisor of num_heads, which is {num_heads}")
        rng, narrow = _generator(rng), num_kv_heads * (dim // num_heads)
        self._head_dim = dim // num_heads
        self._window = None if window is None else _positive("window", window)
        self._base = base
        self._params = {
            "norm1.gamma": np.ones(dim),
            "attention.query_weights": _initial_weights(rng, dim, dim),
            "attention.key_weights": _initial_weights(rng, dim, narrow),
            "attention.value_weights": _initial_weights(rng, dim, narrow),
            "attention.output_weights": _initial_weights(rng, dim, dim),
            "norm2.gamma": np.ones(dim),
            "mlp.gate_weights": _initial_weights(rng, dim, hidden),
            "mlp.up_weights": _initial_weights(rng, dim, hidden),
            "mlp.down_weights": _initial_weights(rng, hidden, dim),
        }
        self.grads = {}
        self._caches = None

    def forward(self, x):
        """Return the block's output, shape (batch, seq, dim); what position i gets depends on positions 0 to i only.

        Args:
            x: shape (batch, seq, dim).

        Returns:
            Shape (batch, seq, dim). float32 for float32 x and parameters.

        Raises:
            ValueError: x is not (batch, seq, dim).
        """
        output, self._caches = self._run(x, RollingCache(self._window))
        return output

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x, and put those of the parameters in grads.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq, dim).

        Returns:
            Shape (batch, seq, dim). grads is replaced, not added to. forward_with_cache has no backward: after it, call
            forward again before backward.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        if self._caches is None:
            raise RuntimeError("backward: forward has not been called, expected one forward call before it")
        of_norm1, normed, of_attention, joined, of_norm2, of_mlp = self._caches
        params, positions = self._params, np.arange(joined.shape[1])
        grad, gate, up, down = swiglu_backward(grad_output, of_mlp)
        grad, gamma2 = rms_norm_backward(grad, of_norm2)
        grad_middle = grad_output + grad
        grad_heads = self._heads(grad_middle @ params["attention.output_weights"].T)
        grad_Q, grad_K, grad_V = grouped_query_attention_backward(grad_heads, of_attention)
        grad_Q, grad_K = (rotary_backward(grad, positions, self._base) for grad in (grad_Q, grad_K))
        grad_Q, grad_K, grad_V = (_merged(grad) for grad in (grad_Q, grad_K, grad_V))
        grad_normed = (
            grad_Q @ params["attention.query_weights"].T
            + grad_K @ params["attention.key_weights"].T
            + grad_V @ params["attention.value_weights"].T
        )
        grad, gamma1 = rms_norm_backward(grad_normed, of_norm1)
        self.grads = {
            "norm1.gamma": gamma1,
            "attention.query_weights": _product(normed, grad_Q),
            "attention.key_weights": _product(normed, grad_K),
            "attention.value_weights": _product(normed, grad_V),
            "attention.output_weights": _product(joined, grad_middle),
            "norm2.gamma": gamma2,
            "mlp.gate_weights": gate,
            "mlp.up_weights": up,
            "mlp.down_weights": down,
        }
        return grad_middle + grad

    def forward_with_cache(self, x, cache=None):
        """Return the outputs of new positions, which attend to those in the cache too, and the cache.

        Args:
            x: inputs of the new positions, shape (batch, seq, dim).
            cache: None where nothing came before, or what the last call returned: a RollingCache of this block's
                window, whose length tells the position of the first new one, and whose keys are turned already.

        Returns:
            (output, cache): output (batch, seq, dim), equal to what forward gives for these positions if it is given
            past and new inputs together; and the cache, to which the new positions are appended.

        Raises:
            ValueError: x is not (batch, seq, dim), or does not fit the cache.

        Example:
            >>> block, x = ModernBlock(4, 2, 1, 6, rng=np.random.default_rng(0)), np.eye(4)[None]
            >>> first, cache = block.forward_with_cache(x[:, :3])
            >>> last, cache = block.forward_with_cache(x[:, 3:], cache)
            >>> bool(np.allclose(np.concatenate([first, last], axis=1), block.forward(x))), cache.keys.shape
            (True, (1, 1, 4, 2))
        """
        cache = RollingCache(self._window) if cache is None else cache
        output, _ = self._run(x, cache)
        return output, cache

    def _run(self, x, cache):
        """The outputs of positions that follow those in a RollingCache, and what backward needs."""
        if x.ndim != 3:
            raise ValueError(f"x: shape {x.shape}, expected (batch, seq, dim)")
        params, positions = self._params, np.arange(cache.length, cache.length + x.shape[1])
        normed, of_norm1 = rms_norm_forward(x, params["norm1.gamma"])
        Q, K, V = (self._heads(normed @ params[f"attention.{part}_weights"]) for part in ("query", "key", "value"))
        Q, K = (rotary_forward(heads, positions, self._base) for heads in (Q, K))
        keys, values = cache.append(K, V)
        heads, of_attention = grouped_query_attention_forward(Q, keys, values, self._window)
        joined = _merged(heads)
        middle = x + joined @ params["attention.output_weights"]
        normed2, of_norm2 = rms_norm_forward(middle, params["norm2.gamma"])
        gate, up, down = (params[f"mlp.{part}_weights"] for part in ("gate", "up", "down"))
        mlp, of_mlp = swiglu_forward(normed2, gate, up, down)
        return middle + mlp, (of_norm1, normed, of_attention, joined, of_norm2, of_mlp)

    def _heads(self, x):
        """The heads of (batch, seq, features) as an axis of their own, before that of positions."""
        return x.reshape(*x.shape[:2], -1, self._head_dim).transpose(0, 2, 1, 3)

    @property
    def params(self):
        """All parameters by dotted name; set it to give the block others."""
        return dict(self._params)

    @params.setter
    def params(self, given):
        _check_params(given, self._params)
        self._params = {name: given[name] for name in self._params}


class ModernGPT:
    """A decoder-only language model of ModernBlocks, with the interface of s18's GPT.

        x = token_embedding[ids]
        logits = norm(blocks(x)) token_embedding^T

    The table that turns ids into vectors turns vectors into scores as well. There is no table of positions: the blocks
    turn queries and keys, so that a sequence may have any length.

    Args:
        vocabulary_size: how many token ids there are, 0 to vocabulary_size - 1.
        depth: how many ModernBlocks.
        dim, num_heads, num_kv_heads, hidden: sizes of each ModernBlock.
        rng: np.random.Generator that draws the weights; None draws a fresh one. Generators of the same seed give the
            same weights.
        window, base: those of each ModernBlock.

    Attributes:
        params: dict of "token_embedding" (vocabulary_size, dim), "blocks.0.norm1.gamma" and so on for every block, and
            "norm.gamma" (dim,). It can be set: model.params = {...} hands each part its own. The embedding is at first
            normally distributed with mean 0 and standard deviation 1/sqrt(dim); the last gamma is 1; the rest begins as
            ModernBlock says.
        grads: dict with the keys and shapes of params, filled by backward; empty until then.
        blocks: list of depth ModernBlocks, each with parameters of its own, first to last.
        context_length: sys.maxsize, for no table of positions ends anywhere. So s18's generate and perplexity take the
            model as it is.

    Raises:
        ValueError: vocabulary_size or depth is no positive integer, or what ModernBlock refuses; or, where params is
            set, a name is missing, unknown, or its array has another shape than before. Nothing is changed then.

    Source: Touvron et al. 2023 (LLaMA 2), section 2.2; Press and Wolf 2016 (weight tying).

    Example:
        >>> model = ModernGPT(10, 2, 8, 4, 2, 12, rng=np.random.default_rng(0))
        >>> model.forward(np.array([[3, 1, 4], [1, 5, 9]])).shape
        (2, 3, 10)
        >>> len(model.params), sum(value.size for value in model.params.values())
        (20, 1080)
    """

    def __init__(
        self, vocabulary_size, depth, dim, num_heads, num_kv_heads, hidden, rng=None, window=None, base=10000.0
    ):
        vocabulary_size, depth = _positive("vocabulary_size", vocabulary_size), _positive("depth", depth)
        rng = _generator(rng)
        self.context_length = sys.maxsize
        self.blocks = [ModernBlock(dim, num_heads, num_kv_heads, hidden, rng, window, base) for _ in range(depth)]
        self._own = {
            "token_embedding": rng.standard_normal((vocabulary_size, dim)) / math.sqrt(dim),
            "norm.gamma": np.ones(dim),
        }
        self._grads = {}
        self._last = None

    def forward(self, ids):
        """Return the scores of every token to come next after each position, shape (batch, seq, vocabulary_size).

        Args:
            ids: integers from 0 to vocabulary_size - 1, shape (batch, seq), with seq of at least 1.

        Returns:
            logits: their softmax along the last axis is the probability of the next token, given this one and those
            before it. float32 where all parameters are.

        Raises:
            ValueError: ids are not integers of such a shape and range; a negative id does not count from the end.
        """
        x = self._embedded(ids)
        for block in self.blocks:
            x = block.forward(x)
        hidden, of_norm = rms_norm_forward(x, self._own["norm.gamma"])
        self._last = ids, hidden, of_norm
        return hidden @ self._own["token_embedding"].T

    def backward(self, grad_logits):
        """Put the gradients of all parameters in grads, those of the last forward call.

        Args:
            grad_logits: gradient of the loss with respect to the last logits, shape (batch, seq, vocabulary_size).

        Returns:
            None: ids have no gradient. grads is replaced, not added to; token_embedding was used twice, and gets the
            sum of both gradients.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_logits has not the shape of the last logits.
        """
        if self._last is None:
            raise RuntimeError("backward: forward has not been called, expected one forward call before it")
        ids, hidden, of_norm = self._last
        tokens = self._own["token_embedding"]
        grad, gamma = rms_norm_backward(grad_logits @ tokens, of_norm)
        for block in reversed(self.blocks):
            grad = block.backward(grad)
        of_tokens = _product(grad_logits, hidden)
        np.add.at(of_tokens, ids, grad)
        self._grads = {"token_embedding": of_tokens, "norm.gamma": gamma}

    def forward_with_cache(self, ids, cache=None):
        """Return the logits of new tokens, which see those in the cache too, and the cache.

        Args:
            ids: the new tokens, integers of shape (batch, seq).
            cache: None where nothing came before, or what the last call returned: a list of a RollingCache for each
                block, first to last.

        Returns:
            (logits, cache): logits (batch, seq, vocabulary_size) of the new tokens, equal to what forward gives for
            them if it is given past and new ids together; and the caches, to which the new positions are appended.
            Other than in s18, the cache that was passed in is changed.

        Raises:
            ValueError: ids are refused by forward.

        Example:
            >>> model, ids = ModernGPT(10, 2, 8, 4, 2, 12, np.random.default_rng(0), window=2), np.array([[3, 1, 4]])
            >>> logits, cache = model.forward_with_cache(ids[:, :2])
            >>> last, cache = model.forward_with_cache(ids[:, 2:], cache)
            >>> last.shape, bool(np.allclose(last[:, 0], model.forward(ids)[:, 2])), cache[1].keys.shape
            ((1, 1, 10), True, (1, 2, 2, 2))
        """
        x = self._embedded(ids)
        caches = [None] * len(self.blocks) if cache is None else cache
        grown = []
        for block, held in zip(self.blocks, caches, strict=True):
            x, held = block.forward_with_cache(x, held)
            grown.append(held)
        hidden, _ = rms_norm_forward(x, self._own["norm.gamma"])
        return hidden @ self._own["token_embedding"].T, grown

    def _embedded(self, ids):
        tokens = self._own["token_embedding"]
        if ids.dtype.kind not in "iu" or ((ids < 0) | (ids >= len(tokens))).any():
            raise ValueError(f"ids: {ids.dtype}, expected integers from 0 to {len(tokens) - 1}")
        return tokens[ids]

    @property
    def params(self):
        """All parameters by name; set it to give the model others."""
        return {**self._own, **self._of_blocks("params")}

    @params.setter
    def params(self, given):
        _check_params(given, self.params)
        self._own = {name: given[name] for name in self._own}
        for number, block in enumerate(self.blocks):
            block.params = {name: given[f"blocks.{number}.{name}"] for name in block.params}

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        return {**self._grads, **self._of_blocks("grads")}

    def _of_blocks(self, which):
        numbered = enumerate(self.blocks)
        return {f"blocks.{i}.{name}": value for i, block in numbered for name, value in getattr(block, which).items()}


def initial_loss(vocabulary_size):
    """Return the cross-entropy of a model that has learnt nothing, and scores all tokens alike: ln(vocabulary_size).

    Args:
        vocabulary_size: how many tokens there are; a positive integer.

    Returns:
        A number, in nats.

    Raises:
        ValueError: vocabulary_size is no positive integer.

    Example:
        >>> round(initial_loss(256), 4)
        5.5452
    """
    return math.log(_positive("vocabulary_size", vocabulary_size))


def scaled_initialisation(model, depth, rng):
    """Draw a model's parameters anew, so that it begins near initial_loss and no depth makes its activations grow.

    Weights of shape (fan_in, fan_out) are normally distributed with mean 0 and standard deviation 1/sqrt(fan_in); those
    that write to the residual stream, "attention.output_weights" and "mlp.down_weights" of each block, of which there
    are 2 * depth, with 1/sqrt(2 * depth * fan_in); and the token embedding, of shape (vocabulary_size, dim), with
    1/sqrt(dim). The gammas of the blocks are 1. The last one, "norm.gamma", is 1/sqrt(dim), so that all scores are
    small at first.

    Args:
        model: a ModernGPT. Its params are set.
        depth: how many blocks the model has.
        rng: np.random.Generator that draws the weights. Generators of the same seed give the same weights.

    Returns:
        None.

    Raises:
        ValueError: depth is not the number of the model's blocks.

    Source: Radford et al. 2019 (GPT-2), section 2.3, for the scale by depth; Yang et al. 2022 for small scores.

    Example:
        >>> model = ModernGPT(50, 2, 64, 4, 2, 64)
        >>> scaled_initialisation(model, 2, np.random.default_rng(0))
        >>> [round(float(model.params[f"blocks.1.mlp.{part}_weights"].std()), 3) for part in ("up", "down")]
        [0.124, 0.063]
    """
    if depth != len(model.blocks):
        raise ValueError(f"depth: {depth}, expected that of the model, {len(model.blocks)}")
    model.params = {name: _scaled(name, value, depth, rng) for name, value in model.params.items()}


def train(model, batches, optimizer, schedule, num_steps, accumulate=1, max_norm=1.0):
    """Train a model in place: as many steps as num_steps, each on the gradient of several batches, clipped.

    A step takes the next accumulate batches. Its loss is the mean over all of their targets, however these are divided
    among the batches, and so is its gradient: the step is the one that all of them in one batch would give. The
    gradient is clipped to max_norm as a whole (clip_by_global_norm of s05), and goes to the optimizer, which gets the
    state that it returned the time before, {} at first.

    Args:
        model: a ModernGPT, a GPT of s18, or anything with their forward, backward, params and grads.
        batches: an iterable of (ids, targets), each integers of shape (batch, seq): targets[b, s] is the token that
            follows ids[b, s]. No more are taken than are needed.
        optimizer: function (params, grads, state, learning_rate=...) -> (params, state), as the steps of s05.
        schedule: function from the number of the step, 0 at first, to its learning rate.
        num_steps: how many steps, at least 0.
        accumulate: how many batches make a step, at least 1.
        max_norm: the longest that a gradient may be, above 0.

    Returns:
        A dict of two lists with a number for each step: "loss", before the step, and "norm", the length of its gradient
        before clipping.

    Raises:
        ValueError: num_steps is no integer of at least 0, accumulate no positive integer, max_norm is not above 0, or
            there are fewer than num_steps * accumulate batches.

    Source: Radford et al. 2018 (GPT), section 4.1, for warm-up, AdamW and clipping.

    Example:
        >>> from stages.s05_optimization.optimizers import adamw_step
        >>> model, ids = ModernGPT(3, 1, 8, 2, 1, 8, np.random.default_rng(0)), np.array([[0, 1, 2, 0, 1, 2, 0, 1]])
        >>> batches = [(ids[:, :-1], ids[:, 1:])] * 40
        >>> history = train(model, batches, adamw_step, lambda step: 0.02, num_steps=20, accumulate=2)
        >>> len(history["loss"]), history["loss"][-1] < 0.1
        (20, True)
    """
    accumulate = _positive("accumulate", accumulate)
    if _integer("num_steps", num_steps) < 0:
        raise ValueError(f"num_steps: {num_steps}, expected at least 0")
    if not max_norm > 0:
        raise ValueError(f"max_norm: {max_norm}, expected a number above 0")
    waiting, state, history = iter(batches), {}, {"loss": [], "norm": []}
    for step in range(num_steps):
        taken = list(itertools.islice(waiting, accumulate))
        if len(taken) < accumulate:
            raise ValueError(f"batches: {step * accumulate + len(taken)}, expected {num_steps} * {accumulate}")
        loss, grads = _loss_and_grads(model, taken)
        clipped, norm = clip_by_global_norm(grads, max_norm)
        model.params, state = optimizer(model.params, clipped, state, learning_rate=schedule(step))
        history["loss"].append(float(loss))
        history["norm"].append(float(norm))
    return history


def _loss_and_grads(model, batches):
    """The mean loss of all targets of some batches, and its gradient."""
    total, loss, grads = sum(targets.size for _, targets in batches), 0.0, {}
    for ids, targets in batches:
        part, grad_logits = cross_entropy_loss(model.forward(ids), targets)
        model.backward(grad_logits)
        share = targets.size / total
        loss += share * part
        grads = {name: share * grad + grads.get(name, 0) for name, grad in model.grads.items()}
    return loss, grads


def _scaled(name, value, depth, rng):
    """A parameter's value at first."""
    if value.ndim == 1:
        return np.ones(len(value)) / (math.sqrt(len(value)) if name == "norm.gamma" else 1)
    variance = 1 / value.shape[1] if name == "token_embedding" else 1 / value.shape[0]
    if name.endswith(("output_weights", "down_weights")):
        variance = variance / (2 * depth)
    return math.sqrt(variance) * rng.standard_normal(value.shape)


def _turned(name, x, positions, base):
    """Pairs of neighbouring features turned by their positions' angles."""
    if x.ndim < 2 or x.shape[-1] % 2:
        raise ValueError(f"{name}: shape {x.shape}, expected (..., seq, d) with an even d")
    places = np.broadcast_to(positions, x.shape[:-1])
    angles = places[..., None] * base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    cosines, sines = np.cos(angles), np.sin(angles)
    first, second = x[..., ::2], x[..., 1::2]
    turned = np.empty(x.shape, dtype=np.result_type(x, 1.0))
    turned[..., ::2] = first * cosines - second * sines
    turned[..., 1::2] = first * sines + second * cosines
    return turned


def _softmax(scores):
    """Softmax along the last axis; every row has a finite score."""
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _product(x, grad):
    """The gradient of W in x W, from that of the product: x^T grad, summed over all leading axes."""
    return x.reshape(-1, x.shape[-1]).T @ grad.reshape(-1, grad.shape[-1])


def _merged(heads):
    """The heads of each position side by side."""
    batch, _, seq, _ = heads.shape
    return heads.transpose(0, 2, 1, 3).reshape(batch, seq, -1)


def _initial_weights(rng, fan_in, fan_out):
    return rng.standard_normal((fan_in, fan_out)) / math.sqrt(fan_in)


def _generator(rng):
    return np.random.default_rng() if rng is None else rng


def _check_heads(Q, K, V):
    if min(Q.ndim, K.ndim, V.ndim) < 3:
        raise ValueError(f"Q, K, V: shapes {Q.shape}, {K.shape}, {V.shape}, expected (..., heads, seq, features)")
    fits = Q.shape[:-3] == K.shape[:-3] and K.shape[:-1] == V.shape[:-1] and Q.shape[-1] == K.shape[-1]
    if not fits or Q.shape[-2] > K.shape[-2]:
        wanted = "(..., query_heads, seq_q, d), (..., kv_heads, seq_k, d) and (..., kv_heads, seq_k, d_v)"
        raise ValueError(f"Q, K, V: shapes {Q.shape}, {K.shape}, {V.shape}, expected {wanted}, seq_q at most seq_k")
    if Q.shape[-3] % K.shape[-3]:
        raise ValueError(f"K: {K.shape[-3]} heads, expected a divisor of the {Q.shape[-3]} heads of Q")


def _check_shape(name, value, shape):
    if value.shape != shape:
        raise ValueError(f"{name}: shape {value.shape}, expected {shape}")


def _check_params(given, held):
    """Refuse parameters of other names or shapes than those held."""
    wrong = sorted(given.keys() ^ held.keys()) or [key for key in held if np.shape(given[key]) != held[key].shape]
    if wrong:
        raise ValueError(f"params: {wrong[0]} is missing, unknown or of another shape, expected those of params")


def _positive(name, number):
    number = _integer(name, number)
    if number < 1:
        raise ValueError(f"{name}: {number}, expected a positive integer")
    return number


def _integer(name, number):
    try:
        return operator.index(number)
    except TypeError:
        raise ValueError(f"{name}: {number!r}, expected an integer") from None
