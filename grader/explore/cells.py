"""Weights and small images as shaded cells for a terminal, and the colours that pictures have as well.

Numbers and shades read without colour too. An equal share lies near the middle of the scale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from grader.explore.model import Image, Images, WeightMap, cell_number, is_whole
from grader.report.terminal.layout import INDENT, Look, paragraph

if TYPE_CHECKING:
    from rich.text import Text

Colour = tuple[int, int, int]
Palette = Literal["truecolor", "256"]

SCALE: tuple[Colour, ...] = ((240, 245, 251), (189, 212, 236), (121, 169, 214), (58, 116, 180), (18, 66, 128))
# Of 256 colours, those that pictures have: the nearest of all would be of many hues.
FIXED: tuple[Colour, ...] = (
    (255, 255, 255), (238, 238, 238), (218, 218, 218), (175, 215, 255), (135, 215, 255), (135, 175, 215),
    (95, 135, 175), (0, 95, 175), (215, 95, 0), (215, 135, 95), (255, 175, 135), (255, 215, 175), (215, 255, 215),
    (255, 215, 255),
)  # fmt: skip
DARK_TEXT, LIGHT_TEXT = (16, 35, 59), (255, 255, 255)
NEGATIVE, POSITIVE = (213, 94, 0), (0, 114, 178)  # the strongest orange and blue of signed values
# Of series, by Okabe and Ito: every reader tells them apart; and of their names on white, where some are too light.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
WORDS = ("#0072b2", "#b85000", "#008060", "#a84c80", "#8a5f00", "#2a7ab0")
BRIGHT, BRIGHT_BOTH = 0.21, 0.29  # lightness of a cell from which dark text is easier to read; in a dark picture, too
CURVE = 1.8  # above 1, it sets weights around an equal share further apart


def depth(weight: float, count: int) -> float:
    """Return how dark a weight among so many words is: 0 for none, 1 for all, near the middle for an equal share.

    >>> round(depth(0.25, 4), 2), depth(0.0, 4), depth(1.0, 4)
    (0.43, 0.0, 1.0)
    """
    weight = min(max(weight, 0.0), 1.0)
    share: float = weight * (count + 1) / (1 + weight * count)
    return float(share**CURVE)


def colours(weight: float, count: int, palette: Palette = "truecolor") -> tuple[str, str]:
    """Return the colours of the text and of the cell, as #rrggbb."""
    return _on(_mixed(depth(weight, count)), palette)


def signed_colours(share: float, palette: Palette = "truecolor") -> tuple[str, str]:
    """Return the colours of the text and of the cell for a value from -1 (orange) to 1 (blue); 0 is white."""
    end = NEGATIVE if share < 0 else POSITIVE
    red, green, blue = (round(255 + min(abs(share), 1.0) * (part - 255)) for part in end)
    return _on((red, green, blue), palette)


def _on(cell: Colour, palette: Palette) -> tuple[str, str]:
    cell = shade(cell, palette)
    return _hex(text_on(cell)), _hex(cell)


def text_on(cell: Colour, bright: float = BRIGHT) -> Colour:
    """Return the colour of text that is easier to read on another colour."""
    light = sum(part * (value / 255) ** 2.2 for part, value in zip((0.2126, 0.7152, 0.0722), cell, strict=True))
    return DARK_TEXT if light > bright else LIGHT_TEXT


def shade(colour: Colour, palette: Palette) -> Colour:
    """Return a colour as a terminal shows it: where it has 256, the nearest of those that pictures have."""
    if palette == "truecolor":
        return colour
    return min(FIXED, key=lambda each: sum((a - b) ** 2 for a, b in zip(each, colour, strict=True)))


