"""Efficient attention, written from the README and the stubs of its stage alone; what the slips beside it edit."""

import numpy as np

INF = np.inf


def _check_int(value, name, lowest):
    if not isinstance(value, (int, np.integer)) or value < lowest:
        raise ValueError(f"{name}: {value}, expected an integer of at least {lowest}")


def _as_floats(*arrays):
    arrays = [np.asarray(array) for array in arrays]
    return [array if array.dtype.kind == "f" else array.astype(np.float64) for array in arrays]


def _check_qkv(Q, K, V):
    Q, K, V = _as_floats(Q, K, V)
    if min(Q.ndim, K.ndim, V.ndim) < 2 or not Q.shape[:-2] == K.shape[:-2] == V.shape[:-2]:
        raise ValueError(f"Q, K, V: shapes {Q.shape}, {K.shape}, {V.shape} do not fit")
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError(f"Q, K, V: shapes {Q.shape}, {K.shape}, {V.shape} do not fit")
    return Q, K, V


def _zero_if_none(maximum):
    """What to subtract from scores: the maximum, and 0 where there is none yet."""
    return np.where(np.isinf(maximum), 0, maximum).astype(maximum.dtype)


def _one_if_zero(total):
    return np.where(total == 0, 1, total).astype(total.dtype)


def online_softmax(scores, block_size):
    scores = np.asarray(scores)
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    _check_int(block_size, "block_size", 1)
    if scores.ndim < 1:
        raise ValueError(f"scores: {scores}, expected an array with rows")
    maximum = np.full(scores.shape[:-1], -INF, scores.dtype)
    total = np.zeros(scores.shape[:-1], scores.dtype)
    start = 0
    while start < scores.shape[-1]:
        block = scores[..., start : start + block_size]
        new_maximum = np.maximum(maximum, np.max(block, axis=-1))
        safe = _zero_if_none(new_maximum)
        total = total * np.exp(maximum - safe)
        total = total + np.sum(np.exp(block - safe[..., np.newaxis]), axis=-1)
        maximum = new_maximum
        start += block_size
    powers = np.exp(scores - _zero_if_none(maximum)[..., np.newaxis])
    return powers / _one_if_zero(total)[..., np.newaxis], maximum, total


def _tile_scores(q, k, q_start, k_start, causal, mask):
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1]).astype(q.dtype)
    if causal:
        queries = q_start + np.arange(q.shape[-2])
        keys = k_start + np.arange(k.shape[-2])
        scores = np.where(keys > queries[:, np.newaxis], -INF, scores)
    if mask is not None:
        scores = np.where(mask[..., np.newaxis, :], scores, -INF)
    return scores


def _key_mask(key_mask, K):
    if key_mask is None:
        return None
    return np.broadcast_to(np.asarray(key_mask) == 1, K.shape[:-1])


def tiled_attention(Q, K, V, block_size, causal=False, key_mask=None):
    Q, K, V = _check_qkv(Q, K, V)
    _check_int(block_size, "block_size", 1)
    key_mask = _key_mask(key_mask, K)
    outputs, logarithms = [], []
    for q_start in range(0, Q.shape[-2], block_size):
        q = Q[..., q_start : q_start + block_size, :]
        maximum = np.full(q.shape[:-1], -INF, Q.dtype)
        total = np.zeros(q.shape[:-1], Q.dtype)
        weighted = np.zeros((*q.shape[:-1], V.shape[-1]), Q.dtype)
        for k_start in range(0, K.shape[-2], block_size):
            part = slice(k_start, k_start + block_size)
            mask = None if key_mask is None else key_mask[..., part]
            scores = _tile_scores(q, K[..., part, :], q_start, k_start, causal, mask)
            raised = np.maximum(maximum, scores.max(axis=-1))
            safe = _zero_if_none(raised)
            shrink = np.exp(maximum - safe)
            powers = np.exp(scores - safe[..., np.newaxis])
            total = total * shrink + powers.sum(axis=-1)
            weighted = weighted * shrink[..., np.newaxis] + np.matmul(powers, V[..., part, :])
            maximum = raised
        outputs.append(weighted / _one_if_zero(total)[..., np.newaxis])
        logarithms.append(maximum + np.log(_one_if_zero(total)))
    return np.concatenate(outputs, axis=-2), np.concatenate(logarithms, axis=-1)


