"""What the exploration of stage 11 draws of what its steps found."""

from __future__ import annotations

from drawings.s11.steps import CORNERS, GRID, LABELS, NAMES
from grader.explore.model import Array, Chart, Curves, Drawing, Field, Known, Map, Plane, Points, Series, numbers, rows


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return the curves that there are, and the borders in the plane."""
    found: list[Drawing] = []
    charts = tuple(_chart(name, known) for name in NAMES if name in known)
    if charts:
        caption = (
            "Where the slope is near 0, left of relu and at both ends of tanh, a unit saturates and hardly learns."
        )
        found.append(Curves("activations", "Activations and their slopes", caption, "z", "value", charts))
    titles = {"AND": "AND, one perceptron", "OR": "OR, one perceptron", "XOR": "XOR, one perceptron"}
    maps = [_map(titles[kind], known[f"{kind}-regions"], kind) for kind in LABELS if f"{kind}-regions" in known]
    if "two-layers" in known:
        maps.append(_map("XOR, two layers", known["two-layers"], "XOR"))
    if maps:
        caption = "One line parts 0 from 1 for AND and OR; no line can for XOR, two layers can."
        found.append(Plane("borders", "What they tell apart", caption, "first bit", "second bit", tuple(maps)))
    return tuple(found)


def _chart(name: str, known: Known) -> Chart:
    x = numbers(known["z"])
    series = [Series("value", x, numbers(known[name]))]
    if f"{name}-slope" in known:
        series.append(Series("slope", x, numbers(known[f"{name}-slope"])))
    return Chart(name, tuple(series), (-1.6, 4.2))


def _map(title: str, values: Array, kind: str) -> Map:
    points = tuple(
        Points(f"class {label}", numbers(CORNERS[LABELS[kind] == label, 0]), numbers(CORNERS[LABELS[kind] == label, 1]))
        for label in (0, 1)
    )
    ends = (float(GRID[0]), float(GRID[-1]))
    return Map(title, ends, ends, points, field=Field("regions", numbers(GRID), numbers(GRID), rows(values)))
