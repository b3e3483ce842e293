"""What this stage's functions should return, worked out number by number.

dense, network and batch_norm take arrays with one more leading axis too, so that numerical_gradients can make all its
steps at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Params = dict[str, Array]

ACTIVATIONS = ("relu", "tanh", "sigmoid", "linear")
CLEAR = 1e-3  # least distance of a ReLU's input from 0, far more than a finite difference moves it


class Variant(NamedTuple):
    """One of the conventions that are accepted: eps added outside or inside the root, running variance over n - 1."""

    eps_outside: bool = False
    unbiased: bool = False


VARIANTS = [Variant(*flags) for flags in itertools.product((False, True), repeat=2)]
EXACT = VARIANTS[0]


def activate(name: str, z: Array) -> Array:
    """Return the activation of every number."""
    if name == "relu":
        return np.where(z < 0, 0, z)
    if name == "sigmoid":
        small = np.exp(-np.abs(z))
        return np.where(z < 0, small, 1) / (1 + small)
    return 1 - 2 / (1 + np.exp(2 * np.clip(z, -300, 300))) if name == "tanh" else z


def dense(x: Array, p: Mapping[str, Array], name: str) -> Array:
    """Return the output of a Dense layer."""
    return activate(name, (x[..., :, :, None] * p["weights"][..., None, :, :]).sum(axis=-2) + p["bias"])


def network(x: Array, p: Mapping[str, Array], names: Iterable[str]) -> Array:
    """Return the output of dense layers in a row, p by dotted names."""
    for number, name in enumerate(names):
        x = dense(x, {key: p[f"layers.{number}.{key}"] for key in ("weights", "bias")}, name)
    return x


def statistics(x: Array) -> tuple[Array, Array]:
    """Return mean and variance over the batch, which is the axis before the last; one more axis is kept for it."""
    batch = x.shape[-2]
    mean = sum(x[..., i : i + 1, :] for i in range(batch)) / batch
    return mean, sum((x[..., i : i + 1, :] - mean) ** 2 for i in range(batch)) / batch


def batch_norm(
    x: Array, p: Mapping[str, Array], fixed: Mapping[str, Array] | None, variant: Variant = EXACT, eps: float = 1e-5
) -> Array:
    """Return the output of batch normalisation, with the batch's statistics or with the fixed ones."""
    mean, variance = statistics(x) if fixed is None else (fixed["running_mean"], fixed["running_var"])
    divisor = variance**0.5 + eps if variant.eps_outside else (variance + eps) ** 0.5
    return p["gamma"] * ((x - mean) / divisor) + p["beta"]


def running(x: Array, before: Mapping[str, Array], variant: Variant = EXACT, momentum: float = 0.9) -> Params:
    """Return the running statistics after a batch."""
    mean, variance = (values[0] for values in statistics(x))
    variance = variance * len(x) / (len(x) - 1) if variant.unbiased else variance
    new = {"running_mean": mean, "running_var": variance}
    return {name: before[name] + (1 - momentum) * (new[name] - before[name]) for name in before}


def sample_losses(logits: Array, targets: Array) -> list[float]:
    """Return the cross-entropy of every sample: the logarithm of how much all classes have, over what its own has."""
    losses = []
    for row, target in zip(logits.astype(np.float64).tolist(), targets.tolist(), strict=True):
        peak = max(row)
        losses.append(math.log(math.fsum(math.exp(value - peak) for value in row)) + (peak - row[target]))
    return losses


def loss(logits: Array, targets: Array) -> float:
    """Return the mean cross-entropy."""
    return math.fsum(sample_losses(logits, targets)) / len(targets)


def loss_gradient(logits: Array, targets: Array) -> Array:
    """Return the gradient of the mean cross-entropy, number by number: the share of a class without that of others."""
    gradient = np.zeros(logits.shape)
    for i, k in np.ndindex(logits.shape):
        with np.errstate(over="ignore"):
            share = 1 / np.exp(logits[i].astype(np.float64) - float(logits[i, k])).sum()
        gradient[i, k] = (share - (k == targets[i])) / len(logits)
    return gradient


def gradients(p: Params, names: tuple[str, ...], X: Array, y: Array) -> tuple[float, Params]:
    """Return the loss of a network of dense layers and its gradients, sample by sample."""
    total, found = 0.0, {key: np.zeros(value.shape) for key, value in p.items()}
    for x, target in zip(X, y, strict=True):
        inputs, sums = [], []
        for number, name in enumerate(names):
            inputs.append(x)
            sums.append(p[f"layers.{number}.weights"].T @ x + p[f"layers.{number}.bias"])
            x = activate(name, sums[-1])
        total += sample_losses(x[None], np.array([target]))[0] / len(X)
        grad = loss_gradient(x[None], np.array([target]))[0] / len(X)
        for number in reversed(range(len(names))):
            grad = grad * _slope(names[number], sums[number])
            found[f"layers.{number}.weights"] += np.outer(inputs[number], grad)
            found[f"layers.{number}.bias"] += grad
            grad = p[f"layers.{number}.weights"] @ grad
    return total, found


