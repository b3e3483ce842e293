"""A class before it is graded: who handed in which file, when and by which clock, and what of that is in doubt.

A module's text is read as data. What is doubtful is counted, and a reason that more than a tenth of the class shares
stops a run, before it is graded or as soon as modules are imported.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from grader.course.stage import Stage
from grader.errors import GraderFault, NotHandedIn, SubmissionError, SystematicFault
from grader.gradebook.policy import Policy
from grader.gradebook.records import Attempt, Clock, Outcome, Result
from grader.gradebook.store import Gradebook
from grader.gradebook.submissions import Doubt, Reason, StudentSubmission, SubmittedFile, chosen
from grader.report.terminal.words import count
from grader.submission import MAX_BYTES, Snapshot, take, take_misnamed
from grader.submission.files import is_archive, is_renamed, printable, shown
from grader.submission.git import opened, split
from grader.submission.reading import told_of
from grader.submission.source import check_loading

MISSING = hashlib.sha256(b"missing").hexdigest()  # stands for the digest of what was not handed in
_WHEN = re.compile(rb"^(author|committer) [^\n]*> ([0-9]{1,12}) [+-][0-9]{4}$", re.MULTILINE)
_PARENT = re.compile(rb"^parent ([0-9a-f]{40,64})$", re.MULTILINE)
SKEW = timedelta(minutes=10)  # by which clocks of two machines may differ
SHARE = 0.10  # of a class, beyond which a reason is systematic
FEWEST = 2  # students who make a reason systematic, unless there is but one
_REMEDY: dict[Reason, str] = {  # of what may be systematic
    "not found": "Give the folder that holds one entry for each student; an entry is a module, an archive or a folder.",
    "another name": "With --accept such files are taken for the module.",
    "rejected": "Ask for the files again, or correct the list that names them.",
    "import": "Allow the package in the course, or have the import removed.",
    "load": "Tell the class what is wrong and take the files again, or change what the stage expects.",
    "late by file": "Give the platform's own times: its list of submissions with --roster, or a column `submitted` in "
    "class.csv.",
    "unknown": "Add them to the roster, or name another one with --roster.",
}
SCHEMA = 1
UNPACKING = timedelta(minutes=10)  # within which one unpacking writes all files
_ABSENT = re.compile(r"(?:^|: )(?P<package>\w+) is not available when a stage is checked, and \S+ is used")
_LOADING = ("import", "syntax", "encoding", "import-error")  # kinds of problems


@dataclass(frozen=True)
class CommitTimes:
    """When a commit was written and when it was made, by its own word, and when what it builds on was made."""

    written: datetime | None = None
    made: datetime | None = None
    before: datetime | None = None


@dataclass(frozen=True)
class ReadAttempt:
    """An attempt and its module; without one, outcome and error say why. doubts are what is doubtful about it.

    dated says where the attempt's time comes from, in words, and commit what its commit says, where it is of one.
    """

    attempt: Attempt
    snapshot: Snapshot | None = None
    outcome: Outcome = "graded"
    error: SubmissionError | GraderFault | None = None
    doubts: tuple[Doubt, ...] = ()
    dated: str = ""
    commit: CommitTimes | None = None


def taken(
    arrival: StudentSubmission, stage: Stage, root: Path, only: bool, accept: bool = False
) -> Iterator[ReadAttempt]:
    """Yield each attempt of a student at a stage; where there is none, that nothing was handed in.

    Files of one submission to a platform are one attempt. accept takes a file under another name for the module where
    it has the stage's functions; without it such a file is a doubt.
    """
    try:
        things = chosen(arrival, stage, only)
    except NotHandedIn as error:
        where = ", ".join(str(each.path) for each in arrival.things)
        missing = ReadAttempt(_attempt(arrival, stage, MISSING, where), None, "missing", error)
        yield _looked_at(_or_misnamed(missing, arrival, arrival.things, stage, root, accept), arrival)
        return
    if arrival.platform:
        found = _first(arrival, things, stage, root)
        yield _looked_at(_or_misnamed(found, arrival, arrival.things, stage, root, accept), arrival)
        return
    for thing in things:
        found = _one(arrival, thing, stage, root)
        yield _looked_at(_or_misnamed(found, arrival, (thing,), stage, root, accept), arrival)


def _first(arrival: StudentSubmission, things: Sequence[SubmittedFile], stage: Stage, root: Path) -> ReadAttempt:
    """Return the first of a submission's files that holds the module, else why the likeliest does not."""
    failed: ReadAttempt | None = None
    for at, thing in enumerate(things):
        found = _one(arrival, thing, stage, root)
        if found.snapshot is None:
            failed = failed or found
            continue
        alike = [thing, *(each for each in things[at + 1 :] if is_renamed(each.name, stage.module))]
        if len(alike) == 1:
            return found
        names = [each.name for each in alike]
        if len(set(names)) < len(names):  # but for what the platform adds
            names = [each.path.name for each in alike]
        first, *rest = map(shown, names)
        what = f"{first} is taken, not {', '.join(rest[:3])}, which came before it"
        return replace(found, doubts=(Doubt("note", what),))
    assert failed is not None
    return failed


