"""Attention whose results are transposed, reversed, strided or read-only views of arrays laid out another way."""

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view


def _real(array):
    array = np.asarray(array)
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _turn(array):
    """Rows for columns, as a view."""
    return np.swapaxes(array, -1, -2)


def _check(condition, name, value):
    if not condition:
        raise ValueError(f"unsuitable {name}: {value}")


def _whole(name, value):
    _check(isinstance(value, (int, np.integer)) and value > 0, name, value)


def compute_attention_scores(Q, K, scale=True):
    Q, K = _real(Q), _real(K)
    _check(Q.ndim > 1 and K.ndim > 1 and Q.shape[-1] == K.shape[-1], "shapes of Q and K", (Q.shape, K.shape))
    keys_first = K @ _turn(Q)
    return _turn(keys_first / float(np.sqrt(Q.shape[-1]) if scale else 1))


def apply_attention_mask(scores, mask, mask_value=-1e9):
    """Every other entry of an array of pairs: (score, masked score) chosen by index."""
    scores = _real(scores)
    allowed = np.broadcast_to(np.asarray(mask, dtype=bool), scores.shape)
    pairs = np.stack([np.where(allowed, scores, scores.dtype.type(mask_value)), scores], axis=-1)
    return pairs[..., 0]


def _softmax_first(scores):
    """Softmax along the first axis."""
    peak = scores.max(axis=0, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isneginf(peak), 0.0, peak).astype(scores.dtype))
    return powers / np.where(powers.any(axis=0), powers.sum(axis=0), 1).astype(scores.dtype)


def attention_weights(scores, axis=-1):
    return np.moveaxis(_softmax_first(np.moveaxis(_real(scores), axis, 0)), 0, axis)


def _gather(scores, V, mask):
    V = _real(V)
    _check(V.ndim > 1 and V.shape[-2] == scores.shape[-1], "shape of V", V.shape)
    weights = attention_weights(scores if mask is None else apply_attention_mask(scores, mask, -np.inf))
    return _turn(_turn(V) @ _turn(weights)), weights


def scaled_dot_product_attention(Q, K, V, mask=None):
    return _gather(compute_attention_scores(Q, K), V, mask)


def additive_attention(Q, K, V, W_q, W_k, v, mask=None):
    Q, K, W_q, W_k, v = _real(Q), _real(K), _real(W_q), _real(W_k), _real(v)
    fits = v.ndim == 1 and W_q.shape == Q.shape[-1:] + v.shape and W_k.shape == K.shape[-1:] + v.shape
    _check(fits, "shapes of W_q, W_k, v", (W_q.shape, W_k.shape, v.shape))
    from_queries = _turn(W_q) @ _turn(Q)
    from_keys = _turn(W_k) @ _turn(K)
    hidden = np.tanh(from_keys[..., :, :, None] + from_queries[..., :, None, :])
    return _gather(_turn(np.tensordot(np.moveaxis(hidden, -3, -1), v, axes=1)), V, mask)


def _columns(d_model, num_heads):
    _whole("num_heads", num_heads)
    _whole("d_model", d_model)
    _check(d_model % num_heads == 0, "num_heads", num_heads)
    return d_model // num_heads


def split_heads(x, num_heads):
    """The same memory under other strides (read-only)."""
    x = np.asarray(x)
    _check(x.ndim == 3, "shape of x", x.shape)
    width = _columns(x.shape[2], num_heads)
    batch_step, seq_step, step = x.strides
    shape = x.shape[0], num_heads, x.shape[1], width
    return as_strided(x, shape, (batch_step, width * step, seq_step, step), writeable=False)


def merge_heads(x):
    x = np.asarray(x)
    _check(x.ndim == 4, "shape of x", x.shape)
    batch, heads, seq, width = x.shape
    features_first = x.transpose(0, 1, 3, 2).reshape(batch, heads * width, seq)
    return _turn(features_first)


class _Saved(NamedTuple):
    """Everything with features (or keys) before positions: columns are tokens."""

    inputs: tuple
    weights: tuple
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    attention: np.ndarray


