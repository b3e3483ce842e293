"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import math

import numpy as np

from grader.course.answers import mistake
from hidden.s22_efficient_attention.solution import (
    _blocks,
    _check_gamma,
    _check_sequences,
    _divided,
    _elu_plus_one,
    _finite,
    _floating,
    _key_mask,
    _positive,
    _softmax,
    _tile,
    _turned,
    alibi_bias,
    alibi_slopes,
    grouped_query_attention,
    linear_attention,
    online_softmax,
    rms_norm,
    rms_norm_backward,
    rotary_embedding,
    sliding_window_attention,
    tiled_attention,
    tiled_attention_backward,
)


@mistake(
    criterion="online-softmax",
    replaces="online_softmax",
    text="The sum of the earlier blocks stayed as it was when a block raised the maximum.",
    fix="Multiply the sum so far by exp(old maximum - new maximum) before you add the block's exponentials.",
)
def sum_not_rescaled(scores, block_size):
    def running(scores, block_size, update):
        size = _positive(block_size, "block_size")
        maximum = np.full(scores.shape[:-1], -np.inf, dtype=_floating(scores))
        total = np.zeros_like(maximum)
        for start in range(0, scores.shape[-1], size):
            maximum, total = update(maximum, total, scores[..., start : start + size])
        with np.errstate(over="ignore"):
            weights = np.exp(scores - _finite(maximum)[..., None]) / np.where(total == 0, 1, total)[..., None]
        return weights, maximum, total

    def update(maximum, total, block):
        raised = np.maximum(maximum, block.max(axis=-1))
        return raised, total + np.exp(block - _finite(raised)[..., None]).sum(axis=-1)

    return running(scores, block_size, update)


@mistake(
    criterion="online-softmax",
    replaces="online_softmax",
    text="Each block's own maximum replaced the running one, also where it is smaller.",
    fix="The new maximum is np.maximum(maximum, block.max(axis=-1)).",
)
def maximum_of_the_last_block(scores, block_size):
    def running(scores, block_size, update):
        size = _positive(block_size, "block_size")
        maximum = np.full(scores.shape[:-1], -np.inf, dtype=_floating(scores))
        total = np.zeros_like(maximum)
        for start in range(0, scores.shape[-1], size):
            maximum, total = update(maximum, total, scores[..., start : start + size])
        with np.errstate(over="ignore"):
            weights = np.exp(scores - _finite(maximum)[..., None]) / np.where(total == 0, 1, total)[..., None]
        return weights, maximum, total

    def update(maximum, total, block):
        found = block.max(axis=-1)
        base = _finite(found)
        with np.errstate(over="ignore", invalid="ignore"):
            shrunk = np.where(total == 0, 0, total * np.exp(maximum - base))
        return found, (shrunk + np.exp(block - base[..., None]).sum(axis=-1)).astype(total.dtype)

    return running(scores, block_size, update)


@mistake(
    criterion="online-softmax",
    replaces="online_softmax",
    text="Each block was given a softmax of its own: the weights of every block sum to 1, and not those of the row.",
    fix="Carry maximum and sum on from block to block, and divide by them once all blocks have been seen.",
)
def softmax_of_each_block(scores, block_size, right=online_softmax):
    _, maximum, total = right(scores, block_size)
    blocks = [scores[..., start : start + block_size] for start in range(0, np.shape(scores)[-1], block_size)]
    return np.concatenate([_softmax(block) for block in blocks or [scores]], axis=-1), maximum, total


@mistake(
    criterion="online-softmax",
    replaces="online_softmax",
    text="The sum so far was multiplied by exp(new maximum - old maximum): it grew, and has to shrink.",
    fix="exp(s - new) = exp(s - old) * exp(old - new): the factor is at most 1.",
)
def rescaled_the_wrong_way(scores, block_size):
    def running(scores, block_size, update):
        size = _positive(block_size, "block_size")
        maximum = np.full(scores.shape[:-1], -np.inf, dtype=_floating(scores))
        total = np.zeros_like(maximum)
        for start in range(0, scores.shape[-1], size):
            maximum, total = update(maximum, total, scores[..., start : start + size])
        with np.errstate(over="ignore"):
            weights = np.exp(scores - _finite(maximum)[..., None]) / np.where(total == 0, 1, total)[..., None]
        return weights, maximum, total

    def update(maximum, total, block):
        raised = np.maximum(maximum, block.max(axis=-1))
        with np.errstate(over="ignore", invalid="ignore"):
            grown = np.where(total == 0, 0, total * np.exp(raised - _finite(maximum)))
        return raised, (grown + np.exp(block - _finite(raised)[..., None]).sum(axis=-1)).astype(total.dtype)

    return running(scores, block_size, update)


@mistake(
    criterion="online-softmax",
    replaces="online_softmax",
    text="Scores behind the last whole block were left out of maximum and sum.",
    fix="The last block may be shorter: let the starts run over range(0, seq_k, block_size). A slice may end too late.",
)
def incomplete_block_left_out(scores, block_size, right=online_softmax):
    whole = scores.shape[-1] // _positive(block_size, "block_size") * block_size
    if whole == 0:
        return right(scores, block_size)
    _, maximum, total = right(scores[..., :whole], block_size)
    with np.errstate(over="ignore"):
        weights = np.exp(scores - _finite(maximum)[..., None]) / np.where(total == 0, 1, total)[..., None]
    return weights, maximum, total


@mistake(
    criterion="online-softmax",
    replaces="online_softmax",
    text="The maximum began with -5e4: rows whose scores are all lower kept it, and their exponentials are all 0.",
    fix="Begin with maximum = -np.inf: every score is at least as large as that.",
)
def maximum_begins_at_a_finite_number(scores, block_size):
    size = _positive(block_size, "block_size")
    maximum = np.full(scores.shape[:-1], -5e4, dtype=_floating(scores))
    total = np.zeros_like(maximum)
    for start in range(0, scores.shape[-1], size):
        block = scores[..., start : start + size]
        raised = np.maximum(maximum, block.max(axis=-1))
        total = total * np.exp(maximum - raised) + np.exp(block - raised[..., None]).sum(axis=-1)
        maximum = raised
    weights = np.exp(scores - maximum[..., None]) / np.where(total == 0, 1, total)[..., None]
    return weights, maximum, total


@mistake(
    criterion="online-softmax-masked",
    replaces="online_softmax",
    text="A row that begins with a block of -inf became NaN: -inf minus the maximum so far, -inf, is not a number.",
    fix="As long as the maximum is -inf, subtract 0 in its place.",
)
def masked_start_is_nan(scores, block_size, right=online_softmax):
    weights, maximum, total = right(scores, block_size)
    first = np.asarray(scores)[..., :block_size]
    lost = (first == -np.inf).all(axis=-1) & (first.shape[-1] > 0)
    nothing = np.array(np.nan, dtype=weights.dtype)
    return np.where(lost[..., None], nothing, weights), maximum, np.where(lost, nothing, total)


@mistake(
    criterion="online-softmax-masked",
    replaces="online_softmax",
    text="A row of -inf only got the same weight for each key.",
    fix="Its exponentials are all 0; divide them by 1 instead of by their sum.",
)
def masked_row_is_uniform(scores, block_size, right=online_softmax):
    weights, maximum, total = right(scores, block_size)
    share = np.array(1 / max(weights.shape[-1], 1), dtype=weights.dtype)
    return np.where((total == 0)[..., None], share, weights), maximum, total


@mistake(
    criterion="online-softmax-masked",
    replaces="online_softmax",
    text="A row of -inf only was given the maximum 0: what was subtracted in its place was returned as well.",
    fix="Keep the two apart: subtract 0, and return -inf.",
)
def maximum_of_nothing_is_zero(scores, block_size, right=online_softmax):
    weights, maximum, total = right(scores, block_size)
    return weights, _finite(maximum), total


@mistake(
    criterion="online-softmax-masked",
    replaces="online_softmax",
    text="A row of -inf only was given the total 1: what it was divided by was returned as well.",
    fix="Keep the two apart: divide by 1, and return the sum, 0.",
)
def total_of_nothing_is_one(scores, block_size, right=online_softmax):
    weights, maximum, total = right(scores, block_size)
    return weights, maximum, np.where(total == 0, 1, total).astype(total.dtype)


@mistake(
    criterion="tiled-attention",
    replaces="tiled_attention",
    text="The weighted sum of the values was not rescaled when the maximum rose; the sum of exponentials was.",
    fix="Both shrink by exp(old maximum - new maximum) in each block.",
)
def output_not_rescaled(Q, K, V, block_size, causal=False, key_mask=None):
    def by_blocks(Q, K, V, block_size, causal, key_mask, merge):
        _check_sequences(Q, K, V)
        size, allowed = _positive(block_size, "block_size"), _key_mask(key_mask, K)
        weighted = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=_floating(Q, K, V))
        total = np.zeros(Q.shape[:-1], dtype=weighted.dtype)
        maximum = np.full_like(total, -np.inf)
        for columns in _blocks(K.shape[-2], size):
            scores = _tile(Q, K, slice(0, Q.shape[-2]), columns, causal, allowed)
            raised = np.maximum(maximum, scores.max(axis=-1, initial=-np.inf))
            weighted, total = merge(weighted, total, maximum, _finite(raised), scores, V[..., columns, :])
            maximum = raised
        divisor = np.where(total == 0, 1, total)
        return weighted / divisor[..., None], maximum + np.log(divisor)

    def merge(weighted, total, maximum, base, scores, values):
        powers = np.exp(scores - base[..., None])
        return weighted + powers @ values, total * np.exp(maximum - base) + powers.sum(axis=-1)

    return by_blocks(Q, K, V, block_size, causal, key_mask, merge)


