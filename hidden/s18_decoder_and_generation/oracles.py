"""What this stage should return, worked out position by position and token by token, and central differences.

What is differentiated takes arrays with one more leading axis too, so that gradients can make all their steps at once.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from grader.testing import assert_array, assert_equal, unchanged

Array = npt.NDArray[Any]
Params = dict[str, Array]
Shapes = Mapping[str, tuple[int, ...]]


class Variant(NamedTuple):
    """One of the conventions that s17 accepts: GELU by tanh or erf, eps added outside or inside the root."""

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


def layer_norm(x: Array, gamma: Array, beta: Array, variant: Variant) -> Array:
    """Return the normalised vectors."""
    mean = x.sum(axis=-1, keepdims=True) / x.shape[-1]
    variance = ((x - mean) ** 2).sum(axis=-1, keepdims=True) / x.shape[-1]
    divisor = variance**0.5 + 1e-5 if variant.eps_outside else (variance + 1e-5) ** 0.5
    return np.asarray(gamma * (x - mean) / divisor + beta)


def attend(q: Array, k: Array, v: Array) -> tuple[Array, Array]:
    """Return (output, weights) of one head, query by query: the last query sees all keys, each before it one fewer."""
    hidden = k.shape[-2] - q.shape[-2]
    outputs, rows = [], []
    for i in range(q.shape[-2]):
        seen = hidden + i + 1
        scores = np.einsum("...d,...jd->...j", q[..., i, :], k[..., :seen, :]) / q.shape[-1] ** 0.5
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = powers / powers.sum(axis=-1, keepdims=True)
        outputs.append(np.einsum("...j,...jd->...d", shares, v[..., :seen, :]))
        rows.append(np.concatenate([shares, np.zeros((*shares.shape[:-1], k.shape[-2] - seen))], axis=-1))
    return np.stack(outputs, axis=-2), np.stack(rows, axis=-2)


def decoder_block(
    x: Array, p: Mapping[str, Array], num_heads: int, variant: Variant = EXACT, past: tuple[Array, Array] | None = None
) -> tuple[Array, Array, Array, Array]:
    """Return (output, weights, keys, values) of a block; past holds keys and values (batch, heads, past, size)."""
    dim = x.shape[-1]
    size = dim // num_heads
    normed = layer_norm(x, p["norm1.gamma"], p["norm1.beta"], variant)
    middle, kept = x + p["attention.output_bias"], []
    for head in range(num_heads):
        columns = [slice(part * dim + head * size, part * dim + (head + 1) * size) for part in range(3)]
        q, k, v = (
            normed @ p["attention.qkv_weights"][..., chosen] + p["attention.qkv_bias"][..., chosen]
            for chosen in columns
        )
        if past is not None:
            k, v = (np.concatenate([old[:, head], new], axis=-2) for old, new in zip(past, (k, v), strict=True))
        result, table = attend(q, k, v)
        middle = middle + result @ p["attention.output_weights"][..., columns[0], :]
        kept.append((table, k, v))
    weights, keys, values = (np.stack(arrays, axis=-3) for arrays in zip(*kept, strict=True))
    normed = layer_norm(middle, p["norm2.gamma"], p["norm2.beta"], variant)
    hidden = gelu(normed @ p["mlp.W1"] + p["mlp.b1"], variant.tanh)
    return middle + hidden @ p["mlp.W2"] + p["mlp.b2"], weights, keys, values


def gpt(ids: Array, p: Mapping[str, Array], num_heads: int, variant: Variant = EXACT) -> Array:
    """Return the logits; the embeddings are looked up by multiplying with rows of zeros and a one."""
    table = p["token_embedding"]
    x = np.eye(table.shape[-2])[ids] @ table + p["position_embedding"][..., : ids.shape[1], :]
    for number in range(depth_of(p)):
        x = decoder_block(x, below(p, f"blocks.{number}"), num_heads, variant)[0]
    hidden = layer_norm(x, p["norm.gamma"], p["norm.beta"], variant)
    return np.einsum("...sd,...vd->...sv", hidden, np.broadcast_to(table, (*hidden.shape[:-2], *table.shape[-2:])))


def depth_of(p: Mapping[str, Array]) -> int:
    """Return the number of blocks."""
    return len({name.split(".")[1] for name in p if name.startswith("blocks.")})


def cross_entropy(logits: Array, targets: Array, mask: Array | None = None) -> tuple[float, Array]:
    """Return (loss, gradient), token by token."""
    losses, grad = [], np.zeros(logits.shape)
    for place in np.ndindex(targets.shape):
        if mask is None or mask[place]:
            scores = [float(score) for score in logits[place]]
            peak = max(scores)
            total = math.fsum(math.exp(score - peak) for score in scores)
            losses.append(peak - scores[targets[place]] + math.log(total))
            grad[place] = [math.exp(score - peak) / total for score in scores]
            grad[(*place, targets[place])] -= 1
    return math.fsum(losses) / max(len(losses), 1), grad / max(len(losses), 1)


def probabilities(
    logits: Sequence[float], temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> list[float]:
    """Return with which probability each token is drawn; no two scores may be equal where k or p divides them."""
    peak = max(logits)
    left = {token: math.exp((score - peak) / temperature) for token, score in enumerate(logits)}
    if top_k is not None:
        left = dict(sorted(left.items(), key=lambda pair: -pair[1])[:top_k])
    if top_p is not None:
        total, reached, kept = sum(left.values()), 0.0, {}
        for token, power in sorted(left.items(), key=lambda pair: -pair[1]):
            if reached >= top_p:
                break
            kept[token] = power
            reached += power / total
        left = kept
    total = sum(left.values())
    return [left.get(token, 0.0) / total for token in range(len(logits))]


def below(p: Mapping[str, Array], name: str) -> Params:
    """Return the parameters of one part, by the names that they have there."""
    return {key[len(name) + 1 :]: value for key, value in p.items() if key.startswith(f"{name}.")}


def block_shapes(dim: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter of a block."""
    norms = {f"{norm}.{key}": (dim,) for norm in ("norm1", "norm2") for key in ("gamma", "beta")}
    attention = {"qkv_weights": (dim, 3 * dim), "qkv_bias": (3 * dim,), "output_weights": (dim, dim)}
    mlp = {"W1": (dim, 4 * dim), "b1": (4 * dim,), "W2": (4 * dim, dim), "b2": (dim,)}
    return {
        **norms,
        **{f"attention.{key}": shape for key, shape in attention.items()},
        "attention.output_bias": (dim,),
        **{f"mlp.{key}": shape for key, shape in mlp.items()},
    }


