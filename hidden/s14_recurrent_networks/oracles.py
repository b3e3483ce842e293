"""What the functions of this stage should return, worked out unit by unit; all arguments may have leading axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.testing import assert_gradient

Array = npt.NDArray[Any]
Params = dict[str, Array]
Outputs = tuple[Array, ...]

GATES = {"rnn": 1, "lstm": 4, "gru": 3}
STATES = {"rnn": ("h",), "lstm": ("h", "c"), "gru": ("h",)}
BIASES = {"rnn": ("b",), "lstm": ("b",), "gru": ("b_x", "b_h")}


def sigmoid(z: Array) -> Array:
    """Return 1 / (1 + exp(-z)) for z of any size."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -z)))


def affine(x: Array, W: Array, b: Array) -> Array:
    """Return x W + b for x (..., batch, inputs), W (..., inputs, outputs), b (..., outputs), input by input."""
    total = b[..., None, :]
    for j in range(x.shape[-1]):
        total = total + x[..., j, None] * W[..., j, None, :]
    return np.asarray(total)


def gate(values: Array, number: int, hidden: int) -> Array:
    """Return the columns of one gate."""
    return values[..., [number * hidden + unit for unit in range(hidden)]]


def rnn_cell(p: Mapping[str, Array]) -> Outputs:
    """Return (h_next,); p holds x, h and the weights."""
    return (np.tanh(affine(p["x"], p["W_x"], p["b"]) + affine(p["h"], p["W_h"], 0 * p["b"])),)


def lstm_cell(p: Mapping[str, Array]) -> Outputs:
    """Return (h_next, c_next); p holds x, h, c and the weights."""
    hidden = p["h"].shape[-1]
    sums = affine(p["x"], p["W_x"], p["b"]) + affine(p["h"], p["W_h"], 0 * p["b"])
    keep, write = sigmoid(gate(sums, 1, hidden)), sigmoid(gate(sums, 0, hidden))
    c_next = p["c"] * keep + np.tanh(gate(sums, 2, hidden)) * write
    return np.tanh(c_next) * sigmoid(gate(sums, 3, hidden)), c_next


def gru_cell(p: Mapping[str, Array]) -> Outputs:
    """Return (h_next,); p holds x, h and the weights."""
    hidden = p["h"].shape[-1]
    of_x, of_h = affine(p["x"], p["W_x"], p["b_x"]), affine(p["h"], p["W_h"], p["b_h"])
    reset = sigmoid(gate(of_x, 0, hidden) + gate(of_h, 0, hidden))
    update = sigmoid(gate(of_x, 1, hidden) + gate(of_h, 1, hidden))
    new = np.tanh(gate(of_x, 2, hidden) + reset * gate(of_h, 2, hidden))
    return (new + update * (p["h"] - new),)


CELLS: dict[str, Callable[[Mapping[str, Array]], Outputs]] = {"rnn": rnn_cell, "lstm": lstm_cell, "gru": gru_cell}


def sequence(kind: str, p: Mapping[str, Array]) -> Outputs:
    """Return the states after every step, each (..., batch, time, hidden); p holds x, h0 (and c0) and the weights."""
    names = STATES[kind]
    states = [p[f"{name}0"] for name in names]
    after: list[list[Array]] = [[] for _ in names]
    for t in range(p["x"].shape[-2]):
        states = list(CELLS[kind]({**p, "x": p["x"][..., t, :], **dict(zip(names, states, strict=True))}))
        for values, state in zip(after, states, strict=True):
            values.append(state)
    return tuple(np.stack(values, axis=-2) for values in after)


def draw_weights(rng: np.random.Generator, kind: str, features: int, hidden: int) -> Params:
    """Return weights that keep the size of their input, and biases that are not zero."""
    columns = GATES[kind] * hidden
    weights = {
        "W_x": rng.normal(size=(features, columns)) / math.sqrt(features),
        "W_h": rng.normal(size=(hidden, columns)) / math.sqrt(hidden),
    }
    return {**weights, **{name: 0.7 * rng.normal(size=columns) for name in BIASES[kind]}}


def draw_step(rng: np.random.Generator, kind: str, batch: int, features: int, hidden: int) -> Params:
    """Return x and the states of one step."""
    return {
        "x": rng.normal(size=(batch, features)),
        **{name: rng.normal(size=(batch, hidden)) for name in STATES[kind]},
    }


def draw_sequences(rng: np.random.Generator, kind: str, batch: int, time: int, features: int, hidden: int) -> Params:
    """Return x and the states before the first step."""
    states = {f"{name}0": rng.normal(size=(batch, hidden)) for name in STATES[kind]}
    return {"x": rng.normal(size=(batch, time, features)), **states}


def draw_sizes(rng: np.random.Generator, count: int, least: int = 2) -> list[int]:
    """Return that many different sizes, so that no two axes of a shape can be confused."""
    return [int(size) for size in rng.choice(np.arange(least, least + count + 1), size=count, replace=False)]


