"""Text in ASCII: letters get their names, signs what people type for them, and indices stay indices."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

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
