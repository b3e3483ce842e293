"""Stage 14: what three kinds of units remember, how far gradients reach back, and an LSTM that learns to remember."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Fact, Known, Reading, Run, Step
from grader.explore.values import Unfit, array, bounded, fall, number, scalar, several, told
from grader.sandbox.proxies import RemoteValue

UNITS, TIME, FEATURES = 8, 24, 2
GATES: Mapping[str, int] = {"rnn": 1, "lstm": 4, "gru": 3}
KEEP = 3.0  # bias of the gate that keeps
SYMBOLS, WAIT, HIDDEN = "abcd", 7, 10
STEPS_TAKEN, RATE, CLIP = 90, 0.05, 1.0
SHAPES: Mapping[str, tuple[int, ...]] = {
    "W_x": (len(SYMBOLS) + 1, 4 * HIDDEN),
    "W_h": (HIDDEN, 4 * HIDDEN),
    "b": (4 * HIDDEN,),
}
SLOPE_STEP, OFF = 1e-5, 1e-4
GIVEN = f"{UNITS} units over {TIME} steps · sequences that begin with a, b, c or d"


def start(example: None, seed: int) -> Known:
    """Return an input that is there in the first step only, (1, TIME, FEATURES), and weights of the three kinds."""
    rng = np.random.default_rng(seed=seed)
    x = np.zeros((1, TIME, FEATURES))
    x[:, 0] = (3.0, -3.0)
    return {"x": x, "weights": {kind: _weights(kind, rng) for kind in GATES}, "seed": seed}


def _weights(kind: str, rng: np.random.Generator) -> dict[str, Array]:
    """Return weights; the state itself is turned and shortened by an RNN, gates are moved little by the state."""
    count = GATES[kind]
    turns = [
        (0.8 if kind == "rnn" else 0.2) * np.linalg.qr(rng.standard_normal((UNITS, UNITS)))[0] for _ in range(count)
    ]
    drawn = {"W_x": rng.standard_normal((FEATURES, count * UNITS)), "W_h": np.concatenate(turns, axis=1)}
    if kind == "gru":
        return {**drawn, "b_x": np.repeat([0.0, KEEP, 0.0], UNITS), "b_h": np.zeros(count * UNITS)}
    return {**drawn, "b": np.repeat([0.0, KEEP, 0.0, 0.0] if kind == "lstm" else [0.0], UNITS)}


def _forward(kind: str, learner: Any, x: Array, weights: dict[str, Array]) -> tuple[Array, Array, object]:
    """Return hs, what remembers (the cell states of an LSTM, else hs), and the cache."""
    zeros, shape = np.zeros((1, UNITS)), (1, TIME, UNITS)
    axes = ("batch", "time", "hidden")
    if kind == "lstm":
        first, second, cache = several(learner.lstm_forward(x, zeros, zeros, weights), ("hs", "cs", "cache"))
        return bounded(array(first, shape, axes, name="hs")), bounded(array(second, shape, axes, name="cs")), cache
    first, cache = several(getattr(learner, f"{kind}_forward")(x, zeros, weights), ("hs", "cache"))
    hs = bounded(array(first, shape, axes, name="hs"))
    return hs, hs, cache


def _memory(kind: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        hs, memory, _ = _forward(kind, learner, known["x"], known["weights"][kind])
        wrong = () if np.abs(hs).max() <= 1 + 1e-9 else ("states lie between -1 and 1",)
        lengths = np.linalg.norm(memory[0], axis=1)
        return Reading(
            {kind: memory[0]}, hs.shape, ("batch", "time", "hidden"), (fall("length of the memory", lengths),), wrong
        )

    return run


def _reach(kind: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        x, weights = known["x"], known["weights"][kind]
        rng = np.random.default_rng(known["seed"])
        x = 0.5 * rng.standard_normal(x.shape)
        hs, _, cache = _forward(kind, learner, x, weights)
        grad = np.zeros_like(hs)
        grad[:, -1] = 1.0
        given = (grad, np.zeros_like(grad), cache) if kind == "lstm" else (grad, cache)
        returned = getattr(learner, f"{kind}_backward")(*given)
        names = (
            ("grad_x", "grad_h0", "grad_c0", "grad_weights")
            if kind == "lstm"
            else ("grad_x", "grad_h0", "grad_weights")
        )
        grad_x = bounded(array(several(returned, names)[0], x.shape, ("batch", "time", "features"), name="grad_x"))
        way = rng.standard_normal(x.shape)
        ends = [_forward(kind, learner, x + h * way, weights)[0][:, -1].sum() for h in (SLOPE_STEP, -SLOPE_STEP)]
        measured, said = float(ends[0] - ends[1]) / (2 * SLOPE_STEP), float((grad_x * way).sum())
        wrong: tuple[str, ...] = ()
        if abs(measured - said) > OFF * max(1.0, abs(measured)):
            wrong = (f"along one direction the last state rises by {number(measured)}, grad_x says {number(said)}",)
        sizes = np.linalg.norm(grad_x[0], axis=1)
        facts = (told("at the first and the last step", (sizes[0], sizes[-1])),)
        return Reading({f"{kind}-reach": sizes}, grad_x.shape, ("batch", "time", "features"), facts, wrong)

    return run


def _task() -> tuple[Array, Any]:
    """Return one sequence for each symbol: the symbol, then blanks until the last step asks for it."""
    x = np.zeros((len(SYMBOLS), WAIT, len(SYMBOLS) + 1))
    x[np.arange(len(SYMBOLS)), 0, np.arange(len(SYMBOLS))] = 1.0
    x[:, -1, -1] = 1.0
    return x, np.repeat(np.arange(len(SYMBOLS))[:, None], WAIT, axis=1)


@dataclass
class _Learning:
    """The parameters of a layer and of what reads its states, and Adam's averages of their gradients."""

    params: dict[str, Array]
    first: dict[str, Array]
    second: dict[str, Array]
    steps: int = 0

    def move(self, grads: dict[str, Array]) -> None:
        """Take one step of Adam, so that few steps are enough."""
        self.steps += 1
        for name, slope in grads.items():
            self.first[name] = 0.9 * self.first[name] + 0.1 * slope
            self.second[name] = 0.99 * self.second[name] + 0.01 * slope**2
            size = np.sqrt(self.second[name] / (1 - 0.99**self.steps)) + 1e-8
            self.params[name] = self.params[name] - RATE * self.first[name] / (1 - 0.9**self.steps) / size


