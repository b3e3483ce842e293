"""Attention, from one table of scores to a stack of Transformer encoder blocks, forward and backward.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
feature axis last, batch axes first; "..." stands for any number of leading axes; inputs are never changed; masks are
boolean (or 0/1 integers) with True where attending is allowed; a query that may attend to nothing gets weights of zero.
"""

import numpy as np


def compute_attention_scores(Q, K, scale=True):
    """Return how well every query matches every key: Q K^T / sqrt(d_k).

    Args:
        Q: queries, shape (..., seq_q, d_k).
        K: keys, shape (..., seq_k, d_k). The leading axes of Q and K broadcast.
        scale: divide by sqrt(d_k); False gives the plain dot products.

    Returns:
        Scores, shape (..., seq_q, seq_k): row i holds query i against all keys. float32 for float32 inputs.

    Raises:
        ValueError: Q or K has fewer than two axes, they differ in d_k, or their leading axes do not broadcast.

    Source: Vaswani et al. 2017, equation 1 (the part inside the softmax).

    Example:
        >>> Q = np.array([[1.0, 0.0]])
        >>> K = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
        >>> compute_attention_scores(Q, K, scale=False)
        array([[1. , 0. , 0.5]])
        >>> compute_attention_scores(Q, K).round(4)
        array([[0.7071, 0.    , 0.3536]])
    """
    Q, K = _matrix("Q", Q), _matrix("K", K)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"K: shape {K.shape}, expected (..., seq_k, {Q.shape[-1]}), the d_k of Q, shape {Q.shape}")
    scores = Q @ np.swapaxes(K, -1, -2)
    return scores / Q.shape[-1] ** 0.5 if scale else scores


def apply_attention_mask(scores, mask, mask_value=-1e9):
    """Return the scores with a value so low at the masked positions that a softmax gives them no weight.

    Args:
        scores: attention scores, shape (..., seq_q, seq_k).
        mask: boolean (or 0/1 integers), broadcast to the shape of scores; True (1) = may be attended to.
        mask_value: what marks a masked position, a large negative number or -inf.

    Returns:
        A new array of the shape of scores: allowed entries as they were, masked ones at mask_value.

    Raises:
        ValueError: mask does not broadcast to the shape of scores.

    Source: Vaswani et al. 2017, section 3.2.3 (illegal connections are set to -inf before the softmax).

    Example:
        >>> apply_attention_mask(np.array([[3.0, 1.0, 2.0]]), np.array([True, True, False]), mask_value=-np.inf)
        array([[  3.,   1., -inf]])
    """
    return np.where(_mask_for("scores", mask, scores.shape), scores, mask_value)


def attention_weights(scores, axis=-1):
    """Return the softmax of the scores along one axis: exp(s_j) / sum over j of exp(s_j).

    Args:
        scores: any real numbers, also of size 1e4; -inf marks an entry that must get no weight. Usually shape
            (..., seq_q, seq_k).
        axis: the axis whose weights sum to 1; the last one holds the keys.

    Returns:
        Weights of the shape of scores, between 0 and 1, exactly 0 where a score is -inf. They sum to 1 along axis,
        except where all scores along it are -inf: there they are all 0, never NaN. float32 for float32 scores.

    Raises:
        ValueError: scores has no such axis.

    Source: Vaswani et al. 2017, equation 1 (the softmax); the zero row is the convention of this course.

    Example:
        >>> attention_weights(np.array([[1.0, 0.0, 0.5], [0.0, -np.inf, 0.0]])).round(4)
        array([[0.5065, 0.1863, 0.3072],
               [0.5   , 0.    , 0.5   ]])
    """
    peak = np.nan_to_num(scores.max(axis=axis, keepdims=True))  # finite, for -inf - (-inf) would be NaN
    exponentials = np.exp(scores - peak)
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.maximum(total, 1)  # the peak alone adds exp(0) = 1: less is a row of -inf


def scaled_dot_product_attention(Q, K, V, mask=None):
    """Return, for every query, the values averaged by how well their keys match: softmax(Q K^T / sqrt(d_k)) V.

    Args:
        Q: queries, shape (..., seq_q, d_k).
        K: keys, shape (..., seq_k, d_k).
        V: values, shape (..., seq_k, d_v): one for each key; d_v may differ from d_k.
        mask: None, or boolean (or 0/1 integers) that broadcasts to (..., seq_q, seq_k); True = may be attended to.

    Returns:
        (output, weights): output of shape (..., seq_q, d_v), weights of shape (..., seq_q, seq_k). A query whose keys
        are all masked has weights 0 and output 0. float32 for float32 inputs.

    Raises:
        ValueError: Q and K differ in d_k, K and V differ in seq_k, leading axes do not broadcast, or mask does not
            broadcast to the scores.

    Source: Vaswani et al. 2017, equation 1.

    Example:
        >>> Q = np.array([[1.0, 0.0]])
        >>> K = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
        >>> V = np.array([[10.0], [20.0], [30.0]])
        >>> output, weights = scaled_dot_product_attention(Q, K, V)
        >>> output.round(3), weights.round(3)
        (array([[18.643]]), array([[0.456, 0.225, 0.32 ]]))
    """
    return _weighted_values(compute_attention_scores(Q, K), K, V, mask)


