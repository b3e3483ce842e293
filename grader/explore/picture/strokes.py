"""One panel of a figure: a chart, a plane, an image or a graph on axes of matplotlib."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator

from grader.explore.drawing import (
    Chart,
    Curves,
    Graph,
    Image,
    Images,
    Limits,
    Map,
    Plane,
    cell_number,
    chart_limits,
    is_whole,
    node_lines,
)
from grader.explore.picture.labels import NEAR, placed
from grader.explore.picture.painting import FAINT, INK, LETTER, QUIET, SMALL

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#555555", "#8c6bb1")
MARKERS = "os^DvP*X"
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), "-")
REGIONS = ("#dbe9f6", "#fde3cf", "#d8f0e2", "#f1dcea")
LEVELS = 14
SHORT, MOST = 2.0, 10  # powers of ten; steps between the labels of a logarithmic axis
BOX = (0.34, 0.4)  # half of a box of a graph, in columns and rows
FEW, MANY = 9, 50  # points below which their marks are larger, and places from which a path has none


def _style(number: int) -> tuple[str, str]:
    return COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]


def chart(axes: Axes, panel: Chart, drawing: Curves) -> None:
    """Draw curves, each with a colour and a line or marker of its own."""
    for number, series in enumerate(panel.series):
        colour, marker = _style(number)
        if series.dots:
            size = 8 if len(series.x) < FEW else 4
            axes.plot(series.x, series.y, marker, color=colour, markersize=size, alpha=0.75, markeredgewidth=0,
                      label=series.name, zorder=3)  # fmt: skip
        else:
            axes.plot(series.x, series.y, color=colour, linestyle=DASHES[number % len(DASHES)], linewidth=1.8,
                      label=series.name)  # fmt: skip
    across, up = chart_limits(panel, drawing)
    if drawing.log_x:
        axes.set_xscale("log")
        _readable(axes.xaxis, across)
    if drawing.log_y:
        axes.set_yscale("log")
        _readable(axes.yaxis, up)
    axes.set_xlim(*(10**end if drawing.log_x else end for end in across))
    axes.set_ylim(*(10**end if drawing.log_y else end for end in up))
    axes.grid(color="#e8ecf0", linewidth=0.7)
    axes.set_axisbelow(True)
    _named(axes, drawing)


def _readable(axis: Axis, limits: Limits) -> None:
    """Label a short logarithmic axis with 1, 2 and 5 of each power of ten, a long one at both of its ends."""
    if limits[1] - limits[0] < SHORT:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    elif limits[0].is_integer() and limits[1].is_integer():
        low, high = int(limits[0]), int(limits[1])
        step = next(
            each for each in range(1, high - low + 1) if (high - low) % each == 0 and (high - low) // each <= MOST
        )
        axis.set_major_locator(FixedLocator([10.0**power for power in range(low, high + 1, step)]))


def plane(axes: Axes, panel: Map, drawing: Plane) -> None:
    """Draw regions or levels, then points, then paths."""
    if panel.field is not None:
        values = np.asarray(panel.field.values)
        if panel.field.kind == "regions":
            colours = ListedColormap(REGIONS)
            axes.pcolormesh(panel.field.x, panel.field.y, values % len(REGIONS), cmap=colours, vmin=0,
                            vmax=len(REGIONS) - 1, shading="nearest", rasterized=True)  # fmt: skip
        else:
            edges = np.unique(np.quantile(values, np.linspace(0, 1, LEVELS)))
            if len(edges) > 1:
                axes.contourf(panel.field.x, panel.field.y, values, levels=edges, cmap="Blues", alpha=0.4)
                axes.contour(panel.field.x, panel.field.y, values, levels=edges, colors=FAINT, linewidths=0.6)
    labelled = any(points.labels for points in panel.points)
    for number, points in enumerate(panel.points, start=len(panel.paths)):
        colour, marker = _style(number)
        size = 6.5 if labelled or len(points.x) < FEW else 4
        axes.plot(points.x, points.y, marker, color=colour, markersize=size, markeredgecolor="white",
                  markeredgewidth=0.4, label=points.name, zorder=3)  # fmt: skip
    for number, path in enumerate(panel.paths):
        colour, marker = _style(number)
        marks = marker if len(path.x) < MANY else ""
        axes.plot(path.x, path.y, color=colour, marker=marks, markersize=3.2, linewidth=1.4, label=path.name)
    axes.set(xlim=panel.across, ylim=panel.up)
    if labelled:
        _labels(axes, panel)
    _named(axes, drawing)


def image(axes: Axes, panel: Image, drawing: Images) -> None:
    """Draw an image, light for low and dark for high, or blue, white and red for signed values."""
    values = np.asarray(panel.values)
    low = -drawing.high if drawing.signed else drawing.low
    axes.imshow(values, cmap="RdBu_r" if drawing.signed else "Blues", vmin=low, vmax=max(drawing.high, low + 1e-12),
                interpolation="nearest", aspect="auto")  # fmt: skip
    few, whole = values.size <= 25, is_whole(drawing)
    for (row, column), value in np.ndenumerate(values) if few else ():
        if np.isnan(value):
            axes.text(column, row, "·", ha="center", va="center", fontsize=SMALL, color=QUIET)
            continue
        strong = abs(value) > 0.65 * drawing.high if drawing.signed else value > (low + drawing.high) / 2
        size = SMALL + 1 if whole else SMALL - 2
        axes.text(column, row, cell_number(float(value), whole), ha="center", va="center", fontsize=size,
                  color="white" if strong else INK)  # fmt: skip
    axes.set_xticks(range(len(panel.column_names)), panel.column_names, fontsize=SMALL, color=INK)
    axes.set_yticks(range(len(panel.row_names)), panel.row_names, fontsize=SMALL, color=INK)
    axes.tick_params(length=0, pad=3)
    if panel.column_names:
        figure = axes.figure
        assert isinstance(figure, Figure)
        cell = axes.get_position().width * figure.get_size_inches()[0] / values.shape[1]
        axes.tick_params(axis="x", rotation=90 if name_width(panel.column_names) > cell else 0)
        axes.set_xlabel(drawing.x_name, fontsize=SMALL, color=QUIET, labelpad=2)


def graph(axes: Axes, panel: Graph) -> None:
    """Draw a box for each number and an arrow for each edge, several beside each other where there are several."""
    columns, lines = (1 + max(getattr(node, way) for node in panel.nodes) for way in ("column", "row"))
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(lines - 0.5, -0.5))
    axes.axis("off")
    for node in panel.nodes:
        name, *numbers = node_lines(node)
        axes.text(node.column, node.row - 0.2, name, ha="center", va="center", fontsize=SMALL + 1, color=INK,
                  fontweight="bold", zorder=4, parse_math=False)  # fmt: skip
        axes.text(node.column, node.row + 0.1, "\n".join(numbers), ha="center", va="center", fontsize=SMALL, color=INK,
                  linespacing=1.4, zorder=4, parse_math=False)  # fmt: skip
        box = Rectangle((node.column - BOX[0], node.row - BOX[1]), 2 * BOX[0], 2 * BOX[1], facecolor=REGIONS[0],
                        edgecolor=COLOURS[0], linewidth=1, zorder=3)  # fmt: skip
        axes.add_patch(box)
    for start, end in dict.fromkeys(panel.edges):
        count = panel.edges.count((start, end))
        source, target = panel.nodes[start], panel.nodes[end]
        for number in range(count):
            apart = 0.16 * (number - (count - 1) / 2)
            line = {"arrowstyle": "-|>", "color": QUIET, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
            start_at = source.column + BOX[0], source.row + apart
            end_at = target.column - BOX[0], target.row + apart
            axes.annotate("", end_at, start_at, arrowprops=line)


def name_width(names: Iterable[str]) -> float:
    """Return how many inches the longest name takes below a column."""
    return max(map(len, names)) * SMALL * LETTER


def _named(axes: Axes, drawing: Curves | Plane) -> None:
    axes.set_xlabel(drawing.x_name, fontsize=SMALL, color=QUIET, labelpad=2)
    axes.set_ylabel(drawing.y_name, fontsize=SMALL, color=QUIET, labelpad=2)
    axes.tick_params(labelsize=SMALL - 0.5, length=2, color=FAINT, labelcolor=INK)
    axes.minorticks_off()


def _labels(axes: Axes, panel: Map) -> None:
    """Write the labels of points where they are free; one further off has a line to its point."""
    figure = axes.figure
    assert isinstance(figure, Figure)
    box, (width, height) = axes.get_position(), figure.get_size_inches() * 72
    size = box.width * width, box.height * height
    named = [each for points in panel.points for each in zip(points.labels, points.x, points.y, strict=False)]
    spans = panel.across[1] - panel.across[0], panel.up[1] - panel.up[0]
    points = [((x - panel.across[0]) / spans[0] * size[0], (y - panel.up[0]) / spans[1] * size[1]) for _, x, y in named]
    sizes = [(len(label) * SMALL * LETTER * 72 * 0.95, SMALL * 1.15) for label, _, _ in named]
    for (label, x, y), point, middle in zip(named, points, placed(points, sizes, (0.0, 0.0, *size)), strict=True):
        offset = middle[0] - point[0], middle[1] - point[1]
        far = abs(offset[1]) > NEAR + SMALL
        line = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 3}
        axes.annotate(label, (x, y), offset, textcoords="offset points", fontsize=SMALL, color=INK, ha="center",
                      va="center", arrowprops=line if far else None, parse_math=False)  # fmt: skip
