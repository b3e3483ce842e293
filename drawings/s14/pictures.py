"""What the exploration of stage 14 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.s14.steps import GATES, STEPS_TAKEN, SYMBOLS, TIME, WAIT
from grader.explore.model import Array, Chart, Curves, Drawing, Image, Images, Known, Series, numbers, rows

TITLES = {"rnn": "RNN", "lstm": "LSTM", "gru": "GRU"}
LEAST = 1e-12  # a gradient of nothing has no logarithm


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return memories over time, what of a gradient reaches each step, and what a trained LSTM keeps."""
    found: list[Drawing] = []
    steps = tuple(str(step) if step % 5 == 0 else "" for step in range(1, TIME + 1))
    kinds = [kind for kind in GATES if kind in known]
    if kinds:
        panels = tuple(Image(TITLES[kind], _shares(known[kind]), (), steps) for kind in kinds)
        caption = "Something came in at step 1 only: the RNN soon forgets it, gates that keep hold it for many steps."
        found.append(Images("memory", "Memory over time", caption, "step", "units", panels, -1.0, 1.0, signed=True))
    reached = [kind for kind in GATES if f"{kind}-reach" in known]
    if reached:
        x = numbers(np.arange(1.0, TIME + 1))
        series = tuple(Series(TITLES[kind], x, numbers(np.maximum(known[f"{kind}-reach"], LEAST))) for kind in reached)
        caption = "How much each step could still change the last state: early ones hardly anything in an RNN."
        chart = (Chart("Gradient of the last state", series),)
        found.append(Curves("reach", "How far gradients reach back", caption, "step", "size", chart, log_y=True))
    if "losses" in known:
        x = numbers(np.arange(1.0, STEPS_TAKEN + 1))
        chart = (Chart("Which symbol came first?", (Series("loss", x, numbers(known["losses"])),)),)
        caption = "It begins at log 4, as good as guessing one of four, and falls once the gates learn to keep."
        found.append(Curves("loss", "Training an LSTM", caption, "step", "loss", chart))
        shown = tuple("?" if step == WAIT - 1 else "." if step else " " for step in range(WAIT))
        panels = tuple(
            Image(f"after {name}", rows(hs.T), (), shown) for name, hs in zip(SYMBOLS, known["hs"], strict=True)
        )
        caption = "Each symbol leaves a pattern of its own, which the states carry through the blanks to the question."
        found.append(
            Images("kept", "What the trained LSTM keeps", caption, "step", "units", panels, -1.0, 1.0, signed=True)
        )
    return tuple(found)


def _shares(memory: Array) -> tuple[tuple[float, ...], ...]:
    """Return units by steps, as shares of the strongest."""
    return rows(memory.T / (float(np.abs(memory).max()) or 1.0))
