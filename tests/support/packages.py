"""A package of somebody else as an installer leaves it in a folder of Python's path: a module, and its entry points."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

MODULE = """
from grader.report.formats import Format
from grader.report.terminal.words import reached_words


def words(report, scene):
    return "\\n".join(f"{each.stage}: {reached_words(each)}" for each in report.verdicts)


def students(entries):
    return " ".join(each.student for each in entries)


WORDS = Format("words", words)
STUDENTS = Format("students", students)
"""


def installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, group: str, name: str, place: str = "their_words:WORDS"
) -> None:
    """Put a package into a folder, and the folder on the path; its entry point of that group and name is at place."""
    folder = folder / "site"
    about = folder / "their_words-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "their_words.py").write_text(MODULE, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-words\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[{group}]\n{name} = {place}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "their_words", raising=False)