def additive_attention(Q, K, V, W_q, W_k, v, mask=None):
    """Return attention whose score is a small network instead of a dot product: v . tanh(q W_q + k W_k).

    There is no division by sqrt(d). Queries and keys may differ in size, since each has its own projection.

    Args:
        Q: queries, shape (..., seq_q, d_q).
        K: keys, shape (..., seq_k, d_k).
        V: values, shape (..., seq_k, d_v).
        W_q: projection of the queries, shape (d_q, d_a).
        W_k: projection of the keys, shape (d_k, d_a).
        v: weights of the hidden units, shape (d_a,).
        mask: None, or boolean (or 0/1 integers) that broadcasts to (..., seq_q, seq_k); True = may be attended to.

    Returns:
        (output, weights): output of shape (..., seq_q, d_v), weights of shape (..., seq_q, seq_k). A query whose keys
        are all masked has weights 0 and output 0. float32 for float32 inputs.

    Raises:
        ValueError: W_q, W_k or v does not fit Q and K, K and V differ in seq_k, leading axes do not broadcast, or mask
            does not broadcast to the scores.

    Source: Bahdanau, Cho and Bengio 2015, appendix A.1.2 (the alignment model).

    Example:
        >>> one = np.array([[1.0]])
        >>> K = np.array([[0.0], [1.0]])
        >>> output, weights = additive_attention(one, K, np.array([[0.0], [8.0]]), one, one, np.array([1.0]))
        >>> output.round(3), weights.round(3)  # scores tanh(1) = 0.762 and tanh(2) = 0.964
        (array([[4.403]]), array([[0.45, 0.55]]))
    """
    W_q = _of_shape("W_q", W_q, (Q.shape[-1], v.size))
    W_k = _of_shape("W_k", W_k, (K.shape[-1], v.size))
    v = _of_shape("v", v, (v.size,))
    hidden = np.tanh((Q @ W_q)[..., None, :] + (K @ W_k)[..., None, :, :])
    return _weighted_values(hidden @ v, K, V, mask)


