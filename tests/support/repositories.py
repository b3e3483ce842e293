"""Git repositories for tests: made anew, without the settings of whoever runs them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
_SETTINGS = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "Ada", "GIT_COMMITTER_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_EMAIL": "ada@example.org",
}  # fmt: skip


def git(repository: Path, *arguments: str, given: bytes | None = None) -> str:
    """Run git in a repository, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _SETTINGS
    done = subprocess.run(
        ["git", "-C", str(repository), *arguments], input=given, capture_output=True, check=True, env=environment
    )
    return done.stdout.decode().strip()


def make(folder: Path, *options: str) -> Path:
    """Return an empty repository with a branch named main."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main", *options)
    return folder


def commit(repository: Path, files: dict[str, bytes], message: str = "work") -> str:
    """Write files, commit all that is there, and return the commit's name."""
    for name, data in files.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(repository, "rev-parse", "HEAD")


def commit_tree(repository: Path, entries: list[tuple[str, str, str]]) -> str:
    """Return a commit of exactly these entries, which no working tree needs to be able to hold: mode, id, name."""
    kinds = {"040000": "tree", "160000": "commit"}
    lines = "".join(f"{mode} {kinds.get(mode, 'blob')} {object_id}\t{name}\0" for mode, object_id, name in entries)
    tree = git(repository, "mktree", "-z", "--missing", given=lines.encode())
    return git(repository, "commit-tree", tree, "-m", "made by hand")


def blob(repository: Path, data: bytes) -> str:
    """Return the name of an object with these bytes."""
    return git(repository, "hash-object", "-w", "--stdin", given=data)
