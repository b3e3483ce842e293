"""Attention in single precision from the first step on, with one small matrix product for each head."""

from dataclasses import dataclass

import numpy as np

single = np.float32


def _single(*arrays):
    converted = tuple(np.asarray(array, dtype=single) for array in arrays)
    return converted[0] if len(arrays) == 1 else converted


def _single_if_real(x):
    return _single(x) if np.asarray(x).dtype.kind == "f" else np.asarray(x)


def _check_shape(name, array, shape):
    if np.shape(array) != tuple(shape):
        raise ValueError(f"{name} has shape {np.shape(array)}, should have {tuple(shape)}")


def _check_size(name, size):
    if not isinstance(size, (int, np.integer)) or size < 1:
        raise ValueError(f"{name} is {size!r}, should be a positive integer")


def _check_heads(d_model, num_heads):
    _check_size("num_heads", num_heads)
    _check_size("d_model", d_model)
    if d_model % num_heads:
        raise ValueError(f"d_model {d_model} is no multiple of num_heads {num_heads}")


def compute_attention_scores(Q, K, scale=True):
    Q, K = _single(Q, K)
    if min(Q.ndim, K.ndim) < 2 or Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q {Q.shape} and K {K.shape} should both end in (seq, d_k)")
    if scale:  # a fourth root on each side
        root = single(Q.shape[-1] ** 0.25)
        Q, K = Q / root, K / root
    return np.matmul(Q, K.swapaxes(-1, -2))


def apply_attention_mask(scores, mask, mask_value=-1e9):
    scores = _single(scores)
    allowed = np.asarray(mask).astype(bool)
    if np.broadcast_shapes(allowed.shape, scores.shape) != scores.shape:
        raise ValueError(f"mask {allowed.shape} does not broadcast to scores {scores.shape}")
    return np.where(allowed, scores, single(mask_value))


def attention_weights(scores, axis=-1):
    """Subtract log-sum-exp, then exponentiate; a column of -inf only has no finite log-sum-exp and stays zero."""
    scores = _single(scores)
    scores = scores - np.maximum(scores.max(axis=axis, keepdims=True, initial=-np.inf), np.finfo(single).min)
    total = np.exp(scores).sum(axis=axis, keepdims=True)
    return np.exp(scores - np.log(np.where(total > 0, total, single(1.0))))


def _from_scores(scores, V, mask):
    if V.ndim < 2 or V.shape[-2] != scores.shape[-1]:
        raise ValueError(f"V {V.shape} should have one row for each of {scores.shape[-1]} keys")
    weights = attention_weights(scores if mask is None else apply_attention_mask(scores, mask, -np.inf))
    return np.matmul(weights, V), weights


def scaled_dot_product_attention(Q, K, V, mask=None):
    return _from_scores(compute_attention_scores(Q, K), _single(V), mask)


def additive_attention(Q, K, V, W_q, W_k, v, mask=None):
    Q, K, V, W_q, W_k, v = _single(Q, K, V, W_q, W_k, v)
    _check_shape("W_q", W_q, (Q.shape[-1], v.size))
    _check_shape("W_k", W_k, (K.shape[-1], v.size))
    _check_shape("v", v, (v.size,))
    from_queries, from_keys = Q @ W_q, K @ W_k
    scores = single(0.0)
    for unit in range(v.size):
        pair_sums = from_queries[..., unit][..., :, None] + from_keys[..., unit][..., None, :]
        scores = scores + v[unit] * np.tanh(pair_sums)
    return _from_scores(scores, V, mask)


def split_heads(x, num_heads):
    x = _single_if_real(x)
    if x.ndim != 3:
        raise ValueError(f"x has shape {x.shape}, should be (batch, seq, d_model)")
    _check_heads(x.shape[-1], num_heads)
    return np.stack(np.split(x, num_heads, axis=-1), axis=1)


def merge_heads(x):
    x = _single_if_real(x)
    if x.ndim != 4:
        raise ValueError(f"x has shape {x.shape}, should be (batch, heads, seq, d_k)")
    return np.concatenate(list(x.transpose(1, 0, 2, 3)), axis=-1)


@dataclass
class _Head:
    """What backward needs of one head: its columns, its slices of the projected inputs and its weights."""

    columns: slice
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    weights: np.ndarray


def multi_head_attention_forward(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V, W_Q, W_K, W_V, W_O = _single(Q, K, V, W_Q, W_K, W_V, W_O)
    if Q.ndim != 3 or K.ndim != 3:
        raise ValueError(f"Q {Q.shape} and K {K.shape} should be (batch, seq, d_model)")
    batch, seq_q, d_model = Q.shape
    _check_shape("K", K, (batch, K.shape[1], d_model))
    _check_shape("V", V, K.shape)
    for name, weight in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V), ("W_O", W_O)):
        _check_shape(name, weight, (d_model, d_model))
    _check_heads(d_model, num_heads)
    allowed = np.ones((batch, num_heads, seq_q, K.shape[1]), dtype=bool)
    if mask is not None:
        mask = np.asarray(mask).astype(bool)
        allowed &= mask.reshape(mask.shape[0], 1, *mask.shape[1:]) if mask.ndim == 3 else mask
    heads, output = [], np.zeros_like(Q)
    for number in range(num_heads):
        width = d_model // num_heads
        columns = slice(number * width, (number + 1) * width)
        queries, keys, values = Q @ W_Q[:, columns], K @ W_K[:, columns], V @ W_V[:, columns]
        head_output, weights = scaled_dot_product_attention(queries, keys, values, allowed[:, number])
        output += head_output @ W_O[columns]
        heads.append(_Head(columns, queries, keys, values, weights))
    return output, (heads, {"Q": Q, "K": K, "V": V}, {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O})


