"""Frozen records of a gradebook: what was handed in, what came of it, and what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

# A verdict was reached; nothing was handed in; what was handed in cannot be accepted; it waits for an earlier stage;
# the grader failed.
Outcome = Literal["graded", "missing", "rejected", "waits", "fault"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
# Who says when something was handed in, the most reliable first.
Clock = Literal["csv", "commit", "file", "unknown"]
CLOCKS: tuple[Clock, ...] = get_args(Clock)


@dataclass(frozen=True)
class Key:
    """What makes a result the same result: it is never graded twice.

    digest is of the module and of all that it is graded with, course the version of the grader and a digest of the
    stage.
    """

    student: str
    stage: str
    digest: str
    course: str
    seed: int
    isolation: str


@dataclass(frozen=True)
class Versions:
    """What a result was made with, and by which process."""

    python: str = ""
    numpy: str = ""
    commit: str = ""
    worker: str = ""


@dataclass(frozen=True)
class Result:
    """What came of one grading; verdict is the published document (report/verdict.schema.json)."""

    key: Key
    outcome: Outcome
    verdict: Mapping[str, Any]
    at: datetime
    seconds: float
    made: Versions = Versions()

    @property
    def passed(self) -> bool:
        """Whether every criterion passed."""
        return self.outcome == "graded" and self.verdict.get("passed") is True


@dataclass(frozen=True)
class Mixture:
    """How many marks of a stage come of each version: of the course, of Python or of NumPy."""

    stage: str
    what: str
    counts: Mapping[str, int]

    @property
    def words(self) -> str:
        """The same in words.

        >>> Mixture("sums", "NumPy", {"2.1": 3, "2.2": 40}).words
        '2 versions of NumPy: 2.2 (40 marks), 2.1 (3 marks)'
        """
        ranked = sorted(self.counts.items(), key=lambda each: -each[1])
        named = ", ".join(f"{name or 'unknown'} ({many} mark{'' if many == 1 else 's'})" for name, many in ranked)
        return f"{len(self.counts)} versions of {self.what}: {named}"


@dataclass(frozen=True)
class Attempt:
    """Something that a student handed in for a stage.

    digest is the SHA-256 of the module alone, or of the reason why there is none; label says where it was, identity
    is the number that a learning platform gives the student, clock says where submitted comes from. result is the
    number of the result that counts for it, if one does.
    """

    student: str
    stage: str
    digest: str
    submitted: datetime | None
    clock: Clock
    label: str
    identity: str = ""
    result: int | None = None


@dataclass(frozen=True)
class Member:
    """A student of a class: the name in the gradebook, and how platforms know them; empty where nobody says.

    moodle_id is the number of a participant, gradescope_id the SID. submission, which is not kept, is the name that a
    platform gives what the student handed in, and submitted when that was.
    """

    student: str
    name: str = ""
    login: str = ""
    email: str = ""
    section: str = ""
    team: str = ""
    canvas_id: str = ""
    sis_id: str = ""
    sis_login: str = ""
    moodle_id: str = ""
    gradescope_id: str = ""
    submission: str = ""
    submitted: datetime | None = None

    @property
    def identity(self) -> str:
        """The number that a learning platform gives."""
        return self.canvas_id or self.moodle_id or self.gradescope_id


@dataclass(frozen=True)
class Waiting:
    """Something that was handed in and waits for earlier stages: no result, and no mark; verdict says what to do."""

    student: str
    stage: str
    digest: str
    verdict: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True)
class Mark:
    """What the grader gives a student for a stage: automatic, never by hand.

    raw is the points of the attempt before lateness, factor what is left of them, late_days how many days late the
    attempt is, of which budget_days came out of the student's budget.
    """

    student: str
    stage: str
    points: float
    out_of: float
    raw: float
    factor: float
    late_days: int
    budget_days: int
    attempt: str
    result: int


@dataclass(frozen=True)
class Override:
    """Points that a person gives instead of the automatic ones; the reason is kept, and the student reads it.

    They are of one criterion, or of the whole stage where criterion is empty.
    """

    student: str
    stage: str
    points: float
    reason: str
    by: str
    at: datetime
    criterion: str = ""


@dataclass(frozen=True)
class RegradeRequest:
    """What a student asks to be looked at once more; answer, by and closed say what came of it."""

    number: int
    student: str
    stage: str
    criterion: str
    words: str
    at: datetime
    answer: str = ""
    by: str = ""
    closed: datetime | None = None


@dataclass(frozen=True)
class Change:
    """One line of the history; before and after are documents, None where there is nothing."""

    number: int
    at: str
    what: str
    student: str
    stage: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    why: str
