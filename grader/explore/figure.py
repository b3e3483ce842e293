"""The figure of an exploration: a block for each drawing, its weights first, with a title, a caption and panels."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from grader.explore.model import (
    WRONG,
    Curves,
    Drawing,
    Example,
    Exploration,
    Graphs,
    Image,
    Images,
    Panel,
    Plane,
    evenly,
    names_of,
    shares_names,
)
from grader.explore.panels import (
    CURVES,
    FEW_CELLS,
    INK,
    LETTER,
    NARROW_CELL,
    NUMBERED_CELL,
    PLANES,
    QUIET,
    SMALL,
    TEXT,
    Weights,
    columns,
    draw_panel,
    label,
    label_lines,
    name_width,
    names_beside,
)
from grader.report.terminal.layout import printable

WARNING, FRAME = "#b85000", 0.06  # of a picture of a wrong step: its colour, and the inches of its frame
TITLE = 15.0  # points
WIDTH = 5.0  # inches of a figure
EDGE, GAP = 0.2, 0.16  # inches around a figure, and between panels
HEAD, FOOT = 0.95, 0.1
LINE = 0.2  # inches of a line of text
LEFT, BELOW, ABOVE = 0.56, 0.56, 0.3  # inches beside, below and above the axes of a panel
LEAST_CELL, LEAST_SIDE = 0.22, 1.0  # inches of a cell of an image, and of a whole image
LINE_CELL = 0.13  # one with a name below
LARGEST_CELL, WIDEST_CELL = 0.44, 0.74  # inches of a cell; of one with a number, whose row has room
SLIM = 0.12  # inches beside images without names
NODE = 0.85  # inches of a row of a graph
TIED = "\u00a0"  # a space at which no line ends
NOTE = "How much a query, on the left, attends to a key, below."


@dataclass(frozen=True)
class Block:
    """A drawing and where its panels stand: so many in each row, each so wide and all so high, in inches.

    wrong says which panels show values that are wrong.
    """

    drawing: Drawing
    rows: tuple[int, ...]
    widths: tuple[float, ...]
    high: float
    notice: tuple[str, ...]
    wrong: tuple[bool, ...]

    @property
    def is_wrong(self) -> bool:
        return all(self.wrong)

    @property
    def head(self) -> float:
        return 0.3 + LINE * len(self.notice) + 0.05

    @property
    def above(self) -> float:
        return ABOVE + LINE * (any(self.wrong) and not self.is_wrong)

    @property
    def below(self) -> float:
        if isinstance(self.drawing, Graphs):
            return SLIM
        if not isinstance(self.drawing, Images):
            return BELOW
        names = [label(name) for each in self.drawing.panels for name in each.column_names]
        if not names:
            return 0.3
        longest, cell = name_width(names), min(self.widths) / len(self.drawing.panels[0].values[0])
        return BELOW + (longest - SMALL * LETTER if longest > cell else 0)

    @property
    def height(self) -> float:
        return self.head + len(self.rows) * (self.high + self.above + self.below)

    def places(self) -> list[tuple[float, float, float]]:
        """Return of each panel its left, its top below that of the block, and its width."""
        found = []
        for row, (count, width) in enumerate(zip(self.rows, self.widths, strict=True)):
            step, begin = _step(self.drawing, count)
            top = self.head + row * (self.high + self.above + self.below) + self.above
            found += [(begin + column * step, top, width) for column in range(count)]
        return found


def figure_of(found: Exploration, headed: bool = True) -> Figure:
    """Return the figure of an exploration; without its head it begins with the first drawing."""
    blocks, lines = _blocks(found), _head(found) if headed else ()
    top = HEAD + LINE * (len(lines) - 1) if headed else FOOT
    figure = Figure(figsize=(WIDTH, top + FOOT + sum(block.height for block in blocks)), facecolor="white")
    FigureCanvasAgg(figure)
    if headed:
        _text(figure, 0.38, f"{found.stage} · {printable(found.title)}", TITLE, INK, "bold")
    for number, line in enumerate(lines):
        _text(figure, 0.68 + LINE * number, line, TEXT, QUIET)
    for block in blocks:
        _draw_block(figure, block, top)
        top += block.height
    return figure


def _head(found: Exploration) -> tuple[str, ...]:
    """Return the lines below the title: what was explored."""
    words = "" if found.example is None else f"“{printable(' '.join(found.example.words))}”"
    seed = "" if found.ran.seed is None else f"drawn with seed{TIED}{found.ran.seed}"
    facts = _facts(found.example) if found.example is not None and found.maps else ""
    return wrapped(f"{TIED}· ".join(filter(None, (found.given or words, facts, seed))))


def _facts(example: Example) -> str:
    count = f"{len(example.words)} words"
    if example.key_words is not None:
        count = f"{len(example.words)} queries, {len(example.keys)} keys"
    return f"{count}, {example.Q.shape[1]} features, {example.heads} heads"


def wrapped(text: str) -> tuple[str, ...]:
    """Return text in lines as wide as a figure."""
    lines = textwrap.wrap(text, int((WIDTH - 2 * EDGE) / (TEXT * LETTER * 0.86)))
    return tuple(line.replace(TIED, " ") for line in lines) or ("",)


def _blocks(found: Exploration) -> list[Block]:
    blocks = [planned(drawing, (found.is_wrong(drawing),) * len(drawing.panels)) for drawing in found.drawings]
    if not found.maps or found.example is None:
        return blocks
    words, keys = found.example.words, found.example.keys
    images = tuple(Image(each.title, each.weights, words, keys) for each in found.maps)
    weights = Weights("weights", "Weights", NOTE, "key", "query", images, 0.0, 1.0)
    return [planned(weights, tuple(map(found.is_wrong, found.maps))), *blocks]


def planned(drawing: Drawing, wrong: tuple[bool, ...]) -> Block:
    """Return how the panels of a drawing share rows: as many as can be read, and as many in each row."""
    notice = wrapped(_notice(drawing))
    if isinstance(drawing, Images):
        rows, widths, high = _rows_of_images(drawing)
        return Block(drawing, rows, widths, high, notice, wrong)
    if isinstance(drawing, Graphs):
        across, high = 1, NODE * max(1 + node.row for panel in drawing.panels for node in panel.nodes)
        side = WIDTH - 2 * EDGE - SLIM
    else:
        across = columns(drawing)
        side = _room(drawing, across) - (_beside(drawing) if across == 1 else 0.0)
        high = min(side * 0.8, PLANES) if isinstance(drawing, Plane) else min(side * 0.66, CURVES)
    lines = len(drawing.panels) // across
    return Block(drawing, (across,) * lines, (side,) * lines, high, notice, wrong)


def _rows_of_images(drawing: Images) -> tuple[tuple[int, ...], tuple[float, ...], float]:
    """Return how many images each row has, how wide they are, and how high all: in as few rows, as evenly as it goes.

    Those with numbers are wider in a row that has fewer.
    """
    lines, cells, count = len(drawing.panels[0].values), len(drawing.panels[0].values[0]), len(drawing.panels)
    title = max(len(each.title) for each in drawing.panels) * (TEXT + 0.5) * LETTER * 0.86
    numbered = lines * cells <= FEW_CELLS
    least = NUMBERED_CELL * cells if numbered else min(LEAST_CELL * cells, LEAST_SIDE * max(cells / lines, 1.0))
    if isinstance(drawing, Weights):
        numbered = _room(drawing, 1) >= NARROW_CELL * cells
        least = NUMBERED_CELL * cells
    if drawing.panels[0].column_names:
        least = min(max(least, LINE_CELL * cells), _room(drawing, 1))
    fits = [n for n in range(1, count + 1) if _room(drawing, n) >= max(least, title + 0.03 - GAP)]
    if isinstance(drawing, Weights) and count % 2 == 0:
        fits = [n for n in fits if n % 2 == 0]  # plain and causal stay beside each other
    across = max(fits, default=1)
    counts = evenly(count, -(-count // across))
    side = min(_room(drawing, counts[0]) / cells, LARGEST_CELL)
    widths = tuple(min(_room(drawing, each), WIDEST_CELL * cells) if numbered else side * cells for each in counts)
    return counts, widths, side * lines


def _step(drawing: Drawing, count: int) -> tuple[float, float]:
    """Return how far the panels of a row of so many are apart, and where the first one's axes begin."""
    first = _left(drawing)
    return (WIDTH - 2 * EDGE + GAP - first + _between(drawing)) / count, EDGE + first


