"""Efficient attention: exact attention in tiles, windows and shared heads, positions by rotation and by bias, RMS norm.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
batch axes come first, the feature axis is last and the sequence is before it; scores are divided by sqrt(d), and a d of
0 is a ValueError; masks are boolean (or 0/1 integers) with True where attending is allowed; a query without any key
gets output 0, also where seq_k is 0; a causal query i sees the keys j <= i; inputs are never changed; float32 inputs
give float32 results, and integers give float64.
"""

import math
import operator

import numpy as np


def online_softmax(scores, block_size):
    """Return the softmax along the last axis from a maximum and a sum that one pass over blocks keeps up to date.

    The pass takes block_size scores of each row at a time. Where a block raises the maximum from m to m', the sum so
    far is multiplied by exp(m - m') before the block's own exponentials are added.

    Args:
        scores: shape (..., seq_k). -inf stands for a key that may not be attended to.
        block_size: how many scores of a row are taken at a time; the last block may hold fewer.

    Returns:
        (weights, maximum, total). weights: the shape of scores. maximum: shape (...), the largest score of each row.
        total: shape (...), the sum of exp(score - maximum) over the row. A row of -inf only has weights 0, maximum
        -inf and total 0; a row without a score has maximum -inf and total 0, too.

    Raises:
        ValueError: block_size is not a positive integer, or scores has no axis.

    Source: Milakov and Gimelshein 2018, algorithm 3.

    Example:
        >>> weights, maximum, total = online_softmax(np.log([2.0, 1.0, 4.0, 1.0]), 2)
        >>> weights
        array([0.25 , 0.125, 0.5  , 0.125])
        >>> round(float(np.exp(maximum)), 4), float(total)
        (4.0, 2.0)
    """
    size = _positive(block_size, "block_size")
    if scores.ndim == 0:
        raise ValueError(f"scores: {scores}, expected at least one axis")
    maximum = np.full(scores.shape[:-1], -np.inf, dtype=_floating(scores))
    total = np.zeros_like(maximum)
    for start in range(0, scores.shape[-1], size):
        block = scores[..., start : start + size]
        raised = np.maximum(maximum, block.max(axis=-1))
        base = _finite(raised)
        total = total * np.exp(maximum - base) + np.exp(block - base[..., None]).sum(axis=-1)
        maximum = raised
    weights = np.exp(scores - _finite(maximum)[..., None]) / np.where(total == 0, 1, total)[..., None]
    return weights, maximum, total


def tiled_attention(Q, K, V, block_size, causal=False, key_mask=None):
    """Return scaled dot-product attention, in tiles: softmax(Q K^T / sqrt(d)) V without an array of all scores.

    At any moment there are scores of at most block_size keys: an array of (seq_q, block_size) is allowed, one of
    (seq_q, seq_k) is not, whatever it holds.

    Args:
        Q: shape (..., seq_q, d).
        K: shape (..., seq_k, d).
        V: shape (..., seq_k, d_v).
        block_size: how many keys (and, as you like, queries) a tile has; the last may have fewer.
        causal: whether query i sees the keys j <= i only.
        key_mask: None, or boolean (or 0/1 integers) that broadcasts to (..., seq_k); True = may be attended to.

    Returns:
        (output, log_sum_exp). output: shape (..., seq_q, d_v). log_sum_exp: shape (..., seq_q), the natural logarithm
        of the sum of each query's exponentials, log(sum_j exp(q k_j / sqrt(d))) over the keys that it may attend to.
        A query without any, also where seq_k is 0, has output 0 and log_sum_exp -inf.

    Raises:
        ValueError: shapes do not fit, key_mask does not broadcast, or block_size is not a positive integer.

    Source: Dao et al. 2022 (FlashAttention), algorithm 1; Rabe and Staats 2021.

    Example:
        >>> Q, K = np.zeros((1, 2)), np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
        >>> output, log_sum_exp = tiled_attention(Q, K, np.array([[1.0], [2.0], [6.0]]), block_size=2)
        >>> output, round(float(np.exp(log_sum_exp[0])), 4)
        (array([[3.]]), 3.0)
    """
    _check_sequences(Q, K, V)
    size, allowed = _positive(block_size, "block_size"), _key_mask(key_mask, K)
    output = np.empty((*Q.shape[:-1], V.shape[-1]), dtype=_floating(Q, K, V))
    log_sum_exp = np.empty(Q.shape[:-1], dtype=output.dtype)
    for rows in _blocks(Q.shape[-2], size):
        maximum, total, weighted = -np.inf, 0, 0
        for columns in _blocks(K.shape[-2], size, before=rows.stop if causal else None):
            scores = _tile(Q, K, rows, columns, causal, allowed)
            raised = np.maximum(maximum, scores.max(axis=-1))
            base = _finite(raised)
            shrink = np.exp(maximum - base)
            exponentials = np.exp(scores - base[..., None])
            total = total * shrink + exponentials.sum(axis=-1)
            weighted = weighted * shrink[..., None] + exponentials @ V[..., columns, :]
            maximum = raised
        divisor = np.where(total == 0, 1, total)
        output[..., rows, :] = weighted / divisor[..., None]
        log_sum_exp[..., rows] = maximum + np.log(divisor)
    return output, log_sum_exp


