"""Arrays from someone's .npz file: read without pickle, within bounds, every fault a sentence."""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile

from grader.errors import UsageError
from grader.explore.model import Array

MAX_BYTES = 4 << 20  # of the file, and of all that it unpacks to
MAX_FEATURES = 1024
MAX_SIZE = 1000.0  # of a number: far below the -1e9 that marks a masked score
UNREADABLE = (ValueError, OSError, EOFError, KeyError, MemoryError, RuntimeError, zipfile.BadZipFile, zlib.error)
HINT = (
    'np.savez("mine.npz", embeddings=E, words=["The", "cat"]) writes one; Q, K and V may stand in for embeddings, and '
    "K and V may have other rows than Q, named by key_words."
)


@dataclass(frozen=True)
class Arrays:
    """Queries, keys and values, one array three times where the file holds embeddings, and words if it has them.

    words are those of the queries, key_words those of the keys where the file names them apart.
    """

    Q: Array
    K: Array
    V: Array
    words: tuple[str, ...] | None
    key_words: tuple[str, ...] | None = None


def read(path: Path) -> Arrays:
    """Return the arrays of a file; UsageError says what is wrong with it."""
    with _opened(path) as found:
        names = sorted(set(found.files) & {"embeddings", "Q", "K", "V"})
        if names == ["embeddings"]:
            rows = _matrix(found, "embeddings", path)
            return Arrays(rows, rows, rows, _words(found, "words", path))
        if names != ["K", "Q", "V"]:
            held = ", ".join(found.files[:8]) or "nothing"
            raise UsageError(f"{path.name} holds {held}: expected embeddings, or Q, K and V", HINT)
        Q, K, V = (_matrix(found, name, path) for name in ("Q", "K", "V"))
        _expect_fit(Q, K, V, path)
        return Arrays(Q, K, V, _words(found, "words", path), _words(found, "key_words", path))


def _opened(path: Path) -> NpzFile:
    data = _bytes(path)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            unpacked = sum(member.file_size for member in packed.infolist())
        if unpacked > MAX_BYTES:
            raise UsageError(f"{path.name} unpacks to {unpacked:,} bytes: at most {MAX_BYTES:,} are read")
        found = np.load(io.BytesIO(data), allow_pickle=False)
    except UNREADABLE:
        found = None
    if not isinstance(found, NpzFile):
        raise UsageError(f"{path.name} is not an .npz file", HINT)
    return found


def _bytes(path: Path) -> bytes:
    if not path.exists():
        raise UsageError(f"{path} does not exist", HINT)
    if not path.is_file():
        raise UsageError(f"{path} is {'a folder' if path.is_dir() else 'no regular file'}: expected an .npz file", HINT)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path.name} has {path.stat().st_size:,} bytes: at most {MAX_BYTES:,} are read")
    return data


def _loaded(found: NpzFile, name: str, path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    try:
        value = found[name]
    except UNREADABLE:
        message = f"{name} in {path.name} cannot be read: it is damaged, or holds Python objects"
        raise UsageError(message, HINT) from None
    if not isinstance(value, np.ndarray):
        raise UsageError(f"{name} in {path.name} is not an array")
    return value


def _matrix(found: NpzFile, name: str, path: Path) -> Array:
    value = _loaded(found, name, path)
    if value.dtype.kind not in "iuf":
        raise UsageError(f"{name} in {path.name} has dtype {value.dtype}: expected numbers such as float64")
    if value.ndim != 2 or 0 in value.shape:
        raise UsageError(f"{name} in {path.name} has shape {value.shape}: expected (words, features)")
    if value.shape[1] > MAX_FEATURES:
        raise UsageError(f"{name} in {path.name} has {value.shape[1]} features: at most {MAX_FEATURES}")
    if not np.all(np.isfinite(value)):
        raise UsageError(f"{name} in {path.name} holds NaN or infinite values")
    if np.abs(value.astype(np.float64)).max() > MAX_SIZE:
        raise UsageError(f"{name} in {path.name} holds values beyond {MAX_SIZE:g}: scale them down")
    return value.astype(np.float64)


def _expect_fit(Q: Array, K: Array, V: Array, path: Path) -> None:
    if len(K) != len(V):
        raise UsageError(f"K and V in {path.name} have {len(K)} and {len(V)} rows: expected a value for each key")
    if Q.shape[1] != K.shape[1]:
        raise UsageError(f"Q and K in {path.name} have {Q.shape[1]} and {K.shape[1]} features: expected as many each")


def _words(found: NpzFile, name: str, path: Path) -> tuple[str, ...] | None:
    if name not in found.files:
        return None
    value = _loaded(found, name, path)
    if value.dtype.kind != "U" or value.ndim != 1:
        shown = f"dtype {value.dtype}, shape {value.shape}"
        raise UsageError(f"{name} in {path.name} has {shown}: expected a list of texts")
    return tuple(str(word) for word in value)
