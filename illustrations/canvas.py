"""An SVG in the reader's light or dark colours: shapes and text, and nothing that differs between two runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import atan2, cos, pi, sin

WIDTH = 720  # as wide as a README is shown
NARROW = 440  # can still be read on a telephone, 360 wide
HEAD = 8.0  # length of an arrow's head
Point = tuple[float, float]

# name: light, dark. Letters a to d are series, in colours of Okabe and Ito that colour-blind readers tell apart; t and
# m are text, g grid lines, p what lies behind.
INKS = {
    "a": ("#0072b2", "#56b4e9"),
    "b": ("#d55e00", "#e69f00"),
    "c": ("#009e73", "#009e73"),
    "d": ("#cc79a7", "#cc79a7"),
    "t": ("#1f2328", "#e6edf3"),
    "m": ("#59636e", "#9198a1"),
    "g": ("#d1d9e0", "#30363d"),
    "p": ("#ffffff", "#0d1117"),
}


# Of words on white, for which a series' own colour is too light.
WORDS = {"b": "#b85000", "c": "#008060", "d": "#a84c80"}


def _rules(dark: bool) -> str:
    chosen = {name: colours[dark] for name, colours in INKS.items()}
    shapes = "".join(f".f{name}{{fill:{ink}}}.s{name}{{stroke:{ink};fill:none}}" for name, ink in chosen.items())
    words = {name: chosen[name] if dark else ink for name, ink in WORDS.items()}
    return shapes + "".join(f"text.f{name}{{fill:{ink}}}" for name, ink in words.items())


STYLE = f"{_rules(False)}@media(prefers-color-scheme:dark){{{_rules(True)}}}"


def number(value: float) -> str:
    """Return a coordinate with one decimal, which no machine rounds differently but at a tie."""
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def _dashed(dash: str) -> str:
    return f' stroke-dasharray="{dash}"' if dash else ""


class Canvas:
    """What is drawn so far, later things over earlier ones; y grows downwards."""

    def __init__(self, height: float, title: str, width: float = WIDTH) -> None:
        self.height, self.width, self.title = height, width, title
        self._parts: list[str] = []

    def rect(
        self, x: float, y: float, width: float, height: float, ink: str = "g", opacity: float = 1.0, corner: float = 0
    ) -> None:
        """Fill a rectangle."""
        shown = "" if opacity >= 1 else f' fill-opacity="{opacity:.2f}"'
        self._parts.append(f'<rect class="f{ink}" {_box(x, y, width, height, corner)}{shown}/>')

    def outline(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        ink: str = "m",
        thick: float = 1,
        corner: float = 0,
        dash: str = "",
    ) -> None:
        """Draw the border of a rectangle."""
        box = _box(x, y, width, height, corner)
        self._parts.append(f'<rect class="s{ink}" {box} stroke-width="{number(thick)}"{_dashed(dash)}/>')

    def path(self, points: Iterable[Point], ink: str = "a", thick: float = 2, dash: str = "") -> None:
        """Draw a line through points."""
        steps = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        shape = f'stroke-width="{number(thick)}" stroke-linejoin="round"'
        self._parts.append(f'<polyline class="s{ink}" points="{steps}" {shape}{_dashed(dash)}/>')

    def area(self, points: Iterable[Point], ink: str, opacity: float = 1.0) -> None:
        """Fill a polygon."""
        steps = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self._parts.append(f'<polygon class="f{ink}" points="{steps}" fill-opacity="{opacity:.2f}"/>')

    def arrow(self, points: Sequence[Point], ink: str = "m", thick: float = 1.5, dash: str = "") -> None:
        """Draw a line through points with a head at its end."""
        (x, y), (tip_x, tip_y) = points[-2], points[-1]
        angle = atan2(tip_y - y, tip_x - x)
        end = (tip_x - HEAD * cos(angle) / 2, tip_y - HEAD * sin(angle) / 2)
        self.path([*points[:-1], end], ink, thick, dash)
        sides = [(tip_x + HEAD * cos(angle + turn), tip_y + HEAD * sin(angle + turn)) for turn in (pi - 0.4, pi + 0.4)]
        self.area([points[-1], *sides], ink)

    def dot(self, x: float, y: float, ink: str = "a", radius: float = 4) -> None:
        """Fill a circle."""
        self._parts.append(f'<circle class="f{ink}" cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"/>')

    def ring(self, x: float, y: float, ink: str = "a", radius: float = 4, thick: float = 1.5) -> None:
        """Draw a circle."""
        place = f'cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"'
        self._parts.append(f'<circle class="s{ink}" {place} stroke-width="{number(thick)}"/>')

    def text(
        self,
        x: float,
        y: float,
        words: str,
        ink: str = "t",
        size: float = 13,
        anchor: str = "middle",
        bold: bool = False,
    ) -> None:
        """Write a line of text; y is its base line, anchor is start, middle or end."""
        more = f' text-anchor="{anchor}"' + (' font-weight="600"' if bold else "")
        place = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}"'
        self._parts.append(f'<text class="f{ink}" {place}{more}>{escape(words, quote=False)}</text>')

    def svg(self) -> str:
        """Return the whole picture."""
        size = f'viewBox="0 0 {number(self.width)} {number(self.height)}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} width="{number(self.width)}" role="img"'
        back = f'<rect class="fp" {_box(0, 0, self.width, self.height, 6)}/>'
        named = f"<title>{escape(self.title, quote=False)}</title><style>{STYLE}</style>"
        return "\n".join([f'{head} font-family="sans-serif">', named, back, *self._parts, "</svg>", ""])


def _box(x: float, y: float, width: float, height: float, corner: float) -> str:
    round_ = f' rx="{number(corner)}"' if corner else ""
    return f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"{round_}'
