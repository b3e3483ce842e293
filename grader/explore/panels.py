"""Panels of drawings on axes of matplotlib's: curves, planes, images and graphs, with labels that cover nothing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator

from grader.explore.cells import (
    BRIGHT_BOTH,
    COLOURS,
    FULL,
    LIGHT_TEXT,
    NEGATIVE,
    POSITIVE,
    SCALE,
    WORDS,
    Colour,
    cell_text,
    depth,
    shown,
    text_on,
)
from grader.explore.model import (
    Array,
    Chart,
    Curves,
    Drawing,
    Graph,
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
)
from grader.report.terminal.layout import printable

INK, QUIET, FAINT = "#1c2733", "#5b6875", "#a9b4bf"
TEXT, SMALL = 10.0, 9.5  # points: on a telephone 360 wide, 9 pixels and more
LETTER = 0.0085  # inches that a letter takes, for each point of its size
CURVES, PLANES = 1.9, 2.7  # most inches of a panel's height
FEW_CELLS, ZEROS = 25, 8  # cells up to which an image has numbers, and words up to which zeros are written
NUMBERED_CELL, NARROW_CELL = 0.33, 0.26  # least inches of a cell with 0.12, and with .12
NUMBER = 64.0  # points of a number, for each inch of its cell and each em of its length
LETTERS = 14  # of a name beside a row or below a column
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


@dataclass(frozen=True)
class Weights(Images):
    """Weights as images, in colours that show an equal share in the middle of their scale."""


def image(axes: Axes, panel: Image, drawing: Images, is_first: bool = True) -> None:
    """Draw an image, weak for low and strong for high, or orange, white and blue for signed values.

    The first of a row has the names of the rows.
    """
    shares = shown(panel, drawing)
    if isinstance(drawing, Weights):
        shares = np.vectorize(depth)(panel.values, len(panel.values[0]))
    drawn = axes.imshow(shares, cmap=SIGNED if drawing.signed else UNSIGNED, vmin=-1.0 if drawing.signed else 0.0,
                        vmax=1.0, interpolation="nearest", aspect="auto")  # fmt: skip
    cell = axes.get_position().width * _figure(axes).get_size_inches()[0] / shares.shape[1]
    texts = {place: number_text(float(value), drawing, cell) for place, value in np.ndenumerate(panel.values)}
    size = min(SMALL + 1, cell * NUMBER / max(map(_ems, texts.values())))
    for (row, column), text in texts.items() if is_numbered(panel, drawing, cell) else ():
        red, green, blue, _ = drawn.to_rgba(shares[row, column], bytes=True)
        light = text_on((red, green, blue), BRIGHT_BOTH) == LIGHT_TEXT
        axes.text(column, row, text, ha="center", va="center", fontsize=size,
                  color="white" if light else INK if panel.values[row][column] else QUIET)  # fmt: skip
    columns, rows = ([label(name) for name in names] for names in (panel.column_names, panel.row_names))
    axes.set_xticks(range(len(columns)), columns, fontsize=SMALL, color=INK, parse_math=False)
    axes.set_yticks(range(len(rows)), rows if is_first else [""] * len(rows), fontsize=SMALL, color=INK,
                    parse_math=False)  # fmt: skip
    axes.tick_params(length=0, pad=3)
    if columns:
        axes.tick_params(axis="x", rotation=90 if name_width(columns) > cell else 0)
        axes.set_xlabel(drawing.x_name, fontsize=SMALL, color=QUIET, labelpad=2)


def is_numbered(panel: Image, drawing: Images, cell: float) -> bool:
    """Say whether the values of an image are written into its cells, which are so many inches wide."""
    if isinstance(drawing, Weights):
        return cell >= NARROW_CELL
    return len(panel.values) * len(panel.values[0]) <= FEW_CELLS


def number_text(value: float, drawing: Images, cell: float) -> str:
    """Return the number in a cell that is so many inches wide; many zeros would only be noise."""
    if np.isnan(value):
        return "·"
    if not isinstance(drawing, Weights):
        return cell_number(value, is_whole(drawing))
    text = cell_text(value, FULL[0])
    if value == 0 and len(drawing.panels[0].values[0]) > ZEROS:
        return ""
    return text if cell >= NUMBERED_CELL else text.removeprefix("0") or text


def _ems(text: str) -> float:
    """Return how long a number is in ems of the font, at least two digits."""
    return max(0.636 * len(text) - 0.318 * text.count(".") - 0.275 * text.count("-"), 1.3)


def label(word: str) -> str:
    """Return a name as it stands beside its row or below its column."""
    text = printable(word)
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"


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


PAPER = {"facecolor": "white", "alpha": 0.7, "pad": 0.6, "linewidth": 0}  # behind names that stand in a panel
FAR = 1.7  # lines by which a name beside a panel may be moved
EARLY = 0.9  # share of an axis before which a series has ended in the middle of its panel
LONG_NAME = 17  # letters of a line of a name beside a panel


def _shades(name: str, ends: Sequence[Colour]) -> LinearSegmentedColormap:
    return LinearSegmentedColormap.from_list(name, [[part / 255 for part in each] for each in ends])


SIGNED, UNSIGNED = _shades("signed", (NEGATIVE, LIGHT_TEXT, POSITIVE)), _shades("unsigned", SCALE)


def columns(drawing: Curves | Plane) -> int:
    """Return how many panels stand in a row: two where there are so many that each can be small."""
    count = len(drawing.panels)
    return 2 if count > 2 and count % 2 == 0 else 1


def draw_panel(axes: Axes, panel: Panel, drawing: Drawing, named: bool, is_first: bool) -> None:
    """Draw one panel with its title, and the names of its series if it is the one that has them."""
    match panel, drawing:
        case Image(), Images():
            image(axes, panel, drawing, is_first)
        case Graph(), _:
            graph(axes, panel)
        case Map(), Plane():
            plane(axes, panel, drawing, named)
        case Chart(), Curves():
            chart(axes, panel, drawing, named)
    axes.set_title(panel.title, fontsize=TEXT + 0.5, color=INK, loc="left", pad=5)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)