def _train(learner: Any, known: Known) -> Reading:
    rng = np.random.default_rng(known["seed"])
    x, targets = _task()
    layer = learner.LSTM(x.shape[2], HIDDEN, rng)
    if not isinstance(layer, RemoteValue):
        raise Unfit(f"LSTM(…) is {type(layer).__name__}, where an object of your class was expected")
    params = _arrays(layer.params, SHAPES, "params")
    params["out"] = 0.1 * rng.standard_normal((HIDDEN, len(SYMBOLS)))
    first, second = ({name: np.zeros_like(value) for name, value in params.items()} for _ in range(2))
    learning, losses = _Learning(params, first, second), []
    for _ in range(STEPS_TAKEN):
        losses.append(_step(learner, layer, learning, x, targets))
    hs = bounded(array(layer.forward(x), (len(x), WAIT, HIDDEN), name="hs"))
    right = int(((hs @ params["out"])[:, -1].argmax(axis=1) == targets[:, -1]).sum())
    wrong: tuple[str, ...] = ()
    if losses[-1] > losses[0] / 2:
        wrong = (f"the loss should fall: it was {number(losses[0])}, then {number(losses[-1])}",)
    values = {"losses": np.array(losses), "hs": hs}
    facts = (fall("loss", values["losses"]), Fact("right", (right,), f"{right} of {len(x)} right"))
    return Reading(values, hs.shape, ("batch", "time", "hidden"), facts, wrong)


def _step(learner: Any, layer: Any, learning: _Learning, x: Array, targets: Any) -> float:
    """Run all sequences forwards and backwards, move the parameters, and return the loss before."""
    out = learning.params["out"]
    hs = bounded(array(layer.forward(x), (len(x), WAIT, HIDDEN), ("batch", "time", "hidden"), name="hs"))
    mask = np.zeros_like(targets, dtype=bool)
    mask[:, -1] = True  # only the last answer counts
    first, second = several(learner.sequence_loss(hs @ out, targets, mask), ("loss", "grad_logits"))
    grad_logits = bounded(array(second, (*targets.shape, len(SYMBOLS)), name="grad_logits"))
    layer.backward(grad_logits @ out.T)
    grads = {**_arrays(layer.grads, SHAPES, "grads"), "out": np.einsum("bth,btc->hc", hs, grad_logits)}
    clipped = several(learner.clip_gradients(grads, CLIP), ("clipped", "norm"))[0]
    learning.move(_arrays(clipped, {**SHAPES, "out": out.shape}, "clipped"))
    layer.params = {name: learning.params[name] for name in SHAPES}
    return scalar(first, "loss")


def _arrays(value: object, shapes: Mapping[str, tuple[int, ...]], name: str) -> dict[str, Array]:
    if not isinstance(value, dict) or not set(shapes) <= set(value):
        raise Unfit(f"{name} should be a dict with {', '.join(shapes)}")
    return {key: bounded(array(value[key], shape, name=f"{name}[{key!r}]")) for key, shape in shapes.items()}


def _back(kind: str) -> Call:
    return Call(f"{kind}-reach", f"{kind}_backward(…)", f"{kind}_backward", (kind,), _reach(kind))


STEPS = (
    Step("memory", "Memory", "An input comes once; what is left of it after each step?",
         tuple(Call(kind, f"{kind}_forward(x, …)", f"{kind}_forward", (), _memory(kind)) for kind in GATES)),
    Step("reach", "Gradients through time", "The way back is the way forward: what is forgotten cannot be learnt from.",
         tuple(map(_back, GATES))),
    Step("training", "Learning to remember", "A symbol, blanks, a question: the answer needs the first step.",
         (Call("losses", f"LSTM, sequence_loss, clip_gradients, {STEPS_TAKEN} times", "LSTM", (), _train),)),
)  # fmt: skip
