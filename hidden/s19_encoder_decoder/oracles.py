"""What the layers of this stage should return, worked out position by position and head by head.

Everything here takes arrays with one more leading axis too, so that numerical_gradients can make all its steps at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Params = dict[str, Array]

ENCODER_PARTS = ("norm1", "attention", "norm2", "mlp")
DECODER_PARTS = ("norm1", "self_attention", "norm2", "cross_attention", "norm3", "mlp")
KINDS = ("weights", "bias")
TABLES = ("source_embedding", "target_embedding", "source_positions", "target_positions")


class Variant(NamedTuple):
    """One of the conventions that are accepted: GELU by tanh or erf, eps added outside or inside the root."""

    tanh: bool = False
    eps_outside: bool = False


VARIANTS = [Variant(*flags) for flags in itertools.product((False, True), repeat=2)]
EXACT = VARIANTS[0]
MET = 1e-10  # how near an output meets a convention, so that no other is worked out


def gelu(x: Array, tanh: bool) -> Array:
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


def cross_attention(
    x: Array, memory: Array, p: Mapping[str, Array], num_heads: int, mask: Array | None = None
) -> tuple[Array, Array]:
    """Return (output, weights) of CrossAttention: the output's bias plus what each head adds through its rows."""
    allowed = 1 if mask is None else np.asarray(mask).astype(int)[:, None, :]
    size = x.shape[-1] // num_heads
    output, tables = p["output_bias"], []
    for head in range(num_heads):
        own = slice(head * size, (head + 1) * size)
        q, k, v = (
            given @ p[f"{part}_weights"][..., own] + p[f"{part}_bias"][..., own]
            for part, given in (("query", x), ("key", memory), ("value", memory))
        )
        result, table = attend(q, k, v, allowed)
        output = output + result @ p["output_weights"][..., own, :]
        tables.append(table)
    return output, np.stack(tables, axis=-3)


def self_attention(x: Array, p: Mapping[str, Array], num_heads: int, allowed: Array | int) -> Array:
    """Return the output of the attention of stage s17, whose projection is fused."""
    dim, size = x.shape[-1], x.shape[-1] // num_heads
    output = p["output_bias"]
    for head in range(num_heads):
        rows = [head * size + feature for feature in range(size)]
        columns = [[part * dim + row for row in rows] for part in range(3)]
        q, k, v = (x @ p["qkv_weights"][..., chosen] + p["qkv_bias"][..., chosen] for chosen in columns)
        output = output + attend(q, k, v, allowed)[0] @ p["output_weights"][..., rows, :]
    return output


def layer_norm(x: Array, p: Mapping[str, Array], variant: Variant = EXACT) -> Array:
    """Return the normalised vectors, feature by feature."""
    features = range(x.shape[-1])
    mean = sum(x[..., j] for j in features) / len(features)
    variance = sum((x[..., j] - mean) ** 2 for j in features) / len(features)
    divisor = variance**0.5 + 1e-5 if variant.eps_outside else (variance + 1e-5) ** 0.5
    return np.stack([p["gamma"][..., j] * (x[..., j] - mean) / divisor + p["beta"][..., j] for j in features], axis=-1)


def mlp(x: Array, p: Mapping[str, Array], variant: Variant) -> Array:
    """Return the output of the MLP of stage s17, without dropout."""
    return np.asarray(gelu(x @ p["W1"] + p["b1"], variant.tanh) @ p["W2"] + p["b2"])


def decoder_block(
    x: Array,
    memory: Array,
    p: Mapping[str, Array],
    num_heads: int,
    mask: Array | None = None,
    variant: Variant = EXACT,
) -> Array:
    """Return a decoder block's output, p by dotted names."""
    order = np.arange(x.shape[-2])
    earlier = (order[:, None] >= order).astype(int)
    x = x + self_attention(layer_norm(x, below(p, "norm1"), variant), below(p, "self_attention"), num_heads, earlier)
    asking = layer_norm(x, below(p, "norm2"), variant)
    x = x + cross_attention(asking, memory, below(p, "cross_attention"), num_heads, mask)[0]
    return x + mlp(layer_norm(x, below(p, "norm3"), variant), below(p, "mlp"), variant)


def encode(
    source: Array, p: Mapping[str, Array], num_heads: int, mask: Array | None = None, variant: Variant = EXACT
) -> Array:
    """Return what the encoder makes of the ids."""
    x = look_up(p["source_embedding"], source) + p["source_positions"][..., : source.shape[1], :]
    allowed = 1 if mask is None else np.asarray(mask).astype(int)[:, None, :]
    for number in range(depth_of(p, "encoder.blocks.")):
        block = below(p, f"encoder.blocks.{number}")
        x = x + self_attention(
            layer_norm(x, below(block, "norm1"), variant), below(block, "attention"), num_heads, allowed
        )
        x = x + mlp(layer_norm(x, below(block, "norm2"), variant), below(block, "mlp"), variant)
    return layer_norm(x, below(p, "encoder.norm"), variant)


