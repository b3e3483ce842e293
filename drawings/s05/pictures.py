"""What the exploration of stage 5 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.s05.steps import SCHEDULES, TOTAL, height
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

ACROSS, UP = (-5.0, 2.0), (-2.4, 2.4)
TINY = 1e-12  # a loss of nothing has no logarithm
FAMILIES = (
    ("Plain, and with line search", ("sgd", "search")),
    ("Momentum", ("momentum", "nesterov")),
    ("A rate for each entry", ("adagrad", "rmsprop", "adam", "adamw")),
)
SHOWN = {"search": "line search"}


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return paths on the valley, losses and schedules, as far as there are any."""
    x, y = np.linspace(*ACROSS, 71), np.linspace(*UP, 61)
    grid = np.array([[height(np.array([a, b])) for a in x] for b in y])
    field = Field("levels", numbers(x), numbers(y), rows(grid))
    least = (Points("minimum", (0.0,), (0.0,)),)
    maps, charts = [], []
    for title, rules in FAMILIES:
        there = [(SHOWN.get(rule, rule), known[rule]) for rule in rules if rule in known]
        if there:
            paths = tuple(Path(name, numbers(path[:, 0]), numbers(path[:, 1])) for name, path in there)
            maps.append(Map(title, ACROSS, UP, least, paths, field))
            charts.append(Chart(title, tuple(_losses(name, path) for name, path in there)))
    found: list[Drawing] = []
    if maps:
        caption = (
            "From the same place down the same valley: plain steps zigzag across it, momentum swings past its end, "
            "Adagrad and RMSprop walk almost straight, and Adam does a little of both."
        )
        found.append(Plane("paths", "Paths of the optimisers", caption, "x", "y", tuple(maps)))
        caption = "Straight down on a logarithmic scale means that each step takes the same share off the loss."
        found.append(Curves("losses", "Losses along the paths", caption, "step", "f", tuple(charts), log_y=True))
    steps = numbers(np.arange(TOTAL + 1.0))
    series = tuple(Series(name, steps, numbers(known[name])) for name in SCHEDULES if name in known)
    if series:
        caption = "All fall from the base rate, after a rise or at once; they differ in when most of the fall happens."
        found.append(
            Curves("schedules", "Learning rate over the steps", caption, "step", "rate", (Chart("Schedules", series),))
        )
    return tuple(found)


def _losses(name: str, path: Array) -> Series:
    values = np.array([max(height(x), TINY) for x in path])
    return Series(name, numbers(np.arange(len(values), dtype=np.float64)), numbers(values))
