"""A git folder that borrows another's objects; what it refuses is in revision/test_refused.py, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import GraderFault, SubmissionError
from grader.submission import borrowed
from grader.submission.borrowed import borrow
from grader.tests.support.repositories import commit, git, make, needs_git

pytestmark = needs_git


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    repository = make(tmp_path / "ada")
    commit(repository, {"attention.py": b""})
    return repository


@pytest.fixture
def room(tmp_path: Path) -> Path:
    (tmp_path / "room").mkdir()
    return tmp_path / "room"


def test_names_are_copied_and_settings_are_not(ada: Path, room: Path) -> None:
    git(ada, "config", "core.sshCommand", "touch sign")
    assert borrow(ada, room, "ada") == ada / ".git" / "objects"
    assert (room / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert (room / "refs/heads/main").read_text() == (ada / ".git/refs/heads/main").read_text()
    assert "sshCommand" not in (room / "config").read_text()
    assert not (room / "hooks").exists()


def test_too_many_files_are_refused(ada: Path, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(borrowed, "MAX_FILES", 3)
    with pytest.raises(SubmissionError, match="ada has more than 3 files in its objects"):
        borrow(ada, room, "ada")


def test_names_that_take_more_than_their_budget_are_refused(
    ada: Path, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(borrowed, "MAX_NAMES", 4095)
    with pytest.raises(SubmissionError, match="ada has branches and tags that take more than 4,095 bytes") as caught:
        borrow(ada, room, "ada")
    assert "git pack-refs --all" in str(caught.value.hint) and not list(room.glob("HEAD"))


def test_a_room_that_takes_nothing_is_no_fault_of_the_repository(ada: Path, room: Path) -> None:
    (room / "objects").mkdir()
    with pytest.raises(GraderFault, match="ada cannot be read: the temporary folder cannot be written: File"):
        borrow(ada, room, "ada")
