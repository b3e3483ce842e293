"""Modules in folders, archives and notebooks within what was handed in, and bounds on how deep that is looked."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.errors import NotHandedIn, SubmissionError
from grader.submission import MAX_BYTES, take, take_misnamed
from grader.tests.support.places import ROOT

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
        ({"hw.zip": zipped({"attention.py": b"#" * 200_000_000})}, "bytes"),
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
    monkeypatch.setattr("grader.submission.tree.MAX_MEMBERS", 5)
    with pytest.raises(SubmissionError, match="holds more than 5 files"):
        take(s15, put(tmp_path / "ada", {f"a/{at}.txt": b"" for at in range(9)}), ROOT)
