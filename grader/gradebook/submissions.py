"""The students of a folder, of an export of a learning platform, or of a CSV list, and the files of each.

Names tell whose a file is: `ada.py`, `ada.zip`, a folder `ada`; Canvas writes `lovelaceada_123_answers-1.py`, and
Moodle `Ada Lovelace_123_assignsubmission_file_`. Gradescope has a file beside its folders that says it
(`gradescope.py`), nbgrader a folder for each student and assignment. CSV lists are read in `repositories.py`. Whatever
else lies in a folder is no student's: it is ignored, and named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Literal, get_args

from grader.course.stage import Stage
from grader.course.table import did_you_mean, listed
from grader.errors import NotHandedIn, UsageError
from grader.gradebook.records import Member
from grader.gradebook.roster import (
    COLUMNS,
    METADATA,
    first_of,
    keys,
    moment,
    read_metadata,
    read_sheet,
    sortable,
    squeezed,
)
from grader.gradebook.roster import FILE as ROSTER
from grader.submission.containers import is_named_notebook
from grader.submission.files import NOTEBOOK, folded, is_archive, is_renamed, printable, shown, suggestion

MAX_NAME = 100
_WORDS = (".html", ".htm")  # of what is typed into a form
Platform = Literal["", "canvas", "moodle", "gradescope", "nbgrader"]  # whose export an entry is of, if any
# Nothing was handed in by somebody in the roster; there is no module in it; there is one under another name; what is
# there cannot be accepted; it imports what is not there; Python cannot read it, or it raises when it is imported; only
# the file's own time makes it late; a commit's times contradict each other, or the platform's; the roster does not know
# the student; and what is worth a look, and no more.
Reason = Literal[
    "absent", "not found", "another name", "rejected", "import", "load", "late by file", "commit time", "unknown",
    "note",
]  # fmt: skip
REASONS: tuple[Reason, ...] = get_args(Reason)
_UNKNOWN = f"Add them to {ROSTER}, or name the file after a student, a login, an e-mail address or a team of it."
_OF_CLASSROOM = (
    "If it is one of GitHub Classroom, give the assignment's grades.csv with --roster as well; else name it after a "
    "student."
)
_COPY = re.compile(r"(.+?)(?: ?\([0-9]{1,3}\)|[ _-]copy)", re.DOTALL | re.IGNORECASE)
_NUMBERS = {"canvas": "canvas_id", "moodle": "moodle_id", "gradescope": "gradescope_id"}
SUFFIXES = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".tar", ".zip", ".py.txt", ".py")  # a longer one before its end
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
NEEDED = ("student", "repository", "revision")
KNOWN = (*NEEDED, "submitted")
_URL = re.compile(r"[a-z+]+://|[^/@]+@[^/]+:", re.IGNORECASE)
_EXAMPLE = "The first line is student,repository,revision or student,repository,revision,submitted."


@dataclass(frozen=True)
class Doubt:
    """Something doubtful about a submission: its kind, what it is in words, and what can be done about it.

    cause is what submissions with the same fault have in common, as the package that they import.
    """

    reason: Reason
    text: str
    remedy: str = ""
    cause: str = ""


@dataclass(frozen=True)
class SubmittedFile:
    """One thing that was handed in: where it is, its name without the platform's additions, and a list's time of it.

    names_stage says that the name is the student's own choice for a module, and so tells the stage; is_words that it is
    a text typed into a form. upload is the number that Canvas gives a file, the last one the highest; dated says where
    submitted comes from, marked_late that the platform calls it late.
    """

    path: Path
    name: str
    names_stage: bool = False
    submitted: datetime | None = None
    is_words: bool = False
    upload: int = 0
    dated: str = ""
    marked_late: bool = False


@dataclass(frozen=True)
class StudentSubmission:
    """All that one student handed in; identity is the number that a learning platform gives.

    What comes from a platform is one submission of one or several files; otherwise each thing is an attempt. team is
    the name of the submission of which the student is a member; is_known says that a roster names the student, and
    doubts what is doubtful about whose it is.
    """

    student: str
    things: tuple[SubmittedFile, ...]
    identity: str = ""
    platform: Platform = ""
    team: str = ""
    is_known: bool = True
    doubts: tuple[Doubt, ...] = ()


def joined(found: Iterable[StudentSubmission]) -> tuple[StudentSubmission, ...]:
    """Return one arrival for each student; UsageError for names that cannot be told apart, or cannot be shown."""
    unfit: list[str] = []
    twice: list[str] = []
    by_name: dict[tuple[str, ...], StudentSubmission] = {}
    for arrival in map(_legible, found):
        if fault := _fault(arrival.student):
            unfit.append(f"{_labels(arrival)}: the name '{shown(arrival.student)}' {fault}")
            continue
        known = by_name.setdefault(folded([arrival.student]), arrival)
        if known is arrival:
            continue
        if known.platform and _source(known) == _source(arrival):
            by_name[folded([arrival.student])] = replace(known, things=known.things + arrival.things)
        elif _are_copies((*known.things, *arrival.things)):
            what = f"{_labels(known)} and {_labels(arrival)} are attempts of {shown(known.student)}"
            doubts = (*known.doubts, *arrival.doubts, Doubt("note", what, "Keep one of them if they are not."))
            by_name[folded([arrival.student])] = replace(known, things=known.things + arrival.things, doubts=doubts)
        else:
            twice.append(f"{_labels(known)} and {_labels(arrival)} are of the same student, {shown(known.student)}")
    if mistakes := [*unfit, *twice]:
        hints = ["Nothing was graded."]
        hints += ["Rename what has such a name."] if unfit else []
        hints += ["Keep one of each; a CSV list with `submitted` may name several attempts."] if twice else []
        raise UsageError(first_of(mistakes), " ".join(hints))
    return tuple(sorted(by_name.values(), key=lambda arrival: arrival.student))


def _are_copies(things: Sequence[SubmittedFile]) -> bool:
    """Say whether names are one name, as a browser or a file manager changes it for further copies: ada, ada (1)."""
    stems = [_stem(each.path.name) for each in things]
    signs = [_COPY.fullmatch(stem) for stem in stems]
    plain = {folded([sign[1] if sign else stem])[0] for stem, sign in zip(stems, signs, strict=True)}
    return len(plain) == 1 and signs.count(None) <= 1


def _legible(arrival: StudentSubmission) -> StudentSubmission:
    """Return an arrival whose student has a name that can be written, where the file's name is no UTF-8."""
    if not any("\udc80" <= sign <= "\udcff" for sign in arrival.student):
        return arrival
    name = printable(arrival.student)
    doubt = Doubt("note", f"the name of the file is not in UTF-8; it was read as {name}")
    return replace(arrival, student=name, doubts=(*arrival.doubts, doubt))


