"""Efficient attention as its README writes it: one formula after the other, blocks of keys for all queries at once."""

import math

import numpy as np


def _check_count(value, name, least=1):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name}: {value!r}, expected an integer of at least {least}")


def _as_floats(*arrays):
    arrays = [np.asarray(x) for x in arrays]
    return [x if x.dtype.kind == "f" else x.astype(float) for x in arrays]


def _check_attention(Q, K, V):
    if Q.ndim < 2 or K.ndim < 2 or V.ndim < 2:
        raise ValueError(f"Q, K, V: shapes {Q.shape}, {K.shape}, {V.shape}, expected two axes or more")
    if Q.shape[:-2] != K.shape[:-2] or K.shape[:-2] != V.shape[:-2]:
        raise ValueError(f"Q, K, V: leading axes of {Q.shape}, {K.shape}, {V.shape} differ")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"K: {K.shape[-1]} features, expected {Q.shape[-1]} as Q has")
    if not Q.shape[-1]:
        raise ValueError("Q, K: no features to compare, expected one or more")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"V: {V.shape[-2]} values, expected one for each of the {K.shape[-2]} keys")


def online_softmax(scores, block_size):
    (scores,) = _as_floats(scores)
    _check_count(block_size, "block_size")
    if scores.ndim == 0:
        raise ValueError("scores: a number, expected rows")
    seq_k = scores.shape[-1]
    maximum = np.full(scores.shape[:-1], -np.inf, dtype=scores.dtype)
    total = np.zeros(scores.shape[:-1], dtype=scores.dtype)
    for start in range(0, seq_k, block_size):
        block = scores[..., start : start + block_size]
        raised = np.maximum(maximum, block.max(axis=-1))
        base = np.where(raised == -np.inf, 0, raised).astype(scores.dtype)
        total = total * np.exp(maximum - base) + np.exp(block - base[..., None]).sum(axis=-1)
        maximum = raised
    base = np.where(maximum == -np.inf, 0, maximum).astype(scores.dtype)
    divisor = np.where(total == 0, 1, total).astype(scores.dtype)
    weights = np.exp(scores - base[..., None]) / divisor[..., None]
    return weights, maximum, total


def _scores_of_block(Q, K_block, start, causal, key_mask_block):
    scores = Q @ np.swapaxes(K_block, -1, -2) / math.sqrt(Q.shape[-1])
    if causal:
        i = np.arange(Q.shape[-2])[:, None]
        j = np.arange(start, start + K_block.shape[-2])
        scores = np.where(j <= i, scores, -np.inf)
    if key_mask_block is not None:
        scores = np.where(key_mask_block[..., None, :], scores, -np.inf)
    return scores


def tiled_attention(Q, K, V, block_size, causal=False, key_mask=None):
    Q, K, V = _as_floats(Q, K, V)
    _check_attention(Q, K, V)
    _check_count(block_size, "block_size")
    if key_mask is not None:
        key_mask = np.broadcast_to(np.asarray(key_mask).astype(bool), K.shape[:-1])
    maximum = np.full(Q.shape[:-1], -np.inf, dtype=Q.dtype)
    total = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    weighted = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=Q.dtype)
    for start in range(0, K.shape[-2], block_size):
        stop = start + block_size
        mask_block = None if key_mask is None else key_mask[..., start:stop]
        scores = _scores_of_block(Q, K[..., start:stop, :], start, causal, mask_block)
        raised = np.maximum(maximum, scores.max(axis=-1))
        base = np.where(raised == -np.inf, 0, raised).astype(Q.dtype)
        shrink = np.exp(maximum - base)
        powers = np.exp(scores - base[..., None])
        total = total * shrink + powers.sum(axis=-1)
        weighted = weighted * shrink[..., None] + powers @ V[..., start:stop, :]
        maximum = raised
    divisor = np.where(total == 0, 1, total).astype(Q.dtype)
    output = weighted / divisor[..., None]
    log_sum_exp = maximum + np.log(divisor)
    return output, log_sum_exp


