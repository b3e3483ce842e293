"""Formulas of a course's pages, written once as TeX between dollars: where they are, as plain text and as MathML.

Plain text is what a terminal shows, what a screen reader says, and what a learner is held to know: `√d_k`, never TeX.
A browser draws MathML without a script; latex2mathml makes it, which the extra `web` brings.
"""

from __future__ import annotations

import re
from itertools import pairwise
from unicodedata import category, normalize

RAISED = dict(zip("0123456789+−()abcdefghijklmnoprstuvwxyzT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀ", strict=True))
LOWERED = dict(zip("0123456789+−()ijkmnt", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎ᵢⱼₖₘₙₜ", strict=True))
ACCENTS = {"hat": "\u0302", "bar": "\u0304", "tilde": "\u0303"}
SIGNS = {
    "approx": "≈", "ast": "*", "cdot": "·", "cdots": "⋯", "circ": "∘", "equiv": "≡", "ge": "≥", "gt": ">",
    "in": "∈", "infty": "∞", "lbrace": "{", "lceil": "⌈", "ldots": "…", "le": "≤", "left": "", "leftarrow": "←",
    "lfloor": "⌊", "lt": "<", "lVert": "‖", "lvert": "|", "mid": "|", "nabla": "∇", "ne": "≠", "odot": "⊙",
    "partial": "∂", "pm": "±", "prod": "Π", "propto": "∝", "qquad": "      ", "quad": "  ", "rbrace": "}",
    "rceil": "⌉", "rfloor": "⌋", "right": "", "rVert": "‖", "rvert": "|", "sum": "Σ", "times": "×", "to": "→",
    "top": "T", "vert": "|", "ell": "ℓ",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "eta": "η", "theta": "θ",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ",
    "varphi": "φ", "omega": "ω", "Delta": "Δ", "Phi": "Φ", "Sigma": "Σ", "Omega": "Ω",
}  # fmt: skip
CLOSE_UP = frozenset(("partial", "nabla", "left", "right", "lVert", "lvert", "lfloor", "lceil", "lbrace"))
CLOSING = frozenset(("\\rVert", "\\rvert", "\\rfloor", "\\rceil", "\\rbrace"))

CODE = r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)|\Z)|(?P<ticks>`+)[^`\n]*(?P=ticks)"
FORMULA = re.compile(
    rf"(?ms){CODE}|\\\$|(?P<block>(?:^\$\$[^$]+\$\$$\n?(?:\n(?=\$\$))?)+)"
    r"|(?<!\$)\$(?P<inline>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?![\w$])"
)  # a block is formulas on lines of their own that follow one another
LONGEST = 30  # signs of a formula that fit into a line of a telephone
PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3}  # what a half of a formula has fewer of
BEFORE_A_SIGN = ("(", "[", ",", "=", "≈", "·", "/", "\N{NO-BREAK SPACE}")  # a − behind these is that of a number
LETTERS = "∂∇∞"  # that Unicode has among the operators
_NAME = re.compile(r"[√∂]?(?:\d[\d.]*|[^\W\d]\w*\u0302?)")
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|[{}^_]|.", re.DOTALL)


def in_words(page: str) -> str:
    """Return a page with its formulas in plain text: those of a line in it, those set apart as a block of code.

    >>> in_words(r"divided by $\\sqrt{d_k}$, not by `$x$`")
    'divided by √d_k, not by `$x$`'
    """

    def said(found: re.Match[str]) -> str:
        if found["inline"] is not None:
            is_cell = page.startswith("|", page.rfind("\n", 0, found.start()) + 1)
            return plain(found["inline"]).replace("|", "\\|" if is_cell else "|")
        if found["block"] is None:
            return found[0]
        lines = "\n".join(plain(each.strip()) for each in found["block"].split("$$") if each.strip())
        return f"```text\n{lines}\n```\n"

    return FORMULA.sub(said, page)


def plain(tex: str) -> str:
    """Return a formula as plain text; signs that TeX needs and nobody reads are left out.

    >>> plain(r"\\frac{Q K^\\top}{\\sqrt{d_k}} \\le w_i^2")
    'Q Kᵀ / √d_k ≤ wᵢ²'
    """
    said = _Reading(_TOKEN.findall(tex)).row()
    return re.sub(r"(?<=\S) +(?=[,;])|(?<=\S ) (?=\S)", "", said).strip().replace("-", "−")