def split_heads(x, num_heads):
    """Return x with its features divided among the heads, and the heads as an axis of their own.

    Args:
        x: shape (batch, seq, d_model).
        num_heads: how many heads; must divide d_model.

    Returns:
        Shape (batch, num_heads, seq, d_k) with d_k = d_model / num_heads. Head h of a token holds the features
        h*d_k to (h+1)*d_k of that same token.

    Raises:
        ValueError: x has not three axes, or num_heads is not a positive integer that divides d_model.

    Source: Vaswani et al. 2017, section 3.2.2.

    Example:
        >>> x = np.array([[[0, 1, 2, 3], [10, 11, 12, 13]]])  # one sequence of two tokens
        >>> split_heads(x, 2).tolist()
        [[[[0, 1], [10, 11]], [[2, 3], [12, 13]]]]
    """
    batch, seq, d_model = _sizes("x", x, "batch", "seq", "d_model")
    _require_heads_divide(num_heads, d_model)
    return x.reshape(batch, seq, num_heads, d_model // num_heads).transpose(0, 2, 1, 3)


def merge_heads(x):
    """Return the heads of every token side by side again: the inverse of split_heads.

    Args:
        x: shape (batch, heads, seq, d_k).

    Returns:
        Shape (batch, seq, heads * d_k). merge_heads(split_heads(x, num_heads)) has the values of x.

    Raises:
        ValueError: x has not four axes.

    Source: Vaswani et al. 2017, section 3.2.2 (Concat).

    Example:
        >>> merge_heads(np.array([[[[0, 1], [10, 11]], [[2, 3], [12, 13]]]])).tolist()
        [[[0, 1, 2, 3], [10, 11, 12, 13]]]
    """
    batch, heads, seq, d_k = _sizes("x", x, "batch", "heads", "seq", "d_k")
    return x.transpose(0, 2, 1, 3).reshape(batch, seq, heads * d_k)


def multi_head_attention_forward(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    """Return the attention of several heads, each on its own slice of the projected features, joined by W_O.

    There are no biases. Projections multiply from the right: Q W_Q.

    Args:
        Q: shape (batch, seq_q, d_model).
        K: shape (batch, seq_k, d_model).
        V: shape (batch, seq_k, d_model). Self-attention passes the same array three times.
        W_Q, W_K, W_V: projections, shape (d_model, d_model); head h uses the columns h*d_k to (h+1)*d_k.
        W_O: output projection, shape (d_model, d_model).
        num_heads: how many heads; must divide d_model.
        mask: None, or boolean (or 0/1 integers) of shape (seq_q, seq_k), (batch, seq_q, seq_k),
            (batch, heads, seq_q, seq_k), or one that broadcasts to the last; True = may be attended to.

    Returns:
        (output, cache): output of shape (batch, seq_q, d_model); cache is whatever multi_head_attention_backward
        needs, in a form of your choice.

    Raises:
        ValueError: Q, K, V or a weight has another shape, num_heads does not divide d_model, or mask has none of the
            shapes above.

    Source: Vaswani et al. 2017, section 3.2.2: Concat(head_1, ..., head_h) W_O with
        head_i = Attention(Q W_Q^i, K W_K^i, V W_V^i).

    Example:
        >>> x = np.array([[[2.0, 0.0], [0.0, 2.0]]])
        >>> eye = np.eye(2)
        >>> output, cache = multi_head_attention_forward(x, x, x, eye, eye, eye, eye, num_heads=2)
        >>> output.round(3)  # head 0 sees the first feature only, head 1 the second
        array([[[1.964, 1.   ],
                [1.   , 1.964]]])
    """
    batch, seq_q, d_model = _sizes("Q", Q, "batch", "seq_q", "d_model")
    _, seq_k, _ = _sizes("K", K, "batch", "seq_k", "d_model")
    K, V = _of_shape("K", K, (batch, seq_k, d_model)), _of_shape("V", V, K.shape)
    named = {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
    weights = {name: _of_shape(name, value, (d_model, d_model)) for name, value in named.items()}
    heads_Q = split_heads(Q @ weights["W_Q"], num_heads)
    heads_K = split_heads(K @ weights["W_K"], num_heads)
    heads_V = split_heads(V @ weights["W_V"], num_heads)
    if mask is not None:
        mask = _multi_head_mask(mask, (batch, num_heads, seq_q, seq_k))
    head_outputs, attention = scaled_dot_product_attention(heads_Q, heads_K, heads_V, mask)
    joined = merge_heads(head_outputs)
    output = joined @ weights["W_O"]
    cache = {
        **weights,
        "inputs": (Q, K, V),
        "heads": (heads_Q, heads_K, heads_V),
        "attention": attention,
        "joined": joined,
    }
    return output, cache


def multi_head_attention_backward(grad_output, cache):
    """Return the gradients of a loss with respect to everything that went into multi_head_attention_forward.

    Args:
        grad_output: gradient of the loss with respect to output, shape (batch, seq_q, d_model).
        cache: the cache that the forward call returned.

    Returns:
        (grad_Q, grad_K, grad_V, grad_weights): arrays of the shapes of Q, K and V, and a dict with the keys "W_Q",
        "W_K", "W_V", "W_O" and arrays of shape (d_model, d_model). The three input gradients are separate also when
        the forward call was given one array three times: whoever shares the array adds them. Masked positions, and
        queries that may attend to nothing, pass on no gradient.

    Raises:
        ValueError: grad_output has not the shape of output.

    Source: the chain rule on Vaswani et al. 2017, section 3.2.2; derived in README.md.

    Example:
        >>> x = np.array([[[3.0]]])  # one token attends to itself: output = x * W_V * W_O
        >>> W = {name: np.array([[w]]) for name, w in {"W_Q": 1.0, "W_K": 1.0, "W_V": 5.0, "W_O": 2.0}.items()}
        >>> output, cache = multi_head_attention_forward(x, x, x, **W, num_heads=1)
        >>> grad_Q, grad_K, grad_V, grad_weights = multi_head_attention_backward(np.ones((1, 1, 1)), cache)
        >>> grad_V.item(), grad_weights["W_V"].item(), grad_weights["W_O"].item(), grad_weights["W_Q"].item()
        (10.0, 6.0, 15.0, 0.0)
    """
    grad_output = _of_shape("grad_output", grad_output, cache["joined"].shape)
    heads_Q, heads_K, heads_V = cache["heads"]
    num_heads = heads_Q.shape[1]
    grad_heads = split_heads(grad_output @ cache["W_O"].T, num_heads)
    head_gradients = _attention_backward(grad_heads, heads_Q, heads_K, heads_V, cache["attention"])
    grad_inputs, grad_weights = [], {}
    for name, given, grad in zip(("W_Q", "W_K", "W_V"), cache["inputs"], head_gradients, strict=True):
        grad_projected = merge_heads(grad)
        grad_weights[name] = _weight_gradient(given, grad_projected)
        grad_inputs.append(grad_projected @ cache[name].T)
    grad_weights["W_O"] = _weight_gradient(cache["joined"], grad_output)
    return (*grad_inputs, grad_weights)


class MultiHeadAttention:
    """Multi-head attention that owns its four projections.

    Args:
        d_model: number of features of inputs and output.
        num_heads: how many heads; must divide d_model.
        rng: np.random.Generator that draws the weights; None draws a fresh one.

    The parameters are "W_Q", "W_K", "W_V" and "W_O", each (d_model, d_model), at first normally distributed with mean 0
    and standard deviation 1/sqrt(d_model), so that a projection keeps the variance of its input; generators of the same
    seed give the same weights.

    Raises:
        ValueError: d_model or num_heads is not a positive integer, or num_heads does not divide d_model.

    Example:
        >>> layer = MultiHeadAttention(8, 2, rng=np.random.default_rng(0))
        >>> x = np.ones((3, 5, 8))
        >>> layer.forward(x, x, x).shape
        (3, 5, 8)
        >>> sorted(layer.get_params())
        ['W_K', 'W_O', 'W_Q', 'W_V']
    """

    def __init__(self, d_model, num_heads, rng=None):
        _require_positive("d_model", d_model)
        _require_heads_divide(num_heads, d_model)
        rng = np.random.default_rng() if rng is None else rng
        self.d_model = d_model
        self.num_heads = num_heads
        self._params = {name: _normal_weights(rng, d_model, d_model) for name in ("W_Q", "W_K", "W_V", "W_O")}
        self._gradients = None
        self._cache = None

    def forward(self, Q, K, V, mask=None):
        """Return the output of multi_head_attention_forward with this layer's weights, shape (batch, seq_q, d_model).

        Arguments and errors are those of multi_head_attention_forward. Only the output is returned; what backward needs
        stays with the layer.
        """
        output, self._cache = multi_head_attention_forward(Q, K, V, **self._params, num_heads=self.num_heads, mask=mask)
        return output

    def backward(self, grad_output):
        """Return (grad_Q, grad_K, grad_V) for the last forward call, and keep the gradients of the weights.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq_q, d_model).

        Raises:
            ValueError: grad_output has not the shape of the last output.
            RuntimeError: forward has not been called.
        """
        if self._cache is None:
            raise RuntimeError("backward: forward has not been called, expected one forward call before it")
        grad_Q, grad_K, grad_V, self._gradients = multi_head_attention_backward(grad_output, self._cache)
        return grad_Q, grad_K, grad_V

    def get_params(self):
        """Return copies of the weights, a dict "W_Q", "W_K", "W_V", "W_O": changing them leaves the layer as it is."""
        return {name: value.copy() for name, value in self._params.items()}

    def set_params(self, params):
        """Replace the weights by copies of the arrays in params.

        Args:
            params: a dict with the keys "W_Q", "W_K", "W_V", "W_O", each of shape (d_model, d_model).

        Raises:
            ValueError: a key is missing or unknown, or an array has another shape; the layer then stays as it was.
        """
        if set(params) != set(self._params):
            raise ValueError(f"params: keys {sorted(params)}, expected {sorted(self._params)}")
        shape = (self.d_model, self.d_model)
        self._params = {name: _of_shape(f"params['{name}']", params[name], shape).copy() for name in self._params}

    def get_gradients(self):
        """Return a dict of the weights' gradients from the last backward call: same keys and shapes as get_params.

        Whether they are copies is left open: copy what has to outlast the next backward call.

        Raises:
            RuntimeError: backward has not been called.
        """
        if self._gradients is None:
            raise RuntimeError("get_gradients: backward has not been called, expected one backward call before it")
        return {name: value.copy() for name, value in self._gradients.items()}


def sinusoidal_encoding(max_length, d_model):
    """Return the fixed encoding of the positions 0 to max_length - 1 by sines and cosines of falling frequency.

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model)) and PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model)).

    Args:
        max_length: number of positions.
        d_model: number of features; if it is odd, the last column is a sine without its cosine.

    Returns:
        float64, shape (max_length, d_model).

    Raises:
        ValueError: max_length or d_model is not a positive integer.

    Source: Vaswani et al. 2017, section 3.5.

    Example:
        >>> sinusoidal_encoding(2, 4).round(4)  # row 1: sin(1), cos(1), sin(0.01), cos(0.01)
        array([[0.    , 1.    , 0.    , 1.    ],
               [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    _require_positive("max_length", max_length)
    _require_positive("d_model", d_model)
    exponents = np.arange(0, d_model, 2) / d_model
    angles = np.arange(max_length)[:, None] / 10000.0**exponents
    encoding = np.empty((max_length, d_model))
    encoding[:, ::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles[:, : d_model // 2])
    return encoding


def add_positional_encoding(x, pe):
    """Return x with the encoding of its position added to every token.

    Args:
        x: embeddings, shape (batch, seq, d_model).
        pe: positional encoding, shape (max_length, d_model) with max_length >= seq; row p belongs to position p.

    Returns:
        A new array, shape (batch, seq, d_model).

    Raises:
        ValueError: x has not three axes, pe has not two, they differ in d_model, or seq exceeds max_length.

    Source: Vaswani et al. 2017, section 3.5.

    Example:
        >>> add_positional_encoding(np.zeros((1, 2, 2)), np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]))
        array([[[0., 1.],
                [2., 3.]]])
    """
    _, seq, d_model = _sizes("x", x, "batch", "seq", "d_model")
    if pe.ndim != 2 or pe.shape[1] != d_model:
        raise ValueError(f"pe: shape {pe.shape}, expected (max_length, {d_model}), the d_model of x, shape {x.shape}")
    if seq > pe.shape[0]:
        raise ValueError(f"x: sequences of {seq} tokens, expected at most {pe.shape[0]}, the max_length of pe")
    return x + pe[:seq]


def learned_positional_encoding(max_length, d_model, rng=None):
    """Return the initial table of an encoding that training adjusts: normally distributed, mean 0, std 0.02.

    Args:
        max_length: number of positions.
        d_model: number of features.
        rng: np.random.Generator that draws the values; None draws a fresh one. Generators of the same seed give the
            same table.

    Returns:
        float64, shape (max_length, d_model).

    Raises:
        ValueError: max_length or d_model is not a positive integer.

    Source: learned position embeddings as in Devlin et al. 2018 (BERT) and Radford et al. 2018 (GPT).

    Example:
        >>> learned_positional_encoding(512, 64, rng=np.random.default_rng(0)).shape
        (512, 64)
    """
    _require_positive("max_length", max_length)
    _require_positive("d_model", d_model)
    rng = np.random.default_rng() if rng is None else rng
    return rng.normal(scale=0.02, size=(max_length, d_model))


def create_causal_mask(seq_length):
    """Return the mask with which no position attends to a later one.

    Args:
        seq_length: number of positions.

    Returns:
        bool, shape (seq_length, seq_length): entry [i, j] is True where j <= i.

    Raises:
        ValueError: seq_length is not a positive integer.

    Source: Vaswani et al. 2017, section 3.2.3.

    Example:
        >>> create_causal_mask(3).astype(int)
        array([[1, 0, 0],
               [1, 1, 0],
               [1, 1, 1]])
    """
    _require_positive("seq_length", seq_length)
    return np.tri(seq_length, dtype=bool)


def create_padding_mask(lengths, max_length):
    """Return the mask that tells the real tokens of padded sequences from the padding behind them.

    Args:
        lengths: the number of real tokens of each sequence, a list or integer array of shape (batch,).
        max_length: the length to which all were padded.

    Returns:
        bool, shape (batch, max_length), True at real tokens. For the multi-head functions give it axes for heads and
        queries: mask[:, None, None, :].

    Raises:
        ValueError: lengths has not one axis or is not of integers, a length is below 0 or above max_length, or
            max_length is not a positive integer.

    Source: README.md, section on masks.

    Example:
        >>> create_padding_mask([3, 2], max_length=5).astype(int)
        array([[1, 1, 1, 0, 0],
               [1, 1, 0, 0, 0]])
    """
    _require_positive("max_length", max_length)
    lengths = np.asarray(lengths)
    if lengths.ndim != 1 or not np.issubdtype(lengths.dtype, np.integer):
        raise ValueError(f"lengths: {lengths.dtype} of shape {lengths.shape}, expected integers of shape (batch,)")
    outside = lengths[(lengths < 0) | (lengths > max_length)]
    if outside.size:
        raise ValueError(f"lengths: contains {outside[0]}, expected 0 to {max_length} (max_length)")
    return np.arange(max_length) < lengths[:, None]


def layer_norm(x, gamma, beta, eps=1e-6):
    """Return every feature vector shifted to mean 0, scaled to variance 1, then scaled by gamma and shifted by beta.

    gamma * (x - mean) / sqrt(variance + eps) + beta, with mean and population variance (divided by n, not n - 1) over
    the last axis. A constant vector gives beta.

    Args:
        x: shape (..., d_model).
        gamma: scale, shape (d_model,).
        beta: shift, shape (d_model,).
        eps: keeps the division finite. Standard deviation + eps as the divisor is accepted as well.

    Returns:
        The shape of x. float32 for float32 inputs.

    Raises:
        ValueError: x has no axis, or gamma or beta has not shape (d_model,).

    Source: Ba, Kiros and Hinton 2016.

    Example:
        >>> layer_norm(np.array([[2.0, 4.0, 6.0]]), np.ones(3), np.zeros(3)).round(4)
        array([[-1.2247,  0.    ,  1.2247]])
    """
    gamma, beta = _of_shape("gamma", gamma, x.shape[-1:]), _of_shape("beta", beta, x.shape[-1:])
    normalized, _ = _normalize(x, eps)
    return gamma * normalized + beta


def layer_norm_backward(grad_output, x, gamma, eps=1e-6):
    """Return the gradients of a loss with respect to the input and the parameters of layer_norm.

    Args:
        grad_output: gradient of the loss with respect to layer_norm's result, the shape of x.
        x: the input of the forward call, shape (..., d_model).
        gamma: the scale of the forward call, shape (d_model,).
        eps: the eps of the forward call.

    Returns:
        (grad_x, grad_gamma, grad_beta): the shape of x, (d_model,) and (d_model,).

    Raises:
        ValueError: grad_output has not the shape of x, or gamma has not shape (d_model,).

    Source: the chain rule on Ba, Kiros and Hinton 2016; derived in README.md.

    Example:
        >>> x = np.array([[2.0, 4.0, 6.0]])
        >>> grad_x, grad_gamma, grad_beta = layer_norm_backward(np.array([[1.0, 0.0, 0.0]]), x, np.ones(3))
        >>> grad_x.round(4)
        array([[ 0.1021, -0.2041,  0.1021]])
        >>> grad_gamma.round(4) + 0.0, grad_beta
        (array([-1.2247,  0.    ,  0.    ]), array([1., 0., 0.]))
    """
    grad_output, gamma = _of_shape("grad_output", grad_output, x.shape), _of_shape("gamma", gamma, x.shape[-1:])
    normalized, deviation = _normalize(x, eps)
    grad = gamma * grad_output
    along_mean = grad.mean(axis=-1, keepdims=True)
    along_variance = normalized * (grad * normalized).mean(axis=-1, keepdims=True)
    grad_x = (grad - along_mean - along_variance) / deviation
    return grad_x, _sum_leading_axes(grad_output * normalized), _sum_leading_axes(grad_output)


def feed_forward(x, W1, b1, W2, b2):
    """Return relu(x W1 + b1) W2 + b2: two dense layers, applied to every position separately.

    Args:
        x: shape (..., d_model).
        W1: shape (d_model, d_ff); d_ff is typically 4 * d_model.
        b1: shape (d_ff,).
        W2: shape (d_ff, d_model).
        b2: shape (d_model,).

    Returns:
        The shape of x. float32 for float32 inputs.

    Raises:
        ValueError: x has no axis, or a weight or bias does not fit.

    Source: Vaswani et al. 2017, equation 2.

    Example:
        >>> x = np.array([[1.0, -2.0]])
        >>> feed_forward(x, np.eye(2), np.array([0.5, 0.5]), np.array([[1.0, 2.0], [3.0, 4.0]]), np.zeros(2))
        array([[1.5, 3. ]])
    """
    _require_network_fits(x, W1, b1, W2, b2)
    return np.maximum(x @ W1 + b1, 0) @ W2 + b2


def feed_forward_backward(grad_output, x, W1, b1, W2, b2):
    """Return the gradients of a loss with respect to all five inputs of feed_forward.

    Args:
        grad_output: gradient of the loss with respect to feed_forward's result, the shape of x.
        x, W1, b1, W2, b2: the inputs of the forward call.

    Returns:
        (grad_x, grad_W1, grad_b1, grad_W2, grad_b2), each of the shape of its input.

    Raises:
        ValueError: grad_output has not the shape of x, or a weight or bias does not fit.

    Source: the chain rule on Vaswani et al. 2017, equation 2; derived in README.md.

    Example:
        >>> x, W1, W2 = np.array([[1.0, -2.0]]), np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]])
        >>> grads = feed_forward_backward(np.ones((1, 2)), x, W1, np.array([0.5, 0.5]), W2, np.zeros(2))
        >>> [grad.tolist() for grad in grads[:3]]  # the second hidden unit is off: 0.5 - 2 < 0
        [[[3.0, 0.0]], [[3.0, 0.0], [-6.0, 0.0]], [3.0, 0.0]]
    """
    _require_network_fits(x, W1, b1, W2, b2)
    grad_output = _of_shape("grad_output", grad_output, x.shape)
    before_relu = x @ W1 + b1
    hidden = np.maximum(before_relu, 0)
    grad_hidden = (grad_output @ W2.T) * (before_relu > 0)
    grad_W1, grad_b1 = _weight_gradient(x, grad_hidden), _sum_leading_axes(grad_hidden)
    grad_W2, grad_b2 = _weight_gradient(hidden, grad_output), _sum_leading_axes(grad_output)
    return grad_hidden @ W1.T, grad_W1, grad_b1, grad_W2, grad_b2


class TransformerEncoderBlock:
    """One post-LN encoder block: h = norm(x + attention(x, x, x)), then norm(h + feed_forward(h)).

    Args:
        d_model: number of features of input and output.
        num_heads: how many heads; must divide d_model.
        d_ff: number of hidden units of the feed-forward network; None means 4 * d_model.
        rng: np.random.Generator that draws the weights; None draws a fresh one.

    Parameters are attributes that can be read and set: attention (a MultiHeadAttention), gamma1, beta1 (the layer norm
    after the attention), W1, b1, W2, b2 (the feed-forward network), gamma2, beta2 (the layer norm after it). At first
    both gammas are ones, betas and biases are zeros, and W1, W2 are normally distributed with mean 0 and standard
    deviation 1/sqrt(number of inputs). After backward, grad_gamma1, grad_beta1, grad_W1, grad_b1, grad_W2, grad_b2,
    grad_gamma2 and grad_beta2 hold the gradients, and grad_attention the dict attention.get_gradients().
    The sizes d_model, num_heads and d_ff may stay as attributes too, as is usual; no test asks for them.

    Raises:
        ValueError: d_model, num_heads or d_ff is not a positive integer, or num_heads does not divide d_model.

    Source: Vaswani et al. 2017, section 3.1; layer_norm with its default eps.

    Example:
        >>> block = TransformerEncoderBlock(d_model=8, num_heads=2, rng=np.random.default_rng(0))
        >>> block.W1.shape, block.forward(np.ones((3, 5, 8))).shape
        ((8, 32), (3, 5, 8))
    """

    def __init__(self, d_model, num_heads, d_ff=None, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.d_model, self.num_heads, self.d_ff = d_model, num_heads, 4 * d_model if d_ff is None else d_ff
        self.attention = MultiHeadAttention(self.d_model, self.num_heads, rng)
        _require_positive("d_ff", self.d_ff)
        self.gamma1, self.beta1 = np.ones(d_model), np.zeros(d_model)
        self.W1, self.b1 = _normal_weights(rng, d_model, self.d_ff), np.zeros(self.d_ff)
        self.W2, self.b2 = _normal_weights(rng, self.d_ff, d_model), np.zeros(d_model)
        self.gamma2, self.beta2 = np.ones(d_model), np.zeros(d_model)
        self._cache = None

    def forward(self, x, mask=None):
        """Return the block's output, of the shape of x.

        Args:
            x: shape (batch, seq, d_model).
            mask: as for multi_head_attention_forward, with seq_q = seq_k = seq.

        Raises:
            ValueError: x or mask has another shape.
        """
        after_attention = x + self.attention.forward(x, x, x, mask)
        h = layer_norm(after_attention, self.gamma1, self.beta1)
        after_feed_forward = h + feed_forward(h, self.W1, self.b1, self.W2, self.b2)
        self._cache = after_attention, h, after_feed_forward
        return layer_norm(after_feed_forward, self.gamma2, self.beta2)

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x, and keep those of the parameters.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq, d_model).

        Raises:
            ValueError: grad_output has not the shape of the last output.
            RuntimeError: forward has not been called.
        """
        if self._cache is None:
            raise RuntimeError("backward: forward has not been called, expected one forward call before it")
        after_attention, h, after_feed_forward = self._cache
        grad, self.grad_gamma2, self.grad_beta2 = layer_norm_backward(grad_output, after_feed_forward, self.gamma2)
        grad_h, self.grad_W1, self.grad_b1, self.grad_W2, self.grad_b2 = feed_forward_backward(
            grad, h, self.W1, self.b1, self.W2, self.b2
        )
        grad, self.grad_gamma1, self.grad_beta1 = layer_norm_backward(grad + grad_h, after_attention, self.gamma1)
        grad_Q, grad_K, grad_V = self.attention.backward(grad)
        self.grad_attention = self.attention.get_gradients()
        return grad + grad_Q + grad_K + grad_V


