"""From what a student handed in to attempts: the module's text as data, when it came, or why there is none."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from grader.course.stage import Stage
from grader.errors import GraderFault, NotHandedIn, SubmissionError
from grader.gradebook.intake.arrivals import Arrival, Handed, chosen
from grader.gradebook.records import Attempt, Clock, Outcome
from grader.submission import MAX_BYTES, Snapshot, take
from grader.submission.git import opened
from grader.submission.revision import split

MISSING = hashlib.sha256(b"missing").hexdigest()  # stands for the digest of what was not handed in
_COMMITTED = re.compile(rb"^committer [^\n]*> ([0-9]{1,12}) [+-][0-9]{4}$", re.MULTILINE)


@dataclass(frozen=True)
class Taken:
    """An attempt and its module; without one, outcome and error say why."""

    attempt: Attempt
    snapshot: Snapshot | None = None
    outcome: Outcome = "graded"
    error: SubmissionError | GraderFault | None = None


Take = Callable[[Stage, Path, Path], Snapshot]


def taken(arrival: Arrival, stage: Stage, root: Path, only: bool, taking: Take = take) -> Iterator[Taken]:
    """Yield each attempt of a student at a stage; where there is none, that nothing was handed in."""
    try:
        things = chosen(arrival, stage, only)
    except NotHandedIn as error:
        where = ", ".join(str(each.path) for each in arrival.things)
        yield Taken(_attempt(arrival, stage, MISSING, where), None, "missing", error)
        return
    for thing in things:
        yield _one(arrival, thing, stage, root, taking)


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
        attempt = _timed(_attempt(arrival, stage, digest, str(thing.path)), thing, None)
        return Taken(attempt, None, "fault" if isinstance(told, GraderFault) else "rejected", told)
    return Taken(_timed(_attempt(arrival, stage, snapshot.digest, snapshot.label), thing, snapshot), snapshot)


def _said(thing: Handed, error: Exception) -> str:
    return f"{thing.path.name} cannot be read: {error}"


def _attempt(arrival: Arrival, stage: Stage, digest: str, label: str) -> Attempt:
    label = label.encode("utf-8", "replace").decode()
    return Attempt(arrival.student, stage.id, digest, None, "unknown", label, arrival.identity)


def _timed(attempt: Attempt, thing: Handed, snapshot: Snapshot | None) -> Attempt:
    """Return an attempt with its time: the list's, else the commit's, else the file's."""
    if thing.submitted is not None:
        return replace(attempt, submitted=thing.submitted.astimezone(UTC), clock="csv")
    clock: Clock = "commit"
    when = None
    if snapshot is not None and snapshot.revision is not None:
        when = _committed(thing.path, snapshot)
    elif split(thing.path) is None:
        clock, when = "file", _written(thing.path, snapshot)
    return attempt if when is None else replace(attempt, submitted=when, clock=clock)


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
    for place in ([snapshot.origin] if snapshot is not None else []) + [path]:
        try:
            return _moment(os.lstat(place).st_mtime)
        except (OSError, ValueError):
            continue
    return None


def _moment(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def expected(arrivals: Iterable[Arrival], stage: Stage, only: bool) -> int:
    """Return how many attempts at a stage will be taken, as far as names tell."""

    def number(arrival: Arrival) -> int:
        try:
            return len(chosen(arrival, stage, only))
        except NotHandedIn:
            return 1

    return sum(map(number, arrivals))
