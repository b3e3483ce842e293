"""The first commit of a folder, on machines with git, without it, and with one that is in a bad mood."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.setup import first_commit as module
from grader.setup.first_commit import first_commit

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
