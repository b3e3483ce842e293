"""Transformer blocks: self-attention, normalisation, MLP, residual blocks and an encoder, forward and backward.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
the feature axis is last and batch axes come first; inputs are never changed; masks are boolean (or 0/1 integers) with
True where attending is allowed; every layer has forward and backward, `params` and `grads`.
"""

import math

import numpy as np

_PARTS = ("query", "key", "value")


class SelfAttention:
    """Self-attention of one head: softmax(q k^T / sqrt(dim)) v with q, k, v = x W + b, each with its own W and b.

    There is no output projection.

    Args:
        dim: number of features of input and output.
        rng: np.random.Generator that draws the weights; None draws a fresh one. Generators of the same seed give the
            same weights.

    Attributes:
        params: dict of "query_weights", "key_weights", "value_weights", each (dim, dim), and "query_bias", "key_bias",
            "value_bias", each (dim,). At first the weights are normally distributed with mean 0 and standard deviation
            1/sqrt(dim), the biases zero. forward reads the dict at each call, so it may be replaced whole.
        grads: dict with the keys and shapes of params, filled by backward; empty until then.
        attention_weights: after forward, the weights of that call, shape (batch, seq, seq): row i says how query i
            divides its attention among the keys.

    Source: Vaswani et al. 2017, equation 1, with biased projections.

    Example:
        >>> layer = SelfAttention(1)
        >>> layer.params = {
        ...     **{f"{part}_weights": np.array([[1.0]]) for part in ("query", "key", "value")},
        ...     **{f"{part}_bias": np.array([0.0]) for part in ("query", "key", "value")},
        ... }
        >>> layer.forward(np.array([[[0.0], [1.0]]])).round(4)
        array([[[0.5   ],
                [0.7311]]])
        >>> layer.attention_weights.round(4)
        array([[[0.5   , 0.5   ],
                [0.2689, 0.7311]]])
    """

    def __init__(self, dim, rng=None):
        rng = _generator(rng)
        self._dim = dim
        self.params = {f"{part}_weights": _initial_weights(rng, dim, dim) for part in _PARTS}
        self.params.update({f"{part}_bias": np.zeros(dim) for part in _PARTS})
        self.grads = {}
        self._cache = None

    def forward(self, x, mask=None):
        """Return every position's weighted average of the values, shape (batch, seq, dim).

        Args:
            x: shape (batch, seq, dim).
            mask: None, or boolean (or 0/1 integers) that broadcasts to (batch, seq, seq), as (seq, seq) for all
                sequences or (batch, 1, seq) for padding; True = may be attended to.

        Returns:
            Shape (batch, seq, dim). Scores of any size give weights that sum to 1; only a query that may attend to
            nothing has weights 0 and output 0. float32 for float32 x and parameters.

        Raises:
            ValueError: x is not (batch, seq, dim), or mask does not broadcast to (batch, seq, seq).
        """
        x = _sequences(x, self._dim)
        projected = [x @ self.params[f"{part}_weights"] + self.params[f"{part}_bias"] for part in _PARTS]
        output, self.attention_weights = _attend(*projected, mask)
        self._cache = x, projected
        return output

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x, and put those of the parameters in grads.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq, dim).

        Returns:
            Shape (batch, seq, dim). grads is replaced, not added to. Masked positions pass on no gradient.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        x, projected = _last_forward(self._cache)
        grad_output = _of_shape(grad_output, x.shape)
        self.grads, grad_x = {}, 0
        for part, grad in zip(_PARTS, _attend_backward(grad_output, *projected, self.attention_weights), strict=True):
            self.grads[f"{part}_weights"], self.grads[f"{part}_bias"] = _linear_gradients(x, grad)
            grad_x = grad_x + grad @ self.params[f"{part}_weights"].T
        return grad_x


