"""A small surface of characters for a terminal: text, dots of braille, and what lies behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.explore.drawing import Limits, Numbers

if TYPE_CHECKING:
    from rich.text import Text

BRAILLE = 0x2800
BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a dot, by its row and column in a cell
DOTS = (2, 4)  # in a cell, across and up
MARKS = {False: "●○▲△■□◆◇", True: "o+x*#@%&"}
COLOURS = ("#3b8ed0", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#888888", "#8c6bb1")
Place = tuple[int, int]


def mark_of(number: int, plain: bool) -> str:
    """Return the mark of the series of that number."""
    return MARKS[plain][number % len(MARKS[plain])]


def colour_of(number: int) -> str:
    """Return the colour of the series of that number: told apart by most colour-blind people too."""
    return COLOURS[number % len(COLOURS)]


class Raster:
    """Cells by column and row, row 0 at the top."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._front: dict[Place, tuple[str, str]] = {}
        self._behind: dict[Place, str] = {}
        self._shades: dict[Place, str] = {}
        self._dots: dict[Place, tuple[int, str]] = {}

    def put(self, place: Place, character: str, style: str = "") -> None:
        """Set a cell's character; outside the surface nothing happens."""
        if 0 <= place[0] < self.width and 0 <= place[1] < self.height:
            self._front[place] = character, style

    def behind(self, place: Place, colour: str) -> None:
        """Set the colour behind a cell."""
        self._behind[place] = colour

    def shade(self, place: Place, character: str) -> None:
        """Set the character that a cell shows while nothing else stands in it."""
        self._shades[place] = character

    def dot(self, place: Place, style: str) -> None:
        """Set one dot of braille; place counts dots, not cells."""
        across, down = place
        cell = across // DOTS[0], down // DOTS[1]
        if 0 <= cell[0] < self.width and 0 <= cell[1] < self.height:
            bits = self._dots.get(cell, (0, ""))[0]
            self._dots[cell] = bits | BITS[down % DOTS[1]][across % DOTS[0]], style

    def write(self, place: Place, text: str, style: str = "") -> bool:
        """Write text from a place on, where every cell of it is there and free; say whether it was."""
        cells = [(place[0] + offset, place[1]) for offset in range(len(text))]
        if any(cell in self._front or not 0 <= cell[0] < self.width for cell in cells):
            return False
        for cell, character in zip(cells, text, strict=True):
            self.put(cell, character, style)
        return True

    def lines(self) -> list[Text]:
        """Return the rows from the top."""
        from rich.text import Text

        return [
            Text.assemble(*(self._cell((column, row)) for column in range(self.width))) for row in range(self.height)
        ]

    def _cell(self, place: Place) -> tuple[str, str]:
        character, style = self._front.get(place, (self._shades.get(place, " "), ""))
        if place in self._dots and place not in self._front:
            bits, style = self._dots[place]
            character = chr(BRAILLE + bits)
        if place in self._behind:
            style = f"{style or '#10233b'} on {self._behind[place]}"
        return character, style


def scaled(values: Numbers, limits: Limits, size: int, *, log: bool = False, down: bool = False) -> np.ndarray:
    """Return the places of values on an axis of so many cells, as whole numbers, far ones beyond both ends."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.log10(np.asarray(values)) if log else np.asarray(values, dtype=np.float64)
    share = (found - limits[0]) / (limits[1] - limits[0])
    share = 1 - share if down else share
    return (
        np.clip(np.nan_to_num(share * (size - 1), nan=-size, posinf=2 * size, neginf=-size), -size, 2 * size)
        .round()
        .astype(int)
    )


def line_places(x: np.ndarray, y: np.ndarray) -> list[Place]:
    """Return every place on the lines between places."""
    found: list[Place] = []
    for start, end in zip(zip(x, y, strict=True), zip(x[1:], y[1:], strict=True), strict=False):
        steps = max(abs(int(end[0] - start[0])), abs(int(end[1] - start[1])), 1)
        shares = np.arange(steps + 1) / steps
        across = np.rint(start[0] + shares * (end[0] - start[0])).astype(int)
        down = np.rint(start[1] + shares * (end[1] - start[1])).astype(int)
        found += zip(across.tolist(), down.tolist(), strict=True)
    return found or [(int(a), int(b)) for a, b in zip(x, y, strict=True)]
