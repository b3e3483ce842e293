"""Stage 11: every activation beside its slope, and what one perceptron and two layers can tell apart."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Known, Reading, Run, Step
from grader.explore.values import array, bounded, listing, scalar, several, span, told

NAMES = ("relu", "leaky_relu", "elu", "gelu", "swish", "tanh", "softplus", "mish")
MORE: Mapping[str, Mapping[str, float]] = {
    "leaky_relu": {"alpha": 0.1}
}  # what is seen; by default it is relu to the eye
Z = np.linspace(-4, 4, 81)  # with 0 in the middle, where some have a kink
STEP, NEAR = 1e-4, 1e-4
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
LABELS = {"AND": np.array([0, 0, 0, 1]), "OR": np.array([0, 1, 1, 1]), "XOR": np.array([0, 1, 1, 0])}
EPOCHS, RATE = 10, 1.0
GRID = np.linspace(-0.4, 1.4, 37)
AT = 1000.0  # where a careless formula overflows
GIVEN = "z from -4 to 4 · AND, OR and XOR of two bits"


def start(example: None, seed: int) -> Known:
    """Return what the steps begin with."""
    return {"z": Z, "X": CORNERS}


def _curve(name: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        z, function = known["z"], partial(getattr(learner, name), **MORE.get(name, {}))
        y = bounded(array(function(z), z.shape, ("points",)))
        ends = bounded(array(function(np.array([-AT, AT])), (2,), name="at -1000 and 1000"))
        facts = (span(y, "values"), told("at -1000 and 1000", ends))
        return Reading({name: y}, y.shape, ("points",), facts)

    return run


def _slope(name: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        z, more = known["z"], MORE.get(name, {})
        function = partial(getattr(learner, name), **more)
        slope = bounded(array(getattr(learner, f"{name}_derivative")(z, **more), z.shape, ("points",)))
        up, down = (bounded(array(function(z + h), z.shape)) for h in (STEP, -STEP))
        measured = (up - down) / (2 * STEP)
        off = np.abs(measured - slope)
        off[np.abs(z) < STEP] = 0.0  # a kink has no slope
        wrong: tuple[str, ...] = ()
        if off.max() > NEAR * max(1.0, float(np.abs(measured).max())):
            at = int(off.argmax())
            wrong = (f"at z = {z[at]:.1f} the curve rises by {measured[at]:.3f}, the derivative says {slope[at]:.3f}",)
        return Reading({f"{name}-slope": slope}, slope.shape, ("points",), (span(slope, "slopes"),), wrong)

    return run


def _perceptron(kind: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        X, y = known["X"], LABELS[kind]
        first, second, third = several(learner.perceptron_train(X, y, RATE, EPOCHS), ("weights", "bias", "errors"))
        weights = bounded(array(first, (2,), ("features",), name="weights"), "weights")
        bias, errors = scalar(second, "bias"), listing(third, EPOCHS, "errors")
        wrong: tuple[str, ...] = ()
        if kind != "XOR" and errors[-1] != 0:
            wrong = (f"{kind} can be learnt by one perceptron, but the last epoch has {errors[-1]:g} errors",)
        values = {kind: (weights, bias), f"{kind}-errors": errors}
        return Reading(
            values,
            weights.shape,
            ("features",),
            (told("weights and bias", (*weights, bias)), told("errors", errors)),
            wrong,
        )

    return run


def _grid() -> Array:
    x, y = np.meshgrid(GRID, GRID)
    return np.stack([x.ravel(), y.ravel()], axis=1)


def _regions(kind: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        weights, bias = known[kind]
        predicted = array(learner.perceptron_predict(_grid(), weights, bias), (GRID.size**2,), ("samples",))
        wrong = () if np.isin(predicted, (0, 1)).all() else ("a prediction should be 0 or 1",)
        found = np.clip(predicted, 0, 1).round().reshape(GRID.size, GRID.size)
        return Reading({f"{kind}-regions": found}, (GRID.size**2,), ("samples",), (), wrong)

    return run


def _xor(learner: Any, known: Known) -> Reading:
    answers = bounded(array(learner.xor_network(known["X"]), (4,), ("samples",)))
    field = bounded(array(learner.xor_network(_grid()), (GRID.size**2,), ("samples",)))
    right = np.abs(answers - LABELS["XOR"]).max() < 0.02
    wrong = () if right else ("the answers for 00, 01, 10 and 11 should be 0, 1, 1 and 0",)
    found = (field > 0.5).astype(np.float64).reshape(GRID.size, GRID.size)
    return Reading({"two-layers": found}, (4,), ("samples",), (told("answers", answers),), wrong)


def _notice(known: Known) -> str | None:
    flat = [name for name in NAMES if f"{name}-slope" in known and abs(known[f"{name}-slope"][0]) < 0.01]
    return f"at z = -4 hardly any gradient comes through {', '.join(flat)}." if flat else None


def _pair(name: str) -> tuple[Call, Call]:
    given = "".join(f", {key}={value}" for key, value in MORE.get(name, {}).items())
    return (
        Call(name, f"{name}(z{given})", name, (), _curve(name)),
        Call(f"{name}-slope", f"{name}_derivative(z{given})", f"{name}_derivative", (name,), _slope(name)),
    )


def _trained(kind: str) -> tuple[Call, Call]:
    call = f"perceptron_train(X, {kind}, learning_rate=1, num_epochs=10)"
    predict = "perceptron_predict"
    return (
        Call(kind, call, "perceptron_train", (), _perceptron(kind)),
        Call(f"{kind}-regions", f"{predict}(grid, weights, bias)", predict, (kind,), _regions(kind)),
    )


GROUPS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("kinked", "Bent lines", "0 or little on one side, z itself on the other.", ("relu", "leaky_relu", "elu")),
    ("gated", "Smooth gates", "z times a share that grows from 0 to 1: they dip below 0 before they rise.",
     ("gelu", "swish", "mish")),
    ("squashing", "Tanh and softplus", "One ends on both sides; the other is relu made smooth.", ("tanh", "softplus")),
)  # fmt: skip
STEPS = (
    *(
        Step(name, title, text, tuple(call for each in names for call in _pair(each)))
        for name, title, text, names in GROUPS
    ),
    Step("perceptron", "One perceptron", "A line in the plane, moved after each mistake.",
         tuple(call for kind in LABELS for call in _trained(kind))),
    Step("xor", "Two layers", "Hidden units first bend the plane; then one line is enough.",
         (Call("two-layers", "xor_network(X)", "xor_network", (), _xor),), notice=_notice),
)  # fmt: skip
