"""The file of a key is one line; what holds none is refused without being quoted; secret files are their owner's."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from grader.course.sealed.keys import MARK, SealKey, new_key, read_key, write_private
from grader.errors import SealError, UsageError
from grader.tests.support.copies import KEY, OTHER_KEY


def test_a_key_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "tests.key"
    path.write_text(KEY.text)
    assert read_key(path) == KEY


def test_a_key_is_shown_nowhere_and_its_id_is_not_its_secret() -> None:
    assert "secret" not in repr(KEY) and KEY.secret.hex()[:16] != KEY.id
    assert KEY.id != OTHER_KEY.id and len(KEY.id) == 16


def test_new_keys_differ() -> None:
    assert new_key() != new_key() and len(new_key().secret) == 32


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"swordfish",
        MARK.encode(),
        MARK.encode() + b"c3dvcmRmaXNo",
        SealKey(bytes(33)).text.encode(),
        KEY.text.removeprefix(MARK).encode(),
        MARK.encode() + b"swordfish!" * 4,
        b"\xff" * 100,
        KEY.text.encode() * 100,
    ],
)
def test_a_file_without_a_key_is_refused_and_not_quoted(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "tests.key"
    path.write_bytes(data)
    with pytest.raises(SealError, match="holds no key to sealed tests") as caught:
        read_key(path)
    assert "swordfish" not in str(caught.value) and caught.value.exit_code == 4


def test_a_missing_key_file_says_how_one_is_made(tmp_path: Path) -> None:
    with pytest.raises(SealError, match="cannot be read") as caught:
        read_key(tmp_path / "none.key")
    assert "grader keys new" in str(caught.value.hint)


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_a_secret_file_is_its_owners_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_private(tmp_path / "a.key", b"text")
    finally:
        os.umask(before)
    assert (tmp_path / "a.key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "a.key").read_bytes() == b"text"


def test_a_secret_file_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.key").write_text("kept")
    with pytest.raises(UsageError, match="already exists"):
        write_private(tmp_path / "a.key", b"text")
    assert (tmp_path / "a.key").read_text() == "kept"


def test_a_secret_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        write_private(tmp_path / "none" / "a.key", b"text")
