"""Finds hidden text in what is to be given away: lines, statements and strings, however they are laid out."""

from __future__ import annotations

import ast
import base64
import binascii
import bz2
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Codes = np.ndarray[Any, np.dtype[np.uint64]]
LEAST = 30  # characters of a fragment that can hardly stand in two places by chance
BLOCK = 1 << 14  # places in a text that are looked at together
HASH_BITS = 22  # of the table that says where a fragment may begin: few places of a text are looked at twice
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well mixed (Knuth: the golden ratio)
MOST_UNPACKED = 64 << 20
DEPTH = 3  # of archives in archives
_SILENCING = re.compile(r"with np\.errstate\(.*\):")  # says which of NumPy's warnings are expected, and nothing else
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{40,}={0,2}")
_PACKED = (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS)  # gzip, and deflate without a head


@dataclass(frozen=True)
class Leak:
    """A file that holds hidden text, and where that text is from; the text itself is not repeated."""

    file: str
    origin: str


class Fragments:
    """Pieces of hidden text by how they begin; each knows where it is from."""

    def __init__(self, hidden: Mapping[str, str], public: Iterable[str]) -> None:
        self.origins: dict[str, str] = {}
        for name, text in hidden.items():
            for fragment, line in _fragments(name, text):
                self.origins.setdefault(fragment, f"{name}:{line}")
        self._index()
        for text in public:
            for fragment in set(self.found(text)):
                self.origins.pop(fragment, None)
        self._index()

    def _index(self) -> None:
        self._heads: dict[str, list[str]] = {}
        for fragment in self.origins:
            self._heads.setdefault(fragment[:LEAST], []).append(fragment)
        self._known = np.zeros(1 << HASH_BITS, bool)
        if self._heads:
            self._known[_hashes(_codes("".join(self._heads)).reshape(-1, LEAST))] = True

    def found(self, text: str) -> Iterator[str]:
        """Yield the fragments that stand in a text, as they are or, in Python, written another way."""
        inside = text.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")  # of a string of JSON or Python
        for each in {text, inside}:
            yield from self._standing(" ".join(each.split()))
        for whole in {each for each in _wholes(text) if len(each) >= LEAST}:
            yield from self._standing(whole)

    def _standing(self, text: str) -> Iterator[str]:
        codes = _codes(text)
        for first in range(0, len(codes) - LEAST + 1, BLOCK):
            hashes = _hashes(codes[first : first + BLOCK + LEAST - 1])
            for start in (first + np.flatnonzero(self._known[hashes])).tolist():
                for fragment in self._heads.get(text[start : start + LEAST], ()):
                    if text.startswith(fragment, start):
                        yield fragment


def _codes(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)


def _hashes(codes: Codes) -> Codes:
    """Return a number of HASH_BITS for each LEAST codes in a row, along the last axis."""
    count = codes.shape[-1] - LEAST + 1
    found = np.zeros((*codes.shape[:-1], count), np.uint64)
    for place in range(LEAST):
        found *= MULTIPLIER
        found += codes[..., place : place + count]
    return found * MULTIPLIER >> np.uint64(64 - HASH_BITS)


def leaks(files: Mapping[str, bytes], hidden: Mapping[str, str], public: Iterable[str]) -> list[Leak]:
    """Return each file that holds text of hidden files, given by name, which does not stand in public text as well."""
    known = set(public)
    fragments = Fragments(hidden, known)
    found: list[Leak] = []
    for name, data in files.items():
        unknown = [text for text in texts(data) if text not in known]  # what stands in a public text is no fragment
        origins = {fragments.origins[each] for text in unknown for each in fragments.found(text)}
        found += [Leak(name, origin) for origin in sorted(origins, key=_place)]
    return found


def texts(data: bytes, depth: int = DEPTH) -> Iterator[str]:
    """Yield data as text, and what is packed or encoded in it."""
    yield data.decode("utf-8", "replace")
    if depth:
        for inner in _unpacked(data):
            yield from texts(inner, depth - 1)


def _unpacked(data: bytes) -> Iterator[bytes]:
    for run in _BASE64.findall(data):
        try:
            yield base64.b64decode(run.translate(bytes.maketrans(b"-_", b"+/")) + b"=" * (-len(run) % 4))
        except binascii.Error:
            continue
    for unpack in (_zipped, _deflated, _compressed):
        yield from unpack(data)


def _zipped(data: bytes) -> Iterator[bytes]:
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.namelist():
            with archive.open(member) as file:
                yield file.read(MOST_UNPACKED)


def _deflated(data: bytes) -> Iterator[bytes]:
    for bits in _PACKED:
        try:
            yield zlib.decompressobj(bits).decompress(data, MOST_UNPACKED)
        except zlib.error:
            continue


def _compressed(data: bytes) -> Iterator[bytes]:
    try:
        if data.startswith(b"BZh"):
            yield bz2.BZ2Decompressor().decompress(data, MOST_UNPACKED)
        if data.startswith(b"\xfd7zXZ"):
            yield lzma.LZMADecompressor().decompress(data, MOST_UNPACKED)
    except (OSError, lzma.LZMAError):
        return


def _fragments(name: str, text: str) -> Iterator[tuple[str, int]]:
    """Yield the pieces of one hidden file with their lines; imports and silenced warnings give nothing away."""
    tree = _parsed(text)
    imported = _import_lines(tree)
    for number, line in enumerate(text.splitlines(), 1):
        piece = " ".join(line.split())
        if len(piece) >= LEAST and number not in imported and not _SILENCING.fullmatch(piece):
            yield piece, number
    if name.endswith(".py") and tree is not None:
        yield from ((piece, line) for piece, line in _statements(tree) if len(piece) >= LEAST)


def _parsed(text: str) -> ast.Module | None:
    """Return a module's tree; None of other text."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _statements(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield every statement, body of a function and string of a module in one way of writing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split()), node.lineno
    rewritten = ast.unparse(tree)
    lines = rewritten.splitlines()
    for node, again in zip(_nested(tree), _nested(ast.parse(rewritten)), strict=True):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            yield _written(lines, again), node.lineno
        if isinstance(node, ast.FunctionDef) and isinstance(again, ast.FunctionDef):
            body = again.body[ast.get_docstring(again) is not None :]
            yield " ".join(_written(lines, each) for each in body), node.lineno


def _nested(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield each statement of a module, and those within it, in the order in which they stand."""
    waiting = tree.body[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        within = [each for field in ("body", "orelse", "finalbody") for each in getattr(node, field, ())]
        parts = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
        waiting += [each for part in parts for each in part.body] + within


def _written(lines: Sequence[str], node: ast.stmt) -> str:
    """Return a statement of a rewritten module, where each has lines of its own, with single spaces."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(ast.unparse(node).split())  # by itself; as a docstring it has other quotes
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    return " ".join(" ".join(lines[first - 1 : node.end_lineno]).split()).removeprefix("el" * isinstance(node, ast.If))


def _wholes(text: str) -> Iterator[str]:
    """Yield what every piece of a module stands in: its outermost statements, rewritten, and each of its strings."""
    if (tree := _parsed(text)) is None:
        return
    for statement in tree.body:
        yield " ".join(ast.unparse(statement).split())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())
            yield " ".join(repr(node.value).split())  # as a statement by itself; within another it is a docstring


def _import_lines(tree: ast.Module | None) -> set[int]:
    nodes = [] if tree is None else [node for node in _nested(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return {line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _place(origin: str) -> tuple[str, int]:
    name, _, line = origin.rpartition(":")
    return name, int(line)
