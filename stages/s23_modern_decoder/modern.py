"""A decoder of today, of RMS norm, rotary positions, shared heads and SwiGLU, and the loop that trains it.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
token ids are integers of shape (batch, seq); the feature axis is last; inputs are never changed, but for a RollingCache
and for a model that is trained; a forward function that returns a cache returns it last, for the backward function of
its name, in a form of your choice. The loss comes from stage s18, the clipping of gradients from stage s05.
"""

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
    raise NotImplementedError("rms_norm_forward")


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
    raise NotImplementedError("rms_norm_backward")


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
    raise NotImplementedError("rotary_forward")


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
    raise NotImplementedError("rotary_backward")


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
    raise NotImplementedError("scale_positions")


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
    raise NotImplementedError("grouped_query_attention_forward")


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
    raise NotImplementedError("grouped_query_attention_backward")


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
    raise NotImplementedError("swiglu_forward")


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
    raise NotImplementedError("swiglu_backward")


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
        raise NotImplementedError("RollingCache.__init__")

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
        raise NotImplementedError("RollingCache.append")

    @property
    def keys(self):
        """The keys that are kept, the oldest first."""
        raise NotImplementedError("RollingCache.keys")

    @property
    def values(self):
        """The values that are kept, the oldest first."""
        raise NotImplementedError("RollingCache.values")


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
        raise NotImplementedError("ModernBlock.__init__")

    def forward(self, x):
        """Return the block's output, shape (batch, seq, dim); what position i gets depends on positions 0 to i only.

        Args:
            x: shape (batch, seq, dim).

        Returns:
            Shape (batch, seq, dim). float32 for float32 x and parameters.

        Raises:
            ValueError: x is not (batch, seq, dim).
        """
        raise NotImplementedError("ModernBlock.forward")

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
        raise NotImplementedError("ModernBlock.backward")

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
        raise NotImplementedError("ModernBlock.forward_with_cache")

    @property
    def params(self):
        """All parameters by dotted name; set it to give the block others."""
        raise NotImplementedError("ModernBlock.params")

    @params.setter
    def params(self, given):
        raise NotImplementedError("ModernBlock.params")


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
        raise NotImplementedError("ModernGPT.__init__")

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
        raise NotImplementedError("ModernGPT.forward")

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
        raise NotImplementedError("ModernGPT.backward")

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
        raise NotImplementedError("ModernGPT.forward_with_cache")

    @property
    def params(self):
        """All parameters by name; set it to give the model others."""
        raise NotImplementedError("ModernGPT.params")

    @params.setter
    def params(self, given):
        raise NotImplementedError("ModernGPT.params")

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        raise NotImplementedError("ModernGPT.grads")


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
    raise NotImplementedError("initial_loss")


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
    raise NotImplementedError("scaled_initialisation")


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
    raise NotImplementedError("train")