def chosen(arrival: StudentSubmission, stage: Stage, only: bool) -> tuple[SubmittedFile, ...]:
    """Return what of an arrival may hold a stage's module, the likeliest first; NotHandedIn where nothing may.

    only says that this is the one stage to grade: then a file that bears its student's name is its module.
    """
    found = [each for each in arrival.things if _may_hold(each, stage, only)]
    if not found:
        names = [each.name for each in arrival.things]
        what = f"{arrival.student} handed in nothing for {stage.id}"
        why = f": expected {stage.module}, found {', '.join(map(shown, names[:3]))}" if names else ""
        raise NotHandedIn(what + why, suggestion(names))
    if not arrival.platform:
        return tuple(found)
    return tuple(sorted(found, key=lambda each: _likelihood(each, stage), reverse=True))


def _may_hold(each: SubmittedFile, stage: Stage, only: bool) -> bool:
    if each.is_words or each.name.lower().endswith(_WORDS):
        return False
    if is_named_notebook(each.name, stage) or not each.name.lower().endswith((".py", NOTEBOOK)):
        return True
    return is_renamed(each.name, stage.module) or (only and not each.names_stage)


def _likelihood(each: SubmittedFile, stage: Stage) -> tuple[bool, bool, bool, int, int, int]:
    """Return what speaks for a file: its name, its kind, and how late it was added to the submission."""
    name = each.name.lower()
    copy = re.search(r"[-_ (]([0-9]{1,3})\)?\.[a-z]+$", name)
    names_stage = each.name in (stage.id, stage.name, stage.module.removesuffix(".py"))
    is_module = name.endswith(".py") or names_stage
    may_hold = each.path.is_dir() or is_archive(name) or name.endswith(NOTEBOOK)
    added = (each.upload, 0 if each.upload else _written(each.path), int(copy[1]) if copy else 0)
    return is_module, may_hold, not name.endswith(NOTEBOOK), *added


