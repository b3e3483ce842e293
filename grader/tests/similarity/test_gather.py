"""What a class handed in: whose it is, and why what cannot be taken was not."""

from __future__ import annotations

import os
import zipfile
from datetime import UTC
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import UsageError
from grader.gradebook.intake.listing import listing
from grader.similarity import gather
from grader.similarity.gather import HandedIn, examples, handed_in

STAGE = Stage("s90", Path("stages/s90_small"), "Small", "small.py", (), ())


def gathered(folder: Path) -> tuple[HandedIn, ...]:
    return handed_in(listing(folder, UTC).arrivals, STAGE, folder)


def test_files_folders_and_archives_are_taken_under_their_names(tmp_path: Path) -> None:
    (tmp_path / "ada.py").write_text("a", encoding="utf-8")
    (tmp_path / "bob@example.org").mkdir()
    (tmp_path / "bob@example.org" / "small.py").write_text("b", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "eve.zip", "w") as archive:
        archive.writestr("small.py", "e")
    found = gathered(tmp_path)
    assert [(each.student, each.source) for each in found] == [("ada", b"a"), ("bob@example.org", b"b"), ("eve", b"e")]


def test_of_several_attempts_the_last_is_compared(tmp_path: Path) -> None:
    for name, text, when in (("ada_1_small-2.py", "later", 2000), ("ada_1_small-10.py", "earlier", 1000)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        os.utime(tmp_path / name, (when, when))
    assert gathered(tmp_path) == (HandedIn("ada_1", b"later"),)


def test_what_cannot_be_taken_is_told_and_costs_the_others_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "book.ipynb").touch()
    (tmp_path / "ada.py").write_text("a", encoding="utf-8")
    (tmp_path / "link.py").symlink_to(tmp_path / "ada.py")
    found = {each.student: each.why for each in gathered(tmp_path)}
    assert found.pop("ada") == ""
    assert set(found) == {"empty", "link", "book"}
    assert all(found.values())


def test_too_many_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "MOST", 1)
    for name in ("a.py", "b.py"):
        (tmp_path / name).touch()
    with pytest.raises(UsageError, match="there are 2 submissions"):
        gathered(tmp_path)


def test_the_code_of_a_readme_is_everybodys(tmp_path: Path) -> None:
    stage = Stage("s90", tmp_path, "Small", "small.py", (), ())
    assert examples(stage) == []
    (tmp_path / "README.md").write_text("a\n\n```python\nx = 1\ny = 2\n```\n\n```\nz\n```\n", encoding="utf-8")
    assert examples(stage) == ["x = 1\ny = 2\n", "z\n"]
