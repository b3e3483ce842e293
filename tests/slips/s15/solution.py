"""Attention, written from the README and the stubs of its stage alone; what the slips beside it are edits of."""

import math

import numpy as np

NAMES = ("W_Q", "W_K", "W_V", "W_O")


def check(condition, message):
    if not condition:
        raise ValueError(message)


def is_count(n):
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n > 0


def transposed(x):
    return np.swapaxes(x, -1, -2)


def compute_attention_scores(Q, K, scale=True):
    Q, K = np.asarray(Q), np.asarray(K)
    check(Q.ndim >= 2 and K.ndim >= 2, f"Q and K: {Q.shape} and {K.shape}, expected two axes or more")
    d_k = Q.shape[-1]
    check(K.shape[-1] == d_k, f"K has {K.shape[-1]} features, expected those of Q, {d_k}")
    scores = Q @ transposed(K)
    if scale:
        scores = scores / math.sqrt(d_k)
    return scores


def apply_attention_mask(scores, mask, mask_value=-1e9):
    scores = np.asarray(scores)
    allowed = np.broadcast_to(np.asarray(mask).astype(bool), scores.shape)
    masked = scores.copy()
    masked[~allowed] = mask_value
    return masked


def attention_weights(scores, axis=-1):
    scores = np.asarray(scores)
    check(-scores.ndim <= axis < scores.ndim, f"axis: {axis}, but scores has {scores.ndim} axes")
    highest = scores.max(axis=axis, keepdims=True)
    highest = np.where(np.isneginf(highest), 0, highest)
    powers = np.exp(scores - highest)
    total = powers.sum(axis=axis, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def scaled_dot_product_attention(Q, K, V, mask=None):
    K, V = np.asarray(K), np.asarray(V)
    check(V.ndim >= 2, f"V: {V.shape}, expected two axes or more")
    scores = compute_attention_scores(Q, K)
    check(V.shape[-2] == K.shape[-2], f"V has {V.shape[-2]} rows, expected one for each of {K.shape[-2]} keys")
    if mask is not None:
        scores = apply_attention_mask(scores, mask, -np.inf)
    weights = attention_weights(scores)
    return weights @ V, weights


def additive_attention(Q, K, V, W_q, W_k, v, mask=None):
    Q, K, V, W_q, W_k, v = (np.asarray(each) for each in (Q, K, V, W_q, W_k, v))
    check(min(Q.ndim, K.ndim, V.ndim) >= 2, "Q, K and V need two axes or more")
    check(W_q.ndim == 2 and W_q.shape[0] == Q.shape[-1], f"W_q: {W_q.shape}, expected ({Q.shape[-1]}, d_a)")
    check(W_k.shape == (K.shape[-1], W_q.shape[1]), f"W_k: {W_k.shape}, expected {(K.shape[-1], W_q.shape[1])}")
    check(v.shape == (W_q.shape[1],), f"v: {v.shape}, expected {(W_q.shape[1],)}")
    check(V.shape[-2] == K.shape[-2], f"V has {V.shape[-2]} rows, expected {K.shape[-2]}")
    projected_queries = Q @ W_q
    projected_keys = K @ W_k
    hidden = np.tanh(projected_queries[..., :, None, :] + projected_keys[..., None, :, :])
    scores = hidden @ v
    if mask is not None:
        scores = apply_attention_mask(scores, mask, mask_value=-np.inf)
    weights = attention_weights(scores, axis=-1)
    output = weights @ V
    return output, weights


def split_heads(x, num_heads):
    x = np.asarray(x)
    check(x.ndim == 3, f"x: {x.shape}, expected (batch, seq, d_model)")
    batch, seq, d_model = x.shape
    check(is_count(num_heads), f"num_heads: {num_heads}, expected a positive integer")
    check(d_model % num_heads == 0, f"num_heads: {num_heads}, expected a divisor of {d_model}")
    d_k = d_model // num_heads
    return x.reshape(batch, seq, num_heads, d_k).transpose(0, 2, 1, 3)


def merge_heads(x):
    x = np.asarray(x)
    check(x.ndim == 4, f"x: {x.shape}, expected (batch, heads, seq, d_k)")
    batch, heads, seq, d_k = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, seq, heads * d_k)