def stack_encoder_blocks(x, blocks, mask=None):
    """Return x after all blocks, each applied to the output of the one before.

    Args:
        x: shape (batch, seq, d_model).
        blocks: a list of TransformerEncoderBlock, first to last; an empty list gives the values of x.
        mask: passed to every block, as for multi_head_attention_forward.

    Returns:
        A new array, shape (batch, seq, d_model).

    Raises:
        ValueError: x or mask does not fit a block.

    Source: Vaswani et al. 2017, section 3.1 (the encoder is a stack of N = 6 identical layers).

    Example:
        >>> rng = np.random.default_rng(0)
        >>> blocks = [TransformerEncoderBlock(8, 2, rng=rng) for _ in range(3)]
        >>> stack_encoder_blocks(np.ones((2, 4, 8)), blocks).shape
        (2, 4, 8)
    """
    output = x.copy()
    for block in blocks:
        output = block.forward(output, mask)
    return output


def _weighted_values(scores, K, V, mask):
    """From scores (..., seq_q, seq_k) and values to (output, weights): what every kind of attention has in common."""
    if V.shape[-2:-1] != scores.shape[-1:]:
        raise ValueError(
            f"V: shape {V.shape}, expected (..., {scores.shape[-1]}, d_v), one value for each key of K, shape {K.shape}"
        )
    if mask is not None:
        scores = apply_attention_mask(scores, mask, mask_value=-np.inf)
    weights = attention_weights(scores)
    return weights @ V, weights