def _written(path: Path) -> int:
    """Return the second in which a file was written; 0 where that is not known."""
    try:
        return int(os.lstat(path).st_mtime)
    except (OSError, ValueError):
        return 0


def _source(arrival: StudentSubmission) -> tuple[str, ...]:
    """Return what entries of one submission have in common."""
    return arrival.student, arrival.identity, arrival.platform, arrival.team


def _fault(student: str) -> str | None:
    if not student.strip() or student != student.strip():
        return "is empty, or begins or ends with a space"
    if len(student) > MAX_NAME:
        return f"has {len(student)} characters; expected {MAX_NAME} at most"
    return "has characters that cannot be shown" if printable(student) != student else None


def _labels(arrival: StudentSubmission) -> str:
    return ", ".join(shown(each.path.name) for each in arrival.things[:3]) or "an entry of nothing"


@dataclass(frozen=True)
class Listing:
    """The students by name, the entries of the folder that are no student's, and whom an export itself names."""

    arrivals: tuple[StudentSubmission, ...]
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
    if METADATA in names:
        return _of_gradescope(submissions, names, zone, roster)
    register = _Register(roster)
    students = [name for name in names if _is_students(submissions / name) or _is_text_of_one(name, register)]
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
        if (submissions / name / METADATA).is_file():
            what = (
                f"{printable(str(submissions))} holds nothing but {shown(name)}, which looks like Gradescope's export"
            )
            raise UsageError(what, "Name that folder instead, if Gradescope made it.")


def _of_gradescope(submissions: Path, names: Sequence[str], zone: tzinfo, roster: Sequence[Member]) -> Listing:
    known = read_metadata(submissions / METADATA, zone)
    found: list[StudentSubmission] = []
    members: list[Member] = []
    ignored: list[str] = []
    for name in names:
        submission = known.get(name)
        if submission is None or not submission.members:
            ignored += [] if name == METADATA else [name]
            continue
        thing = SubmittedFile(submissions / name, name, submitted=submission.created, dated=METADATA)
        team = name if len(submission.members) > 1 else ""
        members += submission.members
        found += [
            StudentSubmission(each.student, (thing,), each.gradescope_id, "gradescope", team)
            for each in submission.members
        ]
    return Listing(joined(matched(found, roster, members)), tuple(ignored), tuple(members))


def _is_nbgrader(submissions: Path, students: Sequence[Path]) -> bool:
    """Say whether each student's folder holds nothing but folders that nbgrader has collected, with their times.

    One student alone could have put the times there.
    """
    if not all(path.is_dir() and not path.is_symlink() for path in students):
        return False
    inner = [_folders(path) for path in students]
    if not all(inner):
        return False
    have_times = all((path / _TIMESTAMP).is_file() for found in inner for path in found)
    return submissions.name == _SUBMITTED or (len(students) > 1 and have_times)


def _folders(path: Path) -> list[Path]:
    """Return the folders in a folder; none where it holds anything else that is not hidden."""
    try:
        found = sorted(each for each in path.iterdir() if not each.name.startswith("."))
    except OSError:
        return []
    return found if all(each.is_dir() and not each.is_symlink() for each in found) else []


def _of_nbgrader(students: Iterable[Path], zone: tzinfo) -> Iterator[StudentSubmission]:
    for student in students:
        things = []
        for path in _folders(student):
            when = _collected(path / _TIMESTAMP, zone)
            things.append(SubmittedFile(path, path.name, submitted=when, dated=_TIMESTAMP if when else ""))
        yield StudentSubmission(student.name, tuple(things), platform="nbgrader")


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


def _is_text_of_one(name: str, register: _Register) -> bool:
    """Say whether a text file, in which a module may be, is called as a student of the roster is."""
    return name.lower().endswith(".txt") and bool(register.of(StudentSubmission(_stem(name), ()), None))


