"""What was handed in, before anything is read: each student once, and what of it may hold a stage's module."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from grader.course.stage import Stage
from grader.errors import NotHandedIn, UsageError
from grader.gradebook.intake.doubts import Doubt
from grader.submission.containers import is_named_notebook
from grader.submission.files import NOTEBOOK, folded, is_archive, is_renamed, printable, shown, suggestion

MAX_NAME = 100
SHOWN = 20  # mistakes at most
_WORDS = (".html", ".htm")  # of what is typed into a form


Platform = Literal["", "canvas", "moodle", "gradescope", "nbgrader"]  # whose export an entry is of, if any


@dataclass(frozen=True)
class Handed:
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
class Arrival:
    """All that one student handed in; identity is the number that a learning platform gives.

    What comes from a platform is one submission of one or several files; otherwise each thing is an attempt. team is
    the name of the submission of which the student is a member; is_known says that a roster names the student, and
    doubts what is doubtful about whose it is.
    """

    student: str
    things: tuple[Handed, ...]
    identity: str = ""
    platform: Platform = ""
    team: str = ""
    is_known: bool = True
    doubts: tuple[Doubt, ...] = ()


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
        if known.platform and _source(known) == _source(arrival):
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


def _may_hold(each: Handed, stage: Stage, only: bool) -> bool:
    if each.is_words or each.name.lower().endswith(_WORDS):
        return False
    if is_named_notebook(each.name, stage) or not each.name.lower().endswith((".py", NOTEBOOK)):
        return True
    return is_renamed(each.name, stage.module) or (only and not each.names_stage)


def _likelihood(each: Handed, stage: Stage) -> tuple[bool, bool, bool, int, int, int]:
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


def _source(arrival: Arrival) -> tuple[str, ...]:
    """Return what entries of one submission have in common."""
    return arrival.student, arrival.identity, arrival.platform, arrival.team


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