def _mixed(deep: float) -> Colour:
    """Return the colour of a depth, between the two of the scale that it lies between."""
    place = deep * (len(SCALE) - 1)
    first = min(int(place), len(SCALE) - 2)
    red, green, blue = (round(a + (place - first) * (b - a)) for a, b in zip(*SCALE[first : first + 2], strict=True))
    return red, green, blue


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


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
    room = view.look.detail - INDENT
    grid = fitting(len(maps), labels, room, len(columns))
    numbered = is_numbered(grid, columns)
    if numbered and not keys:  # a word that has no room above its column is known by its number
        labels = tuple(f"{place:>{len(str(len(labels) - 1))}} {label}" for place, label in enumerate(labels))
        grid = fitting(len(maps), labels, room, len(columns))
    if grid is None:
        return paragraph("The maps need a wider terminal; --json has the numbers.", view.look, "yellow")
    pairs = any(each.causal for each in maps) and grid.across > 1
    across = grid.across - grid.across % 2 if pairs else grid.across  # plain and causal stay together
    lines: list[Text] = []
    if numbered and keys:
        told = ", ".join(f"{place} {word}" for place, word in enumerate(columns))
        lines += [*paragraph(f"Keys: {told}.", view.look), Text("")]
    for first in range(0, len(maps), across):
        blocks = [_block(each, (labels, columns), grid, view, numbered) for each in maps[first : first + across]]
        lines += [Text(" " * INDENT) + Text(" " * GAP).join(row) for row in zip(*blocks, strict=True)]
        lines.append(Text(""))
    return lines


def is_numbered(grid: Grid | None, columns: tuple[str, ...]) -> bool:
    """Say whether numbers stand above the columns, since a word has no room there."""
    from rich.cells import cell_len

    return grid is not None and grid.cell not in FULL and max(map(cell_len, columns)) >= grid.cell


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


def _block(
    each: WeightMap, words: tuple[tuple[str, ...], tuple[str, ...]], grid: Grid, view: View, numbered: bool
) -> list[Text]:
    """Return the lines of one map, all of one width: title, words of the keys, a row for each query."""
    from rich.text import Text

    labels, columns = words
    width = grid.label + 1 + len(columns) * grid.cell
    keys = "".join(_key(label, grid.cell, view.look) for label in columns)
    keys = _numbers(len(columns), grid.cell) if numbered else keys
    lines = [Text(fitted(each.title, width, view.look), "bold"), Text(" " * (grid.label + 1) + keys, "bold")]
    for label, weights in zip(labels, each.weights, strict=True):
        cells = [_cell(weight, len(columns), grid.cell, view) for weight in weights]
        lines.append(Text.assemble((fitted(label, grid.label, view.look) + " ", "bold"), *cells))
    return lines


def _numbers(count: int, cell: int) -> str:
    """Return the numbers of columns, each where it begins, as far as they do not run into each other."""
    line = ""
    for place in range(count):
        if not line or len(line) < place * cell:
            line = line.ljust(place * cell) + str(place)
    return line.ljust(count * cell)[: count * cell]


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


NUMBERED = 5  # columns up to which numbers are written
MANY, NAMED = 10, 20  # rows above which two stand in one line; so many where rows have names
NUMBER, WIDE, NARROW = 6, 2, 1  # columns of a cell
SIGNED = {False: "▼▽ △▲", True: "Vv ^A"}  # from -1 to 1, both ends of equal strength


def _numbered(image: Image) -> Image:
    """Return an image with numbers above its columns where words do not fit; its rows say which word is which."""
    cell, longest = cell_width(image), max(map(len, image.column_names), default=0)
    if image.column_names != image.row_names or longest <= cell or cell == NUMBER:
        return image
    numbers = tuple(map(str, range(len(image.column_names))))
    wide = len(numbers[-1])
    rows = tuple(f"{number:>{wide}} {name}" for number, name in zip(numbers, image.row_names, strict=True))
    return replace(image, row_names=rows, column_names=numbers)


def _names(image: Image) -> int:
    """Return how many columns the names of the rows take, with a space behind them."""
    from rich.cells import cell_len

    return max(map(cell_len, image.row_names), default=-1) + 1


def cell_width(image: Image) -> int:
    """Return how many columns a cell takes."""
    if len(image.values[0]) <= NUMBERED and len(image.values) <= NUMBERED:
        return NUMBER
    return NARROW if len(image.values) > (NAMED if image.row_names else MANY) else WIDE