def tiled_attention_backward(grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None):
    """Return the gradients of tiled_attention with respect to Q, K and V, from tiles that are computed once more.

    The weights of a tile are exp(scores - log_sum_exp). As in the forward pass, there are scores, weights and their
    gradients of at most block_size keys at any moment.

    Args:
        grad_output: gradient of the loss with respect to output, shape (..., seq_q, d_v).
        Q, K, V, block_size, causal, key_mask: as they were given to tiled_attention (block_size may be another).
        output, log_sum_exp: what tiled_attention returned. The loss does not depend on log_sum_exp otherwise.

    Returns:
        (grad_Q, grad_K, grad_V), each of the shape of its input. Queries without a key pass on no gradient.

    Raises:
        ValueError: shapes do not fit, key_mask does not broadcast, or block_size is not a positive integer.

    Source: Dao et al. 2022 (FlashAttention), algorithm 4.

    Example:
        >>> Q, K, V = np.zeros((1, 1)), np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]])
        >>> output, log_sum_exp = tiled_attention(Q, K, V, block_size=1)
        >>> tiled_attention_backward(np.ones((1, 1)), Q, K, V, output, log_sum_exp, block_size=1)
        (array([[0.5]]), array([[0.],
               [0.]]), array([[0.5],
               [0.5]]))
    """
    _check_sequences(Q, K, V)
    size, allowed, scale = _positive(block_size, "block_size"), _key_mask(key_mask, K), 1 / math.sqrt(Q.shape[-1])
    for name, values in (("grad_output", grad_output), ("output", output)):
        _check_shape(values, (*Q.shape[:-1], V.shape[-1]), name)
    _check_shape(log_sum_exp, Q.shape[:-1], "log_sum_exp")
    base = _finite(log_sum_exp)
    shared = (grad_output * output).sum(axis=-1)
    grad_Q, grad_K, grad_V = (np.zeros(x.shape, dtype=_floating(x)) for x in (Q, K, V))
    for rows in _blocks(Q.shape[-2], size):
        grad = grad_output[..., rows, :]
        for columns in _blocks(K.shape[-2], size, before=rows.stop if causal else None):
            weights = np.exp(_tile(Q, K, rows, columns, causal, allowed) - base[..., rows, None])
            grad_weights = grad @ _turned(V[..., columns, :])
            grad_scores = weights * (grad_weights - shared[..., rows, None]) * scale
            grad_Q[..., rows, :] += grad_scores @ K[..., columns, :]
            grad_K[..., columns, :] += _turned(grad_scores) @ Q[..., rows, :]
            grad_V[..., columns, :] += _turned(weights) @ grad
    return grad_Q, grad_K, grad_V


