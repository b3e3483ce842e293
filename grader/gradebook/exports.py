"""The formats of `grader class export`, CSV to Parquet; report/formats.py has their registry."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC
from typing import Any, Literal

from grader.errors import UsageError, installs
from grader.gradebook.marks import Entry
from grader.gradebook.records import Member, Override
from grader.gradebook.roster import Worksheet
from grader.report.document import dumps
from grader.report.escape import Cell, csv_text
from grader.report.formats import Format
from grader.report.junit import TestCase, TestSuite, document
from grader.report.terminal.words import count

SCHEMA = 3  # of marks.schema.json
PERSON = ("name", "login", "email", "section", "team")
MEMBER = (*PERSON, "canvas_id", "sis_id", "sis_login", "moodle_id", "gradescope_id")
COLUMNS = (
    "student", "identity", "stage", "points", "out_of", "automatic", "override", "reason", "outcome", "passed",
    "late_days", "budget_days", "submitted", "attempts", "criteria", "criteria_passed", "criteria_robust", *PERSON,
    "file",
)  # fmt: skip
OF_CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
OF_MOODLE: list[Cell] = [
    "Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments",
]  # fmt: skip
SHOWN = 5  # students that a note names


def _facts(entry: Entry) -> dict[str, Any]:
    """Return what every format of one line a mark has, by name."""
    mark, verdict = entry.mark, entry.verdict or {}
    return {
        "student": entry.student,
        "identity": entry.identity,
        "stage": entry.stage,
        "outcome": entry.outcome,
        "passed": entry.passed,
        "criteria": entry.counts.get("criteria"),
        "criteria_passed": entry.counts.get("passed"),
        "criteria_robust": entry.counts.get("robust"),
        "points": entry.points,
        "out_of": mark.out_of if mark else None,
        "automatic": mark.points if mark else None,
        "before_lateness": mark.raw if mark else None,
        "late_days": mark.late_days if mark else 0,
        "budget_days": mark.budget_days if mark else 0,
        "attempts": entry.attempts,
        "seed": verdict.get("seed"),
        "isolation": verdict.get("isolation"),
        "submission": verdict.get("submission"),
    }


def _row(entry: Entry) -> dict[str, Any]:
    """Return what a row of a table has, by the names of its columns."""
    return {
        **_facts(entry),
        "override": entry.override.points if entry.override else None,
        "reason": entry.reason or entry.fault,
        "submitted": entry.submitted,
        **{each: getattr(entry.member, each, "") for each in PERSON},
        "file": entry.label,
    }


def as_csv(entries: Sequence[Entry]) -> str:
    """Return one line for each student and stage."""

    def line(entry: Entry) -> list[Cell]:
        row = _row(entry) | {
            "passed": "yes" if entry.passed else "no",
            "submitted": entry.submitted.isoformat() if entry.submitted else "",
        }
        return [_number(row[each]) if isinstance(row[each], float) else row[each] for each in COLUMNS]

    return csv_text([COLUMNS, *map(line, entries)])


def as_json(entries: Iterable[Entry]) -> str:
    """Return a document of a published shape (marks.schema.json)."""

    def mark(entry: Entry) -> dict[str, Any]:
        member, given = entry.member, entry.override
        known = {name: value for name, value in asdict(member).items() if name in MEMBER and value} if member else None
        return {
            **_facts(entry),
            "roster": known,
            "submitted": entry.submitted.isoformat() if entry.submitted else None,
            "override": _by_hand(given) if given else None,
            "corrections": [{"criterion": each.criterion, **_by_hand(each)} for each in entry.corrections],
            "file": entry.label or None,
            "reason": entry.problem or entry.fault or None,
            "rows": {each["id"]: each["status"] for each in (entry.verdict or {}).get("criteria", ())},
        }

    return dumps({"schema": SCHEMA, "marks": [mark(entry) for entry in entries]})


def _by_hand(given: Override) -> dict[str, Any]:
    return {"points": given.points, "reason": given.reason, "by": given.by, "at": given.at.isoformat()}


def as_canvas(entries: Sequence[Entry], assignments: Mapping[str, str] | None = None) -> str:
    """Return what Canvas imports: a line for each student, a column for each stage, the most points in the second line.

    assignments holds the numbers of Canvas's assignments by stage: a column `STAGE (4711)` is that assignment, and one
    without a number is taken for a new one of that name. It has no place for anything but points: each further column
    would become an assignment. A mark that is not known yet stays empty, which leaves Canvas' own as it is.
    """
    stages = sorted({entry.stage for entry in entries})
    cells = {(entry.student, entry.stage): entry for entry in entries}
    most = [
        _number(max((each.mark.out_of for each in entries if each.stage == stage and each.mark), default=None))
        for stage in stages
    ]
    numbers = assignments or {}
    heads = [f"{stage} ({numbers[stage]})" if stage in numbers else stage for stage in stages]
    lines: list[list[Cell]] = [[*OF_CANVAS, *heads], ["    Points Possible", "", "", "", "", *most]]
    for student in dict.fromkeys(entry.student for entry in entries):
        mine = [cells.get((student, stage)) for stage in stages]
        lines.append(
            [*_canvas(next(each for each in mine if each)), *(_number(each.points if each else None) for each in mine)]
        )
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


def _unknown_to_canvas(entries: Sequence[Entry]) -> list[str]:
    lost = [each.student for each in entries if not any(_canvas(each)[1:4])]
    remedy = "Give the export of Canvas's gradebook with --roster to `class intake`."
    return _left_out(lost, "Canvas finds", "the roster has no number of Canvas or of the SIS, and no login", remedy)


def _left_out(students: Iterable[str], finds: str, lacking: str, remedy: str) -> list[str]:
    """Return that a platform cannot find some students, and what helps."""
    lost = list(dict.fromkeys(students))
    if not lost:
        return []
    named = ", ".join(lost[:SHOWN]) + (f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else "")
    return [f"{finds} no {named}: {lacking}. {remedy}"]


def as_moodle(entries: Sequence[Entry]) -> str:
    """Return Moodle's offline grading worksheet of one stage; UsageError for several.

    By the rules of its importer (mod/assign/feedback/offline: importgradeslib.php, locallib.php): it wants the columns
    Identifier, Grade and "Last modified (grade)"; keeps its own grade where that was changed a minute after that time
    or later; passes over a grade above its maximum; and puts each comment, also an empty one, in the place of its own.
    So who has no points yet has no line, each line has a comment, and no points are above the maximum.
    """
    stages = sorted({entry.stage for entry in entries})
    if len(stages) > 1:
        what = f"a grading worksheet of Moodle is of one assignment, and the gradebook has {', '.join(stages)}"
        raise UsageError(what, "Name one of them with --stage.")
    lines: list[list[Cell]] = [OF_MOODLE]
    for entry in entries:
        points = _written(entry)
        if points is None:
            continue
        number = participant(entry)
        identity = f"Participant {number}" if number else entry.student
        most = entry.mark.out_of if entry.mark else None
        name = (entry.member.name if entry.member else "") or _name(entry.student, entry.identity)
        when = max(filter(None, [entry.graded, entry.override.at if entry.override else None]), default=None)
        changed = when.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if when else ""
        lines.append([identity, name, _number(points), _number(most), changed, comment(entry)])
    return csv_text(lines)


def participant(entry: Entry) -> str:
    """Return the number of the assignment that was handed in to, else the roster's, which may be of another one."""
    member = entry.member
    if member is None or (entry.identity and entry.identity not in (member.canvas_id, member.gradescope_id)):
        return entry.identity
    return member.moodle_id


