"""Efficient attention by merging finished parts: each has an output and a log-sum-exp, and logaddexp joins two."""

import math

import numpy as np

NOTHING = -np.inf


def _need(condition, complaint):
    if not condition:
        raise ValueError(complaint)


def _whole(number, least, name):
    fits = isinstance(number, (int, np.integer)) and number >= least
    _need(fits, f"{name}: {number!r}, expected a whole number, {least} or more")
    return int(number)


def _float(x):
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(float)


def _inputs(Q, K, V):
    Q, K, V = map(_float, (Q, K, V))
    _need(min(Q.ndim, K.ndim, V.ndim) > 1, "Q, K, V: expected sequences of feature vectors")
    _need(Q.shape[:-2] == K.shape[:-2] == V.shape[:-2], f"leading axes: {Q.shape}, {K.shape}, {V.shape}")
    _need(Q.shape[-1] == K.shape[-1], f"features: {Q.shape[-1]} of Q, {K.shape[-1]} of K")
    _need(Q.shape[-1] > 0, "features: none, expected one or more")
    _need(K.shape[-2] == V.shape[-2], f"positions: {K.shape[-2]} of K, {V.shape[-2]} of V")
    return Q, K, V


def _log_sum_exp(scores):
    top = scores.max(axis=-1, initial=NOTHING)
    safe = np.where(np.isneginf(top), np.zeros_like(top), top)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(scores - safe[..., None]).sum(axis=-1)) + safe


def _share(part, whole):
    """exp(part - whole), and 0 where both are -inf."""
    return np.exp(part - np.where(np.isneginf(whole), np.zeros_like(whole), whole))


def online_softmax(scores, block_size):
    scores, step = _float(scores), _whole(block_size, 1, "block_size")
    _need(scores.ndim, "scores: expected rows")
    top = np.full(scores.shape[:-1], NOTHING, scores.dtype)
    logarithm = top.copy()
    for start in range(0, scores.shape[-1], step):
        block = scores[..., start : start + step]
        top = np.maximum(top, block.max(axis=-1))
        logarithm = np.logaddexp(logarithm, _log_sum_exp(block))
    return _share(scores, logarithm[..., None]), top, _share(logarithm, top)


def _attend(scores, V):
    logarithm = _log_sum_exp(scores)
    return np.einsum("...ij,...jd->...id", _share(scores, logarithm[..., None]), V), logarithm


def _block(Q, K, start, step, causal, key_mask):
    part = K[..., start : start + step, :]
    scores = np.einsum("...id,...jd->...ij", Q / math.sqrt(Q.shape[-1]), part)
    if causal:
        later = np.arange(start, start + part.shape[-2])[None] > np.arange(Q.shape[-2])[:, None]
        scores[..., later] = NOTHING
    if key_mask is not None:
        scores = np.where(key_mask[..., None, start : start + step], scores, scores.dtype.type(NOTHING))
    return scores


def _mask_of(key_mask, K):
    return None if key_mask is None else np.broadcast_to(np.not_equal(key_mask, 0), K.shape[:-1])


def tiled_attention(Q, K, V, block_size, causal=False, key_mask=None):
    Q, K, V = _inputs(Q, K, V)
    step, mask = _whole(block_size, 1, "block_size"), _mask_of(key_mask, K)
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    logarithm = np.full(Q.shape[:-1], NOTHING, Q.dtype)
    for start in range(0, K.shape[-2], step):
        part, of_part = _attend(_block(Q, K, start, step, causal, mask), V[..., start : start + step, :])
        joined = np.logaddexp(logarithm, of_part)
        output = output * _share(logarithm, joined)[..., None] + part * _share(of_part, joined)[..., None]
        logarithm = joined
    return output, logarithm


