"""Which stages a change touches, seen in small repositories of git."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from grader.authoring.touched import touched
from grader.course.stage import Course, Stage
from grader.errors import UsageError

STAGES = ("s01_numbers", "s02_sums", "s03_means")


def git(folder: Path, *arguments: str) -> str:
    """Run git as nobody in particular."""
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def write(course: Course, file: str, text: str = "new\n") -> None:
    path = course.root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course of three stages in a repository with one commit."""
    found = Course(
        tmp_path, tuple(Stage(name[:3], tmp_path / "stages" / name, name, "m.py", (), ()) for name in STAGES)
    )
    for name in STAGES:
        write(found, f"stages/{name}/README.md", "old\n")
        write(found, f"hidden/{name}/solution.py", "old\n")
    write(found, ".gitignore", "*.pyc\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    return found


def names(course: Course, since: str = "HEAD") -> list[str]:
    return [stage.id for stage in touched(course, since)]


def test_where_nothing_differs_no_stage_is_touched(course: Course) -> None:
    assert names(course) == []


def test_a_change_that_is_committed(course: Course) -> None:
    write(course, "stages/s02_sums/README.md")
    git(course.root, "commit", "--quiet", "--all", "-m", "second")
    assert (names(course), names(course, "HEAD~1")) == ([], ["s02"])


@pytest.mark.parametrize("staged", [False, True])
def test_a_change_that_is_not_yet_committed(course: Course, staged: bool) -> None:
    write(course, "stages/s02_sums/README.md")
    if staged:
        git(course.root, "add", ".")
    assert names(course) == ["s02"]


@pytest.mark.parametrize("file", ["stages/s03_means/tests/test_new.py", "hidden/s03_means/alternatives/é a.py"])
def test_a_new_file(course: Course, file: str) -> None:
    write(course, file)
    assert names(course) == ["s03"]


def test_a_file_that_git_ignores_is_no_change(course: Course) -> None:
    write(course, "stages/s03_means/m.pyc")
    assert names(course) == []


def test_a_file_of_the_hidden_mirror(course: Course) -> None:
    write(course, "hidden/s01_numbers/solution.py")
    assert names(course) == ["s01"]


def test_a_file_that_is_gone(course: Course) -> None:
    (course.root / "stages" / "s01_numbers" / "README.md").unlink()
    assert names(course) == ["s01"]


def test_a_file_that_moved_touches_both_stages(course: Course) -> None:
    write(course, "stages/s01_numbers/more.md", "a text that is moved as it is\n" * 9)
    git(course.root, "add", ".")
    git(course.root, "commit", "--quiet", "-m", "second")
    git(course.root, "mv", "stages/s01_numbers/more.md", "stages/s03_means/more.md")
    assert names(course) == ["s01", "s03"]


def test_what_belongs_to_no_stage_touches_none(course: Course) -> None:
    write(course, "grader/check.py")
    write(course, "stages/s02_sums.md")
    write(course, "stages/s02/README.md")
    assert names(course) == []


def test_changes_beside_a_course_within_a_larger_repository_do_not_count(course: Course) -> None:
    inner = replace(course, root=course.root / "stages")
    write(course, "stages/s01_numbers/README.md")
    write(course, "hidden/s02_sums/solution.py")
    assert names(inner) == ["s01"]


def test_a_commit_that_git_does_not_know(course: Course) -> None:
    with pytest.raises(UsageError, match=r"git diff failed: .*no-such-commit") as caught:
        touched(course, "no-such-commit")
    assert str(caught.value.hint).startswith(
        "Give --since a commit that git knows here, or leave it out to prove every"
    )


def test_a_commit_that_a_force_push_took_away(course: Course) -> None:
    with pytest.raises(UsageError, match=f"git diff failed: .*{'12' * 20}") as caught:
        touched(course, "12" * 20)
    assert "After a force push the commit before is gone" in str(caught.value.hint)


@pytest.mark.parametrize("length", [40, 64])
def test_of_no_commit_every_stage_differs(course: Course, length: int) -> None:
    assert names(course, "0" * length) == ["s01", "s02", "s03"]
    with pytest.raises(UsageError, match="git diff failed"):
        touched(course, "0" * (length - 1))


def test_a_course_outside_of_any_repository(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    (course.root / ".git").rename(course.root / "git")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(course.root.parent))
    with pytest.raises(UsageError, match="git diff failed: "):
        touched(course, "HEAD")


def test_a_machine_without_git(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(course.root))
    with pytest.raises(UsageError, match="git cannot be run: No such file") as caught:
        touched(course, "HEAD")
    assert caught.value.hint == "Name the stages instead of --since."