def _or_misnamed(
    found: ReadAttempt,
    arrival: StudentSubmission,
    things: Sequence[SubmittedFile],
    stage: Stage,
    root: Path,
    accept: bool,
) -> ReadAttempt:
    """Return what was found or, where that is nothing, the module under another name, or that there may be one."""
    if found.snapshot is not None or found.outcome == "fault":
        return found
    is_refused = found.outcome == "rejected" and is_archive(things[0].name)  # for what is in it, not its name
    for thing in things[1:] if is_refused else things:
        try:
            misnamed = None if thing.path.is_symlink() else take_misnamed(stage, thing.path, root)
        except (SubmissionError, GraderFault, OSError, MemoryError):
            continue
        if misnamed is None:
            continue
        attempt = _attempt(arrival, stage, misnamed.digest, misnamed.label)
        note = Doubt("note", f"{misnamed.notes[0]}, whose functions it has")
        if accept:
            return _timed(ReadAttempt(attempt, misnamed, doubts=(note,)), thing)
        name = misnamed.origin.name
        what = f"{shown(name)} has the functions of {stage.module} under another name"
        remedy = f"Take it for {stage.module} with --accept, or have the file renamed."
        told = NotHandedIn(f"{arrival.student}: {what}", f"Rename it to {stage.module}.")
        missing = _attempt(arrival, stage, MISSING, misnamed.label)
        return ReadAttempt(missing, None, "missing", told, (Doubt("another name", what, remedy),))
    return found


def _looked_at(found: ReadAttempt, arrival: StudentSubmission) -> ReadAttempt:
    """Return an attempt with what is doubtful about whose it is, and about what is in it."""
    doubts = [*arrival.doubts, *found.doubts]
    if found.error is not None and not found.doubts:
        remedy = found.error.hint or ""
        if found.outcome == "missing" and all(_is_bare(each.path) for each in arrival.things):
            doubts.append(Doubt("absent", "nothing was handed in"))
        elif found.outcome == "missing" and all(each.is_words for each in arrival.things):
            doubts.append(Doubt("not found", "only words typed into a form, and no file", remedy))
        elif found.outcome == "missing":
            doubts.append(Doubt("not found", found.error.message, remedy))
        elif found.outcome == "rejected":
            kind = next((each.path.suffix.lower() for each in arrival.things), "")
            doubts.append(Doubt("rejected", found.error.message, remedy, kind))
    notes = found.snapshot.notes if found.snapshot is not None and not found.doubts else ()
    return replace(found, doubts=(*doubts, *(Doubt("note", note) for note in notes)))


def _is_bare(path: Path) -> bool:
    """Say whether a thing is a folder without a file that anybody could mean."""
    try:
        return (
            split(path) is None and path.is_dir() and not any(not each.name.startswith(".") for each in path.iterdir())
        )
    except OSError:
        return False


def _one(arrival: StudentSubmission, thing: SubmittedFile, stage: Stage, root: Path) -> ReadAttempt:
    try:
        if split(thing.path) is None and thing.path.is_symlink():  # it may lead to what somebody else handed in
            raise SubmissionError(f"{thing.path.name} is a link: expected a file, an archive or a folder")
        snapshot = take(stage, thing.path, root)
    except NotHandedIn as error:
        return ReadAttempt(_attempt(arrival, stage, MISSING, str(thing.path)), None, "missing", error)
    except (SubmissionError, GraderFault, OSError, MemoryError) as error:
        said = f"{thing.path.name} cannot be read: {error}"
        told = error if isinstance(error, (SubmissionError, GraderFault)) else SubmissionError(said)
        digest = hashlib.sha256(f"rejected {told.message}".encode("utf-8", "replace")).hexdigest()
        attempt = _attempt(arrival, stage, digest, str(thing.path))
        return _timed(ReadAttempt(attempt, None, "fault" if isinstance(told, GraderFault) else "rejected", told), thing)
    return _timed(ReadAttempt(_attempt(arrival, stage, snapshot.digest, snapshot.label), snapshot), thing)


