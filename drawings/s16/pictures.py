"""What the exploration of stage 16 draws beside the weights: small images of its steps, and how gradients agree."""

from __future__ import annotations

import numpy as np

from drawings.labels import short
from drawings.s16.backward import CHAIN, CLOSE
from drawings.s16.forward import SPLIT
from grader.explore.model import Array, Chart, Curves, Drawing, Image, Images, Known, Series, numbers, rows

MOST = 24  # features or heads up to which a step is drawn
EXACT = 1e-16  # an error that is drawn in place of 0


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return the steps that are known and small enough, forward and then backward."""
    words, keys = short(known["words"]), short(known["keys"])
    found: list[Drawing | None] = [
        _heads("projections", "Queries, keys and values", "Each head has its own features of every word.", known,
               tuple(zip(SPLIT, "QKV", strict=True)), "feature", (words, keys, keys)),
        _heads("scores", "Scores", _nearer(known), known,
               (("attention_scores", "scores"), ("scaled_scores", "scaled")), "key", (words, words), keys),
        _joined(known, words),
        _heads("gradients-of-scores", "Gradients of weights and scores",
               _balance(known), known,
               (("gradient_attention_weights", "dA"), ("gradient_attention_scores", "dS")), "key",
               (words, words), keys),
        _heads("gradients-of-heads", "Gradients of queries, keys and values",
               "A row of zeros: the loss does not change with that word's part.", known,
               (("gradient_query", "dQ"), ("gradient_key", "dK"), ("gradient_value", "dV")), "feature",
               (words, keys, keys)),
        _matrices(known),
        _errors(known),
    ]  # fmt: skip
    return tuple(each for each in found if each is not None)


def _nearer(known: Known) -> str:
    """Return what to notice of the scores, as far as they show it."""
    both = "attention_scores" in known and "scaled_scores" in known
    if both and np.ptp(known["scaled_scores"]) < np.ptp(known["attention_scores"]):
        return "Both on one scale: divided by √head_dimension, they lie nearer together."
    return "A row for each query, a column for each key."


def _balance(known: Known) -> str:
    scores = known.get("gradient_attention_scores")
    if scores is not None and np.abs(scores.sum(axis=-1)).max() < 1e-6 * max(1.0, float(np.abs(scores).max())):
        return "The rows of dS sum to 0: what one score gains, the others of its row lose."
    return "How the loss changes with each weight, and with each score."


def _images(name: str, title: str, caption: str, names: tuple[str, str], panels: list[Image]) -> Images | None:
    """Return signed images of one size, of those panels that have the size of the first."""
    shapes = [np.shape(each.values) for each in panels]
    panels = [each for each, shape in zip(panels, shapes, strict=True) if shape == shapes[0]]
    if not panels or max(shapes[0]) > MOST or len(panels) > MOST:
        return None
    high = max(float(np.abs(each.values).max()) for each in panels) or 1.0
    return Images(name, title, caption, *names, tuple(panels), -high, high, signed=True)


def _heads(
    name: str,
    title: str,
    caption: str,
    known: Known,
    shown: tuple[tuple[str, str], ...],
    across: str,
    words: tuple[tuple[str, ...], ...],
    columns: tuple[str, ...] = (),
) -> Images | None:
    """Return a panel for each array and head, head by head."""
    there = [(known[key][0], label, names) for (key, label), names in zip(shown, words, strict=True) if key in known]
    panels = [
        Image(f"{label}, head {head}", rows(_seen(values[head])), names, columns)
        for head in range(known["heads"])
        for values, label, names in there
    ]
    return _images(name, title, caption, (across, "word"), panels)


def _seen(values: Array) -> Array:
    return np.where(np.isfinite(values), values, 0.0)


def _joined(known: Known, words: tuple[str, ...]) -> Images | None:
    there = [(known[key][0], title) for key, title in (("concatenated_heads", "heads joined"), ("output", "output"))
             if key in known]  # fmt: skip
    panels = [Image(title, rows(values), words) for values, title in there]
    caption = "Joined, head 0's features should come first; W_O mixes what the heads have found."
    return _images("output", "Heads joined, and the output", caption, ("feature", "word"), panels)


def _matrices(known: Known) -> Images | None:
    there = [(name, label) for name, label in (
        ("gradient_query_weights", "dW_Q"), ("gradient_key_weights", "dW_K"),
        ("gradient_value_weights", "dW_V"), ("gradient_output_weights", "dW_O")) if name in known]  # fmt: skip
    panels = [Image(label, rows(known[name])) for name, label in there]
    caption = "What a step of learning would change, and which way."
    return _images("gradients-of-weights", "Gradients of the four matrices", caption, ("to", "from"), panels)


def _errors(known: Known) -> Curves | None:
    """Return the relative error of each backward step that could be measured."""
    there = [(number, known[f"{name}-error"]) for number, (name, *_) in enumerate(CHAIN, 1) if f"{name}-error" in known]
    if not there:
        return None
    steps, errors = (np.array(column, dtype=np.float64) for column in zip(*there, strict=True))
    ends = np.array([1.0, len(CHAIN)])
    series = (
        Series("relative error", numbers(steps), numbers(np.maximum(errors, EXACT)), dots=True),
        Series("allowed", numbers(ends), numbers(np.full(2, CLOSE))),
    )
    caption = "Each gradient against central differences of the same loss: a step above the line is not its gradient."
    panel = Chart("Backward steps 1 to 10", series)
    return Curves("differences", "Finite differences", caption, "backward step", "relative error", (panel,), log_y=True)