def tiled_attention_backward(grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None):
    Q, K, V = _as_floats(Q, K, V)
    grad_output, output, log_sum_exp = _as_floats(grad_output, output, log_sum_exp)
    _check_attention(Q, K, V)
    _check_count(block_size, "block_size")
    for name, value in (("grad_output", grad_output), ("output", output)):
        if value.shape != (*Q.shape[:-1], V.shape[-1]):
            raise ValueError(f"{name}: shape {value.shape}, expected {(*Q.shape[:-1], V.shape[-1])}")
    if log_sum_exp.shape != Q.shape[:-1]:
        raise ValueError(f"log_sum_exp: shape {log_sum_exp.shape}, expected {Q.shape[:-1]}")
    if key_mask is not None:
        key_mask = np.broadcast_to(np.asarray(key_mask).astype(bool), K.shape[:-1])
    scale = 1 / math.sqrt(Q.shape[-1])
    base = np.where(log_sum_exp == -np.inf, 0, log_sum_exp).astype(Q.dtype)
    shared = (grad_output * output).sum(axis=-1)
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for start in range(0, K.shape[-2], block_size):
        stop = start + block_size
        mask_block = None if key_mask is None else key_mask[..., start:stop]
        weights = np.exp(_scores_of_block(Q, K[..., start:stop, :], start, causal, mask_block) - base[..., None])
        grad_V[..., start:stop, :] = np.swapaxes(weights, -1, -2) @ grad_output
        grad_weights = grad_output @ np.swapaxes(V[..., start:stop, :], -1, -2)
        grad_scores = weights * (grad_weights - shared[..., None]) * scale
        grad_Q += grad_scores @ K[..., start:stop, :]
        grad_K[..., start:stop, :] = np.swapaxes(grad_scores, -1, -2) @ Q
    return grad_Q, grad_K, grad_V


def sliding_window_attention(Q, K, V, left, right=0):
    Q, K, V = _as_floats(Q, K, V)
    _check_attention(Q, K, V)
    _check_count(left, "left", 0)
    _check_count(right, "right", 0)
    seq_q, seq_k = Q.shape[-2], K.shape[-2]
    left, right = min(left, seq_q), min(right, seq_k)
    window = left + 1 + right
    scores = np.full((*Q.shape[:-1], window), -np.inf, dtype=Q.dtype)
    for column in range(window):
        shift = column - left
        first, last = max(0, -shift), min(seq_q, seq_k - shift)
        if first < last:
            products = Q[..., first:last, :] * K[..., first + shift : last + shift, :]
            scores[..., first:last, column] = products.sum(axis=-1) / math.sqrt(Q.shape[-1])
    maximum = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(maximum == -np.inf, 0, maximum).astype(Q.dtype))
    total = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total).astype(Q.dtype)
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=Q.dtype)
    for column in range(window):
        shift = column - left
        first, last = max(0, -shift), min(seq_q, seq_k - shift)
        if first < last:
            output[..., first:last, :] += (
                weights[..., first:last, column, None] * V[..., first + shift : last + shift, :]
            )
    return output


def grouped_query_attention(Q, K, V, causal=False, mask=None):
    Q, K, V = _as_floats(Q, K, V)
    if Q.ndim < 3 or K.ndim < 3:
        raise ValueError(f"Q, K: shapes {Q.shape}, {K.shape}, expected (..., heads, seq, d)")
    query_heads, kv_heads = Q.shape[-3], K.shape[-3]
    if kv_heads == 0 or query_heads % kv_heads != 0:
        raise ValueError(f"K: {kv_heads} heads, expected a divisor of {query_heads}")
    K = np.repeat(K, query_heads // kv_heads, axis=-3)
    V = np.repeat(V, query_heads // kv_heads, axis=-3)
    _check_attention(Q, K, V)
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(np.broadcast_to(np.asarray(mask).astype(bool), scores.shape), scores, -np.inf)
    if causal:
        scores = np.where(np.tri(Q.shape[-2], K.shape[-2], dtype=bool), scores, -np.inf)
    maximum = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(maximum == -np.inf, 0, maximum).astype(Q.dtype))
    total = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total).astype(Q.dtype)
    return weights @ V


