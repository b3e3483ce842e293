"""Weights as a figure of matplotlib's: as many maps in a row as can be read, and room for drawings below them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from grader.explore.cells import FULL, cell_text, colours
from grader.explore.model import WRONG, Exploration, WeightMap
from grader.report.terminal.layout import printable

INK, QUIET, FAINT = "#1c2733", "#5b6875", "#a9b4bf"
WARNING, FRAME = "#b85000", 0.06  # of a picture of a wrong step: its colour, and the inches of its frame
TITLE, TEXT, SMALL = 13.0, 10.0, 9.5  # points: on a telephone 360 wide, 9 pixels and more
WIDTH = 5.6  # inches of a figure
LETTER = 0.0085  # inches that a letter takes, for each point of its size
CELL = (0.36, 0.74)  # least and most inches of a cell
MAP = 1.6  # inches of the cells of a map, where that lies within these bounds
NARROW = 0.38  # inches of a cell below which 0.12 becomes .12
ZEROS = 8  # words up to which zeros are written
LETTERS = 14  # of a word on an axis
NOTE = "How much the word on the left, a query, attends to the word below, a key."


@dataclass(frozen=True)
class FigureLayout:
    """Where everything stands, in inches; room is what drawings below the maps take, wide and high.

    words are those of the queries, which stand beside the rows, and keys those below the columns, by default the same.
    """

    maps: tuple[WeightMap, ...]
    words: tuple[str, ...]
    keys: tuple[str, ...] = ()
    room: tuple[float, float] = (0.0, 0.0)

    @property
    def below_words(self) -> tuple[str, ...]:
        return self.keys or self.words

    @property
    def cell(self) -> float:
        count = max(len(self.words), len(self.below_words))
        least = max(MAP / count, CELL[0])
        alone = 2 * (self.left + least * len(self.below_words) + BESIDE) + EDGES > WIDTH or len(self.maps) == 1
        return min(max(least, (WIDTH - EDGES - self.left - BESIDE) / count if alone else 0.0), CELL[1])

    @property
    def side(self) -> float:
        """The width of a map's cells."""
        return self.cell * len(self.below_words)

    @property
    def high(self) -> float:
        return self.cell * len(self.words)

    @property
    def word(self) -> float:
        """The length of the longest word below the maps."""
        return max(map(len, self.below_words)) * TEXT * LETTER

    @property
    def is_upright(self) -> bool:
        """Whether the words below a map have to stand upright."""
        return self.word > self.cell * 0.92

    @property
    def left(self) -> float:
        return 0.35 + max(map(len, self.words)) * TEXT * LETTER

    @property
    def below(self) -> float:
        return 0.5 + (self.word if self.is_upright else 0.15)

    @property
    def across(self) -> int:
        """How many maps stand in a row: two where there is room, since plain and causal, and most heads, are pairs."""
        return 2 if len(self.maps) > 1 and self.wide(2) + EDGES <= WIDTH else 1

    @property
    def rows(self) -> tuple[tuple[WeightMap, ...], ...]:
        return tuple(self.maps[place : place + self.across] for place in range(0, len(self.maps), self.across))

    @cached_property
    def size(self) -> tuple[float, float]:
        width = self.wide(self.across) + EDGES
        height = HEAD + len(self.rows) * (self.high + self.below + ABOVE) + FOOT
        return max(width, WIDTH), height + self.room[1]

    def wide(self, count: int) -> float:
        """Return how wide so many maps are beside each other."""
        return count * (self.left + self.side + BESIDE)

    def corner(self, row: int, column: int) -> tuple[float, float]:
        """Return where the lower left corner of a map's cells is."""
        left = EDGES / 2 + self.wide(column) + self.left
        top = self.size[1] - HEAD - row * (self.high + self.below + ABOVE) - ABOVE
        return left, top - self.high


EDGES, BESIDE = 0.3, 0.2  # inches left and right of all, and between maps
HEAD, ABOVE, FOOT = 1.0, 0.42, 0.4


def painted(found: Exploration, room: tuple[float, float] = (0.0, 0.0)) -> Figure:
    """Return the figure of an exploration that has maps, with so much room below them, in inches."""
    assert found.example is not None
    words, keys = (tuple(map(_label, names)) for names in (found.example.words, found.example.keys))
    plan = FigureLayout(found.maps, words, keys, room)
    figure = Figure(figsize=plan.size, facecolor="white")
    FigureCanvasAgg(figure)
    _title(figure, found, plan)
    for row, maps in enumerate(plan.rows):
        for column, each in enumerate(maps):
            left, bottom = plan.corner(row, column)
            axes = _axes(figure, plan, left, bottom, plan.side, plan.high)
            _map(axes, each, plan)
            if found.is_wrong(each):
                axes.set_title(f"{each.title}\n{WRONG}", loc="left")
                hatched(figure, axes)
    return figure


