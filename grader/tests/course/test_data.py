"""The data of a stage, read from its folder; sealed ones are those of a released copy, in courses/uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.data import MAX_BYTES, data_beside, named
from grader.errors import CourseError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "stages" / "s01_a"
    (place / "data").mkdir(parents=True)
    return place


def test_files_are_bytes_by_name_without_the_readme(folder: Path) -> None:
    (folder / "data" / "b.bin").write_bytes(b"\x00\r\n")
    (folder / "data" / "a.txt").write_bytes(b"a")
    (folder / "data" / "README.md").write_text("where they are from")
    (folder / "data" / ".DS_Store").write_bytes(b"x")
    assert data_beside(folder) == {"a.txt": b"a", "b.bin": b"\x00\r\n"}


def test_a_stage_need_have_none(tmp_path: Path) -> None:
    assert data_beside(tmp_path) == {}


def test_a_folder_and_a_link_among_them_are_named(folder: Path) -> None:
    (folder / "data" / "more").mkdir()
    with pytest.raises(CourseError, match=r"stages/s01_a/data/more is not a regular file"):
        data_beside(folder)
    (folder / "data" / "more").rmdir()
    (folder / "data" / "link").symlink_to(folder / "stage.toml")
    with pytest.raises(CourseError, match=r"stages/s01_a/data/link is not a regular file"):
        data_beside(folder)


def test_a_large_file_is_named_with_its_size(folder: Path) -> None:
    (folder / "data" / "large.txt").write_bytes(b"x" * (MAX_BYTES + 1))
    with pytest.raises(CourseError, match=r"large.txt has 1,000,001 bytes: at most 1,000,000 are allowed"):
        data_beside(folder)


def test_a_name_that_is_not_there_is_told_with_those_that_are() -> None:
    assert named({"a.txt": b"a"}, "a.txt", "s01") == b"a"
    with pytest.raises(CourseError, match=r"s01 has no data of the name 'b.txt': its data/ has a.txt, c.txt"):
        named({"a.txt": b"a", "c.txt": b""}, "b.txt", "s01")
    with pytest.raises(CourseError, match=r"it has no file in data/"):
        named({}, "b.txt", "s01")
