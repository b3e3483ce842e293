"""A report on disk: an earlier one is replaced, nothing else is, and a failure leaves what was there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.web.writing import OURS, expect_free, write

PAGE = f"<!doctype html>{OURS.decode()}<p>new"


def test_a_report_is_written_and_replaced(tmp_path: Path) -> None:
    for text in (PAGE, PAGE + "er"):
        write(tmp_path / "report.html", text)
        assert (tmp_path / "report.html").read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_what_is_no_report_stays(tmp_path: Path) -> None:
    (tmp_path / "mine.html").write_text("<p>mine", encoding="utf-8")
    with pytest.raises(UsageError, match="already exists and is not a report; it was not replaced"):
        write(tmp_path / "mine.html", PAGE)
    assert (tmp_path / "mine.html").read_text(encoding="utf-8") == "<p>mine"


@pytest.mark.parametrize(("name", "told"), [("a.txt", "does not end in .html"), ("no/a.html", "not a folder")])
def test_a_place_that_cannot_be_is_refused(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        expect_free(tmp_path / name)


def test_a_folder_and_a_link_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "link.html").symlink_to(tmp_path / "elsewhere.html")
    for name in ("folder.html", "link.html"):
        with pytest.raises(UsageError, match="not a regular file"):
            write(tmp_path / name, PAGE)
    assert not (tmp_path / "elsewhere.html").exists()


def test_a_folder_that_is_mounted_read_only_is_no_fault_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    for name in ("open", "unlink"):  # there the second fails, too, where there is no such file
        monkeypatch.setattr(os, name, refused)
    with pytest.raises(UsageError, match="cannot be written: Read-only file system"):
        write(tmp_path / "report.html", PAGE)


def test_a_disk_that_takes_nothing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "report.html", PAGE)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(UsageError, match="No space left") as caught:
        write(tmp_path / "report.html", PAGE + "er")
    assert "stays as it was" in str(caught.value.hint)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
