"""A class as a list: each student's repository and commit, under a name that may stand in a file's name and a command.

The list is a CSV file with the columns `student`, `repository` and `revision`, or the same in JSON, as an event brings
it; further columns, as a class.csv has them, are left alone. Students choose the names of repositories, and perhaps
their own: what does not have the expected form is refused, and a student's name is made of small letters, digits, `-`
and `_` before anything sees it; of one without any of these, the repository's serves. Two that become one are refused.
One repository may be of several students, as a team's is. Where there is no revision, nothing was handed in.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grader.classroom.pull import expect_repository, expect_revision
from grader.errors import UsageError
from grader.gradebook.roster import read_sheet
from grader.report.escape import one_line

COLUMNS = ("student", "repository", "revision")
MAX_BYTES = 1 << 20
MAX_JOBS = 256  # that GitHub makes of one matrix
BATCH = 20  # students of a job
MOST_STUDENTS = 800  # whose list still fits into a variable of the environment
MAX_NAME = 60
SHOWN = 8
_FORM = 'Expected [{"student": "ada", "repository": "OWNER/NAME", "revision": "<40 digits>"}, …].'


@dataclass(frozen=True)
class Student:
    """A student by the name that files and jobs bear, and the commit to grade."""

    name: str
    repository: str
    revision: str


def read_csv(path: Path) -> tuple[Student, ...]:
    """Return the students of a CSV file with a header; raises UsageError, with the lines that are wrong."""
    expected = f"Expected {','.join(COLUMNS)}."
    sheet = read_sheet(path, expected)
    if any(sheet.columns.count(name) != 1 for name in COLUMNS):
        raise UsageError(f"the roster {path} begins with {one_line(','.join(sheet.columns))[:80]!r}", expected)
    rows = [(f"line {each.number}", [each.cells[name] for name in COLUMNS] if each.is_whole else ())
            for each in sheet.lines]  # fmt: skip
    return _students(rows, f"the roster {path}")


def read_json(text: str) -> tuple[Student, ...]:
    """Return the students of a list in JSON; raises UsageError, with the entries that are wrong."""
    try:
        found = json.loads(text) if len(text) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise UsageError("the list of students is not a list in JSON", _FORM)
    return _students([(f"entry {at}", _cells(each)) for at, each in enumerate(found, 1)], "the list of students")


def one(repository: str, revision: str) -> tuple[Student, ...]:
    """Return a class of one student, named after the repository; raises UsageError."""
    return (_student(["", repository, revision]),)


def batches(students: Sequence[Student], size: int = BATCH) -> tuple[tuple[Student, ...], ...]:
    """Return the students of each job, of those that handed in something; UsageError for more than a run has room for.

    >>> [len(each) for each in batches([Student(str(at), "class/x", "f") for at in range(45)])]
    [20, 20, 5]
    """
    if len(students) > MOST_STUDENTS:
        what = f"{len(students)} students are too many for one run"
        raise UsageError(what, f"Start a run for each part of the class, of at most {MOST_STUDENTS}.")
    given = [each for each in students if each.revision]
    found = tuple(tuple(given[at : at + size]) for at in range(0, len(given), size))
    if len(found) > MAX_JOBS:
        raise UsageError(
            f"{len(found)} jobs are too many", f"GitHub takes {MAX_JOBS} in a run: give each more students."
        )
    return found


def unknown(students: Sequence[Student], stages: Sequence[str], results: Path) -> tuple[Student, ...]:
    """Return the students of whose commit an earlier results.csv has no verdict on one of the stages."""
    known: set[tuple[str, str, str]] = set()
    for line in read_sheet(results, "Expected the results.csv of an earlier run.").lines:
        if line.cells.get("outcome") in ("graded", "missing"):
            known.add((line.cells.get("student", ""), line.cells.get("stage", ""), line.cells.get("file", "")))
    return tuple(
        each
        for each in students
        if not all((each.name, stage, f"{each.repository}@{each.revision}") in known for stage in stages)
    )


def document(students: Sequence[Student]) -> str:
    """Return a class as JSON on one line in ASCII; read_json reads the same class of it."""
    return json.dumps([asdict(each) for each in students], separators=(",", ":"))


def group(students: Sequence[Student], stages: Sequence[str]) -> str:
    """Return eight digits for what is graded together, which tell artifacts of two gradings in one run apart."""
    return hashlib.sha256(json.dumps([document(students), *stages]).encode()).hexdigest()[:8]


def slug(name: str) -> str:
    """Return a name in small letters, digits, - and _; empty where nothing of it is left.

    Example:
        >>> slug("Zoë O'Hara")
        'zoe-o-hara'
    """
    plain = unicodedata.normalize("NFKD", name[: 4 * MAX_NAME]).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_]+", "-", plain).strip("-_")[:MAX_NAME].strip("-_")


def _cells(entry: Any) -> list[str]:
    """Return an entry as a line of the roster; one of another form as a line that is refused."""
    named: dict[str, Any] = entry if isinstance(entry, dict) else {"": None}
    if not set(named) <= {*COLUMNS, "name"} or not all(isinstance(value, str) for value in named.values()):
        return []
    name = named.get("student") or named.get("name", "")
    return [name, named.get("repository", ""), named.get("revision", "")]


def _students(rows: Sequence[tuple[str, Sequence[str]]], what: str) -> tuple[Student, ...]:
    """Return the students of numbered lines; UsageError names all lines that are wrong, as far as they fit."""
    found: list[tuple[str, Student]] = []
    wrong: list[str] = []
    for place, cells in rows:
        try:
            found.append((place, _student(cells)))
        except UsageError as error:
            wrong.append(f"{place}: {one_line(error.message)[:200]}. {error.hint}")
    wrong += _twice(found)
    if wrong:
        more = [f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
        raise UsageError(
            "\n".join([f"{what} cannot be used as it is:", *wrong[:SHOWN], *more]),
            "Correct them first: nothing is graded while one is wrong.",
        )
    if not found:
        raise UsageError(f"{what} names no student", "Expected at least one.")
    return tuple(student for _, student in found)


def _student(cells: Sequence[str]) -> Student:
    if len(cells) != len(COLUMNS):
        raise UsageError(f"not {len(COLUMNS)} values", f"Expected {', '.join(COLUMNS)}.")
    given, repository, revision = (cell.strip() for cell in cells)
    expect_repository(repository)
    if repository.startswith("-"):
        raise UsageError(f"{repository!r} is not a repository", "An owner's name does not begin with -.")
    if revision:
        expect_revision(revision)
    if not (name := slug(given) or slug(repository)):
        raise UsageError(f"{given!r} has no letter or digit of ASCII", "Give a name such as a user name.")
    return Student(name, repository, revision)


def _twice(found: Sequence[tuple[str, Student]]) -> Iterator[str]:
    """Yield what is wrong with students that another line names already."""
    seen: dict[str, str] = {}
    for place, student in found:
        if (first := seen.setdefault(student.name, place)) != place:
            yield f"{place}: the student {student.name!r} is in {first} already. Each is graded once."