def of_worksheet(entries: Iterable[Entry], worksheet: Worksheet) -> tuple[Entry, ...]:
    """Return entries with the numbers that a worksheet gives their students, and none for whom it does not name."""
    found: list[Entry] = []
    known = set(worksheet.numbers.values())
    for entry in entries:
        member = entry.member or Member(entry.student, _name(entry.student, entry.identity))
        number = entry.identity if entry.identity in known else worksheet.number(member)
        found.append(replace(entry, identity=number, member=replace(member, moodle_id=number)))
    return tuple(found)


def told_of_maximum(entries: Iterable[Entry], worksheet: Worksheet | None) -> str:
    """Return which points Moodle would skip, or that its maximum is not known; empty where all is well."""
    marks = [each for each in entries if each.mark is not None]
    if not marks:
        return ""
    most = max(each.mark.out_of for each in marks if each.mark)
    skips = "Moodle skips grades above the assignment's maximum without a word"
    if worksheet is None or worksheet.maximum is None:
        return f"{skips}: it has to be {most:g} or more. --worksheet compares."
    above = [points for each in marks if (points := _written(each) or 0.0) > worksheet.maximum]
    if not above:
        return ""
    stage = marks[0].stage
    return (
        f"warning: {skips}, which is {worksheet.maximum:g}: {count(len(above), 'student')} would have up to "
        f"{max(above):g}. Make it {most:g} in Moodle, or write `points = {worksheet.maximum:g}` under [stages.{stage}] "
        f"in class.toml and run `grader class regrade --stage {stage} --apply`."
    )


def _written(entry: Entry) -> float | None:
    """Return the points that stand in a worksheet: no more than there are."""
    return entry.points if entry.points is None or not entry.mark else min(entry.points, entry.mark.out_of)


OWN_WORKSHEET = "The assignment's own grading worksheet, as Moodle gives it, has them: --worksheet FILE."