def tiled_attention_backward(grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None):
    Q, K, V = _inputs(Q, K, V)
    step, mask = _whole(block_size, 1, "block_size"), _mask_of(key_mask, K)
    grad_output, output, log_sum_exp = map(_float, (grad_output, output, log_sum_exp))
    wanted = (*Q.shape[:-1], V.shape[-1])
    _need(grad_output.shape == wanted, f"grad_output: {grad_output.shape}, expected {wanted}")
    _need(output.shape == wanted, f"output: {output.shape}, expected {wanted}")
    _need(log_sum_exp.shape == wanted[:-1], f"log_sum_exp: {log_sum_exp.shape}, expected {wanted[:-1]}")
    along = np.einsum("...id,...id->...i", grad_output, output)[..., None]
    grad_Q, of_keys, of_values = np.zeros_like(Q), [K[..., :0, :]], [V[..., :0, :]]
    for start in range(0, K.shape[-2], step):
        weights = _share(_block(Q, K, start, step, causal, mask), log_sum_exp[..., None])
        of_values.append(np.einsum("...ij,...id->...jd", weights, grad_output))
        weights *= np.einsum("...id,...jd->...ij", grad_output, V[..., start : start + step, :]) - along
        weights /= math.sqrt(Q.shape[-1])
        of_keys.append(np.einsum("...ij,...id->...jd", weights, Q))
        grad_Q += np.einsum("...ij,...jd->...id", weights, K[..., start : start + step, :])
    return grad_Q, np.concatenate(of_keys, axis=-2), np.concatenate(of_values, axis=-2)


def sliding_window_attention(Q, K, V, left, right=0):
    Q, K, V = _inputs(Q, K, V)
    left, right = _whole(left, 0, "left"), _whole(right, 0, "right")
    offsets = np.arange(-min(left, Q.shape[-2]), min(right, K.shape[-2]) + 1)
    places = np.arange(Q.shape[-2])[:, None] + offsets
    exists = (places >= 0) & (places < K.shape[-2])
    if not K.shape[-2]:
        return np.zeros((*Q.shape[:-1], V.shape[-1]), V.dtype)
    places = np.where(exists, places, 0)
    scores = np.einsum("...id,...iwd->...iw", Q / math.sqrt(Q.shape[-1]), K[..., places, :])
    scores = np.where(exists, scores, scores.dtype.type(NOTHING))
    weights = _share(scores, _log_sum_exp(scores)[..., None])
    return np.einsum("...iw,...iwd->...id", weights, V[..., places, :])


def grouped_query_attention(Q, K, V, causal=False, mask=None):
    Q, K, V = map(_float, (Q, K, V))
    _need(min(Q.ndim, K.ndim, V.ndim) > 2, "Q, K, V: expected heads of sequences")
    heads, shared = Q.shape[-3], K.shape[-3]
    _need(
        shared == V.shape[-3] and shared and heads % shared == 0,
        f"heads: {heads} of Q, {shared} of K, {V.shape[-3]} of V",
    )
    _inputs(Q[..., :shared, :, :], K, V)
    grouped = Q.reshape(*Q.shape[:-3], shared, heads // shared, *Q.shape[-2:]) / math.sqrt(Q.shape[-1])
    scores = np.einsum("...hgid,...hjd->...hgij", grouped, K).reshape(*Q.shape[:-1], K.shape[-2])
    if mask is not None:
        scores = np.where(np.broadcast_to(np.not_equal(mask, 0), scores.shape), scores, scores.dtype.type(NOTHING))
    if causal:
        scores[..., np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)] = NOTHING
    weights = _share(scores, _log_sum_exp(scores)[..., None]).reshape(*grouped.shape[:-1], K.shape[-2])
    return np.einsum("...hgij,...hjd->...hgid", weights, V).reshape(*Q.shape[:-1], V.shape[-1])


