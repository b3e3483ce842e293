"""What this stage's functions should return: sorted and seated token by token, experts as a dense sum with zeros.

What smooth functions take here may have one more leading axis, so that numerical_gradients makes all its steps at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.testing import assert_array, assert_gradient, assert_shape

Array = npt.NDArray[Any]
Params = dict[str, Array]

KEYS = ("W1", "b1", "W2", "b2")
OPTIONS = ("k", "capacity_factor", "renormalize", "balance_weight", "z_weight")


def softmax(logits: Array) -> Array:
    """Return the softmax along the last axis."""
    return np.asarray(np.exp(logits - np.logaddexp.reduce(logits, axis=-1)[..., None]))


def choose(probabilities: Array, k: int) -> Array:
    """Return the k most probable experts of each token, ties in their order."""
    rows = [sorted(range(len(row)), key=lambda e: (-row[e], e))[:k] for row in probabilities.tolist()]
    return np.array(rows)


def seats(indices: Array, num_experts: int) -> Array:
    """Return how many were sent to the same expert before: first choices first, each in the order of tokens."""
    taken = [0] * num_experts
    positions = np.zeros(indices.shape, dtype=int)
    for choice in range(indices.shape[1]):
        for token, expert in enumerate(indices[:, choice].tolist()):
            positions[token, choice] = taken[expert]
            taken[expert] += 1
    return positions


def shares(indices: Array, num_experts: int) -> Array:
    """Return the share of all choices that fell on each expert."""
    return np.array([np.mean(indices == expert) for expert in range(num_experts)])


def balance(probabilities: Array, share: Array) -> Array:
    """Return the balancing loss, the shares given; probabilities (..., tokens, num_experts)."""
    return np.asarray(len(share) * probabilities.mean(axis=-2) @ share)


def z_loss(logits: Array) -> Array:
    """Return the mean square of the log-sum-exp; logits (..., tokens, num_experts)."""
    return np.asarray((np.logaddexp.reduce(logits, axis=-1) ** 2).mean(axis=-1))


def gates(probabilities: Array, chosen: Array, renormalize: bool) -> Array:
    """Return a gate for every expert, 0 where it is not chosen; chosen is (tokens, num_experts) of 0 and 1."""
    values = probabilities * chosen
    return np.asarray(values / values.sum(axis=-1)[..., None] if renormalize else values)


def scattered(indices: Array, values: Array, num_experts: int) -> Array:
    """Return values, (tokens, k), at the places of their experts, (tokens, num_experts), 0 elsewhere."""
    result = np.zeros((len(indices), num_experts))
    for token, row in enumerate(indices.tolist()):
        for choice, expert in enumerate(row):
            result[token, expert] = values[token, choice]
    return result


def gelu(x: Array, tanh: bool) -> Array:
    """Return x times the normal distribution's mass below x, by erfc, or its approximation by tanh."""
    if tanh:
        return np.asarray(x * 0.5 * (1 + np.tanh(0.7978845608028654 * x * (1 + 0.044715 * x * x))))
    mass = [math.erfc(-value / 1.4142135623730951) / 2 for value in x.ravel().tolist()]
    return np.asarray(x * np.reshape(mass, x.shape))


@dataclass(frozen=True)
class Case:
    """A layer's sizes and options, its parameters, its tokens, and which experts they choose."""

    x: Array  # (tokens, dim)
    p: Params
    k: int
    capacity: int | None = None
    renormalize: bool = True
    balance_weight: float = 0.0
    z_weight: float = 0.0

    @property
    def num_experts(self) -> int:
        """Return how many experts there are."""
        return int(self.p["router_weights"].shape[-1])

    @cached_property
    def indices(self) -> Array:
        """Return the experts that the tokens choose."""
        return choose(softmax(self.x @ self.p["router_weights"]), self.k)

    @cached_property
    def kept(self) -> Array:
        """Return which choices find room."""
        positions = seats(self.indices, self.num_experts)
        return np.full(positions.shape, True) if self.capacity is None else positions < self.capacity

    def output(self, tanh: bool, x: Array | None = None, p: Params | None = None) -> Array:
        """Return the layer's output; for another x or p with the choices of this one's."""
        x, p = self.x if x is None else x, self.p if p is None else p
        ones = np.ones(self.indices.shape)
        chosen, kept = (scattered(self.indices, which, self.num_experts) for which in (ones, self.kept))
        weights = gates(softmax(x @ p["router_weights"]), chosen, self.renormalize) * kept
        total: Any = 0
        for expert in range(self.num_experts):
            W1, b1, W2, b2 = (p[f"experts.{expert}.{key}"] for key in KEYS)
            total = total + weights[..., expert, None] * (gelu(x @ W1 + b1, tanh) @ W2 + b2)
        return np.asarray(total)

    def auxiliary(self, x: Array | None = None, p: Params | None = None) -> Array:
        """Return the weighted losses of the router; for another x or p with the choices of this one's."""
        logits = (self.x if x is None else x) @ (self.p if p is None else p)["router_weights"]
        share = shares(self.indices, self.num_experts)
        return np.asarray(self.balance_weight * balance(softmax(logits), share) + self.z_weight * z_loss(logits))

    @property
    def capacity_factor(self) -> float | None:
        """Return a factor that gives this capacity, half a seat away from any other."""
        return None if self.capacity is None else (self.capacity - 0.5) * self.num_experts / (self.k * len(self.x))

    def new_layer(self, learner: Any, **options: Any) -> Any:
        """Return a learner's layer with these parameters and options; more options replace them."""
        named = {name: getattr(self, name) for name in OPTIONS} | options
        layer = learner.MoELayer(*self.p["experts.0.W1"].shape, self.num_experts, **named)
        load(layer, self.p)
        return layer

    def gradients(self, grad_output: Array, tanh: bool) -> tuple[Array, Params]:
        """Return the gradients of sum(output * grad_output) + auxiliary for x and each parameter."""

        def loss(x: Array, p: Params) -> Array:
            values = self.output(tanh, x, p) * grad_output
            return np.asarray(values.reshape(len(values), -1).sum(axis=1) + self.auxiliary(x, p))

        return numerical_gradients(loss, self.x, self.p)


