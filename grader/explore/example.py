"""The sentence that is explored: the lesson's own, someone's words, or arrays from an .npz file."""

from __future__ import annotations

import hashlib
import io
import unicodedata
import zipfile
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile

from grader.errors import UsageError
from grader.explore.model import Array, Example

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


LESSON = {
    "The": (1.0, 0.5, 0.0, 0.5, 0.0, 0.0),
    "cat": (0.0, 1.0, 1.0, 0.0, 0.5, 0.0),
    "sat": (0.0, 0.0, 0.5, 1.0, 1.0, 0.5),
    "down": (0.5, 0.0, 0.0, 0.5, 1.0, 1.0),
}
BANKS = "The bank by the river was closed because the bank couldn't process loans"
EXAMPLES = ("lesson", "identity", "banks")
FEATURES = 6
HEADS = 2
MAX_WORDS = 32
MAX_LETTERS = 40  # of one word
MAX_HEADS = 16
_KNOWN = {word.casefold(): row for word, row in LESSON.items()}


def example(words: str | None, file: Path | None, heads: int | None, name: str | None = None) -> Example:
    """Return what is to be explored; UsageError where words, arrays and heads do not fit together.

    name is that of an example that comes with the grader, in place of words and arrays.
    """
    if name is not None:
        return _named(name, heads, [option for option, given in (("--words", words), ("--input", file)) if given])
    spoken = None if words is None else _split(words)
    if file is None:
        return _of_words(tuple(LESSON) if spoken is None else spoken, heads)
    return _of_arrays(read(file), spoken, heads, file.name)


def _named(name: str, heads: int | None, others: list[str]) -> Example:
    """Return an example that comes with the grader."""
    if others:
        raise UsageError(f"--example {name} and {others[0]} both say what is explored", "Give one of them.")
    if name not in EXAMPLES:
        raise UsageError(f"there is no example {name!r}", f"--example may be {', '.join(EXAMPLES)}.")
    if name == "lesson":
        return _of_words(tuple(LESSON), heads)
    if name == "banks":
        return _of_words(tuple(BANKS.split()), heads)
    rows, values = np.eye(3, 4), np.array([[2.0, 1.0], [1.0, 3.0], [3.0, 2.0]])
    found = _heads(heads or 1, rows.shape[1], values.shape[1])
    return Example(("0", "1", "2"), rows, rows, values, found, False, "the identity: each query is one of the keys")


def vector(word: str) -> tuple[float, ...]:
    """Return a word's six features, from 0 to 1: the lesson's where it has that word, else drawn from its letters.

    Capitals make no difference, so the same word has the same vector wherever it stands, in every run.

    >>> vector("CAT"), vector("mat") == vector("mat")
    ((0.0, 1.0, 1.0, 0.0, 0.5, 0.0), True)
    """
    key = unicodedata.normalize("NFC", word).casefold()
    if key in _KNOWN:
        return _KNOWN[key]
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
    return tuple(round(byte / 255, 1) for byte in digest[:FEATURES])


def _split(text: str) -> tuple[str, ...]:
    words = tuple(text.split())
    if not words:
        raise UsageError("--words holds no word", 'Give a sentence in quotes: --words "The cat sat down".')
    for word in words:
        if len(word) > MAX_LETTERS:
            message = f"the word {word[:MAX_LETTERS]}… of --words has {len(word)} characters: at most {MAX_LETTERS}"
            raise UsageError(message, "Words are separated by spaces.")
    return words


def _of_words(words: tuple[str, ...], heads: int | None) -> Example:
    _expect_length(len(words), "--words has")
    rows = np.array([vector(word) for word in words])
    is_lesson = words == tuple(LESSON)
    known = sum(word.casefold() in _KNOWN for word in words)
    source = "the lesson's embeddings" if known == len(words) else "embeddings drawn from each word's letters"
    if 0 < known < len(words):
        source += ", the lesson's for the words it has"
    return Example(words, rows, rows, rows, _heads(heads, FEATURES, FEATURES), is_lesson, source)


def _of_arrays(arrays: Arrays, words: tuple[str, ...] | None, heads: int | None, name: str) -> Example:
    for rows in (arrays.Q, arrays.K):
        _expect_length(len(rows), f"{name} has")
    given, whence = (words, "--words has") if words is not None else (arrays.words, f"the words of {name} are")
    shown = _labels(given, len(arrays.Q), whence, name)
    apart = arrays.key_words is not None or len(arrays.K) != len(arrays.Q)
    keys = _labels(arrays.key_words, len(arrays.K), f"the key_words of {name} are", name) if apart else None
    found = _heads(heads, arrays.Q.shape[1], arrays.V.shape[1])
    return Example(shown, arrays.Q, arrays.K, arrays.V, found, False, f"arrays of {name}", keys)


def _labels(given: tuple[str, ...] | None, length: int, whence: str, name: str) -> tuple[str, ...]:
    """Return a word for each row, numbers where none were given; UsageError where they are more or fewer."""
    if given is not None and len(given) != length:
        raise UsageError(f"{whence} {len(given)}, but the arrays of {name} have {length} rows: one word each")
    return given or tuple(str(place) for place in range(length))


def _expect_length(length: int, what: str) -> None:
    if length > MAX_WORDS:
        raise UsageError(f"{what} {length} words: at most {MAX_WORDS} can be shown")


def _heads(wanted: int | None, d_k: int, d_v: int) -> int:
    """Return how many heads share the features: two where nothing else is wanted and the features allow it."""
    fits = [n for n in range(1, min(d_k, d_v, MAX_HEADS) + 1) if d_k % n == d_v % n == 0]
    if wanted is None:
        return HEADS if HEADS in fits else 1
    if wanted not in fits:
        features = f"{d_k} features" if d_k == d_v else f"{d_k} features of Q and K and {d_v} of V"
        choice = ", ".join(map(str, fits))
        raise UsageError(f"{wanted} heads cannot share {features} equally", f"--heads may be {choice}.")
    return wanted


def embeddings(found: Example) -> Array:
    """Return the one array that is query, key and value at once; UsageError where there are three."""
    if not found.is_self:
        message = "a Transformer block makes its own queries, keys and values: it needs embeddings, not Q, K and V"
        raise UsageError(message, "Put one array named embeddings into the file.")
    return found.Q


def of_one_width(found: Example) -> tuple[Array, ...]:
    """Return Q, K and V as the inputs of one layer; UsageError where V has another number of features."""
    wide, values = found.Q.shape[1], found.V.shape[1]
    if wide != values:
        message = f"the layer takes inputs of one width, but Q and K have {wide} features and V has {values}"
        raise UsageError(
            message,
            "With --input, give V as many features, or one array named embeddings; the examples lesson and banks fit.",
        )
    return found.Q, found.K, found.V


def beginning(found: Example, known: Collection[str], most: int) -> tuple[str, ...]:
    """Return the words that a text begins with; UsageError for one that is not known, or for too many to go on."""
    unknown = [word for word in found.words if word not in known]
    if unknown:
        raise UsageError(
            f"the sentences of this stage do not use the word {unknown[0]}", f"They use {', '.join(known)}"
        )
    if len(found.words) > most:
        raise UsageError(f"--words has {len(found.words)} words: at most {most}, so that some can follow")
    return found.words


def words_at_most(found: Example, most: int) -> tuple[str, ...]:
    """Return the words of the sentence; UsageError where it has more than can be learnt while one waits."""
    if len(found.words) > most:
        message = f"the sentence has {len(found.words)} words: at most {most} can be learnt here"
        raise UsageError(message, "Leave some out.")
    return found.words
