"""A class as a CSV list: `student,repository,revision`, and `submitted` where the time of a commit is not to count.

Repositories are local, and relative to the list. A student without a repository or a revision has handed in nothing;
a line without anything, as spreadsheets leave behind, is none.
Several lines of one student are attempts, if each has a `submitted` of its own.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from datetime import datetime, tzinfo
from pathlib import Path

from grader.course.table import did_you_mean, listed
from grader.errors import UsageError
from grader.gradebook.intake.arrivals import Arrival, Handed, joined

NEEDED = ("student", "repository", "revision")
KNOWN = (*NEEDED, "submitted")
MAX_BYTES = 16 << 20
SHOWN = 20
_EXAMPLE = "The first line is student,repository,revision or student,repository,revision,submitted."


def read_roster(path: Path, zone: tzinfo) -> tuple[Arrival, ...]:
    """Return the students of a list; UsageError with a line for each mistake in it."""
    lines = _lines(path)
    mistakes: list[str] = []
    found: dict[str, list[Handed]] = {}
    for number, row in lines:
        student = (row.get("student") or "").strip()
        when = _moment(row.get("submitted") or "", zone)
        if None in row or None in row.values():
            mistakes.append(f"line {number}: expected {len(row) - (None in row)} columns, as in the first line")
        elif not student:
            mistakes.append(f"line {number}: student is missing")
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


def _lines(path: Path) -> list[tuple[int, dict[str, str]]]:
    text = _text(path)
    first = text.partition("\n")[0]
    rows = io.StringIO(text, newline="")  # so that a name keeps what else some would take for an end of a line
    reader = csv.DictReader(rows, delimiter=";" if first.count(";") > first.count(",") else ",")
    try:
        names = [name.strip() for name in reader.fieldnames or ()]
        _expect_columns(path, names)
        reader.fieldnames = names
        return [(reader.line_num, row) for row in reader if any(map(_says, row.values()))]
    except csv.Error as error:
        raise UsageError(f"{path.name}, line {reader.line_num}: {error}", _EXAMPLE) from error


def _says(cell: str | list[str] | None) -> bool:
    """Say whether there is something in a cell, or in those that stand beyond the columns."""
    return bool(cell and "".join(cell).strip())


def _text(path: Path) -> str:
    """Return the text of a list; UsageError for one that is too long, or in another encoding, with its line."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} has more than {MAX_BYTES:,} bytes", _EXAMPLE)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(f"{path} cannot be read: line {line} is not in UTF-8", "Save it as CSV in UTF-8.") from error


def _expect_columns(path: Path, names: list[str]) -> None:
    unknown = [f"{name!r} is not a column of a list{did_you_mean(name, KNOWN)}" for name in names if name not in KNOWN]
    missing = [f"column {name!r} is missing" for name in NEEDED if name not in names]
    twice = [f"column {name!r} is there twice" for name in sorted({each for each in names if names.count(each) > 1})]
    if wrong := [*missing, *unknown, *twice]:
        raise UsageError(f"{path.name}: {'; '.join(wrong)}; expected {listed(KNOWN)}", _EXAMPLE)


def _moment(text: str, zone: tzinfo) -> datetime | str | None:
    """Return a moment, None for an empty text, or what is wrong with it."""
    text = text.strip()
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return f"{text!r} is not a moment; expected a date and a time, as in 2026-11-30T23:59:00+01:00"
    return found if found.tzinfo is not None else found.replace(tzinfo=zone)
