"""Transformer blocks: self-attention, normalisation, MLP, residual blocks and an encoder, forward and backward.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
the feature axis is last and batch axes come first; inputs are never changed; masks are boolean (or 0/1 integers) with
True where attending is allowed; every layer has forward and backward, `params` and `grads`.
"""

import numpy as np


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
        raise NotImplementedError("SelfAttention.__init__")

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
        raise NotImplementedError("SelfAttention.forward")

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
        raise NotImplementedError("SelfAttention.backward")


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
        raise NotImplementedError("MultiheadSelfAttention.__init__")

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
        raise NotImplementedError("MultiheadSelfAttention.forward")

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
        raise NotImplementedError("MultiheadSelfAttention.backward")


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
        raise NotImplementedError("LayerNorm.__init__")

    def forward(self, x):
        """Return every feature vector at mean 0 and variance 1, scaled by gamma and shifted by beta.

        Args:
            x: shape (..., dim). The variance is that of the population, divided by dim and not by dim - 1.

        Returns:
            The shape of x. A constant vector gives beta. float32 for float32 x and parameters.

        Raises:
            ValueError: x is not (..., dim).
        """
        raise NotImplementedError("LayerNorm.forward")

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
        raise NotImplementedError("LayerNorm.backward")


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
        raise NotImplementedError("MLP.__init__")

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
        raise NotImplementedError("MLP.forward")

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
        raise NotImplementedError("MLP.backward")


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
        raise NotImplementedError("Block.__init__")

    def forward(self, x, mask=None, training=False):
        """Return the block's output, shape (batch, seq, dim).

        Args:
            x: shape (batch, seq, dim).
            mask: as for MultiheadSelfAttention.forward.
            training: whether the MLP drops.

        Raises:
            ValueError: x is not (batch, seq, dim), or mask does not broadcast to (batch, num_heads, seq, seq).
        """
        raise NotImplementedError("Block.forward")

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x; the parts keep those of their parameters.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq, dim).

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        raise NotImplementedError("Block.backward")

    @property
    def params(self):
        """All parameters by dotted name, as "norm1.gamma", "attention.qkv_weights", "norm2.beta", "mlp.W1".

        To replace some, set the params of their part: block.norm1.params = {"gamma": ..., "beta": ...}.
        """
        raise NotImplementedError("Block.params")

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        raise NotImplementedError("Block.grads")


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
        raise NotImplementedError("PostNormBlock.__init__")

    def forward(self, x, mask=None, training=False):
        """Return the block's output, shape (batch, seq, dim).

        Args:
            x: shape (batch, seq, dim).
            mask: as for MultiheadSelfAttention.forward.
            training: whether the MLP drops.

        Raises:
            ValueError: x is not (batch, seq, dim), or mask does not broadcast to (batch, num_heads, seq, seq).
        """
        raise NotImplementedError("PostNormBlock.forward")

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x; the parts keep those of their parameters.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq, dim).

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        raise NotImplementedError("PostNormBlock.backward")

    @property
    def params(self):
        """All parameters by dotted name, as "norm1.gamma", "attention.qkv_weights", "norm2.beta", "mlp.W1".

        To replace some, set the params of their part: block.norm1.params = {"gamma": ..., "beta": ...}.
        """
        raise NotImplementedError("PostNormBlock.params")

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        raise NotImplementedError("PostNormBlock.grads")


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
        raise NotImplementedError("Encoder.__init__")

    def forward(self, x, mask=None, training=False):
        """Return norm(x after all blocks, each applied to the output of the one before), shape (batch, seq, dim).

        Args:
            x: shape (batch, seq, dim).
            mask: passed to every block, as for MultiheadSelfAttention.forward.
            training: whether the MLPs drop.

        Raises:
            ValueError: x is not (batch, seq, dim), or mask does not broadcast to (batch, num_heads, seq, seq).
        """
        raise NotImplementedError("Encoder.forward")

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x; the parts keep those of their parameters.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq, dim).

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        raise NotImplementedError("Encoder.backward")

    @property
    def params(self):
        """All parameters by dotted name, as "blocks.0.norm1.gamma", "blocks.1.mlp.W1", "norm.beta".

        To replace some, set the params of their part: encoder.norm.params = {"gamma": ..., "beta": ...}.
        """
        raise NotImplementedError("Encoder.params")

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        raise NotImplementedError("Encoder.grads")
