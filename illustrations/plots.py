"""Plots on a canvas: a frame with axes that curves, points and bars are drawn into, and tables of numbers as cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log10
from typing import Any

import numpy as np

from illustrations.canvas import Canvas, Point

Numbers = Any  # an array, or a list of numbers
STRONG = 0.62  # opacity of the largest value: text on it can still be read, on light and on dark


@dataclass(frozen=True)
class Axis:
    """The ends of an axis, its ticks as value and label, its name, and whether it is logarithmic."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]] = ()
    name: str = ""
    log: bool = False

    def share(self, value: float) -> float:
        """Return how far along the axis a value lies, from 0 to 1."""
        if self.log:
            return (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return (value - self.low) / (self.high - self.low)


def written(value: float, form: str = "g") -> str:
    """Return a number with a true minus; what is rounded to zero has none."""
    text = format(float(value), form)
    return (text if float(text) else text.removeprefix("-")).replace("-", "−")


def ticks(*values: float) -> tuple[tuple[float, str], ...]:
    """Return ticks labelled by their values."""
    return tuple((value, written(value)) for value in values)


@dataclass(frozen=True)
class Frame:
    """A place on a canvas with two axes."""

    canvas: Canvas
    x: float
    y: float
    width: float
    height: float
    across: Axis
    up: Axis
    title: str = ""

    def __post_init__(self) -> None:
        """Draw title, grid, ticks and names."""
        bottom = self.y + self.height
        if self.title:
            self.canvas.text(self.x + self.width / 2, self.y - 10, self.title, bold=True)
        for value, label in self.across.ticks:
            x, _ = self.at(value, self.up.low)
            self.canvas.path([(x, self.y), (x, bottom)], "g", 1)
            self.canvas.text(x, bottom + 16, label, "m", 11)
        for value, label in self.up.ticks:
            _, y = self.at(self.across.low, value)
            self.canvas.path([(self.x, y), (self.x + self.width, y)], "g", 1)
            self.canvas.text(self.x - 6, y + 4, label, "m", 11, "end")
        self.canvas.outline(self.x, self.y, self.width, self.height, "g")
        if self.across.name:
            self.canvas.text(self.x + self.width / 2, bottom + 34, self.across.name, "m", 12)
        if self.up.name:
            self.canvas.text(self.x - 26, self.y - 10, self.up.name, "m", 12, "start")

    def at(self, x: float, y: float) -> Point:
        """Return where a point lies on the canvas."""
        return (
            self.x + self.across.share(float(x)) * self.width,
            self.y + (1 - self.up.share(float(y))) * self.height,
        )

    def curve(self, xs: Numbers, ys: Numbers, ink: str = "a", thick: float = 2, dash: str = "") -> None:
        """Draw a curve; what leaves the frame is cut off at its border."""
        for run in _inside(self, zip(xs, ys, strict=True)):
            self.canvas.path(run, ink, thick, dash)

    def points(self, xs: Numbers, ys: Numbers, ink: str = "a", radius: float = 4) -> None:
        """Draw points."""
        for x, y in zip(xs, ys, strict=True):
            self.canvas.dot(*self.at(x, y), ink, radius)

    def label(self, x: float, y: float, words: str, ink: str = "t", anchor: str = "start", size: float = 12) -> None:
        """Write a word at a point of the plot."""
        self.canvas.text(*self.at(x, y), words, ink, size, anchor)

    def regions(
        self, classes: Callable[[Numbers], Numbers], steps: int, inks: str, opacity: float = 0.18, borders: bool = True
    ) -> None:
        """Colour the plane by the class that a function gives to its points, and draw the borders between them.

        Colours alone do not part two classes for every reader. Leave the borders out where a row crosses one twice.
        """
        high, tall = self.up.high - self.up.low, self.height / steps
        lines: dict[tuple[int, int], list[Point]] = {}
        for row in range(steps):
            y = self.up.high - (row + 0.5) * high / steps
            cuts = _cuts(classes, y, self.across, steps)
            for (start, label), (stop, after) in pairwise([*cuts, (self.across.high, -1)]):
                (left, middle), (right, _) = self.at(start, y), self.at(stop, y)
                self.canvas.rect(left, middle - tall / 2, right - left, tall, inks[label], opacity)
                if borders and after >= 0:
                    lines.setdefault((label, after), []).append((right, middle))
        for line in lines.values():
            self.canvas.path(line, "t", 1.2)


def _cuts(classes: Callable[[Numbers], Numbers], y: float, across: Axis, steps: int) -> list[tuple[float, int]]:
    """Return where each run of a class begins along the line at y, and the class; a border is found by halving."""
    xs = np.linspace(across.low, across.high, steps + 1)
    found = np.asarray(classes(np.column_stack([xs, np.full(len(xs), y)])))
    cuts = [(across.low, int(found[0]))]
    for place in np.flatnonzero(np.diff(found)):
        low, high = xs[place], xs[place + 1]
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (middle, high) if classes(np.array([[middle, y]]))[0] == found[place] else (low, middle)
        cuts.append((float(high), int(found[place + 1])))
    return cuts


def _inside(frame: Frame, points: Iterable[tuple[float, float]]) -> list[list[Point]]:
    """Return the runs of a curve that lie in the frame, each with where it crosses the upper or lower border."""
    runs: list[list[Point]] = [[]]
    before: tuple[float, float] | None = None
    for x, y in points:
        low, high = frame.up.low, frame.up.high
        fits = low <= y <= high
        if before is not None and fits != (low <= before[1] <= high):
            border = min(max(y if not fits else before[1], low), high)
            share = (border - before[1]) / (y - before[1])
            runs[-1].append(frame.at(before[0] + share * (x - before[0]), border))
            if not fits:
                runs.append([])
        if fits:
            runs[-1].append(frame.at(x, y))
        before = (x, y)
    return [run for run in runs if len(run) > 1]


@dataclass(frozen=True)
class Table:
    """A table of numbers as cells at a place: the larger, the stronger the colour; below zero in the second one."""

    canvas: Canvas
    x: float
    y: float
    cell: float
    values: Numbers
    form: str = ""  # how each number is written; empty: not at all
    inks: str = "ab"
    most: float | None = None  # what has the strongest colour; by default the largest
    title: str = ""
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    tall: float | None = None  # of a cell; by default it is square

    def __post_init__(self) -> None:
        """Draw it."""
        values = np.asarray(self.values, float)
        most = self.most or float(np.abs(values[np.isfinite(values)]).max()) or 1.0
        for j in range(values.shape[1]):
            self._column(j, values[:, j], most)
        if self.form:
            for (i, j), value in np.ndenumerate(values):
                x, y = self.corner(i, j)
                text = written(value, self.form) if np.isfinite(value) else "−∞"
                self.canvas.text(x + self.cell / 2, y + self.high / 2 + 4, text, size=12)
        self._lines(*values.shape)
        if self.title:
            above = 26 if self.columns else 10
            self.canvas.text(self.x + values.shape[1] * self.cell / 2, self.y - above, self.title, bold=True)
        for i, name in enumerate(self.rows):
            self.canvas.text(self.x - 7, self.corner(i, 0)[1] + self.high / 2 + 4, name, "m", 12, "end")
        for j, name in enumerate(self.columns):
            self.canvas.text(self.corner(0, j)[0] + self.cell / 2, self.y - 7, name, "m", 12)

    def _column(self, j: int, values: Numbers, most: float) -> None:
        """Colour a column; cells of one colour below each other are one rectangle, for small files."""
        shares = [round(STRONG * min(abs(value) / most, 1.0), 2) if np.isfinite(value) else 0.0 for value in values]
        looks = [(self.inks[int(value < 0)], share) for value, share in zip(values, shares, strict=True)]
        first = 0
        for i in range(1, len(looks) + 1):
            if i == len(looks) or looks[i] != looks[first]:
                ink, share = looks[first]
                if share:
                    self.canvas.rect(*self.corner(first, j), self.cell, (i - first) * self.high, ink, share)
                first = i

    @property
    def high(self) -> float:
        """Height of a cell."""
        return self.cell if self.tall is None else self.tall

    def _lines(self, rows: int, columns: int) -> None:
        if min(self.cell, self.high) >= 12:
            for i in range(1, rows):
                y = self.y + i * self.high
                self.canvas.path([(self.x, y), (self.x + columns * self.cell, y)], "g", 1)
            for j in range(1, columns):
                x = self.x + j * self.cell
                self.canvas.path([(x, self.y), (x, self.y + rows * self.high)], "g", 1)
        self.canvas.outline(self.x, self.y, columns * self.cell, rows * self.high, "m")

    def corner(self, i: int, j: int) -> Point:
        """Return the upper left corner of a cell."""
        return self.x + j * self.cell, self.y + i * self.high

    def mark(self, i: int, j: int, rows: int = 1, columns: int = 1, ink: str = "b") -> None:
        """Draw a thick border around some cells."""
        x, y = self.corner(i, j)
        self.canvas.outline(x, y, columns * self.cell, rows * self.high, ink, 3)