def tiled_attention_backward(grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None):
    Q, K, V = _check_qkv(Q, K, V)
    _check_int(block_size, "block_size", 1)
    grad_output, output, log_sum_exp = np.asarray(grad_output), np.asarray(output), np.asarray(log_sum_exp)
    wanted = (*Q.shape[:-1], V.shape[-1])
    if grad_output.shape != wanted or output.shape != wanted or log_sum_exp.shape != wanted[:-1]:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected {wanted}")
    key_mask = _key_mask(key_mask, K)
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    D = np.sum(grad_output * output, axis=-1)
    safe = _zero_if_none(log_sum_exp)
    for q_start in range(0, Q.shape[-2], block_size):
        rows = slice(q_start, q_start + block_size)
        q, dO = Q[..., rows, :], grad_output[..., rows, :]
        for k_start in range(0, K.shape[-2], block_size):
            part = slice(k_start, k_start + block_size)
            mask = None if key_mask is None else key_mask[..., part]
            scores = _tile_scores(q, K[..., part, :], q_start, k_start, causal, mask)
            P = np.exp(scores - safe[..., rows, np.newaxis])
            dP = np.matmul(dO, np.swapaxes(V[..., part, :], -1, -2))
            dS = P * (dP - D[..., rows, np.newaxis]) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
            grad_Q[..., rows, :] += np.matmul(dS, K[..., part, :])
            grad_K[..., part, :] += np.matmul(np.swapaxes(dS, -1, -2), q)
            grad_V[..., part, :] += np.matmul(np.swapaxes(P, -1, -2), dO)
    return grad_Q, grad_K, grad_V


def _softmax(scores):
    powers = np.exp(scores - _zero_if_none(scores.max(axis=-1, keepdims=True, initial=-INF)))
    return powers / _one_if_zero(powers.sum(axis=-1, keepdims=True))


