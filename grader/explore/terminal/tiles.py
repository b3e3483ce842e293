"""Small images as shaded cells for a terminal: with their numbers where they are few, two rows in one where many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.explore.colour import colours, signed_colours
from grader.explore.drawing import Image, Images, cell_number, is_whole
from grader.explore.terminal.heatmap import View, fitted

if TYPE_CHECKING:
    from rich.text import Text

FEW = 5  # columns up to which numbers are written
MANY, NAMED = 10, 20  # rows above which two stand in one line; so many where rows have names
NUMBER, WIDE, NARROW = 6, 2, 1  # columns of a cell
SHADES = {False: " ░▒▓█", True: " .:*#"}
SIGNED = {False: "=- ▒█", True: "=- +#"}  # from -1 to 1


def image_width(image: Image) -> int:
    """Return how many columns an image takes."""
    count = len(image.values[0])
    return max(_names(image) + count * cell_width(image), len(image.title))


def _names(image: Image) -> int:
    """Return how many columns the names of the rows take, with a space behind them."""
    from rich.cells import cell_len

    return max(map(cell_len, image.row_names), default=-1) + 1


def cell_width(image: Image) -> int:
    """Return how many columns a cell takes."""
    if len(image.values[0]) <= FEW and len(image.values) <= FEW:
        return NUMBER
    return NARROW if len(image.values) > (NAMED if image.row_names else MANY) else WIDE


def image_block(image: Image, drawing: Images, view: View) -> list[Text]:
    """Return an image's title and its rows, all of one width."""
    from rich.text import Text

    width, cell = image_width(image), cell_width(image)
    shares, whole = shown(image, drawing), is_whole(drawing)
    names = _names(image)
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
                _blank(cell, view) if np.isnan(v) else _cell(s, v, cell, (drawing.signed, whole), view)
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


def _paint(share: float, signed: bool) -> tuple[str, str]:
    """Return the colours of text and cell."""
    return signed_colours(share) if signed else colours(share, 1)


def _shade(share: float, signed: bool, plain: bool) -> str:
    if signed:
        return SIGNED[plain][min(int((share + 1) / 2 * 5), 4)]
    return SHADES[plain][min(int(share * 5), 4)]


def _cell(share: float, value: float, cell: int, marked: tuple[bool, bool], view: View) -> tuple[str, str]:
    signed, whole = marked
    number = f"{cell_number(value, whole):>{cell - 1}} " if cell == NUMBER else " " * cell
    if view.palette:
        return number, "{} on {}".format(*_paint(float(share), signed))
    mark = _shade(float(share), signed, view.look.ascii)
    return (mark + number[1:] if cell == NUMBER and number[0] == " " else number if cell == NUMBER else mark * cell), ""


def _blank(cell: int, view: View) -> tuple[str, str]:
    """Return a cell that has no value yet."""
    return f"{'.' if view.look.ascii else '·':>{cell - 1}} ", "dim"


def _half(top: float, low: float, signed: bool, view: View) -> tuple[str, str]:
    """Return two values in one cell: the upper half in the colour of the one, the lower in that of the other."""
    if view.palette and not view.look.ascii:
        return "▀", f"{_paint(float(top), signed)[1]} on {_paint(float(low), signed)[1]}"
    return _shade((float(top) + float(low)) / 2, signed, view.look.ascii), ""


def scale_words(drawing: Images, view: View) -> str:
    """Return what the shades stand for."""
    low, high = f"{drawing.low:.2g}", f"{drawing.high:.2g}"
    if view.palette:
        if drawing.signed:
            return f"Blue is below 0, red above, white near 0; the strongest are {low} and {high}."
        return f"Darker means more: from {low} to {high}."
    if drawing.signed:
        below, less, _, more, above = list(SIGNED[view.look.ascii])
        return f"Cells: {below} and {less} below 0, {more} and {above} above, from {low} to {high}."
    shades = SHADES[view.look.ascii]
    return f"Cells from {low} (blank) over {shades[1:4]} to {high} ({shades[4]})."