def _arrival(path: Path) -> StudentSubmission:
    name = path.name
    if match := _MOODLE.fullmatch(name):
        inner = match["file"] or ""
        is_words = match["kind"] == "onlinetext"
        thing = SubmittedFile(path, inner or name, names_stage=bool(inner), is_words=is_words)
        return StudentSubmission(f"{match['name']}_{match['id']}", (thing,), match["id"], "moodle")
    if not path.is_dir() and (match := _ANONYMOUS.fullmatch(name)):
        return StudentSubmission(match["name"], (_of_canvas(path, match),), platform="canvas")
    if not path.is_dir() and (match := _CANVAS.fullmatch(name)):
        return StudentSubmission(f"{match['name']}_{match['id']}", (_of_canvas(path, match),), match["id"], "canvas")
    own = name if path.is_dir() else _stem(name)
    return StudentSubmission(own, (SubmittedFile(path, name),))


def _of_canvas(path: Path, match: re.Match[str]) -> SubmittedFile:
    is_words = match["upload"] is None and _TYPED.fullmatch(match["file"]) is not None
    upload, late = int(match["upload"] or 0), bool(match["late"])
    return SubmittedFile(path, match["file"], names_stage=True, is_words=is_words, upload=upload, marked_late=late)


def _stem(name: str) -> str:
    suffix = next((each for each in SUFFIXES if name.lower().endswith(each)), Path(name).suffix)
    return name[: len(name) - len(suffix)]


def read_repositories(path: Path, zone: tzinfo) -> tuple[StudentSubmission, ...]:
    """Return the students of a list; UsageError with a line for each mistake in it."""
    sheet = read_sheet(path, _EXAMPLE)
    _expect_columns(path, sheet.columns)
    mistakes: list[str] = []
    found: dict[str, list[SubmittedFile]] = {}
    for line in sheet.lines:
        number, row = line.number, line.cells
        student = (row.get("student") or "").strip()
        when = moment(row.get("submitted") or "", zone)
        if not line.is_whole:
            mistakes.append(f"line {number}: expected {len(sheet.columns)} columns, as in the first line")
        elif not student:
            mistakes.append(f"line {number}: student is missing")
        elif _URL.match(row["repository"].strip()):
            what = f"line {number}: {row['repository'].strip()!r} is not a repository on this machine"
            mistakes.append(f"{what}; clone it, and name its folder")
        elif isinstance(when, str):
            mistakes.append(f"line {number}: submitted: {when}")
        else:
            repository, revision = row["repository"].strip(), row["revision"].strip()
            name = f"{repository}@{revision}"
            things = [SubmittedFile(path.parent / name, name, submitted=when)] if repository and revision else []
            known = found.get(student)
            times = [each.submitted for each in (*(known or ()), *things)]
            if known is None:
                found[student] = things
            elif None in times or len(set(times)) < len(times) or not (known and things):
                what = f"line {number}: {student} is there twice; attempts of one student need times of their own"
                mistakes.append(f"{what} in a column submitted")
            else:
                known += things
    if mistakes:
        raise UsageError(first_of(f"{path.name}, {each}" for each in mistakes), "Nothing was graded.")
    if not found:
        raise UsageError(f"{path.name} lists no student", _EXAMPLE)
    return joined(StudentSubmission(student, tuple(things)) for student, things in found.items())


def _expect_columns(path: Path, names: Sequence[str]) -> None:
    known = (*KNOWN, *COLUMNS)
    unknown = [f"{name!r} is not a column of a list{did_you_mean(name, KNOWN)}" for name in names if name not in known]
    missing = [f"column {name!r} is missing" for name in NEEDED if name not in names]
    twice = [f"column {name!r} is there twice" for name in sorted({each for each in names if names.count(each) > 1})]
    if wrong := [*missing, *unknown, *twice]:
        raise UsageError(f"{path.name}: {'; '.join(wrong)}; expected {listed(KNOWN)}", _EXAMPLE)


