"""Asking git for objects, also where git is missing, slow or silent."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from grader.errors import GraderFault, SubmissionError
from grader.submission import git as module
from grader.submission.git import Git, opened
from grader.tests.support.repositories import blob, commit, make, needs_git

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for git is a shell's script")


def stand_in(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Return a Git whose program is a script."""
    path = folder / "git"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: str(path))
    return Git(folder, folder, "ada")


@needs_git
class TestObjects:
    def test_several_are_given_one_after_the_other(self, tmp_path: Path) -> None:
        ada = make(tmp_path / "ada")
        found = [blob(ada, data) for data in (b"one", b"", b"two\n")]
        commit(ada, {})
        with opened(ada, "ada") as git:
            assert [git.content(each, "blob", 10, "x") for each in found] == [b"one", b"", b"two\n"]

    def test_another_kind_of_object_is_refused(self, tmp_path: Path) -> None:
        ada = make(tmp_path / "ada")
        found = blob(ada, b"one")
        with opened(ada, "ada") as git, pytest.raises(SubmissionError, match="lacks tree"):
            git.content(found, "tree", 10, "x")

    def test_a_large_object_is_refused_before_it_is_read(self, tmp_path: Path) -> None:
        ada = make(tmp_path / "ada")
        found = blob(ada, bytes(10 << 20))
        with opened(ada, "ada") as git, pytest.raises(SubmissionError, match="x has 10,485,760 bytes: at most 10"):
            git.content(found, "blob", 10, "x")


class TestGitItself:
    def test_where_it_is_missing_that_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shutil.which", lambda name: None)
        with pytest.raises(GraderFault, match="ada cannot be read: git is not installed"):
            Git(tmp_path, tmp_path, "ada").commit("HEAD")

    def test_where_it_cannot_be_started_that_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shutil.which", lambda name: str(tmp_path))
        with pytest.raises(GraderFault, match="git does not start"):
            Git(tmp_path, tmp_path, "ada").commit("HEAD")

    @posix_only
    def test_one_that_never_answers_is_ended(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "SECONDS", 0.5)
        git = stand_in(tmp_path, "exec sleep 60", monkeypatch)
        started = time.monotonic()
        with pytest.raises(SubmissionError, match="git gave up, or took more than"):
            git.commit("HEAD")
        with pytest.raises(SubmissionError, match="git gave up, or took more than"):
            git.content("1" * 40, "blob", 10, "x")
        git.close()
        assert time.monotonic() - started < 20

    @posix_only
    def test_one_that_a_signal_ends_has_given_up(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        git = stand_in(tmp_path, "kill -XCPU $$", monkeypatch)
        with pytest.raises(SubmissionError, match="git gave up, or took more than"):
            git.commit("HEAD")

    @posix_only
    @pytest.mark.parametrize(
        ("script", "message"),
        [
            ("exit 1", "git gave up"),
            (f"read id; printf '{'1' * 40} blob 9\\nabc'", "git gave up"),
            ("exec yes", "is broken: it lacks blob"),
            (f"read id; printf '{'1' * 40} blob -5\\n'", "is broken: it lacks blob"),
            (f"read id; printf '{'2' * 40} blob 1\\nab'", "is broken: it lacks blob"),
            ("exec head -c 1000000 /dev/zero", "is broken: it lacks blob"),
        ],
    )
    def test_what_it_should_not_say_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
    ) -> None:
        git = stand_in(tmp_path, script, monkeypatch)
        with pytest.raises(SubmissionError, match=message):
            git.content("1" * 40, "blob", 10, "x")
        git.close()

    @posix_only
    def test_a_revision_that_it_names_otherwise_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        git = stand_in(tmp_path, "echo main", monkeypatch)
        with pytest.raises(SubmissionError, match="ada has no revision 'HEAD' that is a commit"):
            git.commit("HEAD")
