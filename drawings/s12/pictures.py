"""What the exploration of stage 12 draws of what its steps found."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from drawings.s12.steps import DEPTH, EPOCHS, GRID, SAMPLES, UNITS, after, rng_of
from grader.explore.model import Array, Chart, Curves, Drawing, Field, Known, Map, Plane, Points, Series, numbers, rows

CHAINS: Mapping[str, tuple[str, Callable[[Array], Array]]] = {
    "he, relu": ("he_normal", lambda z: np.maximum(z, 0)),
    "xavier, relu": ("xavier_uniform", lambda z: np.maximum(z, 0)),
    "xavier, tanh": ("xavier_uniform", np.tanh),
}


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return borders over training, losses, and the size of signals."""
    found: list[Drawing] = []
    maps = [_map(times, known) for times in range(len(EPOCHS) + 1) if after(times) in known]
    if maps:
        caption = "The border starts anywhere, is nearly straight at first, and then bends into the spirals."
        found.append(Plane("borders", "The border between two spirals", caption, "x", "y", tuple(maps)))
    if "losses" in known:
        epochs = numbers(np.arange(1.0, len(known["losses"]) + 1))
        series = (
            Series("loss", epochs, numbers(known["losses"])),
            Series("accuracy", epochs, numbers(known["shares"])),
        )
        caption = "The loss falls on for a long time after most points are right: it wants the network to be sure."
        found.append(Curves("history", "Training", caption, "epoch", "value", (Chart("Loss and accuracy", series),)))
    chains = tuple(_signals(name, known) for name, (drawn, _) in CHAINS.items() if drawn in known)
    if chains:
        caption = (
            "He's weights keep the size of signals through ReLU layers; Xavier's lose half of their power in each."
        )
        chart = (Chart(f"{UNITS} units a layer, new weights", chains),)
        found.append(Curves("signals", "Size of signals", caption, "layer", "root mean square", chart, log_y=True))
    return tuple(found)


def _signals(name: str, known: Known) -> Series:
    drawn, bend = CHAINS[name]
    x, sizes = rng_of(known, 9).standard_normal((SAMPLES, UNITS)), []
    for W in known[drawn]:
        x = bend(x @ W)
        sizes.append(float(np.sqrt((x**2).mean())))
    return Series(name, numbers(np.arange(1.0, DEPTH + 1)), tuple(sizes))


def _map(times: int, known: Known) -> Map:
    X, y = known["X"], known["y"]
    ends = float(GRID[0]), float(GRID[-1])
    points = tuple(Points(f"spiral {c}", numbers(X[y == c, 0]), numbers(X[y == c, 1])) for c in (0, 1))
    field = Field("regions", numbers(GRID), numbers(GRID), rows(known[after(times)]))
    title = f"After {sum(EPOCHS[:times])} epochs" if times else "Before training"
    return Map(title, ends, ends, points, field=field)
