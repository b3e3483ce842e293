"""What to notice in the lesson's own sentence; each is said only where the numbers show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from grader.explore.model import Known
from grader.explore.values import number

THE, CAT, SAT, DOWN = range(4)


def _raw(known: Known) -> str | None:
    raw = known["raw"]
    others = raw - np.diag(np.diag(raw))
    if others.argmax() != SAT * len(raw) + DOWN:
        return None
    return f"sat and down share features 3 to 5, and score {number(raw[SAT, DOWN])}: more than any other two words."


def _scaled(known: Known) -> str | None:
    if "raw" not in known or not np.ptp(known["scaled"]) < np.ptp(known["raw"]):
        return None
    return "the range is narrower by √6 = 2.449, and which score is the higher of two is as before."


def _masked(known: Known) -> str | None:
    if known["mask"].sum() != 10:
        return None
    return "The may see only itself, down all four words: 6 of 16 scores go."


def _weights(known: Known) -> str | None:
    weights = known["weights"]
    if not (weights.argmax(axis=1) == range(4)).all():
        return None
    text = f"each word attends most to itself, and sat also to down ({weights[SAT, DOWN]:.2f})"
    causal = known.get("causal-weights")
    if causal is not None and abs(causal[THE, THE] - 1) < 1e-6:
        text += "; under the mask The has only itself (1.00)"
    return f"{text}."


def _output(known: Known) -> str | None:
    causal = known.get("causal-output")
    if causal is None or np.abs(causal[THE] - known["V"][THE]).max() > 1e-6:
        return None
    return "the shape is that of the input. Under the mask The stays as it was: there is nothing else to average."


def _heads(known: Known) -> str | None:
    weights = known["head-weights"]
    if len(weights) != 2 or not weights[1, SAT, DOWN] > weights[0, SAT, DOWN]:
        return None
    first, second = weights[0, SAT, DOWN], weights[1, SAT, DOWN]
    return f"sat and down meet in features 3 to 5 only: sat gives down {first:.2f} in head 0, {second:.2f} in head 1."


S15: Mapping[str, Callable[[Known], str | None]] = {
    "raw-scores": _raw,
    "scaled-scores": _scaled,
    "masked-scores": _masked,
    "weights": _weights,
    "output": _output,
    "heads": _heads,
}
