"""A learner's folder is made whole, or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.setup import course_files, making
from grader.setup import making as module
from grader.setup.making import editor_files, first_commit, make
from tests.setup.editions import edition, texts


@pytest.mark.parametrize("there", [True, False], ids=["empty", "new"])
def test_a_new_or_empty_folder_takes_every_file(tmp_path: Path, there: bool) -> None:
    target = tmp_path / "a" / "course"
    if there:
        target.mkdir(parents=True)
    names = make(edition(), target)
    assert texts(target) == {name: data.decode() for name, data in edition().files.items()}
    assert set(names) == set(edition().files)


def test_a_folder_that_holds_anything_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".hidden").write_text("mine")
    with pytest.raises(UsageError, match="is not empty, and nothing in it is overwritten") as caught:
        make(edition(), tmp_path)
    assert texts(tmp_path) == {".hidden": "mine"} and caught.value.hint == "Name a new or an empty folder."


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="file cannot be used: Not a directory"):
        make(edition(), tmp_path / "file")


@pytest.mark.parametrize("there", [True, False], ids=["empty", "new"])
@pytest.mark.parametrize("error", [UsageError("the disk is full"), KeyboardInterrupt()])
def test_where_it_cannot_be_written_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool, error: BaseException
) -> None:
    target, left = tmp_path / "course", iter(range(3))
    if there:
        target.mkdir()

    def until_full(path: Path, data: bytes) -> None:
        if next(left, None) is None:
            raise error
        course_files.write(path, data)

    monkeypatch.setattr(making, "write", until_full)
    with pytest.raises(type(error)):
        make(edition(), target)
    assert list(tmp_path.rglob("*")) == ([target] if there else [])


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="file/course cannot be"):
        make(edition(), tmp_path / "file" / "course")


def test_an_editor_gets_settings_that_are_json(tmp_path: Path) -> None:
    make(edition(), tmp_path / "course", ("vscode",))
    found = {path.name: json.loads(path.read_text()) for path in (tmp_path / "course" / ".vscode").iterdir()}
    assert found["settings.json"]["python.testing.pytestArgs"] == ["stages"]
    assert found["tasks.json"]["tasks"][0]["args"][:2] == ["check", "${file}"]


def test_an_editor_that_is_not_known_is_told() -> None:
    with pytest.raises(UsageError, match="there are no settings for the editor 'vim'") as caught:
        editor_files("vim")
    assert caught.value.hint == "Choose vscode."


SHELL = pytest.mark.skipif(sys.platform == "win32", reason="it plays git with a shell script")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file that most people's git ignores, on a machine where git knows nobody's name."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    (tmp_path / "settings").write_text("[user]\nuseConfigOnly = true\n[core]\nexcludesFile = ignored\n")
    (tmp_path / "ignored").write_text("*.key\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "tests.key").write_text("key")
    return tmp_path / "course"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_everything_is_committed_though_nobody_has_a_name(folder: Path) -> None:
    assert first_commit(folder) is None
    assert git(folder, "log", "--format=%an <%ae> %s") == "learner <learner@localhost> The course as it begins"
    assert git(folder, "ls-files") == "tests.key" and git(folder, "status", "--porcelain") == ""
    assert git(folder, "branch", "--show-current") == "main"


def test_a_name_that_git_knows_is_taken(folder: Path) -> None:
    (folder.parent / "settings").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    assert first_commit(folder) is None
    assert git(folder, "log", "--format=%an <%ae>") == "Ada <ada@example.org>"


@SHELL
def test_hooks_signatures_and_another_repository_of_the_environment_are_left_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.parent / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (folder.parent / "pre-commit").chmod(0o755)
    (folder.parent / "settings").write_text(
        f"[core]\nhooksPath = {folder.parent.as_posix()}\n[commit]\ngpgsign = true\n[user]\nsigningKey = none\n"
    )
    monkeypatch.setenv("GIT_DIR", str(folder.parent / "elsewhere"))
    assert first_commit(folder) is None
    monkeypatch.delenv("GIT_DIR")
    assert not (folder.parent / "elsewhere").exists() and git(folder, "rev-list", "--count", "HEAD") == "1"


def test_a_folder_in_a_repository_gets_none_of_its_own(folder: Path) -> None:
    git(folder, "init", "--quiet")
    (folder / "inner").mkdir()
    assert first_commit(folder / "inner") == "the folder lies in a git repository already"
    assert not (folder / "inner" / ".git").exists()


def test_without_git_there_is_no_commit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert first_commit(folder) == "git is not installed"


@SHELL
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo out of order >&2; exit 3", "out of order"),
        ("exit 3", "git ended with 3"),
        ("sleep 60", "git did not work"),
    ],
)
def test_a_git_that_fails_fails_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    fake = folder.parent / "git"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: str(fake))
    monkeypatch.setattr(module, "SECONDS", 0.5 if "sleep" in script else 30.0)
    assert reason in str(first_commit(folder))
