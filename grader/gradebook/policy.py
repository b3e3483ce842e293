"""class.toml: what results are worth, by points of criteria, partial credit, deadlines, lateness and attempts.

It is read into a Policy, or one error with every mistake: its place, its value and what was expected. Places are keys,
as in stages.STAGE.deadline, after the path of the file.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Literal, TypeVar, get_args

from grader.course.stage import FEEDBACK, Course, Feedback, Stage
from grader.course.table import Table, did_you_mean, listed, read_toml
from grader.criterion import PASSES, Passes
from grader.errors import CourseError, UsageError
from grader.outcome import KINDS
from grader.submission.earlier import ALWAYS
from grader.submission.files import printable

Partial = Literal["none", "tests", "kinds"]  # what a criterion is worth that does not pass
PARTIAL: tuple[Partial, ...] = get_args(Partial)
Which = Literal["best", "last"]  # of several attempts
WHICH: tuple[Which, ...] = get_args(Which)
# When a stage's reference is lent to whoever builds on it without a module of their own that passes.
Lend = Literal["passed", "deadline", "always"]
LEND: tuple[Lend, ...] = get_args(Lend)
FILE = "class.toml"
SCHEMA = 1
MOST_DAYS = 366
_MOMENT = "a date and a time, as in 2026-11-30T23:59:00 or 2026-11-30T23:59:00+01:00"
_REMOVE = "remove the line: each run draws its own seeds, and a regrade repeats them"
_Word = TypeVar("_Word", bound=str)


@dataclass(frozen=True)
class StagePolicy:
    """What a stage is worth.

    points is of the whole stage, None where it is the sum of its criteria; criteria holds the weights of those that
    have one of their own, criterion is that of every other. lend says when its reference serves later stages, passes
    which tests make a criterion pass.
    """

    deadline: datetime | None = None
    points: float | None = None
    criteria: Mapping[str, float] = field(default_factory=dict, hash=False)
    criterion: float = 1.0
    partial: Partial = "none"
    kinds: Mapping[str, float] = field(default_factory=dict, hash=False)
    attempts: Which = "best"
    lend: Lend = "deadline"
    passes: Passes = "mathematics"


@dataclass(frozen=True)
class Policy:
    """All of class.toml; without one, each criterion is worth a point, and nothing is late.

    factors is what is left of the points on the first day late, the second, …; after the last, nothing is. budget is
    how many days late each student may be in total without losing anything. extensions is, by student and stage, a
    deadline of their own or days added to it.
    """

    zone: tzinfo = UTC
    feedback: Feedback = "full"
    grace: timedelta = timedelta()
    factors: tuple[float, ...] = ()
    budget: int = 0
    stages: Mapping[str, StagePolicy] = field(default_factory=dict, hash=False)
    extensions: Mapping[str, Mapping[str, datetime | timedelta]] = field(default_factory=dict, hash=False)
    other: StagePolicy = StagePolicy()

    def of(self, stage: str) -> StagePolicy:
        """Return what is said of a stage, or what holds for each of which nothing is said."""
        return self.stages.get(stage, self.other)

    def passes(self, stages: Iterable[Stage]) -> dict[str, Passes]:
        """Return by stage which tests make a criterion pass."""
        return {stage.id: self.of(stage.id).passes for stage in stages}

    def deadline(self, student: str, stage: str) -> datetime | None:
        """Return a student's own deadline for a stage; None where there is none."""
        common = self.of(stage).deadline
        own = self.extensions.get(student, {}).get(stage)
        if isinstance(own, timedelta):
            return None if common is None else common + own
        return common if own is None else own

    def lent_from(self, student: str, stage: str) -> datetime | None:
        """Return the moment from which on a stage's reference is lent to a student; None for never.

        Whoever has the reference could hand it in: so it is lent once nothing that the student hands in earns points.
        """
        match self.of(stage).lend:
            case "passed":
                return None
            case "always":
                return ALWAYS
            case "deadline":
                deadline = self.deadline(student, stage)
                late = timedelta(days=self.budget + len(self.factors))
                return None if deadline is None else deadline + self.grace + late

    def late_days(self, student: str, stage: str, submitted: datetime | None) -> int:
        """Return how many days after the deadline something came, begun ones in full; 0 within the grace."""
        deadline = self.deadline(student, stage)
        if deadline is None or submitted is None or submitted - deadline <= self.grace:
            return 0
        return -((deadline - submitted) // timedelta(days=1))

    def factor(self, days: int) -> float:
        """Return what is left of the points after so many days that no budget covers."""
        return 1.0 if days <= 0 else self.factors[days - 1] if days <= len(self.factors) else 0.0


def read_policy(path: Path | None, course: Course) -> Policy:
    """Return what a class.toml says, the defaults without one; UsageError with a line for each mistake in it."""
    if path is None:
        return Policy(other=StagePolicy(passes=course.settings.passes))
    place = printable(str(path))
    try:
        values = read_toml(path, place)
    except CourseError as error:
        raise UsageError(error.message, "docs/class.md explains the file.") from error
    mistakes: list[str] = []
    policy = _policy(Table(values, f"{place}: ", mistakes), course)
    if mistakes:
        raise UsageError("\n".join(mistakes), "docs/class.md explains the file.")
    return policy


def _policy(top: Table, course: Course) -> Policy:
    if (schema := top.value("schema", int, SCHEMA)) not in (SCHEMA, None):
        top.wrong("schema", f"{schema!r} is not {SCHEMA}, the schema that this grader reads")
    zone = _zone(top)
    if "seed" in top.values:
        top.knows("seed")
        top.wrong("seed", f"{top.values['seed']!r} has no effect any more: {_REMOVE}")
    base = _stage_values(top, StagePolicy(passes=course.settings.passes), zone, None)
    policy = Policy(
        zone=zone,
        feedback=_one_of(top, "feedback", FEEDBACK, Policy.feedback),
        grace=timedelta(minutes=_amount(top, "grace_minutes", 0.0, 60 * 24 * MOST_DAYS)),
        factors=_factors(top),
        budget=_days(top, "late_days"),
        stages=_stages(top.table("stages"), course, base, zone),
        extensions=_extensions(top.table("extensions"), course, zone),
        other=base,
    )
    top.close()
    return policy


def _zone(top: Table) -> tzinfo:
    from zoneinfo import ZoneInfo

    name = top.value("timezone", str, "UTC") or "UTC"
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        top.wrong("timezone", f"{name!r} is not a known time zone; expected a name as in 'Europe/Berlin'")
        return UTC


def _stages(table: Table, course: Course, base: StagePolicy, zone: tzinfo) -> dict[str, StagePolicy]:
    known = {stage.id: stage for stage in course.stages}
    found: dict[str, StagePolicy] = {}
    for name in table.values:
        table.knows(name)
        if name not in known:
            table.wrong(name, f"is not the id of a stage of this course{did_you_mean(name, known)}")
        if table.value(name, dict) is not None:
            inner = table.table(name)
            found[name] = _stage_values(inner, base, zone, known.get(name), name)
            inner.close()
    return found


def _stage_values(table: Table, base: StagePolicy, zone: tzinfo, stage: Stage | None, name: str = "") -> StagePolicy:
    """Read what may stand for one stage or, without a name, for all; of a stage that is unknown, its criteria are."""
    kinds = _weights(table, "kinds", KINDS) if "kinds" in table.values else dict(base.kinds)
    partial = _one_of(table, "partial", PARTIAL, base.partial)
    if "partial" in table.values and partial == "kinds" and not any(kinds.values()):
        table.wrong("partial", f"'kinds' needs weights; expected a table kinds with some of {listed(KINDS)}")
    own = base.points if "points" not in table.values else _amount(table, "points", 0.0)
    return StagePolicy(
        deadline=_moment(table, "deadline", zone) if name else None,
        points=own,
        criteria=_criteria(table, stage) if name else {},
        criterion=_amount(table, "criterion", base.criterion),
        partial=partial,
        kinds=kinds,
        attempts=_one_of(table, "attempts", WHICH, base.attempts),
        lend=_one_of(table, "lend", LEND, base.lend),
        passes=_one_of(table, "passes", PASSES, base.passes),
    )


def _criteria(table: Table, stage: Stage | None) -> dict[str, float]:
    inner = table.values.get("criteria")
    known = (
        [each.id for each in stage.criteria] if stage is not None else list(inner) if isinstance(inner, dict) else []
    )
    return _weights(table, "criteria", known)


def _extensions(table: Table, course: Course, zone: tzinfo) -> dict[str, dict[str, datetime | timedelta]]:
    ids = [stage.id for stage in course.stages]
    found: dict[str, dict[str, datetime | timedelta]] = {}
    for student in table.values:
        table.knows(student)
        if table.value(student, dict) is None:
            continue
        inner = table.table(student)
        for name in inner.values:
            inner.knows(name)
            if name not in ids:
                inner.wrong(name, f"is not the id of a stage of this course{did_you_mean(name, ids)}")
            elif isinstance(inner.values[name], (int, float)):
                found.setdefault(student, {})[name] = timedelta(days=_amount(inner, name, 0.0, MOST_DAYS))
            elif (moment := _moment(inner, name, zone, f"a number of days, or {_MOMENT}")) is not None:
                found.setdefault(student, {})[name] = moment
    return found


def _moment(table: Table, key: str, zone: tzinfo, expected: str = _MOMENT) -> datetime | None:
    table.knows(key)
    value = table.values.get(key)
    if value is None:
        return None
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=zone)
    shown = f"{value} has no time" if isinstance(value, date) else f"{value!r} is not a moment"
    table.wrong(key, f"{shown}; expected {expected}")
    return None