class MultiheadSelfAttention:
    """Self-attention of several heads, whose queries, keys and values come from one fused projection.

    x qkv_weights + qkv_bias has 3 * dim features, laid out as (3, num_heads, head_dim): first the queries of all heads,
    then the keys, then the values, and within each the heads side by side. head_dim is dim / num_heads. Each head
    computes softmax(q k^T / sqrt(head_dim)) v; the heads' outputs, side by side again, go through output_weights and
    output_bias.

    Args:
        dim: number of features of input and output.
        num_heads: how many heads; must divide dim.
        rng: np.random.Generator that draws the weights; None draws a fresh one. Generators of the same seed give the
            same weights.

    Attributes:
        params: dict of "qkv_weights" (dim, 3 * dim), "qkv_bias" (3 * dim,), "output_weights" (dim, dim) and
            "output_bias" (dim,). At first the weights are normally distributed with mean 0 and standard deviation
            1/sqrt(dim), the biases zero. forward reads the dict at each call, so it may be replaced whole.
        grads: dict with the keys and shapes of params, filled by backward; empty until then.
        attention_weights: after forward, the weights of that call, shape (batch, num_heads, seq, seq).

    Raises:
        ValueError: dim or num_heads is below 1, or num_heads does not divide dim.

    Source: Vaswani et al. 2017, section 3.2.2.

    Example:
        >>> layer = MultiheadSelfAttention(8, 2, rng=np.random.default_rng(0))
        >>> layer.forward(np.ones((3, 5, 8))).shape, layer.attention_weights.shape
        ((3, 5, 8), (3, 2, 5, 5))
        >>> layer.params["qkv_weights"].shape
        (8, 24)
    """

    def __init__(self, dim, num_heads, rng=None):
        if dim < 1 or num_heads < 1 or dim % num_heads:
            raise ValueError(f"dim: {dim}, num_heads: {num_heads}, expected positive numbers, the second a divisor")
        rng = _generator(rng)
        self._dim = dim
        self._num_heads = num_heads
        self._head_dim = dim // num_heads
        self.params = {
            "qkv_weights": _initial_weights(rng, dim, 3 * dim),
            "qkv_bias": np.zeros(3 * dim),
            "output_weights": _initial_weights(rng, dim, dim),
            "output_bias": np.zeros(dim),
        }
        self.grads = {}
        self._cache = None

    def forward(self, x, mask=None):
        """Return the joined and projected outputs of all heads, shape (batch, seq, dim).

        Args:
            x: shape (batch, seq, dim).
            mask: None, or boolean (or 0/1 integers) that broadcasts to (batch, num_heads, seq, seq), as (seq, seq) for
                all or (batch, 1, 1, seq) for padding; True = may be attended to. Three axes are, by the rules of
                broadcasting, (num_heads, seq, seq).

        Returns:
            Shape (batch, seq, dim). A query that may attend to nothing has weights 0 and, before the output projection,
            output 0. float32 for float32 x and parameters.

        Raises:
            ValueError: x is not (batch, seq, dim), or mask does not broadcast to (batch, num_heads, seq, seq).
        """
        x = _sequences(x, self._dim)
        qkv = x @ self.params["qkv_weights"] + self.params["qkv_bias"]
        heads = qkv.reshape(*x.shape[:2], 3, self._num_heads, self._head_dim).transpose(2, 0, 3, 1, 4)
        head_outputs, self.attention_weights = _attend(*heads, mask)
        joined = head_outputs.transpose(0, 2, 1, 3).reshape(x.shape)
        self._cache = x, heads, joined
        return joined @ self.params["output_weights"] + self.params["output_bias"]

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x, and put those of the parameters in grads.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq, dim).

        Returns:
            Shape (batch, seq, dim). grads is replaced, not added to. Masked positions pass on no gradient.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        x, heads, joined = _last_forward(self._cache)
        grad_output = _of_shape(grad_output, x.shape)
        grad_joined = grad_output @ self.params["output_weights"].T
        grad_heads = grad_joined.reshape(*x.shape[:2], self._num_heads, self._head_dim).transpose(0, 2, 1, 3)
        grad_qkv = np.stack(_attend_backward(grad_heads, *heads, self.attention_weights))
        grad_qkv = grad_qkv.transpose(1, 3, 0, 2, 4).reshape(*x.shape[:2], 3 * self._dim)
        qkv_weights, qkv_bias = _linear_gradients(x, grad_qkv)
        output_weights, output_bias = _linear_gradients(joined, grad_output)
        self.grads = {
            "qkv_weights": qkv_weights,
            "qkv_bias": qkv_bias,
            "output_weights": output_weights,
            "output_bias": output_bias,
        }
        return grad_qkv @ self.params["qkv_weights"].T


