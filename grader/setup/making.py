"""A learner's folder, made from the course that comes with the grader, and its first commit where git is there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from grader.errors import UsageError
from grader.setup.course_files import remove, write
from grader.setup.edition import Edition
from grader.setup.editors import editor_settings, encoded

FREE = "Name a new or an empty folder."


def make(edition: Edition, target: Path, editors: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Write the files of a learner's folder into a new or empty one and return their names.

    Raises UsageError where target cannot take them; what was written until then is removed again.
    """
    files = {
        **edition.files,
        **edition.wheel,
        **{name: data for editor in editors for name, data in editor_files(editor).items()},
    }
    _expect_free(target)
    there = target.exists()
    try:
        for name, data in sorted(files.items()):
            write(target / name, data)
    except BaseException:
        _undo(target, files, there)
        raise
    return tuple(sorted(files))


def editor_files(editor: str) -> dict[str, bytes]:
    """Return the settings of an editor, by their path in the folder; UsageError for one that is not known."""
    return {name: encoded(values) for name, values in editor_settings(editor).items()}


def _expect_free(target: Path) -> None:
    """Raise UsageError unless target is a new or an empty folder."""
    try:
        taken = any(target.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{target} cannot be used: {error.strerror}", FREE) from error
    if taken:
        raise UsageError(f"{target} is not empty, and nothing in it is overwritten", FREE)


def _undo(target: Path, files: Mapping[str, bytes], was_there: bool) -> None:
    """Remove what was written; nothing else lay there."""
    with suppress(UsageError):
        for name in files:
            remove(target, name)
    if not was_there:
        with suppress(OSError):
            target.rmdir()


SECONDS = 60.0
IDENTITY = {
    *(f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL", "DATE")),
    *(f"GIT_CONFIG_{which}" for which in ("GLOBAL", "SYSTEM", "NOSYSTEM")),
}
MESSAGE = "The course as it begins"
SOMEBODY = ("-c", "user.name=learner", "-c", "user.email=learner@localhost")  # where git knows no name


def first_commit(folder: Path) -> str | None:
    """Make a repository with one commit; return why there is none, or None where there is."""
    git = shutil.which("git")
    if git is None:
        return "git is not installed"
    try:
        if _run(git, folder, "rev-parse", "--is-inside-work-tree").returncode == 0:
            return "the folder lies in a git repository already"
        for step in (("-c", "init.defaultBranch=main", "init", "--quiet"), ("add", "--all", "--force")):
            if (done := _run(git, folder, *step)).returncode != 0:
                return _said(done)
        commit = ("-c", "commit.gpgsign=false", "commit", "--quiet", "--no-verify", "-m", MESSAGE)
        done = _run(git, folder, *commit)
        if done.returncode != 0:
            done = _run(git, folder, *SOMEBODY, *commit)
        return _said(done) if done.returncode != 0 else None
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"git did not work: {error}"


def _run(git: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git in the folder, without what the environment says of another repository, and without a question."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in IDENTITY}
    return subprocess.run(
        [git, *arguments], cwd=folder, env={**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"},
        stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", timeout=SECONDS, check=False,
    )  # fmt: skip


def _said(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[0] if lines else f"git ended with {done.returncode}"