def sliding_window_attention(Q, K, V, left, right=0):
    """Return attention in which query i sees the keys i - left to i + right, as far as there are such keys.

    Time and memory grow with seq_q * (left + 1 + right): there is no array of (seq_q, seq_k).

    Args:
        Q: shape (..., seq_q, d).
        K: shape (..., seq_k, d).
        V: shape (..., seq_k, d_v).
        left: how many keys before its own position a query sees, 0 or more.
        right: how many keys after it, 0 or more; 0 makes the window causal.

    Returns:
        Shape (..., seq_q, d_v). A query whose window holds no key has output 0, and so has every query if seq_k is 0.

    Raises:
        ValueError: shapes do not fit, or left or right is no integer of at least 0.

    Source: Beltagy, Peters and Cohan 2020 (Longformer), section 3.1; Child et al. 2019.

    Example:
        >>> sliding_window_attention(np.zeros((4, 1)), np.zeros((4, 1)), np.array([[1.0], [3.0], [5.0], [9.0]]), left=1)
        array([[1.],
               [2.],
               [4.],
               [7.]])
    """
    _check_sequences(Q, K, V)
    left, right = _not_negative(left, "left"), _not_negative(right, "right")
    queries, keys = Q.shape[-2], K.shape[-2]
    shifts = range(max(-left, 1 - queries), min(right, keys - 1) + 1)
    scores = np.full((*Q.shape[:-1], len(shifts)), -np.inf, dtype=_floating(Q, K, V))
    places = []
    for number, shift in enumerate(shifts):
        rows = slice(max(0, -shift), min(queries, keys - shift))
        columns = slice(rows.start + shift, rows.stop + shift)
        places.append((rows, columns))
        scores[..., rows, number] = (Q[..., rows, :] * K[..., columns, :]).sum(axis=-1) / math.sqrt(Q.shape[-1])
    weights = _softmax(scores)
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=scores.dtype)
    for number, (rows, columns) in enumerate(places):
        output[..., rows, :] += weights[..., rows, number, None] * V[..., columns, :]
    return output


