"""Lines of text for a terminal: the columns of the checklist, wrapping, escaping, and ASCII for what shows no more.

Lines become wider only where the terminal is: the checklist ends at column 98, what is told about a criterion at 120.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from grader.shell import typed

if TYPE_CHECKING:
    from rich.text import Text


SIGNS = str.maketrans({
    "·": "-", "–": "-", "—": "-", "−": "-", "…": "...", "√": "sqrt ", "×": "x", "→": "->", "≤": "<=", "≥": ">=",
    "≠": "!=", "±": "+-", "“": '"', "”": '"', "‘": "'", "’": "'", "←": "<-", "↑": "^", "↓": "v", "≈": "~", "∞": "inf",
    "λ": "lambda", "Λ": "Lambda", "∂": "partial ", "∇": "grad ", "∘": "o", "⌈": "ceil(", "⌉": ")", "⌊": "floor(",
    "⌋": ")", "½": "1/2", "°": " deg", "•": "*", "━": "-", "═": "=", "▌": "|", "✓": "ok", "✗": "NO", "─": "-", "│": "|",
    "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+",
    "▶": ">", "▲": "^", "▼": "v", "◀": "<", "┴": "+", "┼": "+", "█": "#", "▓": "%", "▒": "+", "░": ".",
})  # fmt: skip
# Patterns are compiled where they are first used: most terminals show more than ASCII.
_PRODUCT = r"(?<=\S) ?·(?: ?(?=\S)|$)"
_ABOVE = r"([⁰¹²³⁴-⁹⁺⁻ⁿⁱʰʲʳˡˢˣʷʸᴬ-ᵛᶜᶠᶻⱽ]+)(?=(\w)?)"
_BELOW = r"([₀-₉₊₋ᵢ-ᵥⱼₐ-ₜ]+(?:,[₀-₉₊₋ᵢ-ᵥⱼₐ-ₜ]+)*)(?=(\w)?)"
_HAT = "(?<!\\w)(?:\\w\u0302|[âêîôûĉĝĥĵŝŵŷẑ])(?!\\w)"
_GREEK = r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)"
_MINUS = str.maketrans("⁻₋⁺₊", "--++")  # which NFKD makes signs that are no ASCII either


def in_ascii(text: str) -> str:
    """Return text in ASCII; a sign that has no other form becomes a question mark.

    A middle dot parts what stands beside it; where it multiplies, products() comes first.

    >>> in_ascii("Slopes · ∂L/∂wᵢⱼ = 10⁻³, QᵀQ, xⁿ⁻¹")
    'Slopes - partial L/partial w_ij = 10^-3, Q^T Q, x^(n-1)'
    """
    if text.isascii():
        return text
    text = re.sub(_HAT, lambda found: f"{unicodedata.normalize('NFD', found[0])[0]}_hat", text)
    text = re.sub(_ABOVE, _raised, text)
    text = re.sub(_BELOW, lambda found: f"_{found[1].translate(_MINUS)}{' ' if found[2] else ''}", text)
    plain = unicodedata.normalize("NFKD", "".join(map(_named, text)).translate(SIGNS))
    return "".join(c for c in plain if not unicodedata.combining(c)).encode("ascii", "replace").decode()


def _raised(found: re.Match[str]) -> str:
    """Return an exponent or a T for a transpose: in parentheses where it is a sum, and parted from what follows."""
    power = found[1].translate(_MINUS)
    return f"^({power})" if {*power[1:]} & {*"+-"} else f"^{power}{' ' if found[2] else ''}"


def products(text: str) -> str:
    """Return a text of the course in which a middle dot multiplies, with the star that ASCII has for it.

    Blanks around it keep Markdown from reading emphasis; in a heading a dot parts the stage's id from its title.

    >>> products("# Part · Title\\nd = i·s + 2 · p")
    '# Part · Title\\nd = i * s + 2 * p'
    """
    return "\n".join(
        line if line.startswith("#") else re.sub(_PRODUCT, " * ", line).rstrip() for line in text.split("\n")
    )


@lru_cache(1 << 10)
def _named(letter: str) -> str:
    """Return a Greek letter's name, and anything else as it is."""
    if letter.isascii() or ord(letter) in SIGNS:
        return letter
    found = re.fullmatch(_GREEK, unicodedata.name(unicodedata.normalize("NFKC", letter)[0], ""))
    if found is None:
        return letter
    return found[2].lower() if found[1] == "SMALL" else found[2].capitalize()


