"""Weights as a figure of matplotlib's: plain and causal side by side, the heads below, and room for drawings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PatchCollection
from matplotlib.colors import FuncNorm, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from grader.explore.cells import FULL, SCALE, cell_text, colours, depth, weight_at
from grader.explore.model import WRONG, Exploration, WeightMap
from grader.report.terminal.layout import printable

INK, QUIET, FAINT = "#1c2733", "#5b6875", "#a9b4bf"
WARNING, FRAME = "#b85000", 0.06  # of a picture of a wrong step: its colour, and the inches of its frame
TITLE, TEXT, SMALL = 14.0, 10.0, 9.0  # points
LETTER = 0.0085  # inches that a letter takes, for each point of its size
CELL = (0.36, 0.74)  # least and most inches of a cell
MAP = 3.0  # inches of the cells of a map, where that lies within these bounds
NARROW = 0.45  # inches of a cell below which 0.12 becomes .12
ZEROS = 8  # words up to which zeros are written
LETTERS = 14  # of a word on an axis
TICKS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
NOTE = "Rows are queries, columns are keys: how much the word on the left attends to the word below."


@dataclass(frozen=True)
class FigureLayout:
    """Where everything stands, in inches; room is what drawings below the maps take, wide and high.

    words are those of the queries, which stand beside the rows, and keys those below the columns, by default the same.
    """

    rows: tuple[tuple[WeightMap, ...], ...]
    words: tuple[str, ...]
    keys: tuple[str, ...] = ()
    room: tuple[float, float] = (0.0, 0.0)

    @property
    def below_words(self) -> tuple[str, ...]:
        return self.keys or self.words

    @property
    def cell(self) -> float:
        return min(max(MAP / max(len(self.words), len(self.below_words)), CELL[0]), CELL[1])

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
        return 0.55 + max(map(len, self.words)) * TEXT * LETTER

    @property
    def below(self) -> float:
        return 0.5 + (self.word if self.is_upright else 0.15)

    @property
    def across(self) -> int:
        return max(map(len, self.rows))

    @cached_property
    def size(self) -> tuple[float, float]:
        width = self.across * (self.left + self.side + 0.3) + 0.95
        height = HEAD + len(self.rows) * (self.high + self.below + ABOVE) + FOOT
        return max(width, 6.2, self.room[0]), height + self.room[1]

    def corner(self, row: int, column: int) -> tuple[float, float]:
        """Return where the lower left corner of a map's cells is."""
        left = 0.15 + column * (self.left + self.side + 0.3) + self.left
        top = self.size[1] - HEAD - row * (self.high + self.below + ABOVE) - ABOVE
        return left, top - self.high


HEAD, ABOVE, FOOT = 0.85, 0.42, 0.4


def painted(found: Exploration, room: tuple[float, float] = (0.0, 0.0)) -> Figure:
    """Return the figure of an exploration that has maps, with so much room below them, in inches."""
    assert found.example is not None
    words, keys = (tuple(map(_label, names)) for names in (found.example.words, found.example.keys))
    plan = FigureLayout(arranged(found.maps), words, keys, room)
    figure = Figure(figsize=plan.size, facecolor="white")
    FigureCanvasAgg(figure)
    _title(figure, found, plan)
    for row, maps in enumerate(plan.rows):
        for column, each in enumerate(maps):
            left, bottom = plan.corner(row, column)
            axes = _axes(figure, plan, left, bottom, plan.side, plan.high)
            _map(axes, each, plan)
            if found.is_wrong(each):
                hatched(figure, axes)
    _scale(figure, plan)
    return figure


def arranged(maps: tuple[WeightMap, ...]) -> tuple[tuple[WeightMap, ...], ...]:
    """Return the maps row by row: those of the whole first, then the heads, two or three in a row."""
    whole = tuple(each for each in maps if each.head is None)
    heads = tuple(each for each in maps if each.head is not None)
    across = 3 if len(heads) % 3 == 0 and not any(each.causal for each in heads) else 2
    rows = tuple(heads[place : place + across] for place in range(0, len(heads), across))
    return ((whole,) if whole else ()) + rows


def hatched(figure: Figure, axes: Axes) -> None:
    """Put a hatched frame around a picture of a wrong step, and say beside its title that it is one."""
    box, (wide, high) = axes.get_position(), figure.get_size_inches()
    across, up = FRAME / wide, FRAME / high
    frame = Rectangle(
        (box.x0 - across, box.y0 - up), box.width + 2 * across, box.height + 2 * up, transform=figure.transFigure,
        facecolor="none", edgecolor=WARNING, hatch="//////", linewidth=1, zorder=-1,
    )  # fmt: skip
    figure.add_artist(frame)
    title, pad = f"{axes.get_title(loc='left')} · {WRONG}", FRAME * 72 + 4
    titled(axes, title, loc="left", fontsize=TEXT + 0.5, color=WARNING, pad=pad)
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
    room = int((across - 0.4) / (TEXT * LETTER)) - len(facts) - 8
    sentence = printable(" ".join(example.words))
    shown = sentence if len(sentence) <= room else f"{sentence[: max(room, 8)]}…"
    lines = (
        (0.32, f"Weights · {found.stage} {found.title}", TITLE, INK, "bold"),
        (0.60, f"“{shown}” · {facts}", TEXT, QUIET, "normal"),
        (up - plan.room[1] - 0.2, NOTE, SMALL, QUIET, "normal"),
    )
    for down, text, size, colour, weight in lines:
        figure.text(
            0.2 / across, 1 - down / up, text, fontsize=size, color=colour, fontweight=weight, va="center",
            parse_math=False,
        )  # fmt: skip


def titled(axes: Axes, title: str, **style: Any) -> None:
    """Write the title of a panel, under a name by which a page that is dark finds it."""
    places: list[Any] = list(axes.figure.axes)
    axes.set_title(title, **style).set_gid(f"title-{places.index(axes)}")


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
    titled(axes, each.title, fontsize=TEXT + 1.5, color=INK, fontweight="bold", loc="left", pad=7)
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


def _scale(figure: Figure, plan: FigureLayout) -> None:
    """Draw which colour is which weight, beside the first row."""
    count = len(plan.below_words)
    left, bottom = plan.corner(0, len(plan.rows[0]) - 1)
    axes = _axes(figure, plan, left + plan.side + 0.32, bottom, 0.16, plan.high)
    colormap = LinearSegmentedColormap.from_list("weights", [[part / 255 for part in colour] for colour in SCALE])
    bar = figure.colorbar(ScalarMappable(FuncNorm(_norm(count), 0, 1), colormap), cax=axes)
    far = [tick for tick in TICKS if tick in (0, 1) or min(depth(tick, count), 1 - depth(tick, count)) > 0.08]
    bar.set_ticks(far, labels=[f"{tick:g}" for tick in far], fontsize=SMALL, color=INK)
    bar.ax.minorticks_off()
    bar.ax.tick_params(length=2, color=FAINT, pad=3)
    titled(bar.ax, "weight", fontsize=SMALL, color=QUIET, pad=8)
    bar.outline.set(edgecolor=FAINT, linewidth=0.8)


def _norm(count: int) -> tuple[np.vectorize, np.vectorize]:
    """Return depth and its inverse for arrays, as matplotlib asks for them; an array may be empty."""
    there = np.vectorize(lambda weight: depth(float(weight), count), otypes=[float])
    back = np.vectorize(lambda shade: weight_at(float(shade), count), otypes=[float])
    return there, back


def _label(word: str) -> str:
    text = printable(word)
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"