def grouped_query_attention(Q, K, V, causal=False, mask=None):
    """Return attention of many query heads that share few key and value heads, each with its group of neighbours.

    With G = query_heads / kv_heads, query heads 0 to G - 1 attend with key and value head 0, the next G with head 1,
    and so on. kv_heads = query_heads is multi-head attention, kv_heads = 1 multi-query attention.

    Args:
        Q: shape (..., query_heads, seq_q, d).
        K: shape (..., kv_heads, seq_k, d).
        V: shape (..., kv_heads, seq_k, d_v).
        causal: whether query i sees the keys j <= i only.
        mask: None, or boolean (or 0/1 integers) that broadcasts to (..., query_heads, seq_q, seq_k); True = may be
            attended to. With causal, a key has to be allowed by both.

    Returns:
        Shape (..., query_heads, seq_q, d_v). A query that may attend to nothing has output 0, also where seq_k is 0.

    Raises:
        ValueError: shapes do not fit, kv_heads does not divide query_heads, or mask does not broadcast.

    Source: Ainslie et al. 2023; Shazeer 2019 for one head of keys.

    Example:
        >>> V = np.array([[[1.0], [3.0]], [[10.0], [30.0]]])
        >>> grouped_query_attention(np.zeros((4, 1, 1)), np.zeros((2, 2, 1)), V)[:, 0, 0]
        array([ 2.,  2., 20., 20.])
    """
    if min(Q.ndim, K.ndim) < 3:
        raise ValueError(f"Q, K, V: shapes {Q.shape}, {K.shape}, {V.shape}, expected (..., heads, seq, features)")
    heads, shared = Q.shape[-3], K.shape[-3]
    if not shared or heads % shared:
        raise ValueError(f"K: {shared} heads, expected a divisor of the {heads} heads of Q")
    groups = Q.reshape(*Q.shape[:-3], shared, heads // shared * Q.shape[-2], Q.shape[-1])
    _check_sequences(groups, K, V)
    scores = (groups @ _turned(K) / math.sqrt(Q.shape[-1])).reshape(*Q.shape[:-1], K.shape[-2])
    allowed = True if mask is None else mask
    if causal:
        allowed = allowed & np.tri(*scores.shape[-2:], dtype=bool)
    weights = _softmax(np.where(allowed, scores, -np.inf))
    return (weights.reshape(*groups.shape[:-1], K.shape[-2]) @ V).reshape(*Q.shape[:-1], V.shape[-1])


def rotary_embedding(x, positions=None, base=10000.0, interleaved=True):
    """Return queries or keys with each pair of features turned by an angle that grows with the position.

    Pair number i of d/2, at position p, is turned by the angle p * base^(-2i/d):
    (a, b) becomes (a cos - b sin, a sin + b cos).

    Args:
        x: shape (..., seq, d), d even.
        positions: None for 0, 1, ..., seq - 1, or integers (negative ones too) that broadcast to (..., seq).
        base: how much slower the last pairs turn than the first.
        interleaved: True: the pairs are the features (0, 1), (2, 3), ...; False: features i and i + d/2 are a pair.

    Returns:
        The shape of x; float64 for integers. The angles are computed in float64, whatever the dtype of x.

    Raises:
        ValueError: x is not (..., seq, d) with an even d, or positions do not broadcast to (..., seq).

    Source: Su et al. 2021 (RoFormer), section 3.2.2.

    Example:
        >>> rotary_embedding(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])).round(4)
        array([[ 1.    ,  0.    ],
               [ 0.5403,  0.8415],
               [-0.4161,  0.9093]])
    """
    if x.ndim < 2 or x.shape[-1] % 2:
        raise ValueError(f"x: shape {x.shape}, expected (..., seq, d) with an even d")
    places = np.arange(x.shape[-2]) if positions is None else positions
    half = x.shape[-1] // 2
    angles = places[..., None] * base ** (-np.arange(half) / half)
    cosines, sines = np.cos(angles), np.sin(angles)
    pairs = (slice(0, None, 2), slice(1, None, 2)) if interleaved else (slice(0, half), slice(half, None))
    first, second = x[..., pairs[0]], x[..., pairs[1]]
    turned = np.empty(x.shape, dtype=_floating(x))
    turned[..., pairs[0]] = first * cosines - second * sines
    turned[..., pairs[1]] = first * sines + second * cosines
    return turned


def alibi_slopes(num_heads):
    """Return how steeply each head's bias falls with distance.

    For a power of two, num_heads = n, head h = 1, ..., n has 2^(-8h/n). For any other number, let n be the power of
    two below it: first come the n slopes of n heads, then the first, third, fifth, ... of those of 2n heads, until
    there are enough.

    Args:
        num_heads: how many heads, 1 or more.

    Returns:
        Shape (num_heads,).

    Raises:
        ValueError: num_heads is not a positive integer.

    Source: Press, Smith and Lewis 2022 (ALiBi), section 3, and the code of the paper for other numbers of heads.

    Example:
        >>> alibi_slopes(4)
        array([0.25      , 0.0625    , 0.015625  , 0.00390625])
        >>> alibi_slopes(3)
        array([0.0625    , 0.00390625, 0.25      ])
    """
    heads = _positive(num_heads, "num_heads")
    power = 1 << (heads.bit_length() - 1)
    between = 2.0 ** (-4 * np.arange(1, 2 * (heads - power), 2) / power)
    return np.concatenate([2.0 ** (-8 * np.arange(1, power + 1) / power), between])


def alibi_bias(num_heads, seq_length, causal=True):
    """Return what is added to the scores of each head: minus its slope times the distance of query and key.

    Args:
        num_heads: how many heads, 1 or more.
        seq_length: number of queries, and of keys, 1 or more.
        causal: whether keys after the query get -inf; otherwise they get the same as keys as far before it.

    Returns:
        Shape (num_heads, seq_length, seq_length): query i and key j of a head with slope m have -m * |i - j|.

    Raises:
        ValueError: num_heads or seq_length is not a positive integer.

    Source: Press, Smith and Lewis 2022 (ALiBi), section 3.

    Example:
        >>> alibi_bias(8, 3)[0]
        array([[ 0. , -inf, -inf],
               [-0.5,  0. , -inf],
               [-1. , -0.5,  0. ]])
    """
    slopes, positions = alibi_slopes(num_heads), np.arange(_positive(seq_length, "seq_length"))
    behind = positions[:, None] - positions
    nearness = np.where(behind < 0, -np.inf, -behind) if causal else -np.abs(behind)
    return slopes[:, None, None] * nearness


def rms_norm(x, gamma, eps=1e-6):
    """Return gamma * x / sqrt(mean(x^2) + eps), the mean over the last axis: layer norm without mean and shift.

    Args:
        x: shape (..., d).
        gamma: scale of each feature, shape (d,).
        eps: keeps the division finite. sqrt(mean(x^2)) + eps as the divisor is accepted as well.

    Returns:
        The shape of x.

    Raises:
        ValueError: gamma is not of shape (d,).

    Source: Zhang and Sennrich 2019.

    Example:
        >>> rms_norm(np.array([1.0, 7.0]), np.array([1.0, 2.0])).round(4)
        array([0.2, 2.8])
    """
    _check_gamma(x, gamma)
    return gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)


