"""Attempts from what a student handed in: the module's text as data, when it came, or why there is none."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from grader.course.stage import Stage
from grader.errors import GraderFault, NotHandedIn, SubmissionError
from grader.gradebook.intake.arrivals import Arrival, Handed, chosen
from grader.gradebook.intake.doubts import Doubt
from grader.gradebook.records import Attempt, Clock, Outcome
from grader.submission import MAX_BYTES, Snapshot, take, take_misnamed
from grader.submission.files import is_renamed, shown
from grader.submission.git import opened, split

MISSING = hashlib.sha256(b"missing").hexdigest()  # stands for the digest of what was not handed in
_COMMITTED = re.compile(rb"^committer [^\n]*> ([0-9]{1,12}) [+-][0-9]{4}$", re.MULTILINE)


@dataclass(frozen=True)
class Taken:
    """An attempt and its module; without one, outcome and error say why. doubts are what is doubtful about it.

    dated says where the attempt's time comes from, in words.
    """

    attempt: Attempt
    snapshot: Snapshot | None = None
    outcome: Outcome = "graded"
    error: SubmissionError | GraderFault | None = None
    doubts: tuple[Doubt, ...] = ()
    dated: str = ""


Take = Callable[[Stage, Path, Path], Snapshot]


def taken(
    arrival: Arrival, stage: Stage, root: Path, only: bool, taking: Take = take, accept: bool = False
) -> Iterator[Taken]:
    """Yield each attempt of a student at a stage; where there is none, that nothing was handed in.

    Files of one submission to a platform are one attempt. accept takes a file under another name for the module where
    it has the stage's functions; without it such a file is a doubt.
    """
    try:
        things = chosen(arrival, stage, only)
    except NotHandedIn as error:
        where = ", ".join(str(each.path) for each in arrival.things)
        missing = Taken(_attempt(arrival, stage, MISSING, where), None, "missing", error)
        yield _looked_at(_or_misnamed(missing, arrival, arrival.things, stage, root, accept), arrival)
        return
    if arrival.platform:
        found = _first(arrival, things, stage, root, taking)
        yield _looked_at(_or_misnamed(found, arrival, arrival.things, stage, root, accept), arrival)
        return
    for thing in things:
        found = _one(arrival, thing, stage, root, taking)
        yield _looked_at(_or_misnamed(found, arrival, (thing,), stage, root, accept), arrival)


def _first(arrival: Arrival, things: Sequence[Handed], stage: Stage, root: Path, taking: Take) -> Taken:
    """Return the first of a submission's files that holds the module, else why the likeliest does not."""
    failed: Taken | None = None
    for at, thing in enumerate(things):
        found = _one(arrival, thing, stage, root, taking)
        if found.snapshot is None:
            failed = failed or found
            continue
        rest = [each.name for each in things[at + 1 :] if is_renamed(each.name, stage.module)]
        if not rest:
            return found
        what = f"{shown(thing.name)} is taken, not {', '.join(map(shown, rest[:3]))}, which came before it"
        return replace(found, doubts=(Doubt("note", what),))
    assert failed is not None
    return failed


def _or_misnamed(
    found: Taken, arrival: Arrival, things: Sequence[Handed], stage: Stage, root: Path, accept: bool
) -> Taken:
    """Return what was found or, where that is nothing, the module under another name, or that there may be one."""
    if found.snapshot is not None or found.outcome == "fault":
        return found
    for thing in things:
        try:
            misnamed = None if thing.path.is_symlink() else take_misnamed(stage, thing.path, root)
        except (SubmissionError, GraderFault, OSError, MemoryError):
            continue
        if misnamed is None:
            continue
        attempt = _attempt(arrival, stage, misnamed.digest, misnamed.label)
        note = Doubt("note", f"{misnamed.notes[0]}, whose functions it has")
        if accept:
            return _timed(Taken(attempt, misnamed, doubts=(note,)), thing)
        name = misnamed.origin.name
        what = f"{shown(name)} has the functions of {stage.module} under another name"
        remedy = f"Take it for {stage.module} with --accept, or have the file renamed."
        told = NotHandedIn(f"{arrival.student}: {what}", f"Rename it to {stage.module}.")
        missing = _attempt(arrival, stage, MISSING, misnamed.label)
        return Taken(missing, None, "missing", told, (Doubt("another name", what, remedy),))
    return found