def multi_head_attention_backward(grad_output, cache):
    grad_output = _single(grad_output)
    heads, inputs, params = cache
    _check_shape("grad_output", grad_output, inputs["Q"].shape)
    grads = {name: np.zeros_like(weight) for name, weight in params.items()}
    grad_inputs = {name: np.zeros_like(array) for name, array in inputs.items()}
    for head in heads:
        columns, weights = head.columns, head.weights
        grad_head = grad_output @ params["W_O"][columns].T
        grad_weights = grad_head @ head.values.swapaxes(1, 2)
        expected = (weights * grad_weights).sum(axis=-1, keepdims=True)
        grad_scores = weights * (grad_weights - expected) / single(head.keys.shape[-1] ** 0.5)
        for name, grad in (
            ("Q", grad_scores @ head.keys),
            ("K", grad_scores.swapaxes(1, 2) @ head.queries),
            ("V", weights.swapaxes(1, 2) @ grad_head),
        ):
            grads["W_" + name][:, columns] = np.tensordot(inputs[name], grad, axes=([0, 1], [0, 1]))
            grad_inputs[name] += grad @ params["W_" + name][:, columns].T
        grads["W_O"][columns] = np.tensordot(weights @ head.values, grad_output, axes=([0, 1], [0, 1]))
    return grad_inputs["Q"], grad_inputs["K"], grad_inputs["V"], grads


class MultiHeadAttention:
    def __init__(self, d_model, num_heads, rng=None):
        _check_heads(d_model, num_heads)
        rng = rng or np.random.default_rng()
        self._heads = num_heads
        self._weights = {
            name: rng.standard_normal((d_model, d_model), dtype=single) / single(d_model**0.5)
            for name in ("W_Q", "W_K", "W_V", "W_O")
        }
        self._cache = self._gradients = None

    def forward(self, Q, K, V, mask=None):
        output, self._cache = multi_head_attention_forward(Q, K, V, num_heads=self._heads, mask=mask, **self._weights)
        return output

    def backward(self, grad_output):
        if self._cache is None:
            raise RuntimeError("call forward before backward")
        grad_Q, grad_K, grad_V, self._gradients = multi_head_attention_backward(grad_output, self._cache)
        return grad_Q, grad_K, grad_V

    def get_params(self):
        return {name: weight.copy() for name, weight in self._weights.items()}

    def set_params(self, params):
        if sorted(params) != sorted(self._weights):
            raise ValueError(f"params has keys {sorted(params)}, should have {sorted(self._weights)}")
        for name, weight in params.items():
            _check_shape(name, weight, self._weights[name].shape)
        for name in self._weights:
            self._weights[name] = np.array(params[name], dtype=single)

    def get_gradients(self):
        if self._gradients is None:
            raise RuntimeError("call backward before get_gradients")
        return dict(self._gradients)


