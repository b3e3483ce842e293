"""A learner's code and a newer stub in one text, or none."""

from __future__ import annotations

import subprocess

import pytest

from grader.setup.merging import merged
from grader.tests.setup.editions import MINE, NEWER, STUB


def test_changes_in_different_places_are_joined() -> None:
    joined = merged(MINE.encode(), STUB.encode(), NEWER.encode())
    assert joined == NEWER.replace('raise NotImplementedError("double")', "return x + x").encode()


def test_changes_of_the_same_lines_are_not() -> None:
    mine = STUB.replace("Return three times x.", "My own words.")
    assert merged(mine.encode(), STUB.encode(), NEWER.encode()) is None


def test_python_stays_python() -> None:
    base, mine, theirs = b"a = 1\n\n\n\n\n\nb = 2\n", b"a = 1\n\n\n\n\n\nb = (\n2)\n", b"a = (\n\n\n\n\n\nb = 2\n"
    assert merged(mine, base, theirs) is None


def test_what_was_no_python_before_may_stay_so() -> None:
    assert merged(b"a = (\n1\n2\n3\n4\n5\n", b"a\n1\n2\n3\n4\n5\n", b"a\n1\n2\n3\n4\n6\n") == b"a = (\n1\n2\n3\n4\n6\n"


def test_a_git_that_does_not_end_is_no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(*arguments: object, **options: object) -> None:
        raise subprocess.TimeoutExpired("git", 30)

    monkeypatch.setattr("subprocess.run", hangs)
    assert merged(MINE.encode(), STUB.encode(), NEWER.encode()) is None
