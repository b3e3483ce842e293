"""A small throw-away course, whose files the tests write themselves, and what came of grading a module in it."""

from __future__ import annotations

import itertools
import json
import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course.manifest import load_course
from grader.course.stage import Course, Stage
from grader.judging import grading
from grader.outcome import Outcome
from grader.submission import take
from grader.verdict import Verdict

HEAD = """schema = 1
id = "s90"
title = "Small things"
module = "small.py"
requires = []
"""
MOMENTS = itertools.count(1_700_000_000)


@dataclass
class Graded:
    """A verdict and the outcome of each test by the test's own name."""

    verdict: Verdict
    outcomes: dict[str, Outcome]

    def row(self, criterion: str) -> str:
        return next(row.status for row in self.verdict.criteria if row.id == criterion)


def manifest(rows: Mapping[str, Sequence[str]], top: str = "", **needs: Sequence[str]) -> str:
    """Return the manifest of a stage whose criteria ask for functions, and need others; top stands before them."""
    criteria = [
        f'\n[[criteria]]\nid = "{row}"\ntext = "{row} is right"\nhints = ["a", "b", "c"]\n'
        f"functions = {json.dumps([*functions])}\nneeds = {json.dumps([*needs.get(row, ())])}\n"
        for row, functions in rows.items()
    ]
    return "".join([HEAD, textwrap.dedent(top), *criteria])


class SmallCourse:
    """A course of one stage, s90, whose files the tests write themselves."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "course"
        self.stage_folder = self.root / "stages" / "s90_small"
        self.hidden = folder / "hidden" / "s90_small"
        for path in (self.stage_folder / "tests", self.hidden):
            path.mkdir(parents=True)

    def write(self, *, manifest: str, solution: str, public: str = "", hidden: str = "", mistakes: str = "") -> None:
        """Write the stage anew, without what another test has left in its folders; texts may be indented."""
        for folder in (self.hidden, self.stage_folder / "tests"):
            for path in folder.iterdir():
                if path.is_file():
                    path.unlink()
        self._put(self.stage_folder / "stage.toml", manifest)
        self._put(self.stage_folder / "small.py", solution)
        self._put(self.hidden / "solution.py", solution)
        self._put(self.hidden / "mistakes.py", "from grader.mistakes import mistake\n" + textwrap.dedent(mistakes))
        for path, text in (
            (self.stage_folder / "tests" / "test_small.py", public),
            (self.hidden / "test_hidden.py", hidden),
        ):
            self._put(path, "import numpy as np\nimport pytest\nfrom grader.testing import *\n" + textwrap.dedent(text))

    @staticmethod
    def _put(path: Path, text: str) -> None:
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        moment = next(MOMENTS)  # rewritten test files are kept by time and size; two in one second must differ
        os.utime(path, (moment, moment))

    @property
    def stage(self) -> Stage:
        return self.course.stages[0]

    @property
    def course(self) -> Course:
        return load_course(self.root, self.hidden.parent)

    def grade(self, source: str, *, isolation: str = "process", seed: int = 1, **options: Any) -> Graded:
        """Grade a module's text as `grader check` does."""
        path = self.root.parent / "handed_in.py"
        self._put(path, source)
        found: list[Outcome] = []
        snapshot = take(self.stage, path, self.root)
        verdict = grading.grade(
            self.course, self.stage, snapshot, grading.Options(seed, isolation, **options), found.append
        )
        return Graded(verdict, {outcome.test.rpartition("::")[2]: outcome for outcome in found})