TABLE_WIDTH = 98
DETAIL_WIDTH = 120
LEAST_WIDTH = 24
BAR = 20
INDENT = 4
MARKS = {  # what stands before a row: in Unicode, in ASCII, its style
    "passed": ("✓", "ok ", "green"),
    "failed": ("✗", "NO ", "red"),
    "not_started": ("○", "[ ]", "dim"),
    "blocked": ("–", " - ", "dim"),
    "values_right": ("◐", "[/]", "yellow"),
    "crashed": ("!", "[*]", "red"),
    "timed_out": ("…", "[~]", "red"),
    "over_limit": ("▲", "[^]", "red"),
    "grader_fault": ("?", "[?]", "magenta"),
    "changed": ("Δ", "[d]", "yellow"),
    "public": ("✓", "ok ", "cyan"),
    "skipped": ("–", " - ", "dim"),
    "open": ("○", "[ ]", ""),
    "current": ("→", " > ", "cyan"),
    "warning": ("!", "[*]", "yellow"),
    "locked": ("·", " . ", "dim"),
}
_COMMAND = re.compile(r"`[^`\n]{1,70}`")  # whoever copies one wants it on one line
_GLUE = "\ue000"  # stands for a space that is not broken at: of private use, and printable() lets none through


@dataclass(frozen=True)
class Look:
    """What the terminal can show: its width in columns, whether only ASCII; and what is typed in place of `grader`.

    height is in lines, None where nothing scrolls away: in a file, and where the reader scrolls.
    """

    width: int
    ascii: bool = False
    grader: str = "grader"
    height: int | None = None

    def command(self, text: str) -> str:
        """Return a command, or a text that quotes some, as it can be pasted here."""
        return typed(text, self.grader)

    @property
    def table(self) -> int:
        """The column at which the checklist ends."""
        return max(LEAST_WIDTH, min(self.width, TABLE_WIDTH))

    @property
    def detail(self) -> int:
        """The column at which what is told about a criterion ends."""
        return max(LEAST_WIDTH, min(self.width, DETAIL_WIDTH))

    def clean(self, text: str) -> str:
        """Return text that can only be read: control sequences spelt out, what the terminal lacks replaced."""
        text = printable(text)
        return in_ascii(text) if self.ascii else text

    def prose(self, text: str) -> str:
        """Return what the course or a test says, in which a middle dot multiplies, as it can be shown here."""
        return products(text) if self.ascii else text

    def mark(self, kind: str) -> tuple[str, str]:
        """Return the mark of a kind of row and its style."""
        mark, plain, style = MARKS[kind]
        return (plain if self.ascii else mark), style

    def bar(self, done: int, total: int) -> str:
        """Return a bar of BAR cells; full only where all is done."""
        filled = BAR * done // total if total else 0
        full, empty = ("#", ".") if self.ascii else ("█", "░")
        return full * filled + empty * (BAR - filled)


def printable(text: str) -> str:
    """Spell out every character that a terminal might obey rather than show; new lines stay, tabs become spaces."""
    text = text.replace("\r\n", "\n").expandtabs(4)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or c.isprintable() else ascii(c)[1:-1] for c in text)


def heading(title: str, count: str, bar: str, look: Look) -> list[Text]:
    """Return the title line: the title, what was reached in words, and as a bar that ends the table."""
    from rich.text import Text

    left = Text(look.clean(title), "bold")
    right = Text.assemble(look.clean(count), "   ", (bar, "green"))
    gap = look.table - left.cell_len - right.cell_len
    if gap >= 2:
        return [Text.assemble(left, " " * gap, right)]
    return [*_wrapped(left, look.table), *_wrapped(right, look.table)]


def fitting(text: str, choices: tuple[str, ...], look: Look) -> str:
    """Return the first of several wordings that has room beside a row's text; else the last."""
    from rich.cells import cell_len

    room = look.detail - len(look.mark("passed")[0]) - 3 - cell_len(look.clean(text))
    return next((choice for choice in choices if cell_len(look.clean(choice)) <= room), choices[-1])