@mistake(
    criterion="tiled-attention",
    replaces="tiled_attention",
    text="The sum of the exponentials was not rescaled when the maximum rose; the weighted sum of the values was.",
    fix="Both shrink by exp(old maximum - new maximum) in each block.",
)
def total_not_rescaled(Q, K, V, block_size, causal=False, key_mask=None):
    def by_blocks(Q, K, V, block_size, causal, key_mask, merge):
        _check_sequences(Q, K, V)
        size, allowed = _positive(block_size, "block_size"), _key_mask(key_mask, K)
        weighted = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=_floating(Q, K, V))
        total = np.zeros(Q.shape[:-1], dtype=weighted.dtype)
        maximum = np.full_like(total, -np.inf)
        for columns in _blocks(K.shape[-2], size):
            scores = _tile(Q, K, slice(0, Q.shape[-2]), columns, causal, allowed)
            raised = np.maximum(maximum, scores.max(axis=-1, initial=-np.inf))
            weighted, total = merge(weighted, total, maximum, _finite(raised), scores, V[..., columns, :])
            maximum = raised
        divisor = np.where(total == 0, 1, total)
        return weighted / divisor[..., None], maximum + np.log(divisor)

    def merge(weighted, total, maximum, base, scores, values):
        powers, shrink = np.exp(scores - base[..., None]), np.exp(maximum - base)
        return weighted * shrink[..., None] + powers @ values, total + powers.sum(axis=-1)

    return by_blocks(Q, K, V, block_size, causal, key_mask, merge)


@mistake(
    criterion="tiled-attention",
    replaces="tiled_attention",
    text="The scores were not divided by sqrt(d).",
    fix="Each tile is Q @ K_block^T / sqrt(d), and d is the number of features, whatever the size of the block.",
)
def scale_forgotten(Q, K, V, block_size, causal=False, key_mask=None, right=tiled_attention):
    return right(Q * math.sqrt(np.shape(Q)[-1]), K, V, block_size, causal, key_mask)


@mistake(
    criterion="tiled-attention",
    replaces="tiled_attention",
    text="Each block of keys was given an attention of its own, and these outputs were averaged.",
    fix="Blocks weigh as much as their exponentials: add up weighted sums and totals, and divide once at the end.",
)
def outputs_of_blocks_averaged(Q, K, V, block_size, causal=False, key_mask=None, right=tiled_attention):
    given, log_sum_exp = right(Q, K, V, block_size, causal, key_mask)
    _check_sequences(Q, K, V)
    allowed, rows = _key_mask(key_mask, K), slice(0, Q.shape[-2])
    blocks = _blocks(K.shape[-2], block_size)
    outputs = [_softmax(_tile(Q, K, rows, columns, causal, allowed)) @ V[..., columns, :] for columns in blocks]
    return sum(outputs, 0 * given) / max(len(outputs), 1), log_sum_exp


@mistake(
    criterion="tiled-attention",
    replaces="tiled_attention",
    text="log_sum_exp lacks the maximum: the logarithm of the rescaled sum alone was returned.",
    fix="total is the sum of exp(score - maximum): return maximum + np.log(total).",
)
def logarithm_without_the_maximum(Q, K, V, block_size, causal=False, key_mask=None, right=tiled_attention):
    output, log_sum_exp = right(Q, K, V, block_size, causal, key_mask)
    _check_sequences(Q, K, V)
    scores = _tile(Q, K, slice(0, Q.shape[-2]), slice(0, K.shape[-2]), causal, _key_mask(key_mask, K))
    return output, log_sum_exp - _finite(scores.max(axis=-1, initial=-np.inf))


@mistake(
    criterion="tiled-attention",
    replaces="tiled_attention",
    text="Keys behind the last whole block were left out.",
    fix="The last block may be shorter: let the starts run over range(0, seq_k, block_size).",
)
def keys_behind_the_last_block_left_out(Q, K, V, block_size, causal=False, key_mask=None, right=tiled_attention):
    _check_sequences(Q, K, V)
    whole = K.shape[-2] // _positive(block_size, "block_size") * block_size or K.shape[-2]
    mask = None if key_mask is None else np.broadcast_to(key_mask, K.shape[:-1])[..., :whole]
    return right(Q, K[..., :whole, :], V[..., :whole, :], block_size, causal, mask)


@mistake(
    criterion="tiled-attention",
    replaces="tiled_attention",
    text="The maximum began with -5e4: where all scores of a query are lower, its exponentials and its output are 0.",
    fix="Begin with a maximum of -np.inf for each query: every score is at least as large as that.",
)
def tiles_begin_with_a_finite_maximum(Q, K, V, block_size, causal=False, key_mask=None):
    _check_sequences(Q, K, V)
    size, allowed = _positive(block_size, "block_size"), _key_mask(key_mask, K)
    weighted = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=_floating(Q, K, V))
    total = np.zeros(Q.shape[:-1], dtype=weighted.dtype)
    maximum = np.full_like(total, -5e4)
    for columns in _blocks(K.shape[-2], size):
        scores = _tile(Q, K, slice(0, Q.shape[-2]), columns, causal, allowed)
        raised = np.maximum(maximum, scores.max(axis=-1))
        shrink, powers = np.exp(maximum - raised), np.exp(scores - raised[..., None])
        total = total * shrink + powers.sum(axis=-1)
        weighted = weighted * shrink[..., None] + powers @ V[..., columns, :]
        maximum = raised
    divisor = np.where(total == 0, 1, total)
    return weighted / divisor[..., None], maximum + np.log(divisor)


@mistake(
    criterion="tiled-masks",
    replaces="tiled_attention",
    text="In each tile the causal mask was made from the places inside of the tile, not from those in the sequence.",
    fix="Row i of the tile is query rows_start + i, and column j is key columns_start + j.",
)
def positions_inside_the_tile(Q, K, V, block_size, causal=False, key_mask=None):
    def exact(Q, K, V, allowed):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        base = _finite(scores.max(axis=-1, initial=-np.inf))
        powers = np.exp(scores - base[..., None])
        total = powers.sum(axis=-1)
        with np.errstate(divide="ignore"):
            return powers / np.where(total == 0, 1, total)[..., None] @ V, np.log(total) + base

    def allowed_pairs(Q, K, key_mask, seen=None):
        i, j = np.arange(np.shape(Q)[-2])[:, None], np.arange(np.shape(K)[-2])
        allowed = np.ones((len(i), len(j)), dtype=bool) if seen is None else seen(i, j)
        mask = _key_mask(key_mask, np.asarray(K))
        return allowed if mask is None else allowed & mask[..., None, :]

    seen = (lambda i, j: i % block_size >= j % block_size) if causal else None
    return exact(Q, K, V, allowed_pairs(Q, K, key_mask, seen))


@mistake(
    criterion="tiled-masks",
    replaces="tiled_attention",
    text="A causal query does not see the key of its own position.",
    fix="Position j is allowed where j <= i.",
)
def own_position_hidden(Q, K, V, block_size, causal=False, key_mask=None):
    def exact(Q, K, V, allowed):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        base = _finite(scores.max(axis=-1, initial=-np.inf))
        powers = np.exp(scores - base[..., None])
        total = powers.sum(axis=-1)
        with np.errstate(divide="ignore"):
            return powers / np.where(total == 0, 1, total)[..., None] @ V, np.log(total) + base

    def allowed_pairs(Q, K, key_mask, seen=None):
        i, j = np.arange(np.shape(Q)[-2])[:, None], np.arange(np.shape(K)[-2])
        allowed = np.ones((len(i), len(j)), dtype=bool) if seen is None else seen(i, j)
        mask = _key_mask(key_mask, np.asarray(K))
        return allowed if mask is None else allowed & mask[..., None, :]

    return exact(Q, K, V, allowed_pairs(Q, K, key_mask, (lambda i, j: i > j) if causal else None))


