"""What the layers of this stage should return, worked out part by part and head by head.

Everything here takes arrays with one more leading axis too, so that numerical_gradients can make all its steps at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grader.testing import assert_array

Array = npt.NDArray[Any]
Params = dict[str, Array]

PARTS = ("norm1", "attention", "norm2", "mlp")
DECODABLE = 30.0  # GELU of it is itself, in every form and to the last digit


class Variant(NamedTuple):
    """One of the conventions that are accepted: GELU by tanh or erf, eps added outside or inside the root."""

    tanh: bool = False
    eps_outside: bool = False


VARIANTS = [Variant(*flags) for flags in itertools.product((False, True), repeat=2)]
EXACT = VARIANTS[0]
MET = 1e-10  # how near an output meets a convention, so that no other is worked out


def gelu(x: Array, tanh: bool = False) -> Array:
    """Return x times the normal distribution's mass below x, by erfc, or its approximation by tanh."""
    if tanh:
        return np.asarray(x * 0.5 * (1 + np.tanh(0.7978845608028654 * x * (1 + 0.044715 * x * x))))
    mass = [math.erfc(-value / 1.4142135623730951) / 2 for value in x.ravel().tolist()]
    return np.asarray(x * np.reshape(mass, x.shape))


def attend(q: Array, k: Array, v: Array, allowed: Array | int) -> tuple[Array, Array]:
    """Return (output, weights) of one head; q, k, v (..., batch, seq, size), allowed 0 or 1 for each query and key."""
    scores = np.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5
    peak = np.where(allowed, scores, scores.min()).max(axis=-1)[..., None]
    powers = np.exp(np.minimum(scores - peak, 0)) * allowed
    totals = powers.sum(axis=-1)[..., None]
    weights = np.divide(powers, totals, out=np.zeros_like(powers), where=totals > 0)
    return np.einsum("...ij,...jd->...id", weights, v), weights


def self_attention(x: Array, p: Mapping[str, Array], mask: Array | None = None) -> tuple[Array, Array]:
    """Return (output, weights) of SelfAttention."""
    q, k, v = (x @ p[f"{part}_weights"] + p[f"{part}_bias"] for part in ("query", "key", "value"))
    return attend(q, k, v, 1 if mask is None else np.asarray(mask).astype(int))


def multihead(x: Array, p: Mapping[str, Array], num_heads: int, mask: Array | None = None) -> tuple[Array, Array]:
    """Return (output, weights) of MultiheadSelfAttention: b plus what each head adds through its rows of W."""
    dim, seq = x.shape[-1], x.shape[-2]
    size = dim // num_heads
    allowed = np.broadcast_to(np.asarray(1 if mask is None else mask).astype(int), (x.shape[-3], num_heads, seq, seq))
    output, tables = p["output_bias"], []
    for head in range(num_heads):
        columns = [[part * dim + head * size + feature for feature in range(size)] for part in range(3)]
        q, k, v = (x @ p["qkv_weights"][..., chosen] + p["qkv_bias"][..., chosen] for chosen in columns)
        result, table = attend(q, k, v, allowed[:, head])
        output = output + result @ p["output_weights"][..., columns[0], :]
        tables.append(table)
    return output, np.stack(tables, axis=-3)


def layer_norm(x: Array, p: Mapping[str, Array], variant: Variant = EXACT, eps: float = 1e-5) -> Array:
    """Return the normalised vectors, feature by feature."""
    features = range(x.shape[-1])
    mean = sum(x[..., j] for j in features) / len(features)
    variance = sum((x[..., j] - mean) ** 2 for j in features) / len(features)
    divisor = variance**0.5 + eps if variant.eps_outside else (variance + eps) ** 0.5
    return np.stack([p["gamma"][..., j] * (x[..., j] - mean) / divisor + p["beta"][..., j] for j in features], axis=-1)


