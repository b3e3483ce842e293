"""`grader class grade` and `regrade` from end to end, for commands and for whoever grades a class by a program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from grader.course.stage import Course, Stage
from grader.gradebook import regrade as again
from grader.gradebook.intake.listing import listing
from grader.gradebook.intake.taking import expected, taken
from grader.gradebook.running import Coordinator
from grader.gradebook.session import Wishes, opened, policy_of, pool, stoppable
from grader.gradebook.setting import Setting, Tally, Told
from grader.gradebook.store import Gradebook
from grader.gradebook.worth.policy import Policy


@dataclass(frozen=True)
class Graded:
    """What a run did, by stage; how many marks the policy of now would change in points, and whom it names in vain.

    ignored are the entries of the folder that are no student's; policy is what class.toml said.
    """

    tallies: tuple[Tally, ...]
    outdated: int
    strangers: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)


@dataclass(frozen=True)
class Regraded:
    """What would change, or has: by stage how the gradings went, and each mark that differs."""

    tallies: tuple[Tally, ...]
    differences: tuple[again.Difference, ...]


def grade(course: Course, stages: tuple[Stage, ...], submissions: Path, wishes: Wishes, told: Told) -> Graded:
    """Grade everything that has no result yet. An interrupt, or SIGTERM, leaves all results so far in the gradebook."""
    listed = listing(submissions, policy_of(course, wishes).zone)
    found = listed.arrivals
    only = len(stages) == 1
    with opened(course, stages, wishes, create=True) as (book, setting):
        with book.changing():
            book.keep_passes(setting.policy.passes(course.stages))
        with _coordinator(course, stages, wishes, book, setting, told) as coordinator:
            tallies = []
            for stage in stages:
                attempts = (each for arrival in found for each in taken(arrival, stage, course.root, only))
                tallies.append(coordinator.grade(stage, attempts, expected(found, stage, only)))
        known = {each.student for each in book.attempts()}
        strangers = tuple(name for name in setting.policy.extensions if name not in known)
        return Graded(
            tuple(tallies),
            sum(each.changes_points for each in again.differences(book, setting, {})),
            strangers,
            listed.ignored,
            setting.policy,
        )


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