def rms_norm_backward(grad_output, x, gamma, eps=1e-6):
    """Return the gradients of rms_norm with respect to x and gamma.

    Args:
        grad_output: gradient of the loss with respect to the output, of its shape.
        x, gamma, eps: as they were given to rms_norm.

    Returns:
        (grad_x, grad_gamma), of the shapes of x and gamma.

    Raises:
        ValueError: shapes do not fit.

    Source: Zhang and Sennrich 2019, section 4; derived in the README.

    Example:
        >>> grad_x, grad_gamma = rms_norm_backward(np.array([1.0, 0.0]), np.array([1.0, 7.0]), np.ones(2))
        >>> grad_x.round(4), grad_gamma.round(4)
        (array([ 0.196, -0.028]), array([0.2, 0. ]))
    """
    _check_gamma(x, gamma)
    _check_shape(grad_output, x.shape, "grad_output")
    root = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    normalized, grad = x / root, grad_output * gamma
    along = normalized * (grad * normalized).mean(axis=-1, keepdims=True)
    grad_gamma = (grad_output * normalized).sum(axis=tuple(range(x.ndim - 1)))
    return (grad - along) / root, grad_gamma


def linear_attention(Q, K, V, causal=False):
    """Return attention with phi(q) . phi(k) for exp(q . k), phi(x) = elu(x) + 1: time and memory linear in the length.

    output_i = phi(q_i) S / (phi(q_i) . z) with S = sum_j phi(k_j) v_j^T and z = sum_j phi(k_j), over all keys or, if
    causal, over j <= i. elu(x) + 1 is x + 1 for x > 0 and exp(x) otherwise. Nothing is divided by sqrt(d), and nothing
    is added to the divisor (1e-6, as in the code of the paper, is accepted).

    Where the divisor comes out as 0, the output is 0: there is no key, or phi is so small that no float holds its
    products (exp(-800) is 0 in float64, and in float32 exp(-60) * exp(-60) is). The quotient, from sums that are scaled
    so that nothing is lost, is accepted as well.

    Args:
        Q: shape (..., seq_q, d).
        K: shape (..., seq_k, d).
        V: shape (..., seq_k, d_v).
        causal: whether query i sees the keys j <= i only; then there are as many queries as keys.

    Returns:
        Shape (..., seq_q, d_v). There is no array of (seq_q, seq_k). A query without any key has output 0.

    Raises:
        ValueError: shapes do not fit, or causal with seq_q other than seq_k.

    Source: Katharopoulos et al. 2020, section 3.2 to 3.4.

    Example:
        >>> Q, K, V = np.zeros((2, 1)), np.array([[0.0], [2.0]]), np.array([[4.0], [8.0]])
        >>> linear_attention(Q, K, V).tolist(), linear_attention(Q, K, V, causal=True).tolist()
        ([[7.0], [7.0]], [[4.0], [7.0]])
    """
    _check_sequences(Q, K, V)
    queries, keys = _elu_plus_one(Q), _elu_plus_one(K)
    if not causal:
        weighted = queries @ (_turned(keys) @ V)
        return _divided(weighted, (queries * keys.sum(axis=-2, keepdims=True)).sum(axis=-1))
    if Q.shape[-2] != K.shape[-2]:
        raise ValueError(f"Q, K: {Q.shape[-2]} queries and {K.shape[-2]} keys, expected as many when causal")
    output = np.empty((*Q.shape[:-1], V.shape[-1]), dtype=_floating(Q, K, V))
    state = normalizer = 0
    for i in range(Q.shape[-2]):
        query, key = queries[..., i, :], keys[..., i, :]
        state = state + key[..., None] * V[..., i, None, :]
        normalizer = normalizer + key
        weighted = (query[..., None, :] @ state)[..., 0, :]
        output[..., i, :] = _divided(weighted, (query * normalizer).sum(axis=-1))
    return output