def _attention_backward(grad_output, Q, K, V, weights):
    """Gradients of scaled_dot_product_attention's output with respect to Q, K and V, for given weights."""
    grad_weights = grad_output @ np.swapaxes(V, -1, -2)
    grad_scores = _softmax_backward(grad_weights, weights) / Q.shape[-1] ** 0.5
    return (
        grad_scores @ K,
        np.swapaxes(grad_scores, -1, -2) @ Q,
        np.swapaxes(weights, -1, -2) @ grad_output,
    )


def _softmax_backward(grad_weights, weights):
    """Gradient with respect to the scores; zero wherever the weight is zero, so masks need no further care."""
    return weights * (grad_weights - (grad_weights * weights).sum(axis=-1, keepdims=True))


def _normalize(x, eps):
    """x at mean 0 and variance 1 over the last axis, and the deviation it was divided by."""
    centered = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centered**2).mean(axis=-1, keepdims=True) + eps)
    return centered / deviation, deviation


def _weight_gradient(x, grad):
    """Gradient of W in x W: the outer products of all positions, summed."""
    leading = range(x.ndim - 1)
    return np.tensordot(x, grad, axes=(leading, leading))


def _sum_leading_axes(x):
    """Gradient of a vector that was broadcast to all positions."""
    return x.sum(axis=tuple(range(x.ndim - 1)))