def sliding_window_attention(Q, K, V, left, right=0):
    Q, K, V = _check_qkv(Q, K, V)
    _check_int(left, "left", 0)
    _check_int(right, "right", 0)
    seq_q, seq_k = Q.shape[-2], K.shape[-2]
    if seq_k == 0:
        return np.zeros((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    left, right = min(left, seq_q), min(right, seq_k)
    columns = np.arange(seq_q)[:, np.newaxis] + np.arange(-left, right + 1)
    exists = (columns >= 0) & (columns < seq_k)
    columns = np.clip(columns, 0, seq_k - 1)
    near_keys, near_values = K[..., columns, :], V[..., columns, :]
    scores = np.sum(Q[..., np.newaxis, :] * near_keys, axis=-1) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    scores = np.where(exists, scores, -INF)
    weights = _softmax(scores)
    return np.sum(weights[..., np.newaxis] * near_values, axis=-2)


def grouped_query_attention(Q, K, V, causal=False, mask=None):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if min(Q.ndim, K.ndim, V.ndim) < 3 or K.shape[-3] == 0 or Q.shape[-3] % K.shape[-3] != 0:
        raise ValueError(f"Q, K: shapes {Q.shape}, {K.shape}, expected heads that divide")
    group = Q.shape[-3] // K.shape[-3]
    heads = np.arange(Q.shape[-3]) // group
    if V.shape[-3] != K.shape[-3]:
        raise ValueError(f"V: {V.shape[-3]} heads, expected {K.shape[-3]}")
    Q, K, V = _check_qkv(Q, K[..., heads, :, :], V[..., heads, :, :])
    scores = np.matmul(Q, np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    if causal:
        i, j = np.arange(Q.shape[-2])[:, np.newaxis], np.arange(K.shape[-2])
        scores = np.where(j <= i, scores, -INF)
    if mask is not None:
        scores = np.where(np.broadcast_to(mask, scores.shape).astype(bool), scores, -INF)
    return np.matmul(_softmax(scores), V)


def rotary_embedding(x, positions=None, base=10000.0, interleaved=True):
    (x,) = _as_floats(x)
    if x.ndim < 2 or x.shape[-1] % 2:
        raise ValueError(f"x: shape {x.shape}, expected (..., seq, d) with d even")
    d = x.shape[-1]
    if positions is None:
        positions = np.arange(x.shape[-2])
    positions = np.broadcast_to(positions, x.shape[:-1])
    frequencies = base ** (-2 * np.arange(d // 2) / d)
    angles = positions[..., np.newaxis] * frequencies
    cos, sin = np.cos(angles), np.sin(angles)
    if interleaved:
        a, b = x[..., ::2], x[..., 1::2]
    else:
        a, b = x[..., : d // 2], x[..., d // 2 :]
    new_a = a * cos - b * sin
    new_b = a * sin + b * cos
    if interleaved:
        turned = np.stack([new_a, new_b], axis=-1).reshape(x.shape)
    else:
        turned = np.concatenate([new_a, new_b], axis=-1)
    return turned.astype(x.dtype)


def alibi_slopes(num_heads):
    _check_int(num_heads, "num_heads", 1)
    n = 2 ** int(np.floor(np.log2(num_heads)))
    slopes = [2 ** (-8 * h / n) for h in range(1, n + 1)]
    for h in range(1, 2 * (num_heads - n), 2):
        slopes.append(2 ** (-8 * h / (2 * n)))
    return np.array(slopes)


def alibi_bias(num_heads, seq_length, causal=True):
    _check_int(seq_length, "seq_length", 1)
    slopes = alibi_slopes(num_heads)
    position = np.arange(seq_length)
    distance = np.abs(position[:, np.newaxis] - position)
    bias = -slopes[:, np.newaxis, np.newaxis] * distance
    if causal:
        bias[:, position[:, np.newaxis] < position] = -INF
    return bias


def _check_gamma(x, gamma):
    x, gamma = np.asarray(x), np.asarray(gamma)
    if x.ndim == 0 or gamma.shape != (x.shape[-1],):
        raise ValueError(f"gamma: shape {gamma.shape}, expected the last axis of x, {x.shape}")
    return x, gamma


def rms_norm(x, gamma, eps=1e-6):
    x, gamma = _check_gamma(x, gamma)
    mean_square = np.mean(np.square(x), axis=-1, keepdims=True)
    return x / np.sqrt(mean_square + eps) * gamma


def rms_norm_backward(grad_output, x, gamma, eps=1e-6):
    x, gamma = _check_gamma(x, gamma)
    grad_output = np.asarray(grad_output)
    if grad_output.shape != x.shape:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected {x.shape}")
    rms = np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + eps)
    z = x / rms
    dz = grad_output * gamma
    grad_x = (dz - z * np.mean(dz * z, axis=-1, keepdims=True)) / rms
    grad_gamma = np.sum((grad_output * z).reshape(-1, x.shape[-1]), axis=0)
    return grad_x, grad_gamma


def _phi(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_attention(Q, K, V, causal=False):
    Q, K, V = _check_qkv(Q, K, V)
    if causal and Q.shape[-2] != K.shape[-2]:
        raise ValueError(f"Q, K: {Q.shape[-2]} and {K.shape[-2]} positions, expected as many")
    q, k = _phi(Q), _phi(K)
    if not causal:
        S = np.matmul(np.swapaxes(k, -1, -2), V)
        z = k.sum(axis=-2)
        return np.matmul(q, S) / _one_if_zero(np.sum(q * z[..., np.newaxis, :], axis=-1, keepdims=True))
    S = np.zeros((*Q.shape[:-2], Q.shape[-1], V.shape[-1]), Q.dtype)
    z = np.zeros((*Q.shape[:-2], Q.shape[-1]), Q.dtype)
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    for t in range(Q.shape[-2]):
        S = S + k[..., t, :, np.newaxis] * V[..., t, np.newaxis, :]
        z = z + k[..., t, :]
        numerator = np.sum(q[..., t, :, np.newaxis] * S, axis=-2)
        output[..., t, :] = numerator / _one_if_zero(np.sum(q[..., t, :] * z, axis=-1))[..., np.newaxis]
    return output