def _attempt(arrival: StudentSubmission, stage: Stage, digest: str, label: str) -> Attempt:
    return Attempt(arrival.student, stage.id, digest, None, "unknown", printable(label), arrival.identity)


def _timed(found: ReadAttempt, thing: SubmittedFile) -> ReadAttempt:
    """Return an attempt with its time: the list's or the platform's, else the commit's, else the file's."""
    attempt, snapshot = found.attempt, found.snapshot
    place, made = split(thing.path), None
    if snapshot is not None and snapshot.revision is not None and place is not None:
        times = commit_times(place[0], snapshot, snapshot.revision)
        made, found = times.made, replace(found, commit=times)
    if thing.submitted is not None:
        attempt = replace(attempt, submitted=thing.submitted.astimezone(UTC), clock="csv")
        return replace(found, attempt=attempt, dated=thing.dated or "list")
    clock: Clock = "commit" if place is not None else "file"
    when = made if place is not None else _written(thing.path, snapshot)
    if when is None:
        return found
    return replace(found, attempt=replace(attempt, submitted=when, clock=clock), dated=clock)


def commit_times(repository: Path, snapshot: Snapshot, revision: str) -> CommitTimes:
    """Return the times of a commit, as far as it and those that it builds on are there and say any."""
    try:
        with opened(repository, snapshot.label) as git:
            head = git.content(revision, "commit", MAX_BYTES, snapshot.label).partition(b"\n\n")[0]
            times = _times(head)
            before: list[datetime] = []
            for parent in _PARENT.findall(head):
                with suppress(SubmissionError, GraderFault):  # fetched without its history
                    text = git.content(parent.decode(), "commit", MAX_BYTES, snapshot.label)
                    before += filter(None, [_times(text.partition(b"\n\n")[0]).get("committer")])
    except (SubmissionError, GraderFault):
        return CommitTimes()
    return CommitTimes(times.get("author"), times.get("committer"), max(before, default=None))


def _times(head: bytes) -> dict[str, datetime]:
    found = ((who.decode(), _moment(int(seconds))) for who, seconds in _WHEN.findall(head))
    return {who: at for who, at in found if at is not None}


