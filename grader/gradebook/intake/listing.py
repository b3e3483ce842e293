"""The students of a folder, of an export of a learning platform, or of a CSV list, and the files of each.

Names tell whose a file is: `ada.py`, `ada.zip`, a folder `ada`; Canvas writes `lovelaceada_123_answers-1.py`, and
Moodle `Ada Lovelace_123_assignsubmission_file_`. Gradescope has a file beside its folders that says it
(`gradescope.py`), nbgrader a folder for each student and assignment. CSV lists are read in `repositories.py`. Whatever
else lies in a folder is no student's: it is ignored, and named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from grader.errors import UsageError
from grader.gradebook.intake import gradescope
from grader.gradebook.intake.arrivals import Arrival, Handed, joined
from grader.gradebook.intake.matching import matched
from grader.gradebook.intake.repositories import read_repositories
from grader.gradebook.intake.spreadsheet import moment
from grader.gradebook.records import Member
from grader.submission.files import printable, shown

SUFFIXES = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".tar", ".zip", ".py")  # a longer one before its end
_MOODLE = re.compile(
    r"(?P<name>.+)_(?P<id>[0-9]+)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>.*))?", re.DOTALL
)
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<id>[0-9]+)_(?:(?P<upload>[0-9]+)_)?(?P<file>.+)", re.DOTALL)
_ANONYMOUS = re.compile(r"(?P<name>anon_[A-Za-z0-9]+)_(?P<late>LATE_)?(?P<upload>[0-9]+)_(?P<file>.+)", re.DOTALL)
_REFUSED = (".ipynb", ".rar", ".7z", ".gz", ".bz2", ".xz", ".zst", ".docx", ".odt", ".pdf")
_GRADEBOOK = "gradebook.sqlite"
_TYPED = re.compile(r"(?:text|onlinetext)\.html?")  # what platforms call a text that was typed into a form
_SUBMITTED = "submitted"  # nbgrader's folder of what was collected
_TIMESTAMP = "timestamp.txt"


@dataclass(frozen=True)
class Listing:
    """The students by name, the entries of the folder that are no student's, and whom an export itself names."""

    arrivals: tuple[Arrival, ...]
    ignored: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()


def listing(submissions: Path, zone: tzinfo, roster: Sequence[Member] = ()) -> Listing:
    """Return the students of a folder or of a CSV list; UsageError with every mistake in the names.

    With a roster they bear the names that it gives them, and those of it who handed in nothing are there as well.
    """
    if submissions.suffix.lower() == ".csv" and not submissions.is_dir() and os.path.lexists(submissions):
        return Listing(joined(matched(read_repositories(submissions, zone), roster)))
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
    if _SUBMITTED in names and {"release", "source", "autograded", "gradebook.db"} & set(names):  # nbgrader's course
        return listing(submissions / _SUBMITTED, zone, roster)
    _expect_no_export(submissions, names)
    if gradescope.FILE in names:
        return _of_gradescope(submissions, names, zone, roster)
    students = [name for name in names if _is_students(submissions / name)]
    ignored = tuple(name for name in names if name not in set(students))
    if not students:
        found = f"holds no submission, only {', '.join(map(shown, ignored[:5]))}" if ignored else "is empty"
        hint = "Expected a file, an archive or a folder for each student in it, or a CSV list instead."
        raise UsageError(f"{printable(str(submissions))} {found}: nothing was handed in", hint)
    paths = [submissions / name for name in students]
    found_in = _of_nbgrader(paths, zone) if _is_nbgrader(submissions, paths) else map(_arrival, paths)
    return Listing(joined(matched(found_in, roster)), ignored)


def _expect_no_export(submissions: Path, names: Sequence[str]) -> None:
    """Raise UsageError for a folder around an export, which is not guessed: what a student hands in may look alike."""
    for name in names if len(names) == 1 else ():
        if (submissions / name / gradescope.FILE).is_file():
            what = (
                f"{printable(str(submissions))} holds nothing but {shown(name)}, which looks like Gradescope's export"
            )
            raise UsageError(what, "Name that folder instead, if Gradescope made it.")


