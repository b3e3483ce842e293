"""`grader init` and `grader update` as a learner meets them, with a made-up course in the grader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.setup import edition as edition_file
from grader.setup.edition import Edition, packed
from tests.setup.editions import MINE, MODULE, NEWER, edition, texts
from tests.support.command import Command
from tests.support.places import HOUSE

README = "stages/s01_numbers/README.md"


@pytest.fixture
def run(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command in a new folder, from where nothing finds this repository."""
    monkeypatch.setattr("grader.setup.edition.PLACE", tmp_path / "course.zip")
    monkeypatch.setattr("grader.setup.wheel.engine_paths", lambda left_out=(): [HOUSE / "__init__.py"])
    monkeypatch.setattr("grader.course.settings.HOUSE", tmp_path / "installed" / "grader")
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return command


def bring(given: Edition) -> None:
    """Have the grader come with this course."""
    edition_file.PLACE.write_bytes(packed(given.files))


@pytest.fixture
def at_0_1(run: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """In a learner's folder of course 0.1.0."""
    bring(edition("0.1.0"))
    assert run("init", "my course").code == 0
    monkeypatch.chdir("my course")
    return run


def test_init_says_what_it_made_and_what_comes_next(run: Command) -> None:
    bring(edition("0.1.0"))
    done = run("init", "my course", "--editor", "vscode")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        "my course holds the course, version 0.1.0: 1 stage.",
        "No git commit was made: git is not installed.",
        "Next: `cd 'my course'`, then `grader`.",
    ]
    assert (Path("my course") / MODULE).is_file() and (Path("my course") / ".vscode" / "settings.json").is_file()


def test_init_in_the_current_folder_without_git(run: Command) -> None:
    bring(edition("0.1.0"))
    done = run("init", ".", "--no-git")
    assert done.code == 0 and "git" not in done.err and done.err.endswith("Next: `grader`.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("init", "."), "error: . is not empty, and nothing in it is overwritten\n"),
        (("init", "new", "--editor", "vim"), "error: there are no settings for the editor 'vim'\n"),
    ],
)
def test_init_refuses_what_it_cannot_do_and_writes_nothing(
    run: Command, arguments: tuple[str, ...], message: str
) -> None:
    bring(edition("0.1.0"))
    Path("mine.txt").write_text("mine")
    done = run(*arguments)
    assert done.code == 2 and done.err.startswith(message)
    assert texts(Path()) == {"mine.txt": "mine"}


@pytest.mark.parametrize("words", [(), ("status",), ("check", "s01"), ("show", "s01"), ("update",)])
def test_a_folder_that_is_no_course_gets_one_line(run: Command, words: tuple[str, ...]) -> None:
    bring(edition("0.1.0"))
    done = run(*words)
    (line,) = done.err.splitlines()
    assert done.code == 2
    assert line == "error: this folder does not hold a course: `grader init my-course` makes one to learn in"


def test_update_tells_each_file_and_keeps_what_was_mine(at_0_1: Command) -> None:
    Path(MODULE).write_text(MINE)
    Path(README).write_text("mine")
    bring(edition("0.2.0", {MODULE: NEWER, README: "# New\n"}))
    told = at_0_1("update", "--dry-run")
    done = at_0_1("update")
    assert done.out == told.out
    assert done.out.splitlines() == [
        f"{MODULE}.new  the new stub, which could not be merged into your code",
        f"{README:<{len(MODULE) + 4}}  replaced; your version is kept",
        "and the grader's wheel",
        "and 4 files of the sealed tests",
    ]
    assert "course 0.1.0 -> 0.2.0" in done.err and "is kept in .grader/backups/update-" in done.err
    assert Path(MODULE).read_text() == MINE and Path(f"{MODULE}.new").read_text() == NEWER
    assert at_0_1("update").err == "This folder has course 0.2.0 already: nothing is to be changed.\n"


def test_update_puts_back_what_is_missing_of_the_same_course(at_0_1: Command) -> None:
    Path(MODULE).unlink()
    assert at_0_1("update", "--dry-run").err.startswith("1 file would change: course 0.1.0, as this grader brings it. ")
    assert at_0_1("update").err == "1 file changed: course 0.1.0, as this grader brings it. Your progress stays.\n"
    assert Path(MODULE).is_file()


def test_update_prints_a_document(at_0_1: Command) -> None:
    Path(README).write_text("mine")
    bring(edition("0.2.0", {README: "# New\n"}))
    found = at_0_1("update", "--json", "--dry-run").json
    changes = found.pop("changes")
    assert found == {"schema": 1, "from": "0.1.0", "to": "0.2.0", "dry_run": True}
    (readme,) = (each for each in changes if each["path"] == README)
    assert readme["action"] == "replace" and readme["backup"].endswith(f"/{README}")
    assert {each["backup"] for each in changes if each is not readme} == {None}
    assert json.loads(at_0_1("update", "--json").out)["dry_run"] is False
    assert at_0_1("update", "--json").json["changes"] == []
