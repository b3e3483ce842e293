"""The archive of a course that travels with an installed grader."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from grader.errors import CourseError, UsageError
from grader.setup.edition import ARCHIVE, is_shipped, packed, shipped, unpacked
from tests.setup.editions import edition


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the grader looks for the course that came with it."""
    monkeypatch.setattr("grader.setup.edition.PLACE", tmp_path / ARCHIVE)
    return tmp_path / ARCHIVE


def test_what_is_packed_comes_out_again(place: Path) -> None:
    one = edition("0.2.0")
    place.write_bytes(packed(one.files))
    assert shipped() == one and is_shipped()
    assert one.path("x.sealed") == "hidden/x.sealed"


def test_the_same_files_give_the_same_bytes() -> None:
    files = edition().files
    assert packed(files) == packed(dict(reversed(list(files.items()))))


@pytest.mark.usefixtures("place")
def test_a_grader_without_a_course_says_so() -> None:
    assert not is_shipped()
    with pytest.raises(UsageError, match="this grader brings no course"):
        shipped()


def test_an_archive_that_cannot_be_opened_is_told(place: Path) -> None:
    place.mkdir()
    with pytest.raises(CourseError, match=f"{ARCHIVE} cannot be read"):
        shipped()


def _damaged() -> bytes:
    data = bytearray(packed({"hidden/release.json": bytes(range(256))}))
    data[45] ^= 255
    return bytes(data)


@pytest.mark.parametrize("data", [b"", b"no archive", packed(edition().files)[:-9], _damaged()])
def test_what_is_no_archive_is_told(data: bytes) -> None:
    with pytest.raises(CourseError, match=f"{ARCHIVE} cannot be read") as caught:
        unpacked(data)
    assert caught.value.hint == "Install the grader again."


def test_an_archive_without_a_record_is_told() -> None:
    buffer = io.BytesIO()
    zipfile.ZipFile(buffer, "w").close()
    with pytest.raises(CourseError, match=r"holds 0 files release\.json"):
        unpacked(buffer.getvalue())