def matched(
    arrivals: Iterable[StudentSubmission], roster: Sequence[Member], named: Sequence[Member] = ()
) -> Iterator[StudentSubmission]:
    """Yield what arrived by the names of a roster, and an empty arrival for each student from whom nothing came.

    Without a roster all keep their names. What is of a team is each member's; what is nobody's stays, with a doubt.
    named are students as the export itself describes them.
    """
    found = list(arrivals)
    if not roster:
        yield from _with_copies(found)
        return
    register = _Register(roster)
    described = {each.student: each for each in named}
    came: set[str] = set()
    for arrival in found:
        members = register.of(arrival, described.get(arrival.student))
        came |= {member.student for member in members}
        if members:
            yield from (_as(arrival, member, len(members) > 1) for member in members)
        else:
            what, remedy = f"{shown(arrival.student)} is not in the roster", _UNKNOWN
            if login := next((each.login for each in roster if _is_repository(arrival, each)), ""):
                what += f", which has the login {login}, but not this repository"
                remedy = _OF_CLASSROOM
            yield replace(arrival, is_known=False, doubts=(*arrival.doubts, Doubt("unknown", what, remedy)))
    for member in roster:
        if member.student not in came:
            yield StudentSubmission(member.student, (), member.identity)


def _is_repository(arrival: StudentSubmission, member: Member) -> bool:
    """Say whether an arrival is called as GitHub Classroom calls a student's repository: assignment-login."""
    name, login = folded([arrival.student, member.login])
    return bool(login) and not member.submission and name.endswith(f"-{login}")


def _with_copies(arrivals: Sequence[StudentSubmission]) -> Iterator[StudentSubmission]:
    """Yield arrivals, each copy beside what it is a copy of by that name: `ada (1)` beside `ada` is ada."""
    names = {folded([each.student]): each.student for each in arrivals}
    for each in arrivals:
        match = _COPY.fullmatch(each.student)
        yield replace(each, student=names.get(folded([match[1]]), each.student)) if match else each


def _as(arrival: StudentSubmission, member: Member, is_team: bool) -> StudentSubmission:
    things = arrival.things
    if member.submitted is not None:
        things = tuple(
            each if each.submitted else replace(each, submitted=member.submitted, dated="roster") for each in things
        )
    identity = arrival.identity if arrival.platform and not is_team else member.identity
    team = arrival.team or (arrival.student if is_team else "")
    return replace(arrival, student=member.student, things=things, identity=identity or member.identity, team=team)


class _Register:
    """A roster by all that may stand for a student or a team."""

    def __init__(self, roster: Sequence[Member]) -> None:
        self._by_number = {
            platform: {value: member for member in roster if (value := getattr(member, column))}
            for platform, column in _NUMBERS.items()
        }
        self._by_name = _unique((key, member) for member in roster for key in keys(member))
        self._by_letters = _unique(
            (squeezed(name), member) for member in roster for name in {member.name, sortable(member.name)} if name
        )
        self._teams: dict[str, list[Member]] = {}
        for member in roster:
            if member.team:
                self._teams.setdefault(folded([member.team])[0], []).append(member)

    def of(self, arrival: StudentSubmission, described: Member | None) -> list[Member]:
        """Return whose an arrival is: one student, all of a team, or nobody."""
        number = self._by_number.get(arrival.platform, {}).get(arrival.identity) if arrival.identity else None
        if number is not None:
            return [number]
        names = {folded([arrival.student])[0], *(keys(described) if described else ())}
        names |= {folded([arrival.student.removesuffix(f"_{arrival.identity}")])[0]} if arrival.identity else set()
        if match := _COPY.fullmatch(arrival.student):
            names.add(folded([match[1]])[0])
        for name in sorted(names):
            if (member := self._by_name.get(name)) is not None:
                return [member]
        for name in sorted(names):
            if name in self._teams:
                return self._teams[name]
        letters = self._by_letters.get(squeezed(arrival.student.rpartition("_")[0])) if arrival.platform else None
        return [letters] if letters is not None else []


def _unique(pairs: Iterable[tuple[str, Member]]) -> Mapping[str, Member]:
    """Return members by a name that no other has."""
    found: dict[str, list[Member]] = {}
    for key, member in pairs:
        found.setdefault(key, []).append(member)
    return {key: members[0] for key, members in found.items() if len({each.student for each in members}) == 1}