def rotary_embedding(x, positions=None, base=10000.0, interleaved=True):
    (x,) = _as_floats(x)
    if x.ndim < 2 or x.shape[-1] % 2 != 0:
        raise ValueError(f"x: shape {x.shape}, expected (..., seq, d) with an even d")
    seq, d = x.shape[-2:]
    if positions is None:
        positions = np.arange(seq)
    positions = np.broadcast_to(np.asarray(positions), x.shape[:-1])
    angles = positions[..., None] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    if interleaved:
        even, odd = x[..., 0::2], x[..., 1::2]
        turned = np.empty_like(x)
        turned[..., 0::2] = even * cos - odd * sin
        turned[..., 1::2] = even * sin + odd * cos
        return turned
    first, second = x[..., : d // 2], x[..., d // 2 :]
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def alibi_slopes(num_heads):
    _check_count(num_heads, "num_heads")
    n = 1
    while 2 * n <= num_heads:
        n = 2 * n
    own = 2.0 ** (-8 * np.arange(1, n + 1) / n)
    twice = 2.0 ** (-8 * np.arange(1, 2 * n + 1) / (2 * n))
    return np.concatenate([own, twice[0::2][: num_heads - n]])


def alibi_bias(num_heads, seq_length, causal=True):
    _check_count(seq_length, "seq_length")
    slopes = alibi_slopes(num_heads)
    i = np.arange(seq_length)[:, None]
    j = np.arange(seq_length)[None, :]
    bias = -slopes[:, None, None] * np.abs(i - j)
    if causal:
        bias = np.where(j <= i, bias, -np.inf)
    return bias


def rms_norm(x, gamma, eps=1e-6):
    x, gamma = np.asarray(x), np.asarray(gamma)
    if gamma.ndim != 1 or x.shape[-1:] != gamma.shape:
        raise ValueError(f"gamma: shape {gamma.shape}, expected {x.shape[-1:]}")
    root = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return gamma * x / root


def rms_norm_backward(grad_output, x, gamma, eps=1e-6):
    grad_output, x, gamma = np.asarray(grad_output), np.asarray(x), np.asarray(gamma)
    if gamma.ndim != 1 or x.shape[-1:] != gamma.shape or grad_output.shape != x.shape:
        raise ValueError(f"grad_output, x, gamma: shapes {grad_output.shape}, {x.shape}, {gamma.shape} do not fit")
    root = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    z = x / root
    g = gamma * grad_output
    grad_x = (g - z * (g * z).mean(axis=-1, keepdims=True)) / root
    grad_gamma = (grad_output * z).reshape(-1, x.shape[-1]).sum(axis=0)
    return grad_x, grad_gamma


def _phi(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_attention(Q, K, V, causal=False):
    Q, K, V = _as_floats(Q, K, V)
    _check_attention(Q, K, V)
    phi_Q, phi_K = _phi(Q), _phi(K)
    if causal:
        if Q.shape[-2] != K.shape[-2]:
            raise ValueError(f"K: {K.shape[-2]} keys, expected as many as queries, {Q.shape[-2]}")
        state = np.cumsum(phi_K[..., :, None] * V[..., None, :], axis=-3)
        normalizer = np.cumsum(phi_K, axis=-2)
        output = (phi_Q[..., None, :] @ state)[..., 0, :]
        divisor = (phi_Q * normalizer).sum(axis=-1, keepdims=True)
        return output / np.where(divisor == 0, 1, divisor)
    state = np.swapaxes(phi_K, -1, -2) @ V
    normalizer = phi_K.sum(axis=-2, keepdims=True)
    divisor = (phi_Q * normalizer).sum(axis=-1, keepdims=True)
    return phi_Q @ state / np.where(divisor == 0, 1, divisor)