def image_block(image: Image, drawing: Images, view: View) -> list[Text]:
    """Return an image's title and its rows, all of one width."""
    from rich.text import Text

    image = _numbered(image)
    cell, names = cell_width(image), _names(image)
    width = max(names + len(image.values[0]) * cell, len(image.title))
    shares, whole = shown(image, drawing), is_whole(drawing)
    lines = [Text(fitted(image.title, width, view.look), "bold")]
    if image.column_names:
        least = cell - 1 if cell == NUMBER else cell
        heads = "".join(fitted(view.look.clean(name), least, view.look) + " " * (cell - least)
                        for name in image.column_names)  # fmt: skip
        lines.append(Text((" " * names + heads).ljust(width), "bold"))
    rows = range(0, len(shares), 2) if cell == NARROW else range(len(shares))
    for row in rows:
        name = fitted(view.look.clean(image.row_names[row]), names, view.look) if image.row_names else ""
        if cell == NARROW:
            below = shares[row + 1] if row + 1 < len(shares) else shares[row]
            cells = [_half(top, low, drawing.signed, view) for top, low in zip(shares[row], below, strict=True)]
        else:
            given = image.values[row]
            cells = [
                _blank(cell, view) if np.isnan(v) else _image_cell(s, v, cell, (drawing.signed, whole), view)
                for s, v in zip(shares[row], given, strict=True)
            ]
        line = Text.assemble((name, "bold"), *cells)
        lines.append(line + Text(" " * (width - line.cell_len)))
    return lines


def shown(image: Image, drawing: Images) -> np.ndarray:
    """Return the values as shares of what is shown: from 0 to 1, or from -1 to 1 where signed; NaN for none."""
    values = np.asarray(image.values, dtype=np.float64)
    span = max(drawing.high if drawing.signed else drawing.high - drawing.low, 1e-12)
    low = 0.0 if drawing.signed else drawing.low
    found: np.ndarray = np.clip((values - low) / span, -1.0 if drawing.signed else 0.0, 1.0)
    return found


def _paint(share: float, signed: bool, palette: Palette) -> tuple[str, str]:
    """Return the colours of text and cell."""
    return signed_colours(share, palette) if signed else colours(share, 1, palette)


def _shade(share: float, signed: bool, plain: bool) -> str:
    if signed:
        return SIGNED[plain][min(int((share + 1) / 2 * 5), 4)]
    return DARKS[plain][min(int(share * 5), 4)]


def _image_cell(share: float, value: float, cell: int, marked: tuple[bool, bool], view: View) -> tuple[str, str]:
    signed, whole = marked
    number = f"{cell_number(value, whole):>{cell - 1}} " if cell == NUMBER else " " * cell
    if view.palette:
        return number, "{} on {}".format(*_paint(float(share), signed, view.palette))
    mark = _shade(float(share), signed, view.look.ascii)
    return (mark + number[1:] if cell == NUMBER and number[0] == " " else number if cell == NUMBER else mark * cell), ""


def _blank(cell: int, view: View) -> tuple[str, str]:
    """Return a cell that has no value yet."""
    return f"{'.' if view.look.ascii else '·':>{cell - 1}} ", "dim"


def _half(top: float, low: float, signed: bool, view: View) -> tuple[str, str]:
    """Return two values in one cell: the upper half in the colour of the one, the lower in that of the other."""
    if view.palette and not view.look.ascii:
        upper, lower = (_paint(float(share), signed, view.palette)[1] for share in (top, low))
        return "▀", f"{upper} on {lower}"
    return _shade((float(top) + float(low)) / 2, signed, view.look.ascii), ""


def scale_words(drawing: Images, view: View) -> str:
    """Return what the shades stand for."""
    low, high = f"{drawing.low:.2g}", f"{drawing.high:.2g}"
    if view.palette:
        if drawing.signed:
            return f"Orange is below 0, blue above, white near 0; the strongest are {low} and {high}."
        return f"Darker means more: from {low} to {high}."
    if drawing.signed:
        below, less, _, more, above = list(SIGNED[view.look.ascii])
        return f"Cells: {below} and {less} below 0, {more} and {above} above, from {low} to {high}."
    shades = DARKS[view.look.ascii]
    return f"Cells from {low} (blank) over {shades[1:4]} to {high} ({shades[4]})."
