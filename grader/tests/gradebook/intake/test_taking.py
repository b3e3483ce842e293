"""Attempts from what was handed in: the module, its time, and a result of its own where there is none."""

from __future__ import annotations

import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.gradebook.intake.arrivals import Arrival, Handed
from grader.gradebook.intake.listing import listing
from grader.gradebook.intake.taking import MISSING, Taken, expected, taken
from grader.tests.support.places import ROOT
from grader.tests.support.repositories import commit, git, make, needs_git

THEN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def s15() -> Stage:
    return load_course(ROOT).find("s15")


def of(path: Path, stage: Stage) -> dict[str, Taken]:
    found = [each for arrival in listing(path, UTC).arrivals for each in taken(arrival, stage, ROOT, only=True)]
    assert len(found) == expected(listing(path, UTC).arrivals, stage, only=True)
    return {each.attempt.student: each for each in found}


def test_what_cannot_be_taken_is_a_result_of_its_own(tmp_path: Path, s15: Stage) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "misnamed").mkdir()
    (tmp_path / "misnamed" / "atention.py").touch()
    (tmp_path / "ada_1_homework.py").touch()
    for name, size in (("large.py", 2 << 20), ("huge.zip", 2 << 30)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)  # sparse: it takes no room
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    (tmp_path / "words.docx").write_bytes(b"words")
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    found = of(tmp_path, s15)
    outcomes = {student: each.outcome for student, each in found.items()}
    assert outcomes == {
        "empty": "missing", "misnamed": "missing", "ada_1": "missing", "large": "rejected", "huge": "rejected",
        "broken": "rejected", "words": "rejected", "link": "rejected",
    }  # fmt: skip
    assert all(each.snapshot is None and each.error is not None for each in found.values())
    assert found["empty"].attempt.digest == found["misnamed"].attempt.digest == MISSING
    assert found["huge"].attempt.digest != found["large"].attempt.digest
    assert "at most 67,108,864 are accepted" in str(found["huge"].error)
    assert found["misnamed"].error and "atention.py" in str(found["misnamed"].error.hint)


def test_a_link_to_what_somebody_else_handed_in_is_not_followed(tmp_path: Path, s15: Stage) -> None:
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "attention.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "eve").symlink_to("ada")
    found = of(tmp_path, s15)
    assert found["ada"].snapshot is not None and found["eve"].outcome == "rejected"
    assert str(found["eve"].error) == "eve is a link: expected a file, an archive or a folder"


def test_a_file_counts_from_when_it_was_written_and_an_archive_likewise(tmp_path: Path, s15: Stage) -> None:
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "attention.py").write_text("x = 1")
    with zipfile.ZipFile(tmp_path / "bob.zip", "w") as archive:
        archive.writestr("attention.py", "x = 1")
    for path in (tmp_path / "ada" / "attention.py", tmp_path / "bob.zip"):
        os.utime(path, (0, THEN.timestamp()))
    found = of(tmp_path, s15)
    assert [(each.attempt.submitted, each.attempt.clock) for each in found.values()] == [(THEN, "file")] * 2
    assert found["ada"].attempt.digest == found["bob"].attempt.digest
    os.utime(tmp_path / "bob.zip", (0, -(10**15)))  # a clock that jumped
    assert of(tmp_path, s15)["bob"].attempt.clock in ("file", "unknown")


@needs_git
def test_a_revision_counts_from_its_commit_unless_a_list_says_when(tmp_path: Path, s15: Stage) -> None:
    repository = make(tmp_path / "ada")
    commit(repository, {"attention.py": b"x = 1"})
    git(
        repository, "-c", "user.name=Ada", "-c", "user.email=a@example.org", "commit", "--amend", "--quiet", "--no-edit"
    )
    seconds = int(git(repository, "log", "-1", "--format=%ct"))
    (tmp_path / "class.csv").write_text("student,repository,revision\nada,ada,main\nbob,bob,main\n")
    found = of(tmp_path / "class.csv", s15)
    ada = found["ada"]
    assert (ada.attempt.submitted, ada.attempt.clock) == (datetime.fromtimestamp(seconds, UTC), "commit")
    assert ada.snapshot and ada.snapshot.revision == git(repository, "rev-parse", "HEAD")
    assert found["bob"].outcome == "rejected" and "does not exist" in str(found["bob"].error)
    handed = Handed(tmp_path / "ada@main", "ada@main", submitted=THEN)
    (listed,) = taken(Arrival("ada", (handed,)), s15, ROOT, only=True)
    assert (listed.attempt.submitted, listed.attempt.clock) == (THEN, "csv")
