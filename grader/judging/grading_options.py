"""The options of a grading, which its judges work by as well."""

from __future__ import annotations

from dataclasses import dataclass

from grader.course.stage import Feedback
from grader.isolation import tiers


@dataclass(frozen=True)
class Options:
    """How to grade: the seed of the random inputs, the isolation, the one criterion asked for, the least tier.

    ahead holds criteria whose tests are run before the others, for whoever waits for them, asked those whose causes are
    looked for as long as that of the first that fails. feedback below full tells no causes but known mistakes.
    timed asks for the time of each call. pool holds a few texts of others that passed: their values steer the search
    for causes. recurs says that the seed comes again and again: then a warm grader plans the tests before the first
    grading with it.
    """

    seed: int
    isolation: str = "auto"
    only: str | None = None
    fork: bool = tiers.FORKS
    require: str = "auto"
    ahead: tuple[str, ...] = ()
    timed: bool = False
    asked: tuple[str, ...] = ()
    feedback: Feedback = "full"
    pool: tuple[bytes, ...] = ()
    recurs: bool = False