def _told(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _written(path: Path, snapshot: Snapshot | None) -> datetime | None:
    """Return when the module's file was last written or, of an archive, the archive's."""
    place = path if snapshot is None or not snapshot.origin.is_relative_to(path) else snapshot.origin
    while True:  # then what it lies in: within a folder, an archive is a file of its own
        try:
            return _moment(os.lstat(place).st_mtime)
        except (OSError, ValueError):
            if place == path:
                return None
            place = place.parent


def _moment(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def expected(arrivals: Iterable[StudentSubmission], stage: Stage, only: bool) -> int:
    """Return how many attempts at a stage will be taken, as far as names tell."""

    def number(arrival: StudentSubmission) -> int:
        try:
            return 1 if arrival.platform else len(chosen(arrival, stage, only))
        except NotHandedIn:
            return 1

    return sum(map(number, arrivals))


@dataclass(frozen=True)
class Alarm:
    """A reason that too many submissions share: who they are, of how many, and an example."""

    reason: Reason
    cause: str
    students: tuple[str, ...]
    total: int
    example: str
    remedy: str

    @property
    def summary(self) -> str:
        """What it concerns, in words.

        >>> Alarm("import", "torch", ("ada", "bob"), 8, "", "").summary
        'import (torch): 2 of 8 students'
        """
        cause = f" ({self.cause})" if self.cause else ""
        return f"{self.reason}{cause}: {len(self.students)} of {self.total} students"


def alarms(found: Iterable[tuple[str, Sequence[Doubt]]], total: int) -> tuple[Alarm, ...]:
    """Return each reason that more than a tenth of a class shares, the most frequent first.

    found is students with what is doubtful about their submission, total the size of the class.
    """
    by_cause: dict[tuple[Reason, str], list[tuple[str, Doubt]]] = {}
    for student, doubts in found:
        for doubt in doubts:
            if doubt.reason in _REMEDY:
                by_cause.setdefault((doubt.reason, doubt.cause), []).append((student, doubt))
    told = []
    for (reason, cause), cases in by_cause.items():
        students = tuple(dict.fromkeys(student for student, _ in cases))
        if len(students) >= min(FEWEST, total) and len(students) > SHARE * total:
            first, doubt = cases[0]
            told.append(Alarm(reason, cause, students, total, f"{first}: {doubt.text}", _REMEDY[reason]))
    return tuple(sorted(told, key=lambda alarm: -len(alarm.students)))


@dataclass(frozen=True)
class IntakeEntry:
    """One attempt of a student at a stage, or that there is none.

    file is where the module was found, empty where nowhere; dated says where submitted comes from, in words; team is
    the submission's name where it is of several students.
    """

    student: str
    stage: str
    file: str
    submitted: datetime | None
    clock: Clock
    dated: str
    late_days: int
    team: str
    doubts: tuple[Doubt, ...]


@dataclass(frozen=True)
class Intake:
    """All that arrived, and each reason that more than a tenth of the class shares at a stage."""

    rows: tuple[IntakeEntry, ...]
    alarms: tuple[Alarm, ...]
    students: int
    ignored: tuple[str, ...] = ()


def survey(
    stages: Sequence[Stage], arrivals: Sequence[StudentSubmission], root: Path, policy: Policy, accept: bool = False
) -> Intake:
    """Look at everything that arrived for some stages; nothing is graded, and no text is kept."""
    rows: list[IntakeEntry] = []
    found: list[Alarm] = []
    for stage in stages:
        known: dict[str, tuple[Doubt, ...]] = {}
        of_stage = _dated(
            [
                _row(each, arrival, policy, _loading(stage, each.snapshot, known))
                for arrival in arrivals
                for each in taken(arrival, stage, root, len(stages) == 1, accept=accept)
            ]
        )
        rows += of_stage
        found += alarms(((row.student, row.doubts) for row in of_stage), len(arrivals))
    return Intake(tuple(rows), tuple(found), len(arrivals))


def document(intake: Intake) -> dict[str, Any]:
    """Return an intake as a document for programs."""
    return {
        "schema": SCHEMA,
        "students": intake.students,
        "entries": [_entry(row) for row in intake.rows],
        "alarms": [
            {
                "reason": each.reason,
                "cause": each.cause or None,
                "students": list(each.students),
                "of": each.total,
                "example": each.example,
                "remedy": each.remedy,
            }
            for each in intake.alarms
        ],
        "ignored": list(map(printable, intake.ignored)),
    }


def loading_doubt(kind: str, message: str, hint: str | None) -> Doubt:
    """Return the doubt about a module that cannot be imported, of a problem."""
    reason: Reason = "import" if kind == "import" else "load"
    return Doubt(reason, message.partition("\n")[0], hint or "", loading_cause(reason, message))


def loading_cause(reason: Reason, message: str) -> str:
    """Return what modules that cannot be imported have in common: the package, else the message without its numbers.

    >>> loading_cause("load", "line 12: unmatched ']'")
    "unmatched ']'"
    """
    told, *quoted = re.sub(r"^line [0-9]+: ", "", message).split("\n")
    if reason == "import":
        return told.partition(" is imported")[0]
    if told == "invalid syntax" and quoted:  # which says nothing but that it is none
        told = f"{told}: {quoted[0].strip()}"
    return re.sub(r"[0-9]+", "N", told)[:60]


def _loading(stage: Stage, snapshot: Snapshot | None, known: dict[str, tuple[Doubt, ...]]) -> tuple[Doubt, ...]:
    """Return why a module cannot be imported, else for which packages there will be stand-ins."""
    if snapshot is None:
        return ()
    if snapshot.digest not in known:
        reading = check_loading(stage, snapshot)
        notes = tuple(Doubt("note", told) for told in told_of(reading.stood_in))
        problem = reading.problem
        doubts = notes if problem is None else (loading_doubt(problem.kind, problem.message, problem.hint),)
        known[snapshot.digest] = doubts
    return known[snapshot.digest]


def _row(each: ReadAttempt, arrival: StudentSubmission, policy: Policy, loading: tuple[Doubt, ...]) -> IntakeEntry:
    attempt = each.attempt
    days = policy.late_days(attempt.student, attempt.stage, attempt.submitted)
    doubts = [*each.doubts, *loading]
    if days and attempt.clock == "file":
        doubts.append(Doubt("late by file", _late(days, arrival)))
    elif attempt.clock == "file" and any(thing.marked_late for thing in arrival.things):
        doubts.append(Doubt("note", "Canvas calls it late; by the time of the file it is not late here"))
    doubts += [Doubt("commit time", told) for told in _commit_doubts(each, policy, days)]
    file = each.snapshot.label if each.snapshot is not None else attempt.label if arrival.things else ""
    when = attempt.submitted.astimezone(policy.zone) if attempt.submitted else None
    return IntakeEntry(
        attempt.student, attempt.stage, file, when, attempt.clock, each.dated, days, arrival.team, tuple(doubts)
    )  # fmt: skip


def _commit_doubts(each: ReadAttempt, policy: Policy, days: int) -> Iterator[str]:
    """Yield what cannot be so unless a clock or a commit's time was set by hand, or a list gives a time of its own."""
    attempt, made = each.attempt, each.commit.made if each.commit else None
    if each.commit is None or made is None:
        return
    for who, at in (("the commit before it", each.commit.before), ("its author", each.commit.written)):
        if at is not None and at - made > SKEW:
            yield f"the commit says that it was made {_told(made)}, and {who} says {_told(at)}"
    if attempt.clock != "csv" or attempt.submitted is None:
        return
    both = f"{_told(made)} by the commit, {_told(attempt.submitted)} by the {each.dated}, which counts"
    if days and not policy.late_days(attempt.student, attempt.stage, made):
        yield f"in time by the commit alone: {both}"
    elif made - attempt.submitted > SKEW:
        yield f"committed after it was handed in: {both}"


def _late(days: int, arrival: StudentSubmission) -> str:
    what = f"{count(days, 'day')} late by the time of the file, which copying changes"
    if arrival.platform != "canvas":
        return what
    return f"{what}; Canvas {'calls' if any(each.marked_late for each in arrival.things) else 'does not call'} it late"


def _dated(rows: Sequence[IntakeEntry]) -> list[IntakeEntry]:
    """Return rows where, if one unpacking wrote all files after the deadline, each that is late says so."""
    times = [row.submitted for row in rows if row.clock == "file" and row.submitted is not None]
    late = [row for row in rows if any(doubt.reason == "late by file" for doubt in row.doubts)]
    if len(times) < 2 or len(late) < len(times) or max(times) - min(times) > UNPACKING:
        return list(rows)
    seconds = int((max(times) - min(times)).total_seconds()) + 1
    span = f"{seconds} s" if seconds < 60 else f"{-(-seconds // 60)} min"
    what = f"late by the time of the file: all {len(times)} were written within {span}, as by unpacking them"

    def said(doubt: Doubt) -> Doubt:
        return replace(doubt, text=what) if doubt.reason == "late by file" else doubt

    return [replace(row, doubts=tuple(map(said, row.doubts))) for row in rows]


def _entry(row: IntakeEntry) -> dict[str, Any]:
    return {
        "student": row.student,
        "stage": row.stage,
        "file": row.file or None,
        "submitted": row.submitted.isoformat() if row.submitted else None,
        "clock": row.clock,
        "dated": row.dated or None,
        "late_days": row.late_days,
        "team": row.team or None,
        "doubts": [{"reason": each.reason, "text": each.text, "remedy": each.remedy or None} for each in row.doubts],
    }


class Loading:
    """The results of one stage whose module could not be imported, of a class of total students."""

    def __init__(self, stage: Stage, total: int, proceed: bool) -> None:
        self._stage, self._total, self._proceed = stage, total, proceed
        self._found: dict[str, Doubt] = {}

    def learn(self, book: Gradebook) -> None:
        """Count the results that earlier runs left, by the attempt of each student that came last."""
        for attempt in book.each_attempt():
            if attempt.stage == self._stage.id and attempt.result is not None:
                self._count(book.result(attempt.result))

    def see(self, result: Result) -> None:
        """Count a result; SystematicFault where it makes a reason systematic, unless the run is to go on."""
        self._count(result)
        if self._found.get(result.key.student) is not None and not self._proceed and (found := self.alarms):
            raise SystematicFault("\n".join(each.summary for each in found), f"{found[0].example}\n{found[0].remedy}")

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Each reason that more than a tenth of the class shares."""
        return alarms(((student, (doubt,)) for student, doubt in self._found.items()), self._total)

    def _count(self, result: Result) -> None:
        self._found.pop(result.key.student, None)
        problem = result.verdict.get("problem") or {}
        if problem.get("kind") in _LOADING:
            doubt: Doubt | None = loading_doubt(problem["kind"], str(problem["message"]), problem.get("hint"))
        else:
            doubt = _used(result.verdict)
        if doubt is not None and result.outcome == "graded":
            self._found[result.key.student] = doubt


def _used(verdict: Mapping[str, Any]) -> Doubt | None:
    """Return the doubt that a criterion fails because it uses a package that is not there."""
    for criterion in verdict.get("criteria", ()):
        for failure in criterion.get("failures", ()):
            if found := _ABSENT.search(str(failure.get("message") or "")):
                what = f"{criterion['id']} uses {found['package']}, which is not available when a stage is checked"
                return Doubt("import", what, "", found["package"])
    return None
