"""A formula in plain text as tokens, each with its TeX and how it stands to its neighbours."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.web.reading.signs import (
    CLOSING,
    FUNCTIONS,
    GREEK,
    HATS,
    LOWERED,
    OPENING,
    OPERATORS,
    RAISED,
    RELATIONS,
    SHORT,
    SYMBOLS,
)

_TOKEN = re.compile(
    r"(?P<space> )|(?P<number>\d+(?:\.\d+)?(?:e[-−]?\d+)?)|(?P<assign>[-+−*/]=)"
    r"|(?P<word>[A-Za-z][A-Za-z0-9]*(?:-[a-z]{3,})+|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*(?:'s\b)?)"
    r"|(?P<dots>\.\.\.)|(?P<sign>.)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A piece of a formula; kind says how it stands to its neighbours: word, letter, number, relation and so on."""

    kind: str
    tex: str
    text: str = ""


class NoFormulaError(Exception):
    """What a text has that no formula has."""


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of one piece of a line; NoFormulaError for a sign that no formula has."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind, piece = str(match.lastgroup), match[0]
        if kind == "space":
            found.append(Token("space", ""))
        elif kind == "number":
            found.append(Token("number", f"\\text{{{piece}}}" if "e" in piece else piece))
        elif kind == "assign":
            found.append(Token("relation", f"\\mathrel{{{OPERATORS[piece[0]]}{{=}}}}"))
        elif kind == "dots":
            found.append(Token("letter", "\\ldots "))
        elif kind == "word":
            found.append(_word(piece))
        elif piece == "_" or piece == "^" or piece == "√":
            found.append(Token(piece, piece))
        else:
            found.append(_sign(piece))
    return _articles(found)


def _articles(tokens: list[Token]) -> list[Token]:
    """Return tokens in which an "a" before a word is one, and no letter."""
    ahead = [*tokens[2:], *tokens[:2]]
    return [
        Token("word", "\\text{a}") if (token.tex, after.kind) == ("a", "word") and place + 2 < len(tokens) else token
        for place, (token, after) in enumerate(zip(tokens, ahead, strict=True))
    ]


def _sign(sign: str) -> Token:
    tables = (("relation", RELATIONS), ("operator", OPERATORS), ("open", OPENING), ("close", CLOSING),
              ("raised", RAISED), ("lowered", LOWERED), ("hat", HATS), ("symbol", SYMBOLS))  # fmt: skip
    for kind, table in tables:
        if sign in table:
            return Token(kind, table[sign], sign)
    if sign in GREEK:
        return Token("letter", f"{GREEK[sign]} ")
    raise NoFormulaError(sign)


def _word(name: str) -> Token:
    """Return a name: a letter, with what stands below it, in italics; a function or a word upright."""
    base, *below = name.split("_")
    if name in FUNCTIONS:
        return Token("function", f"\\operatorname{{{name}}}")
    if re.fullmatch(r"d?[A-Za-z]\d?|[a-z]{2}", base) and len(below) <= 1 and base not in SHORT:
        letter = re.sub(r"(\d)$", r"_{\1}", base) if not below else base
        under = "".join(part if len(part) == 1 else f"\\text{{{part}}}" for part in below)
        return Token("letter", f"{letter}_{{{under}}}" if under else letter)
    if len(below) == 1 and len(below[0]) == 1:
        return Token("name", f"\\text{{{base}}}_{{{below[0]}}}")
    quoted = name.replace("_", "\\_").replace("'", "’")
    return Token("name" if "_" in name else "word", f"\\text{{{quoted}}}")