def mlp(x: Array, p: Mapping[str, Array], variant: Variant = EXACT, kept: Any = (1, 1)) -> Array:
    """Return the MLP's output; kept holds what dropout multiplies the hidden numbers by, and the output."""
    hidden = gelu(x @ p["W1"] + p["b1"], variant.tanh) * kept[0]
    return np.asarray((hidden @ p["W2"] + p["b2"]) * kept[1])


def block(
    x: Array,
    p: Mapping[str, Array],
    num_heads: int,
    mask: Array | None = None,
    variant: Variant = EXACT,
    kept: Any = (1, 1),
) -> Array:
    """Return a pre-LN block's output, p by dotted names."""
    normed = layer_norm(x, below(p, "norm1"), variant)
    middle = x + multihead(normed, below(p, "attention"), num_heads, mask)[0]
    return middle + mlp(layer_norm(middle, below(p, "norm2"), variant), below(p, "mlp"), variant, kept)


def post_norm_block(
    x: Array,
    p: Mapping[str, Array],
    num_heads: int,
    mask: Array | None = None,
    variant: Variant = EXACT,
    kept: Any = (1, 1),
) -> Array:
    """Return a post-LN block's output, p by dotted names."""
    middle = layer_norm(x + multihead(x, below(p, "attention"), num_heads, mask)[0], below(p, "norm1"), variant)
    return layer_norm(middle + mlp(middle, below(p, "mlp"), variant, kept), below(p, "norm2"), variant)


def encoder(
    x: Array,
    p: Mapping[str, Array],
    num_heads: int,
    mask: Array | None = None,
    variant: Variant = EXACT,
    kept: Any = None,
) -> Array:
    """Return an encoder's output, p by dotted names; kept holds a pair for each block."""
    depth = len({name.split(".")[1] for name in p if name.startswith("blocks.")})
    for number in range(depth):
        x = block(x, below(p, f"blocks.{number}"), num_heads, mask, variant, kept[number] if kept else (1, 1))
    return layer_norm(x, below(p, "norm"), variant)


def below(p: Mapping[str, Array], name: str) -> Params:
    """Return the parameters of one part, by the names that they have there."""
    return {key[len(name) + 1 :]: value for key, value in p.items() if key.startswith(f"{name}.")}


def draw_sizes(rng: np.random.Generator, count: int, least: int = 2) -> list[int]:
    """Return that many different sizes, so that no two axes of a shape can be confused."""
    return [int(size) for size in rng.choice(np.arange(least, least + count + 2), size=count, replace=False)]


def draw_mask(rng: np.random.Generator, shape: tuple[int, ...], *, empty_row: bool = False) -> Array:
    """Return a boolean mask with an allowed and a masked key in every row; with empty_row, one row allows none."""
    mask = rng.random(shape) < 0.5
    for row in np.ndindex(shape[:-1]):
        allowed, masked = rng.choice(shape[-1], size=2, replace=False)
        mask[(*row, allowed)], mask[(*row, masked)] = True, False
    if empty_row:
        mask[tuple(rng.integers(size) for size in shape[:-1])] = False
    return mask


