"""The drawings of a stage as one figure: a block for each, with its title, what to notice, and its panels."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from grader.explore.drawing import (
    Curves,
    Drawing,
    Graph,
    Graphs,
    Image,
    Images,
    Map,
    Panel,
    Plane,
    names_of,
    panels_of,
    shares_names,
)
from grader.explore.model import Exploration
from grader.explore.picture.painting import FAINT, INK, LETTER, QUIET, SMALL, TEXT, TITLE, painted
from grader.explore.picture.strokes import chart, graph, image, name_width, plane
from grader.report.terminal.layout import printable

WIDTH = 12.0  # inches of a figure
EDGE, GAP = 0.3, 0.16  # inches around it, and between blocks
HEAD, FOOT, APART = 0.95, 0.1, 0.2  # APART: between maps and drawings
FEW = 5  # columns of an image of a few cells
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
        return shares_names(self.drawing) and len(names_of(panels_of(self.drawing)[0])) > 1

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
    draw_below(figure, found.drawings, figure.get_size_inches()[1] - below[1] + APART)
    return figure


def drawn_panels(found: Exploration) -> Figure:
    """Return the figure of an exploration that has drawings alone."""
    figure = Figure(figsize=(WIDTH, HEAD - APART + room(found.drawings)[1]), facecolor="white")
    FigureCanvasAgg(figure)
    seed = "" if found.ran.seed is None else f" · drawn with seed {found.ran.seed}"
    _text(figure, EDGE, 0.38, f"{found.stage} · {printable(found.title)}", TITLE + 2, INK, "bold")
    _text(figure, EDGE, 0.68, f"{found.given}{seed}", TEXT, QUIET)
    draw_below(figure, found.drawings, HEAD)
    return figure


def room(drawings: tuple[Drawing, ...]) -> tuple[float, float]:
    """Return how wide and how high drawings are, in inches; nothing where there are none."""
    if not drawings:
        return 0.0, 0.0
    return WIDTH, APART + FOOT + sum(max(block.height for block in row) for row in arranged(drawings))


def draw_below(figure: Figure, drawings: tuple[Drawing, ...], top: float) -> None:
    """Draw into a figure that has room for it, so many inches from its top."""
    for row in arranged(drawings):
        left = EDGE
        for block in row:
            _block(figure, block, left, top)
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
    return len(drawing.panels) <= most and len(drawing.panels[0].values[0]) <= FEW


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


def _block(figure: Figure, block: Block, left: float, top: float) -> None:
    drawing = block.drawing
    _text(figure, left, top + 0.1, drawing.title, TEXT + 2.5, INK, "bold")
    for number, line in enumerate(block.notice):
        _text(figure, left, top + 0.1 + 0.26 + LINE * number, line, TEXT, QUIET)
    least = max(LEAST_STEP, _title_width(drawing)) if isinstance(drawing, Images) else 0.0
    step = min(max(block.cell[0], least) + block.left + GAP, (block.width + GAP) / block.across)
    axes = None
    for number, panel in enumerate(panels_of(drawing)):
        x = left + (number % block.across) * step + block.left
        y = top + block.head + (number // block.across) * (block.cell[1] + ABOVE + block.below) + ABOVE
        axes = _axes(figure, x, y, *block.cell)
        _panel(axes, panel, drawing, not block.has_legend)
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
