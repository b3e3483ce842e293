"""Who is in a class, from `class.csv` or from what Canvas, Moodle, Gradescope or GitHub Classroom export.

Which of them wrote a file, its columns say; capitals, order, further columns and separators do not matter. Sources:
Canvas, "Export grades from the Gradebook"; Moodle, mod/assign/gradingtable.php (offline grading worksheet) and the
list of participants; Gradescope, "Roster" and "Download Grades"; GitHub Classroom, classroom_roster.csv and grades.csv.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import tzinfo
from pathlib import Path
from typing import Any

from grader.course.table import did_you_mean, listed
from grader.errors import UsageError
from grader.gradebook.intake.spreadsheet import Line, moment, read
from grader.gradebook.records import Member
from grader.report.escape import csv_text
from grader.submission.files import folded, printable, shown

FILE = "class.csv"
SHOWN = 20  # mistakes at most
COLUMNS = (
    "name", "login", "email", "section", "team", "canvas_id", "sis_id", "sis_login", "moodle_id", "gradescope_id",
    "submitted",
)  # fmt: skip
# What the columns of each export mean, by their names in small letters; the first set that a file has all of says
# which export it is.
_CANVAS = {
    "student": "name", "id": "canvas_id", "sis user id": "sis_id", "sis login id": "sis_login", "section": "section",
    "group": "team", "group name": "team",
}  # fmt: skip
_MOODLE = {
    "identifier": "moodle_id", "full name": "name", "username": "login", "email address": "email",
    "id number": "sis_id", "group": "team", "groups": "team", "last modified (submission)": "submitted",
}  # fmt: skip
_PARTICIPANTS = {
    "first name": "first", "last name": "last", "surname": "last", "username": "login", "email address": "email",
    "email": "email", "id number": "sis_id", "student id": "sis_id", "groups": "team", "group": "team",
}  # fmt: skip
_GRADESCOPE = {
    "first name": "first", "last name": "last", "name": "name", "sid": "gradescope_id", "email": "email",
    "section": "section", "sections": "section", "role": "role", "submission id": "submission",
    "submission time": "submitted",
}  # fmt: skip
_GITHUB = {
    "identifier": "name", "roster_identifier": "name", "github_username": "login", "name": "name",
    "student_repository_name": "submission", "submission_timestamp": "submitted",
}  # fmt: skip
_OWN = {"student": "student", **{name: name for name in COLUMNS}}
_OWN |= {name.replace("_", " "): name for name in COLUMNS} | {"e-mail": "email", "mail": "email", "group": "team"}
_EXPORTS: tuple[tuple[str, Sequence[set[str]], Mapping[str, str]], ...] = (
    ("Moodle", [{"identifier", "full name"}], _MOODLE),
    ("GitHub Classroom", [{"identifier", "github_username"}, {"roster_identifier", "github_username"}], _GITHUB),
    ("Gradescope", [{"sid", "email"}], _GRADESCOPE),
    ("Canvas", [{"student", "id", each} for each in ("sis user id", "sis login id", "section")], _CANVAS),
    ("Moodle", [{"first name", "surname"}, {"first name", "last name"}], _PARTICIPANTS),
    ("class.csv", [{"student"}, {"name"}, {"login"}, {"email"}], _OWN),
)
_EXPECTED = (
    "Expected a column student, as in student,name,login,email,section,team,canvas_id, or an export of Canvas, Moodle, "
    "Gradescope or GitHub Classroom as it is."
)
_PARTICIPANT = re.compile(r"(?:Participant )?([0-9]+)")
_TEACH = ("instructor", "ta", "reader", "teacher", "observer", "admin")  # roles that hand in nothing


def read_roster(path: Path, zone: tzinfo) -> tuple[Member, ...]:
    """Return the students of a roster by name; UsageError with every mistake in it. zone is of times without one."""
    sheet = read(path, _EXPECTED)
    columns = tuple(name.lower() for name in sheet.columns)
    platform, meaning = _kind(path, columns)
    mistakes = [
        f"column {name!r} is there twice" for name in dict.fromkeys(columns) if _is_twice(name, columns, meaning)
    ]
    found: list[tuple[int, Member]] = []
    for line in sheet.lines:
        cells = {meaning[name]: cell for name, cell in _cells(line, meaning)}
        if _is_nobody(platform, cells):
            continue
        member = _member(cells, zone)
        if isinstance(member, str):
            mistakes.append(f"line {line.number}: {member}")
        else:
            found.append((line.number, member))
    named = _named(found)
    mistakes += _same(named)
    if mistakes:
        more = [f"… and {len(mistakes) - SHOWN} more"] if len(mistakes) > SHOWN else []
        said = [f"{path.name}, {each}" for each in mistakes[:SHOWN]]
        raise UsageError("\n".join([*said, *more]), "Correct the roster first: nothing was graded.")
    if not named:
        raise UsageError(f"{path.name} lists no student", _EXPECTED)
    return tuple(sorted((member for _, member in named), key=lambda member: member.student))


def merged(members: Sequence[Member], more: Iterable[Member]) -> tuple[Member, ...]:
    """Return a roster with what a second one knows: its blanks filled in, and who was not in it.

    >>> merged([Member("ada", email="ada@uni.edu")], [Member("Ada L.", email="Ada@uni.edu", canvas_id="4711")])
    (Member(student='ada', name='', login='', email='ada@uni.edu', section='', team='', canvas_id='4711', ...
    """
    found = list(members)
    for member in more:
        same = [at for at, each in enumerate(found) if keys(each) & keys(member)]
        if len(same) != 1:
            found.append(member)
            continue
        known = found[same[0]]
        blanks = {each.name: getattr(member, each.name) for each in fields(known) if not getattr(known, each.name)}
        found[same[0]] = replace(known, **blanks)
    return tuple(sorted(found, key=lambda member: member.student))


def as_csv(members: Iterable[Member]) -> str:
    """Return a roster as the text of class.csv, without columns that are empty for all."""
    listed_in = list(members)
    kept = [each for each in COLUMNS if each != "submitted" and any(getattr(member, each) for member in listed_in)]
    lines = [[member.student, *(getattr(member, each) for each in kept)] for member in listed_in]
    return csv_text([["student", *kept], *lines])


def keys(member: Member) -> set[str]:
    """Return what may stand for a student in the name of a file or a folder, folded."""
    names = [member.student, member.login, member.email, member.sis_login, member.name, member.submission]
    names += [each.partition("@")[0] for each in names if "@" in each]
    names += [_turned(member.name)]
    return {folded([name])[0] for name in names if name}


def squeezed(name: str) -> str:
    """Return a name as Canvas writes it before the numbers of a file: its letters and digits, small.

    >>> squeezed("O'Neil, Zoë")
    'oneilzoë'
    """
    return "".join(char for char in name.casefold() if char.isalnum())


def _turned(name: str) -> str:
    """Return `Lovelace, Ada` as `Ada Lovelace`; another name as it is."""
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}" if comma else name


def sortable(name: str) -> str:
    """Return `Ada Lovelace` as `Lovelace, Ada`; a name with a comma as it is."""
    first, _, last = name.strip().rpartition(" ")
    return name if "," in name or not first else f"{last}, {first}"


def _kind(path: Path, columns: Sequence[str]) -> tuple[str, Mapping[str, str]]:
    """Return who wrote a file, and what its columns mean."""
    for platform, needed, meaning in _EXPORTS:
        if any(each <= set(columns) for each in needed):
            return platform, meaning
    named = ", ".join(repr(printable(name)) for name in columns[:6])
    near = next((hint for name in columns if (hint := did_you_mean(name, ("student", *COLUMNS)))), "")
    what = (
        f"its first line is empty; expected {listed(('student', *COLUMNS[:5]))}" if not columns else f"columns {named}"
    )
    raise UsageError(f"{path.name} is not the roster of a class: {what}{near}", _EXPECTED)


def _is_twice(name: str, columns: Sequence[str], meaning: Mapping[str, str]) -> bool:
    return name in meaning and columns.count(name) > 1


def _cells(line: Line, meaning: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Yield what a line has to say, by column in small letters; the first of two columns with one meaning counts."""
    known: set[str] = set()
    for column, cell in line.cells.items():
        name, text = column.lower(), cell.strip()
        if name in meaning and text and meaning[name] not in known:
            known.add(meaning[name])
            yield name, text


def _is_nobody(platform: str, cells: Mapping[str, str]) -> bool:
    """Say whether a line is of no student: Canvas's points possible and test student, teachers of Gradescope."""
    if platform == "Canvas":
        return not cells.get("canvas_id", "").isdigit() or cells.get("name") == "Student, Test"
    return cells.get("role", "").casefold() in _TEACH


def _member(cells: Mapping[str, str], zone: tzinfo) -> Member | str:
    """Return the student of a line, or what is wrong with it; without a name for the gradebook where none is given."""
    if any(printable(text) != text for text in cells.values()):
        return f"{shown(next(text for text in cells.values() if printable(text) != text))!r} cannot be shown"
    when = moment(cells.get("submitted", ""), zone)
    if isinstance(when, str):
        return f"submitted: {when}"
    known: dict[str, Any] = {each.name: cells[each.name] for each in fields(Member) if each.name in cells}
    known["name"] = cells.get("name") or " ".join(filter(None, [cells.get("first"), cells.get("last")]))
    if (number := known.get("moodle_id")) and (match := _PARTICIPANT.fullmatch(number)):
        known["moodle_id"] = match[1]
    names = (known.get(each) for each in ("student", "login", "sis_login", "email", "name"))
    student = next(filter(None, names), "")
    if not student:
        return f"no name: expected one of {listed(('student', 'name', 'login', 'email'))}"
    if (submission := known.get("submission", "")).isdigit():
        known["submission"] = f"submission_{submission}"  # Gradescope's name of the folder in its export
    return Member(**{**known, "student": student, "submitted": when})


def _named(found: Sequence[tuple[int, Member]]) -> list[tuple[int, Member]]:
    """Return the students; where two bear one name and nothing else is known, with a platform's number behind it."""
    names = [member.student for _, member in found]
    return [
        (line, replace(member, student=f"{member.student}_{number}"))
        if member.student == member.name and names.count(member.student) > 1 and (number := _number(member))
        else (line, member)
        for line, member in found
    ]


def _number(member: Member) -> str:
    return member.canvas_id or member.moodle_id or member.gradescope_id or member.sis_id


def _same(found: Sequence[tuple[int, Member]]) -> list[str]:
    """Return what is wrong with students that another line names already, by name or by a platform's number."""
    seen: dict[tuple[str, str], int] = {}
    wrong = []
    for line, member in found:
        for what in ("student", "canvas_id", "moodle_id", "gradescope_id", "login", "email"):
            value = getattr(member, what)
            if value and (first := seen.setdefault((what, folded([value])[0]), line)) != line:
                wrong.append(f"line {line}: {what} {shown(value)!r} is that of line {first}, too")
                break
    return wrong