def hatched(figure: Figure, axes: Axes) -> None:
    """Put a hatched frame around a picture of a wrong step, with its title in the same colour."""
    box, (wide, high) = axes.get_position(), figure.get_size_inches()
    across, up = FRAME / wide, FRAME / high
    frame = Rectangle(
        (box.x0 - across, box.y0 - up), box.width + 2 * across, box.height + 2 * up, transform=figure.transFigure,
        facecolor="none", edgecolor=WARNING, hatch="//////", linewidth=1, zorder=-1,
    )  # fmt: skip
    figure.add_artist(frame)
    pad = FRAME * 72 + 4
    axes.set_title(axes.get_title(loc="left"), loc="left", fontsize=TEXT + 0.5, color=WARNING, pad=pad)
    axes.tick_params(pad=pad)


def _axes(figure: Figure, plan: FigureLayout, left: float, bottom: float, width: float, height: float) -> Axes:
    across, up = plan.size
    return figure.add_axes((left / across, bottom / up, width / across, height / up))


def _title(figure: Figure, found: Exploration, plan: FigureLayout) -> None:
    across, up = plan.size
    example = found.example
    assert example is not None
    count = (
        f"{len(example.words)} words"
        if example.key_words is None
        else f"{len(example.words)} queries, {len(example.keys)} keys"
    )
    facts = f"{count}, {example.Q.shape[1]} features, {example.heads} heads"
    room = int((across - 0.4) / (TEXT * LETTER)) - 2
    sentence = printable(" ".join(example.words))
    shown = sentence if len(sentence) <= room else f"{sentence[: room - 1]}…"
    lines = (
        (0.32, f"Weights · {found.stage} {found.title}", TITLE, INK, "bold"),
        (0.60, f"“{shown}”", TEXT, QUIET, "normal"),
        (0.80, facts, TEXT, QUIET, "normal"),
        (up - plan.room[1] - 0.2, NOTE, SMALL, QUIET, "normal"),
    )
    for down, text, size, colour, weight in lines:
        figure.text(
            0.2 / across, 1 - down / up, text, fontsize=size, color=colour, fontweight=weight, va="center",
            parse_math=False,
        )  # fmt: skip


def _map(axes: Axes, each: WeightMap, plan: FigureLayout) -> None:
    count = len(plan.below_words)
    cells = [(row, column, w) for row, weights in enumerate(each.weights) for column, w in enumerate(weights)]
    paints = [_paint(weight, count) for _, _, weight in cells]
    squares = [Rectangle((column, row), 1, 1) for row, column, _ in cells]
    axes.add_collection(PatchCollection(squares, facecolors=[p[1] for p in paints], edgecolors="white", linewidths=1.2))
    for (row, column, weight), (text, _) in zip(cells, paints, strict=True):
        _number(axes, (column + 0.5, row + 0.52), weight, text, plan)
    axes.set(xlim=(0, count), ylim=(len(plan.words), 0))
    for ticks, words in ((axes.set_xticks, plan.below_words), (axes.set_yticks, plan.words)):
        ticks([place + 0.5 for place in range(len(words))], words, fontsize=TEXT, color=INK, parse_math=False)
    axes.tick_params(length=0, pad=5)
    axes.tick_params(axis="x", rotation=90 if plan.is_upright else 0)
    axes.set_xlabel("key", fontsize=SMALL, color=QUIET, labelpad=4)
    axes.set_ylabel("query", fontsize=SMALL, color=QUIET, labelpad=5)
    axes.set_title(each.title, fontsize=TEXT + 1.5, color=INK, fontweight="bold", loc="left", pad=7)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)


def _paint(weight: float, count: int) -> tuple[str, str]:
    """Return the colours of a cell's number and of the cell; nothing at all is white."""
    return colours(weight, count) if weight else (FAINT, "white")


def _number(axes: Axes, place: tuple[float, float], weight: float, colour: str, plan: FigureLayout) -> None:
    """Write a weight into its cell, in a size that fits; many zeros would only be noise."""
    if weight == 0 and len(plan.below_words) > ZEROS:
        return
    shown = cell_text(weight, FULL[0])
    shown = shown.removeprefix("0") if plan.cell < NARROW and weight else shown
    size = min(TEXT + 1, plan.cell * 20)
    axes.text(*place, shown, ha="center", va="center", fontsize=size, color=colour)


def _label(word: str) -> str:
    text = printable(word)
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"