def multi_head_attention_forward(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V, W_Q, W_K, W_V, W_O = (np.asarray(each) for each in (Q, K, V, W_Q, W_K, W_V, W_O))
    check(Q.ndim == 3 and K.ndim == 3, f"Q and K: {Q.shape} and {K.shape}, expected three axes")
    batch, _, d_model = Q.shape
    check(K.shape[0] == batch and K.shape[2] == d_model, f"K: {K.shape}, does not fit Q, {Q.shape}")
    check(V.shape == K.shape, f"V: {V.shape}, expected the shape of K, {K.shape}")
    for name, weight in zip(NAMES, (W_Q, W_K, W_V, W_O), strict=True):
        check(weight.shape == (d_model, d_model), f"{name}: {weight.shape}, expected {(d_model, d_model)}")
    queries = split_heads(Q @ W_Q, num_heads)
    keys = split_heads(K @ W_K, num_heads)
    values = split_heads(V @ W_V, num_heads)
    if mask is not None:
        mask = np.asarray(mask)
        if mask.ndim == 3:
            mask = mask[:, None, :, :]
    heads, weights = scaled_dot_product_attention(queries, keys, values, mask)
    merged = merge_heads(heads)
    output = merged @ W_O
    cache = {
        "inputs": (Q, K, V),
        "matrices": (W_Q, W_K, W_V, W_O),
        "heads": (queries, keys, values),
        "weights": weights,
        "merged": merged,
    }
    return output, cache


def product_gradient(x, grad):
    """Return the gradient of W in x W, summed over batch and positions."""
    return np.tensordot(x, grad, axes=([0, 1], [0, 1]))


def softmax_backward(grad, weights):
    return weights * (grad - (grad * weights).sum(axis=-1, keepdims=True))


def multi_head_attention_backward(grad_output, cache):
    Q, K, V = cache["inputs"]
    W_Q, W_K, W_V, W_O = cache["matrices"]
    queries, keys, values = cache["heads"]
    weights = cache["weights"]
    grad_output = np.asarray(grad_output)
    check(grad_output.shape == Q.shape, f"grad_output: {grad_output.shape}, expected {Q.shape}")
    num_heads, d_k = queries.shape[1], queries.shape[3]

    grad_W_O = product_gradient(cache["merged"], grad_output)
    grad_heads = split_heads(grad_output @ W_O.T, num_heads)
    grad_values = transposed(weights) @ grad_heads
    grad_weights = grad_heads @ transposed(values)
    grad_scores = softmax_backward(grad_weights, weights) / math.sqrt(d_k)
    grad_queries = merge_heads(grad_scores @ keys)
    grad_keys = merge_heads(transposed(grad_scores) @ queries)
    grad_values = merge_heads(grad_values)

    grads = {
        "W_Q": product_gradient(Q, grad_queries),
        "W_K": product_gradient(K, grad_keys),
        "W_V": product_gradient(V, grad_values),
        "W_O": grad_W_O,
    }
    return grad_queries @ W_Q.T, grad_keys @ W_K.T, grad_values @ W_V.T, grads


class MultiHeadAttention:
    def __init__(self, d_model, num_heads, rng=None):
        check(is_count(d_model), f"d_model: {d_model}, expected a positive integer")
        check(is_count(num_heads), f"num_heads: {num_heads}, expected a positive integer")
        check(d_model % num_heads == 0, f"num_heads: {num_heads}, expected a divisor of {d_model}")
        if rng is None:
            rng = np.random.default_rng()
        self.d_model = d_model
        self.num_heads = num_heads
        self.params = {name: rng.normal(0, 1 / math.sqrt(d_model), (d_model, d_model)) for name in NAMES}
        self.cache = None
        self.grads = None

    def forward(self, Q, K, V, mask=None):
        output, self.cache = multi_head_attention_forward(Q, K, V, num_heads=self.num_heads, mask=mask, **self.params)
        return output

    def backward(self, grad_output):
        if self.cache is None:
            raise RuntimeError("backward: forward has not been called")
        grad_Q, grad_K, grad_V, self.grads = multi_head_attention_backward(grad_output, self.cache)
        return grad_Q, grad_K, grad_V

    def get_params(self):
        return {name: value.copy() for name, value in self.params.items()}

    def set_params(self, params):
        check(set(params) == set(NAMES), f"params has {sorted(params)}, expected {sorted(NAMES)}")
        fresh = {name: np.array(params[name]) for name in NAMES}
        for name, value in fresh.items():
            check(value.shape == (self.d_model, self.d_model), f"{name}: {value.shape}, expected a square of d_model")
        self.params = fresh

    def get_gradients(self):
        if self.grads is None:
            raise RuntimeError("get_gradients: backward has not been called")
        return self.grads


def sinusoidal_encoding(max_length, d_model):
    check(is_count(max_length), f"max_length: {max_length}, expected a positive integer")
    check(is_count(d_model), f"d_model: {d_model}, expected a positive integer")
    pe = np.zeros((max_length, d_model))
    positions = np.arange(max_length)
    for column in range(0, d_model, 2):
        angle = positions / 10000 ** (column / d_model)
        pe[:, column] = np.sin(angle)
        if column + 1 < d_model:
            pe[:, column + 1] = np.cos(angle)
    return pe


def add_positional_encoding(x, pe):
    x, pe = np.asarray(x), np.asarray(pe)
    check(x.ndim == 3 and pe.ndim == 2, f"x and pe: {x.shape} and {pe.shape}, expected three axes and two")
    _, seq, d_model = x.shape
    check(pe.shape[1] == d_model, f"pe has {pe.shape[1]} features, expected {d_model}")
    check(seq <= pe.shape[0], f"pe has {pe.shape[0]} rows, expected {seq} or more")
    return x + pe[:seq]


def learned_positional_encoding(max_length, d_model, rng=None):
    check(is_count(max_length), f"max_length: {max_length}, expected a positive integer")
    check(is_count(d_model), f"d_model: {d_model}, expected a positive integer")
    rng = np.random.default_rng() if rng is None else rng
    return rng.normal(0.0, 0.02, size=(max_length, d_model))


def create_causal_mask(seq_length):
    check(is_count(seq_length), f"seq_length: {seq_length}, expected a positive integer")
    return np.tril(np.ones((seq_length, seq_length), dtype=bool))


def create_padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    check(is_count(max_length), f"max_length: {max_length}, expected a positive integer")
    check(lengths.ndim == 1, f"lengths: {lengths.shape}, expected one axis")
    check(lengths.dtype.kind in "iu", f"lengths: {lengths.dtype}, expected integers")
    check(np.all(lengths >= 0) and np.all(lengths <= max_length), f"lengths: {lengths}, expected 0 to {max_length}")
    return np.arange(max_length)[None, :] < lengths[:, None]


def layer_norm(x, gamma, beta, eps=1e-6):
    x, gamma, beta = np.asarray(x), np.asarray(gamma), np.asarray(beta)
    check(x.ndim >= 1, "x has no axis")
    check(gamma.shape == x.shape[-1:], f"gamma: {gamma.shape}, expected {x.shape[-1:]}")
    check(beta.shape == x.shape[-1:], f"beta: {beta.shape}, expected {x.shape[-1:]}")
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    normalised = (x - mean) / np.sqrt(variance + eps)
    return gamma * normalised + beta


def layer_norm_backward(grad_output, x, gamma, eps=1e-6):
    grad_output, x, gamma = np.asarray(grad_output), np.asarray(x), np.asarray(gamma)
    check(grad_output.shape == x.shape, f"grad_output: {grad_output.shape}, expected {x.shape}")
    check(gamma.shape == x.shape[-1:], f"gamma: {gamma.shape}, expected {x.shape[-1:]}")
    std = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    z = (x - x.mean(axis=-1, keepdims=True)) / std
    tokens = tuple(range(x.ndim - 1))
    grad_gamma = np.sum(grad_output * z, axis=tokens)
    grad_beta = np.sum(grad_output, axis=tokens)
    g = grad_output * gamma
    mean_g = g.mean(axis=-1, keepdims=True)
    mean_gz = (g * z).mean(axis=-1, keepdims=True)
    grad_x = (g - mean_g - z * mean_gz) / std
    return grad_x, grad_gamma, grad_beta


def check_dense(x, W1, b1, W2, b2):
    check(x.ndim >= 1, "x has no axis")
    d_model = x.shape[-1]
    check(W1.ndim == 2 and W1.shape[0] == d_model, f"W1: {W1.shape}, expected ({d_model}, d_ff)")
    d_ff = W1.shape[1]
    check(b1.shape == (d_ff,), f"b1: {b1.shape}, expected {(d_ff,)}")
    check(W2.shape == (d_ff, d_model), f"W2: {W2.shape}, expected {(d_ff, d_model)}")
    check(b2.shape == (d_model,), f"b2: {b2.shape}, expected {(d_model,)}")


def feed_forward(x, W1, b1, W2, b2):
    x, W1, b1, W2, b2 = (np.asarray(each) for each in (x, W1, b1, W2, b2))
    check_dense(x, W1, b1, W2, b2)
    hidden = np.maximum(x @ W1 + b1, 0)
    return hidden @ W2 + b2


def feed_forward_backward(grad_output, x, W1, b1, W2, b2):
    grad_output, x, W1, b1, W2, b2 = (np.asarray(each) for each in (grad_output, x, W1, b1, W2, b2))
    check_dense(x, W1, b1, W2, b2)
    check(grad_output.shape == x.shape, f"grad_output: {grad_output.shape}, expected {x.shape}")
    before = x @ W1 + b1
    hidden = np.maximum(before, 0)
    grad_before = (grad_output @ W2.T) * (before > 0)
    d_model, d_ff = W1.shape
    flat_x = x.reshape(-1, d_model)
    flat_hidden = hidden.reshape(-1, d_ff)
    flat_grad = grad_output.reshape(-1, d_model)
    flat_before = grad_before.reshape(-1, d_ff)
    grad_W1 = flat_x.T @ flat_before
    grad_b1 = flat_before.sum(axis=0)
    grad_W2 = flat_hidden.T @ flat_grad
    grad_b2 = flat_grad.sum(axis=0)
    return grad_before @ W1.T, grad_W1, grad_b1, grad_W2, grad_b2


class TransformerEncoderBlock:
    def __init__(self, d_model, num_heads, d_ff=None, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.attention = MultiHeadAttention(d_model, num_heads, rng)
        d_ff = 4 * d_model if d_ff is None else d_ff
        check(is_count(d_ff), f"d_ff: {d_ff}, expected a positive integer")
        self.gamma1, self.beta1 = np.ones(d_model), np.zeros(d_model)
        self.W1 = rng.normal(0, 1 / math.sqrt(d_model), (d_model, d_ff))
        self.b1 = np.zeros(d_ff)
        self.W2 = rng.normal(0, 1 / math.sqrt(d_ff), (d_ff, d_model))
        self.b2 = np.zeros(d_model)
        self.gamma2, self.beta2 = np.ones(d_model), np.zeros(d_model)
        self.sums = None

    def forward(self, x, mask=None):
        x = np.asarray(x)
        attended = self.attention.forward(x, x, x, mask)
        sum1 = x + attended
        h = layer_norm(sum1, self.gamma1, self.beta1)
        sum2 = h + feed_forward(h, self.W1, self.b1, self.W2, self.b2)
        self.sums = sum1, h, sum2
        return layer_norm(sum2, self.gamma2, self.beta2)

    def backward(self, grad_output):
        if self.sums is None:
            raise RuntimeError("backward: forward has not been called")
        sum1, h, sum2 = self.sums
        grad_sum2, self.grad_gamma2, self.grad_beta2 = layer_norm_backward(grad_output, sum2, self.gamma2)
        dense = feed_forward_backward(grad_sum2, h, self.W1, self.b1, self.W2, self.b2)
        grad_dense, self.grad_W1, self.grad_b1, self.grad_W2, self.grad_b2 = dense
        grad_h = grad_sum2 + grad_dense
        grad_sum1, self.grad_gamma1, self.grad_beta1 = layer_norm_backward(grad_h, sum1, self.gamma1)
        grad_Q, grad_K, grad_V = self.attention.backward(grad_sum1)
        self.grad_attention = self.attention.get_gradients()
        return grad_sum1 + grad_Q + grad_K + grad_V


def stack_encoder_blocks(x, blocks, mask=None):
    output = np.array(x)
    for block in blocks:
        output = block.forward(output, mask)
    return output
