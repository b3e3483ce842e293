"""What the exploration of stage 6 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.s06.steps import DEGREES, GRID, mean_square
from grader.explore.model import (
    Array,
    Chart,
    Curves,
    Drawing,
    Field,
    Known,
    Map,
    Path,
    Plane,
    Points,
    Series,
    numbers,
    rows,
)


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return fit, way down, losses, and the errors by degree."""
    found: list[Drawing] = []
    if "line" in known:
        found.append(_line(known))
    if "losses" in known:
        found += [_losses(known), _surface(known)]
    if "curves" in known:
        found += [_errors(known), _degrees(known)]
    return tuple(found)


def _line(known: Known) -> Curves:
    samples = Series("samples", numbers(known["X"][:, 0]), numbers(known["y"]), dots=True)
    weights, bias = known["line"]
    line = Series("line", numbers(GRID), numbers(GRID * weights[0] + bias))
    caption = "No other line has a smaller sum of squared distances; that the points bend, it cannot follow."
    panels = (Chart("Samples and line", (line, samples)),)
    return Curves("line", "The line of least squares", caption, "x", "y", panels)


def _losses(known: Known) -> Curves:
    steps = numbers(np.arange(float(len(known["losses"]))))
    series = (
        Series("gradient descent", steps, numbers(known["losses"])),
        Series("least", (0.0, steps[-1]), (known["least"],) * 2),
    )
    caption = "Each step takes a share of what is left: fast at first, then ever slower towards the least."
    return Curves("losses", "Loss", caption, "step", "mean squared error", (Chart("Gradient descent", series),))


def _errors(known: Known) -> Curves:
    x = numbers(np.array(DEGREES, dtype=np.float64))
    series = (
        Series("training", x, numbers(known["errors"][:, 0])),
        Series("test", x, numbers(known["errors"][:, 1])),
    )
    panels = (Chart("Training and test", series),)
    caption = "The training error only falls; the test error tells when to stop."
    return Curves("errors", "Error by degree", caption, "degree", "mean squared error", panels, log_y=True)


def _degrees(known: Known) -> Curves:
    (X, _), (y, _) = known["split"]
    samples = Series("training samples", numbers(X[:, 0]), numbers(y), dots=True)
    panels = tuple(
        Chart(f"Degree {degree}", (Series("fit", numbers(GRID), numbers(curve)), samples), _ends(known["y"]))
        for degree, curve in known["curves"].items()
    )
    caption = "Too few features miss the bend, too many chase every sample."
    return Curves("degrees", "Polynomials", caption, "x", "y", panels)


def _ends(y: Array) -> tuple[float, float]:
    return float(y.min()) - 0.3, float(y.max()) + 0.3


def _surface(known: Known) -> Plane:
    (weight,), bias = known["line"]
    path, X, y = known["path"], known["X"][:, 0], known["y"]
    wide = 1.3 * max(abs(weight), 0.5), 1.3 * max(np.abs(path[:, 1] - bias).max(), 0.5)
    across, up = (weight - wide[0], weight + wide[0]), (bias - wide[1], bias + wide[1])
    a, b = np.linspace(*across, 61), np.linspace(*up, 51)
    heights = np.array([[mean_square(y, X * w + c) for w in a] for c in b])
    field = Field("levels", numbers(a), numbers(b), rows(heights))
    least = Points("least", (float(weight),), (float(bias),))
    way = Path("gradient descent", numbers(path[:, 0]), numbers(path[:, 1]))
    caption = "From weight 0 and bias 0, always straight down the loss, to where it is least."
    panel = Map("Loss of each line", across, up, (least,), (way,), field)
    return Plane("surface", "The way down", caption, "weight", "bias", (panel,))
