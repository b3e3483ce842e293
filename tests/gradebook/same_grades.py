"""The grades of one made-up class by every way of grading. Nothing may differ.

One job fills a gradebook. `grader class regrade` repeats each result with its seed in many jobs, on a Dask cluster and
among bombs, and prints what differs. `grader check --seed` does so in a process for each submission; what grades for
`grader watch` and `grader serve` takes one as a save after the other; `grader course verify` grades those that it
knows: right modules, in the judge itself, and known mistakes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.graders import check, class_grade, grader
from benchmarks.processor import BenchmarkError, environment
from benchmarks.saves import copied
from benchmarks.submissions import ACTS, MadeUp, hand_in, hostile_text, made_up
from grader.authoring import proof
from grader.authoring.cases import ProofCase
from grader.course.manifest import load_course
from grader.course.settings import find_course_root
from grader.course.stage import Course, Stage
from grader.gradebook.store import FILE
from grader.progress import actions
from grader.progress.workspace import open_workspace
from grader.verdict import Verdict
from grader.watching.service import Service
from tests.support.cluster import cluster

WAYS = ("many", "dask", "check", "watch", "verify", "bombs")
VERIFIED = ("right", "wrong")  # kinds of submissions that `grader course verify` grades
BOMBS = ("forks", "swells", "fills", "floods", "sleeps")
CROWD = 4 * (os.cpu_count() or 1)  # jobs


class Watching(Service):
    """What grades for `grader watch` and `grader serve`, with inputs that are given instead of drawn."""

    def __init__(self, course: Course, stage: Stage, isolation: str) -> None:
        workspace = open_workspace(course.root)
        actions.start(workspace, stage)
        super().__init__(workspace, self._hear)
        self._stage = stage
        self._isolation = isolation
        self._seed = 0
        self._rows: dict[str, str] = {}

    def saved(self, text: str, seed: int) -> dict[str, str]:
        """Return the rows of a module that is saved in the place of the one before."""
        self._stage.module_path.write_text(text, encoding="utf-8")
        self._seed, self._rows = seed, {}
        self.check(0, self._stage.id)
        return self._rows

    def _grade(self, course: Course, stage: Stage, snapshot: Any, options: Any, *told: Any) -> Verdict:
        if self._options is not None:
            self._options = replace(self._options, seed=self._seed)
        return super()._grade(
            course, stage, snapshot, replace(options, seed=self._seed, isolation=self._isolation), *told
        )

    def _hear(self, kind: str, *fields: Any) -> None:
        if kind == "judged":
            self._rows = rows_of(fields[1])
        elif kind == "failed":
            self._rows = {"the check": str(fields[1])}


def rows_of(verdict: Verdict) -> dict[str, str]:
    """Return the status of each row."""
    return {row.id: row.status for row in verdict.criteria}


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

    def run(self, command: Sequence[str], expected: Sequence[int] = (0,), root: Path | None = None) -> str:
        """Run a command in a course and return what it prints; BenchmarkError where it ends otherwise than expected."""
        done = subprocess.run(
            command, cwd=root or self.course.root, env={**environment(), "COLUMNS": "1000"}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        if done.returncode not in expected:
            raise BenchmarkError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return done.stdout

    def regraded(self, *options: str) -> list[str]:
        """Return a line for each student whose result differs when it is repeated.

        A result is never made twice of the same course: each time the stage has a comment more.
        """
        with tempfile.TemporaryDirectory(prefix="again-", dir=self.folder) as name:
            course = copied(self.course, Path(name) / "course")
            manifest = course.find(self.stage.id).folder / "stage.toml"
            manifest.write_text(f"{manifest.read_text(encoding='utf-8')}# {name}\n", encoding="utf-8")
            common = ("--out", str(self.marks), "--isolation", self.isolation, "--require-isolation", "process")
            command = grader("class", "regrade", "--stage", self.stage.id, *common, *options)
            before, students = self._made()
            lines = self.run(command, root=course.root).splitlines()
        made = self._made()[0] - before
        if made != students:
            raise BenchmarkError(f"{made} of {students} results were made again")
        return lines

    def _made(self) -> tuple[int, int]:
        """Return how many results there are, and of how many students."""
        with closing(sqlite3.connect(self.marks / FILE)) as book:
            results, students = book.execute("SELECT count(*), count(DISTINCT student) FROM results").fetchone()
        return results, students

    def checked(self) -> list[str]:
        """Return a line for each student whose rows differ when `grader check` grades the submission."""
        found: list[str] = []
        for mark in self.graded_marks():
            command = check(self.stage, self.handed / f"{mark['student']}.py", self.isolation)
            if mark["seed"] is not None:
                command += ["--seed", str(mark["seed"])]
            found += _differing(mark, _rows(json.loads(self.run(command, (0, 1, 5)))))
        return found

    def watched(self) -> list[str]:
        """Return a line for each student whose rows differ when the submission is saved where a stage is watched."""
        course = copied(self.course, self.folder / "watched")
        service = Watching(course, course.find(self.stage.id), self.isolation)
        found: list[str] = []
        try:
            for mark in sorted(self.graded_marks(), key=lambda each: each["seed"] or 0):
                found += _differing(mark, service.saved(self._text(mark), mark["seed"] or 0))
        finally:
            service.close()
        return found

    def verified(self) -> list[str]:
        """Return a line for each student whose rows differ when `grader course verify` grades the module."""
        known = {each.name: each for each in self.submissions if each.kind in VERIFIED}
        marks = {mark["student"]: mark for mark in self.graded_marks() if mark["student"] in known}
        cases = [
            ProofCase(
                name, self.stage.id, self._text(mark), mark["seed"], isolation=self.isolation,
                worker=known[name].kind != "right",
            )
            for name, mark in marks.items()
        ]  # fmt: skip
        with proof.workers(self.course) as executor:
            graded = {each.case.name: each.verdict for each in proof.results(executor, cases)}
        pairs = [(marks[name], {} if verdict is None else rows_of(verdict)) for name, verdict in graded.items()]
        return [line for mark, rows in pairs for line in _differing(mark, rows)]

    def _text(self, mark: Mapping[str, Any]) -> str:
        return (self.handed / f"{mark['student']}.py").read_text(encoding="utf-8")

    def graded_marks(self) -> list[dict[str, Any]]:
        """Return the marks of the gradebook."""
        found: list[dict[str, Any]] = json.loads(
            self.run(grader("class", "export", "--out", self.marks, "--format", "json"))
        )["marks"]
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
        names = {each.name for each in bombs}
        passing = [
            f"{mark['student']} passes" for mark in self.graded_marks() if mark["student"] in names and mark["passed"]
        ]
        lines = self.regraded("--jobs", str(CROWD))
        return passing + [line for line in lines if line.partition(" ")[0] not in names]

    def differences(self, ways: Sequence[str]) -> dict[str, list[str]]:
        """Return by way a line for each honest student whose result differs from that of one job.

        Which bound a hostile module meets first, of time or of memory, may depend on how busy the machine is.
        """
        hostile = {each.name for each in self.submissions if each.kind == "hostile"}
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
                case "watch":
                    found[way] = self.watched()
                case "verify":
                    found[way] = self.verified()
                case _:
                    found[way] = self.among_bombs()
            honest = [line for line in found[way] if re.split(r"\W", line, maxsplit=1)[0] not in hostile]
            told = f"{len(honest)} of {len(self.submissions)} differ, and {len(found[way]) - len(honest)} hostile ones"
            sys.stderr.write(f"{way}: {told}\n")
            found[way] = honest
        return found


def _differing(mark: Mapping[str, Any], rows: Mapping[str, str]) -> Iterator[str]:
    if rows != mark["rows"]:
        yield f"{mark['student']}: {rows}, expected {mark['rows']}"


def _rows(document: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["status"] for row in document["criteria"]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a class up, grade it, and print by way as JSON whose results differ; return 1 where any does."""
    parser = argparse.ArgumentParser(prog="python -m tests.gradebook.same_grades", description=__doc__)
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