def transformer(
    source: Array,
    target: Array,
    p: Mapping[str, Array],
    num_heads: int,
    mask: Array | None = None,
    variant: Variant = EXACT,
) -> Array:
    """Return the logits, p by dotted names."""
    memory = encode(source, p, num_heads, mask, variant)
    x = look_up(p["target_embedding"], target) + p["target_positions"][..., : target.shape[1], :]
    for number in range(depth_of(p, "decoder.")):
        x = decoder_block(x, memory, below(p, f"decoder.{number}"), num_heads, mask, variant)
    return np.asarray(layer_norm(x, below(p, "decoder_norm"), variant) @ p["readout_weights"] + p["readout_bias"])


def look_up(table: Array, ids: Array) -> Array:
    """Return the rows of the ids, (batch, seq, dim); a table (steps, 1, size, dim) gives them for each step."""
    return table[ids] if table.ndim == 2 else table[:, 0][:, ids]


def depth_of(p: Mapping[str, Array], prefix: str) -> int:
    """Return how many numbers follow the prefix in the names."""
    return len({name[len(prefix) :].split(".")[0] for name in p if name.startswith(prefix)})


def below(p: Mapping[str, Array], name: str) -> Params:
    """Return the parameters of one part, by the names that they have there."""
    return {key[len(name) + 1 :]: value for key, value in p.items() if key.startswith(f"{name}.")}


def draw_sizes(rng: np.random.Generator, count: int, least: int = 2) -> list[int]:
    """Return that many different sizes, so that no two axes of a shape can be confused."""
    return [int(size) for size in rng.choice(np.arange(least, least + count + 2), size=count, replace=False)]


def draw_mask(rng: np.random.Generator, batch: int, source: int) -> Array:
    """Return a padding mask with a real token and padding in every row, in no special order."""
    mask = rng.random((batch, source)) < 0.5
    for row in mask:
        real, padding = rng.choice(source, size=2, replace=False)
        row[real], row[padding] = True, False
    return mask


def draw(rng: np.random.Generator, shapes: Mapping[str, tuple[int, ...]]) -> Params:
    """Return parameters of these shapes: no two equal, none zero, a gamma of both signs and nowhere near 1 in size."""
    p = {}
    for name, shape in shapes.items():
        scale = 1 / math.sqrt(shape[0]) if len(shape) == 2 and name not in TABLES else 1.0
        p[name] = rng.normal(size=shape) * scale
        if name.endswith("gamma"):
            p[name] = rng.uniform(1.2, 2, size=shape) * rng.choice([-1.0, 1.0], size=shape)
    return p


def cross_shapes(dim: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters of CrossAttention."""
    parts = ("query", "key", "value", "output")
    return {f"{part}_{kind}": (dim, dim) if kind == "weights" else (dim,) for kind in KINDS for part in parts}


def block_shapes(dim: int, hidden_dim: int, parts: tuple[str, ...] = DECODER_PARTS) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters of a block by dotted names."""
    norm: dict[str, tuple[int, ...]] = {"gamma": (dim,), "beta": (dim,)}
    fused = {"qkv_weights": (dim, 3 * dim), "qkv_bias": (3 * dim,), "output_weights": (dim, dim), "output_bias": (dim,)}
    small = {"W1": (dim, hidden_dim), "b1": (hidden_dim,), "W2": (hidden_dim, dim), "b2": (dim,)}
    kinds = {"attention": fused, "self_attention": fused, "cross_attention": cross_shapes(dim), "mlp": small}
    return {f"{part}.{key}": shape for part in parts for key, shape in kinds.get(part, norm).items()}


def model_shapes(
    sizes: tuple[int, int], max_length: int, depth: int, dim: int, hidden_dim: int
) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters of a Transformer; sizes are those of the two vocabularies."""
    shapes: dict[str, tuple[int, ...]] = {
        "source_embedding": (sizes[0], dim),
        "target_embedding": (sizes[1], dim),
        "source_positions": (max_length, dim),
        "target_positions": (max_length, dim),
        "readout_weights": (dim, sizes[1]),
        "readout_bias": (sizes[1],),
        **{f"{norm}.{key}": (dim,) for norm in ("encoder.norm", "decoder_norm") for key in ("gamma", "beta")},
    }
    for number, (prefix, parts) in itertools.product(
        range(depth), (("encoder.blocks.", ENCODER_PARTS), ("decoder.", DECODER_PARTS))
    ):
        block = block_shapes(dim, hidden_dim, parts)
        shapes.update({f"{prefix}{number}.{key}": shape for key, shape in block.items()})
    return shapes


def load_block(block: Any, p: Mapping[str, Array]) -> None:
    """Give a learner's block the parameters p."""
    for part in DECODER_PARTS:
        getattr(block, part).params = below(p, part)
