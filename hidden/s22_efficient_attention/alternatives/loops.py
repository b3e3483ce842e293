"""Efficient attention one query at a time, with a row of scores in hand and never two."""

from itertools import product

import numpy as np


def _as_floats(x):
    x = np.asarray(x)
    return x if np.issubdtype(x.dtype, np.floating) else x.astype(np.float64)


def _count(value, least, name):
    if not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name}: {value!r} is no whole number from {least} on")
    return int(value)


def _fit(Q, K, V):
    Q, K, V = _as_floats(Q), _as_floats(K), _as_floats(V)
    if Q.ndim < 2 or Q.ndim != K.ndim or K.ndim != V.ndim:
        raise ValueError(f"Q, K, V: {Q.ndim}, {K.ndim} and {V.ndim} axes, expected as many in each, two or more")
    if Q.shape[:-2] != K.shape[:-2] or K.shape[:-1] != V.shape[:-1] or Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q, K, V: shapes {Q.shape}, {K.shape}, {V.shape} do not fit together")
    if Q.shape[-1] == 0:
        raise ValueError("Q, K: no features, expected one or more")
    return Q, K, V


def _each(leading):
    return product(*map(range, leading))


def online_softmax(scores, block_size):
    scores, block_size = _as_floats(scores), _count(block_size, 1, "block_size")
    if not scores.ndim:
        raise ValueError("scores: expected an array with an axis")
    weights = np.zeros_like(scores)
    maximum = np.empty(scores.shape[:-1], scores.dtype)
    total = np.empty(scores.shape[:-1], scores.dtype)
    for place in _each(scores.shape[:-1]):
        row = scores[place]
        highest, summed = -np.inf, row.dtype.type(0)
        for start in range(0, len(row), block_size):
            block = row[start : start + block_size]
            if block.max() > highest:
                summed = summed * np.exp(highest - block.max())
                highest = block.max()
            if highest > -np.inf:
                summed = summed + np.exp(block - highest).sum()
        maximum[place], total[place] = highest, summed
        if summed > 0:
            weights[place] = np.exp(row - highest) / summed
    return weights, maximum, total


def _row(q, K, i, causal, allowed):
    """Scores of one query, -inf for what it must not see."""
    scores = K @ q / np.sqrt(len(q)).astype(q.dtype)
    if causal:
        scores[i + 1 :] = -np.inf
    if allowed is not None:
        scores[~allowed] = -np.inf
    return scores


def _allowed(key_mask, shape):
    return None if key_mask is None else np.broadcast_to(np.asarray(key_mask, dtype=bool), shape)


def tiled_attention(Q, K, V, block_size, causal=False, key_mask=None):
    Q, K, V = _fit(Q, K, V)
    _count(block_size, 1, "block_size")
    allowed = _allowed(key_mask, K.shape[:-1])
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    log_sum_exp = np.full(Q.shape[:-1], -np.inf, Q.dtype)
    for place in _each(Q.shape[:-2]):
        mask = None if allowed is None else allowed[place]
        for i, q in enumerate(Q[place]):
            scores = _row(q, K[place], i, causal, mask)
            highest = scores.max(initial=-np.inf)
            if highest == -np.inf:
                continue
            powers = np.exp(scores - highest)
            summed = powers.sum()
            output[place][i] = powers @ V[place] / summed
            log_sum_exp[place][i] = highest + np.log(summed)
    return output, log_sum_exp


