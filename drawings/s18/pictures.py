"""What the exploration of stage 18 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.s18.steps import STEPS_TAKEN
from grader.explore.model import Chart, Curves, Drawing, Image, Images, Known, Series, numbers, rows


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return how the loss fell, and what each head attends to in what was read."""
    found: list[Drawing] = []
    if "losses" in known:
        x = numbers(np.arange(1.0, STEPS_TAKEN + 1))
        chart = (Chart("Cross-entropy of the next word", (Series("loss", x, numbers(known["losses"])),)),)
        caption = "Pairs of words are learnt first; that the last word follows from the first noun takes longer."
        found.append(Curves("loss", "Training", caption, "step", "loss", chart))
    if "weights" in known:
        words = known["read"]
        panels = tuple(Image(f"head {n}", rows(table), words, words) for n, table in enumerate(known["weights"]))
        caption = "A row for each word that was read: what follows it was chosen by looking back at these words."
        found.append(Images("heads", "What each head attends to", caption, "attended to", "after", panels, 0.0, 1.0))
    return tuple(found)
