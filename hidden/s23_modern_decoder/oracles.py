"""What this stage should return, worked out head by head, query by query and by complex numbers; central differences.

What is differentiated takes arrays with one more leading axis too, so that gradients can make all their steps at once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, unchanged

Array = npt.NDArray[Any]
Params = dict[str, Array]
Shapes = Mapping[str, tuple[int, ...]]
WRONG_IDS = [[[0, 7]], [[0, -1]], [[0.0, 1.0]], [[True, False]], [0, 1], [[[0, 1]]], [[]]]  # of 7 tokens
MET = 1e-10  # how near an output meets a convention, so that the other is not worked out


class Sizes(NamedTuple):
    """Those of a model."""

    depth: int = 2
    dim: int = 8
    num_heads: int = 4
    num_kv_heads: int = 2
    hidden: int = 5
    window: int | None = None
    base: float = 10000.0
    tokens: int = 7

    @property
    def of_block(self) -> tuple[int, ...]:
        """Return the first arguments of a ModernBlock."""
        return self.dim, self.num_heads, self.num_kv_heads, self.hidden

    @property
    def options(self) -> dict[str, Any]:
        """Return the last arguments of a ModernBlock or a ModernGPT."""
        return {"window": self.window, "base": self.base}


def parts(result: object, names: Sequence[str]) -> tuple[Any, ...]:
    """Return the parts of a tuple (or list) that has one for each name."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else type(result).__name__
        raise AssertionError(f"expected a tuple of {', '.join(names)}, got {got}")
    return tuple(result)


def rms(x: Array, gamma: Array, eps: float = 1e-6, outside: bool = False) -> Array:
    """Return what RMS norm makes of each vector; eps is added outside or inside of the root."""
    mean = np.einsum("...d,...d->...", x, x)[..., None] / x.shape[-1]
    return np.asarray(gamma * x / (mean**0.5 + eps if outside else (mean + eps) ** 0.5))


