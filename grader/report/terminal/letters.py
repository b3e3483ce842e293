"""Text in ASCII: letters get their names, signs what people type for them, and indices stay indices."""

from __future__ import annotations

import re
import unicodedata

SIGNS = str.maketrans({
    "·": "-", "–": "-", "—": "-", "−": "-", "…": "...", "√": "sqrt ", "×": "x", "→": "->", "≤": "<=", "≥": ">=",
    "≠": "!=", "±": "+-", "“": '"', "”": '"', "‘": "'", "’": "'", "←": "<-", "↑": "^", "↓": "v", "≈": "~", "∞": "inf",
    "λ": "lambda", "Λ": "Lambda", "∂": "partial ", "∇": "grad ", "∘": "o", "⌈": "ceil(", "⌉": ")", "⌊": "floor(",
    "⌋": ")", "½": "1/2", "°": " deg", "•": "*", "━": "-", "═": "=", "▌": "|", "✓": "ok", "✗": "NO", "─": "-", "│": "|",
    "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+",
    "▶": ">", "▲": "^", "▼": "v", "◀": "<", "┴": "+", "┼": "+", "█": "#", "▓": "%", "▒": "+", "░": ".",
})  # fmt: skip
_PRODUCT = re.compile(r"(?<=\S) ?·(?: ?(?=\S)|$)")
_ABOVE = re.compile("[⁰¹²³⁴-⁹⁺⁻ⁿⁱ]+")
_BELOW = re.compile("[₀-₉₊₋ᵢⱼₐ-ₜ]+")
_GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)")
_MINUS = str.maketrans("⁻₋⁺₊", "--++")  # which NFKD makes signs that are no ASCII either


def in_ascii(text: str) -> str:
    """Return text in ASCII; a sign that has no other form becomes a question mark.

    A middle dot parts what stands beside it; where it multiplies, products() comes first.

    >>> in_ascii("Slopes · ∂L/∂wᵢⱼ = 10⁻³")
    'Slopes - partial L/partial w_ij = 10^-3'
    """
    if text.isascii():
        return text
    text = _ABOVE.sub(lambda found: f"^{found[0].translate(_MINUS)}", text)
    text = _BELOW.sub(lambda found: f"_{found[0].translate(_MINUS)}", text)
    plain = unicodedata.normalize("NFKD", "".join(map(_named, text)).translate(SIGNS))
    return "".join(c for c in plain if not unicodedata.combining(c)).encode("ascii", "replace").decode()


def products(text: str) -> str:
    """Return a text of the course in which a middle dot multiplies, with the star that ASCII has for it.

    Blanks around it keep Markdown from reading emphasis; in a heading a dot parts the stage's id from its title.

    >>> products("# Part · Title\\nd = i·s + 2 · p")
    '# Part · Title\\nd = i * s + 2 * p'
    """
    return "\n".join(line if line.startswith("#") else _PRODUCT.sub(" * ", line).rstrip() for line in text.split("\n"))


def _named(letter: str) -> str:
    """Return a Greek letter's name, and anything else as it is."""
    if letter.isascii() or ord(letter) in SIGNS:
        return letter
    found = _GREEK.fullmatch(unicodedata.name(unicodedata.normalize("NFKC", letter)[0], ""))
    if found is None:
        return letter
    return found[2].lower() if found[1] == "SMALL" else found[2].capitalize()