def _room(drawing: Drawing, count: int) -> float:
    """Return how wide the axes of panels can be that stand in a row of so many."""
    return _step(drawing, count)[0] - GAP - _between(drawing)


def _between(drawing: Drawing) -> float:
    """Return how many inches a panel has on its left that is not the first of its row."""
    return SLIM if names_once(drawing) else _left(drawing)


def names_once(drawing: Drawing) -> bool:
    """Say whether the names of rows stand beside the first image of a row alone, since all have the same."""
    return isinstance(drawing, Images) and len({each.row_names for each in drawing.panels}) == 1


def _left(drawing: Drawing) -> float:
    """Return how many inches the names of rows or values take beside a panel."""
    if isinstance(drawing, Graphs):
        return SLIM
    if not isinstance(drawing, Images):
        return LEFT
    names = [label(name) for each in drawing.panels for name in each.row_names]
    return SLIM + (0.12 + max(map(len, names)) * TEXT * LETTER if names else 0.0)


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


def _draw_block(figure: Figure, block: Block, top: float) -> None:
    drawing, is_wrong = block.drawing, block.is_wrong
    title = f"{drawing.title} · {WRONG}" if is_wrong else drawing.title
    _text(figure, top + 0.1, title, TEXT + 2.5, WARNING if is_wrong else INK, "bold")
    for number, line in enumerate(block.notice):
        _text(figure, top + 0.1 + 0.26 + LINE * number, line, TEXT, QUIET)
    panels: tuple[Panel, ...] = drawing.panels
    for number, (panel, (left, down, width)) in enumerate(zip(panels, block.places(), strict=True)):
        axes = _axes(figure, left, top + down, width, block.high)
        is_first = left == EDGE + _left(drawing) or not names_once(drawing)
        draw_panel(axes, panel, drawing, is_named(drawing, number), is_first)
        if block.wrong[number]:
            _hatch(figure, axes, "" if is_wrong else f"\n{WRONG}")


def _hatch(figure: Figure, axes: Axes, more: str) -> None:
    """Put a hatched frame around a picture of a wrong step, with its title in the same colour."""
    box, (wide, high) = axes.get_position(), figure.get_size_inches()
    across, up = FRAME / wide, FRAME / high
    frame = Rectangle(
        (box.x0 - across, box.y0 - up), box.width + 2 * across, box.height + 2 * up, transform=figure.transFigure,
        facecolor="none", edgecolor=WARNING, hatch="//////", linewidth=1, zorder=-1,
    )  # fmt: skip
    figure.add_artist(frame)
    pad = FRAME * 72 + 4
    axes.set_title(axes.get_title(loc="left") + more, loc="left", fontsize=TEXT + 0.5, color=WARNING, pad=pad)
    axes.tick_params(pad=pad)


def _axes(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    across, up = figure.get_size_inches()
    return figure.add_axes((left / across, 1 - (top + height) / up, width / across, height / up))


def _text(figure: Figure, top: float, text: str, size: float, colour: str, weight: str = "normal") -> None:
    across, up = figure.get_size_inches()
    figure.text(
        EDGE / across, 1 - top / up, text, fontsize=size, color=colour, fontweight=weight, va="center", parse_math=False
    )
