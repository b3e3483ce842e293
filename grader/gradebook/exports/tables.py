"""The marks as CSV: one line a mark for spreadsheets, and what the gradebooks of Canvas and Moodle import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.errors import UsageError
from grader.gradebook.exports.document import criteria_of
from grader.gradebook.table import Entry
from grader.report.escape import Cell, csv_text

COLUMNS = (
    "student", "identity", "stage", "points", "out_of", "automatic", "override", "reason", "outcome", "passed",
    "late_days", "budget_days", "submitted", "attempts", "criteria", "criteria_passed", "criteria_robust",
    "name", "login", "email", "section", "team",
)  # fmt: skip
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def as_csv(entries: Sequence[Entry]) -> str:
    """Return one line for each student and stage."""
    return csv_text([COLUMNS, *(_line(entry) for entry in entries)])


def _line(entry: Entry) -> list[Cell]:
    mark, override = entry.mark, entry.override
    return [
        entry.student,
        entry.identity,
        entry.stage,
        _number(entry.points),
        _number(mark.out_of if mark else None),
        _number(mark.points if mark else None),
        _number(override.points if override else None),
        entry.reason or entry.fault,
        entry.outcome,
        "yes" if entry.passed else "no",
        mark.late_days if mark else 0,
        mark.budget_days if mark else 0,
        entry.submitted.isoformat() if entry.submitted else "",
        entry.attempts,
        *criteria_of(entry).values(),
        *(getattr(entry.member, each, "") for each in ("name", "login", "email", "section", "team")),
    ]


def as_canvas(entries: Sequence[Entry]) -> str:
    """Return what Canvas imports: a line for each student, a column for each stage, the most points in the second line.

    It has no place for anything but points: each further column would become an assignment. A mark that is not known
    yet stays empty, which leaves Canvas' own as it is.
    """
    stages = sorted({entry.stage for entry in entries})
    cells = {(entry.student, entry.stage): entry for entry in entries}
    most = [_number(_most(entries, stage)) for stage in stages]
    lines: list[list[Cell]] = [[*CANVAS, *stages], ["    Points Possible", "", "", "", "", *most]]
    for student in dict.fromkeys(entry.student for entry in entries):
        mine = [cells.get((student, stage)) for stage in stages]
        who = _canvas(next(each for each in mine if each))
        lines.append([*who, *(_number(each.points if each else None) for each in mine)])
    return csv_text(lines)


def _canvas(entry: Entry) -> list[Cell]:
    """Return by what Canvas finds a student: the number of its own, else the SIS's."""
    member = entry.member
    if member is None:
        return [_name(entry.student, entry.identity), entry.identity, "", "", ""]
    name = member.name or _name(entry.student, entry.identity)
    number = member.canvas_id or (
        entry.identity if entry.identity not in (member.moodle_id, member.gradescope_id) else ""
    )
    return [name, number, member.sis_id, member.sis_login or member.login, member.section]


def as_moodle(entries: Sequence[Entry]) -> str:
    """Return Moodle's offline grading worksheet of one stage; UsageError for several."""
    stages = sorted({entry.stage for entry in entries})
    if len(stages) > 1:
        what = f"a grading worksheet of Moodle is of one assignment, and the gradebook has {', '.join(stages)}"
        raise UsageError(what, "Name one of them with --stage.")
    lines: list[list[Cell]] = [["Identifier", "Full name", "Grade", "Maximum Grade", "Feedback comments"]]
    for entry in entries:
        number = entry.member.moodle_id if entry.member else entry.identity
        identity = f"Participant {number}" if number else entry.student
        most = _number(entry.mark.out_of if entry.mark else None)
        name = (entry.member.name if entry.member else "") or _name(entry.student, entry.identity)
        lines.append([identity, name, _number(entry.points), most, _comment(entry)])
    return csv_text(lines)


def _comment(entry: Entry) -> str:
    """Return what students read beside their points; lateness costs nothing of points that were given by hand."""
    if entry.override is not None:
        return f"given by hand: {entry.reason}"
    days = entry.mark.late_days if entry.mark else 0
    late = f"{days} day{'' if days == 1 else 's'} late" if days else ""
    return "; ".join(filter(None, [entry.reason, entry.reached, late]))


def _name(student: str, identity: str) -> str:
    return student.removesuffix(f"_{identity}") if identity else student


def _most(entries: Iterable[Entry], stage: str) -> float | None:
    return max((each.mark.out_of for each in entries if each.stage == stage and each.mark), default=None)


def _number(value: float | None) -> Cell:
    """Return points as they are written: at most two digits, and none that say nothing."""
    if value is None:
        return None
    points = round(float(value), 2)
    return int(points) if points.is_integer() else points
