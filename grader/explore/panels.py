"""Drawings of a stage as one figure of matplotlib's: a block for each, with its title, a caption, and its panels."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator

from grader.explore.cells import COLOURS, LIGHT_TEXT, NEGATIVE, POSITIVE, SCALE, WORDS, Colour
from grader.explore.model import (
    WRONG,
    Array,
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
    Path,
    Plane,
    Points,
    Series,
    cell_number,
    chart_limits,
    is_counted,
    is_whole,
    names_of,
    node_lines,
    shares_names,
)
from grader.explore.painting import FAINT, INK, LETTER, QUIET, SMALL, TEXT, TITLE, WARNING, WIDTH, hatched, painted
from grader.report.terminal.layout import printable

Box = tuple[float, float, float, float]
ANGLES = (0.25, 1.75, 0.75, 1.25, 0.0, 1.0, 0.5, 1.5)  # of a half turn, the better places first
RADII = (7.0, 16.0, 27.0, 40.0)  # points
NEAR = RADII[0]


def placed(
    points: list[tuple[float, float]], sizes: list[tuple[float, float]], room: Box,
    drawn: Sequence[tuple[float, float]] = (),
) -> list[tuple[float, float]]:  # fmt: skip
    """Return for each point the middle of its label: the first place that is free, else the one that covers least.

    drawn are further places that no label should cover. All of them, room (left, bottom, right, top) and sizes (width,
    height) are in points of 1/72 inch.
    """
    marks: list[Box] = [(x - 3, y - 3, x + 3, y + 3) for x, y in (*points, *drawn)]
    labels: list[Box] = []
    found = []
    for point, size in zip(points, sizes, strict=True):
        places = [_middle(point, size, angle * pi, radius) for radius in RADII for angle in ANGLES]
        chosen = min(places, key=lambda place: _covered(_box(place, size), marks, labels, room))
        labels.append(_box(chosen, size))
        found.append(chosen)
    return found


def _middle(point: tuple[float, float], size: tuple[float, float], angle: float, radius: float) -> tuple[float, float]:
    across, up = cos(angle), sin(angle)
    return point[0] + across * (radius + size[0] / 2), point[1] + up * (radius + size[1] / 2)


def _box(middle: tuple[float, float], size: tuple[float, float]) -> Box:
    (x, y), (width, height) = middle, size
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _covered(box: Box, marks: list[Box], labels: list[Box], room: Box) -> tuple[bool, int, int]:
    """Return how bad a place is: outside the room, then by how many labels it covers, then by how many marks."""
    outside = room[0] > box[0] or room[1] > box[1] or box[2] > room[2] or box[3] > room[3]
    over_labels, over_marks = (
        sum(box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in each)
        for each in (labels, marks)
    )
    return outside, over_labels, over_marks


MARKERS = "os^DvP*X"
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), "-")
REGIONS = ("#dbe9f6", "#fde3cf", "#d8f0e2", "#f1dcea")
LEVELS = 14
SHORT, MOST = 2.0, 10  # powers of ten; steps between the labels of a logarithmic axis
BOX = (0.34, 0.4)  # half of a box of a graph, in columns and rows
FEW, MANY = 9, 50  # points below which their marks are larger, and places from which a path has none


def _style(number: int) -> tuple[str, str]:
    return COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]


def chart(axes: Axes, panel: Chart, drawing: Curves, named: bool) -> None:
    """Draw curves, each with a colour and a line or marker of its own, and beside each its name."""
    for number, series in enumerate(panel.series):
        colour, marker = _style(number)
        if series.dots:
            size = 8 if len(series.x) < FEW else 4
            axes.plot(series.x, series.y, marker, color=colour, markersize=size, alpha=0.75, markeredgewidth=0,
                      zorder=3)  # fmt: skip
        else:
            axes.plot(series.x, series.y, color=colour, linestyle=DASHES[number % len(DASHES)], linewidth=1.8)
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
    if named:
        _names_of_series(axes, panel, drawing, columns(drawing) == 1)


def names_beside(panel: Chart, drawing: Curves) -> dict[int, float]:
    """Return the series whose names stand beside the panel, by number, each with where its middle is, as a share.

    There are none where the last values lie so near to each other that names beside them would tell nothing.
    """
    ends = {}
    for number, series in enumerate(panel.series):
        shares = _shares(panel, drawing, series)
        if len(shares) and shares[-1, 0] > EARLY and 0 <= shares[-1, 1] <= 1:
            ends[number] = float(shares[-1, 1])
    line = SMALL * 1.2 / 72 / CURVES
    heights = [line * (1 + label_lines(panel.series[number].name).count("\n")) for number in ends]
    found = dict(zip(ends, spread(list(ends.values()), heights, 1.0), strict=True))
    return found if all(abs(found[number] - end) < FAR * line for number, end in ends.items()) else {}


def _shares(panel: Chart, drawing: Curves, series: Series) -> Array:
    """Return where the values of a series lie in their panel, (n, 2), as shares of both axes; only what is finite."""
    parts = []
    for values, limits, log in zip((series.x, series.y), chart_limits(panel, drawing), (drawing.log_x, drawing.log_y),
                                   strict=True):  # fmt: skip
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.log10(np.asarray(values)) if log else np.asarray(values, float)
        parts.append((found - limits[0]) / (limits[1] - limits[0]))
    shares: Array = np.column_stack(parts)
    finite: Array = shares[np.isfinite(shares).all(axis=1)]
    return finite


def _names_of_series(axes: Axes, panel: Chart, drawing: Curves, alone: bool) -> None:
    """Write the name of each series beside its last value, or in the panel, where it is furthest from the others."""
    beside = names_beside(panel, drawing) if alone else {}
    for number, middle in beside.items():
        x, y = _shares(panel, drawing, panel.series[number])[-1]
        axes.plot([x, x + 0.02], [y, middle], color=_style(number)[0], linewidth=1, clip_on=False,
                  transform=axes.transAxes)  # fmt: skip
        axes.text(x + 0.03, middle, label_lines(panel.series[number].name), transform=axes.transAxes,
                  color=WORDS[number % len(WORDS)], fontsize=SMALL, va="center", linespacing=1.1, parse_math=False,
                  )  # fmt: skip
    runs = [(_shares(panel, drawing, each), not each.dots) for each in panel.series]
    within = {number: each.name for number, each in enumerate(panel.series) if number not in beside}
    _write_within(axes, runs, within, [])


def label_lines(name: str) -> str:
    """Return a name in lines that are short enough to stand beside a panel."""
    return "\n".join(textwrap.wrap(name, LONG_NAME, break_long_words=False)) or name


def spread(places: list[float], heights: list[float], top: float) -> list[float]:
    """Return the middles of labels of such heights, in the order of their places and as near to them as they fit.

    >>> spread([50.0, 52.0, 0.0], [10.0, 10.0, 10.0], 100.0)
    [46.0, 56.0, 5.0]
    """
    order = sorted(range(len(places)), key=places.__getitem__)
    groups: list[tuple[float, float, list[int]]] = []  # from where, how high, which
    for number in order:
        high, members = heights[number], [number]
        low = places[number] - high / 2
        while groups and groups[-1][0] + groups[-1][1] > low:
            before, more, others = groups.pop()
            low = (before * len(others) + (low - more) * len(members)) / (len(others) + len(members))
            high, members = high + more, others + members
        low = max(min(low, top - high), 0.0)
        while groups and groups[-1][0] + groups[-1][1] > low:  # pushed down by the upper edge
            before, more, others = groups.pop()
            low, high, members = max(low - more, 0.0), high + more, others + members
        groups.append((low, high, members))
    found = [0.0] * len(places)
    for low, _, members in groups:
        for number in members:
            found[number] = low + heights[number] / 2
            low += heights[number]
    return found


def _figure(axes: Axes) -> Figure:
    figure = axes.figure
    assert isinstance(figure, Figure)
    return figure


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


def plane(axes: Axes, panel: Map, drawing: Plane, named: bool) -> None:
    """Draw regions or levels, then points, then paths, and their names where they are alone."""
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
                  markeredgewidth=0.4, zorder=3)  # fmt: skip
    for number, path in enumerate(panel.paths):
        colour, marker = _style(number)
        marks = marker if len(path.x) < MANY else ""
        axes.plot(path.x, path.y, color=colour, marker=marks, markersize=3.2, linewidth=1.4)
    axes.set(xlim=panel.across, ylim=panel.up)
    _labels(axes, panel, named)
    _named(axes, drawing)


def image(axes: Axes, panel: Image, drawing: Images) -> None:
    """Draw an image, weak for low and strong for high, or orange, white and blue for signed values."""
    values = np.asarray(panel.values)
    low = -drawing.high if drawing.signed else drawing.low
    axes.imshow(values, cmap=SIGNED if drawing.signed else UNSIGNED, vmin=low, vmax=max(drawing.high, low + 1e-12),
                interpolation="nearest", aspect="auto")  # fmt: skip
    figure, box = _figure(axes), axes.get_position()
    cell = box.width * figure.get_size_inches()[0] / values.shape[1]
    few, whole = is_numbered(panel), is_whole(drawing)
    for (row, column), value in np.ndenumerate(values) if few else ():
        if np.isnan(value):
            axes.text(column, row, "·", ha="center", va="center", fontsize=SMALL, color=QUIET)
            continue
        strong = abs(value) > 0.65 * drawing.high if drawing.signed else value > (low + drawing.high) / 2
        size = SMALL + 1 if whole else min(SMALL, cell * NUMBER)
        axes.text(column, row, cell_number(float(value), whole), ha="center", va="center", fontsize=size,
                  color="white" if strong else INK)  # fmt: skip
    axes.set_xticks(range(len(panel.column_names)), panel.column_names, fontsize=SMALL, color=INK)
    axes.set_yticks(range(len(panel.row_names)), panel.row_names, fontsize=SMALL, color=INK)
    axes.tick_params(length=0, pad=3)
    if panel.column_names:
        axes.tick_params(axis="x", rotation=90 if name_width(panel.column_names) > cell else 0)
        axes.set_xlabel(drawing.x_name, fontsize=SMALL, color=QUIET, labelpad=2)


def is_numbered(panel: Image) -> bool:
    """Say whether the values of an image are written into its cells."""
    return len(panel.values) * len(panel.values[0]) <= FEW_CELLS


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


def _labels(axes: Axes, panel: Map, named: bool) -> None:
    """Write the labels of points, and the names of points and paths."""
    corner, spans = (panel.across[0], panel.up[0]), (panel.across[1] - panel.across[0], panel.up[1] - panel.up[0])
    given: tuple[Path | Points, ...] = (*panel.paths, *panel.points)
    runs = [((np.column_stack([each.x, each.y]) - corner) / spans, isinstance(each, Path)) for each in given]
    names = dict(enumerate(names_of(panel))) if named else {}
    labels = [(text, place) for points, (places, _) in zip(panel.points, runs[len(panel.paths) :], strict=True)
              for text, place in zip(points.labels, places, strict=False)]  # fmt: skip
    _write_within(axes, runs, names, labels)


def _write_within(
    axes: Axes, runs: Sequence[tuple[Array, bool]], names: Mapping[int, str], labels: Sequence[tuple[str, Array]]
) -> None:
    """Write labels and the names of runs where they are free; a line leads from one further off to its place.

    A run is where its values lie, as shares of both axes, and whether a line leads through them.
    """
    box, (width, height) = axes.get_position(), _figure(axes).get_size_inches() * 72
    size = np.array([box.width * width, box.height * height])
    drawn = [_along(places, is_line) * size for places, is_line in runs]
    texts = [(text, INK, place * size) for text, place in labels]
    texts += [(name, WORDS[number % len(WORDS)], lonely([each * size for each, _ in runs], number, size))
              for number, name in names.items() if len(runs[number][0])]  # fmt: skip
    sizes = [(len(text) * SMALL * LETTER * 72 * 0.95, SMALL * 1.15) for text, _, _ in texts]
    at = [(float(x), float(y)) for _, _, (x, y) in texts]
    taken = [(float(x), float(y)) for each in drawn for x, y in each]
    for (text, colour, _), point, middle in zip(
        texts, at, placed(at, sizes, (0.0, 0.0, *size.tolist()), taken), strict=True
    ):
        far = abs(middle[1] - point[1]) > NEAR + SMALL
        line = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 3}
        axes.annotate(text, point, middle, xycoords="axes points", textcoords="axes points", fontsize=SMALL,
                      color=colour, ha="center", va="center", arrowprops=line if far else None, parse_math=False,
                      zorder=5, bbox=PAPER)  # fmt: skip


def _along(places: Array, is_line: bool) -> Array:
    """Return the places, of a line also some between them."""
    if not is_line or len(places) < 2:
        return places
    there = np.arange(len(places))
    steps = np.linspace(0, len(places) - 1, 6 * (len(places) - 1) + 1 if len(places) < MANY else len(places))
    return np.column_stack([np.interp(steps, there, places[:, axis]) for axis in (0, 1)])


def lonely(runs: Sequence[Array], number: int, size: Array) -> Array:
    """Return of one run the place within the panel that is furthest from all others: its name belongs there."""
    inside = runs[number][((runs[number] >= 0) & (runs[number] <= size)).all(axis=1)]
    own = inside if len(inside) else runs[number]
    others = [each for place, each in enumerate(runs) if place != number and len(each)]
    if not others:
        return np.asarray(own[len(own) // 2])
    gaps = np.hypot(*(own[:, None] - np.concatenate(others)[None]).T).min(axis=0)
    return np.asarray(own[int(gaps.argmax())])


EDGE, GAP = 0.2, 0.16  # inches around a figure, and between panels
HEAD, FOOT, APART = 0.95, 0.1, 0.2  # APART: between maps and drawings
LINE = 0.2  # inches of a line of text
LEFT, BELOW, ABOVE = 0.56, 0.56, 0.3  # inches beside, below and above the axes of a panel
CURVES, PLANES = 1.9, 2.7  # most inches of a panel's height
LEAST_CELL, LEAST_SIDE, LARGEST_CELL = 0.22, 1.0, 0.44  # inches of a cell of an image, and of a whole image
NUMBER, NUMBERED_CELL, FEW_CELLS = 22.0, 0.36, 25  # points of a number for each inch of its cell; such a cell; so many
SLIM = 0.12  # beside images without names
NODE = 0.85  # inches of a row of a graph
PAPER = {"facecolor": "white", "alpha": 0.7, "pad": 0.6, "linewidth": 0}  # behind names that stand in a panel
FAR = 1.7  # lines by which a name beside a panel may be moved
EARLY = 0.9  # share of an axis before which a series has ended in the middle of its panel
LONG_NAME = 17  # letters of a line of a name beside a panel


def _shades(name: str, ends: Sequence[Colour]) -> LinearSegmentedColormap:
    return LinearSegmentedColormap.from_list(name, [[part / 255 for part in each] for each in ends])


SIGNED, UNSIGNED = _shades("signed", (NEGATIVE, LIGHT_TEXT, POSITIVE)), _shades("unsigned", SCALE)


@dataclass(frozen=True)
class Block:
    """A drawing and where its panels stand, in inches: across of them in a row, each so wide and so high."""

    drawing: Drawing
    across: int
    cell: tuple[float, float]
    notice: tuple[str, ...]

    @property
    def head(self) -> float:
        return 0.3 + LINE * len(self.notice) + 0.05

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
    words = "" if found.example is None else f"“{printable(' '.join(found.example.words))}”"
    told = [found.given or words, "" if found.ran.seed is None else f"drawn with seed {found.ran.seed}"]
    lines = wrapped(" · ".join(filter(None, told)))
    head = HEAD + LINE * (len(lines) - 1)
    figure = Figure(figsize=(WIDTH, head - APART + room(found.drawings)[1]), facecolor="white")
    FigureCanvasAgg(figure)
    _text(figure, EDGE, 0.38, f"{found.stage} · {printable(found.title)}", TITLE + 2, INK, "bold")
    for number, line in enumerate(lines):
        _text(figure, EDGE, 0.68 + LINE * number, line, TEXT, QUIET)
    draw_below(figure, found, head)
    return figure


def wrapped(text: str) -> tuple[str, ...]:
    """Return text in lines as wide as a figure."""
    return tuple(textwrap.wrap(text, int((WIDTH - 2 * EDGE) / (TEXT * LETTER * 0.86)))) or ("",)


def room(drawings: tuple[Drawing, ...]) -> tuple[float, float]:
    """Return how wide and how high drawings are, in inches; nothing where there are none."""
    if not drawings:
        return 0.0, 0.0
    return WIDTH, APART + FOOT + sum(_planned(each).height for each in drawings)


def draw_below(figure: Figure, found: Exploration, top: float) -> None:
    """Draw into a figure that has room for it, so many inches from its top."""
    for drawing in found.drawings:
        block = _planned(drawing)
        _block(figure, block, top, found.is_wrong(drawing))
        top += block.height


def _planned(drawing: Drawing) -> Block:
    """Return how the panels of a drawing share rows: as many as can be read, and as many in each row."""
    notice, full = wrapped(_notice(drawing)), WIDTH - 2 * EDGE + GAP
    if isinstance(drawing, Images):
        return _planned_images(drawing, full, notice)
    if isinstance(drawing, Graphs):
        lines = max(1 + node.row for panel in drawing.panels for node in panel.nodes)
        return Block(drawing, 1, (full - GAP - SLIM, lines * NODE), notice)
    across = columns(drawing)
    side = full / across - GAP - LEFT - (_beside(drawing) if across == 1 else 0.0)
    high = min(side * 0.8, PLANES) if isinstance(drawing, Plane) else min(side * 0.66, CURVES)
    return Block(drawing, across, (side, high), notice)


def columns(drawing: Curves | Plane) -> int:
    """Return how many panels stand in a row: two where there are so many that each can be small."""
    count = len(drawing.panels)
    return 2 if count > 2 and count % 2 == 0 else 1


def _beside(drawing: Curves | Plane) -> float:
    """Return how many inches the names take that stand beside a panel."""
    if isinstance(drawing, Plane):
        return 0.0
    named = [panel for number, panel in enumerate(drawing.panels) if is_named(drawing, number)]
    lines = [line for panel in named for number in names_beside(panel, drawing)
             for line in label_lines(panel.series[number].name).split("\n")]  # fmt: skip
    return name_width(lines) + 0.18 if lines else 0.0


def is_named(drawing: Drawing, number: int) -> bool:
    """Say whether a panel has the names of its series: of panels that share them only the first one."""
    names = names_of(drawing.panels[number])
    return len(names) > 1 and (number == 0 or not shares_names(drawing))


def _notice(drawing: Drawing) -> str:
    """Return the caption, for signed images with what their colours mean."""
    return f"{drawing.caption} Orange is below 0, blue above." if getattr(drawing, "signed", False) else drawing.caption


def _planned_images(drawing: Images, full: float, notice: tuple[str, ...]) -> Block:
    lines, columns = len(drawing.panels[0].values), len(drawing.panels[0].values[0])
    left = Block(drawing, 1, (1.0, 1.0), notice).left
    least = min(LEAST_CELL * columns, LEAST_SIDE * max(columns / lines, 1.0))
    least = NUMBERED_CELL * columns if is_numbered(drawing.panels[0]) else least
    count, title = len(drawing.panels), _title_width(drawing)
    fits = [n for n in range(1, count + 1) if full / n >= max(GAP + left + least, left + title + 0.03)]
    across = -(-count // -(-count // max(fits, default=1)))  # in as few rows, as evenly as it goes
    cell = min((full / across - GAP - left) / columns, LARGEST_CELL)
    return Block(drawing, across, (columns * cell, lines * cell), notice)


def _title_width(drawing: Images) -> float:
    """Return how many inches the longest title above an image takes."""
    return max(len(each.title) for each in drawing.panels) * (TEXT + 0.5) * LETTER * 0.86


def _block(figure: Figure, block: Block, top: float, is_wrong: bool) -> None:
    drawing = block.drawing
    title = f"{drawing.title} · {WRONG}" if is_wrong else drawing.title
    _text(figure, EDGE, top + 0.1, title, TEXT + 2.5, WARNING if is_wrong else INK, "bold")
    for number, line in enumerate(block.notice):
        _text(figure, EDGE, top + 0.1 + 0.26 + LINE * number, line, TEXT, QUIET)
    step = (WIDTH - 2 * EDGE + GAP) / block.across
    panels: tuple[Panel, ...] = drawing.panels
    for number, panel in enumerate(panels):
        x = EDGE + (number % block.across) * step + block.left
        y = top + block.head + (number // block.across) * (block.cell[1] + ABOVE + block.below) + ABOVE
        axes = _axes(figure, x, y, *block.cell)
        _panel(axes, panel, drawing, is_named(drawing, number))
        if is_wrong:
            hatched(figure, axes)


def _panel(axes: Axes, panel: Panel, drawing: Drawing, named: bool) -> None:
    """Draw one panel, with the names of its series if it is the one that has them."""
    if isinstance(panel, Image):
        assert isinstance(drawing, Images)
        image(axes, panel, drawing)
    elif isinstance(panel, Graph):
        graph(axes, panel)
    elif isinstance(panel, Map):
        assert isinstance(drawing, Plane)
        plane(axes, panel, drawing, named)
    else:
        assert isinstance(drawing, Curves)
        chart(axes, panel, drawing, named)
    axes.set_title(panel.title, fontsize=TEXT + 0.5, color=INK, loc="left", pad=5)
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
