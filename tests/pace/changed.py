"""What differs from a commit: tests of the full matrix that are about it are run as well."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.places import ROOT, TESTS


def since(commit: str, root: Path = ROOT) -> frozenset[str]:
    """Return the files that differ from a commit, committed or not, as paths below root."""
    command = ["git", "diff", "--name-only", "--no-renames", "--relative", commit, "--"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise pytest.UsageError(f"--changed-since {commit}: {done.stderr.strip() or 'git diff failed'}")
    return frozenset(done.stdout.splitlines())


def concerned(test: Path, about: Iterable[str], changed: Iterable[str]) -> bool:
    """Say whether a test is about one of the files that have changed: its own, its room's, or one below about."""
    places = [test.relative_to(ROOT).as_posix(), *about] if test.is_relative_to(ROOT) else [*about]
    if test.is_relative_to(TESTS) and test.parent != TESTS:
        room = test.relative_to(TESTS).parts[0]
        places += [f"grader/{room}", f"tests/{room}"]
    return any(file == place or file.startswith(f"{place}/") for file in changed for place in places)
