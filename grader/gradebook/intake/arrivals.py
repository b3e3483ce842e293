"""What was handed in, before anything is read: each student once, and what of it may hold a stage's module."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from grader.course.stage import Stage
from grader.errors import NotHandedIn, UsageError
from grader.submission.names import folded, is_renamed, printable, shown, suggestion

MAX_NAME = 100
SHOWN = 20  # mistakes at most


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


def joined(found: Iterable[Arrival]) -> tuple[Arrival, ...]:
    """Return one arrival for each student; UsageError for names that cannot be told apart, or cannot be shown."""
    unfit: list[str] = []
    twice: list[str] = []
    by_name: dict[tuple[str, ...], Arrival] = {}
    for arrival in found:
        if fault := _fault(arrival.student):
            unfit.append(f"{_labels(arrival)}: the name '{shown(arrival.student)}' {fault}")
            continue
        known = by_name.setdefault(folded([arrival.student]), arrival)
        if known is arrival:
            continue
        if known.student == arrival.student and known.identity == arrival.identity != "":
            by_name[folded([arrival.student])] = replace(known, things=known.things + arrival.things)
        else:
            twice.append(f"{_labels(known)} and {_labels(arrival)} are of the same student, {shown(known.student)}")
    if mistakes := [*unfit, *twice]:
        more = [f"… and {len(mistakes) - SHOWN} more"] if len(mistakes) > SHOWN else []
        hints = ["Nothing was graded."]
        hints += ["Rename what has such a name."] if unfit else []
        hints += ["Keep one of each; a CSV list with `submitted` may name several attempts."] if twice else []
        raise UsageError("\n".join([*mistakes[:SHOWN], *more]), " ".join(hints))
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