@mistake(
    criterion="tiled-masks",
    replaces="tiled_attention",
    text="Where queries and keys differ in number, the causal triangle lies in the other corner: the last query sees"
    " the last key.",
    fix="Query i sees the keys j <= i, counted from the start, whatever the lengths are.",
)
def triangle_in_the_other_corner(Q, K, V, block_size, causal=False, key_mask=None):
    def exact(Q, K, V, allowed):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        base = _finite(scores.max(axis=-1, initial=-np.inf))
        powers = np.exp(scores - base[..., None])
        total = powers.sum(axis=-1)
        with np.errstate(divide="ignore"):
            return powers / np.where(total == 0, 1, total)[..., None] @ V, np.log(total) + base

    def allowed_pairs(Q, K, key_mask, seen=None):
        i, j = np.arange(np.shape(Q)[-2])[:, None], np.arange(np.shape(K)[-2])
        allowed = np.ones((len(i), len(j)), dtype=bool) if seen is None else seen(i, j)
        mask = _key_mask(key_mask, np.asarray(K))
        return allowed if mask is None else allowed & mask[..., None, :]

    more = np.shape(K)[-2] - np.shape(Q)[-2]
    return exact(Q, K, V, allowed_pairs(Q, K, key_mask, (lambda i, j: i + more >= j) if causal else None))


@mistake(
    criterion="tiled-masks",
    replaces="tiled_attention",
    text="key_mask was read the wrong way round: keys with True were left out.",
    fix="True means that a key may be attended to: put -inf where key_mask is False.",
)
def key_mask_inverted(Q, K, V, block_size, causal=False, key_mask=None, right=tiled_attention):
    return right(Q, K, V, block_size, causal, None if key_mask is None else np.logical_not(key_mask))


@mistake(
    criterion="tiled-masks",
    replaces="tiled_attention",
    text="key_mask had no effect.",
    fix="Where key_mask is False, the scores of that key become -inf in every tile.",
)
def key_mask_ignored(Q, K, V, block_size, causal=False, key_mask=None, right=tiled_attention):
    return right(Q, K, V, block_size, causal)


@mistake(
    criterion="tiled-masks",
    replaces="tiled_attention",
    text="Where key_mask was given, causal had no effect: the one mask took the place of the other.",
    fix="Combine the two: with causal, query i sees the keys j <= i that key_mask allows as well.",
)
def key_mask_in_place_of_causal(Q, K, V, block_size, causal=False, key_mask=None, right=tiled_attention):
    return right(Q, K, V, block_size, causal and key_mask is None, key_mask)


@mistake(
    criterion="tiled-masks",
    replaces="tiled_attention",
    text="A query that may attend to nothing got NaN.",
    fix="Subtract 0 in place of a maximum of -inf, and divide by 1 in place of a total of 0.",
)
def query_without_keys_is_nan(Q, K, V, block_size, causal=False, key_mask=None, right=tiled_attention):
    output, log_sum_exp = right(Q, K, V, block_size, causal, key_mask)
    lost = log_sum_exp == -np.inf
    nothing = np.array(np.nan, dtype=output.dtype)
    return np.where(lost[..., None], nothing, output), np.where(lost, nothing, log_sum_exp)


@mistake(
    criterion="tiled-masks",
    replaces="tiled_attention",
    text="A query that may attend to nothing got the average of all values: all its scores are the same large number.",
    fix="Mask with -inf, and give such a query the output 0 and the log_sum_exp -inf.",
)
def query_without_keys_averages(Q, K, V, block_size, causal=False, key_mask=None, right=tiled_attention):
    output, log_sum_exp = right(Q, K, V, block_size, causal, key_mask)
    lost = log_sum_exp == -np.inf
    average = np.broadcast_to(V.sum(axis=-2, keepdims=True) / max(V.shape[-2], 1), output.shape)
    return np.where(lost[..., None], average, output).astype(output.dtype), log_sum_exp


@mistake(
    criterion="tiled-gradients",
    replaces="tiled_attention_backward",
    text="The division by sqrt(d) is missing on the way back: grad_Q and grad_K are too large by that factor.",
    fix="Divide the gradient of the scores by sqrt(d), as the scores were divided in forward.",
)
def scale_forgotten_on_the_way_back(
    grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None, right=tiled_attention_backward
):
    given = right(grad_output, Q, K, V, output, log_sum_exp, block_size, causal, key_mask)
    root = math.sqrt(np.shape(Q)[-1])
    return given[0] * root, given[1] * root, given[2]


@mistake(
    criterion="tiled-gradients",
    replaces="tiled_attention_backward",
    text="The row's sum of grad_weights * weights was taken over each tile alone.",
    fix="A softmax row runs over all keys. Its sum is grad_output . output, for every query once: no tile is needed.",
)
def row_sum_of_the_tile(grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None):
    def gradients(grad_output, Q, K, V, log_sum_exp, allowed, through):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        weights = np.exp(scores - _finite(np.asarray(log_sum_exp))[..., None])
        grad_scores = through(weights, grad_output @ _turned(V)) / math.sqrt(Q.shape[-1])
        return grad_scores @ K, _turned(grad_scores) @ Q, _turned(weights) @ grad_output

    def allowed_pairs(Q, K, key_mask, seen=None):
        i, j = np.arange(np.shape(Q)[-2])[:, None], np.arange(np.shape(K)[-2])
        allowed = np.ones((len(i), len(j)), dtype=bool) if seen is None else seen(i, j)
        mask = _key_mask(key_mask, np.asarray(K))
        return allowed if mask is None else allowed & mask[..., None, :]

    def causally(causal):
        return (lambda i, j: i >= j) if causal else None

    size = _positive(block_size, "block_size")

    def through(weights, grad_weights):
        found = np.empty_like(weights)
        for columns in _blocks(weights.shape[-1], size):
            part, grad = weights[..., columns], grad_weights[..., columns]
            found[..., columns] = part * (grad - (part * grad).sum(axis=-1, keepdims=True))
        return found

    return gradients(grad_output, Q, K, V, log_sum_exp, allowed_pairs(Q, K, key_mask, causally(causal)), through)


@mistake(
    criterion="tiled-gradients",
    replaces="tiled_attention_backward",
    text="The softmax was taken back like a sigmoid, weight by weight: w (1 - w). Each weight depends on all scores.",
    fix="Use weights * (grad_weights - shared) with shared = (grad_output * output).sum(axis=-1).",
)
def softmax_taken_back_elementwise(grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None):
    def allowed_pairs(Q, K, key_mask, seen=None):
        i, j = np.arange(np.shape(Q)[-2])[:, None], np.arange(np.shape(K)[-2])
        allowed = np.ones((len(i), len(j)), dtype=bool) if seen is None else seen(i, j)
        mask = _key_mask(key_mask, np.asarray(K))
        return allowed if mask is None else allowed & mask[..., None, :]

    def gradients(grad_output, Q, K, V, log_sum_exp, allowed, through):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        weights = np.exp(scores - _finite(np.asarray(log_sum_exp))[..., None])
        grad_scores = through(weights, grad_output @ _turned(V)) / math.sqrt(Q.shape[-1])
        return grad_scores @ K, _turned(grad_scores) @ Q, _turned(weights) @ grad_output

    def causally(causal):
        return (lambda i, j: i >= j) if causal else None

    allowed = allowed_pairs(Q, K, key_mask, causally(causal))
    return gradients(grad_output, Q, K, V, log_sum_exp, allowed, lambda w, grad: w * (1 - w) * grad)


@mistake(
    criterion="tiled-gradients",
    replaces="tiled_attention_backward",
    text="What a softmax row shares, the sum of grad_weights * weights, was not subtracted.",
    fix="Subtract shared = (grad_output * output).sum(axis=-1) from grad_weights before you multiply by the weights.",
)
def shared_sum_forgotten(grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None):
    def allowed_pairs(Q, K, key_mask, seen=None):
        i, j = np.arange(np.shape(Q)[-2])[:, None], np.arange(np.shape(K)[-2])
        allowed = np.ones((len(i), len(j)), dtype=bool) if seen is None else seen(i, j)
        mask = _key_mask(key_mask, np.asarray(K))
        return allowed if mask is None else allowed & mask[..., None, :]

    def gradients(grad_output, Q, K, V, log_sum_exp, allowed, through):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        weights = np.exp(scores - _finite(np.asarray(log_sum_exp))[..., None])
        grad_scores = through(weights, grad_output @ _turned(V)) / math.sqrt(Q.shape[-1])
        return grad_scores @ K, _turned(grad_scores) @ Q, _turned(weights) @ grad_output

    def causally(causal):
        return (lambda i, j: i >= j) if causal else None

    allowed = allowed_pairs(Q, K, key_mask, causally(causal))
    return gradients(grad_output, Q, K, V, log_sum_exp, allowed, lambda w, grad: w * grad)


@mistake(
    criterion="tiled-gradients",
    replaces="tiled_attention_backward",
    text="grad_K and grad_V hold what the last block of queries gave: what earlier blocks gave was replaced.",
    fix="Every query adds to every key that it saw: grad_K[..., columns, :] += ..., and grad_V likewise.",
)
def replaced_instead_of_added(
    grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None, right=tiled_attention_backward
):
    given = right(grad_output, Q, K, V, output, log_sum_exp, block_size, causal, key_mask)
    last = _blocks(np.shape(Q)[-2], block_size)[-1]
    kept = np.zeros_like(grad_output)
    kept[..., last, :] = np.asarray(grad_output)[..., last, :]
    _, grad_K, grad_V = right(kept, Q, K, V, output, log_sum_exp, block_size, causal, key_mask)
    return given[0], grad_K, grad_V


