"""What happens while a stage is watched: small records that reach the session from threads, one at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.outcome import Status
from grader.verdict import CriterionResult, Verdict


@dataclass(frozen=True)
class Saved:
    """A module, or another file that its checks depend on, has other content than before, or is gone."""

    path: Path


@dataclass(frozen=True)
class Counted:
    """One test of a check has ended; ticket is the number of the check."""

    ticket: int
    criterion: str
    status: Status


@dataclass(frozen=True)
class Glimpsed:
    """The row that failed first before has been graded again, ahead of the others and not explained yet."""

    ticket: int
    row: CriterionResult


@dataclass(frozen=True)
class Decided:
    """Every test of a check has ended, and not all pass: its verdict, not explained yet and not recorded."""

    ticket: int
    verdict: Verdict


@dataclass(frozen=True)
class Judged:
    """A check has come to its verdict."""

    ticket: int
    verdict: Verdict


@dataclass(frozen=True)
class Failed:
    """A check came to no verdict: the error, and what to do."""

    ticket: int
    message: str
    hint: str | None


@dataclass(frozen=True)
class Explored:
    """What `grader explore` printed for a stage; where that is nothing, why says the reason."""

    stage: str
    text: str
    why: str = ""


@dataclass(frozen=True)
class Typed:
    """A key, or a line of plain mode."""

    text: str


Event = Saved | Counted | Glimpsed | Decided | Judged | Failed | Explored | Typed
