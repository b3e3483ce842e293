"""What has changed decides which tests of the full matrix are run as well."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from grader.tests.pace import changed
from grader.tests.support.places import HOUSE, ROOT

WEB = HOUSE / "tests" / "web" / "test_browser.py"
TOP = HOUSE / "tests" / "test_road.py"


@pytest.mark.parametrize(
    ("test", "about", "file", "expected"),
    [
        (WEB, (), "grader/web/pages.py", True),
        (WEB, (), "grader/tests/web/made.py", True),
        (WEB, (), "grader/tests/web/test_browser.py", True),
        (WEB, (), "grader/webbing.py", False),
        (WEB, (), "grader/watching/plain.py", False),
        (WEB, ("stages",), "stages/s01_matrix_operations/README.md", True),
        (TOP, ("hatch_build.py",), "hatch_build.py", True),
        (TOP, ("hatch_build.py",), "grader/tests/test_flow.py", False),
        (TOP, (), "grader/tests/test_road.py", True),
        (Path("/elsewhere/test_a.py"), (), "grader/web/pages.py", False),
    ],
)
def test_a_test_is_about_its_room_and_what_its_mark_names(
    test: Path, about: tuple[str, ...], file: str, expected: bool
) -> None:
    assert changed.concerned(test, about, {file, "README.md"}) == expected
    assert not changed.concerned(test, about, ())


def test_files_that_differ_from_a_commit_are_found_committed_or_not(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=tmp_path, check=True)

    git("init", "-q")
    for name in ("kept.py", "committed.py", "edited.py"):
        (tmp_path / name).write_text("x = 1\n")
    git("add", ".")
    git("commit", "-qm", "first")
    (tmp_path / "committed.py").write_text("x = 2\n")
    git("commit", "-qam", "second")
    (tmp_path / "edited.py").write_text("x = 2\n")
    assert changed.since("HEAD~1", tmp_path) == {"committed.py", "edited.py"}


def test_a_commit_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(pytest.UsageError, match="--changed-since nowhere: "):
        changed.since("nowhere", tmp_path)


def test_what_a_mark_of_the_full_matrix_names_is_there() -> None:
    named = re.compile(r"pytest\.mark\.(?:full_matrix|some_of)\(([^)]*)\)")
    marks = [
        (path, mark) for path in (HOUSE / "tests").rglob("test_*.py") for mark in named.findall(path.read_text("utf-8"))
    ]
    places = [(path.name, place) for path, mark in marks for place in re.findall(r'"([^"]+)"', mark)]
    assert len(places) > 10
    assert [(name, place) for name, place in places if not (ROOT / place).exists()] == []