@mistake(
    criterion="tiled-gradients",
    replaces="tiled_attention_backward",
    text="A query that attended to nothing made the gradients NaN: its log_sum_exp is -inf, and so are its scores.",
    fix="Subtract 0 in place of a log_sum_exp of -inf: exp(-inf - 0) is 0, the weight that the query gave.",
)
def nan_from_queries_without_keys(
    grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None, right=tiled_attention_backward
):
    given = right(grad_output, Q, K, V, output, log_sum_exp, block_size, causal, key_mask)
    lost = np.asarray(log_sum_exp) == -np.inf
    if not lost.any():
        return given
    reached = lost.any(axis=-1)[..., None, None] & np.ones(given[1].shape, dtype=bool)
    nothing = np.array(np.nan, dtype=given[0].dtype)
    return tuple(
        np.where(where, nothing, grad)
        for where, grad in zip((lost[..., None], reached, reached[..., :1]), given, strict=True)
    )


@mistake(
    criterion="tiled-gradients",
    replaces="tiled_attention_backward",
    text="The causal mask is missing on the way back: later keys got a gradient.",
    fix="Make each tile's scores in backward exactly as in forward, masks included.",
)
def causal_forgotten_on_the_way_back(
    grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None, right=tiled_attention_backward
):
    return right(grad_output, Q, K, V, output, log_sum_exp, block_size, False, key_mask)


@mistake(
    criterion="tiled-gradients",
    replaces="tiled_attention_backward",
    text="key_mask had no effect on the way back: masked keys got a gradient.",
    fix="Give the scores of masked keys -inf in backward, too.",
)
def key_mask_forgotten_on_the_way_back(
    grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None, right=tiled_attention_backward
):
    _key_mask(key_mask, K)
    return right(grad_output, Q, K, V, output, log_sum_exp, block_size, causal, None)


