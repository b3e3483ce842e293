"""What the functions of this stage should return, worked out with loops over batch, head, query, key and unit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Params = dict[str, Array]

PROJECTIONS = ("W_Q", "W_K", "W_V", "W_O")
BLOCK_PARAMETERS = ("gamma1", "beta1", "W1", "b1", "W2", "b2", "gamma2", "beta2")
KINK_MARGIN = 5e-3  # how far every ReLU input of a gradient test stays from 0; central differences step by 1e-6
SPREAD = 2.0  # least standard deviation of a row that a block normalises, so that the place of eps hardly matters
STRETCH = 8.0  # size of what flows through a block, for the same reason


def dot_products(Q: Array, K: Array, divisor: float = 1.0) -> Array:
    """Return the dot product of every query with every key over divisor; leading axes broadcast."""
    lead = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
    queries, keys = np.broadcast_to(Q, (*lead, *Q.shape[-2:])), np.broadcast_to(K, (*lead, *K.shape[-2:]))
    table = np.empty((*lead, Q.shape[-2], K.shape[-2]))
    for *batch, i, j in np.ndindex(table.shape):
        pairs = zip(queries[(*batch, i)].tolist(), keys[(*batch, j)].tolist(), strict=True)
        table[(*batch, i, j)] = math.fsum(a * b for a, b in pairs) / divisor
    return table


def additive_scores(Q: Array, K: Array, W_q: Array, W_k: Array, v: Array) -> Array:
    """Return v . tanh(q W_q + k W_k) of every pair, one hidden unit after the other."""
    lead = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
    queries, keys = np.broadcast_to(Q, (*lead, *Q.shape[-2:])), np.broadcast_to(K, (*lead, *K.shape[-2:]))
    table = np.zeros((*lead, Q.shape[-2], K.shape[-2]))
    for *batch, i, j in np.ndindex(table.shape):
        query, key = queries[(*batch, i)], keys[(*batch, j)]
        for unit, strength in enumerate(v.tolist()):
            inside = math.fsum((query * W_q[:, unit]).tolist()) + math.fsum((key * W_k[:, unit]).tolist())
            table[(*batch, i, j)] += strength * math.tanh(inside)
    return table


def softmax(scores: Array, axis: int = -1) -> Array:
    """Return the softmax along axis, zeros where every score along it is -inf."""
    rows = np.moveaxis(np.asarray(scores, dtype=np.float64), axis, -1)
    result = np.zeros(rows.shape)
    for index in np.ndindex(rows.shape[:-1]):
        row = rows[index].tolist()
        if max(row) > -math.inf:
            powers = [math.exp(score - max(row)) for score in row]
            result[index] = [power / math.fsum(powers) for power in powers]
    return np.moveaxis(result, -1, axis)


def attend(scores: Array, V: Array, mask: Array | None = None) -> tuple[Array, Array]:
    """Return (output, weights): each query's softmax over its allowed keys alone, and that average of their values."""
    allowed = np.broadcast_to(np.asarray(True if mask is None else mask), scores.shape)
    values = np.broadcast_to(V, (*scores.shape[:-2], *V.shape[-2:]))
    output, weights = np.zeros((*scores.shape[:-1], V.shape[-1])), np.zeros(scores.shape)
    for *batch, i in np.ndindex(scores.shape[:-1]):
        keys = [j for j in range(scores.shape[-1]) if allowed[(*batch, i, j)] == 1]
        if keys:
            weights[(*batch, i, keys)] = softmax(scores[(*batch, i, keys)])
        for j in keys:
            output[(*batch, i)] += weights[(*batch, i, j)] * values[(*batch, j)]
    return output, weights


