"""Which stages a change touches: those whose folder, or hidden mirror, differs from a commit."""

from __future__ import annotations

import subprocess

from grader.course.stage import Course, Stage
from grader.errors import UsageError


def touched(course: Course, since: str) -> tuple[Stage, ...]:
    """Return the stages that differ from a commit, changes not yet committed and new files included.

    They are all where the commit is none: its name is of zeros, as GitHub names what was before a branch's first push.
    Raises UsageError where git is missing, or does not know the commit.
    """
    if is_none(since):
        return course.stages
    changed = _git(course, "diff", "--name-only", "--no-renames", "--relative", since, "--")
    fresh = _git(course, "ls-files", "--others", "--exclude-standard")
    folders = {part for line in (*changed, *fresh) for part in line.split("/")[:-1]}
    return tuple(stage for stage in course.stages if stage.name in folders)


def is_none(commit: str) -> bool:
    """Say whether a commit's name is git's for none."""
    return len(commit) in (40, 64) and not commit.strip("0")


def _git(course: Course, *arguments: str) -> list[str]:
    command = ["git", "-c", "core.quotepath=off", *arguments]
    try:
        done = subprocess.run(command, cwd=course.root, capture_output=True, encoding="utf-8", check=False)
    except OSError as error:
        raise UsageError(f"git cannot be run: {error.strerror}", "Name the stages instead of --since.") from error
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise UsageError(f"git {arguments[0]} failed: {reason}", _hint(course, reason))
    return done.stdout.splitlines()


def _hint(course: Course, reason: str) -> str:
    """Say what to do about a failure of git, by its cause."""
    if "not a git repository" in reason.lower():
        return "Name the stages instead of --since, or run it in a clone."
    hint = "Give --since a commit that git knows here, or leave it out to prove every stage. "
    if _git(course, "rev-parse", "--is-shallow-repository") == ["true"]:
        return f"{hint}This clone is shallow: `git fetch --unshallow` brings older commits."
    return f"{hint}After a force push the commit before is gone."