def rotary(x: Array, positions: Array, base: float = 10000.0) -> Array:
    """Return each pair of features, a complex number, times a number of length 1."""
    rates = np.array([base ** (-2 * i / x.shape[-1]) for i in range(x.shape[-1] // 2)])
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * np.asarray(positions)[..., None] * rates)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(turned.shape[:-1] + x.shape[-1:])


def attend(q: Array, k: Array, v: Array, window: int | None) -> Array:
    """Return the output of one head, query by query; the last query sees the last key."""
    before, outputs = k.shape[-2] - q.shape[-2], []
    for i in range(q.shape[-2]):
        stop = before + i + 1
        seen = slice(0 if window is None else max(0, stop - window), stop)
        scores = np.einsum("...d,...jd->...j", q[..., i, :], k[..., seen, :]) / q.shape[-1] ** 0.5
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        outputs.append(np.einsum("...j,...jd->...d", powers / powers.sum(axis=-1, keepdims=True), v[..., seen, :]))
    return np.stack(outputs, axis=-2)


def grouped(Q: Array, K: Array, V: Array, window: int | None = None) -> Array:
    """Return the outputs of all query heads."""
    size = Q.shape[-3] // K.shape[-3]
    heads = [(Q[..., h, :, :], K[..., h // size, :, :], V[..., h // size, :, :]) for h in range(Q.shape[-3])]
    return np.stack([attend(q, k, v, window) for q, k, v in heads], axis=-3)


def swiglu(x: Array, W_gate: Array, W_up: Array, W_down: Array) -> Array:
    """Return the gated MLP's output."""
    gate = x @ W_gate
    return np.asarray((gate / (1 + np.exp(-gate)) * (x @ W_up)) @ W_down)


def block(x: Array, p: Mapping[str, Array], sizes: Sizes, outside: bool = False) -> Array:
    """Return the output of a block, head by head."""
    wide, group = sizes.dim // sizes.num_heads, sizes.num_heads // sizes.num_kv_heads
    normed, positions, middle = rms(x, p["norm1.gamma"], outside=outside), np.arange(x.shape[-2]), x
    for head in range(sizes.num_heads):
        mine, shared = (slice(n * wide, (n + 1) * wide) for n in (head, head // group))
        q, k, v = (
            normed @ p[f"attention.{part}_weights"][..., columns]
            for part, columns in (("query", mine), ("key", shared), ("value", shared))
        )
        q, k = rotary(q, positions, sizes.base), rotary(k, positions, sizes.base)
        middle = middle + attend(q, k, v, sizes.window) @ p["attention.output_weights"][..., mine, :]
    normed = rms(middle, p["norm2.gamma"], outside=outside)
    return middle + swiglu(normed, p["mlp.gate_weights"], p["mlp.up_weights"], p["mlp.down_weights"])


def gpt(ids: Array, p: Mapping[str, Array], sizes: Sizes, outside: bool = False) -> Array:
    """Return the logits; the embedding is looked up by multiplying with rows of zeros and a one."""
    table = p["token_embedding"]
    x = np.eye(table.shape[-2])[ids] @ table
    for number in range(sizes.depth):
        x = block(x, below(p, f"blocks.{number}"), sizes, outside)
    hidden = rms(x, p["norm.gamma"], outside=outside)
    return np.einsum("...sd,...vd->...sv", hidden, np.broadcast_to(table, (*hidden.shape[:-2], *table.shape[-2:])))


def loss(logits: Array, targets: Array) -> Array:
    """Return the mean cross-entropy; logits may have one more leading axis, whose losses are returned."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares = (powers / powers.sum(axis=-1, keepdims=True)).reshape(-1, targets.size, logits.shape[-1])
    return np.asarray(-np.log(shares[:, np.arange(targets.size), targets.ravel()]).mean(axis=-1))


def loss_gradients(
    batches: Sequence[tuple[Array, Array]], p: Params, sizes: Sizes, outside: bool
) -> tuple[float, Params]:
    """Return the mean loss of all targets of some batches, and its gradients by central differences."""
    total = sum(targets.size for _, targets in batches)

    def output(p: Params) -> Array:
        found = sum(loss(gpt(ids, p, sizes, outside), targets) * targets.size / total for ids, targets in batches)
        return np.asarray(found).reshape(-1, 1, 1, 1)

    found = float(output({name: value.reshape(1, *value.shape) for name, value in p.items()}).squeeze())
    return found, numerical_gradients(output, np.ones((1, 1, 1)), p, list(p))


def length(grads: Mapping[str, Array]) -> float:
    """Return the length of all gradients as one vector."""
    return math.sqrt(math.fsum(float(value**2) for grad in grads.values() for value in grad.ravel()))


def below(p: Mapping[str, Array], name: str) -> Params:
    """Return the parameters of one part, by the names that they have there."""
    return {key[len(name) + 1 :]: value for key, value in p.items() if key.startswith(f"{name}.")}


def block_shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter of a block."""
    dim, narrow = sizes.dim, sizes.dim // sizes.num_heads * sizes.num_kv_heads
    return {
        "norm1.gamma": (dim,),
        "attention.query_weights": (dim, dim),
        "attention.key_weights": (dim, narrow),
        "attention.value_weights": (dim, narrow),
        "attention.output_weights": (dim, dim),
        "norm2.gamma": (dim,),
        "mlp.gate_weights": (dim, sizes.hidden),
        "mlp.up_weights": (dim, sizes.hidden),
        "mlp.down_weights": (sizes.hidden, dim),
    }


def model_shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter of a model."""
    own = {"token_embedding": (sizes.tokens, sizes.dim), "norm.gamma": (sizes.dim,)}
    numbered = range(sizes.depth)
    return {**own, **{f"blocks.{i}.{name}": shape for i in numbered for name, shape in block_shapes(sizes).items()}}


def draw(rng: np.random.Generator, shapes: Shapes) -> Params:
    """Return parameters of these shapes: matrices that keep sizes, gammas of both signs nowhere near 0 or 1."""
    drawn = {}
    for name, shape in shapes.items():
        drawn[name] = rng.normal(size=shape)
        if name.endswith("gamma"):
            drawn[name] = rng.uniform(1.2, 2, size=shape) * rng.choice([-1.0, 1.0], size=shape)
        elif name != "token_embedding":
            drawn[name] *= 1.5 / shape[0] ** 0.5
    return drawn


def new_model(learner: Any, rng: np.random.Generator, sizes: Sizes) -> Any:
    """Return a learner's new model."""
    return learner.ModernGPT(sizes.tokens, sizes.depth, *sizes.of_block, rng, **sizes.options)


def draw_model(learner: Any, rng: np.random.Generator, sizes: Sizes) -> tuple[Any, Params]:
    """Return a learner's model, and its parameters, of both signs and no two alike."""
    model, p = new_model(learner, rng, sizes), draw(rng, model_shapes(sizes))
    model.params = p
    return model, p


def closest(result: object, output: Callable[[bool], Array]) -> bool:
    """Say whether eps outside of the root comes closer to the result than inside."""
    if not isinstance(result, np.ndarray) or result.dtype.kind != "f":
        return False
    off = []
    for outside in (False, True):
        expected = output(outside)
        if result.shape != expected.shape:
            return False
        off.append(float(np.nan_to_num(np.abs(result - expected), nan=np.inf).max()))
        if off[-1] <= MET * np.abs(expected).max():
            return outside
    return off[1] < off[0]


def assert_output(result: object, output: Callable[[bool], Array], *, name: str = "result", axes: str = "") -> bool:
    """Assert that the result is the output with eps inside of the roots or outside; return which."""
    __tracebackhide__ = True
    output = functools.cache(output)
    outside = closest(result, output)
    assert_array(result, output(outside), name=name, axes=axes or None, terms=20)
    return outside


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


def assert_gradients(result: object, expected: Mapping[str, Array]) -> None:
    """Assert that a tuple of gradients agrees with these, which are in its order."""
    __tracebackhide__ = True
    names = [f"grad_{name}" for name in expected]
    for name, actual, right in zip(names, parts(result, names), expected.values(), strict=True):
        assert_gradient(actual, right, name=name)


def assert_grads(grads: Any, expected: Mapping[str, Array], among: Sequence[str] | None = None) -> None:
    """Assert that a dict of gradients has the names of expected, or of among, and agrees with what is expected."""
    __tracebackhide__ = True
    assert_equal(sorted(grads), sorted(expected if among is None else among), name="names of grads")
    for name, value in expected.items():
        assert_gradient(grads[name], value, name=f"grads[{name!r}]")


def check_params(holder: Any, shapes: Shapes, rng: np.random.Generator) -> None:
    """Check that params are read as they were set, the last time too."""
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


def too_early(call: Callable[[], object]) -> None:
    """Assert that a call raises RuntimeError, but not NotImplementedError, which is the stub's."""
    with pytest.raises(RuntimeError) as caught:
        call()
    if isinstance(caught.value, NotImplementedError):
        raise caught.value
