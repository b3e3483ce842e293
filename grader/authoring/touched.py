"""Which stages a change touches: those whose folder, or hidden mirror, differs from a commit."""

from __future__ import annotations

import subprocess

from grader.course.stage import Course, Stage
from grader.errors import UsageError


def touched(course: Course, since: str) -> tuple[Stage, ...]:
    """Return the stages that differ from a commit, changes not yet committed and new files included.

    Raises UsageError where git is missing, or does not know the commit.
    """
    changed = _git(course, "diff", "--name-only", "--no-renames", "--relative", since, "--")
    fresh = _git(course, "ls-files", "--others", "--exclude-standard")
    folders = {part for line in (*changed, *fresh) for part in line.split("/")[:-1]}
    return tuple(stage for stage in course.stages if stage.name in folders)


def _git(course: Course, *arguments: str) -> list[str]:
    command = ["git", "-c", "core.quotepath=off", *arguments]
    try:
        done = subprocess.run(command, cwd=course.root, capture_output=True, encoding="utf-8", check=False)
    except OSError as error:
        raise UsageError(f"git cannot be run: {error.strerror}", "Name the stages instead of --since.") from error
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise UsageError(f"git {arguments[0]} failed: {reason}", "Give --since a commit that git knows here.")
    return done.stdout.splitlines()
