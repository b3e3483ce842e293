"""What the functions of this stage should return, patch by patch and head by head, and central differences.

The model takes arrays with one more leading axis too, so that numerical_gradients can make all its steps at once. The
encoder inside is a learner's own of stage s17, where GELU by tanh and eps outside of the root are accepted: so here.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grader.testing import assert_array, assert_gradient

Array = npt.NDArray[Any]
Params = dict[str, Array]

# (batch, channels, height, width) and the size of a patch.
CUTS = [
    ((2, 1, 4, 4), 2),
    ((1, 3, 4, 6), 2),
    ((3, 2, 6, 3), 3),
    ((2, 2, 3, 5), 1),
    ((1, 2, 4, 4), 4),
    ((2, 3, 4, 12), 4),
]


class Variant(NamedTuple):
    """One of the conventions that are accepted: GELU by tanh or erf, eps added outside or inside the root."""

    tanh: bool = False
    eps_outside: bool = False


VARIANTS = [Variant(*flags) for flags in itertools.product((False, True), repeat=2)]
EXACT = VARIANTS[0]
MET = 1e-10  # how near an output meets a convention, so that no other is worked out


class Sizes(NamedTuple):
    """What a model is made of."""

    image_shape: tuple[int, int, int]
    patch_size: int
    num_classes: int
    dim: int
    depth: int
    num_heads: int
    mlp_ratio: float

    @property
    def num_patches(self) -> int:
        """Return how many patches an image has."""
        return self.image_shape[1] // self.patch_size * (self.image_shape[2] // self.patch_size)


def cut(images: Array, size: int) -> Array:
    """Return the patches of (..., channels, height, width) as rows, one after the other."""
    found = []
    for top in range(0, images.shape[-2], size):
        for left in range(0, images.shape[-1], size):
            window = images[..., top : top + size, left : left + size]
            found.append(window.reshape(*images.shape[:-3], -1))
    return np.stack(found, axis=-2)


def convolve(images: Array, kernels: Array, bias: Array, stride: int) -> Array:
    """Return the convolution (kernels not turned over, no padding), one place and one kernel at a time."""
    batch, _, height, width = images.shape
    size = kernels.shape[-1]
    rows, columns = (height - size) // stride + 1, (width - size) // stride + 1
    found = np.zeros((batch, len(kernels), rows, columns))
    for image, d, row, column in np.ndindex(found.shape):
        window = images[image, :, row * stride : row * stride + size, column * stride : column * stride + size]
        found[image, d, row, column] = float((window * kernels[d]).sum()) + bias[d]
    return found


def roll_out(weights: Array) -> Array:
    """Return the rollout of (depth, batch, heads, seq, seq): the share of every path through the blocks, added up."""
    depth, batch, heads, seq, _ = weights.shape
    found = np.zeros((batch, seq, seq))
    for image in range(batch):
        for start in range(seq):
            share = np.eye(seq)[start]  # of the input token in each token so far
            for block in range(depth):
                mixed = [
                    sum(weights[block, image, head, i] @ share for head in range(heads)) / heads for i in range(seq)
                ]
                totals = [weights[block, image, :, i].sum() / heads + 1 for i in range(seq)]
                share = np.array([(mixed[i] + share[i]) / totals[i] for i in range(seq)])
            found[image, :, start] = share
    return found


def gelu(x: Array, tanh: bool = False) -> Array:
    """Return x times the normal distribution's mass below x, by erfc, or its approximation by tanh."""
    if tanh:
        return np.asarray(x * 0.5 * (1 + np.tanh(0.7978845608028654 * x * (1 + 0.044715 * x * x))))
    mass = [math.erfc(-value / 1.4142135623730951) / 2 for value in x.ravel().tolist()]
    return np.asarray(x * np.reshape(mass, x.shape))


def layer_norm(x: Array, gamma: Array, beta: Array, variant: Variant) -> Array:
    """Return the normalised vectors, as s17 has them."""
    mean = x.sum(axis=-1)[..., None] / x.shape[-1]
    variance = ((x - mean) ** 2).sum(axis=-1)[..., None] / x.shape[-1]
    divisor = variance**0.5 + 1e-5 if variant.eps_outside else (variance + 1e-5) ** 0.5
    return np.asarray(gamma * (x - mean) / divisor + beta)


def attend(x: Array, p: Mapping[str, Array], name: str, num_heads: int) -> tuple[Array, Array]:
    """Return (output, weights of all heads) of self-attention, head by head."""
    dim = x.shape[-1]
    size = dim // num_heads
    output, tables = p[f"{name}.output_bias"], []
    for head in range(num_heads):
        parts = [slice(part * dim + head * size, part * dim + (head + 1) * size) for part in range(3)]
        q, k, v = (x @ p[f"{name}.qkv_weights"][..., part] + p[f"{name}.qkv_bias"][..., part] for part in parts)
        scores = np.einsum("...id,...jd->...ij", q, k) / size**0.5
        powers = np.exp(scores - scores.max(axis=-1)[..., None])
        tables.append(powers / powers.sum(axis=-1)[..., None])
        rows = p[f"{name}.output_weights"][..., head * size : (head + 1) * size, :]
        output = output + np.einsum("...ij,...jd->...id", tables[-1], v) @ rows
    return output, np.stack(tables, axis=-3)