def sinusoidal_encoding(max_length, d_model):
    """A cosine is a sine a quarter turn ahead."""
    _check_size("max_length", max_length)
    _check_size("d_model", d_model)
    column = np.arange(d_model)
    angles = np.arange(max_length)[:, None] * 10000.0 ** (-(column // 2 * 2) / d_model)
    return np.sin(angles + column % 2 * (np.pi / 2)).astype(single)


def add_positional_encoding(x, pe):
    x, pe = _single(x, pe)
    if x.ndim != 3 or pe.ndim != 2:
        raise ValueError(f"x {x.shape} should have three axes and pe {pe.shape} two")
    rows = pe[: x.shape[1]]
    _check_shape("the part of pe that x needs", rows, x.shape[1:])
    return x + rows


def learned_positional_encoding(max_length, d_model, rng=None):
    _check_size("max_length", max_length)
    _check_size("d_model", d_model)
    rng = rng or np.random.default_rng()
    return rng.standard_normal((max_length, d_model), dtype=single) * single(0.02)


def create_causal_mask(seq_length):
    _check_size("seq_length", seq_length)
    return np.tril(np.ones((seq_length, seq_length), dtype=np.int64))


def create_padding_mask(lengths, max_length):
    _check_size("max_length", max_length)
    if np.ndim(lengths) != 1:
        raise ValueError("lengths should have one axis")
    mask = np.zeros((len(lengths), max_length), dtype=np.int64)
    for row, length in zip(mask, lengths, strict=True):
        if not isinstance(length, (int, np.integer)) or not 0 <= length <= max_length:
            raise ValueError(f"length {length!r} should be an integer from 0 to {max_length}")
        row[:length] = 1
    return mask


def _moments(x, eps):
    return x.mean(axis=-1, keepdims=True), np.sqrt(x.var(axis=-1, keepdims=True) + single(eps))


def layer_norm(x, gamma, beta, eps=1e-6):
    x, gamma, beta = _single(x, gamma, beta)
    _check_shape("gamma", gamma, x.shape[-1:])
    _check_shape("beta", beta, x.shape[-1:])
    mean, deviation = _moments(x, eps)
    return (x - mean) * (gamma / deviation) + beta


def layer_norm_backward(grad_output, x, gamma, eps=1e-6):
    grad_output, x, gamma = _single(grad_output, x, gamma)
    _check_shape("grad_output", grad_output, x.shape)
    _check_shape("gamma", gamma, x.shape[-1:])
    mean, deviation = _moments(x, eps)
    normal = (x - mean) / deviation
    slope = grad_output * gamma
    total, along = slope.sum(axis=-1, keepdims=True), (slope * normal).sum(axis=-1, keepdims=True)
    grad_x = (x.shape[-1] * slope - total - normal * along) / (single(x.shape[-1]) * deviation)
    leading = tuple(range(x.ndim - 1))
    return grad_x, (grad_output * normal).sum(axis=leading), grad_output.sum(axis=leading)


def _check_network(x, W1, b1, W2, b2):
    _check_shape("W1", W1, (*x.shape[-1:], b1.size))
    _check_shape("b1", b1, (b1.size,))
    _check_shape("W2", W2, (b1.size, *x.shape[-1:]))
    _check_shape("b2", b2, x.shape[-1:])


def feed_forward(x, W1, b1, W2, b2):
    x, W1, b1, W2, b2 = _single(x, W1, b1, W2, b2)
    _check_network(x, W1, b1, W2, b2)
    return np.clip(x @ W1 + b1, 0, None) @ W2 + b2


def feed_forward_backward(grad_output, x, W1, b1, W2, b2):
    grad_output, x, W1, b1, W2, b2 = _single(grad_output, x, W1, b1, W2, b2)
    _check_network(x, W1, b1, W2, b2)
    _check_shape("grad_output", grad_output, x.shape)
    leading = list(range(x.ndim - 1))
    hidden = np.clip(x @ W1 + b1, 0, None)
    slope = np.where(hidden > 0, grad_output @ W2.T, single(0.0))
    grad_W1 = np.tensordot(x, slope, axes=(leading, leading))
    grad_W2 = np.tensordot(hidden, grad_output, axes=(leading, leading))
    return slope @ W1.T, grad_W1, slope.sum(axis=tuple(leading)), grad_W2, grad_output.sum(axis=tuple(leading))


class TransformerEncoderBlock:
    def __init__(self, d_model, num_heads, d_ff=None, rng=None):
        rng = rng or np.random.default_rng()
        self.attention = MultiHeadAttention(d_model, num_heads, rng)
        d_ff = 4 * d_model if d_ff is None else d_ff
        _check_size("d_ff", d_ff)
        for part in ("1", "2"):
            setattr(self, "gamma" + part, np.ones(d_model, single))
            setattr(self, "beta" + part, np.zeros(d_model, single))
        self.W1 = (rng.standard_normal((d_model, d_ff)) / d_model**0.5).astype(single)
        self.W2 = (rng.standard_normal((d_ff, d_model)) / d_ff**0.5).astype(single)
        self.b1, self.b2 = np.zeros(d_ff, single), np.zeros(d_model, single)
        self._inputs = None

    def forward(self, x, mask=None):
        x = _single(x)
        first = x + self.attention.forward(x, x, x, mask)
        middle = layer_norm(first, self.gamma1, self.beta1)
        second = middle + feed_forward(middle, self.W1, self.b1, self.W2, self.b2)
        self._inputs = {"first": first, "middle": middle, "second": second}
        return layer_norm(second, self.gamma2, self.beta2)

    def backward(self, grad_output):
        if self._inputs is None:
            raise RuntimeError("call forward before backward")
        found = layer_norm_backward(grad_output, self._inputs["second"], self.gamma2)
        grad_second, self.grad_gamma2, self.grad_beta2 = found
        found = feed_forward_backward(grad_second, self._inputs["middle"], self.W1, self.b1, self.W2, self.b2)
        grad_middle, self.grad_W1, self.grad_b1, self.grad_W2, self.grad_b2 = found
        found = layer_norm_backward(grad_second + grad_middle, self._inputs["first"], self.gamma1)
        grad_first, self.grad_gamma1, self.grad_beta1 = found
        grad_x = sum(self.attention.backward(grad_first), start=grad_first)
        self.grad_attention = self.attention.get_gradients()
        return grad_x


def stack_encoder_blocks(x, blocks, mask=None):
    x = _single(x).copy()
    for block in blocks:
        x = block.forward(x, mask)
    return x
