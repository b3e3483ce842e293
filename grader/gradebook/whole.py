"""`grader class grade` and `regrade` from end to end, for commands and for whoever grades a class by a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.course.stage import Course, Stage
from grader.errors import SystematicFault
from grader.gradebook import regrade as again
from grader.gradebook.intake.arrivals import Arrival
from grader.gradebook.intake.doubts import Alarm
from grader.gradebook.intake.listing import Listing, listing
from grader.gradebook.intake.survey import Intake, survey
from grader.gradebook.intake.taking import expected, taken
from grader.gradebook.loading import Loading
from grader.gradebook.records import Member
from grader.gradebook.running import Coordinator
from grader.gradebook.session import Wishes, opened, policy_of, pool, roster_of, stoppable
from grader.gradebook.setting import Setting, Tally, Told
from grader.gradebook.store import Gradebook
from grader.gradebook.worth.policy import Policy


@dataclass(frozen=True)
class Graded:
    """What a run did, by stage; how many marks the policy of now would change in points, and whom it names in vain.

    ignored are the entries of the folder that are no student's; policy is what class.toml said; systematic is each
    reason that more than a tenth of the class shares.
    """

    tallies: tuple[Tally, ...]
    outdated: int
    strangers: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)
    systematic: tuple[Alarm, ...] = ()


@dataclass(frozen=True)
class FrontDesk:
    """How submissions are taken: whether files under another name count, and whether a systematic reason stops a run.

    told gets what arrived before anything is graded.
    """

    accept: bool = False
    proceed: bool = False
    told: Callable[[Intake], None] = lambda intake: None


@dataclass(frozen=True)
class Regraded:
    """What would change, or has: by stage how the gradings went, and each mark that differs."""

    tallies: tuple[Tally, ...]
    differences: tuple[again.Difference, ...]


def take_in(
    course: Course, stages: tuple[Stage, ...], submissions: Path, wishes: Wishes, accept: bool
) -> tuple[Listing, tuple[Member, ...], Intake]:
    """Return who handed in something, who is in the class, and what is in doubt; nothing is written or graded."""
    policy = policy_of(course, wishes)
    roster = roster_of(wishes, policy.zone)
    listed = listing(submissions, policy.zone, roster)
    found = survey(stages, listed.arrivals, course.root, policy, accept)
    return listed, roster or listed.members, replace(found, ignored=listed.ignored)


def grade(
    course: Course,
    stages: tuple[Stage, ...],
    submissions: Path,
    wishes: Wishes,
    told: Told,
    desk: FrontDesk = FrontDesk(),  # frozen
) -> Graded:
    """Grade everything that has no result yet. An interrupt, or SIGTERM, leaves all results so far in the gradebook.

    Raises SystematicFault where one reason concerns more than a tenth of the class, before or while it is graded.
    """
    listed, roster, intake = take_in(course, stages, submissions, wishes, desk.accept)
    desk.told(intake)
    if intake.alarms and not desk.proceed:
        raise SystematicFault("\n".join(each.summary for each in intake.alarms))
    found = listed.arrivals
    only = len(stages) == 1
    with opened(course, stages, wishes, create=True) as (book, setting):
        with book.changing():
            book.keep_passes(setting.policy.passes(course.stages))
            book.keep_roster(roster)
        with _coordinator(course, stages, wishes, book, setting, told) as coordinator:
            tallies = []
            systematic: list[Alarm] = list(intake.alarms)
            for stage in stages:
                here = _of_stage(book, stage, found)
                attempts = (
                    each for arrival in here for each in taken(arrival, stage, course.root, only, accept=desk.accept)
                )
                loading = Loading(stage, len(found), desk.proceed)
                loading.learn(book)
                tallies.append(coordinator.grade(stage, attempts, expected(here, stage, only), loading.see))
                systematic += loading.alarms
        known = {each.student for each in book.attempts()} | {each.student for each in roster}
        strangers = tuple(name for name in setting.policy.extensions if name not in known)
        return Graded(
            tuple(tallies),
            sum(each.changes_points for each in again.differences(book, setting, {})),
            strangers,
            listed.ignored,
            setting.policy,
            tuple(systematic),
        )


def _of_stage(book: Gradebook, stage: Stage, arrivals: Sequence[Arrival]) -> tuple[Arrival, ...]:
    """Return what arrived, without those of whom nothing came now, and something came before."""
    before = {each.student for each in book.attempts() if each.stage == stage.id}
    return tuple(each for each in arrivals if each.things or each.student not in before)


def regrade(
    course: Course, stages: tuple[Stage, ...], wishes: Wishes, told: Told, reason: str | None = None
) -> Regraded:
    """Grade again what the gradebook holds, and return which marks change; with a reason, change them."""
    tallies: dict[str, Tally] = {}

    def noted(tally: Tally) -> None:
        tallies[tally.stage] = tally
        told(tally)

    with opened(course, stages, wishes, create=False) as (book, setting):
        with _coordinator(course, stages, wishes, book, setting, noted) as coordinator:
            results = again.results(coordinator, book, stages)
        found = tuple(again.differences(book, setting, results))
        if reason is not None:
            again.apply(book, setting, results, reason)
    return Regraded(tuple(tallies.values()), found)


@contextmanager
def _coordinator(
    course: Course, stages: tuple[Stage, ...], wishes: Wishes, book: Gradebook, setting: Setting, told: Told
) -> Iterator[Coordinator]:
    with stoppable(), pool(course, setting, stages, wishes) as executor:
        yield Coordinator(book, setting, executor, executor.width, told)
