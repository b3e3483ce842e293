"""A Python text as what is left when names, numbers, comments and layout are taken away: a row of kinds of tokens.

A name becomes `v`, unless it is a keyword, a builtin, or an attribute that the text itself does not set (`.einsum`); a
number becomes `n`, a string `s`, and a docstring nothing; so do statements that do nothing, what only wraps an
expression (`folding.py`), and parentheses that group. Where Python's tokenizer gives up, the rest is read line by
line with a pattern, so that a copy with a syntax error is still comparable.

Of the row, fingerprints are taken: hashes of runs of K tokens, of which winnowing keeps a few wherever they stand. Two
rows that share K + WINDOW - 1 tokens in a row share a fingerprint; none is shared for less than K.
Source: Schleimer, Wilkerson, Aiken, Winnowing: Local Algorithms for Document Fingerprinting (SIGMOD 2003).
"""

from __future__ import annotations

import builtins
import io
import keyword
import re
import tokenize
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from grader.similarity.folding import Folded, Place, folded

MAX_BYTES = 1 << 20
MAX_LINES = 10_000
MAX_READ = 60_000  # tokens that are read, before those are left out that do nothing
MAX_TOKENS = 20_000  # tokens that are compared; solutions of the largest stage have a quarter
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
K = 12
WINDOW = 6
MOST_PLACES = 4  # of one fingerprint in one text that are remembered
_BASE, _PRIME = 1_000_003, (1 << 61) - 1


@dataclass(frozen=True)
class Tokens:
    """The kinds of a text's tokens, and the line (from 1) that each begins on; note says what was not read as usual.

    idle is the number of statements and expressions that do nothing, which are left out.
    """

    kinds: tuple[str, ...]
    lines: tuple[int, ...]
    note: str = ""
    idle: int = 0


@dataclass(frozen=True)
class _Piece:
    """A token: its sort, what it is compared as before names are taken away, and its place (`folding.py`)."""

    sort: str
    text: str
    place: Place

    @property
    def line(self) -> int:
        return self.place[0]


def decoded(data: bytes) -> str:
    """Return a module's bytes as text with plain line ends, whatever they are; what is no UTF-8 is replaced."""
    text = data[:MAX_BYTES].decode("utf-8-sig", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return "\n".join(re.split(r"\r\n|\r|\n", text.replace("\f", " ")))


def tokens(text: str) -> Tokens:
    """Return what a text is reduced to; never raises.

    Example:
        >>> tokens("scores = (Q @ K.T, 0)[0]  # products").kinds
        ('v', '=', 'v', '@', 'v', '.', 'T')
    """
    lines = text.split("\n", MAX_LINES)
    long = f"is long: only its first {MAX_LINES} lines were compared" if len(lines) > MAX_LINES else ""
    lines = lines[:MAX_LINES]
    pieces, broken = _read(lines)
    whole = len(pieces) <= MAX_READ
    pieces = _ungrouped(pieces)
    idle, notes = 0, [broken]
    if whole and not broken:
        found = folded("\n".join(lines))
        if found is None:
            notes.append("is not valid Python, so that statements that do nothing were compared, too")
        else:
            pieces, idle = _without(pieces, found), found.idle
    if len(pieces) > MAX_TOKENS:
        pieces = pieces[:MAX_TOKENS]
        long = f"is long: only its first {MAX_TOKENS} tokens were compared, to line {pieces[-1].line}"
    own = _own_attributes(pieces)
    kinds = [_kind(piece, pieces[at - 1].text if at else "", own) for at, piece in enumerate(pieces)]
    return Tokens(tuple(kinds), tuple(piece.line for piece in pieces), "; ".join(filter(None, [*notes, long])), idle)


def _read(lines: Sequence[str]) -> tuple[list[_Piece], str]:
    """Return the tokens of a text, one more than MAX_READ at most, and what is said if it is not valid Python."""
    pieces: list[_Piece] = []
    last = 0
    try:
        for piece in islice(_python(lines), MAX_READ + 1):
            pieces.append(piece)
            last = piece.line
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError):
        pieces = [piece for piece in pieces if piece.line < last]
        pieces += islice(_by_pattern("\n".join(lines), max(last, 1)), MAX_READ + 1 - len(pieces))
        return pieces, f"is not valid Python: from line {max(last, 1)} on it was read line by line"
    return pieces, ""


def _without(pieces: Iterable[_Piece], found: Folded) -> list[_Piece]:
    """Return the tokens of what a text does."""
    is_gone = found.looked_up()
    return [
        replace(piece, text=found.swapped.get(piece.place, piece.text))
        for piece in pieces
        if piece.place in found.swapped or not is_gone(piece.place)
    ]


