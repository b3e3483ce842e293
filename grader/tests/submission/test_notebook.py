"""The code of notebooks: Python as it stands, what is IPython's as comments, and files that are no notebooks."""

from __future__ import annotations

import ast
import json

import pytest

from grader.errors import SubmissionError
from grader.submission.notebook import code, without_magics


def book(*cells: str | list[str], kind: str = "code") -> bytes:
    return json.dumps({"nbformat": 4, "cells": [{"cell_type": kind, "source": cell} for cell in cells]}).encode()


def test_code_cells_are_joined_and_words_left_out() -> None:
    data = json.dumps({"cells": [
        {"cell_type": "markdown", "source": "# Title"}, {"cell_type": "code", "source": ["a = 1\n", "b = 2"]},
        {"cell_type": "raw", "source": "raw"}, {"cell_type": "code", "source": "c = 3"},
    ]}).encode()  # fmt: skip
    assert code(b"\xef\xbb\xbf" + data, "x").decode() == "a = 1\nb = 2\n\nc = 3\n"


def test_an_older_notebook_is_read() -> None:
    data = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1"]}]}]}
    assert code(json.dumps(data).encode(), "x") == b"a = 1\n"


@pytest.mark.parametrize(
    "cell",
    ["%matplotlib inline\na = 1", "!pip install numpy\na = 1", "a = 1\na?", "?a\na = 1", "a = 1\nif a:\n    !ls",
     "%%time\na = 1", "a = 1\nfor _ in ():\n    %timeit a"],
)  # fmt: skip
def test_lines_of_ipython_become_comments_in_their_places(cell: str) -> None:
    text = code(book(cell), "x").decode()
    ast.parse(text)
    assert "a = 1" in text.splitlines() and len(text.splitlines()) == len(cell.rstrip().splitlines())


def test_cells_of_another_language_are_left_out_and_operators_stay() -> None:
    text = code(book("%%bash\nrm x\n", "b = (7,\n  8\n  % 3)", "c = 7 % 2"), "x").decode()
    values: dict[str, object] = {}
    exec(text, values)  # of this test
    assert values["c"] == 1 and "# rm x" in text


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"{}", b'{"cells": 1}', b'{"cells": [1]}', b"\xff\xfe", b"[" * 100_000,
     book("", kind="code"), book("x", kind="raw"),
     json.dumps({"cells": [{"cell_type": "code", "source": 5}]}).encode()],
)  # fmt: skip
def test_what_is_no_notebook_is_refused(data: bytes) -> None:
    with pytest.raises(SubmissionError, match=r"nb is (not a notebook that can be read|a notebook without code)"):
        code(data, "nb")


@pytest.mark.parametrize("line", ["%matplotlib inline", "!pip install numpy", "if 1:\n    %time 1", "get = 1\n!ls"])
def test_a_file_exported_with_magic_lines_is_read_without_them(line: str) -> None:
    source = f"import math\n{line}\nx = 7 \\\n  % 3\n".encode()
    text, (note,) = without_magics(source)
    ast.parse(text)
    assert text.count(b"\n") == source.count(b"\n") and "is left out: only IPython understands it" in note


@pytest.mark.parametrize(
    "source", [b"x = 1\n", b"x = (7\n% 3)\n", b'"""\n%time\n"""\n', b"%time\ndef f(:\n", b"%t\n\xff\n"]
)
def test_a_file_that_needs_no_change_or_is_no_python_even_so_stays_as_it_is(source: bytes) -> None:
    assert without_magics(source) == (source, ())