def split(x: Array, num_heads: int) -> Array:
    """Return (batch, heads, seq, d_k) from (batch, seq, d_model), feature by feature."""
    batch, seq, d_model = x.shape
    size = d_model // num_heads
    result = np.empty((batch, num_heads, seq, size), dtype=x.dtype)
    for b, t, feature in np.ndindex(x.shape):
        result[b, feature // size, t, feature % size] = x[b, t, feature]
    return result


def multi_head(
    Q: Array, K: Array, V: Array, weights: Mapping[str, Array], num_heads: int, mask: Array | None = None
) -> Array:
    """Return the sum over the heads of Attention(Q W_Q^h, K W_K^h, V W_V^h) W_O^h; for scores of moderate size."""
    size = Q.shape[-1] // num_heads
    allowed = head_mask(mask, (Q.shape[-3], num_heads, Q.shape[-2], K.shape[-2]))
    output = 0.0
    for head in range(num_heads):
        part = slice(head * size, (head + 1) * size)
        queries, keys, values = (
            x @ weights[name][..., part] for x, name in zip((Q, K, V), PROJECTIONS[:3], strict=True)
        )
        powers = np.exp(np.einsum("...id,...jd->...ij", queries, keys) / math.sqrt(size)) * allowed[:, head]
        totals = powers.sum(axis=-1, keepdims=True)
        totals[totals == 0] = 1  # a query without keys keeps weights of zero
        output = output + powers / totals @ values @ weights["W_O"][..., part, :]
    return np.asarray(output)


def head_mask(mask: Array | None, shape: tuple[int, int, int, int]) -> Array:
    """Return the mask as 0 or 1 for every batch, head, query and key; three axes are batch, query and key."""
    flags = np.asarray(1 if mask is None else mask).astype(int)
    return np.broadcast_to(flags[:, None] if flags.ndim == 3 else flags, shape)


def layer_norm(x: Array, gamma: Array, beta: Array, eps: float = 1e-6, *, eps_outside: bool = False) -> Array:
    """Return the normalised rows; eps is added to the variance, or to the standard deviation if eps_outside."""
    features = range(x.shape[-1])
    mean = sum(x[..., j] for j in features) / len(features)
    variance = sum((x[..., j] - mean) ** 2 for j in features) / len(features)
    divisor = variance**0.5 + eps if eps_outside else (variance + eps) ** 0.5
    return np.stack([gamma[..., j] * (x[..., j] - mean) / divisor + beta[..., j] for j in features], axis=-1)


def feed_forward(x: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Array:
    """Return b2 plus the contribution of every hidden unit that is above zero."""
    rows = x[None] if x.ndim == 1 else x
    result = b2
    for unit in range(b1.shape[-1]):
        this = slice(unit, unit + 1)
        height = rows @ W1[..., this] + b1[..., this]
        result = result + np.where(height > 0, height, 0.0) * W2[..., this, :]
    return result[0] if x.ndim == 1 else result


def block(x: Array, p: Mapping[str, Array], num_heads: int, mask: Array | None = None) -> Array:
    """Return a post-LN encoder block's output, p holding the four projections and BLOCK_PARAMETERS."""
    h = layer_norm(x + multi_head(x, x, x, p, num_heads, mask), p["gamma1"], p["beta1"])
    return layer_norm(h + feed_forward(h, p["W1"], p["b1"], p["W2"], p["b2"]), p["gamma2"], p["beta2"])


def is_smooth(x: Array, p: Mapping[str, Array], num_heads: int, mask: Array | None = None) -> bool:
    """Return whether the block keeps KINK_MARGIN from every kink and SPREAD in every row that it normalises."""
    first = x + multi_head(x, x, x, p, num_heads, mask)
    h = layer_norm(first, p["gamma1"], p["beta1"])
    second = h + feed_forward(h, p["W1"], p["b1"], p["W2"], p["b2"])
    away = np.abs(h @ p["W1"] + p["b1"]).min() > KINK_MARGIN
    return bool(away and min(first.std(axis=-1).min(), second.std(axis=-1).min()) > SPREAD)


def draw_sizes(rng: np.random.Generator, count: int, least: int = 2) -> list[int]:
    """Return that many different sizes, so that no two axes of a shape can be confused."""
    return [int(size) for size in rng.choice(np.arange(least, least + 6), size=count, replace=False)]


def draw_mask(rng: np.random.Generator, shape: tuple[int, ...], *, empty_row: bool = False) -> Array:
    """Return a boolean mask with an allowed and a masked key in every row; with empty_row, one row allows none."""
    mask = rng.random(shape) < 0.5
    for row in np.ndindex(shape[:-1]):
        allowed, masked = rng.choice(shape[-1], size=2, replace=False)
        mask[(*row, allowed)], mask[(*row, masked)] = True, False
    if empty_row:
        mask[tuple(rng.integers(size) for size in shape[:-1])] = False
    return mask


def draw_projections(rng: np.random.Generator, d_model: int) -> Params:
    """Return four different projections that keep the size of their input."""
    return {name: rng.normal(size=(d_model, d_model)) / math.sqrt(d_model) for name in PROJECTIONS}


def draw_rows(rng: np.random.Generator, shape: tuple[int, ...], size: float = 1.0) -> Array:
    """Return rows along the last axis of size times a mean within 2 of 0 and a standard deviation of 0.7 to 2."""
    x = rng.normal(size=shape)
    x = (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)
    x = x * rng.uniform(0.7, 2, size=(*shape[:-1], 1)) + rng.uniform(-2, 2, size=(*shape[:-1], 1))
    return np.asarray(size * x)


def draw_scale(rng: np.random.Generator, d_model: int) -> Array:
    """Return a gamma of both signs, nowhere near 0 or 1 in size."""
    return np.asarray(rng.uniform(1.2, 2, size=d_model) * rng.choice([-1.0, 1.0], size=d_model))


def draw_network(rng: np.random.Generator, x: Array, d_ff: int) -> tuple[Array, Array, Array, Array]:
    """Return W1, b1, W2, b2 with every ReLU input for x at least KINK_MARGIN from 0."""
    d_model = x.shape[-1]
    while True:
        W1, W2 = (rng.normal(size=size) / math.sqrt(size[0]) for size in ((d_model, d_ff), (d_ff, d_model)))
        b1, b2 = np.asarray(rng.normal(size=d_ff)), np.asarray(rng.normal(size=d_model))
        if np.abs(x @ W1 + b1).min() > KINK_MARGIN:
            return W1, b1, W2, b2


def wrong_networks(rng: np.random.Generator, shape: tuple[int, ...], d_ff: int) -> list[list[Array]]:
    """Return x, W1, b1, W2, b2 for an x of that shape, each time with one array of a shape that does not fit."""
    d_model = shape[-1]
    fitting = [shape, (d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,)]
    wrong = [(0, ()), (0, (*shape[:-1], 1)), (1, (d_model, 1)), (1, (d_ff, d_model)), (2, (1,)), (2, ())]
    wrong += [(3, (d_ff, 1)), (3, (d_model, d_ff)), (4, (1,)), (4, (d_ff,))]
    shapes = [[*fitting[:place], bad, *fitting[place + 1 :]] for place, bad in wrong]
    return [[np.asarray(rng.normal(size=size)) for size in each] for each in shapes]


def draw_block(rng: np.random.Generator, x: Array, num_heads: int, d_ff: int, mask: Array | None = None) -> Params:
    """Return all parameters of a block, drawn until it is smooth at x (see is_smooth), whose size should be STRETCH."""
    d_model = x.shape[2]
    while True:
        p, network = draw_projections(rng, d_model), draw_network(rng, x, d_ff)
        gammas = [STRETCH * draw_scale(rng, d_model) for _ in range(2)]
        betas = STRETCH * np.asarray(rng.normal(size=(2, d_model)))
        values = (gammas[0], betas[0], *network, gammas[1], betas[1])
        p.update(zip(BLOCK_PARAMETERS, values, strict=True))
        for name in ("W_Q", "W_K"):
            p[name] /= STRETCH  # scores of about 1 from inputs of about STRETCH
        if is_smooth(x, p, num_heads, mask):
            return p


def load_block(block: Any, p: Params) -> None:
    """Give a learner's block the parameters p."""
    block.attention.set_params({name: p[name] for name in PROJECTIONS})
    for name in BLOCK_PARAMETERS:
        setattr(block, name, p[name].copy())