def wrong_arguments(inputs: Mapping[str, Array], weights: Mapping[str, Array]) -> list[tuple[Params, Params]]:
    """Return inputs and weights, each time with one array that broadcasting might accept and the contract does not."""
    found: list[tuple[Params, Params]] = []
    for name, value in inputs.items():
        others = [value[:1], value[..., :1], value[..., None, :], value[0]]
        found += [({**inputs, name: other}, dict(weights)) for other in others if other.shape != value.shape]
    for name, value in weights.items():
        others = [value[..., :1], value[None], np.concatenate([value, value], axis=-1)]
        found += [(dict(inputs), {**weights, name: other}) for other in others]
    return found


def wrong_gradients(grad: Array) -> list[Array]:
    """Return arrays that broadcast with a gradient or slice like it, but have another shape."""
    longer = np.concatenate([grad, grad], axis=1)
    return [grad[:1], grad[:, :1], grad[..., :1], grad[0], longer, grad[None], grad[..., None]]


def unpack(result: Any, *names: str) -> Any:
    """Return the values of a tuple; AssertionError naming them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def named_gradients(result: Any, inputs: Mapping[str, Array]) -> dict[str, Any]:
    """Return the gradients of a backward call by the names of its forward's inputs and weights."""
    *of_inputs, of_weights = unpack(result, *(f"grad_{name}" for name in inputs), "grad_weights")
    if not isinstance(of_weights, Mapping):
        raise AssertionError(f"grad_weights: expected a dict, got {type(of_weights).__name__}")
    return {**dict(zip(inputs, of_inputs, strict=True)), **of_weights}


def assert_gradients(actual: Mapping[str, Any], numerical: Mapping[str, Array], of: str = "") -> None:
    """Assert that gradients agree with finite differences, name by name; of says what they are the gradients of."""
    if set(actual) != set(numerical):
        raise AssertionError(f"expected gradients of {sorted(numerical)}, got those of {sorted(map(str, actual))}")
    for name, expected in numerical.items():
        assert_gradient(actual[name], expected, name=f"grad_{name}{of}")


def numerical_gradients(
    outputs: Callable[[Params], Outputs], grads: Outputs, arguments: Params, step: float = 1e-6
) -> Params:
    """Return the gradients of the sum of outputs(arguments) * grads by central differences.

    All steps of one argument are taken in one call, on a leading axis that every argument then has.
    """
    gradients = {}
    for name, value in arguments.items():
        steps = step * np.eye(value.size).reshape(value.size, *value.shape)
        moved = np.concatenate([value + steps, value - steps])
        results = outputs({other: each[None] for other, each in arguments.items()} | {name: moved})
        sums = sum(
            (result * grad).reshape(2 * value.size, -1).sum(axis=1) for result, grad in zip(results, grads, strict=True)
        )
        above, below = np.asarray(sums).reshape(2, value.size)
        gradients[name] = ((above - below) / (2 * step)).reshape(value.shape)
    return gradients


def slope(outputs: Callable[[Params], Outputs], grads: Outputs, arguments: Params, name: str, along: Array) -> float:
    """Return how the sum of outputs * grads changes as one argument moves along a direction, by two calls."""
    step = 1e-5
    above, below = (outputs({**arguments, name: arguments[name] + sign * step * along}) for sign in (1, -1))
    return sum(float(((a - b) * grad).sum()) for a, b, grad in zip(above, below, grads, strict=True)) / (2 * step)


def global_norm(grads: Mapping[str, Array]) -> float:
    """Return the norm of all numbers of all arrays."""
    return math.sqrt(math.fsum(number**2 for grad in grads.values() for number in grad.astype(float).ravel().tolist()))


def windows(data: Array, length: int, stride: int) -> tuple[Array, Array]:
    """Return inputs and targets, element by element."""
    inputs, targets = [], []
    start = 0
    while start + length < len(data):
        inputs.append([data[start + t] for t in range(length)])
        targets.append([data[start + t + 1] for t in range(length)])
        start += stride
    return np.array(inputs), np.array(targets)


def loss_and_gradient(logits: Array, targets: Array, mask: Array | None) -> tuple[float, Array]:
    """Return the mean of -log softmax(logits)[target] over the real tokens, and its gradient, token by token."""
    real = np.broadcast_to(np.asarray(1 if mask is None else mask), targets.shape)
    places = [place for place in np.ndindex(targets.shape) if real[place] == 1]
    losses, gradient = [], np.zeros(logits.shape)
    for place in places:
        row, target = logits[place].astype(float).tolist(), int(targets[place])
        log_total = max(row) + math.log(math.fsum(math.exp(score - max(row)) for score in row))
        losses.append(log_total - row[target])
        for k, score in enumerate(row):
            gradient[(*place, k)] = (math.exp(score - log_total) - (k == target)) / len(places)
    return math.fsum(losses) / max(len(places), 1), gradient


def double(arrays):
    """Return the arrays of a dict as float64."""
    return {name: value.astype(np.float64) for name, value in arrays.items()}