def multi_head_attention_forward(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    inputs = tuple(_real(array) for array in (Q, K, V))
    _check(all(array.ndim == 3 for array in inputs), "shapes of Q, K, V", [array.shape for array in inputs])
    batch, seq_q, d_model = inputs[0].shape
    seq_k = inputs[1].shape[1]
    _check(inputs[1].shape == inputs[2].shape == (batch, seq_k, d_model), "shapes of K, V", (np.shape(K), np.shape(V)))
    weights = tuple(_real(weight) for weight in (W_Q, W_K, W_V, W_O))
    for name, weight in zip(("W_Q", "W_K", "W_V", "W_O"), weights, strict=True):
        _check(weight.shape == (d_model, d_model), f"shape of {name}", weight.shape)
    width = _columns(d_model, num_heads)
    queries, keys, values = (
        (weight.T @ _turn(array)).reshape(batch, num_heads, width, array.shape[1])
        for weight, array in zip(weights[:3], inputs, strict=True)
    )
    scores = _turn(keys) @ (queries / float(width) ** 0.5)
    if mask is not None:
        mask = np.asarray(mask, dtype=bool)
        mask = mask[:, None] if mask.ndim == 3 else mask
        allowed = _turn(np.broadcast_to(mask, (batch, num_heads, seq_q, seq_k)))
        scores = np.where(allowed, scores, scores.dtype.type(-np.inf))
    attention = np.moveaxis(_softmax_first(np.moveaxis(scores, 2, 0)), 0, 2)
    joined = (values @ attention).reshape(batch, d_model, seq_q)
    saved = _Saved(inputs, weights, queries, keys, values, attention)
    return _turn(weights[3].T @ joined), saved


def multi_head_attention_backward(grad_output, cache):
    """Transposed throughout: with columns for tokens, out = W_O^T joined and joined = values @ attention."""
    (Q, K, V), (W_Q, W_K, W_V, W_O), queries, keys, values, attention = cache
    grad_output = _real(grad_output)
    _check(grad_output.shape == Q.shape, "shape of grad_output", grad_output.shape)
    upstream = _turn(grad_output)
    grad_joined = W_O @ upstream
    grad_heads = grad_joined.reshape(queries.shape)
    grad_attention = _turn(values) @ grad_heads
    centred = grad_attention - np.einsum("bhkq,bhkq->bhq", grad_attention, attention)[:, :, None]
    slopes = attention * centred / float(queries.shape[2]) ** 0.5
    grad_queries = (keys @ slopes).reshape(upstream.shape)
    grad_keys = (queries @ _turn(slopes)).reshape(_turn(K).shape)
    grad_values = (grad_heads @ _turn(attention)).reshape(_turn(V).shape)
    joined = (values @ attention).reshape(upstream.shape)
    pairs = {"W_Q": (grad_queries, Q), "W_K": (grad_keys, K), "W_V": (grad_values, V), "W_O": (upstream, _turn(joined))}
    grads = {name: (grad @ tokens).sum(axis=0).T for name, (grad, tokens) in pairs.items()}
    return _turn(W_Q @ grad_queries), _turn(W_K @ grad_keys), _turn(W_V @ grad_values), grads


class MultiHeadAttention:
    """Each weight is stored transposed and handed out as a Fortran-ordered array."""

    _order = "W_O", "W_V", "W_K", "W_Q"

    def __init__(self, d_model, num_heads, rng=None):
        _columns(d_model, num_heads)
        rng = np.random.default_rng() if rng is None else rng
        self._turned = {name: rng.normal(0, d_model**-0.5, (d_model, d_model)) for name in self._order}
        self._num_heads = num_heads
        self._saved = self._grads = None

    def forward(self, Q, K, V, mask=None):
        weights = {name: turned.T for name, turned in self._turned.items()}
        output, self._saved = multi_head_attention_forward(Q, K, V, num_heads=self._num_heads, mask=mask, **weights)
        return output

    def backward(self, grad_output):
        if self._saved is None:
            raise RuntimeError("unsuitable moment for backward: no forward yet")
        *grads, self._grads = multi_head_attention_backward(grad_output, self._saved)
        return tuple(grads)

    def get_params(self):
        return {name: turned.copy().T for name, turned in self._turned.items()}

    def set_params(self, params):
        _check(set(params) == set(self._order), "keys of params", sorted(params))
        for name in self._order:
            _check(np.shape(params[name]) == self._turned[name].shape, f"shape of {name}", np.shape(params[name]))
        self._turned = {name: np.array(params[name]).T for name in self._order}

    def get_gradients(self):
        if self._grads is None:
            raise RuntimeError("unsuitable moment for get_gradients: no backward yet")
        return {name: self._grads[name] for name in self._order}


def sinusoidal_encoding(max_length, d_model):
    _whole("max_length", max_length)
    _whole("d_model", d_model)
    by_column = np.empty((d_model + d_model % 2, max_length))
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.multiply.outer(frequencies, np.arange(max_length))
    by_column[::2], by_column[1::2] = np.sin(angles), np.cos(angles)
    return by_column[:d_model].T


def add_positional_encoding(x, pe):
    x, pe = _real(x), _real(pe)
    _check(x.ndim == 3, "shape of x", x.shape)
    _check(pe.ndim == 2 and pe.shape[1] == x.shape[2] and pe.shape[0] >= x.shape[1], "shape of pe", pe.shape)
    return (x.T + pe[: x.shape[1]].T[:, :, None]).T


def learned_positional_encoding(max_length, d_model, rng=None):
    _whole("max_length", max_length)
    _whole("d_model", d_model)
    rng = np.random.default_rng() if rng is None else rng
    return rng.normal(0.0, 0.02, (d_model, max_length)).T


def create_causal_mask(seq_length):
    """Row i is the window that starts seq_length - 1 - i places into trues followed by falses."""
    _whole("seq_length", seq_length)
    line = np.arange(2 * seq_length - 1) < seq_length
    return sliding_window_view(line, seq_length)[::-1]


def create_padding_mask(lengths, max_length):
    _whole("max_length", max_length)
    lengths = np.asarray(lengths)
    _check(lengths.ndim == 1 and (lengths.dtype.kind in "iu" or not lengths.size), "lengths", lengths)
    _check(np.all((0 <= lengths) & (lengths <= max_length)), "lengths", lengths)
    return (np.arange(max_length)[:, None] < lengths).T


def _moments(turned, eps):
    """Features first: deviations from the mean, and one over the standard deviation."""
    deviations = turned - turned.mean(axis=0)
    return deviations, 1 / np.sqrt(np.mean(deviations * deviations, axis=0) + eps)


def layer_norm(x, gamma, beta, eps=1e-6):
    x, gamma, beta = _real(x), _real(gamma), _real(beta)
    _check(gamma.shape == beta.shape == x.shape[-1:], "shapes of gamma, beta", (gamma.shape, beta.shape))
    deviations, inverse = _moments(x.T, eps)
    return ((deviations * inverse).T * gamma + beta).T.copy().T


def layer_norm_backward(grad_output, x, gamma, eps=1e-6):
    grad_output, x, gamma = _real(grad_output), _real(x), _real(gamma)
    _check(grad_output.shape == x.shape, "shape of grad_output", grad_output.shape)
    _check(gamma.shape == x.shape[-1:], "shape of gamma", gamma.shape)
    deviations, inverse = _moments(x.T, eps)
    slope = (grad_output * gamma).T
    shared = inverse**2 * np.mean(slope * deviations, axis=0)
    grad_turned = inverse * (slope - slope.mean(axis=0) - deviations * shared)
    others = tuple(range(1, x.ndim))
    return grad_turned.T, (grad_output.T * deviations * inverse).sum(axis=others), grad_output.T.sum(axis=others)


def _check_network(x, W1, b1, W2, b2):
    wanted = x.shape[-1:] + b1.shape, b1.shape + x.shape[-1:], x.shape[-1:]
    given = W1.shape, W2.shape, b2.shape
    _check(given == wanted, "shapes of W1, W2, b2", given)


def feed_forward(x, W1, b1, W2, b2):
    x, W1, b1, W2, b2 = (_real(array) for array in (x, W1, b1, W2, b2))
    _check_network(x, W1, b1, W2, b2)
    before = x @ W1 + b1
    return np.asfortranarray(np.fmax(before, 0) @ W2 + b2)


def feed_forward_backward(grad_output, x, W1, b1, W2, b2):
    grad_output, x, W1, b1, W2, b2 = (_real(array) for array in (grad_output, x, W1, b1, W2, b2))
    _check_network(x, W1, b1, W2, b2)
    _check(grad_output.shape == x.shape, "shape of grad_output", grad_output.shape)
    tokens, upstream = x.reshape(-1, x.shape[-1]).T, grad_output.reshape(-1, x.shape[-1]).T
    before = W1.T @ tokens + b1[:, None]
    slope = W2 @ upstream
    slope[before <= 0] = 0
    grad_x = (W1 @ slope).T.reshape(x.shape)
    return grad_x, (slope @ tokens.T).T, slope.sum(axis=1), (upstream @ np.fmax(before, 0).T).T, upstream.sum(axis=1)


class TransformerEncoderBlock:
    """Parameters of the two layer norms are the rows of one array."""

    def __init__(self, d_model, num_heads, d_ff=None, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.attention = MultiHeadAttention(d_model, num_heads, rng)
        _whole("d_ff", d_ff)
        self.gamma1, self.gamma2, self.beta1, self.beta2 = np.repeat([[1.0], [1.0], [0.0], [0.0]], d_model, axis=1)
        self.W1, self.W2 = rng.normal(0, d_model**-0.5, (d_ff, d_model)).T, rng.normal(0, d_ff**-0.5, (d_model, d_ff)).T
        self.b1, self.b2 = np.zeros((d_ff, 2))[:, 0], np.zeros((d_model, 2))[:, 0]
        self._between = None

    def forward(self, x, mask=None):
        x = _real(x)
        first = x + self.attention.forward(x, x, x, mask)
        middle = layer_norm(first, self.gamma1, self.beta1)
        second = middle + feed_forward(middle, self.W1, self.b1, self.W2, self.b2)
        self._between = first, middle, second
        return layer_norm(second, self.gamma2, self.beta2)

    def backward(self, grad_output):
        if self._between is None:
            raise RuntimeError("unsuitable moment for backward: no forward yet")
        first, middle, second = self._between
        grad, self.grad_gamma2, self.grad_beta2 = layer_norm_backward(grad_output, second, self.gamma2)
        network = self.W1, self.b1, self.W2, self.b2
        added, self.grad_W1, self.grad_b1, self.grad_W2, self.grad_b2 = feed_forward_backward(grad, middle, *network)
        grad, self.grad_gamma1, self.grad_beta1 = layer_norm_backward(grad + added, first, self.gamma1)
        grad_Q, grad_K, grad_V = self.attention.backward(grad)
        self.grad_attention = self.attention.get_gradients()
        return grad + (grad_V + grad_K + grad_Q)


def stack_encoder_blocks(x, blocks, mask=None):
    x = _real(x)
    for block in blocks:
        x = block.forward(x, mask)
    return x.copy()[...]
