"""What results are worth: points of rows, partial credit, deadlines, lateness, attempts; all of it pure.

The records are what class.toml says (`reading.py`); `credit.py` applies them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal, get_args

from grader.course.stage import Feedback, Stage
from grader.criterion import Passes
from grader.submission.earlier import ALWAYS

Partial = Literal["none", "tests", "kinds"]  # what a row is worth that does not pass
PARTIAL: tuple[Partial, ...] = get_args(Partial)
Which = Literal["best", "last"]  # of several attempts
WHICH: tuple[Which, ...] = get_args(Which)
# When a stage's reference is lent to whoever builds on it without a module of their own that passes.
Lend = Literal["passed", "deadline", "always"]
LEND: tuple[Lend, ...] = get_args(Lend)


@dataclass(frozen=True)
class StagePolicy:
    """What a stage is worth.

    points is of the whole stage, None where it is the sum of its rows; rows the weight of those that have one of their
    own, row that of every other. lend says when its reference serves later stages, passes which tests make a row pass.
    """

    deadline: datetime | None = None
    points: float | None = None
    rows: Mapping[str, float] = field(default_factory=dict, hash=False)
    row: float = 1.0
    partial: Partial = "none"
    kinds: Mapping[str, float] = field(default_factory=dict, hash=False)
    attempts: Which = "best"
    lend: Lend = "deadline"
    passes: Passes = "mathematics"


@dataclass(frozen=True)
class Policy:
    """All of class.toml; without one, each row is worth a point, and nothing is late.

    factors is what is left of the points on the first day late, the second, …; after the last, nothing is. budget is
    how many days late each student may be in total without losing anything. extensions is, by student and stage, a
    deadline of their own or days added to it.
    """

    zone: tzinfo = UTC
    feedback: Feedback = "full"
    grace: timedelta = timedelta()
    factors: tuple[float, ...] = ()
    budget: int = 0
    stages: Mapping[str, StagePolicy] = field(default_factory=dict, hash=False)
    extensions: Mapping[str, Mapping[str, datetime | timedelta]] = field(default_factory=dict, hash=False)
    other: StagePolicy = StagePolicy()

    def of(self, stage: str) -> StagePolicy:
        """Return what is said of a stage, or what holds for each of which nothing is said."""
        return self.stages.get(stage, self.other)

    def passes(self, stages: Iterable[Stage]) -> dict[str, Passes]:
        """Return by stage which tests make a row pass."""
        return {stage.id: self.of(stage.id).passes for stage in stages}

    def deadline(self, student: str, stage: str) -> datetime | None:
        """Return a student's own deadline for a stage; None where there is none."""
        common = self.of(stage).deadline
        own = self.extensions.get(student, {}).get(stage)
        if isinstance(own, timedelta):
            return None if common is None else common + own
        return common if own is None else own

    def lent_from(self, student: str, stage: str) -> datetime | None:
        """Return the moment from which on a stage's reference is lent to a student; None for never.

        Whoever has the reference could hand it in: so it is lent once nothing that the student hands in earns points.
        """
        match self.of(stage).lend:
            case "passed":
                return None
            case "always":
                return ALWAYS
            case "deadline":
                deadline = self.deadline(student, stage)
                late = timedelta(days=self.budget + len(self.factors))
                return None if deadline is None else deadline + self.grace + late

    def late_days(self, student: str, stage: str, submitted: datetime | None) -> int:
        """Return how many days after the deadline something came, begun ones in full; 0 within the grace."""
        deadline = self.deadline(student, stage)
        if deadline is None or submitted is None or submitted - deadline <= self.grace:
            return 0
        return -((deadline - submitted) // timedelta(days=1))

    def factor(self, days: int) -> float:
        """Return what is left of the points after so many days that no budget covers."""
        return 1.0 if days <= 0 else self.factors[days - 1] if days <= len(self.factors) else 0.0
