"""Parts of diagrams on a canvas: boxes with words, which arrows lead to and from."""

from __future__ import annotations

from dataclasses import dataclass

from illustrations.canvas import Canvas, Point


@dataclass(frozen=True)
class Box:
    """A part of a diagram, with a line of text or two; its sides are where arrows begin and end."""

    canvas: Canvas
    x: float
    y: float
    width: float
    height: float
    words: str
    more: str = ""
    ink: str = "a"
    more_ink: str = "m"

    def __post_init__(self) -> None:
        """Draw it."""
        self.canvas.rect(self.x, self.y, self.width, self.height, self.ink, 0.15, 5)
        self.canvas.outline(self.x, self.y, self.width, self.height, self.ink, 1.3, 5)
        x, y = self.x + self.width / 2, self.y + self.height / 2 + 4.5
        self.canvas.text(x, y - (8 if self.more else 0), self.words)
        if self.more:
            self.canvas.text(x, y + 9, self.more, self.more_ink, 12 if self.more_ink != "m" else 11)

    @property
    def top(self) -> Point:
        return self.x + self.width / 2, self.y

    @property
    def bottom(self) -> Point:
        return self.x + self.width / 2, self.y + self.height

    @property
    def left(self) -> Point:
        return self.x, self.y + self.height / 2

    @property
    def right(self) -> Point:
        return self.x + self.width, self.y + self.height / 2
