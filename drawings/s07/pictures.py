"""What the exploration of stage 7 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.s07.steps import CLASSES, EACH, GRID, ITERATIONS, LOOKS, Z
from grader.explore.model import (
    Chart,
    Curves,
    Drawing,
    Field,
    Image,
    Images,
    Known,
    Map,
    Plane,
    Points,
    Series,
    numbers,
    rows,
)


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return borders, losses, the confusion matrix, and the curves behind them."""
    found: list[Drawing] = []
    if "borders" in known:
        maps = tuple(_map(count, known) for count in LOOKS)
        caption = (
            "Softmax regression draws straight borders; they turn until lines part the clouds as well as they can."
        )
        found.append(Plane("borders", "Decision borders", caption, "first feature", "second feature", maps))
        x = numbers(np.arange(float(ITERATIONS + 1)))
        chart = (Chart("Softmax regression", (Series("loss", x, numbers(known["losses"])),)),)
        caption = "It begins at log 3, as good as guessing; where clouds overlap it cannot reach 0."
        found.append(Curves("losses", "Loss", caption, "step", "cross-entropy", chart))
    if "table" in known:
        names = tuple(f"is {c}" for c in range(CLASSES))
        image = Image("Samples", rows(known["table"]), names, tuple(f"as {c}" for c in range(CLASSES)))
        caption = "Rows are true classes, columns what they were taken for: the diagonal is right."
        found.append(
            Images("confusion", "Confusion matrix", caption, "taken for", "true class", (image,), 0.0, float(EACH))
        )
    charts = []
    if "sigmoid" in known:
        charts.append(Chart("Sigmoid", (Series("probability", numbers(Z), numbers(known["sigmoid"])),)))
    if "costs" in known:
        costs = tuple(
            Series(f"target {target}", numbers(Z), numbers(values)) for target, values in known["costs"].items()
        )
        charts.append(Chart("Cross-entropy", costs))
    if "softmax" in known:
        series = tuple(Series(f"class {c}", numbers(Z), numbers(known["softmax"][:, c])) for c in range(CLASSES))
        charts.append(Chart("Softmax of z, 0 and -z", series))
    if charts:
        caption = "To be sure and wrong costs in proportion to how sure; to be sure and right costs nothing."
        found.append(Curves("curves", "From scores to probabilities to costs", caption, "z", "value", tuple(charts)))
    return tuple(found)


def _map(count: int, known: Known) -> Map:
    X, y = known["X"], known["y"]
    ends = float(GRID[0]), float(GRID[-1])
    points = tuple(Points(f"class {c}", numbers(X[y == c, 0]), numbers(X[y == c, 1])) for c in range(CLASSES))
    field = Field("regions", numbers(GRID), numbers(GRID), rows(known["borders"][count]))
    return Map(f"After {count} step{'s' * (count > 1)}", ends, ends, points, field=field)