class LayerNorm:
    """Layer normalisation: gamma * (x - mean) / sqrt(variance + eps) + beta over the last axis.

    Args:
        dim: number of features.
        eps: keeps the division finite. Standard deviation + eps as the divisor is accepted as well.

    Attributes:
        params: dict of "gamma" (dim,), at first ones, and "beta" (dim,), at first zeros. forward reads the dict at each
            call, so it may be replaced whole.
        grads: dict with the keys and shapes of params, filled by backward; empty until then.

    Source: Ba, Kiros and Hinton 2016.

    Example:
        >>> LayerNorm(3).forward(np.array([2.0, 4.0, 6.0])).round(4)
        array([-1.2247,  0.    ,  1.2247])
    """

    def __init__(self, dim, eps=1e-5):
        self._dim = dim
        self._eps = eps
        self.params = {"gamma": np.ones(dim), "beta": np.zeros(dim)}
        self.grads = {}
        self._cache = None

    def forward(self, x):
        """Return every feature vector at mean 0 and variance 1, scaled by gamma and shifted by beta.

        Args:
            x: shape (..., dim). The variance is that of the population, divided by dim and not by dim - 1.

        Returns:
            The shape of x. A constant vector gives beta. float32 for float32 x and parameters.

        Raises:
            ValueError: x is not (..., dim).
        """
        x = _features(x, self._dim)
        centered = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centered**2).mean(axis=-1, keepdims=True) + self._eps)
        normalized = centered / deviation
        self._cache = normalized, deviation
        return self.params["gamma"] * normalized + self.params["beta"]

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x, and put those of the parameters in grads.

        Args:
            grad_output: gradient of the loss with respect to the last output, of its shape.

        Returns:
            The shape of x. grads is replaced, not added to.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        normalized, deviation = _last_forward(self._cache)
        grad_output = _of_shape(grad_output, normalized.shape)
        self.grads = {"gamma": _sum_leading_axes(grad_output * normalized), "beta": _sum_leading_axes(grad_output)}
        grad = grad_output * self.params["gamma"]
        along_mean = grad.mean(axis=-1, keepdims=True)
        along_variance = normalized * (grad * normalized).mean(axis=-1, keepdims=True)
        return (grad - along_mean - along_variance) / deviation


class MLP:
    """Two linear layers with GELU between them: x W1 + b1, GELU, dropout, times W2 plus b2, dropout.

    GELU(x) = x * Phi(x) with Phi the cumulative distribution of the standard normal, x/2 * (1 + erf(x/sqrt(2))). Its
    tanh approximation, x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))), is accepted as well.

    Dropout is inverted: in training each number is set to 0 with probability `dropout` and divided by 1 - dropout
    otherwise, each number of the batch by its own draw; outside of training nothing happens.

    Args:
        dim: number of features of input and output.
        hidden_dim: number of hidden units.
        dropout: probability of dropping a number, at least 0 and below 1.
        rng: np.random.Generator that draws the weights and, later, what is dropped; None draws a fresh one. Generators
            of the same seed give the same weights and, for the same calls of forward, drop the same.

    Attributes:
        params: dict of "W1" (dim, hidden_dim), "b1" (hidden_dim,), "W2" (hidden_dim, dim), "b2" (dim,). At first the
            weights are normally distributed with mean 0 and standard deviation 1/sqrt(number of inputs), the biases
            zero. forward reads the dict at each call, so it may be replaced whole.
        grads: dict with the keys and shapes of params, filled by backward; empty until then.

    Raises:
        ValueError: dropout is below 0, or not below 1.

    Source: Vaswani et al. 2017, section 3.3; Hendrycks and Gimpel 2016 (GELU); Srivastava et al. 2014 (dropout).

    Example:
        >>> mlp = MLP(1, 1)
        >>> mlp.params = {"W1": np.eye(1), "b1": np.zeros(1), "W2": np.eye(1), "b2": np.zeros(1)}
        >>> mlp.forward(np.array([[-1.0], [0.0], [1.0]])).round(3) + 0.0
        array([[-0.159],
               [ 0.   ],
               [ 0.841]])
    """

    def __init__(self, dim, hidden_dim, dropout=0.0, rng=None):
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout: {dropout}, expected a probability of at least 0 and below 1")
        self._rng = _generator(rng)
        self._dim = dim
        self._dropout = dropout
        self.params = {
            "W1": _initial_weights(self._rng, dim, hidden_dim),
            "b1": np.zeros(hidden_dim),
            "W2": _initial_weights(self._rng, hidden_dim, dim),
            "b2": np.zeros(dim),
        }
        self.grads = {}
        self._cache = None

    def forward(self, x, training=False):
        """Return the network's output, each position by itself.

        Args:
            x: shape (..., dim).
            training: whether to drop; each call draws anew.

        Returns:
            The shape of x. float32 for float32 x and parameters.

        Raises:
            ValueError: x is not (..., dim).
        """
        x = _features(x, self._dim)
        before = x @ self.params["W1"] + self.params["b1"]
        hidden_scale = self._draw_scale(before, training)
        cdf = _normal_cdf(before)
        hidden = before * cdf * hidden_scale
        output = hidden @ self.params["W2"] + self.params["b2"]
        output_scale = self._draw_scale(output, training)
        self._cache = x, before, cdf, hidden_scale, hidden, output_scale
        return output * output_scale

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x, and put those of the parameters in grads.

        Args:
            grad_output: gradient of the loss with respect to the last output, of its shape.

        Returns:
            The shape of x. grads is replaced, not added to. What the last forward call dropped passes on no gradient.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        x, before, cdf, hidden_scale, hidden, output_scale = _last_forward(self._cache)
        grad = _of_shape(grad_output, x.shape) * output_scale
        grad_before = grad @ self.params["W2"].T * hidden_scale * _gelu_slope(before, cdf)
        W1, b1 = _linear_gradients(x, grad_before)
        W2, b2 = _linear_gradients(hidden, grad)
        self.grads = {"W1": W1, "b1": b1, "W2": W2, "b2": b2}
        return grad_before @ self.params["W1"].T

    def _draw_scale(self, x, training):
        """What dropout multiplies x by: 1 outside of training, else 0 or 1 / (1 - dropout) for each number."""
        if not training:
            return 1
        kept = self._rng.random(x.shape) >= self._dropout
        return kept.astype(x.dtype) / (1 - self._dropout)


