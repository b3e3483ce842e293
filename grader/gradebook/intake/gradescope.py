"""Gradescope's `submission_metadata.yml`: who submitted which folder of an export, and when.

The file is what Ruby writes; of that form the keys `:submitters:` and `:created_at:` of each submission are read line
by line. All else in it, as the results of an autograder, is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path

from grader.errors import UsageError
from grader.gradebook.intake.spreadsheet import moment
from grader.gradebook.records import Member

FILE = "submission_metadata.yml"
MAX_BYTES = 256 << 20  # results of autograders are in it
MAX_LINE = 10_000  # characters of a line that is read
_SUBMISSION = re.compile(r"([\w.-]+):\s*")
_ENTRY = re.compile(r"(?P<indent> +)(?P<item>- )?:?(?P<key>\w+):(?: (?P<value>.*))?")
_ESCAPED = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_SIGNS = {"n": "\n", "t": "\t", "e": "\x1b", "0": "\0"}


@dataclass
class Submission:
    """Who submitted one folder, and when."""

    members: list[Member] = field(default_factory=list)
    created: datetime | None = None


def read_metadata(path: Path, zone: tzinfo) -> Mapping[str, Submission]:
    """Return the submissions by the name of their folder; UsageError for a file of another form."""
    found: dict[str, Submission] = {}
    people: list[dict[str, str]] = []
    name = within = ""
    for line in _lines(path):
        if match := _SUBMISSION.fullmatch(line):
            _take(found, name, people)
            name, within, people = match[1], "", []
            found[name] = Submission()
        elif (entry := _ENTRY.fullmatch(line)) is None or not name:
            continue
        elif len(entry["indent"]) == 2 and not entry["item"]:
            within = entry["key"]
            if within == "created_at":
                when = moment(_scalar(entry["value"] or "").replace(" Z", " UTC"), zone)
                found[name].created = when if isinstance(when, datetime) else None
        elif within == "submitters":
            if entry["item"]:
                people.append({})
            if people:
                people[-1][entry["key"]] = _scalar(entry["value"] or "")
    _take(found, name, people)
    if not any(each.members for each in found.values()):
        raise UsageError(f"{path.name} names nobody who submitted", "Expected the file as Gradescope exports it.")
    return found


def _take(found: Mapping[str, Submission], name: str, people: list[dict[str, str]]) -> None:
    for person in people:
        known = {key: person.get(key, "") for key in ("name", "sid", "email")}
        if student := known["email"] or known["name"] or known["sid"]:
            member = Member(student, known["name"], email=known["email"], gradescope_id=known["sid"], submission=name)
            found[name].members.append(member)


def _lines(path: Path) -> Iterator[str]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path.name} has more than {MAX_BYTES:,} bytes")
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
        return _ESCAPED.sub(_sign, text[1:-1])
    return "" if text in ("~", "null", "") else text


def _sign(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _SIGNS.get(code, code)