def draw_rows(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return vectors along the last axis with a mean within 2 of 0 and a standard deviation of 0.7 to 2."""
    x = rng.normal(size=shape)
    x = (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)
    spread, shift = rng.uniform(0.7, 2, size=(*shape[:-1], 1)), rng.uniform(-2, 2, size=(*shape[:-1], 1))
    return np.asarray(x * spread + shift)


def draw_self_attention(rng: np.random.Generator, dim: int) -> Params:
    """Return weights and biases, all different and none of them zero."""
    parts = ("query", "key", "value")
    weights = {f"{part}_weights": rng.normal(size=(dim, dim)) / math.sqrt(dim) for part in parts}
    return {**weights, **{f"{part}_bias": rng.normal(size=dim) for part in parts}}


def draw_multihead(rng: np.random.Generator, dim: int) -> Params:
    """Return weights and biases of moderate size."""
    return {
        "qkv_weights": rng.normal(size=(dim, 3 * dim)) / math.sqrt(dim),
        "qkv_bias": rng.normal(size=3 * dim),
        "output_weights": rng.normal(size=(dim, dim)) / math.sqrt(dim),
        "output_bias": rng.normal(size=dim),
    }


def draw_layer_norm(rng: np.random.Generator, dim: int) -> Params:
    """Return a gamma of both signs, nowhere near 0 or 1 in size, and a beta."""
    gamma = rng.uniform(1.2, 2, size=dim) * rng.choice([-1.0, 1.0], size=dim)
    return {"gamma": np.asarray(gamma), "beta": rng.normal(size=dim)}


def draw_mlp(rng: np.random.Generator, dim: int, hidden_dim: int) -> Params:
    """Return weights and biases of moderate size."""
    return {
        "W1": rng.normal(size=(dim, hidden_dim)) / math.sqrt(dim),
        "b1": rng.normal(size=hidden_dim),
        "W2": rng.normal(size=(hidden_dim, dim)) / math.sqrt(hidden_dim),
        "b2": rng.normal(size=dim),
    }


def draw_block(rng: np.random.Generator, dim: int, hidden_dim: int) -> Params:
    """Return all parameters of a block by dotted names."""
    drawn = (
        draw_layer_norm(rng, dim),
        draw_multihead(rng, dim),
        draw_layer_norm(rng, dim),
        draw_mlp(rng, dim, hidden_dim),
    )
    return {f"{part}.{key}": value for part, p in zip(PARTS, drawn, strict=True) for key, value in p.items()}


def draw_encoder(rng: np.random.Generator, depth: int, dim: int, hidden_dim: int) -> Params:
    """Return all parameters of an encoder by dotted names."""
    blocks = [draw_block(rng, dim, hidden_dim) for _ in range(depth)]
    p = {f"blocks.{i}.{key}": value for i, drawn in enumerate(blocks) for key, value in drawn.items()}
    return {**p, **{f"norm.{key}": value for key, value in draw_layer_norm(rng, dim).items()}}


def load_block(block: Any, p: Mapping[str, Array]) -> None:
    """Give a learner's block, of either kind, the parameters p."""
    for part in PARTS:
        getattr(block, part).params = below(p, part)


def load_encoder(encoder: Any, p: Mapping[str, Array]) -> None:
    """Give a learner's encoder the parameters p."""
    for number, block in enumerate(encoder.blocks):
        load_block(block, below(p, f"blocks.{number}"))
    encoder.norm.params = below(p, "norm")


def what_dropout_keeps(mlp: Any, shape: tuple[int, ...], hidden_dim: int, dropout: float) -> tuple[Array, Array]:
    """Return what the next training pass over x of that shape multiplies the hidden numbers and the output by.

    The MLP, one that a test has no other use for, gets weights with which a single output tells which hidden numbers
    were kept: each adds a power of two. Where all outputs of a position are dropped, its hidden numbers do not matter.
    """
    dim, scale = shape[-1], 1 / (1 - dropout)
    powers = 2.0 ** np.arange(hidden_dim)
    mlp.params = {
        "W1": np.zeros((dim, hidden_dim)),
        "b1": np.full(hidden_dim, DECODABLE),
        "W2": np.repeat(powers[:, None], dim, axis=1),
        "b2": np.full(dim, DECODABLE * scale),
    }
    output = mlp.forward(np.zeros(shape), training=True)
    code = np.asarray(output) / (DECODABLE * scale**2)
    whole = np.clip(np.rint(code), 0, 2**hidden_dim)
    assert_array(code, whole, name="what dropout leaves of sums of powers of two, over what keeping all would give")
    best = whole.max(axis=-1).astype(int) - 1
    hidden = (best[..., None] >> np.arange(hidden_dim)) & 1
    return np.where(best[..., None] < 0, 0, hidden) * scale, (whole > 0) * scale
