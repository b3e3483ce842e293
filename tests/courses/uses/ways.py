"""Every way to grade a stage that builds on earlier ones, each as its user starts it: the verdict is the same in all.

The course that is graded lies on the path of each process that is started, as that of an editable install does, and the
files of its earlier stages leave a marker where the tests are.
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from grader import __version__
from grader.course.answers import reference_source
from grader.course.manifest import load_course
from grader.course.stage import Course, Stage
from grader.gradebook.marks import table
from grader.gradebook.store import Gradebook
from grader.judging import grading
from grader.judging.grading import Options
from grader.progress.store import Store
from grader.submission import take
from grader.submission.earlier import used_modules
from grader.watching.board import CheckFailed, FinalVerdict
from grader.watching.grading_process import GradingProcess
from tests.courses.uses.building import SPY
from tests.support.cluster import cluster
from tests.support.patience import SLACK

ISOLATION = ("--isolation", "process")
Rows = Mapping[str, str]  # the status of each criterion


@dataclass(frozen=True)
class Ways:
    """A course in a folder of its own, the stage that is handed in, and what refuses all in its submission."""

    root: Path
    stage_id: str
    refuses: str
    folder: Path

    @cached_property
    def course(self) -> Course:
        return load_course(self.root)

    @cached_property
    def stage(self) -> Stage:
        return self.course.find(self.stage_id)

    @property
    def is_right(self) -> bool:
        return not self.refuses

    @property
    def marker(self) -> Path:
        return self.folder / "marker"

    @cached_property
    def text(self) -> str:
        """The reference, or one with a function that refuses everything."""
        broken = f"\n\ndef _refuse(*arguments, **named):\n    raise ValueError('no')\n\n\n{self.refuses} = _refuse\n"
        return reference_source(self.stage) + ("" if self.is_right else broken)

    def plant(self) -> None:
        """Let the files of earlier stages be right ones that say where they run; all have passed."""
        spy = SPY.format(marker=str(self.marker))
        for used in self.stage.builds_on:
            used.module_path.write_text(reference_source(used) + spy, encoding="utf-8")
            digest = hashlib.sha256(used.module_path.read_bytes()).hexdigest()
            Store(self.root).record_pass(used.id, digest, 1, __version__, datetime.now(UTC))
        earlier = [each.id for each in self.course.stages if each.number < self.stage.number]
        Store(self.root).record_skip([each for each in earlier if each not in Store(self.root).read().passed])
        self.stage.module_path.write_text(self.text, encoding="utf-8")

    def command(self, *arguments: str, code: int | None = None) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "grader", *arguments], cwd=self.root, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        assert code is None or done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return done.stdout

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.root), "PYTHONUTF8": "1", "COLUMNS": "100"}

    def check(self) -> Rows:
        found = json.loads(self.command("check", self.stage_id, *ISOLATION, "--json", code=int(not self.is_right)))
        assert not found["faults"], found["faults"]
        return {row["id"]: row["status"] for row in found["criteria"]}

    def watch(self) -> Rows:
        found: queue.Queue[Any] = queue.Queue()
        with closing(GradingProcess(self.root, found.put)) as kept:
            kept.check(self.stage_id, None)
            while not isinstance(event := found.get(timeout=10 * SLACK), (FinalVerdict, CheckFailed)):
                pass
        assert isinstance(event, FinalVerdict) and not event.verdict.faults, event
        return {row.id: row.status for row in event.verdict.criteria}

    def serve(self) -> int:
        """Return how many criteria pass by what a browser is sent."""
        with subprocess.Popen(
            [sys.executable, "-m", "grader", "serve", self.stage_id], cwd=self.root, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            try:
                address = process.stdout.readline().strip().partition("/stages/")[0]
                with urllib.request.urlopen(f"{address}/events", timeout=10 * SLACK) as events:
                    for line in events:
                        if line.startswith(b"data:") and (said := _verdict(json.loads(line[5:]))) is not None:
                            return said
            finally:
                process.send_signal(signal.SIGTERM)
        raise AssertionError("the server ended before it sent a verdict")

    def class_(self, *more: str) -> Rows:
        """Grade a class of one, with right modules of the earlier stages; regrade and Dask go on from there."""
        handed = self.folder / "handed" / "ada"
        for each in (*self.stage.builds_on, self.stage):
            place = handed / "stages" / each.name / each.module
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(self.text if each is self.stage else reference_source(each), encoding="utf-8")
        self.command("class", "grade", str(handed.parent), *self.run(*more), code=0)
        return self.marks(*more)

    def run(self, *more: str) -> list[str]:
        stages = [part for each in (*self.stage.builds_on, self.stage) for part in ("--stage", each.id)]
        return [*stages, "--out", str(self.book(*more)), *ISOLATION, "--require-isolation", "process", *more]

    def book(self, *more: str) -> Path:
        return self.folder / ("dask" if more else "book")

    def marks(self, *more: str) -> Rows:
        with Gradebook.open(self.book(*more)) as book:
            (found,) = (each for each in table(book) if each.stage == self.stage_id)
        assert found.outcome == "graded" and found.verdict is not None, (found.outcome, found.fault)
        return {row["id"]: row["status"] for row in found.verdict["criteria"]}

    def regrade(self) -> Rows:
        self.command("class", "regrade", *self.run(), "--apply", code=0)
        return self.marks()

    def dask(self) -> Rows:
        with cluster(self.folder / "cluster", 1) as address:
            return self.class_("--cluster", address)

    def without_fork(self) -> Rows:
        def own(used: Stage) -> Any:
            return take(used, None, self.root)

        snapshot = take(self.stage, None, self.root)
        snapshot = replace(snapshot, uses=used_modules(self.stage, own, lambda used, digest: True))
        found = grading.grade(self.course, self.stage, snapshot, Options(3, "process", fork=False))
        assert not found.faults, found.faults
        return {row.id: row.status for row in found.criteria}

    @property
    def all(self) -> dict[str, Callable[[], Rows]]:
        """The ways that give the status of each criterion."""
        return {
            "check": self.check, "watch": self.watch, "class": self.class_, "regrade": self.regrade,
            "without fork": self.without_fork,
        }  # fmt: skip


def _verdict(frame: Mapping[str, Any]) -> int | None:
    """Return how many criteria pass by a frame that has a whole verdict; None before there is one."""
    if frame["checking"] or not frame.get("verdicts"):
        return None
    found = re.search(r"(\d+) of \d+", frame["said"])
    return int(found[1]) if found else None
