"""The gradients of a wrong backward pass as a table: each with its error, its worst value, and what it looks like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.outcome import Gradient
from grader.report.terminal.layout import INDENT, Look, paragraph

if TYPE_CHECKING:
    from rich.text import Text

HEAD = ("gradient", "of", "shape", "rel. error", "worst at", "expected", "got")
GAP = "  "


def gradient_lines(gradients: Sequence[Gradient], look: Look) -> list[Text]:
    """Return the table or, where a terminal is too narrow for it, lines; nothing where there are no gradients."""
    if not gradients:
        return []
    rows = [tuple(look.clean(cell) for cell in _cells(each)) for each in gradients]
    widths = {place: max(map(len, column)) for place, column in enumerate(zip(HEAD, *rows, strict=True))}
    used = [place for place in widths if any(row[place] for row in rows)]
    if _taken(used, widths) > look.detail and all(each.of in each.name for each in gradients):
        used = [place for place in used if HEAD[place] != "of"]
    if _taken(used, widths) > look.detail:
        return [line for each in gradients for line in _told(each, look)]

    def line(row: tuple[str, ...]) -> str:
        return GAP.join(f"{row[place]:<{widths[place]}}" for place in used).rstrip()

    lines = paragraph(line(HEAD), look, "dim")
    for each, row in zip(gradients, rows, strict=True):
        lines += paragraph(line(row), look)
        lines += _below(each, look)
    return lines


def _taken(used: list[int], widths: dict[int, int]) -> int:
    """Return how many columns of a terminal a table of these columns takes."""
    return INDENT + sum(widths[place] for place in used) + len(GAP) * (len(used) - 1)


def _cells(gradient: Gradient) -> tuple[str, ...]:
    shape = str(gradient.shape)
    if not gradient.finding:
        return gradient.name, gradient.of, shape, "right", "", "", ""
    index = "" if gradient.index is None else str(list(gradient.index))
    return gradient.name, gradient.of, shape, _error(gradient), index, gradient.expected, gradient.got


def _error(gradient: Gradient) -> str:
    return "" if gradient.relative is None else f"{gradient.relative:.1e}"


def _below(gradient: Gradient, look: Look) -> list[Text]:
    """Return what the error looks like, and the right shape where it has another."""
    shape = f"shape {gradient.expected_shape} was expected" if gradient.shape != gradient.expected_shape else ""
    text = "; ".join(filter(None, (shape, gradient.text)))
    return paragraph(text, look, "yellow", indent=INDENT + 2, hanging=2) if text else []


def _told(gradient: Gradient, look: Look) -> list[Text]:
    """Return a gradient in lines, where the table has no room."""
    name, of, shape, error, index, expected, got = _cells(gradient)
    parts = [f"{name} of {of}" if of else name, shape]
    parts += [f"relative error {error}" if gradient.finding and error else error] if error else []
    lines = paragraph(", ".join(parts), look, hanging=2)
    if index:
        lines += paragraph(f"worst at {index}: expected {expected}, got {got}", look, indent=INDENT + 2, hanging=2)
    return [*lines, *_below(gradient, look)]