def _normal_weights(rng, num_inputs, num_outputs):
    """Weights of standard deviation 1/sqrt(num_inputs)."""
    return rng.standard_normal((num_inputs, num_outputs)) / num_inputs**0.5


def _matrix(name, value):
    if value.ndim < 2:
        raise ValueError(f"{name}: shape {value.shape}, expected at least two axes, (..., seq, features)")
    return value


def _of_shape(name, value, shape):
    value = np.asarray(value)
    if value.shape != shape:
        raise ValueError(f"{name}: shape {value.shape}, expected {shape}")
    return value


def _sizes(name, value, *axes):
    """The sizes of an array's axes, which are as many as their names."""
    if value.ndim != len(axes):
        raise ValueError(f"{name}: shape {value.shape}, expected {len(axes)} axes, ({', '.join(axes)})")
    return value.shape


def _require_network_fits(x, W1, b1, W2, b2):
    """Check the shapes of a feed-forward network: d_model is that of x, d_ff that of b1."""
    _of_shape("W1", W1, (*x.shape[-1:], *b1.shape))
    _of_shape("W2", W2, (*b1.shape, *x.shape[-1:]))
    _of_shape("b2", b2, x.shape[-1:])


def _mask_for(what, mask, shape):
    """The mask, broadcast to the given shape."""
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(f"mask: shape {np.shape(mask)}, expected one that broadcasts to {what}, {shape}") from None


def _multi_head_mask(mask, shape):
    """The mask as (batch, heads, seq_q, seq_k); one of three axes is (batch, seq_q, seq_k)."""
    if mask.ndim != 3:
        return _mask_for("(batch, heads, seq_q, seq_k)", mask, shape)
    batch, _, seq_q, seq_k = shape
    return _mask_for("(batch, seq_q, seq_k)", mask, (batch, seq_q, seq_k))[:, None]


def _require_positive(name, value):
    if not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name}: {value!r}, expected a positive integer")


def _require_heads_divide(num_heads, d_model):
    _require_positive("num_heads", num_heads)
    if d_model % num_heads:
        raise ValueError(f"num_heads: {num_heads}, expected a divisor of d_model, which is {d_model}")
