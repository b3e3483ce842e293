"""What all gradings of a run share, and how far the run is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from grader.course.provenance import Provenance
from grader.course.stage import Course
from grader.errors import Lacking
from grader.gradebook.records import Result
from grader.gradebook.seeds import Seeds
from grader.gradebook.worth.policy import Policy


@dataclass(frozen=True)
class Setting:
    """What all gradings of a run share; isolation is the tier that was chosen."""

    course: Course
    policy: Policy
    isolation: str
    seeds: Seeds
    made: Provenance
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass
class Tally:
    """How far a stage's gradings are; kept counts those that an earlier run has graded."""

    stage: str
    total: int
    kept: int = 0
    passed: int = 0
    failed: int = 0
    missing: int = 0
    rejected: int = 0
    waits: int = 0
    faults: list[tuple[str, str]] = field(default_factory=list)  # whose grading failed, and why, each time
    waiting: dict[str, tuple[Lacking, ...]] = field(default_factory=dict)  # who waits, and for which earlier stages
    lacking: list[str] = field(default_factory=list)  # who handed in nothing, or nothing that can be accepted

    def count(self, result: Result, fault: str = "") -> None:
        """Count a result by what came of it; fault says why the grader failed."""
        match result.outcome:
            case "missing":
                self.missing += 1
                self.lacking.append(result.key.student)
            case "rejected":
                self.rejected += 1
                self.lacking.append(result.key.student)
            case "fault":
                self.faults.append((result.key.student, fault))
            case _ if result.passed:
                self.passed += 1
            case _:
                self.failed += 1

    def wait(self, student: str, lacking: tuple[Lacking, ...]) -> None:
        """Count what waits for earlier stages."""
        self.waits += 1
        self.waiting[student] = lacking

    @property
    def graded(self) -> int:
        """How many this run has graded, or found that they cannot be."""
        return self.passed + self.failed + self.missing + self.rejected + self.waits + len(self.faults)

    @property
    def done(self) -> int:
        """How many have a result, or failed."""
        return self.kept + self.graded

    @property
    def summary(self) -> str:
        """What came of it, in words."""
        if self.kept and not self.graded:
            return f"nothing is new; {self.kept} had a result before"
        found = [f"{self.passed} passed", f"{self.failed} did not"]
        found += [f"{self.missing} handed in nothing"] if self.missing else []
        found += [f"{self.rejected} cannot be accepted"] if self.rejected else []
        found += [f"{self.waits} wait{'s' if self.waits == 1 else ''} for an earlier stage"] if self.waits else []
        found += [_faults(len(self.faults), "grader fault")] if self.faults else []
        return ", ".join(found) + (f"; {self.kept} had a result before" if self.kept else "")

    def words(self, seconds: float, with_rest: bool = True) -> str:
        """What came of it after so many seconds, in words, and the rate; with_rest, the time that is left, too."""
        if not self.graded:
            return f"{self.stage}: {self.kept} kept"
        ran = self.passed + self.failed + len(self.faults)  # what was not run says nothing of the speed
        rate = ran / seconds if seconds > 0 else 0.0
        left = (self.total - self.done) / rate if rate else 0.0
        waits = f"{self.waits} waiting, " if self.waits else ""
        counts = f"{self.passed} passed, {self.total_failed} not, {waits}{_faults(len(self.faults), 'fault')}"
        return f"{self.stage}: {counts}, {_pace(rate)}" + (f", {_duration(left)} left" if with_rest else "")

    @property
    def total_failed(self) -> int:
        """How many have a result that is no pass, of what was handed in or not."""
        return self.failed + self.missing + self.rejected


def _faults(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _pace(rate: float) -> str:
    return f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.0f}/min"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"


Told = Callable[[Tally], None]
