"""What a judge is asked to do, and what becomes of it: frozen records between it and the process that watches it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.judging.processes.slate import At
from grader.outcome import Outcome, Status
from grader.submission.source import Problem

EXPLAINED: tuple[Status, ...] = ("failed", "crashed", "timed_out", "over_limit")  # for which a cause is looked for
OVERTIME_SECONDS = 3.0  # after a stage's time, for what a judge is at to end: a verdict comes within 5 s of it


class Swelled(BaseException):
    """A judge has no more memory; what its next step would find is not to be relied on."""


def expect_memory(error: BaseException | None) -> None:
    """Raise Swelled where an error means that this process, not the learner's, has no more memory."""
    if isinstance(error, MemoryError) and not hasattr(error, "learner_frames"):
        raise Swelled


@dataclass(frozen=True)
class Task:
    """One grading: the seed of its inputs, when its time is used up (on the monotonic clock), and which rows.

    only is the one row that was asked for. hunt holds rows to run first: then the first test that does not pass ends
    the run, nothing is explained, and whether the reference passes is not asked. ahead holds rows that come first.
    timed asks for the time of each call.
    """

    seed: int
    ends_at: float
    only: str | None = None
    hunt: tuple[str, ...] | None = None
    ahead: tuple[str, ...] = ()
    timed: bool = False

    @property
    def first(self) -> tuple[str, ...]:
        """The rows whose tests come before the others."""
        return self.hunt or self.ahead


@dataclass(frozen=True)
class Findings:
    """What came of a task: every test that had to end, every outcome, and what stood in the way.

    expected is (test, criterion, hidden) of each test; faults are mistakes of the course; names are those of the
    stage's functions that the module defines; peak_mb is the most memory that a judge had, 0 where that is unknown.
    passing holds, of tests that passed against answers to planned questions, the digest of all these answers.
    """

    expected: tuple[tuple[str, str, bool], ...]
    outcomes: tuple[Outcome, ...] = ()
    faults: tuple[str, ...] = ()
    problem: Problem | None = None
    names: frozenset[str] = frozenset()
    peak_mb: float = 0.0
    passing: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Death:
    """A judge that ended before it was done: where it was, the status that this gives its test, and the reason."""

    at: At
    status: Status
    reason: str
