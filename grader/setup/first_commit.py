"""The first commit of a learner's folder, where git is there; that it cannot be made never fails anything."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

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
