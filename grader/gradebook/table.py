"""The final table of marks: for each student and stage what counts, and why; every report and export reads it.

with Gradebook.open(folder) as book:
    for entry in table(book): ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from grader.gradebook.records import Attempt, Mark, Member, Outcome, Override, Waiting
from grader.report.escape import joined
from grader.report.terminal.words import reached_of

if TYPE_CHECKING:
    from grader.gradebook.store import Gradebook


@dataclass(frozen=True)
class Entry:
    """One cell of the table, of a student and a stage.

    mark is the automatic part, None where it waits for an earlier stage or the grader failed so far; override the
    manual part, if any. outcome, verdict (the published document) and submitted are of the attempt that counts;
    attempts says how many there are. identity is the student's number on a learning platform, where one is known; label
    says where that attempt was found, graded when it was graded. fault is why the grader failed, where it did: for
    those who grade, and not for students. member is what the roster knows of the student, if one was given.
    """

    student: str
    stage: str
    identity: str
    outcome: Outcome
    mark: Mark | None
    override: Override | None
    verdict: Mapping[str, Any] | None
    submitted: datetime | None
    attempts: int
    label: str = ""
    graded: datetime | None = None
    fault: str = ""
    member: Member | None = None

    @property
    def reason(self) -> str:
        """Why the points are what they are: what the person who gave them said, else the problem."""
        return self.problem if self.override is None else self.override.reason

    @property
    def problem(self) -> str:
        """Why there is no verdict on rows, in one line, since it goes into cells of tables; empty where there is one.

        Without the folders that things were found in, which are of no concern to students.
        """
        problem = (self.verdict or {}).get("problem")
        told = " ".join(joined(str(problem["message"])).split()) if problem else ""
        at = [place for place, sign in enumerate(self.label) if sign == "@"]  # of repository@revision
        for place in [self.label, *(self.label[:end] for end in reversed(at))]:
            told = told.replace(place, PurePath(place).name) if len(PurePath(place).parts) > 1 else told
        return told

    @property
    def points(self) -> float | None:
        """What counts: the points of a person before those of the grader; None where there are none yet."""
        if self.override is not None:
            return self.override.points
        return None if self.mark is None else self.mark.points

    @property
    def passed(self) -> bool:
        """Whether every row of the attempt that counts passes."""
        return self.outcome == "graded" and bool(self.verdict and self.verdict["passed"])

    @property
    def counts(self) -> Mapping[str, int]:
        """How many criteria there are, pass and are robust, of the attempt that counts; nothing without a verdict."""
        found = (self.verdict or {}).get("counts") if self.outcome == "graded" else None
        return found or {}

    @property
    def reached(self) -> str:
        """The same in words; empty without a verdict."""
        found = self.counts
        return reached_of(found["passed"], found["criteria"], found["robust"]) if found.get("criteria") else ""

    @property
    def is_late(self) -> bool:
        """Whether the attempt that counts was handed in after the deadline and its grace."""
        return self.mark is not None and self.mark.late_days > 0


def table(book: Gradebook) -> tuple[Entry, ...]:
    """Return the marks of all students, by student and then by stage."""
    return tuple(entries(book))


def entries(book: Gradebook) -> Iterator[Entry]:
    """Yield the same one by one, so that a large class's verdicts are never all in memory."""
    marks = {(mark.student, mark.stage): mark for mark in book.marks()}
    overrides = {(each.student, each.stage): each for each in book.overrides()}
    faults, waiting = book.faults(), book.waiting()
    roster = {member.student: member for member in book.roster()}
    attempts: dict[tuple[str, str], list[Attempt]] = {}
    for attempt in book.attempts():
        attempts.setdefault((attempt.student, attempt.stage), []).append(attempt)
    for cell in sorted({*attempts, *overrides}):
        mark, mine = marks.get(cell), attempts.get(cell, [])
        waits = [waiting[key] for each in mine if (key := (*cell, each.digest)) in waiting]
        counts = next((each for each in mine if mark and each.digest == mark.attempt), mine[-1] if mine else None)
        result = book.result(mark.result) if mark else None
        if waits and result is not None and result.outcome != "graded":  # a zero for nothing gives way to what waits
            counts, mark, result = mine[-1], None, None
        outcome: Outcome = result.outcome if result else _ungraded(mine, waits)
        yield Entry(
            *cell,
            identity=next((each.identity for each in reversed(mine) if each.identity), ""),
            outcome=outcome,
            mark=mark,
            override=overrides.get(cell),
            verdict=result.verdict if result else waits[-1].verdict if outcome == "waits" else None,
            submitted=counts.submitted if counts else None,
            attempts=len(mine),
            label=counts.label if counts else "",
            graded=result.at if result else None,
            fault=faults.get(cell, "") if outcome == "fault" else "",
            member=roster.get(cell[0]),
        )


def _ungraded(attempts: Sequence[Attempt], waits: Sequence[Waiting]) -> Outcome:
    """Return what came of attempts of which none has a result that counts."""
    if waits and all(each.result is not None or each.digest in {one.digest for one in waits} for each in attempts):
        return "waits"
    return "fault" if attempts else "missing"
