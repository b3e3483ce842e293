"""The module in folders, archives and notebooks, and where it is misnamed."""

from __future__ import annotations

import ast
import io
import json
import zipfile
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.errors import NotHandedIn, SubmissionError
from grader.submission import MAX_BYTES, take, take_misnamed
from grader.submission.containers import notebook_code as code
from grader.submission.containers import without_magics
from tests.support.places import ROOT

MODULE = b"x = 1\n"


@pytest.fixture(scope="module")
def s15() -> Stage:
    return load_course(ROOT).find("s15")


def zipped(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


BOOK = json.dumps({"cells": [{"cell_type": "code", "source": "x = 1"}]}).encode()


@pytest.mark.parametrize(
    "files",
    [
        {"a/b/c/attention.py": MODULE, "a/readme.md": b"x"},
        {"course-main/stages/s15_attention/attention.py": MODULE, "attention.txt": b"x"},
        {"hw.zip": zipped({"attention.py": MODULE})},
        {"hw.zip": zipped({"inner.zip": zipped({"x/attention.py": MODULE})})},
        {"a/attention.ipynb": BOOK},
        {"hw.zip": zipped({"attention.ipynb": BOOK})},
        {"one.zip": zipped({"notes.txt": b"x"}), "two.zip": zipped({"attention (1).py": MODULE})},
        {".git/attention.py": b"no", "a/attention.py": MODULE, ".ipynb_checkpoints/attention.ipynb": BOOK},
    ],
)
def test_a_module_below_a_folder_is_found_as_in_an_archive(files: dict[str, bytes], tmp_path: Path, s15: Stage) -> None:
    found = take(s15, put(tmp_path / "ada", files), ROOT)
    assert found.source == MODULE and found.origin.is_relative_to(tmp_path / "ada")


def test_a_notebook_of_any_name_is_taken_as_a_module_is(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, {"ada.ipynb": BOOK})
    found = take(s15, tmp_path / "ada.ipynb", ROOT)
    assert (found.source, found.notes) == (MODULE, ("the code cells of ada.ipynb",))


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a/attention.py": MODULE, "b/attention.py": b"y = 2\n"}, "holds 2 files that could be the module"),
        ({"a.zip": zipped({"attention.py": MODULE}), "b.zip": zipped({"attention.py": b"y"})}, "could be the module"),
        ({"a/attention.ipynb": BOOK, "b/attention.ipynb": BOOK}, "could be the module"),
        ({"a.zip": b"no archive"}, "is not a zip archive"),
        ({"a.zip": zipped({"../attention.py": MODULE})}, "leads out of the archive"),
        ({"a/attention.ipynb": b"{"}, "is not a notebook"),
        ({"hw.zip": zipped({"attention.py": b"#" * (MAX_BYTES + 1)})}, "at most 1,048,576 are accepted"),
        ({"a/attention.ipynb": BOOK.replace(b"x = 1", b"#" * (MAX_BYTES + 1))}, "at most 1,048,576 are accepted"),
    ],
)
def test_what_cannot_be_accepted_is_told(files: dict[str, bytes], told: str, tmp_path: Path, s15: Stage) -> None:
    with pytest.raises(SubmissionError, match=told):
        take(s15, put(tmp_path / "ada", files), ROOT)


def test_archives_are_opened_to_a_depth_and_no_further(tmp_path: Path, s15: Stage) -> None:
    data = zipped({"attention.py": MODULE})
    for _ in range(3):
        data = zipped({"inner.zip": data})
    with pytest.raises(NotHandedIn):
        take(s15, put(tmp_path / "ada", {"hw.zip": data}), ROOT)


def test_no_link_below_a_folder_is_followed(tmp_path: Path, s15: Stage) -> None:
    secret = put(tmp_path / "other", {"attention.py": MODULE, "hw.zip": zipped({"attention.py": MODULE})})
    ada = put(tmp_path / "ada", {"readme.md": b"x"})
    (ada / "deep").symlink_to(secret)
    (ada / "hw.zip").symlink_to(secret / "hw.zip")
    with pytest.raises(NotHandedIn):
        take(s15, ada, ROOT)
    (ada / "below").mkdir()
    (ada / "below" / "attention.py").symlink_to(secret / "attention.py")
    with pytest.raises(SubmissionError, match="is a link: expected a regular file"):
        take(s15, ada, ROOT)
    (tmp_path / "eve").symlink_to(secret)
    assert take_misnamed(s15, ada, ROOT) is None


def test_too_many_files_are_refused(tmp_path: Path, s15: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.submission.containers.MAX_MEMBERS", 5)
    with pytest.raises(SubmissionError, match="holds more than 5 files"):
        take(s15, put(tmp_path / "ada", {f"a/{at}.txt": b"" for at in range(9)}), ROOT)


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
    ("lines", "told"),
    [
        ("!ls\n%time\n", "!ls and 1 more line are left out: only IPython understands them"),
        ("!ls\n%time\nx = 1\n%time\n", "!ls and 2 more lines are left out: only IPython understands them"),
    ],
)
def test_several_magic_lines_are_counted(lines: str, told: str) -> None:
    assert without_magics(lines.encode())[1] == (told,)


@pytest.mark.parametrize(
    "source", [b"x = 1\n", b"x = (7\n% 3)\n", b'"""\n%time\n"""\n', b"%time\ndef f(:\n", b"%t\n\xff\n"]
)
def test_a_file_that_needs_no_change_or_is_no_python_even_so_stays_as_it_is(source: bytes) -> None:
    assert without_magics(source) == (source, ())