def _slope(name: str, z: Array) -> Array | float:
    if name == "relu":
        return (z > 0).astype(float)
    if name == "tanh":
        return 1 / np.cosh(z) ** 2
    return activate(name, z) * activate(name, -z) if name == "sigmoid" else 1.0


def step(p: Params, names: tuple[str, ...], X: Array, y: Array, rate: float) -> tuple[float, Params]:
    """Return the loss before a step of gradient descent, and the parameters after it."""
    value, grads = gradients(p, names, X, y)
    return value, {key: p[key] - rate * grads[key] for key in p}


def epoch(
    p: Params, names: tuple[str, ...], X: Array, y: Array, batches: Iterable[list[int]], rate: float
) -> tuple[float, float, Params]:
    """Return the mean loss over an epoch's samples, the accuracy after it, and the parameters."""
    total = 0.0
    for batch in batches:
        value, p = step(p, names, X[batch], y[batch], rate)
        total += value * len(batch)
    right = network(X, p, names).argmax(axis=1) == y
    return total / len(X), float(right.mean()), p


def draw_sizes(rng: np.random.Generator, count: int, least: int = 2) -> list[int]:
    """Return that many different sizes, so that no two axes of a shape can be confused."""
    return [int(size) for size in rng.choice(np.arange(least, least + count + 2), size=count, replace=False)]


def draw_dense(rng: np.random.Generator, num_inputs: int, num_outputs: int) -> Params:
    """Return weights and a bias of moderate size, none of them zero."""
    return {
        "weights": rng.normal(size=(num_inputs, num_outputs)) * 1.2 / math.sqrt(num_inputs),
        "bias": rng.normal(size=num_outputs),
    }


def draw_network(rng: np.random.Generator, sizes: list[int]) -> Params:
    """Return the parameters of dense layers between these sizes, by dotted names."""
    drawn = enumerate(draw_dense(rng, *pair) for pair in itertools.pairwise(sizes))
    return {f"layers.{number}.{key}": value for number, p in drawn for key, value in p.items()}


def draw_x(rng: np.random.Generator, batch: int, p: Params, names: tuple[str, ...]) -> Array:
    """Return inputs of a network that put none of its sums so close to 0 that a finite difference crosses it."""
    while True:
        x = out = rng.normal(size=(batch, len(p["layers.0.weights"])))
        nearest = math.inf
        for number, name in enumerate(names):
            own = {key: p[f"layers.{number}.{key}"] for key in ("weights", "bias")}
            nearest = min(nearest, float(np.abs(dense(out, own, "linear")).min()))
            out = dense(out, own, name)
        if nearest > CLEAR:
            return x


def draw_batch(rng: np.random.Generator, batch: int, features: int) -> Array:
    """Return columns with a mean within 2 of 0 and a standard deviation of 0.7 to 2."""
    x = rng.normal(size=(batch, features))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return np.asarray(x * rng.uniform(0.7, 2, size=features) + rng.uniform(-2, 2, size=features))


def draw_norm(rng: np.random.Generator, features: int) -> tuple[Params, Params]:
    """Return a gamma of both signs with a beta, and running statistics."""
    gamma = rng.uniform(1.2, 2, size=features) * rng.choice([-1.0, 1.0], size=features)
    return (
        {"gamma": np.asarray(gamma), "beta": rng.normal(size=features)},
        {"running_mean": rng.normal(size=features), "running_var": np.asarray(rng.uniform(0.5, 3, size=features))},
    )


def new_network(learner: Any, p: Params, names: tuple[str, ...], rng: np.random.Generator) -> Any:
    """Return a learner's network of Dense layers with the parameters p."""
    layers = []
    for number, name in enumerate(names):
        own = {key: p[f"layers.{number}.{key}"] for key in ("weights", "bias")}
        layers.append(learner.Dense(*own["weights"].shape, name, rng))
        layers[-1].params = own
    return learner.NeuralNetwork(layers)


def spirals(points: int, rng: np.random.Generator | None = None, noise: float = 0.0) -> tuple[Array, Array]:
    """Return points of two spirals of one turn, from radius 0.3 to 3, and which arm each belongs to."""
    share = (np.arange(points) + 0.5) / points
    radius, angle = 0.3 + 2.7 * share, 2 * math.pi * share
    arms = [radius[:, None] * np.stack([np.cos(angle + turn), np.sin(angle + turn)], axis=1) for turn in (0, math.pi)]
    X = np.concatenate(arms)
    if rng is not None:
        X = X + noise * rng.normal(size=X.shape)
    return X, np.repeat([0, 1], points)
