"""The road of a learner: each stage with its state, its dates and attempts, and how each of its criteria stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from grader.course.stage import Stage
from grader.progress.actions import Workspace, is_stub, last_checked
from grader.progress.last_check import CriterionCheck
from grader.progress.standings import Standing, standings
from grader.progress.state import Progress, State, Work
from grader.report.terminal.overview import STATES
from grader.report.terminal.words import kind_of_criterion, stages_words, status_words

UNKNOWN = {"passed": "passes", "not_started": "not started"}  # of criteria whose tests nobody counted
CHANGED = "The file has changed since the last check. `grader check {}` says what it can do now."
UNCHECKED = "Begun, and not checked yet. `grader check {}` says what it can do."


@dataclass(frozen=True)
class RoadCriterion:
    """One criterion of a checklist; kind is that of its mark, and said the mistake that was found in it.

    robust says whether it passes with every test of refusals and of the dtype; None where that is unknown.
    """

    id: str
    text: str
    functions: tuple[str, ...]
    status: str
    kind: str
    words: str
    said: str = ""
    tests_passed: int = 0
    tests_total: int = 0
    robust: bool | None = None

    @property
    def lacks(self) -> bool:
        """Whether something of it was found to be wrong or missing."""
        return self.robust is False and self.status not in ("not_started", "blocked")


@dataclass(frozen=True)
class RoadStage:
    """One stage of the road; note says why nothing is known of its criteria, where that is so.

    robust is how many of its criteria are robust; None where that is unknown. seen holds the criteria whose function of
    the reference was shown before the stage had passed.
    """

    stage: Stage
    state: State
    words: str
    is_current: bool
    is_begun: bool
    passed_at: datetime | None
    work: Work
    hints: int
    criteria: tuple[RoadCriterion, ...]
    note: str = ""
    robust: int | None = None
    seen: tuple[str, ...] = ()

    @property
    def passed(self) -> int:
        """How many criteria pass."""
        return sum(each.status == "passed" for each in self.criteria)

    @property
    def time(self) -> str:
        """How long was worked on it at least, in words; nothing where that is unknown."""
        return lasted(self.work.seconds)


@dataclass(frozen=True)
class Road:
    """All of it, as it was at a time."""

    title: str
    made: datetime
    stops: tuple[RoadStage, ...]

    @property
    def passed(self) -> int:
        """How many stages have passed, as they are now."""
        return sum(stop.state == "passed" for stop in self.stops)

    @property
    def reached(self) -> str:
        """How many stages have passed, in words."""
        return stages_words([stop.state for stop in self.stops])

    @property
    def current(self) -> RoadStage | None:
        """The stage to work on."""
        return next((stop for stop in self.stops if stop.is_current), None)

    @property
    def is_fresh(self) -> bool:
        """Whether nothing was begun yet."""
        return not any(stop.is_begun or stop.work.attempts or stop.passed_at for stop in self.stops)

    @property
    def attempts(self) -> int:
        """How many attempts all stages took."""
        return sum(stop.work.attempts for stop in self.stops)

    @property
    def time(self) -> str:
        """How long was worked at least, in words."""
        return lasted(sum(stop.work.seconds for stop in self.stops))


def road(workspace: Workspace, now: datetime) -> Road:
    """Return what is recorded of every stage, and what its last check found; nothing is graded."""
    progress = workspace.store.read()
    stops = tuple(_stop(workspace, each, progress) for each in standings(workspace, progress))
    return Road(workspace.course.settings.title, now.astimezone(UTC), stops)


def lasted(seconds: int) -> str:
    """Return a time in hours and minutes, in words; nothing for less than a minute.

    >>> lasted(59), lasted(60), lasted(7260), lasted(3600)
    ('', '1 min', '2 h 1 min', '1 h')
    """
    hours, minutes = divmod(seconds // 60, 60)
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{minutes} min"] if minutes else [])])


def words_of(standing: Standing) -> str:
    """Return in words how a stage stands."""
    return STATES.get(standing.state) or f"locked, waits for {', '.join(standing.waits_for)}"


def _stop(workspace: Workspace, standing: Standing, progress: Progress) -> RoadStage:
    stage = standing.stage
    begun = not is_stub(stage)
    criteria, note = _criteria(workspace, standing, begun)
    work = progress.work.get(stage.id, Work())
    hints = sum(shown for key, shown in progress.hints.items() if key.startswith(f"{stage.id}/"))
    when = _first_pass(progress, stage.id, work)
    robust = _robust(criteria) if begun or standing.state == "passed" else None
    if robust is None and standing.state == "passed":
        robust = progress.passed[stage.id].robust
    known = (when, work, hints, criteria, note, robust, standing.seen)
    return RoadStage(stage, standing.state, words_of(standing), standing.is_current, begun, *known)


def _robust(criteria: Sequence[RoadCriterion]) -> int | None:
    known = bool(criteria) and all(each.robust is not None for each in criteria)
    return sum(bool(each.robust) for each in criteria) if known else None


def _first_pass(progress: Progress, stage: str, work: Work) -> datetime | None:
    said = work.passed if stage in progress.passed and work.passed else ""
    said = said or (progress.passed[stage].when if stage in progress.passed else "")
    try:
        return datetime.fromisoformat(said).astimezone(UTC) if said else None
    except ValueError:  # written by hand
        return None


def _criteria(workspace: Workspace, standing: Standing, begun: bool) -> tuple[tuple[RoadCriterion, ...], str]:
    """Return the criteria of a stage as they stand, and why nothing is known of them where that is so."""
    stage = standing.stage
    if not begun and standing.state != "passed":
        return _alike(stage, "not_started"), ""
    known = last_checked(workspace, stage)
    if standing.state == "passed" and (known is None or known.open):
        return _alike(stage, "passed"), ""
    if known is not None:
        return tuple(_road_criterion(stage, found) for found in known.criteria), ""
    checked = standing.state in ("passed", "changed") or workspace.store.read().work.get(stage.id)
    return (), (CHANGED if checked else UNCHECKED).format(stage.id)


def _alike(stage: Stage, status: str) -> tuple[RoadCriterion, ...]:
    return tuple(
        RoadCriterion(each.id, each.text, each.functions, status, status, UNKNOWN[status]) for each in stage.criteria
    )


def _road_criterion(stage: Stage, found: CriterionCheck) -> RoadCriterion:
    criterion = stage.criterion(found.id)
    cause = "" if found.status == "blocked" else found.mistake  # it is told where it fails; this one only waits
    told = kind_of_criterion(found), status_words(found), cause
    tests = found.tests_passed, found.tests_total
    return RoadCriterion(found.id, criterion.text, criterion.functions, found.status, *told, *tests, found.robust)
