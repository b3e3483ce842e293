"""What the exploration of stage 23 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.s23.steps import BASES, HEADS, KEPT, PLACES, READ, STEPS_TAKEN, WINDOW
from grader.explore.model import Chart, Curves, Drawing, Image, Images, Known, Series, numbers, rows


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return products by distance, weights of heads that share keys, what a cache keeps, and how the loss fell."""
    found: list[Drawing] = []
    if "products" in known:
        x = numbers(np.arange(float(PLACES)))
        series = tuple(
            Series(f"base {base:,.0f}", x, numbers(line)) for base, line in zip(BASES, known["products"], strict=True)
        )
        caption = "A query and a key of ones: the smaller the base, the sooner their product falls with distance."
        chart = (Chart("As a share of the product at distance 0", series),)
        found.append(Curves("rotary", "Rotary positions", caption, "distance", "product", chart))
    if "weights" in known:
        panels = tuple(Image(f"head {n}", rows(table)) for n, table in enumerate(known["weights"]))
        caption = f"{HEADS} heads of queries look at 2 heads of keys; no query sees more than {WINDOW} of them."
        found.append(Images("heads", "Who sees whom", caption, "key", "query", panels, 0.0, 1.0))
    if "kept" in known:
        names = tuple(str(place) for place in range(READ))
        panel = (Image(f"a window of {KEPT}", rows(known["kept"]), names, names),)
        caption = "A row for each position that was appended: 1 for those that are kept, the last of what was read."
        found.append(Images("cache", "A rolling cache", caption, "position", "after", panel, 0.0, 1.0))
    if "losses" in known:
        x = numbers(np.arange(1.0, STEPS_TAKEN + 1))
        start = Series("that of a guess", x, numbers(np.full(STEPS_TAKEN, known["guess"])))
        chart = (Chart("Cross-entropy of the next word", (Series("loss", x, numbers(known["losses"])), start)),)
        caption = "It begins near that of a guess, falls to what pairs of words tell, and falls again."
        found.append(Curves("loss", "Training by your loop", caption, "step", "loss", chart))
    return tuple(found)
