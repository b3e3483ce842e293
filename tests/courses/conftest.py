"""A small course without NumPy, and the command in a copy of it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import cli
from tests.support.command import Done

WORDS = Path(__file__).parent / "words"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The course in a folder of the test's own."""
    return Path(shutil.copytree(WORDS, tmp_path / "words", ignore=shutil.ignore_patterns("__pycache__", ".grader")))


@pytest.fixture
def grader(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """The command, in the course's folder."""
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["grader", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        captured = capsys.readouterr()
        return Done(int(left.value.code or 0), captured.out, " ".join(captured.err.split()))

    return run


def solution(stage: str) -> Path:
    return next((WORDS / "hidden").glob(f"{stage}_*/solution.py"))