class Block:
    """A pre-LN Transformer block: x + attention(norm1(x)), and then that plus mlp(norm2(of that)).

    Args:
        dim: number of features of input and output.
        num_heads: how many heads; must divide dim.
        mlp_ratio: the MLP has int(dim * mlp_ratio) hidden units.
        dropout: that of the MLP.
        rng: np.random.Generator that draws the weights and what is dropped; None draws a fresh one. Generators of the
            same seed give the same weights and, for the same calls of forward, drop the same.

    Attributes:
        norm1, norm2: LayerNorm(dim), before the attention and before the MLP.
        attention: MultiheadSelfAttention(dim, num_heads).
        mlp: MLP(dim, int(dim * mlp_ratio), dropout).
        dim, num_heads, hidden_dim: the sizes, which may stay here as is usual; no test asks for them.

    Raises:
        ValueError: what the attention and the MLP refuse.

    Source: Xiong et al. 2020, figure 1b.

    Example:
        >>> block = Block(8, 2, rng=np.random.default_rng(0))
        >>> block.forward(np.ones((3, 5, 8))).shape, block.mlp.params["W1"].shape
        ((3, 5, 8), (8, 32))
    """

    def __init__(self, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        self.dim, self.num_heads, self.hidden_dim = dim, num_heads, int(dim * mlp_ratio)
        self.norm1 = LayerNorm(self.dim)
        self.attention = MultiheadSelfAttention(dim, self.num_heads, rng)
        self.norm2 = LayerNorm(dim)
        self.mlp = MLP(dim, self.hidden_dim, dropout, rng)

    def forward(self, x, mask=None, training=False):
        """Return the block's output, shape (batch, seq, dim).

        Args:
            x: shape (batch, seq, dim).
            mask: as for MultiheadSelfAttention.forward.
            training: whether the MLP drops.

        Raises:
            ValueError: x is not (batch, seq, dim), or mask does not broadcast to (batch, num_heads, seq, seq).
        """
        x = x + self.attention.forward(self.norm1.forward(x), mask)
        return x + self.mlp.forward(self.norm2.forward(x), training)

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x; the parts keep those of their parameters.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq, dim).

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        grad = grad_output + self.norm2.backward(self.mlp.backward(grad_output))
        return grad + self.norm1.backward(self.attention.backward(grad))

    @property
    def params(self):
        """All parameters by dotted name, as "norm1.gamma", "attention.qkv_weights", "norm2.beta", "mlp.W1".

        To replace some, set the params of their part: block.norm1.params = {"gamma": ..., "beta": ...}.
        """
        return _dotted(_block_parts(self), "params")

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        return _dotted(_block_parts(self), "grads")