@mistake(
    criterion="tiled-memory",
    replaces="tiled_attention",
    text="Only the tiles on the diagonal were computed: a block of queries sees the block of keys at its own place.",
    fix="Memory is saved by keeping no tile, not by leaving tiles out: go through all blocks of keys for every query.",
)
def tiles_on_the_diagonal_only(Q, K, V, block_size, causal=False, key_mask=None):
    def exact(Q, K, V, allowed):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        base = _finite(scores.max(axis=-1, initial=-np.inf))
        powers = np.exp(scores - base[..., None])
        total = powers.sum(axis=-1)
        with np.errstate(divide="ignore"):
            return powers / np.where(total == 0, 1, total)[..., None] @ V, np.log(total) + base

    def allowed_pairs(Q, K, key_mask, seen=None):
        i, j = np.arange(np.shape(Q)[-2])[:, None], np.arange(np.shape(K)[-2])
        allowed = np.ones((len(i), len(j)), dtype=bool) if seen is None else seen(i, j)
        mask = _key_mask(key_mask, np.asarray(K))
        return allowed if mask is None else allowed & mask[..., None, :]

    def seen(i, j):
        return (i // block_size == j // block_size) & ((i >= j) | (not causal))

    return exact(Q, K, V, allowed_pairs(Q, K, key_mask, seen))


@mistake(
    criterion="tiled-memory",
    replaces="tiled_attention",
    text="The scores were rounded to float32: half the memory, and nine digits are lost.",
    fix="Keep the dtype of the inputs. Tiles need little memory in any dtype.",
)
def computed_in_single_precision(Q, K, V, block_size, causal=False, key_mask=None, right=tiled_attention):
    given = (np.asarray(x, dtype=np.float32) for x in (Q, K, V))
    kept = _floating(Q, K, V)
    output, log_sum_exp = right(*given, block_size, causal, key_mask)
    return output.astype(kept), log_sum_exp.astype(kept)


@mistake(
    criterion="tiled-memory",
    replaces="tiled_attention",
    text="Keys more than block_size before a query were left out: this is a sliding window, not attention.",
    fix="Memory is saved by keeping no tile, not by leaving tiles out: go through all blocks of keys for every query.",
)
def far_keys_left_out(Q, K, V, block_size, causal=False, key_mask=None):
    def exact(Q, K, V, allowed):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        base = _finite(scores.max(axis=-1, initial=-np.inf))
        powers = np.exp(scores - base[..., None])
        total = powers.sum(axis=-1)
        with np.errstate(divide="ignore"):
            return powers / np.where(total == 0, 1, total)[..., None] @ V, np.log(total) + base

    def allowed_pairs(Q, K, key_mask, seen=None):
        i, j = np.arange(np.shape(Q)[-2])[:, None], np.arange(np.shape(K)[-2])
        allowed = np.ones((len(i), len(j)), dtype=bool) if seen is None else seen(i, j)
        mask = _key_mask(key_mask, np.asarray(K))
        return allowed if mask is None else allowed & mask[..., None, :]

    def seen(i, j):
        return (i - j <= block_size) & ((i >= j) | (not causal))

    return exact(Q, K, V, allowed_pairs(Q, K, key_mask, seen))


@mistake(
    criterion="sliding-window",
    replaces="sliding_window_attention",
    text="The window is one key too short on the left: left keys with the query's own among them.",
    fix="The first key is i - left, so that with right=0 a query sees left + 1 keys.",
)
def window_one_short(Q, K, V, left, right=0):
    def exact(Q, K, V, allowed):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        base = _finite(scores.max(axis=-1, initial=-np.inf))
        powers = np.exp(scores - base[..., None])
        total = powers.sum(axis=-1)
        with np.errstate(divide="ignore"):
            return powers / np.where(total == 0, 1, total)[..., None] @ V, np.log(total) + base

    def allowed_pairs(Q, K, key_mask, seen=None):
        i, j = np.arange(np.shape(Q)[-2])[:, None], np.arange(np.shape(K)[-2])
        allowed = np.ones((len(i), len(j)), dtype=bool) if seen is None else seen(i, j)
        mask = _key_mask(key_mask, np.asarray(K))
        return allowed if mask is None else allowed & mask[..., None, :]

    def in_window(Q, K, V, first, last):
        return exact(Q, K, V, allowed_pairs(Q, K, None, lambda i, j: (j - i >= first) & (j - i <= last)))[0]

    return in_window(Q, K, V, -max(left - 1, 0), right)


@mistake(
    criterion="sliding-window",
    replaces="sliding_window_attention",
    text="At the ends of the sequence, keys that do not exist took part with a score and a value of zero.",
    fix="Where there is no key the score is -inf, so that the weights of the keys that exist sum to 1.",
)
def missing_keys_count_as_zeros(Q, K, V, left, right=0):
    def exact(Q, K, V, allowed):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        base = _finite(scores.max(axis=-1, initial=-np.inf))
        powers = np.exp(scores - base[..., None])
        total = powers.sum(axis=-1)
        with np.errstate(divide="ignore"):
            return powers / np.where(total == 0, 1, total)[..., None] @ V, np.log(total) + base

    _check_sequences(Q, K, V)
    more = max(right + Q.shape[-2] - K.shape[-2], 0)
    around = [(0, 0)] * (K.ndim - 2) + [(left, more), (0, 0)]
    K, V = np.pad(K, around), np.pad(V, around)
    i, j = np.arange(Q.shape[-2])[:, None], np.arange(K.shape[-2])
    return exact(Q, K, V, (j >= i) & (j <= i + left + right))[0]


@mistake(
    criterion="sliding-window",
    replaces="sliding_window_attention",
    text="left and right changed places.",
    fix="Query i sees the keys i - left to i + right.",
)
def left_and_right_swapped(Q, K, V, left, right=0):
    def exact(Q, K, V, allowed):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        base = _finite(scores.max(axis=-1, initial=-np.inf))
        powers = np.exp(scores - base[..., None])
        total = powers.sum(axis=-1)
        with np.errstate(divide="ignore"):
            return powers / np.where(total == 0, 1, total)[..., None] @ V, np.log(total) + base

    def allowed_pairs(Q, K, key_mask, seen=None):
        i, j = np.arange(np.shape(Q)[-2])[:, None], np.arange(np.shape(K)[-2])
        allowed = np.ones((len(i), len(j)), dtype=bool) if seen is None else seen(i, j)
        mask = _key_mask(key_mask, np.asarray(K))
        return allowed if mask is None else allowed & mask[..., None, :]

    def in_window(Q, K, V, first, last):
        return exact(Q, K, V, allowed_pairs(Q, K, None, lambda i, j: (j - i >= first) & (j - i <= last)))[0]

    return in_window(Q, K, V, -right, left)


@mistake(
    criterion="sliding-window",
    replaces="sliding_window_attention",
    text="The window is causal whatever right says.",
    fix="Query i sees the keys up to i + right, its own and `right` more.",
)
def right_ignored(Q, K, V, left, right=0):
    def exact(Q, K, V, allowed):
        _check_sequences(Q, K, V)
        scores = np.where(allowed, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
        base = _finite(scores.max(axis=-1, initial=-np.inf))
        powers = np.exp(scores - base[..., None])
        total = powers.sum(axis=-1)
        with np.errstate(divide="ignore"):
            return powers / np.where(total == 0, 1, total)[..., None] @ V, np.log(total) + base

    def allowed_pairs(Q, K, key_mask, seen=None):
        i, j = np.arange(np.shape(Q)[-2])[:, None], np.arange(np.shape(K)[-2])
        allowed = np.ones((len(i), len(j)), dtype=bool) if seen is None else seen(i, j)
        mask = _key_mask(key_mask, np.asarray(K))
        return allowed if mask is None else allowed & mask[..., None, :]

    def in_window(Q, K, V, first, last):
        return exact(Q, K, V, allowed_pairs(Q, K, None, lambda i, j: (j - i >= first) & (j - i <= last)))[0]

    return in_window(Q, K, V, -left, 0)


@mistake(
    criterion="sliding-window",
    replaces="sliding_window_attention",
    text="The first or last key was used over and over where the window leaves the sequence.",
    fix="np.clip moves a position to the nearest key that exists. Give positions outside the score -inf instead.",
)
def end_keys_repeated(Q, K, V, left, right=0):
    _check_sequences(Q, K, V)
    places = np.arange(Q.shape[-2])[:, None] + np.arange(-left, right + 1)
    if not K.shape[-2]:
        return np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=_floating(Q, K, V))
    places = np.clip(places, 0, K.shape[-2] - 1)
    scores = np.einsum("...id,...iwd->...iw", Q, K[..., places, :]) / math.sqrt(Q.shape[-1])
    return np.einsum("...iw,...iwd->...id", _softmax(scores), V[..., places, :])


@mistake(
    criterion="sliding-window",
    replaces="sliding_window_attention",
    text="The window is one key too short on the right: right keys with the query's own among them.",
    fix="Query i sees the keys up to i + right, that one among them.",
)
def window_one_short_on_the_right(Q, K, V, left, right=0, correct=sliding_window_attention):
    return correct(Q, K, V, left, right - 1 if right > 0 else right)


@mistake(
    criterion="sliding-window",
    replaces="sliding_window_attention",
    text="The window is one key too long on the left.",
    fix="Query i sees the keys from i - left on: left of them and its own.",
)
def window_one_long(Q, K, V, left, right=0, correct=sliding_window_attention):
    return correct(Q, K, V, left if left < 0 else left + 1, right)


@mistake(
    criterion="sliding-window",
    replaces="sliding_window_attention",
    text="The scores were not divided by sqrt(d).",
    fix="Divide the products of queries and keys by sqrt(d).",
)
def window_scores_not_scaled(Q, K, V, left, right=0, correct=sliding_window_attention):
    correct(Q, K, V, left, right)
    return correct((Q * np.sqrt(Q.shape[-1])).astype(_floating(Q)), K, V, left, right)


@mistake(
    criterion="sliding-window",
    replaces="sliding_window_attention",
    text="Keys that do not exist got the score -1e9, which is more than a score of -1e10: they took all of the weight.",
    fix="Where there is no key the score is -np.inf, below every score.",
)
def missing_keys_get_a_finite_score(Q, K, V, left, right=0, correct=sliding_window_attention):
    correct(Q, K, V, left, right)
    i, j = np.arange(Q.shape[-2])[:, None], np.arange(K.shape[-2])
    near = (j >= i - left) & (j <= i + right)
    scores = np.where(near, Q @ _turned(K) / math.sqrt(Q.shape[-1]), -np.inf)
    missing = left + 1 + right - near.sum(axis=-1)
    base = np.maximum(scores.max(axis=-1, initial=-np.inf), np.where(missing > 0, -1e9, -np.inf)).astype(scores.dtype)
    powers = np.exp(scores - base[..., None])
    total = powers.sum(axis=-1) + missing * np.exp(-1e9 - base)
    return (powers / total[..., None] @ V).astype(scores.dtype)


@mistake(
    criterion="grouped-query",
    replaces="grouped_query_attention",
    text="The heads of keys and values were dealt out in turn, 0, 1, 0, 1: np.tile, or h % kv_heads.",
    fix="Neighbours share: 0, 0, 1, 1. np.repeat along the axis of the heads, or h // (query_heads / kv_heads).",
)
def heads_dealt_in_turn(Q, K, V, causal=False, mask=None, right=grouped_query_attention):
    heads, shared = np.shape(Q)[-3], np.shape(K)[-3]
    if shared == 0 or heads % shared:
        return right(Q, K, V, causal, mask)
    places = np.arange(heads) % shared
    return right(Q, np.asarray(K)[..., places, :, :], np.asarray(V)[..., places, :, :], causal, mask)


@mistake(
    criterion="grouped-query",
    replaces="grouped_query_attention",
    text="All heads of queries used the first head of keys and values.",
    fix="Head h of the queries uses head h // (query_heads / kv_heads) of K and V.",
)
def first_head_for_all(Q, K, V, causal=False, mask=None, right=grouped_query_attention):
    return right(Q, np.asarray(K)[..., :1, :, :], np.asarray(V)[..., :1, :, :], causal, mask)


@mistake(
    criterion="grouped-query",
    replaces="grouped_query_attention",
    text="The scores were not divided by sqrt(d).",
    fix="Divide by the square root of the number of features of a head.",
)
def shared_scores_not_scaled(Q, K, V, causal=False, mask=None, right=grouped_query_attention):
    return right(Q * math.sqrt(np.shape(Q)[-1]), K, V, causal, mask)


@mistake(
    criterion="grouped-query",
    replaces="grouped_query_attention",
    text="The scores were divided by sqrt(d / group): the features were counted as if the group had split them.",
    fix="Heads share keys, not features: d is the last axis of Q, as it is of K.",
)
def scaled_by_the_group(Q, K, V, causal=False, mask=None, right=grouped_query_attention):
    return right(Q * math.sqrt(np.shape(Q)[-3] / max(np.shape(K)[-3], 1)), K, V, causal, mask)


@mistake(
    criterion="grouped-query",
    replaces="grouped_query_attention",
    text="causal had no effect.",
    fix="With causal, query i sees the keys j <= i that the mask allows as well.",
)
def causal_without_effect(Q, K, V, causal=False, mask=None, right=grouped_query_attention):
    return right(Q, K, V, False, mask)


@mistake(
    criterion="grouped-query",
    replaces="grouped_query_attention",
    text="Where a mask was given, causal had no effect: the mask took its place.",
    fix="Combine the two: with causal, query i sees the keys j <= i that the mask allows as well.",
)
def mask_in_place_of_causal(Q, K, V, causal=False, mask=None, right=grouped_query_attention):
    return right(Q, K, V, causal and mask is None, mask)


@mistake(
    criterion="grouped-query",
    replaces="grouped_query_attention",
    text="Forbidden keys got the score -1e9. Where the allowed scores are lower still, forbidden keys have the weight.",
    fix="Put -np.inf where attending is forbidden, and take 0 for a maximum of -inf.",
)
def forbidden_scores_are_finite(Q, K, V, causal=False, mask=None, right=grouped_query_attention):
    right(Q, K, V, causal, mask)
    group = np.shape(Q)[-3] // np.shape(K)[-3]
    scores = Q @ _turned(np.repeat(K, group, axis=-3)) / math.sqrt(Q.shape[-1])
    allowed = np.broadcast_to(True if mask is None else np.asarray(mask) != 0, scores.shape)
    if causal:
        allowed = allowed & np.tri(*scores.shape[-2:], dtype=bool)
    weights = _softmax(np.where(allowed, scores, np.array(-1e9, dtype=scores.dtype)))
    return weights @ np.repeat(V, group, axis=-3)


@mistake(
    criterion="grouped-query",
    replaces="grouped_query_attention",
    text="A query that may attend to nothing got NaN.",
    fix="Take 0 for a maximum of -inf and 1 for a sum of 0: the output of such a query is 0.",
)
def masked_query_is_nan(Q, K, V, causal=False, mask=None, right=grouped_query_attention):
    output = right(Q, K, V, causal, mask)
    allowed = np.broadcast_to(True if mask is None else np.asarray(mask) != 0, (*np.shape(Q)[:-1], np.shape(K)[-2]))
    if causal:
        allowed = allowed & np.tri(*allowed.shape[-2:], dtype=bool)
    return np.where(allowed.any(axis=-1)[..., None], output, np.array(np.nan, dtype=output.dtype))


@mistake(
    criterion="grouped-query",
    replaces="grouped_query_attention",
    text="mask had no effect.",
    fix="Give the scores -inf where mask is False, and where causal forbids the key.",
)
def group_mask_ignored(Q, K, V, causal=False, mask=None, right=grouped_query_attention):
    right(Q, K, V, causal, mask)
    return right(Q, K, V, causal, None)


@mistake(
    criterion="rotary",
    replaces="rotary_embedding",
    text="The pairs were turned the other way round: the sine has the wrong sign.",
    fix="(a, b) becomes (a cos - b sin, a sin + b cos).",
)
def turned_backwards(x, positions=None, base=10000.0, interleaved=True, right=rotary_embedding):
    if not interleaved:
        return right(x, positions, base, interleaved)
    places = np.arange(np.shape(x)[-2]) if positions is None else np.asarray(positions)
    return right(x, -places, base, interleaved)


@mistake(
    criterion="rotary",
    replaces="rotary_embedding",
    text="The pairs are the two halves of the features: this is what interleaved=False asks for.",
    fix="By default the pairs are neighbours: features 0 and 1, 2 and 3, ... x[..., 0::2] and x[..., 1::2].",
)
def halves_by_default(x, positions=None, base=10000.0, interleaved=True, right=rotary_embedding):
    return right(x, positions, base, False)


@mistake(
    criterion="rotary",
    replaces="rotary_embedding",
    text="Integers were turned into integers: np.empty_like(x) has the dtype of x, which cuts off what stands in it.",
    fix="Make the result with a dtype for fractions, such as np.result_type(x, 1.0): float64 for integers, float32 for"
    " float32.",
)
def integers_stay_integers(x, positions=None, base=10000.0, interleaved=True, right=rotary_embedding):
    return right(x, positions, base, interleaved).astype(x.dtype)


@mistake(
    criterion="rotary",
    replaces="rotary_embedding",
    text="The angle of pair i is position * base^(-i/d): the exponent lacks its 2.",
    fix="There are d/2 pairs; the exponent is -2i/d, from 0 for the first to nearly -1 for the last.",
)
def exponent_without_the_two(x, positions=None, base=10000.0, interleaved=True):
    def rotated(x, angles, interleaved=True):
        half = x.shape[-1] // 2
        pairs = (slice(0, None, 2), slice(1, None, 2)) if interleaved else (slice(0, half), slice(half, None))
        first, second, turned = x[..., pairs[0]], x[..., pairs[1]], np.empty(x.shape, dtype=_floating(x))
        turned[..., pairs[0]] = first * np.cos(angles) - second * np.sin(angles)
        turned[..., pairs[1]] = first * np.sin(angles) + second * np.cos(angles)
        return turned

    def angles_of(x, positions, base, step=2.0):
        places = np.arange(x.shape[-2]) if positions is None else np.asarray(positions)
        half = x.shape[-1] // 2
        return np.broadcast_to(places, x.shape[:-1])[..., None] * base ** (-step * np.arange(half) / x.shape[-1])

    return rotated(x, angles_of(x, positions, base, step=1.0), interleaved)


@mistake(
    criterion="rotary",
    replaces="rotary_embedding",
    text="The positions start from 1.",
    fix="The first position is 0, and is not turned at all.",
)
def positions_from_one(x, positions=None, base=10000.0, interleaved=True, right=rotary_embedding):
    return right(x, np.arange(1, np.shape(x)[-2] + 1) if positions is None else positions, base, interleaved)


@mistake(
    criterion="rotary",
    replaces="rotary_embedding",
    text="positions had no effect: row p was always turned as position p.",
    fix="Use positions where it is given. It broadcasts to x.shape[:-1].",
)
def positions_ignored(x, positions=None, base=10000.0, interleaved=True, right=rotary_embedding):
    return right(x, None, base, interleaved)


@mistake(
    criterion="rotary",
    replaces="rotary_embedding",
    text="The second feature of each pair was computed from the first as it was after turning.",
    fix="Keep both old features until both new ones are computed; a slice of an array is no copy.",
)
def second_from_the_new_first(x, positions=None, base=10000.0, interleaved=True):
    def angles_of(x, positions, base, step=2.0):
        places = np.arange(x.shape[-2]) if positions is None else np.asarray(positions)
        half = x.shape[-1] // 2
        return np.broadcast_to(places, x.shape[:-1])[..., None] * base ** (-step * np.arange(half) / x.shape[-1])

    x = np.array(x, dtype=_floating(x))
    half, angles = x.shape[-1] // 2, angles_of(x, positions, base)
    pairs = (slice(0, None, 2), slice(1, None, 2)) if interleaved else (slice(0, half), slice(half, None))
    x[..., pairs[0]] = x[..., pairs[0]] * np.cos(angles) - x[..., pairs[1]] * np.sin(angles)
    x[..., pairs[1]] = x[..., pairs[0]] * np.sin(angles) + x[..., pairs[1]] * np.cos(angles)
    return x


@mistake(
    criterion="rotary",
    replaces="rotary_embedding",
    text="The angles grow along the features: the exponent lacks its minus.",
    fix="Pair i turns by position * base^(-2i/d): the first pair the fastest.",
)
def angles_grow_along_the_features(x, positions=None, base=10000.0, interleaved=True, right=rotary_embedding):
    return right(x, positions, 1 / base, interleaved)


@mistake(
    criterion="rotary",
    replaces="rotary_embedding",
    text="All pairs were turned by the angle of the first.",
    fix="Multiply the position by base^(-2i/d), another number for each pair.",
)
def one_angle_for_all_pairs(x, positions=None, base=10000.0, interleaved=True, right=rotary_embedding):
    return right(x, positions, 1.0, interleaved)


@mistake(
    criterion="rotary-halves",
    replaces="rotary_embedding",
    text="interleaved=False had no effect: neighbours were turned together.",
    fix="The pairs are then features i and i + d/2: x[..., :d // 2] and x[..., d // 2:].",
)
def interleaved_ignored(x, positions=None, base=10000.0, interleaved=True, right=rotary_embedding):
    return right(x, positions, base)


@mistake(
    criterion="rotary-halves",
    replaces="rotary_embedding",
    text="The halves were turned by the angles of interleaved pairs, each angle twice in a row: 0, 0, 1, 1.",
    fix="Features i and i + d/2 are a pair and have one angle: 0, 1, 0, 1. np.tile, or concatenate the angles twice.",
)
def angles_twice_in_a_row(x, positions=None, base=10000.0, interleaved=True, right=rotary_embedding):
    def angles_of(x, positions, base, step=2.0):
        places = np.arange(x.shape[-2]) if positions is None else np.asarray(positions)
        half = x.shape[-1] // 2
        return np.broadcast_to(places, x.shape[:-1])[..., None] * base ** (-step * np.arange(half) / x.shape[-1])

    if interleaved:
        return right(x, positions, base, interleaved)
    angles, half = np.repeat(angles_of(x, positions, base), 2, axis=-1), x.shape[-1] // 2
    swapped = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * np.cos(angles) + swapped * np.sin(angles)


@mistake(
    criterion="rotary-halves",
    replaces="rotary_embedding",
    text="The halves were turned the other way round.",
    fix="The second half enters the first with a minus: first * cos - second * sin.",
)
def halves_turned_backwards(x, positions=None, base=10000.0, interleaved=True, right=rotary_embedding):
    if interleaved:
        return right(x, positions, base, interleaved)
    places = np.arange(np.shape(x)[-2]) if positions is None else np.asarray(positions)
    return right(x, -places, base, interleaved)


@mistake(
    criterion="rotary-halves",
    replaces="rotary_embedding",
    text="The halves were turned rightly and then put together as neighbours, one from each half in turn.",
    fix="Put them back where they came from: np.concatenate([new_first, new_second], axis=-1).",
)
def halves_put_back_as_neighbours(x, positions=None, base=10000.0, interleaved=True, right=rotary_embedding):
    turned = right(x, positions, base, interleaved)
    if interleaved:
        return turned
    half = turned.shape[-1] // 2
    return np.stack([turned[..., :half], turned[..., half:]], axis=-1).reshape(turned.shape)


@mistake(
    criterion="alibi-slopes",
    replaces="alibi_slopes",
    text="The slopes begin with 1: the heads were counted from 0.",
    fix="h runs from 1 to the number of heads: the first slope is 2^(-8/n).",
)
def heads_from_zero(num_heads, right=alibi_slopes):
    given = right(num_heads)
    power = 1 << (int(num_heads).bit_length() - 1)
    return given * 2.0 ** (np.where(np.arange(len(given)) < power, 8, 4) / power)


@mistake(
    criterion="alibi-slopes",
    replaces="alibi_slopes",
    text="2^(-8h/n) was used for a number of heads that is no power of two.",
    fix="Take the slopes of the power of two below it first, then every other slope of twice that power.",
)
def formula_for_every_number(num_heads):
    heads = _positive(num_heads, "num_heads")
    return 2.0 ** (-8 * np.arange(1, heads + 1) / heads)


@mistake(
    criterion="alibi-slopes",
    replaces="alibi_slopes",
    text="The missing slopes are the first ones of twice the power of two, half of which are there already.",
    fix="Take every other one, the first, third, fifth: they lie between those that are there.",
)
def no_slope_skipped(num_heads, right=alibi_slopes):
    heads = _positive(num_heads, "num_heads")
    power = 1 << (heads.bit_length() - 1)
    return np.concatenate([right(power), right(2 * power)[: heads - power]])


@mistake(
    criterion="alibi-slopes",
    replaces="alibi_slopes",
    text="Every slope is half of the one before, whatever the number of heads.",
    fix="The exponents run from -8/n to -8: with more than eight heads the slopes lie closer together.",
)
def always_halved(num_heads):
    return 2.0 ** -np.arange(1.0, _positive(num_heads, "num_heads") + 1)


@mistake(
    criterion="alibi-slopes",
    replaces="alibi_slopes",
    text="The slopes are right and sorted: those of twice the power of two belong behind the others.",
    fix="Put the two parts one after the other, as the code of the paper does.",
)
def slopes_sorted(num_heads, right=alibi_slopes):
    return np.sort(right(num_heads))[::-1].copy()


@mistake(
    criterion="alibi-bias",
    replaces="alibi_bias",
    text="The bias grows with distance: far keys were preferred.",
    fix="Subtract: the bias is -slope * |i - j|, and 0 at the query's own position.",
)
def far_keys_preferred(num_heads, seq_length, causal=True, right=alibi_bias):
    given = right(num_heads, seq_length, causal)
    return np.where(np.isfinite(given), -given, given)


@mistake(
    criterion="alibi-bias",
    replaces="alibi_bias",
    text="Later keys got a bias above zero: -slope * (i - j) without the absolute value, or the -inf.",
    fix="Causal: -inf where j > i. Otherwise the distance is |i - j|.",
)
def later_keys_preferred(num_heads, seq_length, causal=True):
    positions = np.arange(_positive(seq_length, "seq_length"))
    return -alibi_slopes(num_heads)[:, None, None] * (positions[:, None] - positions)


@mistake(
    criterion="alibi-bias",
    replaces="alibi_bias",
    text="causal had no effect: later keys are as near as earlier ones.",
    fix="With causal, keys with j > i get -inf.",
)
def causal_bias_without_effect(num_heads, seq_length, causal=True, right=alibi_bias):
    return right(num_heads, seq_length, False)


@mistake(
    criterion="alibi-bias",
    replaces="alibi_bias",
    text="Later keys got a bias of 0, the best there is.",
    fix="They must not be attended to: -inf where j > i.",
)
def later_keys_get_zero(num_heads, seq_length, causal=True, right=alibi_bias):
    given = right(num_heads, seq_length, causal)
    return np.where(np.isfinite(given), given, 0.0)


@mistake(
    criterion="alibi-bias",
    replaces="alibi_bias",
    text="The bias is slope * j, which depends on the key alone. The softmax makes the same weights of it, since it"
    " differs from the contract by one number a row.",
    fix="Subtract slope * i as well: -slope * (i - j), which is 0 on the diagonal and bounded by the distance.",
)
def bias_of_the_key_alone(num_heads, seq_length, causal=True, right=alibi_bias):
    given = right(num_heads, seq_length, causal)
    return given + alibi_slopes(num_heads)[:, None, None] * np.arange(seq_length)[:, None]


@mistake(
    criterion="rms-norm",
    replaces="rms_norm",
    text="The mean was subtracted first: this is layer norm without its shift.",
    fix="RMS norm leaves the mean: x / sqrt(mean(x^2) + eps).",
)
def mean_subtracted(x, gamma, eps=1e-6, right=rms_norm):
    return right(x - x.mean(axis=-1, keepdims=True), gamma, eps)


@mistake(
    criterion="rms-norm",
    replaces="rms_norm",
    text="The squares were added up and not averaged: every vector has length 1, where sqrt(d) is expected.",
    fix="Divide by the root of the mean of the squares.",
)
def divided_by_the_length(x, gamma, eps=1e-6):
    _check_gamma(x, gamma)
    return gamma * x / np.sqrt((x**2).sum(axis=-1, keepdims=True) + eps)


@mistake(
    criterion="rms-norm",
    replaces="rms_norm",
    text="gamma had no effect.",
    fix="Multiply the normalised vector by gamma, feature by feature.",
)
def gamma_forgotten(x, gamma, eps=1e-6, right=rms_norm):
    return right(x, np.ones_like(np.asarray(gamma)), eps)


@mistake(
    criterion="rms-norm",
    replaces="rms_norm",
    text="The root is missing: x was divided by the mean of its squares.",
    fix="Divide by the square root of mean(x^2) + eps.",
)
def root_forgotten(x, gamma, eps=1e-6):
    _check_gamma(x, gamma)
    return gamma * x / ((x**2).mean(axis=-1, keepdims=True) + eps)


@mistake(
    criterion="rms-norm",
    replaces="rms_norm",
    text="One root was taken over all vectors together.",
    fix="Each vector is measured by itself: mean(axis=-1, keepdims=True).",
)
def one_root_for_all(x, gamma, eps=1e-6):
    _check_gamma(x, gamma)
    return gamma * x / np.sqrt((x**2).mean() + eps)


@mistake(
    criterion="rms-norm",
    replaces="rms_norm",
    text="eps was not added: a vector of zeros was divided by 0.",
    fix="Add eps to the mean of the squares under the root.",
)
def eps_left_out(x, gamma, eps=1e-6):
    _check_gamma(x, gamma)
    with np.errstate(invalid="ignore", divide="ignore"):
        return gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True))