def _looked_at(found: Taken, arrival: Arrival) -> Taken:
    """Return an attempt with what is doubtful about whose it is, and about what is in it."""
    doubts = [*arrival.doubts, *found.doubts]
    if found.error is not None and not found.doubts:
        remedy = found.error.hint or ""
        if found.outcome == "missing" and not arrival.things:
            doubts.append(Doubt("absent", "nothing was handed in"))
        elif found.outcome == "missing" and all(each.is_words for each in arrival.things):
            doubts.append(Doubt("not found", "only words typed into a form, and no file", remedy))
        elif found.outcome == "missing":
            doubts.append(Doubt("not found", found.error.message, remedy))
        elif found.outcome == "rejected":
            doubts.append(Doubt("rejected", found.error.message, remedy))
    notes = found.snapshot.notes if found.snapshot is not None and not found.doubts else ()
    return replace(found, doubts=(*doubts, *(Doubt("note", note) for note in notes)))


def _one(arrival: Arrival, thing: Handed, stage: Stage, root: Path, taking: Take) -> Taken:
    try:
        if split(thing.path) is None and thing.path.is_symlink():  # it may lead to what somebody else handed in
            raise SubmissionError(f"{thing.path.name} is a link: expected a file, an archive or a folder")
        snapshot = taking(stage, thing.path, root)
    except NotHandedIn as error:
        return Taken(_attempt(arrival, stage, MISSING, str(thing.path)), None, "missing", error)
    except (SubmissionError, GraderFault, OSError, MemoryError) as error:
        told = error if isinstance(error, (SubmissionError, GraderFault)) else SubmissionError(_said(thing, error))
        digest = hashlib.sha256(f"rejected {told.message}".encode("utf-8", "replace")).hexdigest()
        attempt = _attempt(arrival, stage, digest, str(thing.path))
        return _timed(Taken(attempt, None, "fault" if isinstance(told, GraderFault) else "rejected", told), thing)
    return _timed(Taken(_attempt(arrival, stage, snapshot.digest, snapshot.label), snapshot), thing)


def _said(thing: Handed, error: Exception) -> str:
    return f"{thing.path.name} cannot be read: {error}"


def _attempt(arrival: Arrival, stage: Stage, digest: str, label: str) -> Attempt:
    label = label.encode("utf-8", "replace").decode()
    return Attempt(arrival.student, stage.id, digest, None, "unknown", label, arrival.identity)


def _timed(found: Taken, thing: Handed) -> Taken:
    """Return an attempt with its time: the list's or the platform's, else the commit's, else the file's."""
    attempt, snapshot = found.attempt, found.snapshot
    if thing.submitted is not None:
        attempt = replace(attempt, submitted=thing.submitted.astimezone(UTC), clock="csv")
        return replace(found, attempt=attempt, dated=thing.dated or "list")
    clock: Clock = "commit"
    when = None
    if snapshot is not None and snapshot.revision is not None:
        when = _committed(thing.path, snapshot)
    elif split(thing.path) is None:
        clock, when = "file", _written(thing.path, snapshot)
    if when is None:
        return found
    return replace(found, attempt=replace(attempt, submitted=when, clock=clock), dated=clock)


def _committed(path: Path, snapshot: Snapshot) -> datetime | None:
    found = split(path)
    if found is None or snapshot.revision is None:
        return None
    try:
        with opened(found[0], snapshot.label) as git:
            head = git.content(snapshot.revision, "commit", MAX_BYTES, snapshot.label).partition(b"\n\n")[0]
    except (SubmissionError, GraderFault):
        return None
    match = _COMMITTED.search(head)
    return _moment(int(match[1])) if match else None


def _written(path: Path, snapshot: Snapshot | None) -> datetime | None:
    """Return when the module's file was last written or, of an archive, the archive's."""
    for place in _places(path, snapshot):
        try:
            return _moment(os.lstat(place).st_mtime)
        except (OSError, ValueError):
            continue
    return None


def _places(path: Path, snapshot: Snapshot | None) -> Iterator[Path]:
    """Yield the module's place, then what it lies in: within a folder, an archive is a file of its own."""
    place = path if snapshot is None else snapshot.origin
    while place != path and place.is_relative_to(path):
        yield place
        place = place.parent
    yield path


def _moment(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def expected(arrivals: Iterable[Arrival], stage: Stage, only: bool) -> int:
    """Return how many attempts at a stage will be taken, as far as names tell."""

    def number(arrival: Arrival) -> int:
        try:
            found = len(chosen(arrival, stage, only))
            return 1 if arrival.platform else found
        except NotHandedIn:
            return 1

    return sum(map(number, arrivals))
