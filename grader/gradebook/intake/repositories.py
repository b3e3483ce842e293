"""A class as a CSV list: `student,repository,revision`, and `submitted` where the time of a commit is not to count.

Repositories are local, and relative to the list. A student without a repository or a revision has handed in nothing;
a line without anything, as spreadsheets leave behind, is none. The columns of a roster (`roster.py`) may stand beside.
Several lines of one student are attempts, if each has a `submitted` of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, tzinfo
from pathlib import Path

from grader.course.table import did_you_mean, listed
from grader.errors import UsageError
from grader.gradebook.intake.arrivals import Arrival, Handed, joined
from grader.gradebook.intake.roster import COLUMNS
from grader.gradebook.intake.spreadsheet import moment, read

NEEDED = ("student", "repository", "revision")
KNOWN = (*NEEDED, "submitted")
SHOWN = 20
_URL = re.compile(r"[a-z+]+://|[^/@]+@[^/]+:", re.IGNORECASE)
_EXAMPLE = "The first line is student,repository,revision or student,repository,revision,submitted."


def read_repositories(path: Path, zone: tzinfo) -> tuple[Arrival, ...]:
    """Return the students of a list; UsageError with a line for each mistake in it."""
    columns, lines = _lines(path)
    mistakes: list[str] = []
    found: dict[str, list[Handed]] = {}
    for number, row, is_whole in lines:
        student = (row.get("student") or "").strip()
        when = moment(row.get("submitted") or "", zone)
        if not is_whole:
            mistakes.append(f"line {number}: expected {len(columns)} columns, as in the first line")
        elif not student:
            mistakes.append(f"line {number}: student is missing")
        elif _URL.match(row["repository"].strip()):
            what = f"line {number}: {row['repository'].strip()!r} is not a repository on this machine"
            mistakes.append(f"{what}; clone it, and name its folder")
        elif isinstance(when, str):
            mistakes.append(f"line {number}: submitted: {when}")
        else:
            _take(found, student, _handed(path.parent, row, when), number, mistakes)
    if mistakes:
        more = [f"… and {len(mistakes) - SHOWN} more"] if len(mistakes) > SHOWN else []
        said = [f"{path.name}, {each}" for each in mistakes[:SHOWN]]
        raise UsageError("\n".join([*said, *more]), "Nothing was graded.")
    if not found:
        raise UsageError(f"{path.name} lists no student", _EXAMPLE)
    return joined(Arrival(student, tuple(things)) for student, things in found.items())


def _take(
    found: dict[str, list[Handed]], student: str, things: tuple[Handed, ...], number: int, mistakes: list[str]
) -> None:
    known = found.get(student)
    if known is None:
        found[student] = list(things)
        return
    times = [each.submitted for each in (*known, *things)]
    if None in times or len(set(times)) < len(times) or not (known and things):
        mistakes.append(
            f"line {number}: {student} is there twice; attempts of one student need times of their own in a column "
            "submitted"
        )
    else:
        known += things


def _handed(folder: Path, row: Mapping[str, str], when: datetime | None) -> tuple[Handed, ...]:
    repository, revision = row["repository"].strip(), row["revision"].strip()
    if not repository or not revision:
        return ()
    name = f"{repository}@{revision}"
    return (Handed(folder / name, name, submitted=when),)


def _lines(path: Path) -> tuple[list[str], list[tuple[int, Mapping[str, str], bool]]]:
    sheet = read(path, _EXAMPLE)
    names = [name.lower() for name in sheet.columns]
    _expect_columns(path, names)
    return names, [
        (line.number, {name.lower(): cell for name, cell in line.cells.items()}, line.is_whole) for line in sheet.lines
    ]


def _expect_columns(path: Path, names: list[str]) -> None:
    known = (*KNOWN, *COLUMNS)
    unknown = [f"{name!r} is not a column of a list{did_you_mean(name, KNOWN)}" for name in names if name not in known]
    missing = [f"column {name!r} is missing" for name in NEEDED if name not in names]
    twice = [f"column {name!r} is there twice" for name in sorted({each for each in names if names.count(each) > 1})]
    if wrong := [*missing, *unknown, *twice]:
        raise UsageError(f"{path.name}: {'; '.join(wrong)}; expected {listed(KNOWN)}", _EXAMPLE)