def tiled_attention_backward(grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None):
    Q, K, V = _fit(Q, K, V)
    _count(block_size, 1, "block_size")
    grad_output, output, log_sum_exp = map(_as_floats, (grad_output, output, log_sum_exp))
    wanted = (*Q.shape[:-1], V.shape[-1])
    if grad_output.shape != wanted or output.shape != wanted or log_sum_exp.shape != wanted[:-1]:
        raise ValueError(f"grad_output, output, log_sum_exp: expected shapes {wanted}, {wanted} and {wanted[:-1]}")
    allowed = _allowed(key_mask, K.shape[:-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    root = np.sqrt(Q.shape[-1]).astype(Q.dtype)
    for place in _each(Q.shape[:-2]):
        mask = None if allowed is None else allowed[place]
        for i, q in enumerate(Q[place]):
            if log_sum_exp[place][i] == -np.inf:
                continue
            weights = np.exp(_row(q, K[place], i, causal, mask) - log_sum_exp[place][i])
            g = grad_output[place][i]
            grad_V[place] += np.outer(weights, g)
            grad_scores = weights * (V[place] @ g - g @ output[place][i]) / root
            grad_Q[place][i] = grad_scores @ K[place]
            grad_K[place] += np.outer(grad_scores, q)
    return grad_Q, grad_K, grad_V


def sliding_window_attention(Q, K, V, left, right=0):
    Q, K, V = _fit(Q, K, V)
    left, right = _count(left, 0, "left"), _count(right, 0, "right")
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    for place in _each(Q.shape[:-2]):
        for i, q in enumerate(Q[place]):
            near = slice(max(0, i - left), i + right + 1)
            if len(K[place][near]):
                scores = K[place][near] @ q / np.sqrt(len(q)).astype(q.dtype)
                powers = np.exp(scores - scores.max())
                output[place][i] = powers @ V[place][near] / powers.sum()
    return output


def grouped_query_attention(Q, K, V, causal=False, mask=None):
    Q, K, V = _as_floats(Q), _as_floats(K), _as_floats(V)
    if min(Q.ndim, K.ndim, V.ndim) < 3:
        raise ValueError("Q, K, V: expected an axis of heads in each")
    if K.shape[-3] != V.shape[-3] or K.shape[-3] < 1 or Q.shape[-3] % K.shape[-3]:
        raise ValueError(f"heads: {Q.shape[-3]} of Q, {K.shape[-3]} of K, {V.shape[-3]} of V")
    group = Q.shape[-3] // K.shape[-3]
    wanted = (*Q.shape[:-1], K.shape[-2])
    allowed = np.ones(wanted, bool) if mask is None else np.broadcast_to(np.asarray(mask, dtype=bool), wanted)
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    for head in range(Q.shape[-3]):
        q, k, v = Q[..., head, :, :], K[..., head // group, :, :], V[..., head // group, :, :]
        _fit(q, k, v)
        for place in _each(q.shape[:-1]):
            *batch, i = place
            scores = _row(q[place], k[tuple(batch)], i, causal, allowed[..., head, :, :][place])
            if scores.max(initial=-np.inf) > -np.inf:
                powers = np.exp(scores - scores.max())
                output[..., head, :, :][place] = powers @ v[tuple(batch)] / powers.sum()
    return output


def rotary_embedding(x, positions=None, base=10000.0, interleaved=True):
    x = _as_floats(x)
    if x.ndim < 2 or x.shape[-1] % 2:
        raise ValueError(f"x: {x.shape}, expected two axes or more and an even number of features")
    positions = np.broadcast_to(np.arange(x.shape[-2]) if positions is None else positions, x.shape[:-1])
    half = x.shape[-1] // 2
    turned = np.zeros_like(x)
    for i in range(half):
        a, b = (2 * i, 2 * i + 1) if interleaved else (i, half + i)
        angle = positions / base ** (i / half)
        turned[..., a] = np.cos(angle) * x[..., a] - np.sin(angle) * x[..., b]
        turned[..., b] = np.sin(angle) * x[..., a] + np.cos(angle) * x[..., b]
    return turned


def alibi_slopes(num_heads):
    num_heads = _count(num_heads, 1, "num_heads")
    power = 1
    while power * 2 <= num_heads:
        power *= 2
    found = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    h = 1
    while len(found) < num_heads:
        found.append(2 ** (-4 * h / power))
        h += 2
    return np.array(found)


def alibi_bias(num_heads, seq_length, causal=True):
    slopes, seq_length = alibi_slopes(num_heads), _count(seq_length, 1, "seq_length")
    bias = np.empty((len(slopes), seq_length, seq_length))
    for i, j in _each((seq_length, seq_length)):
        bias[:, i, j] = -np.inf if causal and j > i else -slopes * abs(i - j)
    return bias


def rms_norm(x, gamma, eps=1e-6):
    x, gamma = _as_floats(x), _as_floats(gamma)
    if not x.ndim or gamma.shape != x.shape[-1:]:
        raise ValueError(f"gamma: {gamma.shape}, expected a scale for each feature of x, {x.shape}")
    output = np.empty_like(x)
    for place in _each(x.shape[:-1]):
        output[place] = gamma * x[place] / np.sqrt(x[place] @ x[place] / len(gamma) + eps)
    return output


def rms_norm_backward(grad_output, x, gamma, eps=1e-6):
    grad_output, x, gamma = _as_floats(grad_output), _as_floats(x), _as_floats(gamma)
    if not x.ndim or gamma.shape != x.shape[-1:] or grad_output.shape != x.shape:
        raise ValueError(f"grad_output, x, gamma: {grad_output.shape}, {x.shape}, {gamma.shape}")
    grad_x, grad_gamma = np.empty_like(x), np.zeros_like(gamma)
    for place in _each(x.shape[:-1]):
        root = np.sqrt(x[place] @ x[place] / len(gamma) + eps)
        g = grad_output[place] * gamma
        grad_x[place] = g / root - x[place] * (g @ x[place]) / (len(gamma) * root**3)
        grad_gamma += grad_output[place] * x[place] / root
    return grad_x, grad_gamma


def linear_attention(Q, K, V, causal=False):
    Q, K, V = _fit(Q, K, V)
    if causal and Q.shape[-2] != K.shape[-2]:
        raise ValueError(f"Q, K: {Q.shape[-2]} and {K.shape[-2]} positions, expected as many")
    phi_Q, phi_K = (np.where(x < 0, np.exp(np.minimum(x, 0)), x + 1) for x in (Q, K))
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    for place in _each(Q.shape[:-2]):
        state, seen = phi_K[place].T @ V[place], phi_K[place].sum(axis=0)
        if causal:
            state, seen = np.zeros_like(state), np.zeros_like(seen)
        for i, q in enumerate(phi_Q[place]):
            if causal:
                state += np.outer(phi_K[place][i], V[place][i])
                seen += phi_K[place][i]
            if q @ seen > 0:
                output[place][i] = q @ state / (q @ seen)
    return output
