"""A session without processes and threads: checks and saves are lists, and verdicts are given by the test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from grader.course.stage import Stage
from grader.outcome import Diagnosis, Where
from grader.progress.actions import Workspace
from grader.progress.workspace import open_workspace
from grader.verdict import CriterionResult, Failure, Verdict
from grader.watching import saves
from grader.watching.board import Event, FinalVerdict
from grader.watching.grading_process import GradingProcess
from grader.watching.session import WatchSession
from tests.support.verdicts import RUN

SQUARE = Diagnosis("squared", "double", "This is the square.", "Multiply by 2.", declared=True)


class Checks(GradingProcess):
    """Notes what is to be checked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.anew: list[bool] = []
        self.closed = False

    def check(self, stage: str, row: str | None, anew: bool = False) -> int:
        self.asked.append((stage, row))
        self.anew.append(anew)
        return len(self.asked)

    def close(self) -> None:
        self.closed = True


class Saves(saves.Saves):
    """Notes which module is watched."""

    def __init__(self) -> None:
        self.watched: Path | None = None
        self.others: Callable[[], tuple[Path, ...]] = tuple

    def watch(self, path: Path, others: Callable[[], tuple[Path, ...]] = tuple) -> None:
        self.watched, self.others = path, others

    def close(self) -> None:
        self.watched = None


class Watched:
    """A session on a small course, its fakes, and the stages of which a picture was asked for."""

    def __init__(self, root: Path) -> None:
        self.workspace: Workspace = open_workspace(root)
        self.checks, self.saves = Checks(), Saves()
        self.explored: list[str] = []
        self.typed: list[str] = []  # the sentences of these
        self.drawn = {stage.id for stage in self.workspace.course.stages}
        self.session = WatchSession(self.workspace, self.checks, self.saves, self._explore, clock=lambda: 5.0)

    @property
    def first(self) -> Stage:
        return self.workspace.course.stages[0]

    def _explore(self, stage: str, typed: str) -> bool:
        self.explored.append(stage)
        self.typed.append(typed)
        return stage in self.drawn

    def judged(self, verdict: Verdict) -> Event:
        """Return the verdict of the last check that was asked for."""
        return FinalVerdict(len(self.checks.asked), verdict)


def verdict(stage: Stage, *statuses: str) -> Verdict:
    """Return a verdict with these statuses of the rows; a failed row has a call, a message, a mistake and a place."""
    label = f"stages/{stage.name}/{stage.module}"
    said = "expected 6, got 9"
    failure = Failure("t.py::test", False, "failed", "double(x=3)", said, SQUARE, Where(label, 6))
    rows = tuple(
        CriterionResult(row.id, row.text, status, 2 if status == "passed" else 0, 2, _failures(status, failure))  # type: ignore[arg-type]
        for row, status in zip(stage.criteria, statuses, strict=True)
    )
    passed = all(status == "passed" for status in statuses)
    return Verdict(stage.id, stage.title, passed, rows, replace(RUN, label=label))


def _failures(status: str, failure: Failure) -> tuple[Failure, ...]:
    return (failure,) if status == "failed" else ()
