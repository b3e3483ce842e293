"""A class before it is graded: who handed in which file, when and by which clock, and what of that is in doubt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from grader.course.stage import Stage
from grader.gradebook.intake.arrivals import Arrival
from grader.gradebook.intake.doubts import Alarm, Doubt, Reason, alarms
from grader.gradebook.intake.taking import Taken, taken
from grader.gradebook.records import Clock
from grader.gradebook.worth.policy import Policy
from grader.submission import Snapshot
from grader.submission.parsing import Problem
from grader.submission.reading import told_of
from grader.submission.source import check_loading

SCHEMA = 1
UNPACKING = timedelta(minutes=10)  # within which one unpacking writes all files


@dataclass(frozen=True)
class Row:
    """One attempt of a student at a stage, or that there is none.

    file is where the module was found, empty where nowhere; dated says where submitted comes from, in words; team is
    the submission's name where it is of several students.
    """

    student: str
    stage: str
    file: str
    submitted: datetime | None
    clock: Clock
    dated: str
    late_days: int
    team: str
    doubts: tuple[Doubt, ...]


@dataclass(frozen=True)
class Intake:
    """All that arrived, and each reason that more than a tenth of the class shares at a stage."""

    rows: tuple[Row, ...]
    alarms: tuple[Alarm, ...]
    students: int
    ignored: tuple[str, ...] = ()


def survey(
    stages: Sequence[Stage], arrivals: Sequence[Arrival], root: Path, policy: Policy, accept: bool = False
) -> Intake:
    """Look at everything that arrived for some stages; nothing is graded, and no text is kept."""
    rows: list[Row] = []
    found: list[Alarm] = []
    for stage in stages:
        of_stage = _dated([*_rows(stage, arrivals, root, policy, len(stages) == 1, accept)])
        rows += of_stage
        found += alarms(((row.student, row.doubts) for row in of_stage), len(arrivals))
    return Intake(tuple(rows), tuple(found), len(arrivals))


def document(intake: Intake) -> dict[str, Any]:
    """Return an intake as a document for programs."""
    return {
        "schema": SCHEMA,
        "students": intake.students,
        "entries": [_entry(row) for row in intake.rows],
        "alarms": [
            {
                "reason": each.reason,
                "cause": each.cause or None,
                "students": list(each.students),
                "of": each.total,
                "example": each.example,
                "remedy": each.remedy,
            }
            for each in intake.alarms
        ],
        "ignored": list(intake.ignored),
    }


def loading_doubt(problem: Problem) -> Doubt:
    """Return the doubt about a module that cannot be imported."""
    reason: Reason = "import" if problem.kind == "import" else "load"
    message = problem.message.partition("\n")[0]
    return Doubt(reason, message, problem.hint or "", loading_cause(reason, problem.message))


def loading_cause(reason: Reason, message: str) -> str:
    """Return what modules that cannot be imported have in common: the package, else the message without its numbers.

    >>> loading_cause("load", "line 12: unmatched ']'")
    "unmatched ']'"
    """
    told, *quoted = re.sub(r"^line [0-9]+: ", "", message).split("\n")
    if reason == "import":
        return told.partition(" is imported")[0]
    if told == "invalid syntax" and quoted:  # which says nothing but that it is none
        told = f"{told}: {quoted[0].strip()}"
    return re.sub(r"[0-9]+", "N", told)[:60]


def _rows(
    stage: Stage, arrivals: Iterable[Arrival], root: Path, policy: Policy, only: bool, accept: bool
) -> Iterable[Row]:
    known: dict[str, tuple[Doubt, ...]] = {}
    for arrival in arrivals:
        for each in taken(arrival, stage, root, only, accept=accept):
            yield _row(each, arrival, policy, _loading(stage, each.snapshot, known))


def _loading(stage: Stage, snapshot: Snapshot | None, known: dict[str, tuple[Doubt, ...]]) -> tuple[Doubt, ...]:
    """Return why a module cannot be imported, else for which packages there will be stand-ins."""
    if snapshot is None:
        return ()
    if snapshot.digest not in known:
        reading = check_loading(stage, snapshot)
        notes = tuple(Doubt("note", told) for told in told_of(reading.stood_in))
        known[snapshot.digest] = notes if reading.problem is None else (loading_doubt(reading.problem),)
    return known[snapshot.digest]


def _row(each: Taken, arrival: Arrival, policy: Policy, loading: tuple[Doubt, ...]) -> Row:
    attempt = each.attempt
    days = policy.late_days(attempt.student, attempt.stage, attempt.submitted)
    doubts = [*each.doubts, *loading]
    if days and attempt.clock == "file":
        doubts.append(Doubt("late by file", _late(days, arrival)))
    file = each.snapshot.label if each.snapshot is not None else attempt.label if arrival.things else ""
    return Row(
        attempt.student, attempt.stage, file, _local(attempt.submitted, policy), attempt.clock, each.dated, days,
        arrival.team, tuple(doubts),
    )  # fmt: skip


def _late(days: int, arrival: Arrival) -> str:
    what = f"{_days(days)} late by the time of the file, which copying changes"
    if arrival.platform != "canvas":
        return what
    return f"{what}; Canvas {'calls' if any(each.marked_late for each in arrival.things) else 'does not call'} it late"


def _local(moment: datetime | None, policy: Policy) -> datetime | None:
    return None if moment is None else moment.astimezone(policy.zone)


def _dated(rows: Sequence[Row]) -> list[Row]:
    """Return rows where, if one unpacking wrote all files after the deadline, each that is late says so."""
    times = [row.submitted for row in rows if row.clock == "file" and row.submitted is not None]
    late = [row for row in rows if any(doubt.reason == "late by file" for doubt in row.doubts)]
    if len(times) < 2 or len(late) < len(times) or max(times) - min(times) > UNPACKING:
        return list(rows)
    what = f"late by the time of the file: all {len(times)} were written within {_span(max(times) - min(times))}, "
    what += "as by unpacking them"
    return [
        replace(
            row,
            doubts=tuple(replace(each, text=what) if each.reason == "late by file" else each for each in row.doubts),
        )
        for row in rows
    ]


def _days(number: int) -> str:
    return f"{number} day{'' if number == 1 else 's'}"


def _span(span: timedelta) -> str:
    seconds = int(span.total_seconds()) + 1
    return f"{seconds} s" if seconds < 60 else f"{-(-seconds // 60)} min"


def _entry(row: Row) -> dict[str, Any]:
    return {
        "student": row.student,
        "stage": row.stage,
        "file": row.file or None,
        "submitted": row.submitted.isoformat() if row.submitted else None,
        "clock": row.clock,
        "dated": row.dated or None,
        "late_days": row.late_days,
        "team": row.team or None,
        "doubts": [{"reason": each.reason, "text": each.text, "remedy": each.remedy or None} for each in row.doubts],
    }