def model_shapes(tokens: int, length: int, depth: int, dim: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter of a model."""
    blocks = {f"blocks.{i}.{name}": shape for i in range(depth) for name, shape in block_shapes(dim).items()}
    ends = {"norm.gamma": (dim,), "norm.beta": (dim,)}
    return {"token_embedding": (tokens, dim), "position_embedding": (length, dim), **blocks, **ends}


def draw(rng: np.random.Generator, shapes: Mapping[str, tuple[int, ...]]) -> Params:
    """Return parameters of these shapes: matrices that keep sizes, gammas of both signs nowhere near 0 or 1."""
    drawn = {}
    for name, shape in shapes.items():
        drawn[name] = rng.normal(size=shape)
        if name.endswith("gamma"):
            drawn[name] = rng.uniform(1.2, 2, size=shape) * rng.choice([-1.0, 1.0], size=shape)
        elif len(shape) == 2 and not name.endswith("embedding"):
            drawn[name] /= shape[0] ** 0.5
    return drawn


def closest(result: object, output: Callable[[Variant], Array]) -> Variant:
    """Return the accepted convention whose output comes closest to the result; the first where none can be compared."""
    array, off = result if isinstance(result, np.ndarray) else np.zeros(0), {}
    for variant in VARIANTS:
        expected = output(variant)
        if array.shape != expected.shape or array.dtype.kind != "f":
            return EXACT
        off[variant] = float(np.nan_to_num(np.abs(array - expected), nan=np.inf).max())
        if off[variant] <= MET * np.abs(expected).max():
            return variant
    return min(off, key=lambda variant: off[variant])


def assert_output(result: object, output: Callable[[Variant], Array], *, name: str = "result") -> Variant:
    """Assert that the result is the output by one of the accepted conventions; return which."""
    __tracebackhide__ = True
    output = functools.cache(output)
    variant = closest(result, output)
    assert_array(result, output(variant), name=name)
    return variant


def numerical_gradients(
    output: Callable[[Params], Array], grad_output: Array, p: Params, names: Sequence[str], step: float = 1e-6
) -> Params:
    """Return the gradients of sum(output(p) * grad_output) with respect to these of p by central differences.

    All steps of one array are taken in one call, on a leading axis that every array then has.
    """
    rank = max(value.ndim for value in (grad_output, *p.values()))
    stacked = {name: value.reshape(1, *[1] * (rank - value.ndim), *value.shape) for name, value in p.items()}
    gradients = {}
    for name in names:
        value = stacked[name]
        steps = step * np.eye(value.size).reshape(value.size, *value.shape[1:])
        outputs = output({**stacked, name: np.concatenate([value + steps, value - steps])})
        above, below_ = (outputs * grad_output).reshape(2, value.size, -1).sum(axis=-1)
        gradients[name] = ((above - below_) / (2 * step)).reshape(p[name].shape)
    return gradients


def check_params(holder: Any, shapes: Shapes, rng: np.random.Generator) -> None:
    """Check that params are read as they were set, the last time too, and that setting refuses what does not fit."""
    assert_equal(holder.grads, {}, name="grads before backward")
    for p in (draw(rng, shapes), draw(rng, shapes)):
        with unchanged(*p.values()):
            holder.params = p
        held = holder.params
        assert_equal(sorted(held), sorted(p), name="names of params")
        for name, value in p.items():
            assert_array(held[name], value, name=f"params[{name!r}]")


def check_params_refusals(holder: Any, shapes: Shapes, rng: np.random.Generator) -> None:
    """Check that parameters that do not fit are refused before anything is changed."""
    p, held = draw(rng, shapes), holder.params
    name = sorted(shapes)[int(rng.integers(len(shapes)))]
    less = {key: value for key, value in p.items() if key != name}
    for wrong in (less, {**less, f"{name}s": p[name]}, {**p, "bias": np.zeros(3)}, {**p, name: p[name][:-1]}):
        with pytest.raises(ValueError):
            holder.params = wrong
    now = holder.params
    assert_equal(sorted(now), sorted(p), name="names of params after what was refused")
    for key, value in held.items():
        assert_array(now[key], value, name=f"params[{key!r}] after what was refused")