def _of_gradescope(submissions: Path, names: Sequence[str], zone: tzinfo, roster: Sequence[Member]) -> Listing:
    known = gradescope.read_metadata(submissions / gradescope.FILE, zone)
    found: list[Arrival] = []
    members: list[Member] = []
    ignored: list[str] = []
    for name in names:
        submission = known.get(name)
        if submission is None or not submission.members:
            ignored += [] if name == gradescope.FILE else [name]
            continue
        thing = Handed(submissions / name, name, submitted=submission.created, dated=gradescope.FILE)
        team = name if len(submission.members) > 1 else ""
        members += submission.members
        found += [
            Arrival(each.student, (thing,), each.gradescope_id, "gradescope", team) for each in submission.members
        ]
    return Listing(joined(matched(found, roster, members)), tuple(ignored), () if roster else tuple(members))


def _is_nbgrader(submissions: Path, students: Sequence[Path]) -> bool:
    """Say whether each student's folder holds nothing but folders that nbgrader has collected, with their times.

    One student alone could have put the times there.
    """
    if not all(path.is_dir() and not path.is_symlink() for path in students):
        return False
    inner = [_folders(path) for path in students]
    if not all(inner):
        return False
    return submissions.name == _SUBMITTED or (len(students) > 1 and _have_times(inner))


def _have_times(inner: Sequence[Sequence[Path]]) -> bool:
    return all((path / _TIMESTAMP).is_file() for found in inner for path in found)


def _folders(path: Path) -> list[Path]:
    """Return the folders in a folder; none where it holds anything else that is not hidden."""
    try:
        found = sorted(each for each in path.iterdir() if not each.name.startswith("."))
    except OSError:
        return []
    return found if all(each.is_dir() and not each.is_symlink() for each in found) else []


def _of_nbgrader(students: Iterable[Path], zone: tzinfo) -> Iterator[Arrival]:
    for student in students:
        things = []
        for path in _folders(student):
            when = _collected(path / _TIMESTAMP, zone)
            things.append(Handed(path, path.name, submitted=when, dated=_TIMESTAMP if when else ""))
        yield Arrival(student.name, tuple(things), platform="nbgrader")


def _collected(path: Path, zone: tzinfo) -> datetime | None:
    """Return the time in a file of nbgrader's; None where it says none."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            found = moment(file.read(100).strip(), zone)
    except OSError:
        return None
    return found if isinstance(found, datetime) else None


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
        is_words = match["kind"] == "onlinetext"
        thing = Handed(path, inner or name, names_stage=bool(inner), is_words=is_words)
        return Arrival(f"{match['name']}_{match['id']}", (thing,), match["id"], "moodle")
    if not path.is_dir() and (match := _ANONYMOUS.fullmatch(name)):
        return Arrival(match["name"], (_of_canvas(path, match),), platform="canvas")
    if not path.is_dir() and (match := _CANVAS.fullmatch(name)):
        return Arrival(f"{match['name']}_{match['id']}", (_of_canvas(path, match),), match["id"], "canvas")
    own = name if path.is_dir() else _stem(name)
    return Arrival(own, (Handed(path, name),))


def _of_canvas(path: Path, match: re.Match[str]) -> Handed:
    is_words = match["upload"] is None and _TYPED.fullmatch(match["file"]) is not None
    upload, late = int(match["upload"] or 0), bool(match["late"])
    return Handed(path, match["file"], names_stage=True, is_words=is_words, upload=upload, marked_late=late)


def _stem(name: str) -> str:
    suffix = next((each for each in SUFFIXES if name.lower().endswith(each)), Path(name).suffix)
    return name[: len(name) - len(suffix)]
