"""Stage 16, backward: the ten steps of the gradient chain, each beside central differences of the same loss.

The loss is L = Σ output · dY with a dY drawn from the seed. Weights and inputs are nudged before the learner's own
forward; a step in the middle is nudged in what forward left, and the rest of the forward pass is done here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drawings.s16.forward import (
    EMBEDDED,
    GIVEN,
    HEADS,
    MATRICES,
    SCORES,
    SPLIT,
    forward,
    joined,
    norm,
    shares_of,
    stopped,
    transposed,
)
from grader.explore.model import Array, Call, Fact, Known, Reading, Run, Step
from grader.explore.values import Unfit, array, number, span

Loss = Callable[[Array], float]
MATRIX = ("embedding", "embedding")
NUDGE = 1e-5  # of the largest value that is nudged
PLACES = 3  # that are measured
CLOSE = 1e-4  # relative error from which a gradient is not the one that was measured
LEAST = 1e-6  # below which gradients are told from nothing no more
CHAIN = (
    ("gradient_output_weights", "concatenated_headsᵀ · dY", "output_weights", MATRIX, "gradient-output-weights"),
    ("gradient_attention_output", "split_heads(dY · W_Oᵀ)", "attention_output", HEADS, "gradient-attention-output"),
    ("gradient_attention_weights", "dO · values_multiheadᵀ", "attention_weights", SCORES, "gradient-attention-weights"),
    ("gradient_value", "attention_weightsᵀ · dO", SPLIT[2], HEADS, "gradient-value"),
    ("gradient_attention_scores", "A ∘ (dA - rowsum(dA ∘ A))", "scaled_scores", SCORES, "gradient-attention-scores"),
    ("gradient_key", "dSᵀ · queries_multihead · scale_factor", SPLIT[1], HEADS, "gradient-key"),
    ("gradient_query", "dS · keys_multihead · scale_factor", SPLIT[0], HEADS, "gradient-query"),
    ("gradient_value_weights", "X_Vᵀ · dV", "value_weights", MATRIX, "gradient-projection-weights"),
    ("gradient_key_weights", "X_Kᵀ · dK", "key_weights", MATRIX, "gradient-projection-weights"),
    ("gradient_query_weights", "X_Qᵀ · dQ", "query_weights", MATRIX, "gradient-projection-weights"),
)
OF_INPUTS = (
    ("gradient_query_input", "dQ · W_Qᵀ", "query_input", EMBEDDED, "input-gradients"),
    ("gradient_key_input", "dK · W_Kᵀ", "key_input", EMBEDDED, "input-gradients"),
    ("gradient_value_input", "dV · W_Vᵀ", "value_input", EMBEDDED, "input-gradients"),
)
MEANINGS = (
    ("Output weights", "What the joined heads gave meets what the loss wants of the output."),
    ("Attention output", "Back through W_O, and split among the heads again."),
    ("Attention weights", "How the loss changes with each weight, if the weights of a row were free."),
    ("Values", "A value is read by every query that looks at it: their gradients are summed."),
    (
        "Scores",
        "The weights of a row share one total, so what counts is to lie above the row's average. Rows sum to 0.",
    ),
    ("Keys", "The sum runs over the queries that met the key."),
    ("Queries", "The rows of dS belong to the queries: nothing is transposed."),
    ("Value weights", "The inputs that were projected meet the gradient of what they became."),
    ("Key weights", "The same product with the keys' gradient."),
    ("Query weights", "The same product with the queries' gradient."),
)


def _backward(learner: Any, known: Known) -> Reading:
    """Run backward, and read all that it left at once: where it is not finished, what came before is there."""
    if known["failure"] is not None:
        raise known["failure"]
    layer, failure, left = known["layer"], None, {}
    try:
        layer.backward(known["grad_output"])
    except Exception as error:
        if not hasattr(error, "learner_frames"):
            raise
        failure = error
    for name, *_ in (*CHAIN, *OF_INPUTS):
        try:
            left[name] = getattr(layer, name)
        except AttributeError:
            left[name] = None
    if failure is not None and left["gradient_output_weights"] is None:
        raise failure
    values = {"left": left, "backward-failure": failure}
    return Reading(values) if failure is None else stopped("backward", failure, values)


def _read(name: str, of: str, axes: tuple[str, ...]) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        value = known["left"][name]
        if value is None:
            if known["backward-failure"] is not None:
                raise known["backward-failure"]
            raise Unfit(f"backward leaves no attribute {name}")
        found = array(value, known[of].shape, axes, name=name)
        return Reading({name: found}, found.shape, axes, (norm(found), span(found)))

    return run


def _places(gradient: Array, allowed: Array, seed: int) -> list[tuple[int, ...]]:
    """Return where the gradient is largest, and other places by chance: of scores only those that are allowed."""
    there = np.argwhere(np.broadcast_to(allowed, gradient.shape) if gradient.shape[-2:] == allowed.shape
                        else np.ones(gradient.shape, dtype=bool))  # fmt: skip
    drawn = np.random.default_rng(seed).permutation(len(there))
    sizes = np.abs([gradient[tuple(place)] for place in there])
    order = dict.fromkeys([int(sizes.argmax()), *drawn.tolist()])
    return [tuple(int(i) for i in there[place]) for place in list(order)[:PLACES]]


def _inner(known: Known) -> dict[str, Loss]:
    """Return the loss as a function of each step in the middle, with all others as forward left them."""
    A = known["attention_weights"]
    Q, K, V = (known[name] for name in SPLIT)
    products, scaled = Q @ transposed(K), known["scaled_scores"]
    size = float((products**2).sum())
    scale = float((scaled * products).sum()) / size if size > 0 else 1.0  # queries or keys may carry it already

    def of_output(output: Array) -> float:
        return float((joined(output) @ known["output_weights"] * known["grad_output"]).sum())

    def of_scores(scores: Array) -> float:
        return of_output(shares_of(np.where(known["allowed"], scores, -np.inf)) @ V)

    return {
        "attention_output": of_output,
        "attention_weights": lambda weights: of_output(weights @ V),
        SPLIT[2]: lambda values: of_output(A @ values),
        "scaled_scores": of_scores,
        SPLIT[1]: lambda keys: of_scores(Q @ transposed(keys) * scale),
        SPLIT[0]: lambda queries: of_scores(queries @ transposed(K) * scale),
    }


def _through(known: Known, name: str) -> Loss:
    """Return the loss as a function of weights or of an input, by the learner's own forward."""
    probe = known["probe"]

    def loss(values: Array) -> float:
        if name in MATRICES:
            setattr(probe, name, values)
            output: object = forward(probe, known)
        else:
            given = {**{each: known[each] for each in GIVEN}, name: values}
            output = probe.forward(*(given[each] for each in GIVEN), causal=known["causal"])
        shape = known["grad_output"].shape
        return float((array(output, shape, EMBEDDED, name="output") * known["grad_output"]).sum())

    return loss


