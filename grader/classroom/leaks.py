"""Whether hidden text is left in what is to be given away: lines, statements and strings, however they are laid out."""

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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

LEAST = 30  # characters of a fragment that can hardly stand in two places by chance
MOST_UNPACKED = 64 << 20
DEPTH = 3  # of archives in archives
_SILENCING = re.compile(r"with np\.errstate\(.*\):")  # says which of NumPy's warnings are expected, and nothing else
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{40,}={0,2}")
_PACKED = ((zlib.MAX_WBITS | 32, "gzip"), (-zlib.MAX_WBITS, "deflate"))


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

    def found(self, text: str) -> Iterator[str]:
        """Yield the fragments that stand in a text, as they are or, in Python, written another way."""
        for each in {text, _unescaped(text)}:
            yield from self._standing(" ".join(each.split()))
        for whole in set(_wholes(text)):
            yield from self._standing(whole)

    def _standing(self, text: str) -> Iterator[str]:
        for start in range(len(text) - LEAST + 1):
            for fragment in self._heads.get(text[start : start + LEAST], ()):
                if text.startswith(fragment, start):
                    yield fragment


def leaks(files: Mapping[str, bytes], hidden: Mapping[str, str], public: Iterable[str]) -> list[Leak]:
    """Return each file that holds text of hidden files, given by name, which does not stand in public text as well."""
    fragments = Fragments(hidden, public)
    found: list[Leak] = []
    for name, data in files.items():
        origins = {fragments.origins[each] for text in texts(data) for each in fragments.found(text)}
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
    for bits, _ in _PACKED:
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
    imported = _import_lines(text)
    for number, line in enumerate(text.splitlines(), 1):
        piece = " ".join(line.split())
        if len(piece) >= LEAST and number not in imported and not _SILENCING.fullmatch(piece):
            yield piece, number
    if name.endswith(".py"):
        yield from ((piece, line) for piece, line in _statements(text) if len(piece) >= LEAST)


def _statements(text: str) -> Iterator[tuple[str, int]]:
    """Yield every statement, body of a function and string of a module in one way of writing; nothing of other text."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split()), node.lineno
        if isinstance(node, ast.stmt) and not isinstance(node, (ast.Import, ast.ImportFrom)):
            yield " ".join(ast.unparse(node).split()), node.lineno
        if isinstance(node, ast.FunctionDef):
            body = node.body[ast.get_docstring(node) is not None :]
            yield " ".join(" ".join(map(ast.unparse, body)).split()), node.lineno


def _wholes(text: str) -> Iterator[str]:
    """Yield what every piece of a module stands in: its outermost statements, rewritten, and each of its strings."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for statement in tree.body:
        yield " ".join(ast.unparse(statement).split())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())
            yield " ".join(repr(node.value).split())  # as a statement by itself; within another it is a docstring


def _import_lines(text: str) -> set[int]:
    try:
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    except (SyntaxError, ValueError):
        return set()
    return {line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _unescaped(text: str) -> str:
    """Return text as it reads where it is the inside of a string of JSON or Python."""
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")


def _place(origin: str) -> tuple[str, int]:
    name, _, line = origin.rpartition(":")
    return name, int(line)