class PostNormBlock:
    """A post-LN Transformer block: h = norm1(x + attention(x)), and then norm2(h + mlp(h)).

    Args:
        dim: number of features of input and output.
        num_heads: how many heads; must divide dim.
        mlp_ratio: the MLP has int(dim * mlp_ratio) hidden units.
        dropout: that of the MLP.
        rng: np.random.Generator that draws the weights and what is dropped; None draws a fresh one. Generators of the
            same seed give the same weights and, for the same calls of forward, drop the same.

    Attributes:
        norm1, norm2: LayerNorm(dim), after the attention and after the MLP.
        attention: MultiheadSelfAttention(dim, num_heads).
        mlp: MLP(dim, int(dim * mlp_ratio), dropout).
        dim, num_heads, hidden_dim: the sizes, which may stay here as is usual; no test asks for them.

    Raises:
        ValueError: what the attention and the MLP refuse.

    Source: Vaswani et al. 2017, section 3.1; Xiong et al. 2020, figure 1a.

    Example:
        >>> block = PostNormBlock(8, 2, rng=np.random.default_rng(0))
        >>> output = block.forward(np.random.default_rng(1).normal(size=(3, 5, 8)))
        >>> bool(np.abs(output.mean(axis=-1)).max() < 1e-9), bool(np.abs(output.std(axis=-1) - 1).max() < 1e-4)
        (True, True)
    """

    def __init__(self, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        self.dim, self.num_heads, self.hidden_dim = dim, num_heads, int(dim * mlp_ratio)
        self.norm1 = LayerNorm(self.dim)
        self.attention = MultiheadSelfAttention(dim, self.num_heads, rng)
        self.norm2 = LayerNorm(dim)
        self.mlp = MLP(dim, self.hidden_dim, dropout, rng)

    def forward(self, x, mask=None, training=False):
        """Return the block's output, shape (batch, seq, dim).

        Args:
            x: shape (batch, seq, dim).
            mask: as for MultiheadSelfAttention.forward.
            training: whether the MLP drops.

        Raises:
            ValueError: x is not (batch, seq, dim), or mask does not broadcast to (batch, num_heads, seq, seq).
        """
        h = self.norm1.forward(x + self.attention.forward(x, mask))
        return self.norm2.forward(h + self.mlp.forward(h, training))

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x; the parts keep those of their parameters.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq, dim).

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        grad = self.norm2.backward(grad_output)
        grad = self.norm1.backward(grad + self.mlp.backward(grad))
        return grad + self.attention.backward(grad)

    @property
    def params(self):
        """All parameters by dotted name, as "norm1.gamma", "attention.qkv_weights", "norm2.beta", "mlp.W1".

        To replace some, set the params of their part: block.norm1.params = {"gamma": ..., "beta": ...}.
        """
        return _dotted(_block_parts(self), "params")

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        return _dotted(_block_parts(self), "grads")


class Encoder:
    """A stack of pre-LN blocks with a layer normalisation after the last.

    Args:
        depth: how many blocks.
        dim, num_heads, mlp_ratio, dropout: those of every Block.
        rng: np.random.Generator that draws the weights and what is dropped; None draws a fresh one. Generators of the
            same seed give the same weights and, for the same calls of forward, drop the same.

    Attributes:
        blocks: list of depth Blocks, each with parameters of its own, first to last.
        norm: LayerNorm(dim), after the last block.

    Raises:
        ValueError: depth is below 1, or what Block refuses.

    Source: Xiong et al. 2020, section 3 (the final normalisation of a pre-LN stack).

    Example:
        >>> encoder = Encoder(2, 8, 2, rng=np.random.default_rng(0))
        >>> encoder.forward(np.ones((3, 5, 8))).shape
        (3, 5, 8)
        >>> len(encoder.params), "blocks.1.mlp.W1" in encoder.params, "norm.gamma" in encoder.params
        (26, True, True)
    """

    def __init__(self, depth, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        if depth < 1:
            raise ValueError(f"depth: {depth}, expected at least one block")
        self.blocks = [Block(dim, num_heads, mlp_ratio, dropout, rng) for _ in range(depth)]
        self.norm = LayerNorm(dim)

    def forward(self, x, mask=None, training=False):
        """Return norm(x after all blocks, each applied to the output of the one before), shape (batch, seq, dim).

        Args:
            x: shape (batch, seq, dim).
            mask: passed to every block, as for MultiheadSelfAttention.forward.
            training: whether the MLPs drop.

        Raises:
            ValueError: x is not (batch, seq, dim), or mask does not broadcast to (batch, num_heads, seq, seq).
        """
        for block in self.blocks:
            x = block.forward(x, mask, training)
        return self.norm.forward(x)

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x; the parts keep those of their parameters.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq, dim).

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        grad = self.norm.backward(grad_output)
        for block in reversed(self.blocks):
            grad = block.backward(grad)
        return grad

    @property
    def params(self):
        """All parameters by dotted name, as "blocks.0.norm1.gamma", "blocks.1.mlp.W1", "norm.beta".

        To replace some, set the params of their part: encoder.norm.params = {"gamma": ..., "beta": ...}.
        """
        return _dotted(_encoder_parts(self), "params")

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        return _dotted(_encoder_parts(self), "grads")