@mistake(
    criterion="rms-norm",
    replaces="rms_norm",
    text="gamma was added, where it multiplies.",
    fix="Multiply the normalised features by gamma: there is no shift.",
)
def gamma_added(x, gamma, eps=1e-6):
    _check_gamma(x, gamma)
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + gamma


@mistake(
    criterion="rms-norm-gradients",
    replaces="rms_norm_backward",
    text="The root was treated as a constant: it depends on every feature, too.",
    fix="grad_x = (g - z * mean(g * z)) / root, with z = x / root and g = gamma * grad_output.",
)
def root_held_constant(grad_output, x, gamma, eps=1e-6, right=rms_norm_backward):
    _, grad_gamma = right(grad_output, x, gamma, eps)
    root = np.sqrt((np.asarray(x) ** 2).mean(axis=-1, keepdims=True) + eps)
    return gamma * grad_output / root, grad_gamma


@mistake(
    criterion="rms-norm-gradients",
    replaces="rms_norm_backward",
    text="The mean was taken of grad_output * z: gamma is missing in it.",
    fix="Multiply grad_output by gamma first, and use that product in both places.",
)
def gamma_missing_in_the_mean(grad_output, x, gamma, eps=1e-6, right=rms_norm_backward):
    _, grad_gamma = right(grad_output, x, gamma, eps)
    root = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    z = x / root
    return (gamma * grad_output - z * (grad_output * z).mean(axis=-1, keepdims=True)) / root, grad_gamma