def _measured(name: str, of: str, axes: tuple[str, ...]) -> Run:
    """Return the run that measures a gradient at a few places, and compares."""

    def run(learner: Any, known: Known) -> Reading:
        found, at = known[name], known[of]
        loss = _through(known, of) if of in (*MATRICES, *GIVEN) else _inner(known)[of]
        no_mask = known["allowed"] if axes == SCORES else np.True_
        places = _places(found, np.asarray(no_mask), known["seed"])
        step = NUDGE * max(float(np.abs(at).max()), 1e-3)
        slopes = [_slope(loss, at, place, step) for place in places]
        if of in MATRICES:
            setattr(known["probe"], of, at)
        return _compared(name, places, np.array([found[place] for place in places]), np.array(slopes), known)

    return run


def _slope(loss: Loss, at: Array, place: tuple[int, ...], step: float) -> float:
    """Return the central difference of the loss at one place."""
    ends = []
    for sign in (1, -1):
        nudged = at.copy()
        nudged[place] += sign * step
        ends.append(loss(nudged))
    return (ends[0] - ends[1]) / (2 * step)


def _compared(name: str, places: list[tuple[int, ...]], given: Array, slopes: Array, known: Known) -> Reading:
    """Return both columns and the relative error; the scores before the scale are as good as those behind it."""
    if name == "gradient_attention_scores":
        scale = known[SPLIT[0]].shape[-1] ** -0.5
        slopes = min(slopes, slopes * scale, key=lambda each: float(np.abs(given - each).max()))
    size = max(float(np.abs(given).max()), float(np.abs(slopes).max()), LEAST)
    error = float(np.abs(given - slopes).max()) / size
    wrong = () if error <= CLOSE else (f"{name} is not what central differences give: relative error {number(error)}",)
    columns = [(label, tuple(float(each) for each in column)) for label, column in
               (("gradient", given), ("measured", slopes))]  # fmt: skip
    facts = [
        Fact(label, column, f"{label} {' '.join(f'{each:10.3g}' for each in column)}") for label, column in columns
    ]
    facts.append(Fact("relative error", (error,), f"relative error {number(error)}"))
    shown = ", ".join(str(list(place)) for place in places)
    errors = {f"{name}-error": error}
    return Reading(errors, None, (), tuple(facts), wrong, f"central differences at {shown}")


def _calls(
    entry: tuple[str, str, str, tuple[str, ...], str], function: str = "Attention.backward"
) -> tuple[Call, Call]:
    name, formula, of, axes, row = entry
    inner = ("scaled_scores", "attention_output", "attention_weights", *SPLIT)
    needs = (name, "output") if of in (*MATRICES, *GIVEN) else (name, *inner)
    return (
        Call(name, f"{name} = {formula}", function, ("left", of), _read(name, of, axes), row),
        Call(f"{name}-measured", "central differences", function, needs, _measured(name, of, axes), row),
    )


_BEGIN = Call("left", "layer.backward(dY)", "Attention.backward", ("output",), _backward)
BACKWARD = tuple(
    Step(entry[0].replace("_", "-"), f"Backward {number_} · {title}", meaning,
         (*((_BEGIN,) if number_ == 1 else ()), *_calls(entry)), process="layer")
    for number_, (entry, (title, meaning)) in enumerate(zip(CHAIN, MEANINGS, strict=True), 1)
)  # fmt: skip
INPUT = Step(
    "input-gradients", "Inputs", "One input that is query, key and value has the sum of the three as its gradient.",
    tuple(call for entry in OF_INPUTS for call in _calls(entry)), process="layer",
)  # fmt: skip