def _unknown_to_moodle(entries: Sequence[Entry]) -> list[str]:
    lost = [each.student for each in entries if not participant(each)]
    waiting = sum(each.points is None for each in entries)
    told = _left_out(lost, "Moodle finds", "no participant's number of theirs is known", OWN_WORKSHEET)
    return [
        *told,
        *([f"{count(waiting, 'student')} without points: no line, so Moodle keeps theirs."] if waiting else []),
    ]


def comment(entry: Entry) -> str:
    """Return what students read beside their points, never nothing; lateness costs nothing of points given by hand."""
    if entry.override is not None:
        most = entry.mark.out_of if entry.mark else entry.override.points
        above = f"{_number(entry.override.points)} of {_number(most)} points; " if entry.override.points > most else ""
        return f"given by hand: {above}{entry.reason}"
    days = entry.mark.late_days if entry.mark else 0
    late = f"{count(days, 'day')} late" if days else ""
    points = f"{_number(entry.points)} of {_number(entry.mark.out_of)} points" if entry.mark else ""
    return "; ".join(filter(None, [entry.reason, entry.reached, late])) or points


def _name(student: str, identity: str) -> str:
    return student.removesuffix(f"_{identity}") if identity else student


def _number(value: float | None) -> Cell:
    """Return points as they are written: at most two digits, and none that say nothing."""
    if value is None:
        return None
    points = round(float(value), 2)
    return int(points) if points.is_integer() else points


def as_parquet(entries: Sequence[Entry]) -> bytes:
    """Return the file; UsageError where pyarrow is not installed. What is not known is null, and times are in UTC."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError("the format parquet needs pyarrow", installs("parquet", "pyarrow")) from error
    lines = [
        {
            **{name: None if value == "" else value for name, value in _row(entry).items()},
            "graded": entry.graded,
            "rows": [(each["id"], each["status"]) for each in (entry.verdict or {}).get("criteria", ())],
        }
        for entry in entries
    ]
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(lines, pyarrow.schema(_types(pyarrow))), out)
    return out.getvalue()


def _types(arrow: Any) -> dict[str, Any]:
    text, number, whole, moment = arrow.string(), arrow.float64(), arrow.int64(), arrow.timestamp("us", "UTC")
    return {
        "student": text, "identity": text, "stage": text, "outcome": text, "passed": arrow.bool_(), "criteria": whole,
        "criteria_passed": whole, "criteria_robust": whole, "points": number,
        "out_of": number, "automatic": number, "before_lateness": number, "late_days": whole, "budget_days": whole,
        "override": number, "reason": text, "submitted": moment, "graded": moment, "attempts": whole, "seed": whole,
        "isolation": text, "submission": text, "name": text, "login": text, "email": text,
        "section": text, "team": text, "file": text, "rows": arrow.map_(text, text),
    }  # fmt: skip


def as_junit(entries: Sequence[Entry]) -> str:
    """Return the marks as JUnit XML: a suite for each stage, a case for each student; without a verdict, an error.

    A suite began when the first of what counts was graded. Nothing is skipped, since most readers count that as green.
    """
    stages = sorted({entry.stage for entry in entries})
    return document(
        "grader class", [_suite(stage, [each for each in entries if each.stage == stage]) for stage in stages]
    )


def _suite(stage: str, entries: Sequence[Entry]) -> TestSuite:
    began = min((each.graded for each in entries if each.graded is not None), default=None)
    return TestSuite(stage, [_case(each) for each in entries], sum(map(_seconds, entries)), began)


def _seconds(entry: Entry) -> float:
    return float((entry.verdict or {}).get("duration_s") or 0.0)


def _case(entry: Entry) -> TestCase:
    """Return a case; what it prints, robust criteria and what a person said of their points, changes no verdict."""
    printed = "\n".join(filter(None, [entry.reached, entry.by_hand]))
    case = TestCase(entry.stage, entry.student, printed=printed, seconds=_seconds(entry))
    if entry.passed:
        return case
    points = count(entry.points, "point") if entry.points is not None else "no points yet"
    kind: Literal["failure", "error"] = "failure" if entry.outcome == "graded" else "error"
    return replace(case, kind=kind, message=points, type=entry.outcome, text=_text(entry))


def _text(entry: Entry) -> str:
    if entry.problem:
        return entry.problem
    if entry.outcome == "fault":
        return f"the grader failed; this costs the student nothing{f': {entry.fault}' if entry.fault else ''}"
    criteria = (entry.verdict or {}).get("criteria", ())
    return "\n".join(f"{each['id']}: {each['status']}" for each in criteria if each["status"] != "passed")


CSV = Format("csv", as_csv)
JSON = Format("json", as_json)
CANVAS = Format("canvas", as_canvas, notes=_unknown_to_canvas, has_assignments=True)
MOODLE = Format("moodle", as_moodle, notes=_unknown_to_moodle)
JUNIT = Format("junit", as_junit)
PARQUET = Format("parquet", as_parquet)
