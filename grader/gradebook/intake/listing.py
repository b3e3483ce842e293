"""The students of a folder, of an export of a learning platform, or of a CSV list, and the files of each.

Names tell whose a file is: `ada.py`, `ada.zip`, a folder `ada`; Canvas writes `lovelaceada_123_answers-1.py`, and
Moodle `Ada Lovelace_123_assignsubmission_file_`. CSV lists are read in `roster.py`. Whatever else lies in a folder is
no student's: it is ignored, and named.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from grader.errors import UsageError
from grader.gradebook.intake.arrivals import Arrival, Handed, joined
from grader.gradebook.intake.roster import read_roster
from grader.submission.names import printable, shown

SUFFIXES = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".tar", ".zip", ".py")  # a longer one before its end
_MOODLE = re.compile(r"(?P<name>.+)_(?P<id>[0-9]+)_assignsubmission_file(?:_(?P<file>.*))?", re.DOTALL)
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<id>[0-9]+)_(?:[0-9]+_)?(?P<file>.+)", re.DOTALL)
_REFUSED = (".ipynb", ".rar", ".7z", ".gz", ".bz2", ".xz", ".zst", ".docx", ".odt", ".pdf")
_GRADEBOOK = "gradebook.sqlite"


@dataclass(frozen=True)
class Listing:
    """The students by name, and the entries of the folder that are no student's."""

    arrivals: tuple[Arrival, ...]
    ignored: tuple[str, ...] = ()


def listing(submissions: Path, zone: tzinfo) -> Listing:
    """Return the students of a folder or of a CSV list; UsageError with every mistake in the names."""
    if submissions.suffix.lower() == ".csv" and not submissions.is_dir() and os.path.lexists(submissions):
        return Listing(read_roster(submissions, zone))
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
    students = [name for name in names if _is_students(submissions / name)]
    ignored = tuple(name for name in names if name not in set(students))
    if not students:
        found = f"holds no submission, only {', '.join(map(shown, ignored[:5]))}" if ignored else "is empty"
        hint = "Expected a file, an archive or a folder for each student in it, or a CSV list instead."
        raise UsageError(f"{printable(str(submissions))} {found}: nothing was handed in", hint)
    return Listing(joined(_arrival(submissions / name) for name in students), ignored)


def _is_students(path: Path) -> bool:
    """Say whether an entry is somebody's: a folder, a module, an archive, or whatever a platform gives a name to.

    What only looks like an archive or a notebook is somebody's, too: it is refused later, and they are told.
    """
    name = path.name
    if name.startswith((".", "__")):
        return False
    if path.is_dir():
        return not (path / _GRADEBOOK).is_file()
    return bool(name.lower().endswith(SUFFIXES + _REFUSED) or _MOODLE.fullmatch(name) or _CANVAS.fullmatch(name))


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