class _Reading:
    """What is left to read of a formula."""

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = pieces

    def row(self) -> str:
        """Return what stands up to a closing brace."""
        said = ""
        while self._pieces:
            piece = self._pieces.pop(0)
            if piece == "}":
                break
            if piece in ("^", "_"):
                said += _beside(piece, self._one())
            elif piece in CLOSING:
                said = said.rstrip() + self._said(piece)
            else:
                said += self._said(piece)
        return said

    def _one(self) -> str:
        """Return the one thing that a command takes, or that is raised or lowered."""
        self._skip()
        return self._said(self._pieces.pop(0)).strip() if self._pieces else ""

    def _skip(self) -> None:
        while self._pieces and self._pieces[0].isspace():
            self._pieces.pop(0)

    def _said(self, piece: str) -> str:
        if piece == "{":
            return self.row()
        if not piece.startswith("\\"):
            return " " if piece.isspace() else piece
        name = piece[1:]
        if name in ("frac", "tfrac"):
            above, below = self._one(), self._one()
            room = "" if above.isalnum() and below.isalnum() else " "
            return f"{_held(above, '+−-=±')}{room}/{room}{_bare(below)}"
        if name == "sqrt":
            return f"√{_bare(self._one())}"
        if name in ("text", "mathrm"):
            return self._verbatim()
        if name in ACCENTS:
            return normalize("NFC", f"{self._one()}{ACCENTS[name]}")
        if name in CLOSE_UP:
            self._skip()
        return SIGNS.get(name, name)

    def _verbatim(self) -> str:
        """Return words between braces, with their blanks."""
        said = ""
        while self._pieces and (piece := self._pieces.pop(0)) != "}":
            said += "" if piece == "{" else piece
        return said


def _bare(said: str) -> str:
    """Return what is below a stroke or in a root, in brackets where it is more than a name, a number or a root."""
    return said if _NAME.fullmatch(said) or (said.startswith("√(") and said.endswith(")")) else f"({said})"


def _held(said: str, apart: str) -> str:
    """Return what is above a stroke, in brackets where it would fall apart without them."""
    depth = 0
    for sign in said:
        depth += (sign in "([{⌈⌊") - (sign in ")]}⌉⌋")
        if depth == 0 and sign in apart:
            return f"({said})"
    return said


def _beside(kind: str, said: str) -> str:
    """Return what is raised or lowered: in signs of its own where there are some for all of it."""
    said = said.replace("-", "−")
    signs = RAISED if kind == "^" else LOWERED
    is_word = kind == "^" and re.search(r"[^\W\d]{2}", said)
    if all(sign in signs for sign in said) and (kind, said) != ("_", "k") and not is_word:  # d_k is a name in code
        return "".join(signs[sign] for sign in said)
    return kind + (said if said.replace(".", "").isalnum() else f"({said})")


def formula(tex: str, is_apart: bool = False) -> str | None:
    """Return a formula as HTML: one that stands apart or is long has a box to scroll in; None where TeX is wrong."""
    made = mathml(tex, is_apart)
    if made is None or (not is_apart and len(plain(tex)) <= LONGEST):
        return made
    return f'<div class="scroll formula">{made}</div>\n' if is_apart else f'<span class="scroll formula">{made}</span>'


def mathml(tex: str, is_apart: bool = False) -> str | None:
    """Return a formula as MathML that carries its plain text; None where the TeX is wrong or has unknown commands."""
    from html import unescape
    from xml.etree import ElementTree  # nosec B405 # it writes here, and reads nothing

    from latex2mathml.converter import Converter

    if tex.count("{") != tex.count("}"):
        return None
    try:
        made = Converter(display="block" if is_apart else "inline").convert_to_element(tex)
    except Exception:  # its errors have no base of their own, and any of them says that the formula is wrong
        return None
    made.set("alttext", plain(tex))
    made.set("aria-label", plain(tex))  # axe looks at this one
    for each in made.iter():
        each.text = unescape(each.text or "")
        if "\\" in each.text or each.text == "&" or len(each) != PARTS.get(each.tag, len(each)):
            return None
        if each.text and each.text in LETTERS:
            each.tag = "mi"
        elif each.tag == "mi" and category(each.text[:1] or "a") in ("Sm", "Ps", "Pe"):
            each.tag = "mo"
    for row in made.iter():
        for before, each in pairwise(row):
            if each.text in ("−", "+", "±") and (before.text or "").endswith(BEFORE_A_SIGN):
                each.set("form", "prefix")
    return ElementTree.tostring(made, encoding="unicode", short_empty_elements=False)
