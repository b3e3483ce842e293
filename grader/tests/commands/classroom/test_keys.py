"""`grader keys new`: what is made, for whom it can be read, and that none is replaced."""

from __future__ import annotations

import errno
import itertools
import os
import sys
from pathlib import Path

import pytest

from grader.tests.commands.classroom.typed import Typed


class TestKeys:
    def test_three_files_are_made_and_named(self, grader: Typed, tmp_path: Path) -> None:
        assert grader("keys", "new", tmp_path / "a" / "keys") == 0
        names = ["tests.key", "signing.key", "signing.pub"]
        assert [Path(line).name for line in grader.out.splitlines()] == names
        assert "Keep tests.key and signing.key secret" in grader.err

    @pytest.mark.parametrize("fits", [0, 1, 2])
    def test_a_full_disk_is_named_and_keeps_no_part_of_the_keys(
        self, grader: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fits: int
    ) -> None:
        tries, fsync = itertools.count(), os.fsync

        def full(descriptor: int) -> None:
            if next(tries) == fits:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            fsync(descriptor)

        monkeypatch.setattr("os.fsync", full)
        assert grader("keys", "new", tmp_path / "keys") == 2
        assert "cannot be written: No space left on device hint: " in grader.err
        assert list((tmp_path / "keys").iterdir()) == []

    @pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
    def test_only_the_public_one_can_be_read_by_others(self, keys: Path) -> None:
        modes = {path.name: path.stat().st_mode & 0o777 for path in keys.iterdir()}
        assert modes == {"tests.key": 0o600, "signing.key": 0o600, "signing.pub": 0o644}

    def test_existing_keys_are_kept(self, grader: Typed, keys: Path) -> None:
        before = {path.name: path.read_bytes() for path in keys.iterdir()}
        assert grader("keys", "new", keys) == 2 and "already exists" in grader.err
        (keys / "tests.key").unlink()
        assert grader("keys", "new", keys) == 2
        del before["tests.key"]
        assert {path.name: path.read_bytes() for path in keys.iterdir()} == before

    def test_a_folder_that_cannot_be_made_is_named(self, grader: Typed, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        assert grader("keys", "new", tmp_path / "file" / "keys") == 2 and "cannot be made" in grader.err
