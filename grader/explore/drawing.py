"""What a stage draws beside its steps: curves, planes, small images, and graphs of numbers. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Numbers = tuple[float, ...]
Rows = tuple[Numbers, ...]
Limits = tuple[float, float]
MARGIN = 0.04  # of a range, left free at both ends


def numbers(values: NDArray[np.float64]) -> Numbers:
    """Return the values of an array of one axis as floats."""
    return tuple(float(value) for value in values)


def rows(values: NDArray[np.float64]) -> Rows:
    """Return the values of an array of two axes, row by row."""
    return tuple(numbers(row) for row in values)


@dataclass(frozen=True)
class Series:
    """Named values over x: a line or, where dots says so, a mark at each place."""

    name: str
    x: Numbers
    y: Numbers
    dots: bool = False


@dataclass(frozen=True)
class Chart:
    """One panel of curves; up bounds what is shown of y, where the values themselves should not.

    Of a logarithmic axis up holds powers of ten.
    """

    title: str
    series: tuple[Series, ...]
    up: Limits | None = None


@dataclass(frozen=True)
class Curves:
    """Curves in one or more panels with axes of the same names; caption says what to notice."""

    id: str
    title: str
    caption: str
    x_name: str
    y_name: str
    panels: tuple[Chart, ...]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Points:
    """Points of one kind, such as a class; labels, if there are any, one for each."""

    name: str
    x: Numbers
    y: Numbers
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Path:
    """Places in the order in which they were visited."""

    name: str
    x: Numbers
    y: Numbers


@dataclass(frozen=True)
class Field:
    """A number for each place of a grid: values[i][j] at x[j], y[i]; regions are numbered, levels are heights."""

    kind: Literal["regions", "levels"]
    x: Numbers
    y: Numbers
    values: Rows


@dataclass(frozen=True)
class Map:
    """One panel of a plane; across and up bound what is shown."""

    title: str
    across: Limits
    up: Limits
    points: tuple[Points, ...] = ()
    paths: tuple[Path, ...] = ()
    field: Field | None = None


@dataclass(frozen=True)
class Plane:
    """A plane in one or more panels, with axes of the same names; caption says what to notice."""

    id: str
    title: str
    caption: str
    x_name: str
    y_name: str
    panels: tuple[Map, ...]


@dataclass(frozen=True)
class Image:
    """One small image, values[row][column], NaN where there is no value yet; names of its rows and columns, if any."""

    title: str
    values: Rows
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Images:
    """Small images, shown from low to high; signed ones have a colour for each sign, and high = -low."""

    id: str
    title: str
    caption: str
    x_name: str
    y_name: str
    panels: tuple[Image, ...]
    low: float
    high: float
    signed: bool = False


@dataclass(frozen=True)
class Node:
    """A number that was computed: its name or expression, its value, its gradient, and its place in the picture.

    column counts from the left, row from the top, both from 0.
    """

    name: str
    column: int
    row: int
    value: float
    gradient: float


@dataclass(frozen=True)
class Graph:
    """Numbers and what they went into: an edge leads from one node to another, by their numbers in nodes.

    An edge runs along the row of its first node as far as the column before its second, where no node may stand.
    """

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Graphs:
    """Graphs of numbers that were computed from each other; caption says what to notice."""

    id: str
    title: str
    caption: str
    panels: tuple[Graph, ...]


Drawing = Curves | Plane | Images | Graphs
Panel = Chart | Map | Image | Graph


def panels_of(drawing: Drawing) -> tuple[Panel, ...]:
    """Return the panels of a drawing of any kind."""
    return drawing.panels


def names_of(panel: Panel) -> tuple[str, ...]:
    """Return the names that a legend of a panel has: of its series, or its paths and then its points."""
    if isinstance(panel, Chart):
        return tuple(each.name for each in panel.series)
    if isinstance(panel, Map):
        return (*(each.name for each in panel.paths), *(each.name for each in panel.points))
    return ()


def shares_names(drawing: Drawing) -> bool:
    """Say whether one legend serves all panels."""
    return len({names_of(panel) for panel in panels_of(drawing)}) == 1


def reach(values: tuple[Numbers, ...], log: bool = False) -> Limits:
    """Return from where to where an axis should reach, with a margin: in powers of ten where log says so.

    >>> reach(((0.0, 1.0), (2.0,)))
    (-0.08, 2.08)
    """
    found = np.concatenate([np.asarray(each, dtype=np.float64) for each in values])
    found = np.log10(found[found > 0]) if log else found
    if not found.size:
        return 0.0, 1.0
    low, high = float(found.min()), float(found.max())
    free = MARGIN * (high - low) or max(abs(high), 1.0) / 2
    return low - free, high + free


def node_lines(node: Node) -> tuple[str, str, str]:
    """Return what a box says of a node.

    >>> node_lines(Node("a = 3 x", 1, 0, 6.0, 13.0))
    ('a = 3 x', 'value 6', 'grad 13')
    """
    return node.name, f"value {node.value + 0.0:.4g}", f"grad {node.gradient + 0.0:.4g}"


def is_whole(drawing: Images) -> bool:
    """Say whether all values of all images are whole numbers."""
    cells = [value for image in drawing.panels for row in image.values for value in row]
    return all(float(value).is_integer() for value in cells if not np.isnan(value))


def cell_number(value: float, whole: bool) -> str:
    """Return the number in a cell, never as -0.

    >>> cell_number(-0.001, False), cell_number(39.0, True)
    ('0.00', '39')
    """
    return f"{value + 0.0:.0f}" if whole else f"{round(value, 2) + 0.0:.2f}"


def chart_limits(chart: Chart, drawing: Curves) -> tuple[Limits, Limits]:
    """Return the limits of x and y of a panel; of a logarithmic axis as powers of ten."""
    across = [np.asarray(each.x) for each in chart.series]
    found = [np.log10(x[x > 0]) if drawing.log_x else x for x in across]
    ends = np.concatenate([x for x in found if x.size] or [np.array([0.0, 1.0])])
    low, high = float(ends.min()), float(ends.max())
    free = MARGIN * (high - low) if all(each.dots for each in chart.series) else 0.0
    across_limits = (low - free, high + free) if high > low else (low - 0.5, high + 0.5)
    return across_limits, chart.up or reach(tuple(each.y for each in chart.series), drawing.log_y)