def _attend(queries, keys, values, mask):
    """(output, weights) of scaled dot-product attention; all leading axes agree."""
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(queries.shape[-1])
    if mask is not None:
        scores = np.where(np.broadcast_to(mask, scores.shape), scores, -np.inf)
    weights = _softmax(scores)
    return weights @ values, weights


def _attend_backward(grad_output, queries, keys, values, weights):
    """Gradients of _attend's output with respect to queries, keys and values; a weight of 0 passes nothing on."""
    grad_weights = grad_output @ np.swapaxes(values, -1, -2)
    grad_scores = weights * (grad_weights - (grad_weights * weights).sum(axis=-1, keepdims=True))
    grad_scores = grad_scores / math.sqrt(queries.shape[-1])
    return grad_scores @ keys, np.swapaxes(grad_scores, -1, -2) @ queries, np.swapaxes(weights, -1, -2) @ grad_output


def _softmax(scores):
    """Softmax along the last axis; a row of -inf gives zeros."""
    peak = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(peak == -np.inf, 0, peak))  # -inf - (-inf) would be NaN
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def _gelu_slope(x, cdf):
    """Derivative of GELU, x Phi(x), where Phi is cdf: Phi(x) + x phi(x)."""
    return cdf + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def _normal_cdf(x):
    """Probability that a standard normal number is at most x; NumPy has no erf, math has it for one number."""
    z = x / math.sqrt(2)
    return (1 + np.fromiter(map(math.erf, z.ravel().tolist()), x.dtype, x.size).reshape(x.shape)) / 2


def _linear_gradients(x, grad):
    """Gradients of W and b in x W + b: summed over all positions."""
    leading = range(x.ndim - 1)
    return np.tensordot(x, grad, (leading, leading)), _sum_leading_axes(grad)


def _sum_leading_axes(x):
    """Gradient of a vector that was broadcast to all positions."""
    return x.sum(axis=tuple(range(x.ndim - 1)))


def _generator(rng):
    return np.random.default_rng() if rng is None else rng


def _initial_weights(rng, num_inputs, num_outputs):
    """Weights of standard deviation 1/sqrt(num_inputs), so that a projection keeps the variance of its input."""
    return rng.standard_normal((num_inputs, num_outputs)) / math.sqrt(num_inputs)


def _sequences(x, dim):
    if x.ndim != 3 or x.shape[-1] != dim:
        raise ValueError(f"x: shape {x.shape}, expected (batch, seq, {dim})")
    return x


def _features(x, dim):
    if x.shape[-1:] != (dim,):
        raise ValueError(f"x: shape {x.shape}, expected (..., {dim})")
    return x


def _last_forward(cache):
    if cache is None:
        raise RuntimeError("backward: forward has not been called, expected one forward call before it")
    return cache


def _of_shape(grad_output, shape):
    if grad_output.shape != shape:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected {shape}, that of the last output")
    return grad_output


def _block_parts(block):
    return {"norm1": block.norm1, "attention": block.attention, "norm2": block.norm2, "mlp": block.mlp}


def _encoder_parts(encoder):
    return {**{f"blocks.{i}": block for i, block in enumerate(encoder.blocks)}, "norm": encoder.norm}


def _dotted(parts, which):
    """The params or grads of all parts in one dict, each key behind the name of its part."""
    return {f"{name}.{key}": value for name, part in parts.items() for key, value in getattr(part, which).items()}