def rotary_embedding(x, positions=None, base=10000.0, interleaved=True):
    x = _float(x)
    _need(x.ndim > 1 and x.shape[-1] % 2 == 0, f"x: {x.shape}, expected sequences of an even number of features")
    positions = np.arange(x.shape[-2]) if positions is None else np.asarray(positions)
    angles = np.multiply.outer(
        np.broadcast_to(positions, x.shape[:-1]), base ** -np.linspace(0, 1, x.shape[-1] // 2, endpoint=False)
    )
    axis = -1 if interleaved else -2
    pairs = x.reshape(*x.shape[:-1], *((-1, 2) if interleaved else (2, x.shape[-1] // 2)))
    real, imaginary = np.moveaxis(pairs, axis, 0)
    turned = (real + 1j * imaginary) * np.exp(1j * angles)
    return np.stack([turned.real, turned.imag], axis=axis).reshape(x.shape).astype(x.dtype)


def alibi_slopes(num_heads):
    num_heads = _whole(num_heads, 1, "num_heads")
    power = 2 ** (num_heads.bit_length() - 1)
    if power == num_heads:
        return 0.5 ** (8 / power * np.arange(1, power + 1))
    return np.append(alibi_slopes(power), alibi_slopes(2 * power)[::2][: num_heads - power])


def alibi_bias(num_heads, seq_length, causal=True):
    places = np.arange(_whole(seq_length, 1, "seq_length"))
    bias = np.multiply.outer(-alibi_slopes(num_heads), np.abs(np.subtract.outer(places, places)))
    if causal:
        bias[:, np.less.outer(places, places)] = NOTHING
    return bias


def _root(x, gamma, eps):
    _need(x.ndim and gamma.shape == x.shape[-1:], f"gamma: {gamma.shape}, expected the features of x, {x.shape}")
    return np.sqrt(np.einsum("...d,...d->...", x, x) / x.shape[-1])[..., None] + eps


def rms_norm(x, gamma, eps=1e-6):
    x, gamma = _float(x), _float(gamma)
    return gamma * (x / _root(x, gamma, eps))


def rms_norm_backward(grad_output, x, gamma, eps=1e-6):
    grad_output, x, gamma = map(_float, (grad_output, x, gamma))
    divisor = _root(x, gamma, eps)
    _need(grad_output.shape == x.shape, f"grad_output: {grad_output.shape}, expected {x.shape}")
    root = np.where(divisor == eps, 1, divisor - eps).astype(x.dtype)
    weighted = grad_output * gamma
    along = np.einsum("...d,...d->...", weighted, x)[..., None] / x.shape[-1]
    grad_gamma = (grad_output * x / divisor).reshape(-1, x.shape[-1]).sum(axis=0)
    return weighted / divisor - x * along / (root * divisor**2), grad_gamma


def linear_attention(Q, K, V, causal=False):
    Q, K, V = _inputs(Q, K, V)
    Q, K = (np.maximum(x, 0) + np.exp(np.minimum(x, 0)) for x in (Q, K))
    V = np.concatenate([V, np.ones((*V.shape[:-1], 1), V.dtype)], axis=-1)
    if not causal:
        sums = np.einsum("...id,...df->...if", Q, np.einsum("...jd,...jf->...df", K, V))
        return sums[..., :-1] / (sums[..., -1:] + 1e-6)
    _need(Q.shape[-2] == K.shape[-2], f"Q, K: {Q.shape[-2]} and {K.shape[-2]} positions")
    state, parts, step = np.zeros((*Q.shape[:-2], Q.shape[-1], V.shape[-1]), V.dtype), [V[..., :0, :-1]], 32
    for start in range(0, Q.shape[-2], step):
        q, k, v = (x[..., start : start + step, :] for x in (Q, K, V))
        inside = np.tril(np.einsum("...id,...jd->...ij", q, k))
        sums = np.einsum("...id,...df->...if", q, state) + np.einsum("...ij,...jf->...if", inside, v)
        parts.append(sums[..., :-1] / (sums[..., -1:] + 1e-6))
        state = state + np.einsum("...jd,...jf->...df", k, v)
    return np.concatenate(parts, axis=-2)
