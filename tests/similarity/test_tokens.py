"""What a text is reduced to: names, numbers, comments and layout make no difference, and no text breaks it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.similarity import tokens as module
from grader.similarity.tokens import MAX_TOKENS, MOST_PLACES, WINDOW, K, decoded, fingerprints, runs, tokens
from tests.support.places import HIDDEN

SOLUTION = '''\
"""About."""
import numpy as np  # as ever

def softmax(scores, axis=-1):
    """Return weights."""
    shifted = scores - np.max(scores, axis=axis)
    return np.exp(shifted) / 1.5e-3
'''
RENAMED = """\
import numpy

def f(a, ax=-2):
    b = (  # other
        a - numpy.max(a,

                      axis=ax))
    return numpy.exp(b) / 7
"""


def test_names_numbers_comments_docstrings_and_layout_make_no_difference() -> None:
    one = [kind for kind in tokens(SOLUTION).kinds if kind not in "()"]
    other = [kind for kind in tokens(RENAMED).kinds if kind not in "()"]
    assert one[4:] == other[2:]  # but for `as np`


@pytest.mark.parametrize(
    ("one", "other"), [("c = a + b", "c = a - b"), ("np.exp(x)", "np.log(x)"), ("len(x)", "sum(x)")]
)
def test_signs_functions_and_builtins_make_a_difference(one: str, other: str) -> None:
    assert tokens(one).kinds != tokens(other).kinds


def test_the_name_of_an_own_attribute_makes_none() -> None:
    one, other = (tokens(f"self.{name} = 1\nreturn self.{name}.sum()").kinds for name in ("weights", "w"))
    assert one == other
    assert "sum" in one


def test_each_token_has_its_line() -> None:
    found = tokens("a = 1\n\n# no\nb = '''x\ny'''\nc()\n")
    assert list(zip(found.kinds, found.lines, strict=True)) == [
        *(("v", 1), ("=", 1), ("n", 1), ("v", 4), ("=", 4), ("s", 4), ("v", 6), ("(", 6), (")", 6)),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", '"""Only a docstring."""'])
def test_what_says_nothing_has_no_tokens(text: str) -> None:
    assert tokens(text).kinds == ()


def test_an_expression_that_begins_with_a_string_is_no_docstring() -> None:
    assert tokens("'a'.join(x)").kinds == ("s", ".", "join", "(", "v", ")")


def test_an_f_string_is_one_string() -> None:
    assert tokens("x = f'{a} {b:>{c}}' + rb'd'").kinds == ("v", "=", "s", "+", "s")


@pytest.mark.parametrize("name", ["s01_matrix_operations", "s15_attention", "s22_efficient_attention"])
def test_the_pattern_reads_as_python_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (HIDDEN / name / "solution.py").read_text(encoding="utf-8")
    as_python = tokens(text)
    assert not as_python.note

    def no_python(_: str) -> object:
        raise SyntaxError

    monkeypatch.setattr(module, "_python", no_python)
    by_pattern = tokens(text)
    assert (by_pattern.kinds, by_pattern.lines) == (as_python.kinds, as_python.lines)


def test_what_follows_a_syntax_error_is_read_nevertheless() -> None:
    broken = "def f(x):\n        a = 1\n    return x +\n" + SOLUTION
    found = tokens(broken)
    assert found.note == "is not valid Python: from line 2 on it was read line by line"
    assert found.kinds[-20:] == tokens(SOLUTION).kinds[-20:]


@pytest.mark.parametrize(
    "text", ["'''never closed\n" * 9, "x = (((\n", "\tx\n  y\n z\n", "a $ b ? c", "\N{REPLACEMENT CHARACTER}"]
)
def test_no_text_is_too_broken(text: str) -> None:
    assert tokens(text).note.startswith("is not valid Python: from line")


def test_a_long_text_is_compared_in_part() -> None:
    found = tokens("x = 1\n" * 8000)
    assert len(found.kinds) == len(found.lines) == MAX_TOKENS
    assert found.note == "is long: only its first 20000 tokens were compared, to line 6667"


@given(st.text(alphabet=st.sampled_from("ab1_ \n\t\\'\"#(){}[]:=.,+-*/f\x0c\r$é\u2028"), max_size=60))
def test_whatever_is_written_is_read(text: str) -> None:
    found = tokens(decoded(text.encode()))
    assert len(found.kinds) == len(found.lines)
    assert all(1 <= line <= decoded(text.encode()).count("\n") + 1 for line in found.lines)


def test_bytes_of_any_kind_are_text() -> None:
    assert decoded(b"\xef\xbb\xbfa\r\nb\rc\0\xff") == "a\nb\nc\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"


def row(count: int, seed: int) -> list[str]:
    drawn = random.Random(seed)
    return [f"{seed}-{drawn.randrange(10**6)}" for _ in range(count)]


def test_a_rolling_hash_is_that_of_each_run_by_itself() -> None:
    kinds = row(40, 1)
    assert runs(kinds) == [runs(kinds[at : at + K])[0] for at in range(40 - K + 1)]


@pytest.mark.parametrize("length", [0, 1, K - 1])
def test_a_row_that_is_too_short_has_none(length: int) -> None:
    assert runs(row(length, 1)) == []
    assert fingerprints(row(length, 1)) == {}


@pytest.mark.parametrize("length", [K, K + 1, K + WINDOW - 1])
def test_a_short_row_has_one_at_least(length: int) -> None:
    assert fingerprints(row(length, 1))


@pytest.mark.parametrize("seed", range(20))
def test_a_run_that_two_rows_share_is_found_wherever_it_stands(seed: int) -> None:
    shared = row(K + WINDOW - 1, 1000 + seed)
    one = row(seed * 7, 1) + shared + row(30, 2)
    other = row(90, 3) + shared + row(seed, 4)
    assert set(fingerprints(one)) & set(fingerprints(other))


def test_less_than_a_run_is_not_found() -> None:
    shared = row(K - 1, 5)
    one, other = row(30, 1) + shared + row(30, 2), row(30, 3) + shared + row(30, 4)
    assert not set(runs(one)) & set(runs(other))


def test_places_are_where_the_run_stands() -> None:
    kinds = row(60, 1)
    hashes = runs(kinds)
    assert all(hashes[place] == value for value, places in fingerprints(kinds).items() for place in places)


def test_what_repeats_without_end_is_remembered_in_few_places() -> None:
    assert [len(places) for places in fingerprints(["x"] * 500).values()] == [MOST_PLACES]
