"""What the exploration of stage 19 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.s19.steps import STEPS_TAKEN
from grader.explore.model import Chart, Curves, Drawing, Image, Images, Known, Series, numbers, rows


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return the loss over the training, and the alignment of the sentence with its reverse."""
    found: list[Drawing] = []
    if "losses" in known:
        x = numbers(np.arange(1.0, STEPS_TAKEN + 1))
        chart = (Chart("Reversed sentences", (Series("loss", x, numbers(known["losses"])),)),)
        caption = "With smoothed targets it does not fall to 0: the least is the entropy of the targets."
        found.append(Curves("loss", "Training a Transformer", caption, "step", "loss", chart))
    if "alignment" in known:
        source = tuple(known["vocabulary"][token] for token in known["source"][0])
        heads = known["alignment"]
        panels = tuple(
            Image(f"Head {head}", rows(weights), known["written"], source) for head, weights in enumerate(heads)
        )
        caption = "A row for each written token: where it looked in the source. Reversed, that is the other diagonal."
        found.append(Images("alignment", "Alignment", caption, "read", "written", panels, 0.0, 1.0))
    return tuple(found)
