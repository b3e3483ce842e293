"""CSV files as spreadsheets and learning platforms write them: commas, semicolons or tabs, with or without a BOM."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from grader.errors import UsageError

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


@dataclass(frozen=True)
class Line:
    """One line of a file: its number, its cells by column, and whether it has as many as the first line."""

    number: int
    cells: Mapping[str, str]
    is_whole: bool


@dataclass(frozen=True)
class Spreadsheet:
    """The columns of a CSV file as its first line names them, and the lines below it that hold anything."""

    columns: tuple[str, ...]
    lines: tuple[Line, ...]


def read(path: Path, example: str) -> Spreadsheet:
    """Return what a CSV file holds; UsageError with `example` for one that cannot be read."""
    text = _text(path, example)
    first = text.partition("\n")[0]
    rows = io.StringIO(text, newline="")  # so that a name keeps what else some would take for an end of a line
    reader = csv.reader(rows, delimiter=max(_SEPARATORS, key=first.count))
    lines: list[Line] = []
    try:
        columns = tuple(name.strip() for name in next(reader, []))
        for cells in reader:
            if any(cell.strip() for cell in cells):
                found = dict(zip(columns, cells, strict=False))
                lines.append(Line(reader.line_num, found, len(cells) == len(columns)))
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
    found = _iso(text)
    for form in _PLATFORM if found is None else ():
        try:
            found = datetime.strptime(text, form)
            break
        except ValueError:
            continue
    if found is None:
        return f"{text!r} is not a moment; expected a date and a time, as in 2026-11-30T23:59:00+01:00"
    if found.tzinfo is None:
        return found.replace(tzinfo=UTC if text.endswith("UTC") else zone)
    return found


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


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
