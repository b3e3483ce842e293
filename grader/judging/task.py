"""What a judge is asked to do, and what becomes of it: frozen records between it and the process that watches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.judging.messages import At
from grader.outcome import Outcome, Status
from grader.submission.parsing import Problem

if TYPE_CHECKING:
    from grader.diagnosis.answers import Answers
    from grader.isolation.tiers import Tier
    from grader.judging.messages import SharedStatus
    from grader.judging.pytest_suite import Suite
    from grader.sandbox.process import Job
    from grader.sandbox.recorded import Plan

EXPLAINED: tuple[Status, ...] = ("failed", "crashed", "timed_out", "over_limit")  # for which a cause is looked for
OVERTIME_SECONDS = 3.0  # after a stage's time, for what a judge is at to end: a verdict comes within 5 s of it

SEARCH_SECONDS = 300.0  # of wall time: the far bound of looking for causes, which counts trials and not seconds
POOL_CALL_SECONDS = 5.0  # of wall time for one exchange with a module of a pool: the far bound


class JudgeOutOfMemory(BaseException):
    """A judge has no more memory; what its next step would find is not to be relied on."""


def expect_memory(error: BaseException | None) -> None:
    """Raise JudgeOutOfMemory where an error means that this process, not the learner's, has no more memory."""
    if isinstance(error, MemoryError) and not hasattr(error, "learner_frames"):
        raise JudgeOutOfMemory


@dataclass(frozen=True)
class JudgeTask:
    """All that one judge works on: the suite, the module and its worker's tier, the seed, and where to begin.

    ends_at is when the time is used up, on the monotonic clock. answers makes what explains wrong answers; nothing
    does without. only is the one row to judge: where it passes, no other is. first_failure holds rows to run first:
    then the first test that does not pass ends the run, nothing is explained, and whether the reference passes is not
    asked. ahead holds rows that come first, asked those whose causes somebody wants to read. searches says whether
    causes are looked for beside the known mistakes; pool holds right modules of others that steer this. timed asks for
    the time of each call. plan is what the tests ask with this seed, where known.

    For a judge that follows another: doubted says that the one before it ended in the first test, so that only the
    reference runs that one; done holds the places of tests that have an outcome, slow_rows rows that timed out.
    """

    suite: Suite
    job: Job
    tier: Tier
    fork: bool
    seed: int
    ends_at: float
    shared: SharedStatus
    answers: Callable[[], Answers] | None = None
    only: str | None = None
    first_failure: tuple[str, ...] | None = None
    ahead: tuple[str, ...] = ()
    timed: bool = False
    plan: Plan | None = None
    asked: tuple[str, ...] = ()
    searches: bool = True
    pool: tuple[bytes, ...] = ()
    first: int = 0
    doubted: bool = False
    slow_rows: frozenset[str] = frozenset()
    done: frozenset[int] = frozenset()

    @property
    def rows_first(self) -> tuple[str, ...]:
        """The rows whose tests come before the others."""
        return self.first_failure or (*filter(None, (self.only,)), *self.ahead)

    def needed(self, rows: Sequence[str], ended: Mapping[int, Outcome]) -> list[int]:
        """Return the places of the tests that are needed, by the row of each and what came of those that have ended.

        It is all of them, but where one row was asked for and nothing of it needs a cause: where something does, what
        the other tests ask and are answered is evidence, so that the cause is that of a whole check.
        """
        own = [place for place, row in enumerate(rows) if row == self.only]
        is_enough = all(place in ended and ended[place].status not in EXPLAINED for place in own)
        return own if self.only is not None and is_enough else list(range(len(rows)))


@dataclass(frozen=True)
class Findings:
    """What came of a task: every test that had to end, every outcome, and what stood in the way.

    expected is (test, criterion, hidden) of each test; faults are mistakes of the course; names are those of the
    stage's functions that the module defines; peak_mb is the most memory that a judge had, 0 where that is unknown.
    passing holds, of tests that passed against answers to planned questions, the digest of all these answers;
    strayed are tests that asked something else than was planned.
    """

    expected: tuple[tuple[str, str, bool], ...]
    outcomes: tuple[Outcome, ...] = ()
    faults: tuple[str, ...] = ()
    problem: Problem | None = None
    names: frozenset[str] = frozenset()
    peak_mb: float = 0.0
    passing: Mapping[str, bytes] = field(default_factory=dict)
    strayed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Death:
    """A judge that ended before it was done: where it was, the status that this gives its test, and the reason."""

    at: At
    status: Status
    reason: str
