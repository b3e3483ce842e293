"""A Python text as what is left when names, numbers, comments and layout are taken away: a row of kinds of tokens.

A name becomes `v`, unless it is a keyword, a builtin, or an attribute that the text itself does not set (`.einsum`); a
number becomes `n`, a string `s`, and a docstring nothing. Where Python's tokenizer gives up, the rest is read line by
line with a pattern, so that a copy with a syntax error is still comparable.
"""

from __future__ import annotations

import builtins
import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

MAX_BYTES = 1 << 20
MAX_TOKENS = 20_000  # of one submission; solutions of the largest stage have a quarter
_KEPT = frozenset({*keyword.kwlist, *dir(builtins)})
_BREAKS = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENCODING)
_PIECE = re.compile(
    r"""(?P<comment>\#[^\n]*)
    | (?P<long>[rbuft]{0,2}(?:"{3}.*?(?:"{3}|\Z) | '{3}.*?(?:'{3}|\Z)))
    | (?P<string>[rbuft]{0,2}(?:"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'))
    | (?P<name>[^\W\d]\w*)
    | (?P<number>\.?\d(?:(?<=e)[-+]|[\w.])*)
    | (?P<sign>\.{3}|(?:\*\*|//|<<|>>)=?|->|:=|[-+*/@%&|^<>=!]=?|[^\s\w])""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True)
class Tokens:
    """The kinds of a text's tokens, and the line (from 1) that each begins on; note says what was not read as usual."""

    kinds: tuple[str, ...]
    lines: tuple[int, ...]
    note: str = ""


def decoded(data: bytes) -> str:
    """Return a module's bytes as text with plain line ends, whatever they are; what is no UTF-8 is replaced."""
    text = data[:MAX_BYTES].decode("utf-8-sig", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return "\n".join(re.split(r"\r\n|\r|\n", text.replace("\f", " ")))


def tokens(text: str) -> Tokens:
    """Return what a text is reduced to; never raises.

    Example:
        >>> tokens("scores = Q @ K.T  # products").kinds
        ('v', '=', 'v', '@', 'v', '.', 'T')
    """
    pieces: list[tuple[str, str, int]] = []
    note, last = "", 0
    try:
        for piece in _python(text):
            pieces.append(piece)
            last = piece[2]
            if len(pieces) > MAX_TOKENS:
                break
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError):
        pieces = [piece for piece in pieces if piece[2] < last]
        note = f"is not valid Python: from line {max(last, 1)} on it was read line by line"
        pieces += _by_pattern(text, max(last, 1))
    if len(pieces) > MAX_TOKENS:
        pieces = pieces[:MAX_TOKENS]
        note = f"is long: only its first {MAX_TOKENS} tokens were compared, to line {pieces[-1][2]}"
    own = _own_attributes(pieces)
    kinds = [_kind(piece, pieces[at - 1][1] if at else "", own) for at, piece in enumerate(pieces)]
    return Tokens(tuple(kinds), tuple(line for _, _, line in pieces), note)


def _python(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the kind, the text and the line of each token of valid Python; docstrings are left out."""
    begins, held, inside = True, None, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        sort = tokenize.tok_name[token.type]
        inside += sort.endswith("STRING_START") - sort.endswith("STRING_END")
        if inside and not (inside == 1 and sort.endswith("STRING_START")):
            continue  # newer Pythons tell the parts of an f-string
        if held is not None and token.type not in (tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER):
            yield held
        held = None if token.type != tokenize.COMMENT else held
        if token.type in _BREAKS:
            begins = begins or token.type == tokenize.NEWLINE
            continue
        if token.type == tokenize.STRING:
            piece = ("string", "s", token.start[0])
            if begins:
                held = piece
            else:
                yield piece
        elif token.type == tokenize.NAME:
            yield "name", token.string, token.start[0]
        elif token.type == tokenize.NUMBER:
            yield "number", "n", token.start[0]
        elif token.type == tokenize.OP:
            yield "sign", token.string, token.start[0]
        elif sort.endswith("STRING_START"):
            yield "string", "s", token.start[0]
        elif token.type == tokenize.ERRORTOKEN and token.string.strip():
            raise SyntaxError(token.string)
        begins = False


def _by_pattern(text: str, first: int) -> Iterator[tuple[str, str, int]]:
    """Yield the same as far as a pattern can tell, from a line on; long strings are taken for docstrings."""
    start = sum(len(line) + 1 for line in text.split("\n")[: first - 1])
    line, at = first, start
    for found in _PIECE.finditer(text, start):
        line, at = line + text.count("\n", at, found.start()), found.start()
        if found.lastgroup == "string":
            yield "string", "s", line
        elif found.lastgroup in ("name", "number", "sign"):
            yield found.lastgroup, found[0] if found.lastgroup != "number" else "n", line


def _own_attributes(pieces: list[tuple[str, str, int]]) -> frozenset[str]:
    """Return the attributes that a text sets itself (`self.weights = …`), whose names are its author's."""
    words = [text for _, text, _ in pieces]
    return frozenset(
        name for dot, name, sign in zip(words, words[1:], words[2:], strict=False) if (dot, sign) == (".", "=")
    )


def _kind(piece: tuple[str, str, int], before: str, own: frozenset[str]) -> str:
    sort, text, _ = piece
    if sort != "name":
        return text
    kept = text not in own if before == "." else text in _KEPT
    return text if kept else "v"
