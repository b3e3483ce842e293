"""The sentence that is explored: words have vectors of their own, and a file that is wrong is told why."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.errors import UsageError
from grader.explore.example import LESSON, MAX_WORDS, beginning, embeddings, example, of_one_width, vector


def save(folder: Path, **arrays: Any) -> Path:
    file = folder / "mine.npz"
    np.savez(file, **arrays)
    return file


def test_without_anything_it_is_the_sentence_of_the_lesson() -> None:
    found = example(None, None, None)
    assert (found.words, found.heads, found.is_lesson) == (("The", "cat", "sat", "down"), 2, True)
    assert found.Q is found.K is found.V
    assert found.Q.shape == (4, 6)
    assert found.Q[3].tolist() == [0.5, 0, 0, 0.5, 1, 1]


def test_a_word_has_one_vector_wherever_it_stands_and_in_every_run() -> None:
    found = example("The dog sat by the dog", None, None)
    assert not found.is_lesson
    assert found.Q[0].tolist() == found.Q[4].tolist() == list(LESSON["The"])
    assert found.Q[1].tolist() == found.Q[5].tolist() == list(vector("dog")) == list(vector("DOG"))
    assert vector("dog") == (0.8, 0.4, 0.3, 0.9, 0.9, 0.6)
    assert vector("café") == vector("cafe\u0301") != vector("cafe")


@pytest.mark.parametrize("word", ["\udcff", "日本", "a\x1b[31m", "🙂"])
def test_any_word_has_a_vector_from_0_to_1(word: str) -> None:
    assert len(vector(word)) == 6
    assert all(0 <= value <= 1 for value in vector(word))


@pytest.mark.parametrize(
    ("words", "heads", "message"),
    [
        ("", None, "--words holds no word"),
        ("  \t ", None, "--words holds no word"),
        ("a " * (MAX_WORDS + 1), None, "--words has 33 words: at most 32"),
        ("x" * 41, None, "has 41 characters: at most 40"),
        ("a b", 4, "4 heads cannot share 6 features equally"),
        ("a b", 7, "7 heads cannot share"),
    ],
)
def test_words_and_heads_that_do_not_fit_are_named(words: str, heads: int | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        example(words, None, heads)


def test_as_many_words_as_allowed_and_every_number_of_heads_that_divides() -> None:
    assert len(example("a " * MAX_WORDS, None, None).words) == MAX_WORDS
    assert [example(None, None, heads).heads for heads in (1, 2, 3, 6)] == [1, 2, 3, 6]


def test_embeddings_and_words_come_from_a_file(tmp_path: Path) -> None:
    file = save(tmp_path, embeddings=np.arange(6, dtype=np.float32).reshape(2, 3), words=["one", "two"])
    found = example(None, file, None)
    assert (found.words, found.heads, found.source) == (("one", "two"), 1, "arrays of mine.npz")
    assert found.Q.dtype == np.float64
    assert embeddings(found).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert example("eins zwei", file, None).words == ("eins", "zwei")


def test_rows_without_words_are_numbered(tmp_path: Path) -> None:
    assert example(None, save(tmp_path, embeddings=np.ones((3, 2))), None).words == ("0", "1", "2")


def test_queries_keys_and_values_come_from_a_file(tmp_path: Path) -> None:
    found = example(None, save(tmp_path, Q=np.ones((2, 4)), K=np.zeros((2, 4)), V=np.eye(2)), None)
    assert (found.is_self, found.heads, found.V.shape) == (False, 2, (2, 2))
    with pytest.raises(UsageError, match="needs embeddings"):
        embeddings(found)
    with pytest.raises(UsageError, match="4 heads cannot share 4 features of Q and K and 2 of V"):
        example(None, tmp_path / "mine.npz", 4)


def test_keys_may_be_other_words_than_the_queries(tmp_path: Path) -> None:
    Q, K = np.ones((3, 4)), np.ones((5, 4))
    found = example("a b c", save(tmp_path, Q=Q, K=K, V=K, key_words=list("vwxyz")), None)
    assert (found.words, found.keys, found.is_self) == (("a", "b", "c"), tuple("vwxyz"), False)
    found = example(None, save(tmp_path, Q=Q, K=K, V=K), None)
    assert (found.words, found.key_words) == (("0", "1", "2"), ("0", "1", "2", "3", "4"))
    with pytest.raises(UsageError, match="needs embeddings"):
        embeddings(found)
    found = example(None, save(tmp_path, Q=Q, K=Q, V=Q), None)
    assert (found.key_words, found.keys) == (None, found.words)


def test_examples_come_along_by_name() -> None:
    found = example(None, None, None, "identity")
    assert (found.Q.tolist(), found.V.tolist()) == (np.eye(3, 4).tolist(), [[2, 1], [1, 3], [3, 2]])
    assert (found.heads, found.is_lesson, found.is_self) == (1, False, False)
    assert example(None, None, None, "lesson").is_lesson
    banks = example(None, None, None, "banks")
    places = [place for place, word in enumerate(banks.words) if word == "bank"]
    assert len(places) == 2 and np.array_equal(*banks.Q[places])


@pytest.mark.parametrize(
    ("words", "name", "message"),
    [("a b", "banks", "--example banks and --words both say what is explored"), (None, "cats", "no example 'cats'")],
)
def test_an_example_that_is_not_there_or_not_alone_is_refused(words: str | None, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        example(words, None, None, name)


ROWS = np.ones((2, 4))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"other": ROWS}, "mine.npz holds other: expected embeddings, or Q, K and V"),
        ({"Q": ROWS, "K": ROWS}, "mine.npz holds Q, K: expected"),
        ({"embeddings": ROWS, "Q": ROWS, "K": ROWS, "V": ROWS}, "holds embeddings, Q, K, V: expected"),
        ({"embeddings": np.ones(4)}, r"has shape \(4,\): expected \(words, features\)"),
        ({"embeddings": np.ones((2, 3, 4))}, r"has shape \(2, 3, 4\)"),
        ({"embeddings": np.ones((0, 4))}, r"has shape \(0, 4\)"),
        ({"embeddings": np.ones((2, 1025))}, "has 1025 features: at most 1024"),
        ({"embeddings": np.ones((33, 2))}, "mine.npz has 33 words: at most 32"),
        ({"embeddings": np.array([[1.0, np.nan]])}, "holds NaN or infinite values"),
        ({"embeddings": np.array([[1.0, -np.inf]])}, "holds NaN or infinite values"),
        ({"embeddings": np.array([[1.0, 1e300]])}, "holds values beyond 1000"),
        ({"embeddings": ROWS * 1j}, "has dtype complex128"),
        ({"embeddings": ROWS > 0}, "has dtype bool"),
        ({"embeddings": np.array([["a"]])}, "expected numbers"),
        ({"embeddings": np.array([[None]])}, "embeddings in mine.npz cannot be read"),
        ({"embeddings": ROWS, "words": ["one"]}, "the words of mine.npz are 1, but the arrays of mine.npz have 2 rows"),
        ({"embeddings": ROWS, "words": [1, 2]}, "words in mine.npz has dtype int64"),
        ({"embeddings": ROWS, "words": [["a", "b"]]}, r"shape \(1, 2\): expected a list of texts"),
        ({"Q": ROWS, "K": ROWS, "V": np.ones((3, 4))}, "K and V in mine.npz have 2 and 3 rows: expected a value for"),
        ({"Q": ROWS, "K": ROWS, "V": ROWS, "key_words": ["a"]}, "the key_words of mine.npz are 1, but the arrays"),
        ({"Q": ROWS, "K": ROWS, "V": ROWS, "key_words": [1]}, "key_words in mine.npz has dtype int64"),
        ({"Q": ROWS, "K": np.ones((33, 4)), "V": np.ones((33, 4))}, "mine.npz has 33 words: at most 32"),
        ({"Q": ROWS, "K": np.ones((2, 5)), "V": ROWS}, "have 4 and 5 features"),
    ],
)
def test_a_file_that_does_not_fit_is_told_why(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        example(None, save(tmp_path, **arrays), None)


def test_words_that_do_not_number_the_rows_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--words has 3, but the arrays of mine.npz have 2 rows"):
        example("a b c", save(tmp_path, embeddings=ROWS), None)


def test_what_is_no_npz_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.npz"
    with pytest.raises(UsageError, match="does not exist"):
        example(None, file, None)
    with pytest.raises(UsageError, match=r"is a folder: expected an .npz file"):
        example(None, tmp_path, None)
    single = io.BytesIO()
    np.save(single, ROWS)
    whole = save(tmp_path, embeddings=ROWS).read_bytes()
    for data in (b"", b"hello", single.getvalue(), whole[:60], whole[:-30], b"\x80\x04N."):
        file.write_bytes(data)
        with pytest.raises(UsageError, match=r"mine.npz is not an .npz file"):
            example(None, file, None)


def test_damaged_arrays_and_what_is_no_array_are_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.npz"
    for name, data in (("embeddings.npy", b"\x93NUMPY\x01\x00nonsense"), ("embeddings", b"text")):
        with zipfile.ZipFile(file, "w") as packed:
            packed.writestr(name, data)
        with pytest.raises(UsageError, match=r"embeddings in mine.npz"):
            example(None, file, None)


def test_files_are_read_within_bounds(tmp_path: Path) -> None:
    file = tmp_path / "mine.npz"
    np.savez_compressed(file, embeddings=ROWS, other=np.zeros(1 << 20))
    assert file.stat().st_size < 20_000
    with pytest.raises(UsageError, match="unpacks to 8,388,"):
        example(None, file, None)
    file.write_bytes(bytes(5 << 20))
    with pytest.raises(UsageError, match="has 5,242,880 bytes: at most 4,194,304 are read"):
        example(None, file, None)


def test_a_beginning_has_known_words_and_leaves_room() -> None:
    known = ["cat", "sat", "the"]
    assert beginning(example("the cat", None, None), known, 2) == ("the", "cat")
    with pytest.raises(UsageError, match="do not use the word dog") as caught:
        beginning(example("the dog", None, None), known, 2)
    assert caught.value.hint == "They use cat, sat, the"
    with pytest.raises(UsageError, match="--words has 3 words: at most 2"):
        beginning(example("the cat sat", None, None), known, 2)


def test_an_example_with_other_values_is_refused_where_one_width_is_needed_and_others_are_named() -> None:
    with pytest.raises(UsageError, match="inputs of one width") as refused:
        of_one_width(example(None, None, None, "identity"))
    assert "the examples lesson and banks fit" in str(refused.value.hint)
    for name in ("lesson", "banks"):
        assert len(of_one_width(example(None, None, None, name))) == 3
