"""Reads who is in a class, from `class.csv` or from what Canvas, Moodle, Gradescope or GitHub Classroom export.

Which of them wrote a file, its columns say; capitals, order, further columns and separators do not matter. Sources:
Canvas, "Export grades from the Gradebook"; Moodle, mod/assign/gradingtable.php (offline grading worksheet) and the
list of participants; Gradescope, "Roster" and "Download Grades"; GitHub Classroom, classroom_roster.csv and grades.csv.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from grader.course.table import did_you_mean, listed
from grader.errors import UsageError
from grader.gradebook.records import Member
from grader.report.escape import csv_text
from grader.report.gradescope import PACKED
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
_OWN["repository"] = "submission"  # of the list that CI grades
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
    "Gradescope or GitHub Classroom as it is, with English headings."
)
_WORKSHEET = "Expected what Moodle calls its grading worksheet, with the English columns Identifier and Maximum Grade."
MAXIMUM = "maximum grade"
_PARTICIPANT = re.compile(r"(?:Participant )?([0-9]+)")
_TEACH = ("instructor", "ta", "reader", "teacher", "observer", "admin")  # roles that hand in nothing
METADATA = "submission_metadata.yml"
MAX_METADATA = 256 << 20  # results of autograders are in it
MAX_LINE = 1 << 20  # characters of a line that is read
_SUBMISSION = re.compile(r"([\w.-]+):\s*")
_ENTRY = re.compile(r"(?P<indent> +)(?P<item>- )?:?(?P<key>\w+):(?: (?P<value>.*))?")
_ESCAPED = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_SIGNS = {"n": "\n", "t": "\t", "e": "\x1b", "0": "\0"}
MAX_BYTES = 16 << 20
_SEPARATORS = ",;\t"
_PLATFORM = (  # how Moodle and Gradescope write a moment
    "%A, %d %B %Y, %I:%M %p",
    "%A, %d %B %Y, %H:%M",
    "%d %B %Y, %I:%M %p",
    "%Y-%m-%d %H:%M:%S %z",
    "%Y-%m-%d %H:%M:%S UTC",
)
_FRACTION = re.compile(r"(?<=:[0-9]{2})\.[0-9]+")  # of a second


def read_roster(path: Path, zone: tzinfo) -> tuple[Member, ...]:
    """Return the students of a roster by name; UsageError with every mistake in it. zone is of times without one."""
    sheet = read_sheet(path, _EXPECTED)
    platform, meaning = _kind(path, sheet.columns)
    twice = (name for name in dict.fromkeys(sheet.columns) if name in meaning and sheet.columns.count(name) > 1)
    mistakes = [f"column {name!r} is there twice" for name in twice]
    found: list[tuple[int, Member]] = []
    for line in sheet.lines:
        cells: dict[str, str] = {}
        for name, cell in line.cells.items():  # the first of two columns with one meaning counts
            if name in meaning and cell.strip():
                cells.setdefault(meaning[name], cell.strip())
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
        told = first_of(f"{path.name}, {each}" for each in mistakes)
        raise UsageError(told, "Correct the roster first: nothing was graded.")
    if not named:
        raise UsageError(f"{path.name} lists no student", _EXPECTED)
    return tuple(sorted((member for _, member in named), key=lambda member: member.student))


def read_rosters(paths: Iterable[Path], zone: tzinfo) -> tuple[Member, ...]:
    """Return the students of several rosters: what one leaves blank the next one fills in."""
    found: tuple[Member, ...] = ()
    for path in dict.fromkeys(paths):
        found = merged(found, read_roster(path, zone))
    return found


@dataclass(frozen=True)
class Worksheet:
    """Moodle's grading worksheet of one assignment, in which participants are numbered anew.

    numbers are the participants' by all that stands for one of them alone; maximum is the most points, if it has any.
    """

    numbers: Mapping[str, str]
    maximum: float | None

    def number(self, student: Member) -> str:
        """Return the number of a student; empty for one who is not in it."""
        found = {self.numbers[key] for key in keys(student) if key in self.numbers}
        return found.pop() if len(found) == 1 else ""


def read_worksheet(path: Path, zone: tzinfo) -> Worksheet:
    """Return what a worksheet of Moodle says; UsageError for another file."""
    sheet = read_sheet(path, _WORKSHEET)
    if not {"identifier", MAXIMUM} <= set(sheet.columns):
        raise UsageError(f"{path.name} is not a grading worksheet of Moodle", _WORKSHEET)
    members = read_roster(path, zone)
    numbers = {each.student: each.moodle_id for each in members}
    known = {key: numbers[name] for key, name in known_as((), members).items()}
    cells = (line.cells.get(MAXIMUM, "").strip().replace(",", ".") for line in sheet.lines)
    most = [float(cell) for cell in cells if re.fullmatch(r"[0-9]+(\.[0-9]+)?", cell)]
    return Worksheet(known, min(most, default=None))


def first_of(mistakes: Iterable[str]) -> str:
    """Return the first of many mistakes, a line each, and how many more there are."""
    found = list(mistakes)
    more = [f"… and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return "\n".join([*found[:SHOWN], *more])


def merged(members: Sequence[Member], more: Iterable[Member]) -> tuple[Member, ...]:
    """Return a roster with what a second one knows: its blanks filled in, and who was not in it.

    >>> merged([Member("ada", email="ada@uni.edu")], [Member("Ada L.", email="Ada@uni.edu", canvas_id="4711")])
    (Member(student='ada', name='', login='', email='ada@uni.edu', section='', team='', canvas_id='4711', ...
    """
    found = list(members)
    known_by = [keys(replace(each, submission="")) for each in members]  # a submission may be of several
    for member in more:
        mine = keys(replace(member, submission=""))
        same = [at for at, theirs in enumerate(known_by) if theirs & mine]
        if len(same) != 1:
            found.append(member)
            continue
        known = found[same[0]]
        blanks = {each.name: getattr(member, each.name) for each in fields(known) if not getattr(known, each.name)}
        found[same[0]] = replace(known, **blanks)
    return tuple(sorted(found, key=lambda member: member.student))


def described(roster: Sequence[Member], by_export: Iterable[Member]) -> tuple[Member, ...]:
    """Return a roster with what an export says of its students, else those whom the export names.

    >>> [each.gradescope_id for each in described([Member("ada", email="a@b")], [Member("a@b", gradescope_id="7")])]
    ['7']
    """
    named = {each.student: each for each in by_export}
    known = {each.student for each in roster}
    found = merged(roster, named.values()) if roster else tuple(named.values())
    return tuple(each for each in found if not roster or each.student in known)


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
    last, comma, first = member.name.partition(",")
    names += [f"{first.strip()} {last.strip()}"] if comma else []
    return {folded([name])[0] for name in names if name}


def known_as(students: Iterable[str], roster: Iterable[Member]) -> dict[str, str]:
    """Return what means which student, folded: their name in the gradebook, or what the roster knows of them alone.

    >>> known_as(["al1", "al2"], [Member("al1", "Lovelace, Ada"), Member("al2", "Ada Lovelace", email="al@uni.edu")])
    {'lovelace, ada': 'al1', 'al@uni.edu': 'al2', 'al': 'al2', 'al1': 'al1', 'al2': 'al2'}
    """
    found: dict[str, set[str]] = {}
    for member in roster:
        for key in sorted(keys(member), key=len, reverse=True):
            found.setdefault(key, set()).add(member.student)
    alone = {key: next(iter(names)) for key, names in found.items() if len(names) == 1}
    named = {folded([each])[0]: each for each in students}
    return {key: name for key, name in alone.items() if key not in named} | named


def squeezed(name: str) -> str:
    """Return a name as Canvas writes it before the numbers of a file: its letters and digits, small.

    >>> squeezed("O'Neil, Zoë")
    'oneilzoë'
    """
    return "".join(char for char in name.casefold() if char.isalnum())


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
        if member.student == member.name and names.count(member.student) > 1 and number
        else (line, member)
        for line, member in found
        for number in (member.identity or member.sis_id,)
    ]


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


@dataclass(frozen=True)
class SheetLine:
    """One line of a file: its number, its cells by column, and whether it has as many as the first line."""

    number: int
    cells: Mapping[str, str]
    is_whole: bool


@dataclass(frozen=True)
class Spreadsheet:
    """The columns of a CSV file in small letters, as its first line names them, and the lines that hold anything."""

    columns: tuple[str, ...]
    lines: tuple[SheetLine, ...]


def read_sheet(path: Path, example: str) -> Spreadsheet:
    """Return what a CSV file holds; UsageError with `example` for one that cannot be read."""
    text = _text(path, example)
    first = text.partition("\n")[0]
    rows = io.StringIO(text, newline="")  # so that a name keeps what else some would take for an end of a line
    reader = csv.reader(rows, delimiter=max(_SEPARATORS, key=first.count))
    lines: list[SheetLine] = []
    try:
        columns = tuple(name.strip().lower() for name in next(reader, []))
        for cells in reader:
            if any(cell.strip() for cell in cells):
                found = dict(zip(columns, cells, strict=False))
                lines.append(SheetLine(reader.line_num, found, len(cells) == len(columns)))
    except csv.Error as error:
        raise UsageError(f"{path.name}, line {reader.line_num}: {error}", example) from error
    return Spreadsheet(columns, tuple(lines))


def moment(text: str, zone: tzinfo) -> datetime | str | None:
    """Return a moment, None for an empty text, or what is wrong with it; zone is of those without an offset.

    >>> from datetime import UTC
    >>> moment("Friday, 20 November 2026, 10:05 AM", UTC)
    datetime.datetime(2026, 11, 20, 10, 5, tzinfo=datetime.timezone.utc)
    """
    text = _FRACTION.sub("", text.strip())
    if text in ("", "-"):
        return None
    for form in (None, *_PLATFORM):
        try:
            found = datetime.fromisoformat(text) if form is None else datetime.strptime(text, form)
            break
        except ValueError:
            continue
    else:
        return f"{text!r} is not a moment; expected a date and a time, as in 2026-11-30T23:59:00+01:00"
    if found.tzinfo is None:
        return found.replace(tzinfo=UTC if text.endswith("UTC") else zone)
    return found


def _text(path: Path, example: str) -> str:
    """Return the text of a file; UsageError for one that is too long, or in another encoding, with its line."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} has more than {MAX_BYTES:,} bytes", example)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(f"{path} cannot be read: line {line} is not in UTF-8", "Save it as CSV in UTF-8.") from error


@dataclass
class SubmissionMetadata:
    """Who submitted one folder, and when; words are what our autograder left in the extra data of its results."""

    members: list[Member] = field(default_factory=list)
    created: datetime | None = None
    words: list[str] = field(default_factory=list)


def read_metadata(path: Path, zone: tzinfo) -> Mapping[str, SubmissionMetadata]:
    """Return the submissions by the name of their folder; UsageError for a file of another form.

    The file is what Ruby writes; of that form the keys `:submitters:` and `:created_at:` of each submission are read
    line by line, and the verdicts in the extra data of `:results:`. Whatever a key holds is indented deeper than it,
    also the lines of a text: so no text can pass for one of these keys.
    """
    found: dict[str, SubmissionMetadata] = {}
    people: dict[str, list[dict[str, str]]] = {}
    name = within = ""
    above: list[tuple[int, str]] = []  # the keys that hold a line, with their indents
    for line in _metadata_lines(path):
        indent = len(line) - len(line.lstrip(" "))
        above = [each for each in above if each[0] < indent]
        if within == "results" and _is_verdict(above):  # a word on a line of its own
            found[name].words[-1] += line.strip()
        elif match := _SUBMISSION.fullmatch(line):
            name, within = match[1], ""
            found[name], people[name] = SubmissionMetadata(), []
        elif (entry := _ENTRY.fullmatch(line)) is None or not name:
            continue
        elif len(entry["indent"]) == 2 and not entry["item"]:
            within = entry["key"]
            if within == "created_at":
                when = moment(_scalar(entry["value"] or "").replace(" Z", " UTC"), zone)
                found[name].created = when if isinstance(when, datetime) else None
        elif within == "submitters":
            if entry["item"]:
                people[name].append({})
            if people[name]:
                people[name][-1][entry["key"]] = _scalar(entry["value"] or "")
        else:
            above.append((indent, "-" if entry["item"] else entry["key"]))
            if within == "results" and _is_verdict(above):
                value = entry["value"] or ""
                found[name].words.append("" if value.startswith((">", "|")) else _scalar(value))
    for name, persons in people.items():
        for person in persons:
            known, number, email = (person.get(key, "") for key in ("name", "sid", "email"))
            if student := email or known or number:
                member = Member(student, known, email=email, gradescope_id=number)
                found[name].members.append(member)
    if not any(each.members for each in found.values()):
        raise UsageError(f"{path.name} names nobody who submitted", "Expected the file as Gradescope exports it.")
    return found


def _is_verdict(above: Sequence[tuple[int, str]]) -> bool:
    """Say whether these keys below results, with their indents, are those of a packed verdict."""
    indents, names = [each[0] for each in above], [each[1] for each in above]
    return indents == [4, 6, 8] and (names[0], names[2]) == ("extra_data", PACKED)


def _metadata_lines(path: Path) -> Iterator[str]:
    try:
        if path.stat().st_size > MAX_METADATA:
            raise UsageError(f"{path.name} has more than {MAX_METADATA:,} bytes")
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if len(line) <= MAX_LINE:
                    yield line.rstrip("\r\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _scalar(text: str) -> str:
    """Return a value of YAML as text.

    >>> _scalar("'O''Neil'"), _scalar('"Zo\\\\xEB"'), _scalar("1001"), _scalar("null")
    ("O'Neil", 'Zoë', '1001', '')
    """
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return _ESCAPED.sub(
            lambda found: chr(int(found[1][1:], 16)) if len(found[1]) > 1 else _SIGNS.get(found[1], found[1]),
            text[1:-1],
        )
    return "" if text in ("~", "null", "") else text
