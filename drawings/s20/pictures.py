"""What the exploration of stage 20 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.s20.steps import DIM, SHOWN, SIZE
from grader.explore.model import Array, Chart, Curves, Drawing, Image, Images, Known, Series, numbers, rows

KERNELS = 6  # of those that are shown
HALF = 8  # of the patches: as many rows as the image has


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return a digit and its patches, kernels, the loss, and what the class token took of each digit."""
    found: list[Drawing] = []
    if "patches" in known:
        cut = (Image("image", _ink(known["x"][0, 0])), Image(f"first {HALF} patches", _ink(known["patches"][0, :HALF])))
        caption = "Each row on the right is one square on the left, line by line; four rows are one row of squares."
        found.append(Images("patches", "A digit in patches", caption, "pixels", "pixels", cut, 0.0, 1.0))
    if "kernels" in known:
        most = float(np.abs(known["kernels"]).max()) or 1.0
        panels = tuple(
            Image(f"feature {place}", rows(kernel[0])) for place, kernel in enumerate(known["kernels"][:KERNELS])
        )
        caption = f"Columns of the weights, in the shape of a patch: {KERNELS} of {DIM}, as they are before training."
        found.append(Images("kernels", "Kernels", caption, "pixels", "pixels", panels, -most, most, signed=True))
    if "losses" in known:
        x = numbers(np.arange(1, len(known["losses"]) + 1, dtype=np.float64))
        chart = (Chart("Cross-entropy", (Series("loss", x, numbers(known["losses"])),)),)
        caption = "Guessing costs ln 10 = 2.303. The loss jumps, since each step sees other digits."
        found.append(Curves("loss", "Its loss", caption, "step", "loss", chart))
    if "maps" in known:
        panels = (
            *(Image(f"a {digit}", _ink(pixels[0])) for digit, pixels in zip(SHOWN, known["x"], strict=True)),
            *(Image(f"map of {digit}", _shares(shares)) for digit, shares in zip(SHOWN, known["maps"], strict=True)),
        )
        caption = (
            f"Each patch as a share of the map's largest. A model that gets {known['right']:.0%} of other digits right "
            "may look beside the ink."
        )
        found.append(Images("rollout", "What the class token looks at", caption, "pixels", "pixels", panels, 0.0, 1.0))
    return tuple(found)


def _ink(pixels: Array) -> tuple[tuple[float, ...], ...]:
    """Return pixels from 0 (paper) to 1 (ink)."""
    return rows((pixels + 1) / 2)


def _shares(shares: Array) -> tuple[tuple[float, ...], ...]:
    """Return a map at the size of its image, as shares of its largest value."""
    return rows(np.asarray(np.kron(shares / (shares.max() or 1.0), np.ones((SIZE, SIZE))), dtype=np.float64))
