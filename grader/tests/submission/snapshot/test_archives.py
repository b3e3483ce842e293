"""Taking a learner's file out of a zip or tar archive."""

from __future__ import annotations

import hashlib
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import take
from grader.tests.submission.snapshot.taking import IN_TREE, SOURCE, needs_links, put, refusal


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


class TestArchives:
    def test_the_module_of_a_zip_is_taken(self, stage: Stage, course: Path, inbox: Path) -> None:
        path = zipped(inbox / "ada.zip", {f"ada/{IN_TREE}": SOURCE, "ada/README.md": b"hello"})
        snapshot = take(stage, path, course)
        assert (snapshot.source, snapshot.digest) == (SOURCE, hashlib.sha256(SOURCE).hexdigest())
        assert (snapshot.module, snapshot.origin) == ("attention.py", path / "ada" / IN_TREE)
        assert snapshot.label == f"{path}/ada/{IN_TREE}"

    @pytest.mark.parametrize("ending", ["tar", "tar.gz", "tgz", "tar.xz", "tar.bz2", "TAR.GZ"])
    def test_the_module_of_a_tar_is_taken(self, stage: Stage, course: Path, inbox: Path, ending: str) -> None:
        put(inbox / "attention.py")
        path = inbox / f"ada.{ending}"
        packed = {"tgz": "gz", "tar": ""}.get(ending, ending.lower().removeprefix("tar."))
        with tarfile.open(str(path), f"w:{packed}") as archive:  # type: ignore[call-overload]
            archive.add(inbox / "attention.py", "attention.py")
        assert take(stage, path, course).source == SOURCE

    def test_an_archive_inside_the_course_is_named_from_there(self, stage: Stage, course: Path) -> None:
        path = zipped(course / "ada.zip", {"attention.py": SOURCE})
        assert take(stage, path, course).label == "ada.zip/attention.py"

    def test_a_folder_named_like_an_archive_is_a_folder(self, stage: Stage, course: Path, inbox: Path) -> None:
        put(inbox / "ada.zip" / "attention.py")
        assert take(stage, inbox / "ada.zip", course).source == SOURCE

    def test_a_missing_archive_says_what_may_be_given(self, stage: Stage, course: Path, inbox: Path) -> None:
        with pytest.raises(SubmissionError, match=r"ada.zip does not exist") as caught:
            take(stage, inbox / "ada.zip", course)
        assert "a zip or tar archive" in str(caught.value.hint)

    @needs_links
    def test_an_archive_may_not_be_a_link(self, stage: Stage, course: Path, inbox: Path) -> None:
        (inbox / "b.zip").symlink_to(zipped(inbox / "a.zip", {"attention.py": SOURCE}))
        assert refusal(stage, inbox / "b.zip", course).endswith("b.zip is a link: expected a regular file")

    def test_an_archive_too_large_is_not_read(self, stage: Stage, course: Path, inbox: Path) -> None:
        path = zipped(inbox / "ada.zip", {"attention.py": SOURCE})
        os.truncate(path, 1 << 40)
        assert refusal(stage, path, course).endswith("has 1,099,511,627,776 bytes: at most 67,108,864 are accepted")

    def test_nothing_is_written_to_disk(
        self, stage: Stage, course: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = zipped(inbox / "ada.zip", {"attention.py": SOURCE, "other.py": b""})
        monkeypatch.setenv("TMPDIR", str(inbox))
        take(stage, path, course)
        assert os.listdir(inbox) == ["ada.zip"]
