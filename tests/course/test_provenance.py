"""What a result was made with: commits are read without git, changes are asked of it, copies have a release."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grader.course.manifest import load_course
from grader.course.provenance import STUDENT, UNKNOWN, Provenance, head, provenance_of
from grader.course.sealed import RECORD
from tests.support.copies import NAME, SmallCopy
from tests.support.good_stage import write_stage
from tests.support.repositories import commit, git, make, needs_git


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course in a repository, with its hidden files, as its author has it."""
    root = make(tmp_path / "course")
    write_stage(root / "stages", root / "hidden", NAME)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", "first")
    return root


def made(root: Path) -> Provenance:
    return provenance_of(load_course(root, root / "hidden"))


@needs_git
class TestCheckout:
    def test_commit_python_and_numpy_are_named(self, course: Path) -> None:
        found = made(course)
        assert (found.commit, found.changed, found.release) == (git(course, "rev-parse", "HEAD"), False, None)
        assert (found.python, found.numpy) == (".".join(map(str, sys.version_info[:3])), np.__version__)

    @pytest.mark.parametrize(
        ("path", "changed"),
        [
            (f"stages/{NAME}/small.py", False),
            ("notes.txt", False),
            (f"stages/{NAME}/stage.toml", True),
            ("hidden/more.py", True),
            ("grader/new.py", True),
        ],
    )
    def test_what_grades_may_have_changed_but_not_what_is_graded(self, course: Path, path: str, changed: bool) -> None:
        (course / path).parent.mkdir(exist_ok=True)
        with (course / path).open("a", encoding="utf-8") as file:
            file.write("\n# changed\n")
        found = made(course)
        assert found.changed is changed
        assert ("(changed since)" in found.words) is changed

    def test_a_repository_that_git_does_not_read_is_not_called_unchanged(
        self, course: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def missing(*_: object, **__: object) -> None:
            raise FileNotFoundError("git")

        monkeypatch.setattr(subprocess, "run", missing)
        assert (made(course).commit is not None, made(course).changed) == (True, None)

    def test_a_course_without_a_repository_has_no_commit(self, tmp_path: Path) -> None:
        write_stage(tmp_path / "stages", tmp_path / "hidden", NAME)
        found = made(tmp_path)
        assert (found.commit, found.changed, found.release) == (None, None, None)
        assert found.python is not None


@needs_git
class TestHead:
    def test_branches_packed_names_worktrees_and_detached_heads_are_read(self, tmp_path: Path) -> None:
        root = make(tmp_path / "repository")
        name = commit(root, {"a": b"1"})
        assert head(root) == name
        git(root, "worktree", "add", "--quiet", str(tmp_path / "tree"))
        assert head(tmp_path / "tree") == name
        git(root, "pack-refs", "--all")
        assert head(root) == head(tmp_path / "tree") == name
        git(root, "checkout", "--quiet", "--detach")
        assert head(root) == name

    def test_an_empty_or_broken_repository_has_none(self, tmp_path: Path) -> None:
        root = make(tmp_path / "empty")
        assert head(root) is None
        (root / ".git" / "HEAD").write_bytes(b"\xff")
        assert head(root) is None
        assert head(tmp_path) is None


class TestCopy:
    @pytest.mark.parametrize("gitdir", ["gitdir: a\0b", "\0" * 40])
    def test_a_file_that_a_crash_of_the_machine_left_is_no_repository(self, tmp_path: Path, gitdir: str) -> None:
        (tmp_path / ".git").write_text(gitdir)
        assert head(tmp_path) is None

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names of POSIX")
    def test_a_pipe_in_a_files_place_is_not_waited_for(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        os.mkfifo(tmp_path / ".git" / "HEAD")
        assert head(tmp_path) is None

    @needs_git
    def test_of_hidden_tests_behind_a_link_a_repository_knows_no_changes(self, course: Path) -> None:
        (course / "hidden").rename(course.parent / "elsewhere")
        (course / "hidden").symlink_to(course.parent / "elsewhere")
        found = made(course)
        assert (found.commit, found.changed) == (git(course, "rev-parse", "HEAD"), None)

    def test_a_copy_has_a_release_and_no_commit(self, tmp_path: Path) -> None:
        copy = SmallCopy(tmp_path)
        found = provenance_of(copy.course())
        record = (copy.hidden / RECORD).read_bytes()
        assert (found.commit, found.release, found.changed) == (None, hashlib.sha256(record).hexdigest(), False)
        assert found.words.startswith(f"course release {found.release[:12]} · Python " if found.release else "-")

    @pytest.mark.parametrize(("name", "changed"), [("small.py", False), ("stage.toml", True)])
    def test_a_changed_copy_says_so(self, tmp_path: Path, name: str, changed: bool) -> None:
        copy = SmallCopy(tmp_path)
        (copy.root / "stages" / NAME / name).write_text("x = 1\n", encoding="utf-8")
        course = load_course(copy.author.root, copy.author.root / "hidden")
        assert provenance_of(type(course)(copy.root, ())).changed is changed

    def test_a_record_that_cannot_be_read_says_nothing_of_changes(self, tmp_path: Path) -> None:
        copy = SmallCopy(tmp_path)
        (copy.hidden / RECORD).write_text("{", encoding="utf-8")
        assert provenance_of(copy.course()).changed is None


def test_what_is_unknown_is_not_told() -> None:
    assert UNKNOWN.words == ""
    assert Provenance(student="class/ada", revision="d" * 40).words == "student class/ada · revision dddddddddddd"


@pytest.mark.parametrize("name", ["ada", "Ada Lovelace", "class/ada", "ada@example.org", "Zoë"])
def test_names_of_students_are_words(name: str) -> None:
    assert STUDENT.fullmatch(name)


@pytest.mark.parametrize("name", ["", " ada", "ada ", "a\nb", "a\x1b[2J", "a" * 101, "<b>"])
def test_nothing_else_is(name: str) -> None:
    assert not STUDENT.fullmatch(name)