def load(layer: Any, p: Mapping[str, Array]) -> None:
    """Give a learner's layer the parameters p."""
    layer.router_weights = p["router_weights"]
    for number, expert in enumerate(layer.experts):
        expert.params = {key: p[f"experts.{number}.{key}"] for key in KEYS}


def draw_params(rng: np.random.Generator, dim: int, hidden_dim: int, num_experts: int) -> Params:
    """Return parameters of moderate size, all different and none of them zero."""
    p = {"router_weights": rng.normal(size=(dim, num_experts))}
    for number in range(num_experts):
        drawn = (
            rng.normal(size=(dim, hidden_dim)) / math.sqrt(dim),
            rng.normal(size=hidden_dim),
            rng.normal(size=(hidden_dim, dim)) / math.sqrt(hidden_dim),
            rng.normal(size=dim),
        )
        p |= {f"experts.{number}.{key}": value for key, value in zip(KEYS, drawn, strict=True)}
    return p


def draw_case(
    rng: np.random.Generator, sizes: tuple[int, int, int], tokens: int, k: int, capacity: int | None = None, **more: Any
) -> Case:
    """Return a case of these (dim, hidden_dim, num_experts); with a capacity, one that drops something, not all."""
    while True:
        case = Case(rng.normal(size=(tokens, sizes[0])), draw_params(rng, *sizes), k, capacity, **more)
        if capacity is None or (not case.kept.all() and case.kept.any(axis=0).all()):
            return case


def draw_probabilities(rng: np.random.Generator, tokens: int, num_experts: int) -> Array:
    """Return a row of probabilities for each token, none of them close to 0."""
    values = rng.uniform(0.2, 1, size=(tokens, num_experts))
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def draw_choices(rng: np.random.Generator, tokens: int, num_experts: int, k: int) -> Array:
    """Return k different experts for each token, some of them more popular than others."""
    popularity = rng.uniform(0.2, 3, size=num_experts)
    return np.argsort(-popularity * rng.random((tokens, num_experts)), axis=1)[:, :k]


def assert_output(result: object, output: Callable[[bool], Array], **options: Any) -> bool:
    """Assert that the result is the output with GELU by erf, or by tanh; return whether by tanh."""
    __tracebackhide__ = True
    expected = {tanh: output(tanh) for tanh in (False, True)}
    assert_shape(result, expected[False].shape)
    assert isinstance(result, np.ndarray)
    tanh = min(expected, key=lambda tanh: float(np.nan_to_num(np.abs(result - expected[tanh]), nan=np.inf).max()))
    assert_array(result, expected[tanh], **options)
    return tanh


def assert_gradients(actual: Any, numerical: Params) -> None:
    """Assert that a dict of gradients has these keys and agrees with finite differences."""
    __tracebackhide__ = True
    if not isinstance(actual, Mapping) or set(actual) != set(numerical):
        got = sorted(map(str, actual)) if isinstance(actual, Mapping) else type(actual).__name__
        raise AssertionError(f"expected grads to be a dict with the keys {sorted(numerical)}, got {got}")
    for name, expected in numerical.items():
        assert_gradient(actual[name], expected, name=f"grads[{name!r}]")


def numerical_gradients(
    loss: Callable[[Array, Params], Array], x: Array, p: Params, step: float = 1e-6
) -> tuple[Array, Params]:
    """Return the gradients of loss(x, p) for x and each of p by central differences.

    All steps of one array are taken in one call, on a leading axis that every array then has; loss returns a number a
    step.
    """
    arrays = {"": x, **p}
    stacked = {name: value[None] if value.ndim == 2 else value[None, None] for name, value in arrays.items()}
    gradients = {}
    for name, value in stacked.items():
        steps = step * np.eye(value.size).reshape(value.size, *value.shape[1:])
        changed = {**stacked, name: np.concatenate([value + steps, value - steps])}
        above, below = loss(changed.pop(""), changed).reshape(2, value.size)
        gradients[name] = ((above - below) / (2 * step)).reshape(arrays[name].shape)
    return gradients.pop(""), gradients
