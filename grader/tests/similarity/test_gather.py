"""What a class handed in: whose it is, and why what cannot be taken was not."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import UsageError
from grader.similarity import gather
from grader.similarity.gather import handed_in

STAGE = Stage("s90", Path("stages/s90_small"), "Small", "small.py", (), ())


def test_files_folders_and_archives_are_taken_under_their_names(tmp_path: Path) -> None:
    (tmp_path / "ada.py").write_text("a", encoding="utf-8")
    (tmp_path / "bob@example.org").mkdir()
    (tmp_path / "bob@example.org" / "small.py").write_text("b", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "eve.zip", "w") as archive:
        archive.writestr("small.py", "e")
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "__MACOSX").mkdir()
    found = handed_in(tmp_path, STAGE, tmp_path)
    assert [(each.student, each.source) for each in found] == [("ada", b"a"), ("bob@example.org", b"b"), ("eve", b"e")]


def test_two_of_one_name_keep_their_endings(tmp_path: Path) -> None:
    (tmp_path / "ada.py").touch()
    (tmp_path / "ada").mkdir()
    assert [each.student for each in handed_in(tmp_path, STAGE, tmp_path)] == ["ada", "ada.py"]


def test_what_cannot_be_taken_is_told_and_costs_the_others_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "list.csv").touch()
    (tmp_path / "ada.py").write_text("a", encoding="utf-8")
    (tmp_path / "link.py").symlink_to(tmp_path / "ada.py")
    found = {each.student: each.why for each in handed_in(tmp_path, STAGE, tmp_path)}
    assert found.pop("ada") == ""
    assert set(found) == {"empty", "link", "list"}
    assert all(found.values())


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        handed_in(tmp_path / "nowhere", STAGE, tmp_path)


def test_too_many_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "MOST", 1)
    for name in ("a.py", "b.py"):
        (tmp_path / name).touch()
    with pytest.raises(UsageError, match="holds 2 submissions"):
        handed_in(tmp_path, STAGE, tmp_path)