@mistake(
    criterion="rms-norm-gradients",
    replaces="rms_norm_backward",
    text="The mean of the gradient was subtracted as well, as in layer norm.",
    fix="RMS norm subtracts no mean, so there is none to subtract on the way back: g - z * mean(g * z).",
)
def mean_of_layer_norm_subtracted(grad_output, x, gamma, eps=1e-6, right=rms_norm_backward):
    grad_x, grad_gamma = right(grad_output, x, gamma, eps)
    root = np.sqrt((np.asarray(x) ** 2).mean(axis=-1, keepdims=True) + eps)
    return grad_x - (gamma * grad_output).mean(axis=-1, keepdims=True) / root, grad_gamma


@mistake(
    criterion="rms-norm-gradients",
    replaces="rms_norm_backward",
    text="grad_gamma is the gradient of the output times x, which is not normalised.",
    fix="gamma multiplies z = x / root: grad_gamma sums grad_output * z.",
)
def gamma_gets_plain_x(grad_output, x, gamma, eps=1e-6, right=rms_norm_backward):
    grad_x, _ = right(grad_output, x, gamma, eps)
    return grad_x, (grad_output * x).reshape(-1, x.shape[-1]).sum(axis=0)


@mistake(
    criterion="rms-norm-gradients",
    replaces="rms_norm_backward",
    text="grad_x is that of the normalised features: gamma is missing in it.",
    fix="Begin with g = gamma * grad_output, and use g in both terms of grad_x.",
)
def gamma_left_out_of_grad_x(grad_output, x, gamma, eps=1e-6, right=rms_norm_backward):
    _, grad_gamma = right(grad_output, x, gamma, eps)
    return right(grad_output, x, np.ones_like(gamma), eps)[0], grad_gamma


@mistake(
    criterion="rms-norm-gradients",
    replaces="rms_norm_backward",
    text="The sum of g * z was taken over the features, where its mean is needed.",
    fix="grad_x = (g - z * mean(g * z)) / root: the root holds a mean of squares, not a sum.",
)
def sum_in_place_of_the_mean(grad_output, x, gamma, eps=1e-6, right=rms_norm_backward):
    _, grad_gamma = right(grad_output, x, gamma, eps)
    root = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    z, g = x / root, gamma * grad_output
    return (g - z * (g * z).sum(axis=-1, keepdims=True)) / root, grad_gamma


