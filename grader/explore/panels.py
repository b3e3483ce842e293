"""Drawings of a stage as one figure of matplotlib's: a block for each, with its title, a caption, and its panels."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator

from grader.explore.model import (
    Chart,
    Curves,
    Drawing,
    Exploration,
    Graph,
    Graphs,
    Image,
    Images,
    Limits,
    Map,
    Panel,
    Plane,
    cell_number,
    chart_limits,
    is_counted,
    is_whole,
    names_of,
    node_lines,
    shares_names,
)
from grader.explore.painting import FAINT, INK, LETTER, QUIET, SMALL, TEXT, TITLE, hatched, painted, titled
from grader.report.terminal.layout import printable

Box = tuple[float, float, float, float]
ANGLES = (0.25, 1.75, 0.75, 1.25, 0.0, 1.0, 0.5, 1.5)  # of a half turn, the better places first
RADII = (7.0, 16.0, 27.0, 40.0)  # points
NEAR = RADII[0]


def placed(points: list[tuple[float, float]], sizes: list[tuple[float, float]], room: Box) -> list[tuple[float, float]]:
    """Return for each point the middle of its label: the first place that is free, else the first of all.

    points and room (left, bottom, right, top) and sizes (width, height) are in points of 1/72 inch.
    """
    taken: list[Box] = [(x - 3, y - 3, x + 3, y + 3) for x, y in points]
    found = []
    for point, size in zip(points, sizes, strict=True):
        places = [_middle(point, size, angle * pi, radius) for radius in RADII for angle in ANGLES]
        free = [place for place in places if _fits(_box(place, size), taken, room)]
        chosen = (free or places)[0]
        taken.append(_box(chosen, size))
        found.append(chosen)
    return found


def _middle(point: tuple[float, float], size: tuple[float, float], angle: float, radius: float) -> tuple[float, float]:
    across, up = cos(angle), sin(angle)
    return point[0] + across * (radius + size[0] / 2), point[1] + up * (radius + size[1] / 2)


def _box(middle: tuple[float, float], size: tuple[float, float]) -> Box:
    (x, y), (width, height) = middle, size
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _fits(box: Box, taken: list[Box], room: Box) -> bool:
    inside = room[0] <= box[0] and room[1] <= box[1] and box[2] <= room[2] and box[3] <= room[3]
    return inside and all(
        box[0] >= other[2] or other[0] >= box[2] or box[1] >= other[3] or other[1] >= box[3] for other in taken
    )


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
    if not drawing.log_x and is_counted([each.x for each in panel.series]):
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
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
            for label in np.unique(values)[1:]:  # colours alone do not part two classes for every reader
                is_it = (values == label).astype(float)
                axes.contour(panel.field.x, panel.field.y, is_it, levels=[0.5], colors=INK, linewidths=0.8)
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


WIDTH = 12.0  # inches of a figure
EDGE, GAP = 0.3, 0.16  # inches around it, and between blocks
HEAD, FOOT, APART = 0.95, 0.1, 0.2  # APART: between maps and drawings
FEW_COLUMNS = 5  # columns of an image of a few cells
LEAST_STEP = 1.3  # inches that an image takes, so that its title fits
LINE = 0.2  # inches of a line of text
LEFT, BELOW, ABOVE = 0.56, 0.56, 0.3  # inches beside, below and above the axes of a panel
MOST_IMAGES, IMAGE_SIDE, LARGEST_CELL = 6, 1.9, 0.42  # in a row; inches of an image's shorter side, and of a cell
LEAST_CELL = 0.2  # inches of a cell, as far as fewer images in a row can help
SLIM = 0.12  # beside images without names
LEGEND: dict[str, Any] = {"fontsize": SMALL, "handlelength": 2.4, "borderpad": 0.2, "columnspacing": 1.6}
NODE = 0.85  # inches of a row of a graph
ALONE = 0.5  # share of a row that a drawing with one panel takes


@dataclass(frozen=True)
class Block:
    """A drawing and where its panels stand, in inches: across of them in a row, each so wide and so high."""

    drawing: Drawing
    width: float
    across: int
    cell: tuple[float, float]
    notice: tuple[str, ...]

    @property
    def head(self) -> float:
        return 0.3 + LINE * len(self.notice) + 0.05 + (0.24 if self.has_legend else 0.0)

    @property
    def has_legend(self) -> bool:
        """Whether one legend above the panels serves them all."""
        return shares_names(self.drawing) and len(names_of(self.drawing.panels[0])) > 1

    @property
    def left(self) -> float:
        if isinstance(self.drawing, Graphs):
            return SLIM
        if not isinstance(self.drawing, Images):
            return LEFT
        longest = max(len(name) for each in self.drawing.panels for name in ("", *each.row_names))
        return SLIM + (0.3 + longest * TEXT * LETTER if longest else 0.0)

    @property
    def below(self) -> float:
        if isinstance(self.drawing, Graphs):
            return SLIM
        if not isinstance(self.drawing, Images):
            return BELOW
        names = [name for each in self.drawing.panels for name in each.column_names]
        if not names:
            return 0.3
        longest = name_width(names)
        return BELOW + (
            longest - SMALL * LETTER if longest > self.cell[0] / len(self.drawing.panels[0].values[0]) else 0
        )

    @property
    def height(self) -> float:
        rows = -(-len(self.drawing.panels) // self.across)
        return self.head + rows * (self.cell[1] + ABOVE + self.below)


def drawn_all(found: Exploration) -> Figure:
    """Return the figure of an exploration: its maps, and its drawings below them."""
    if not found.maps:
        return drawn_panels(found)
    below = room(found.drawings)
    figure = painted(found, below)
    draw_below(figure, found, figure.get_size_inches()[1] - below[1] + APART)
    return figure


def drawn_panels(found: Exploration) -> Figure:
    """Return the figure of an exploration that has drawings alone."""
    wide = max(sum(block.width + GAP for block in row) - GAP for row in arranged(found.drawings)) + 2 * EDGE
    figure = Figure(figsize=(wide, HEAD - APART + room(found.drawings)[1]), facecolor="white")
    FigureCanvasAgg(figure)
    words = "" if found.example is None else f"“{printable(' '.join(found.example.words))}”"
    told = [found.given or words, "" if found.ran.seed is None else f"drawn with seed {found.ran.seed}"]
    _text(figure, EDGE, 0.38, f"{found.stage} · {printable(found.title)}", TITLE + 2, INK, "bold")
    _text(figure, EDGE, 0.68, " · ".join(filter(None, told)), TEXT, QUIET)
    draw_below(figure, found, HEAD)
    return figure


def room(drawings: tuple[Drawing, ...]) -> tuple[float, float]:
    """Return how wide and how high drawings are, in inches; nothing where there are none."""
    if not drawings:
        return 0.0, 0.0
    return WIDTH, APART + FOOT + sum(max(block.height for block in row) for row in arranged(drawings))


def draw_below(figure: Figure, found: Exploration, top: float) -> None:
    """Draw into a figure that has room for it, so many inches from its top."""
    for row in arranged(found.drawings):
        left = EDGE
        for block in row:
            _block(figure, block, left, top, found.is_wrong(block.drawing))
            left += block.width + GAP
        top += max(block.height for block in row)


def arranged(drawings: tuple[Drawing, ...]) -> list[list[Block]]:
    """Return blocks row by row: two small drawings share a row."""
    rows: list[list[Block]] = []
    full = WIDTH - 2 * EDGE
    for drawing in drawings:
        block = _planned(drawing, (full - GAP) * ALONE if _is_slim(drawing) else full)
        if _is_slim(drawing) and rows and len(rows[-1]) == 1 and _is_slim(rows[-1][0].drawing):
            rows[-1].append(block)
        else:
            rows.append([block])
    return rows


def _is_slim(drawing: Drawing) -> bool:
    """Say whether a drawing takes half of a row: one panel, or a few images of a few cells, fewer if they are named."""
    if isinstance(drawing, Graphs):
        return False
    if not isinstance(drawing, Images) or len(drawing.panels) == 1:
        return len(drawing.panels) == 1
    most = 2 if drawing.panels[0].row_names else 4
    return len(drawing.panels) <= most and len(drawing.panels[0].values[0]) <= FEW_COLUMNS


def _planned(drawing: Drawing, width: float) -> Block:
    notice = tuple(textwrap.wrap(_notice(drawing), int(width / (TEXT * LETTER * 0.86))))
    count = len(drawing.panels)
    if isinstance(drawing, Images):
        return _planned_images(drawing, width, notice)
    if isinstance(drawing, Graphs):
        across = min(count, 2)
        lines = max(1 + node.row for panel in drawing.panels for node in panel.nodes)
        return Block(drawing, width, across, ((width + GAP) / across - GAP - SLIM, lines * NODE), notice)
    across = count if count <= 4 else 4 if count % 4 == 0 else 3
    side = (width + GAP) / across - GAP - LEFT
    high = side * (0.82 if isinstance(drawing, Plane) else 0.66)
    return Block(drawing, width, across, (side, min(high, 3.8 if isinstance(drawing, Plane) else 2.5)), notice)


def _notice(drawing: Drawing) -> str:
    """Return the caption, for images with what their colours mean."""
    if not isinstance(drawing, Images):
        return drawing.caption
    return f"{drawing.caption} {'Blue is below 0, red above.' if drawing.signed else 'Darker means more.'}"


def _planned_images(drawing: Images, width: float, notice: tuple[str, ...]) -> Block:
    lines, columns = len(drawing.panels[0].values), len(drawing.panels[0].values[0])
    left = Block(drawing, width, 1, (1.0, 1.0), notice).left
    least = max(LEAST_CELL * columns, _title_width(drawing))
    fits = [n for n in range(MOST_IMAGES, 1, -1) if (width + GAP) / n - GAP - left >= least]
    across = min(len(drawing.panels), next(iter(fits), 1))
    cell = min((width + GAP) / across - GAP - left, IMAGE_SIDE * max(columns / lines, 1.0)) / columns
    cell = min(cell, LARGEST_CELL if len(drawing.panels) > 1 else 1.6 * LARGEST_CELL)
    return Block(drawing, width, across, (columns * cell, lines * cell), notice)


def _title_width(drawing: Images) -> float:
    """Return how many inches the longest title above an image takes."""
    return max(len(each.title) for each in drawing.panels) * (TEXT + 0.5) * LETTER * 0.86


def _block(figure: Figure, block: Block, left: float, top: float, is_wrong: bool) -> None:
    drawing = block.drawing
    _text(figure, left, top + 0.1, drawing.title, TEXT + 2.5, INK, "bold")
    for number, line in enumerate(block.notice):
        _text(figure, left, top + 0.1 + 0.26 + LINE * number, line, TEXT, QUIET)
    least = max(LEAST_STEP, _title_width(drawing)) if isinstance(drawing, Images) else 0.0
    step = min(max(block.cell[0], least) + block.left + GAP, (block.width + GAP) / block.across)
    axes = None
    panels: tuple[Panel, ...] = drawing.panels
    for number, panel in enumerate(panels):
        x = left + (number % block.across) * step + block.left
        y = top + block.head + (number // block.across) * (block.cell[1] + ABOVE + block.below) + ABOVE
        axes = _axes(figure, x, y, *block.cell)
        _panel(axes, panel, drawing, not block.has_legend)
        if is_wrong:
            hatched(figure, axes)
    if axes is not None and block.has_legend:
        place = left / figure.get_size_inches()[0], 1 - (top + block.head - 0.32) / figure.get_size_inches()[1]
        handles, names = axes.get_legend_handles_labels()
        figure.legend(handles, names, loc="upper left", bbox_to_anchor=place, ncols=len(names), frameon=False,
                      borderaxespad=0, **LEGEND)  # fmt: skip


def _panel(axes: Axes, panel: Panel, drawing: Drawing, legend: bool) -> None:
    """Draw one panel, with a legend of its own where the block has none for all."""
    if isinstance(panel, Image):
        assert isinstance(drawing, Images)
        image(axes, panel, drawing)
    elif isinstance(panel, Graph):
        graph(axes, panel)
    elif isinstance(panel, Map):
        assert isinstance(drawing, Plane)
        plane(axes, panel, drawing)
    else:
        assert isinstance(drawing, Curves)
        chart(axes, panel, drawing)
    if legend and len(names_of(panel)) > 1:
        axes.legend(**LEGEND, framealpha=0.85, edgecolor="none", loc="best")
    titled(axes, panel.title, fontsize=TEXT + 0.5, color=INK, loc="left", pad=5)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)


def _axes(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    across, up = figure.get_size_inches()
    return figure.add_axes((left / across, 1 - (top + height) / up, width / across, height / up))


def _text(figure: Figure, left: float, top: float, text: str, size: float, colour: str, weight: str = "normal") -> None:
    across, up = figure.get_size_inches()
    figure.text(
        left / across, 1 - top / up, text, fontsize=size, color=colour, fontweight=weight, va="center", parse_math=False
    )
