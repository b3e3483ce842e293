"""Stage 12: how large signals stay through many layers, and the border between two spirals while it is learnt."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Fact, Known, Reading, Run, Step
from grader.explore.values import Unfit, array, bounded, counts, fall, listing, number, scalar, several, span, told
from grader.sandbox.proxies import RemoteValue

DEPTH, UNITS, SAMPLES = 10, 128, 200
SIZES, KINDS = (2, 32, 32, 2), ("relu", "relu", "linear")
POINTS, TURNS, NOISE = 100, 1, 0.03  # of each spiral
EPOCHS = (2, 8, 30)  # so many at a time, with a look at the border after each
BATCH, RATE = 10, 0.1
GRID = np.linspace(-3.4, 3.4, 41)
TRAINING = "training"
SLOPE_STEP = 1e-5
ENOUGH = 0.9  # of the points right at the end
SPREADS: Mapping[str, float] = {"xavier_uniform": 1 / UNITS, "he_normal": 2 / UNITS}  # variances of square weights
GIVEN = f"two spirals of {POINTS} points each"


def start(example: None, seed: int) -> Known:
    """Return two spirals, (2 * POINTS, 2), and their classes."""
    rng = np.random.default_rng(seed=seed)
    way = np.tile((np.arange(POINTS) + 0.5) / POINTS, 2)
    y = np.repeat([0, 1], POINTS)
    angle = 2 * np.pi * TURNS * way + np.pi * y
    radius = 0.3 + 2.7 * way
    X = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    X = X + NOISE * rng.standard_normal(X.shape)
    return {"X": X, "y": y, "seed": seed}


def rng_of(known: Known, number: int) -> np.random.Generator:
    return np.random.default_rng([known["seed"], number])


def _weights(name: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        drawn = [getattr(learner, name)(UNITS, UNITS, rng_of(known, 10 + layer)) for layer in range(DEPTH)]
        weights = np.stack([bounded(array(W, (UNITS, UNITS), ("fan_in", "fan_out"))) for W in drawn])
        variance = float(weights.var())
        wrong: tuple[str, ...] = ()
        if not 0.9 < variance / SPREADS[name] < 1.1:
            wrong = (f"the variance should be near {SPREADS[name]:.4f}, it is {variance:.4f}",)
        facts = (Fact("variance", (variance,), f"variance {variance:.4f}"), span(weights))
        return Reading({name: weights}, (UNITS, UNITS), ("fan_in", "fan_out"), facts, wrong)

    return run


def _norm(learner: Any, known: Known) -> Reading:
    x, ones, zeros = known["X"] * 5 + 3, np.ones(2), np.zeros(2)
    returned = learner.batch_norm_forward(x, ones, zeros, zeros, ones, True)
    first = several(returned, ("output", "running_mean", "running_var", "cache"))[0]
    output = bounded(array(first, x.shape, ("batch", "features"), name="output"))
    wrong = []
    if np.abs(output.mean(axis=0)).max() > 1e-6:
        wrong.append("the mean of each feature should be 0 after it")
    if np.abs(output.std(axis=0) - 1).max() > 1e-2:
        wrong.append("the standard deviation of each feature should be 1 after it")
    facts = (
        told("mean before", x.mean(axis=0)),
        told("after", output.mean(axis=0)),
        told("std after", output.std(axis=0)),
    )
    return Reading({}, output.shape, ("batch", "features"), facts, tuple(wrong))


def _network(learner: Any, known: Known) -> Reading:
    rng = rng_of(known, 1)
    layers = [learner.Dense(*sizes, kind, rng) for sizes, kind in zip(pairwise(SIZES), KINDS, strict=True)]
    made = learner.NeuralNetwork(layers)
    if not isinstance(made, RemoteValue):
        raise Unfit(f"NeuralNetwork(layers) is {type(made).__name__}, where an object of your class was expected")
    logits = _logits(made, known["X"])
    return Reading({"network": made, "logits": logits}, logits.shape, ("batch", "classes"), (span(logits),))


def _logits(network: Any, X: Array) -> Array:
    return bounded(array(network.forward(X), (len(X), SIZES[-1]), ("batch", "classes")))


def _loss(learner: Any, known: Known) -> Reading:
    logits, y = known["logits"], known["y"]
    loss = scalar(learner.compute_loss(logits, y), "loss")
    grad = bounded(array(learner.compute_loss_gradient(logits, y), logits.shape, ("batch", "classes"), name="gradient"))
    even = scalar(learner.compute_loss(np.zeros_like(logits), y), "loss")
    way = rng_of(known, 8).standard_normal(logits.shape)
    ends = [scalar(learner.compute_loss(logits + h * way, y), "loss") for h in (SLOPE_STEP, -SLOPE_STEP)]
    measured, said = (ends[0] - ends[1]) / (2 * SLOPE_STEP), float((grad * way).sum())
    wrong = []
    if abs(even - np.log(2)) > 1e-6:
        wrong.append(f"where both classes are equally likely it costs log 2 = 0.693, not {number(even)}")
    elif abs(measured - said) > 1e-4 * max(1.0, abs(measured)):
        wrong.append(f"along one direction the loss rises by {number(measured)}, the gradient says {number(said)}")
    elif np.abs(grad.sum(axis=1)).max() > 1e-9:
        wrong.append("each row of the gradient should sum to 0: what one class gains the other loses")
    return Reading({}, None, (), (Fact("loss", (loss,), f"loss {number(loss)}"), span(grad, "gradient")), tuple(wrong))


def _border(key: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        x, y = np.meshgrid(GRID, GRID)
        found = _logits(known["network"], np.stack([x.ravel(), y.ravel()], axis=1)).argmax(axis=1)
        right = float((_logits(known["network"], known["X"]).argmax(axis=1) == known["y"]).mean())
        fact = Fact("right", (right,), f"{100 * right:.0f} % of the points right")
        wrong: tuple[str, ...] = ()
        if key == after(len(EPOCHS)) and right < ENOUGH:
            wrong = (f"after {sum(EPOCHS)} epochs nearly all points should be right, it is {100 * right:.0f} %",)
        return Reading({key: found.reshape(GRID.size, GRID.size)}, None, (), (fact,), wrong)

    return run


def _train(index: int) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        epochs, rng = EPOCHS[index], rng_of(known, 2 + index)
        history = learner.train(known["network"], known["X"], known["y"], epochs, BATCH, RATE, rng)
        if not isinstance(history, dict) or not {"loss", "accuracy"} <= set(history):
            raise Unfit("history should be a dict with the lists loss and accuracy")
        losses, shares = (listing(history[name], epochs, f"history[{name!r}]") for name in ("loss", "accuracy"))
        all_losses = np.concatenate([known.get("losses", np.array([])), losses])
        all_shares = np.concatenate([known.get("shares", np.array([])), shares])
        wrong: tuple[str, ...] = ()
        if not all_losses[-1] < all_losses[0] + (1e-9 if len(all_losses) == 1 else 0.0):
            wrong = (f"the loss should fall: it was {number(all_losses[0])}, now {number(all_losses[-1])}",)
        elif shares.min() < 0 or shares.max() > 1:
            wrong = ("an accuracy is a share, from 0 to 1",)
        values = {"losses": all_losses, "shares": all_shares, f"trained-{index}": True}
        return Reading(values, None, (), (fall("loss", all_losses), counts("epochs", (epochs,))), wrong)

    return run


def after(times: int) -> str:
    return f"border-{sum(EPOCHS[:times])}"


def _trained(index: int) -> tuple[Call, Call]:
    before = "network" if index == 0 else f"trained-{index - 1}"
    call = f"train(network, X, y, {EPOCHS[index]}, {BATCH}, {RATE}, rng)"
    return (
        Call(f"trained-{index}", call, "train", (before,), _train(index)),
        Call(after(index + 1), "network.forward(grid)", "NeuralNetwork.forward", (f"trained-{index}",),
             _border(after(index + 1))),
    )  # fmt: skip


STEPS = (
    Step("weights", "First weights", "How large they are decides whether signals survive many layers.", tuple(
        Call(name, f"{name}({UNITS}, {UNITS}, rng)", name, (), _weights(name)) for name in SPREADS
    )),
    Step("norm", "Batch normalisation", "Every feature of a batch is brought to mean 0 and standard deviation 1.", (
        Call("norm", "batch_norm_forward(x, 1, 0, 0, 1, training=True)", "batch_norm_forward", (), _norm),
    )),
    Step("network", "A network", "Layers one after another: 2 inputs, 32 and 32 hidden units, 2 classes.", (
        Call("network", "NeuralNetwork(layers).forward(X)", "NeuralNetwork", (), _network),
        Call("loss", "compute_loss(logits, y), compute_loss_gradient", "compute_loss", ("logits",), _loss),
        Call(after(0), "network.forward(grid)", "NeuralNetwork.forward", ("network",), _border(after(0))),
    ), process=TRAINING),
    Step("training", "Training", "Each batch moves every weight a little downhill; the border follows.",
         tuple(call for index in range(len(EPOCHS)) for call in _trained(index)), process=TRAINING),
)  # fmt: skip
