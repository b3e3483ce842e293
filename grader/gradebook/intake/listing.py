"""The students of a folder, of an export of a learning platform, or of a CSV list, and the files of each.

Names tell whose a file is: `ada.py`, `ada.zip`, a folder `ada`; Canvas writes `lovelaceada_123_answers-1.py`, and
Moodle `Ada Lovelace_123_assignsubmission_file_`. CSV lists are read in `roster.py`.
"""

from __future__ import annotations

import os
import re
from datetime import tzinfo
from pathlib import Path

from grader.errors import UsageError
from grader.gradebook.intake.arrivals import Arrival, Handed, joined
from grader.gradebook.intake.roster import read_roster
from grader.submission.names import printable

SUFFIXES = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".tar", ".zip", ".py")  # a longer one before its end
_MOODLE = re.compile(r"(?P<name>.+)_(?P<id>[0-9]+)_assignsubmission_file(?:_(?P<file>.*))?", re.DOTALL)
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<id>[0-9]+)_(?:[0-9]+_)?(?P<file>.+)", re.DOTALL)
_LITTER = ("__MACOSX", "Thumbs.db", "desktop.ini")


def arrivals(submissions: Path, zone: tzinfo) -> tuple[Arrival, ...]:
    """Return the students of a folder or of a CSV list, by name; UsageError with every mistake in the names."""
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
