"""Who judges for one grader: workers started ahead, a second judge where a core is idle, a process that stays."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.course.stage import Course, Stage
from grader.errors import IsolationRefused
from grader.isolation import tiers

if TYPE_CHECKING:
    from grader.judging.judge import Charge
    from grader.judging.processes.subprocesses import Standing
    from grader.judging.recall.memory import Book
    from grader.judging.task import Findings
    from grader.outcome import Outcome

RUNNING = Path("/proc/loadavg")
FEWEST_ROWS = 6  # of a checklist for whose tests, not yet loaded, a second worker is worth its start


class Staff:
    """Starts what the judges of one stage need, and has them work; kept from grading to grading.

    warm has the worker of the next grading started during each. hurried says that somebody waits for each verdict:
    then a second judge takes part, and the next workers are started by `prepare`, once the verdict is told.
    """

    def __init__(self, course: Course, stage: Stage, warm: bool, hurried: bool) -> None:
        self._course = course
        self._stage = stage
        self._warm = warm
        self._hurried = hurried
        self._first: dict[tuple[tiers.Tier, bool], tiers.Own] = {}
        self._second: dict[tiers.Tier, tiers.Own] = {}
        self._standing: Standing | None = None
        self._has_room = False  # for a second judge, as it was when the workers were asked for

    def prepare(self, tier: tiers.Tier, fork: bool, alone: bool = False) -> None:
        """Start the first judge's worker and, unless it is to be alone, the second one's; those that run stay."""
        if not fork:
            self._stands().prepare()
            return
        is_long = len(self._stage.criteria) >= FEWEST_ROWS
        self._has_room = self._hurried and not alone and is_long and has_idle_core()
        self.workers(tier, fork).prepare()
        if self._has_room:
            try:
                self._second.setdefault(tier, self._new(tier)).prepare()
            except (IsolationRefused, OSError):  # it is an aid
                self._has_room = False

    def workers(self, tier: tiers.Tier, fork: bool) -> tiers.Own:
        """Return the workers of the first judge."""
        return self._first.setdefault((tier, fork), self._new(tier, fork))

    def wait(self) -> None:
        """Wait for the process that stays, where there is one."""
        if self._standing is not None:
            self._standing.wait()

    def judged(self, charge: Charge, on_test: Callable[[Outcome], None] | None, second: Book | None = None) -> Findings:
        """Have a charge judged to its end; second is the book of the second judge, if one takes part."""
        from grader.judging.processes.second import beside
        from grader.judging.processes.workers import Lending
        from grader.judging.watchdog import ForkedJudges, Watchdog

        if not charge.fork:
            standing = self._stands()
            return Watchdog(replace(charge, slate=standing.slate), standing, on_test).run()
        own = self.workers(charge.tier, charge.fork)
        lending = Lending(own)
        try:
            lending.start()
            if self._warm and not self._hurried:
                own.prepare()
            with beside(charge, self._second.get(charge.tier) if self._has_room else None, lending, second) as shared:
                return Watchdog(shared, ForkedJudges(lending), on_test).run()
        finally:
            lending.end()

    def close(self) -> None:
        """End what was started ahead."""
        if self._standing is not None:
            self._standing.close()
        for own in (*self._first.values(), *self._second.values()):
            own.close()

    def _new(self, tier: tiers.Tier, fork: bool = True) -> tiers.Own:
        return tiers.Own(tier, self._course.root, fork, packages=self._stage.packages)

    def _stands(self) -> Standing:
        """Return the process that judges where this one cannot be forked."""
        from grader.judging.processes.subprocesses import Standing

        if self._standing is None:
            self._standing = Standing(self._course, self._stage)
        return self._standing


def has_idle_core() -> bool:
    """Say whether fewer processes run, this one among them, than there are cores that it may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores < 2:
        return False
    try:
        return int(RUNNING.read_text().split()[3].partition("/")[0]) < cores
    except (OSError, ValueError, IndexError):
        return hasattr(os, "getloadavg") and os.getloadavg()[0] < cores - 1
