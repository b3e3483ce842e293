"""CSV as spreadsheets read it: texts are texts, numbers are numbers, and nothing is a formula."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.report.spreadsheet import Cell, csv_text

SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"""[ \xa0"']*[+-] *[0-9]* *["']?""")  # a sign alone, or before a number, is no formula
PIECES = st.sampled_from([*SIGNS, ";", ",", "\t", "|", "\r", "\n", '"', "'", " ", "\xa0", "1", "x", "é"])


def read(text: str, separator: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


def test_texts_are_quoted_and_numbers_and_empty_cells_are_not() -> None:
    written = csv_text([("student", "points"), ("ada", 2), ("12", 0.5), ('b"o', None), ("", True)])
    assert written == '"student","points"\r\n"ada",2\r\n"12",0.5\r\n"b""o",\r\n,True\r\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("=1+1", "'=1+1"), ("x;=1+1", "x;'=1+1"), ("＝1+1", "'＝1+1"), ("x, －1", "x,' －1"), ("\t=1", "'\t'=1"),
        ('x;"=1;y', "x;'\"=1;y"), ("x\n@y", "x\n'@y"), ("x|+1", "x|'+1"), ("\rx", "'\rx"),
        ("values [0.5, -0.25, -1e-05]", "values [0.5, -0.25, -1e-05]"), ("O'Neil, -", "O'Neil, -"),
        ("x, -1+1", "x,' -1+1"), ("x, -f(1)", "x,' -f(1)"), ("x; -", "x;' -"),
        ("a-b = c; d + e, f@g.org", "a-b = c; d + e, f@g.org"),
    ],
)  # fmt: skip
def test_an_apostrophe_stands_where_a_formula_could_begin(text: str, told: str) -> None:
    assert read(csv_text([(text, "y")])) == [[told, "y"]]


@given(st.lists(st.lists(PIECES, max_size=12).map("".join), min_size=1, max_size=3))
def test_no_reader_finds_a_formula_and_the_right_one_finds_the_text(texts: list[str]) -> None:
    line: list[Cell] = [*texts, "end"]
    written = csv_text([line])
    for separator in ",;\t|":
        for cell in (cell for found in read(written, separator) for cell in found):
            if separator != "," or not NUMBER.fullmatch(cell):
                assert not cell.lstrip(' \xa0"').startswith(SIGNS)
    ((*found, _),) = read(written)
    assert [cell.replace("'", "") for cell in found] == [text.replace("'", "") for text in texts]