def _elu_plus_one(x):
    return np.maximum(x, 0) + np.exp(np.minimum(x, 0))


def _divided(weighted, divisor):
    """Return each query's weighted sum over its divisor, and 0 where that is 0."""
    found = weighted / np.where(divisor == 0, 1, divisor)[..., None]
    return np.where(divisor[..., None] == 0, 0, found)


def _floating(*arrays):
    """Return the dtype of a result: that of the arrays, and float64 for integers."""
    return np.result_type(*arrays, 1.0)


def _softmax(scores):
    """Return the softmax along the last axis; a row of -inf only, or of nothing, gives zeros."""
    exponentials = np.exp(scores - _finite(scores.max(axis=-1, keepdims=True, initial=-np.inf)))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def _finite(maximum):
    """Return 0 for -inf, where there is nothing yet to measure scores by."""
    return np.where(maximum == -np.inf, 0, maximum)


def _tile(Q, K, rows, columns, causal, allowed):
    """Return the scaled scores of some queries and some keys, with -inf where attending is forbidden."""
    scores = Q[..., rows, :] @ _turned(K[..., columns, :]) / math.sqrt(Q.shape[-1])
    if not allowed[..., columns].all():
        scores = np.where(allowed[..., None, columns], scores, -np.inf)
    if causal and columns.stop > rows.start:  # in front of that, every query sees the whole tile
        behind = np.arange(rows.start, rows.stop)[:, None] >= np.arange(columns.start, columns.stop)
        scores = np.where(behind, scores, -np.inf)
    return scores


def _blocks(length, size, before=None):
    """Return slices of at most size positions; with before, only those that begin in front of it."""
    stop = length if before is None else min(length, before)
    return [slice(start, min(start + size, length)) for start in range(0, stop, size)]


def _turned(x):
    return np.swapaxes(x, -1, -2)


def _check_sequences(Q, K, V):
    fits = min(Q.ndim, K.ndim, V.ndim) >= 2 and Q.shape[:-2] == K.shape[:-2] == V.shape[:-2]
    if not fits or Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2] or not Q.shape[-1]:
        wanted = "(..., seq_q, d), (..., seq_k, d) and (..., seq_k, d_v), with d of 1 or more"
        raise ValueError(f"Q, K, V: shapes {Q.shape}, {K.shape}, {V.shape}, expected {wanted}")


def _check_gamma(x, gamma):
    if gamma.shape != x.shape[-1:]:
        raise ValueError(f"x, gamma: shapes {x.shape} and {gamma.shape}, expected (..., d) and (d,)")


def _check_shape(values, shape, name):
    if values.shape != shape:
        raise ValueError(f"{name}: shape {values.shape}, expected {shape}")


def _key_mask(mask, K):
    return np.broadcast_to(True if mask is None else mask, K.shape[:-1])


def _positive(number, name):
    number = _integer(number, name)
    if number < 1:
        raise ValueError(f"{name}: {number}, expected a positive integer")
    return number


def _not_negative(number, name):
    number = _integer(number, name)
    if number < 0:
        raise ValueError(f"{name}: {number}, expected 0 or more")
    return number


def _integer(number, name):
    try:
        return operator.index(number)
    except TypeError:
        raise ValueError(f"{name}: {number!r}, expected an integer") from None