def model(images: Array, p: Mapping[str, Array], sizes: Sizes, variant: Variant = EXACT) -> tuple[Array, Array]:
    """Return (logits, attention weights of all blocks) of a vision Transformer."""
    patches = cut(images, sizes.patch_size) @ p["embedding.weights"] + p["embedding.bias"]
    first = np.zeros_like(patches[..., :1, :]) + p["class_token"]
    x = np.concatenate([first, np.broadcast_to(patches, (*first.shape[:-2], *patches.shape[-2:]))], axis=-2)
    x, tables = x + p["positions"], []
    for number in range(sizes.depth):
        name = f"encoder.blocks.{number}"
        normed = layer_norm(x, p[f"{name}.norm1.gamma"], p[f"{name}.norm1.beta"], variant)
        mixed, table = attend(normed, p, f"{name}.attention", sizes.num_heads)
        x = x + mixed
        normed = layer_norm(x, p[f"{name}.norm2.gamma"], p[f"{name}.norm2.beta"], variant)
        hidden = gelu(normed @ p[f"{name}.mlp.W1"] + p[f"{name}.mlp.b1"], variant.tanh)
        x = x + hidden @ p[f"{name}.mlp.W2"] + p[f"{name}.mlp.b2"]
        tables.append(table)
    x = layer_norm(x, p["encoder.norm.gamma"], p["encoder.norm.beta"], variant)
    logits = x[..., :1, :] @ p["head_weights"] + p["head_bias"]
    return logits[..., 0, :], np.stack(np.broadcast_arrays(*tables))


def shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter by its name."""
    dim, hidden = sizes.dim, int(sizes.dim * sizes.mlp_ratio)
    block = {
        "norm1.gamma": (dim,), "norm1.beta": (dim,),
        "attention.qkv_weights": (dim, 3 * dim), "attention.qkv_bias": (3 * dim,),
        "attention.output_weights": (dim, dim), "attention.output_bias": (dim,),
        "norm2.gamma": (dim,), "norm2.beta": (dim,),
        "mlp.W1": (dim, hidden), "mlp.b1": (hidden,), "mlp.W2": (hidden, dim), "mlp.b2": (dim,),
    }  # fmt: skip
    return {
        "class_token": (dim,),
        "positions": (1 + sizes.num_patches, dim),
        "head_weights": (dim, sizes.num_classes),
        "head_bias": (sizes.num_classes,),
        "embedding.weights": (sizes.image_shape[0] * sizes.patch_size**2, dim),
        "embedding.bias": (dim,),
        **{f"encoder.blocks.{i}.{name}": shape for i in range(sizes.depth) for name, shape in block.items()},
        "encoder.norm.gamma": (dim,),
        "encoder.norm.beta": (dim,),
    }


def draw(rng: np.random.Generator, sizes: Sizes) -> Params:
    """Return parameters of moderate size, all different; gamma of both signs, nowhere near 0 or 1 in size."""
    p = {}
    for name, shape in shapes(sizes).items():
        p[name] = rng.normal(size=shape) / (shape[0] ** 0.5 if len(shape) > 1 and name != "positions" else 1)
        if name.endswith("gamma"):
            p[name] = rng.uniform(1.2, 2, size=shape) * rng.choice([-1.0, 1.0], size=shape)
    return p


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


def assert_keys(actual: Any, expected: Mapping[str, Any], name: str) -> None:
    """Assert that a dict has these keys."""
    if not isinstance(actual, Mapping) or set(actual) != set(expected):
        if not isinstance(actual, Mapping):
            raise AssertionError(f"expected {name} to be a dict, got {type(actual).__name__}")
        missing, unknown = sorted(set(expected) - set(actual)), sorted(map(str, set(actual) - set(expected)))
        raise AssertionError(f"{name}: missing keys {missing}, unknown keys {unknown}")


def assert_gradients(actual: Any, numerical: Params) -> None:
    """Assert that a dict of gradients has these keys and agrees with finite differences."""
    assert_keys(actual, numerical, "grads")
    for name, expected in numerical.items():
        assert_gradient(actual[name], expected, name=f"grads[{name!r}]")


def numerical_gradients(
    output: Callable[[Array, Params], Array], grad_output: Array, x: Array, p: Params, step: float = 1e-6
) -> tuple[Array, Params]:
    """Return the gradients of sum(output(x, p) * grad_output) with respect to x and each of p by central differences.

    All steps of one array are taken in one call, on a leading axis that every array then has.
    """
    arrays = {"": x, **p}
    rank = max(value.ndim for value in (grad_output, *arrays.values()))
    stacked = {name: value.reshape(1, *[1] * (rank - value.ndim), *value.shape) for name, value in arrays.items()}
    gradients = {}
    for name, value in stacked.items():
        steps = step * np.eye(value.size).reshape(value.size, *value.shape[1:])
        changed = {**stacked, name: np.concatenate([value + steps, value - steps])}
        outputs = output(changed.pop(""), changed)
        above, below = (outputs * grad_output).reshape(2, value.size, -1).sum(axis=-1)
        gradients[name] = ((above - below) / (2 * step)).reshape(arrays[name].shape)
    return gradients.pop(""), gradients
