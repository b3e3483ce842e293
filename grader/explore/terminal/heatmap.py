"""Weights as a table of shaded cells for a terminal; numbers and shades read without colour too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.explore.colour import Palette, colours
from grader.explore.model import WeightMap
from grader.report.terminal.layout import INDENT, Look, paragraph

if TYPE_CHECKING:
    from rich.text import Text

FULL, PERCENT, SHADES = (7, 6), (4, 3), (2,)  # columns of a cell: 0.46, 46 (percent), a shade alone
NARROWEST = 3  # columns of a cell that 100 fills whole: where nothing else sets it apart, shades stand there
GAP = 4
MARKED = 5  # columns from which a word that is cut is marked
FEW = 4  # words, up to which an equal share counts as a quarter
TINY = 0.005  # beyond 0 and 1, which two digits do not show
LABEL = (3, 10)  # least and most columns of a word beside its row
DARKS = {False: " ░▒▓█", True: " .:*#"}  # one more for each half of an equal share


@dataclass(frozen=True)
class View:
    """What the maps are drawn for: what the terminal shows, and in which colours, if any."""

    look: Look
    palette: Palette | None


@dataclass(frozen=True)
class Grid:
    """How wide a cell is, how wide the words beside the rows, and how many maps stand side by side."""

    cell: int
    label: int
    across: int


def map_lines(
    maps: tuple[WeightMap, ...], words: tuple[str, ...], view: View, keys: tuple[str, ...] = ()
) -> list[Text]:
    """Return maps side by side as far as they fit, else below each other; where none fits, a line that says so.

    words are those of the queries, keys those of the columns, by default the same.
    """
    from rich.text import Text

    labels = tuple(view.look.clean(word) for word in words)
    columns = tuple(view.look.clean(word) for word in keys) or labels
    grid = fitting(len(maps), labels, view.look.detail - INDENT, len(columns))
    if grid is None:
        return paragraph("The maps need a wider terminal; --json has the numbers.", view.look, "yellow")
    pairs = any(each.causal for each in maps) and grid.across > 1
    across = grid.across - grid.across % 2 if pairs else grid.across  # plain and causal stay together
    lines: list[Text] = []
    for first in range(0, len(maps), across):
        blocks = [_block(each, (labels, columns), grid, view) for each in maps[first : first + across]]
        lines += [Text(" " * INDENT) + Text(" " * GAP).join(row) for row in zip(*blocks, strict=True)]
        lines.append(Text(""))
    return lines


def fitting(count: int, labels: tuple[str, ...], room: int, columns: int = 0) -> Grid | None:
    """Return the widest cells that fit: with the maps side by side where whole numbers allow it; None if none fit."""
    from rich.cells import cell_len

    label = min(max(LABEL[0], *map(cell_len, labels)), LABEL[1])
    for least, cells in ((min(count, 2), FULL), (1, (*FULL, *PERCENT, *SHADES))):
        for cell in cells:
            across = (room + GAP) // (label + 1 + (columns or len(labels)) * cell + GAP)
            if across >= least:
                return Grid(cell, label, min(across, count))
    return None


def legend(count: int, words: tuple[str, ...], view: View, keys: tuple[str, ...] = ()) -> str:
    """Return what rows, columns, cells and shades stand for."""
    columns = len(keys or words)
    grid = fitting(count, tuple(view.look.clean(word) for word in words), view.look.detail - INDENT, columns)
    percent = grid is not None and grid.cell not in FULL
    cells = "weights in percent" if percent else "weights"
    if grid is not None and grid.cell in SHADES:
        cells = "weights as shades (a wider terminal, or --json, shows the numbers)"
    text = f"Rows are queries, columns are keys; cells are {cells}, 0 is none at all."
    if view.palette:
        return f"{text} Darker means more."
    darks = DARKS[view.look.ascii]
    if grid is not None and grid.cell == NARROWEST:
        text += f" A cell that is all {darks[-1]} is 100."
    halves = [level / 2 / max(columns, FEW) for level in range(1, len(darks))]
    steps = ", ".join(
        f"{darks[level]} from {f'{100 * half:.1f} %' if percent else f'{half:.3f}'}"
        for level, half in enumerate(halves, 1)
    )
    return f"{text} Shades: {steps}: one more for each half of an equal share."


def _block(each: WeightMap, words: tuple[tuple[str, ...], tuple[str, ...]], grid: Grid, view: View) -> list[Text]:
    """Return the lines of one map, all of one width: title, words of the keys, a row for each query."""
    from rich.text import Text

    labels, columns = words
    width = grid.label + 1 + len(columns) * grid.cell
    keys = "".join(_key(label, grid.cell, view.look) for label in columns)
    lines = [Text(fitted(each.title, width, view.look), "bold"), Text(" " * (grid.label + 1) + keys, "bold")]
    for label, weights in zip(labels, each.weights, strict=True):
        cells = [_cell(weight, len(columns), grid.cell, view) for weight in weights]
        lines.append(Text.assemble((fitted(label, grid.label, view.look) + " ", "bold"), *cells))
    return lines


def _key(label: str, cell: int, look: Look) -> str:
    """Return a word above its column, with a space behind it; in wide cells it ends where the numbers end."""
    from rich.cells import cell_len

    text = fitted(label, cell - 1, look).rstrip()
    left = cell - 1 - cell_len(text) if cell in FULL else 0
    return " " * left + text + " " * (cell - left - cell_len(text))


def fitted(text: str, width: int, look: Look) -> str:
    """Return text in so many columns; what is cut is marked where there is room for a mark.

    >>> fitted("attentive", 6, Look(80)), fitted("attentive", 3, Look(80)), fitted("cat", 5, Look(80))
    ('atten…', 'att', 'cat  ')
    """
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width or width < MARKED:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1) + ("." if look.ascii else "…")


def cell_text(weight: float, cell: int) -> str:
    """Return a weight in a cell of so many columns: as a number, in percent, or not at all.

    >>> cell_text(0.456, 7), cell_text(0.456, 4), cell_text(0.0, 7), cell_text(1.0, 3), cell_text(-2.0, 7)
    ('0.46', '46', '0', '100', '<0')
    """
    if cell in SHADES:
        return ""
    if not -TINY <= weight <= 1 + TINY:
        return "<0" if weight < 0 else ">1"
    if weight == 0:
        return "0"
    percent = round(100 * abs(weight))
    return f"{abs(weight):.2f}" if cell in FULL else "<1" if percent == 0 else f"{percent}"


def _cell(weight: float, count: int, cell: int, view: View) -> tuple[str, str]:
    """Return a cell's text and style; the number stands at the same place with colour and without."""
    number = cell_text(weight, cell)
    room = 0 if cell in SHADES else 4 if cell in FULL else max(2, len(number))
    shade = " " if view.palette else shade_of(weight, count, view.look.ascii)
    behind = 1 if cell in FULL or cell == PERCENT[0] else 0
    text = shade * (cell - room - behind) + f"{number:>{room or 1}}"[:room] + " " * behind
    if room == cell and not view.palette:
        text = shade * cell  # 100 would run into the number before it
    if view.palette is None:
        return text, ""
    return text, "dim" if weight == 0 else "{} on {}".format(*colours(weight, count, view.palette))


def shade_of(weight: float, count: int, plain: bool) -> str:
    """Return the character for a weight among so many words: the next one with each half of an equal share."""
    darks = DARKS[plain]
    level = 2 * max(count, FEW) * min(max(weight, 0.0), 1.0)
    return darks[min(int(level), len(darks) - 1)]
