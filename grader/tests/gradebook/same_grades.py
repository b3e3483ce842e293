"""The grades of one made-up class by every way of grading: one job, many, a Dask cluster, `grader check`, among bombs.

The first way fills a gradebook. `grader class regrade` repeats each result with its seed in another way and prints what
differs; `grader check --seed` does so in a process for each submission. Nothing may differ.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.graders import check, class_grade, grader
from benchmarks.processor import BenchmarkError, environment
from benchmarks.submissions import ACTS, MadeUp, hand_in, hostile_text, made_up
from grader.course.manifest import load_course
from grader.course.settings import find_course_root
from grader.course.stage import Course, Stage
from grader.tests.support.cluster import cluster

WAYS = ("many", "dask", "check", "bombs")
BOMBS = ("forks", "swells", "sleeps")
CROWD = 4 * (os.cpu_count() or 1)  # jobs


@dataclass(frozen=True)
class Class:
    """A class that one job has graded, and where its submissions and its gradebook lie."""

    course: Course
    stage: Stage
    submissions: list[MadeUp]
    folder: Path
    isolation: str

    @classmethod
    def graded(
        cls, course: Course, stage: Stage, number: int, folder: Path, isolation: str, acts: Mapping[str, str] = ACTS
    ) -> Class:
        """Make a class up, whose hostile modules have these acts, and grade it."""
        made = cls(course, stage, made_up(stage, "mix", number, acts), folder, isolation)
        hand_in(made.submissions, made.handed)
        made.run(class_grade(stage, made.handed, made.marks, 1, isolation))
        return made

    @property
    def handed(self) -> Path:
        return self.folder / "submissions"

    @property
    def marks(self) -> Path:
        return self.folder / "marks"

    def run(self, command: Sequence[str], expected: Sequence[int] = (0,)) -> str:
        """Run a command and return what it prints; BenchmarkError where it ends otherwise than expected."""
        done = subprocess.run(
            command, cwd=self.course.root, env={**environment(), "COLUMNS": "1000"}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if done.returncode not in expected:
            raise BenchmarkError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return done.stdout

    def regraded(self, *options: str) -> list[str]:
        """Return a line for each student whose result differs when it is repeated."""
        common = ("--out", str(self.marks), "--isolation", self.isolation, "--require-isolation", "process")
        return self.run(grader("class", "regrade", "--stage", self.stage.id, *common, *options)).splitlines()

    def checked(self) -> list[str]:
        """Return a line for each student whose rows differ when `grader check` grades the submission."""
        found = []
        for mark in json.loads(self.run(grader("class", "export", "--out", self.marks, "--format", "json")))["marks"]:
            module = self.handed / f"{mark['student']}.py"
            command = check(self.stage, module, self.isolation)
            if mark["seed"] is not None:
                command += ["--seed", str(mark["seed"])]
            rows = _rows(json.loads(self.run(command, (0, 1, 5))))
            if rows != mark["rows"]:
                found.append(f"{mark['student']}: {rows}, expected {mark['rows']}")
        return found

    def among_bombs(self) -> list[str]:
        """Return a line for each student whose result differs when it is repeated among as many hostile modules."""
        students = [each.name for each in self.submissions if each.kind != "hostile"]
        bombs = [
            MadeUp(f"{name}-{act}", "hostile", f"{hostile_text(self.stage, ACTS[act])}# {name}\n")
            for name, act in zip(students, BOMBS * len(students), strict=False)
        ]
        hand_in(bombs, self.handed)
        self.run(class_grade(self.stage, self.handed, self.marks, CROWD, self.isolation))
        marks = json.loads(self.run(grader("class", "export", "--out", self.marks, "--format", "json")))["marks"]
        names = {each.name for each in bombs}
        passing = [f"{mark['student']} passes" for mark in marks if mark["student"] in names and mark["passed"]]
        lines = self.regraded("--jobs", str(CROWD))
        return passing + [line for line in lines if line.partition(" ")[0] not in names]

    def differences(self, ways: Sequence[str]) -> dict[str, list[str]]:
        """Return by way a line for each student whose result differs from that of one job."""
        found: dict[str, list[str]] = {}
        for way in ways:
            match way:
                case "many":
                    found[way] = self.regraded("--jobs", str(CROWD))
                case "dask":
                    with cluster(self.folder) as address:
                        found[way] = self.regraded("--cluster", address)
                case "check":
                    found[way] = self.checked()
                case _:
                    found[way] = self.among_bombs()
        return found


def _rows(document: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["status"] for row in document["criteria"]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a class up, grade it, and print by way as JSON whose results differ; return 1 where any does."""
    parser = argparse.ArgumentParser(prog="python -m grader.tests.gradebook.same_grades", description=__doc__)
    parser.add_argument("stage", nargs="?", default="s01", help="a stage's id (s01)")
    parser.add_argument("--submissions", type=int, default=500, help="how many are made up (500)")
    parser.add_argument("--way", choices=WAYS, action="append", help="may be repeated; by default all")
    parser.add_argument("--isolation", default="auto", help="the tier (auto)")
    given = parser.parse_args(arguments)
    course = load_course(find_course_root(Path.cwd()))
    with tempfile.TemporaryDirectory(prefix="grader-grades-") as name:
        graded = Class.graded(course, course.find(given.stage), given.submissions, Path(name), given.isolation)
        found = graded.differences(given.way or WAYS)
    print(json.dumps(found, indent=2))
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