def _factors(top: Table) -> tuple[float, ...]:
    values = top.value("late_factors", list, []) or []
    found: list[float] = []
    for place, value in enumerate(values):
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= 1:
            top.wrong(f"late_factors[{place}]", f"{value!r} is not a part of the points; expected 0 to 1")
        elif found and value > found[-1]:
            top.wrong(f"late_factors[{place}]", f"{value} is more than the day before; expected {found[-1]} at most")
        else:
            found.append(float(value))
    return tuple(found)


def _days(top: Table, key: str) -> int:
    value = top.value(key, int, 0) or 0
    if not 0 <= value <= MOST_DAYS:
        top.wrong(key, f"{value} is not a number of days; expected 0 to {MOST_DAYS}")
    return value


def _weights(table: Table, key: str, known: Iterable[str]) -> dict[str, float]:
    inner = table.table(key)
    names = list(known)
    for name in inner.values:
        inner.knows(name)
        if name not in names:
            inner.wrong(name, f"is unknown; expected one of {listed(names)}{did_you_mean(name, names)}")
    return {name: _amount(inner, name, 0.0) for name in inner.values if name in names}


def _amount(table: Table, key: str, default: float, most: float = 1e6) -> float:
    value = table.value(key, float, default)
    if value is None:
        return default
    if not (math.isfinite(value) and 0 <= value <= most):
        table.wrong(key, f"{value} is out of range; expected 0 to {most:g}")
        return default
    return float(value)


def _one_of(table: Table, key: str, known: tuple[_Word, ...], default: _Word) -> _Word:
    table.knows(key)
    value = table.values.get(key, default)
    found = next((each for each in known if each == value), None)
    if not isinstance(value, str):
        expected = listed(f'"{each}"' for each in known)
        table.wrong(key, f"{reprlib.repr(value)} is unknown; expected {expected}")
    elif found is None:
        table.wrong(key, f"{value!r} is unknown; expected {listed(known)}{did_you_mean(value, known)}")
    return default if found is None else found