def row(kind: str, text: str, status: str, look: Look, said: str | None = None) -> list[Text]:
    """Return a row of the table: mark, text, and the status where the bar begins or, if too long, where it fits.

    said is the style of the status, by default that of the mark.
    """
    from rich.text import Text

    mark, style = look.mark(kind)
    left = Text.assemble((mark, style), " ", (look.clean(text), style if style == "dim" else ""))
    right = Text(look.clean(status), said or style)
    begin = max(look.table - BAR, left.cell_len + 2)
    if begin + right.cell_len > look.table:
        begin = min(begin, max(left.cell_len + 2, look.detail - right.cell_len))
    if not status and left.cell_len <= look.detail:
        return [left]
    if begin + right.cell_len <= look.detail:
        left.append(" " * (begin - left.cell_len))
        return [left + right]
    hanging = " " * (len(mark) + 1)
    lines = list(_hung(_wrapped(left, look.table - len(hanging)), hanging))
    begin = max(look.table - BAR, lines[-1].cell_len + 2)
    if not status:
        return lines
    if begin + right.cell_len <= look.detail:
        return [*lines[:-1], lines[-1] + Text(" " * (begin - lines[-1].cell_len)) + right]
    place = look.table - right.cell_len
    return [*lines, *([Text(" " * place) + right] if place >= 0 else _wrapped(right, look.table))]


def paragraph(text: str, look: Look, style: str = "", indent: int = INDENT, hanging: int = 0) -> list[Text]:
    """Return text within the detail's width; a line that fits stays as it is, so that quoted code keeps its columns."""
    from rich.text import Text

    lines: list[Text] = []
    for line in look.clean(text).split("\n"):
        pieces = _wrapped(Text(line.rstrip(), style), look.detail - indent - hanging)
        lines += [Text(" " * (indent + (hanging if place else 0))) + piece for place, piece in enumerate(pieces)]
    return lines


def with_place(lines: list[Text], place: str, look: Look) -> list[Text]:
    """Add a place such as file:line: right-aligned on the last line or, where that is too full, on its own."""
    from rich.text import Text

    right = Text(look.clean(place), "dim")
    last = lines[-1] if lines else Text("")
    gap = look.detail - 1 - last.cell_len - right.cell_len
    if lines and gap >= 4:
        return [*lines[:-1], Text.assemble(last, " " * gap, right)]
    return [*lines, *paragraph(place, look, "dim")]


def place_lines(place: str, source: str, look: Look) -> list[Text]:
    """Return a place such as file:line with the text of that line, which is below it where there is no room beside."""
    from rich.text import Text

    pointer = Text(f"{' ' * INDENT}--> {look.clean(place)}", "dim")
    text = Text(look.clean(source.replace("\n", " ")))
    if not source:
        return paragraph(f"--> {place}", look, "dim", hanging=4)
    if pointer.cell_len + INDENT + text.cell_len <= look.detail:
        return [Text.assemble(pointer, " " * INDENT, text)]
    return [*paragraph(f"--> {place}", look, "dim", hanging=4), *paragraph(text.plain, look, indent=2 * INDENT)]


def side_by_side(parts: list[str], look: Look, style: str = "dim", indent: int = INDENT) -> list[Text]:
    """Return texts on one indented line or, where they do not fit, each on its own."""
    from rich.text import Text

    joined = Text(" " * indent + "    ".join(look.clean(part) for part in parts), style)
    if joined.cell_len <= look.detail:
        return [joined]
    return [line for part in parts for line in _with_command(look.clean(part), look, style, indent)]


def _with_command(part: str, look: Look, style: str, indent: int) -> list[Text]:
    """Return `what it is for: a command`, the command below where there is no room, and never broken: it is copied."""
    from rich.text import Text

    label, colon, command = part.partition(": ")
    if indent + len(part) <= look.detail:
        return [Text(" " * indent + part, style)]
    if not colon:
        return paragraph(part, look, style, indent, hanging=4)
    return [*paragraph(f"{label}:", look, style, indent), Text(f"{' ' * (indent + INDENT)}{command}", style)]


def _wrapped(text: Text, width: int) -> list[Text]:
    """Break text at spaces, though not in a `command`, and what is longer than a line anywhere."""
    width = max(width, 8)
    if text.cell_len <= width:
        return [text]
    from rich.console import Console

    text = text.copy()
    text.plain = _COMMAND.sub(lambda found: found[0].replace(" ", _GLUE), text.plain)
    lines = list(text.wrap(Console(width=width, color_system=None), width, overflow="fold"))
    for line in lines:
        line.rstrip()
        line.plain = line.plain.replace(_GLUE, " ")
    return lines


def _hung(lines: list[Text], hanging: str) -> Iterator[Text]:
    from rich.text import Text

    for place, line in enumerate(lines):
        yield Text(hanging) + line if place else line