def _ungrouped(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Return tokens without `;`, and without parentheses that are no call's and no definition's."""
    kept: list[_Piece] = []
    before, calls = _Piece("", "", (0, 0)), []
    for piece in pieces:
        if piece.text == "(":
            calls.append(before.text in (")", "]") or (before.sort == "name" and not keyword.iskeyword(before.text)))
        if (
            piece.text == ";"
            or (piece.text == "(" and not calls[-1])
            or (piece.text == ")" and calls and not calls.pop())
        ):
            before = piece
            continue
        kept.append(piece)
        before = piece
    return kept


def _python(lines: Sequence[str]) -> Iterator[_Piece]:
    """Yield the tokens of valid Python; docstrings are left out."""
    begins, held, inside = True, None, 0
    columns = _Columns(lines)
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
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
        if token.type == tokenize.STRING and begins:
            held = _Piece("string", "s", columns.place(token.start))
        elif token.type == tokenize.STRING or sort.endswith("STRING_START"):
            yield _Piece("string", "s", columns.place(token.start))
        elif token.type == tokenize.NAME:
            yield _Piece("name", token.string, columns.place(token.start))
        elif token.type == tokenize.NUMBER:
            yield _Piece("number", "n", columns.place(token.start))
        elif token.type == tokenize.OP:
            yield _Piece("sign", token.string, columns.place(token.start))
        elif token.type == tokenize.ERRORTOKEN and token.string.strip():
            raise SyntaxError(token.string)
        begins = False


class _Columns:
    """Counts columns in bytes, as syntax trees do, of tokens that come in the order of the text."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._last, self._bytes = (0, 0), 0

    def place(self, start: tuple[int, int]) -> Place:
        """Return a token's place; only what stands between it and the token before is counted."""
        row, column = start
        line = self._lines[row - 1] if row <= len(self._lines) else ""
        if line.isascii():
            return start
        if row != self._last[0]:
            self._last, self._bytes = (row, 0), 0
        self._bytes += len(line[self._last[1] : column].encode("utf-8", "replace"))
        self._last = start
        return row, self._bytes


def _by_pattern(text: str, first: int) -> Iterator[_Piece]:
    """Yield the same as far as a pattern can tell, from a line on; long strings are taken for docstrings."""
    start = sum(len(line) + 1 for line in text.split("\n")[: first - 1])
    line, at = first, start
    for found in _PIECE.finditer(text, start):
        line, at = line + text.count("\n", at, found.start()), found.start()
        if found.lastgroup == "string":
            yield _Piece("string", "s", (line, 0))
        elif found.lastgroup in ("name", "number", "sign"):
            yield _Piece(found.lastgroup, found[0] if found.lastgroup != "number" else "n", (line, 0))


def _own_attributes(pieces: Sequence[_Piece]) -> frozenset[str]:
    """Return the attributes that a text sets itself (`self.weights = …`), whose names are its author's."""
    words = [piece.text for piece in pieces]
    return frozenset(
        name for dot, name, sign in zip(words, words[1:], words[2:], strict=False) if (dot, sign) == (".", "=")
    )


def _kind(piece: _Piece, before: str, own: frozenset[str]) -> str:
    text = piece.text
    if piece.sort != "name":
        return text
    kept = text not in own if before == "." else text in _KEPT
    return text if kept else "v"


def runs(kinds: Sequence[str]) -> list[int]:
    """Return the hash of each run of K tokens, by the place where it begins."""
    values = [zlib.crc32(kind.encode("utf-8", "replace")) + 1 for kind in kinds]
    if len(values) < K:
        return []
    high = pow(_BASE, K - 1, _PRIME)
    current = 0
    for value in values[:K]:
        current = (current * _BASE + value) % _PRIME
    found = [current]
    for gone, value in zip(values, values[K:], strict=False):
        current = ((current - gone * high) * _BASE + value) % _PRIME
        found.append(current)
    return found


def fingerprints(kinds: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """Return the fingerprints of a row of tokens, each with the first places where it stands.

    Of each window of WINDOW runs the smallest hash is kept, of equal ones the last.
    """
    hashes = runs(kinds)
    found: dict[int, tuple[int, ...]] = {}
    kept = -1
    for start in range(max(len(hashes) - WINDOW + 1, min(len(hashes), 1))):
        window = hashes[start : start + WINDOW]
        least = min(window)
        place = start + max(at for at, value in enumerate(window) if value == least)
        if place != kept:
            kept = place
            places = found.get(least, ())
            if len(places) < MOST_PLACES:
                found[least] = (*places, place)
    return found
