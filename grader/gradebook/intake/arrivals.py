"""What was handed in, before anything is read: the students in a folder or an LMS export, and the files of each.

Names tell whose a file is: `ada.py`, `ada.zip`, a folder `ada`; Canvas writes `lovelaceada_123_attention-1.py`, and
Moodle `Ada Lovelace_123_assignsubmission_file_`. CSV lists are read in `roster.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from pathlib import Path

from grader.course.stage import Stage
from grader.errors import NotHandedIn, UsageError
from grader.submission.names import folded, is_renamed, printable, shown, suggestion

MAX_NAME = 100
SHOWN = 20  # mistakes at most
SUFFIXES = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".tar", ".zip", ".py")  # a longer one before its end
_MOODLE = re.compile(r"(?P<name>.+)_(?P<id>[0-9]+)_assignsubmission_file(?:_(?P<file>.*))?", re.DOTALL)
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<id>[0-9]+)_(?:[0-9]+_)?(?P<file>.+)", re.DOTALL)
_LITTER = ("__MACOSX", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True)
class Handed:
    """One thing that was handed in: where it is, its name without the platform's additions, and a list's time of it.

    names_stage says that the name is the student's own choice for a module, and so tells the stage.
    """

    path: Path
    name: str
    names_stage: bool = False
    submitted: datetime | None = None


@dataclass(frozen=True)
class Arrival:
    """All that one student handed in; identity is the number that a learning platform gives."""

    student: str
    things: tuple[Handed, ...]
    identity: str = ""


def arrivals(submissions: Path, zone: tzinfo) -> tuple[Arrival, ...]:
    """Return the students of a folder or of a CSV list, by name; UsageError with every mistake in the names."""
    from grader.gradebook.intake.roster import read_roster

    if submissions.suffix.lower() == ".csv" and not submissions.is_dir():
        return read_roster(submissions, zone)
    if not submissions.is_dir():
        what = "does not exist" if not os.path.lexists(submissions) else "is not a folder"
        hint = (
            "Give a folder with a file, an archive or a folder for each student, or a CSV list; unpack an export first."
        )
        raise UsageError(f"{printable(str(submissions))} {what}", hint)
    try:
        names = sorted(os.listdir(submissions))
    except OSError as error:
        raise UsageError(f"{submissions} cannot be read: {error.strerror}") from error
    found = [_arrival(submissions / name) for name in names if not name.startswith(".") and name not in _LITTER]
    if not found:
        hint = "Expected a file, an archive or a folder for each student in it, or a CSV list instead."
        raise UsageError(f"{printable(str(submissions))} is empty: nothing was handed in", hint)
    return joined(found)


def joined(found: Iterable[Arrival]) -> tuple[Arrival, ...]:
    """Return one arrival for each student; UsageError for names that cannot be told apart, or cannot be shown."""
    mistakes: list[str] = []
    by_name: dict[tuple[str, ...], Arrival] = {}
    for arrival in found:
        if fault := _fault(arrival.student):
            mistakes.append(f"{_labels(arrival)}: the name '{shown(arrival.student)}' {fault}")
            continue
        known = by_name.setdefault(folded([arrival.student]), arrival)
        if known is arrival:
            continue
        if known.student == arrival.student and known.identity == arrival.identity != "":
            by_name[folded([arrival.student])] = replace(known, things=known.things + arrival.things)
        else:
            mistakes.append(f"{_labels(known)} and {_labels(arrival)} are of the same student, {shown(known.student)}")
    if mistakes:
        more = [f"… and {len(mistakes) - SHOWN} more"] if len(mistakes) > SHOWN else []
        hint = "Nothing was graded. Keep one of each; a CSV list with `submitted` may name several attempts."
        raise UsageError("\n".join([*mistakes[:SHOWN], *more]), hint)
    return tuple(sorted(by_name.values(), key=lambda arrival: arrival.student))


def chosen(arrival: Arrival, stage: Stage, only: bool) -> tuple[Handed, ...]:
    """Return what of an arrival may hold a stage's module, each an attempt; NotHandedIn where nothing may.

    only says that this is the one stage to grade: then a file that bears its student's name is its module.
    """
    found = [each for each in arrival.things if _may_hold(each, stage, only)]
    if not found:
        names = [each.name for each in arrival.things]
        what = f"{arrival.student} handed in nothing for {stage.id}"
        why = f": expected {stage.module}, found {', '.join(map(shown, names[:3]))}" if names else ""
        raise NotHandedIn(what + why, suggestion(names))
    return tuple(found)


def _may_hold(each: Handed, stage: Stage, only: bool) -> bool:
    if not each.name.endswith(".py"):
        return True
    return is_renamed(each.name, stage.module) or (only and not each.names_stage)


def _arrival(path: Path) -> Arrival:
    name = path.name
    if match := _MOODLE.fullmatch(name):
        inner = match["file"] or ""
        return _of_platform(match, Handed(path, inner or name, names_stage=bool(inner)))
    if not path.is_dir() and (match := _CANVAS.fullmatch(name)):
        return _of_platform(match, Handed(path, match["file"], names_stage=True))
    own = name if path.is_dir() else _stem(name)
    return Arrival(own, (Handed(path, name),))


def _of_platform(match: re.Match[str], thing: Handed) -> Arrival:
    return Arrival(f"{match['name']}_{match['id']}", (thing,), match["id"])


def _stem(name: str) -> str:
    suffix = next((each for each in SUFFIXES if name.lower().endswith(each)), Path(name).suffix)
    return name[: len(name) - len(suffix)]


def _fault(student: str) -> str | None:
    if not student.strip() or student != student.strip():
        return "is empty, or begins or ends with a space"
    if len(student) > MAX_NAME:
        return f"has {len(student)} characters; expected {MAX_NAME} at most"
    return "has characters that cannot be shown" if printable(student) != student else None


def _labels(arrival: Arrival) -> str:
    return ", ".join(_label(each) for each in arrival.things[:3]) or "an entry of nothing"


def _label(each: Handed) -> str:
    return shown(each.path.name)