@mistake(
    criterion="rms-norm-gradients",
    replaces="rms_norm_backward",
    text="grad_x was not divided by the root.",
    fix="Divide both terms by the root: grad_x = (g - z * mean(g * z)) / root.",
)
def root_left_out_of_grad_x(grad_output, x, gamma, eps=1e-6, right=rms_norm_backward):
    grad_x, grad_gamma = right(grad_output, x, gamma, eps)
    return grad_x * np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps), grad_gamma


@mistake(
    criterion="rms-norm-gradients",
    replaces="rms_norm_backward",
    text="grad_gamma is a mean over the vectors.",
    fix="Sum grad_output * z over all vectors: each uses the same gamma.",
)
def gamma_gradient_averaged(grad_output, x, gamma, eps=1e-6, right=rms_norm_backward):
    grad_x, grad_gamma = right(grad_output, x, gamma, eps)
    return grad_x, (grad_gamma / max(math.prod(x.shape[:-1]), 1)).astype(grad_gamma.dtype)


@mistake(
    criterion="linear-attention",
    replaces="linear_attention",
    text="The outputs were not divided by phi(q) . sum of phi(k): the weights of a query do not sum to 1.",
    fix="Divide each query's output by the product of phi(q) with the sum of all phi(k).",
)
def not_normalised(Q, K, V, causal=False, right=linear_attention):
    given = right(Q, K, V, causal)
    queries, keys = _elu_plus_one(np.asarray(Q)), _elu_plus_one(np.asarray(K))
    sums = np.cumsum(keys, axis=-2) if causal else keys.sum(axis=-2, keepdims=True)
    return given * (queries * sums).sum(axis=-1, keepdims=True)


@mistake(
    criterion="linear-attention",
    replaces="linear_attention",
    text="phi is elu without the + 1: features below zero are negative, and so are some weights.",
    fix="phi(x) = elu(x) + 1: x + 1 above zero, exp(x) below.",
)
def elu_without_the_one(Q, K, V, causal=False):
    def with_features(Q, K, V, causal, phi):
        _check_sequences(Q, K, V)
        products = phi(Q) @ _turned(phi(K))
        if causal:
            products = np.tril(products)
        return _divided(products @ V, products.sum(axis=-1))

    return with_features(Q, K, V, causal, lambda x: _elu_plus_one(x) - 1)


@mistake(
    criterion="linear-attention",
    replaces="linear_attention",
    text="phi is relu(x) + 1: features below zero all became 1.",
    fix="phi(x) = elu(x) + 1: x + 1 above zero, exp(x) below.",
)
def relu_plus_one(Q, K, V, causal=False):
    def with_features(Q, K, V, causal, phi):
        _check_sequences(Q, K, V)
        products = phi(Q) @ _turned(phi(K))
        if causal:
            products = np.tril(products)
        return _divided(products @ V, products.sum(axis=-1))

    return with_features(Q, K, V, causal, lambda x: np.maximum(x, 0) + 1)


@mistake(
    criterion="linear-attention",
    replaces="linear_attention",
    text="The queries were divided by sqrt(d) before phi.",
    fix="There are no scores here, and nothing to scale: phi takes queries and keys as they are.",
)
def scaled_before_phi(Q, K, V, causal=False, right=linear_attention):
    return right(np.asarray(Q) / math.sqrt(np.shape(Q)[-1]), K, V, causal)


@mistake(
    criterion="linear-attention",
    replaces="linear_attention",
    text="phi was taken of the keys only: the queries came as they are.",
    fix="Both go through phi: phi(Q) meets phi(K).",
)
def phi_of_the_keys_only(Q, K, V, causal=False):
    _check_sequences(Q, K, V)
    products = Q @ _turned(_elu_plus_one(K))
    if causal:
        products = np.tril(products)
    return _divided(products @ V, products.sum(axis=-1))


@mistake(
    criterion="linear-attention",
    replaces="linear_attention",
    text="Where phi(q) . sum of phi(k) came out as 0, the output is 0/0, NaN: without a key, or where exp(-800) is 0.",
    fix="Where the divisor is 0 the output is 0: divide by np.where(divisor == 0, 1, divisor).",
)
def nothing_divided_by_nothing(Q, K, V, causal=False, right=linear_attention):
    given = right(Q, K, V, causal)
    queries, keys = _elu_plus_one(Q), _elu_plus_one(K)
    sums = np.cumsum(keys, axis=-2) if causal else keys.sum(axis=-2, keepdims=True)
    lost = (queries * sums).sum(axis=-1) == 0
    return np.where(lost[..., None], np.array(np.nan, dtype=given.dtype), given)


@mistake(
    criterion="linear-attention",
    replaces="linear_attention",
    text="The outputs were divided by the number of keys, not by phi(q) . sum of phi(k).",
    fix="Divide each query's output by the sum of its own weights, phi(q) . phi(k).",
)
def divided_by_the_number_of_keys(Q, K, V, causal=False, right=linear_attention):
    right(Q, K, V, causal)
    products = _elu_plus_one(Q) @ _turned(_elu_plus_one(K))
    if causal:
        products = np.tril(products)
    return products @ V / max(K.shape[-2], 1)


@mistake(
    criterion="linear-attention-causal",
    replaces="linear_attention",
    text="causal had no effect: every query saw all keys.",
    fix="With causal the sums run over j <= i: add key after key to a state, and let query i read it after key i.",
)
def later_keys_seen(Q, K, V, causal=False, right=linear_attention):
    return right(Q, K, V)


@mistake(
    criterion="linear-attention-causal",
    replaces="linear_attention",
    text="The weighted sums end at the query, but the divisor sums all keys.",
    fix="The normalizer is a running sum as well: sum of phi(k_j) over j <= i.",
)
def divisor_of_all_keys(Q, K, V, causal=False, right=linear_attention):
    given = right(Q, K, V, causal)
    if not causal:
        return given
    queries, keys = _elu_plus_one(np.asarray(Q)), _elu_plus_one(np.asarray(K))
    seen = (queries * np.cumsum(keys, axis=-2)).sum(axis=-1, keepdims=True)
    return _divided(given * seen, (queries * keys.sum(axis=-2, keepdims=True)).sum(axis=-1))


@mistake(
    criterion="linear-attention-causal",
    replaces="linear_attention",
    text="The query read the state before its own key was added; the first query found nothing.",
    fix="Add phi(k_i) v_i^T and phi(k_i) first, then let query i read.",
)
def own_key_comes_too_late(Q, K, V, causal=False, right=linear_attention):
    given = right(Q, K, V, causal)
    if not causal:
        return given
    _check_sequences(Q, K, V)
    products = np.tril(_elu_plus_one(Q) @ _turned(_elu_plus_one(K)), -1)
    return _divided(products @ V, products.sum(axis=-1))


@mistake(
    criterion="linear-attention-causal",
    replaces="linear_attention",
    text="The state was replaced by each key instead of added to: every query sees its own key only.",
    fix="state = state + phi(k_i) v_i^T, and the normalizer likewise.",
)
def state_replaced(Q, K, V, causal=False, right=linear_attention):
    given = right(Q, K, V, causal)
    return V.astype(given.dtype) if causal else given


@mistake(
    criterion="linear-attention-causal",
    replaces="linear_attention",
    text="The divisor of a query is phi(q) . phi(k) of its own key alone: the sum of the keys was not carried along.",
    fix="Add each key to the normaliser, as its product with the value is added to the state.",
)
def divisor_of_the_own_key(Q, K, V, causal=False, right=linear_attention):
    given = right(Q, K, V, causal)
    if not causal:
        return given
    queries, keys = _elu_plus_one(np.asarray(Q)), _elu_plus_one(np.asarray(K))
    seen = (queries * np.cumsum(keys, axis=-2)).sum(axis=-1, keepdims=True)
    return _divided(given * seen, (queries * keys).sum(axis=-1))


@mistake(
    criterion="rms-norm",
    replaces="rms_norm",
    text="The result was put into an array of the dtype of x: of integers, every fraction is cut off.",
    fix="np.empty_like(x) holds integers where x does: calculate with whole arrays, or give it a dtype of floats.",
)
def normalised_in_the_dtype_of_x(x, gamma, eps=1e-6, right=rms_norm):
    return right(x, gamma, eps).astype(x.dtype)


@mistake(
    criterion="rms-norm-gradients",
    replaces="rms_norm_backward",
    text="The gradients were put into arrays of the dtypes of x and gamma: of integers, every fraction is cut off.",
    fix="np.zeros_like(x) holds integers where x does: calculate with whole arrays, or give it a dtype of floats.",
)
def gradients_in_the_dtype_of_x(grad_output, x, gamma, eps=1e-6, right=rms_norm_backward):
    grad_x, grad_gamma = right(grad_output, x, gamma, eps)
    return grad_x.astype(x.dtype), grad_gamma.astype(gamma.dtype)
