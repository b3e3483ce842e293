"""Attention, half done: what a learner may have written after an evening or two.

Graded by `grader demo`. Some functions are right, three have a mistake that is often made, some wait, and the rest is
not written yet. The docstrings of the stage are left out here to keep the file short.
"""

import numpy as np


def compute_attention_scores(Q, K, scale=True):
    if Q.ndim < 2 or K.ndim < 2 or Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q of shape {Q.shape} does not go with K of shape {K.shape}")
    scores = Q @ np.swapaxes(K, -1, -2)
    if scale:
        scores = scores / np.sqrt(Q.shape[-1]).astype(scores.dtype)
    return scores


def apply_attention_mask(scores, mask, mask_value=-1e9):
    mask = np.broadcast_to(np.asarray(mask, dtype=bool), scores.shape)
    return np.where(mask, scores, np.asarray(mask_value, dtype=scores.dtype))


def attention_weights(scores, axis=-1):
    biggest = scores.max(axis=axis, keepdims=True)
    biggest = np.where(np.isinf(biggest), 0, biggest)  # a row that is masked everywhere
    e = np.exp(scores - biggest)
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def scaled_dot_product_attention(Q, K, V, mask=None):
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, but {V.shape[-2]} values")
    scores = compute_attention_scores(Q, K)
    if mask is not None:
        scores = apply_attention_mask(scores, mask, -np.inf)
    weights = attention_weights(scores)
    return weights @ V, weights


def additive_attention(Q, K, V, W_q, W_k, v, mask=None):
    raise NotImplementedError("additive_attention")


def split_heads(x, num_heads):
    batch, seq, d_model = x.shape
    if num_heads < 1 or d_model % num_heads != 0:
        raise ValueError(f"{num_heads} heads do not divide d_model = {d_model}")
    d_k = d_model // num_heads
    return x.reshape(batch, num_heads, seq, d_k)


def merge_heads(x):
    raise NotImplementedError("merge_heads")


def multi_head_attention_forward(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    q = split_heads(Q @ W_Q, num_heads)
    k = split_heads(K @ W_K, num_heads)
    v = split_heads(V @ W_V, num_heads)
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None]
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    output = merge_heads(heads) @ W_O
    return output, (Q, K, V, q, k, v, weights)


def multi_head_attention_backward(grad_output, cache):
    raise NotImplementedError("multi_head_attention_backward")


class MultiHeadAttention:
    def __init__(self, d_model, num_heads, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.num_heads = num_heads
        self.W_Q, self.W_K, self.W_V, self.W_O = rng.standard_normal((4, d_model, d_model)) / np.sqrt(d_model)

    def forward(self, Q, K, V, mask=None):
        weights = self.W_Q, self.W_K, self.W_V, self.W_O
        output, self.cache = multi_head_attention_forward(Q, K, V, *weights, self.num_heads, mask)
        return output

    def backward(self, grad_output):
        raise NotImplementedError("MultiHeadAttention.backward")

    def get_params(self):
        return {"W_Q": self.W_Q.copy(), "W_K": self.W_K.copy(), "W_V": self.W_V.copy(), "W_O": self.W_O.copy()}

    def set_params(self, params):
        raise NotImplementedError("MultiHeadAttention.set_params")

    def get_gradients(self):
        raise NotImplementedError("MultiHeadAttention.get_gradients")


def sinusoidal_encoding(max_length, d_model):
    if max_length < 1 or d_model < 1:
        raise ValueError(f"max_length and d_model must be positive, not {max_length} and {d_model}")
    pos = np.arange(max_length)[:, None]
    i = np.arange(0, d_model, 2)
    angles = pos / 10000 ** (i / d_model)
    pe = np.zeros((max_length, d_model))
    pe[:, 0::2] = np.sin(angles)
    pe[:, 1::2] = np.cos(angles)[:, : d_model // 2]
    return pe


def add_positional_encoding(x, pe):
    print("adding", pe.shape, "to", x.shape)
    return x + pe[: x.shape[1]]


def learned_positional_encoding(max_length, d_model, rng=None):
    if max_length < 1 or d_model < 1:
        raise ValueError(f"max_length and d_model must be positive, not {max_length} and {d_model}")
    rng = rng or np.random.default_rng()
    return 0.02 * rng.standard_normal((max_length, d_model))


def create_causal_mask(seq_length):
    if seq_length < 1:
        raise ValueError(f"seq_length must be positive, not {seq_length}")
    return np.tril(np.ones((seq_length, seq_length), dtype=bool))


def create_padding_mask(lengths, max_length):
    lengths = np.asarray(lengths)
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu" or max_length < 1:
        raise ValueError("lengths must be one whole number a sequence")
    if (lengths < 0).any() or (lengths > max_length).any():
        raise ValueError(f"lengths must lie between 0 and {max_length}")
    return np.arange(max_length) < lengths[:, None]


def layer_norm(x, gamma, beta, eps=1e-6):
    if gamma.shape != x.shape[-1:] or beta.shape != x.shape[-1:]:
        raise ValueError(f"gamma and beta need the shape {x.shape[-1:]}")
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True, ddof=1)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def layer_norm_backward(grad_output, x, gamma, eps=1e-6):
    raise NotImplementedError("layer_norm_backward")


def feed_forward(x, W1, b1, W2, b2):
    raise NotImplementedError("feed_forward")


def feed_forward_backward(grad_output, x, W1, b1, W2, b2):
    raise NotImplementedError("feed_forward_backward")


class TransformerEncoderBlock:
    def __init__(self, d_model, num_heads, d_ff=None, rng=None):
        raise NotImplementedError("TransformerEncoderBlock.__init__")

    def forward(self, x, mask=None):
        raise NotImplementedError("TransformerEncoderBlock.forward")

    def backward(self, grad_output):
        raise NotImplementedError("TransformerEncoderBlock.backward")


def stack_encoder_blocks(x, blocks, mask=None):
    raise NotImplementedError("stack_encoder_blocks")
