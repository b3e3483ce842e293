"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.setup.course_files import backup_folder, read, remove, write

WHEN = datetime(2026, 11, 22, 14, 0, tzinfo=UTC)


def test_a_file_is_replaced_whole_and_keeps_its_modes(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.py"
    write(path, b"old")
    path.chmod(0o755)
    write(path, b"new")
    assert path.read_bytes() == b"new" and os.listdir(path.parent) == ["b.py"]
    assert path.stat().st_mode & 0o100 or os.name == "nt"


def test_where_it_cannot_be_replaced_the_old_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    write(tmp_path / "a", b"old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UsageError, match="a cannot be written: No space left on device"):
        write(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old" and os.listdir(tmp_path) == ["a"]


def test_a_removed_file_takes_empty_folders_with_it(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "c", b"1")
    write(tmp_path / "a" / "d", b"1")
    remove(tmp_path, "a/b/c")
    assert os.listdir(tmp_path / "a") == ["d"]
    remove(tmp_path, "a/d")
    remove(tmp_path, "a/not there")
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_deleted_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="folder cannot be deleted"):
        remove(tmp_path, "folder")


def test_backups_of_one_second_have_folders_of_their_own(tmp_path: Path) -> None:
    first = backup_folder(tmp_path, WHEN)
    (tmp_path / first).mkdir(parents=True)
    assert (first, backup_folder(tmp_path, WHEN)) == (
        ".grader/backups/update-20261122T140000Z",
        ".grader/backups/update-20261122T140000Z-1",
    )


def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    write(tmp_path / "a", b"1")
    assert [read(tmp_path, name) for name in ("a", "b", "a/b")] == [b"1", None, None]
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="folder is not a regular file; nothing was changed"):
        read(tmp_path, "folder")


def test_nothing_is_read_behind_a_link_that_leads_out_of_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root / "a" / "b", b"1")
    write(tmp_path / "other" / "b", b"2")
    (root / "inner").symlink_to("a")
    (root / "outer").symlink_to(tmp_path / "other")
    (root / "circle").symlink_to("circle")
    assert read(root, "inner/b") == b"1"
    with pytest.raises(UsageError, match=r"outer/b lies behind a link that leads out of .*root"):
        read(root, "outer/b")
    with suppress(UsageError):  # Python 3.13 takes a circle for a name
        assert read(root, "circle/b") is None


def test_a_link_that_waits_under_the_name_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "a").symlink_to("victim")
    write(tmp_path / "a", b"new")
    assert (tmp_path / "victim").read_text() == "mine" and not (tmp_path / "a").is_symlink()
    write(tmp_path / "folder" / "b", b"new")
    assert sorted(os.listdir(tmp_path)) == ["a", "folder", "victim"] and os.listdir(tmp_path / "folder") == ["b"]
