"""Who judges for one grader: its workers, one of them started ahead, and where nothing forks a process that stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.course.stage import Course, Stage
from grader.isolation import tiers

if TYPE_CHECKING:
    from grader.judging.judge import Charge
    from grader.judging.processes.subprocesses import Standing
    from grader.judging.task import Findings
    from grader.outcome import Outcome


class Staff:
    """Starts what the judges of one stage need, and has them work; kept from grading to grading.

    Kept warm, the worker of the next grading is started during each.
    """

    def __init__(self, course: Course, stage: Stage, warm: bool) -> None:
        self._course = course
        self._stage = stage
        self._warm = warm
        self._workers: dict[tuple[tiers.Tier, bool], tiers.Own] = {}
        self._standing: Standing | None = None

    def prepare(self, tier: tiers.Tier, fork: bool) -> None:
        """Start a judge's worker, unless it runs."""
        if fork:
            self.workers(tier, fork).prepare()
            tiers.program_for(tier)  # made here, once: each judge is a fork
        else:
            self._stands().prepare()

    def workers(self, tier: tiers.Tier, fork: bool) -> tiers.Own:
        """Return what starts workers in a tier."""
        own = tiers.Own(tier, self._course.root, fork, packages=self._stage.packages)
        return self._workers.setdefault((tier, fork), own)

    def wait(self) -> None:
        """Wait for the process that stays, where there is one."""
        if self._standing is not None:
            self._standing.wait()

    def judged(self, charge: Charge, on_test: Callable[[Outcome], None] | None) -> Findings:
        """Have a charge judged to its end."""
        from grader.judging.processes.workers import Lending
        from grader.judging.watchdog import ForkedJudges, Watchdog

        if not charge.fork:
            standing = self._stands()
            return Watchdog(replace(charge, slate=standing.slate), standing, on_test).run()
        own = self.workers(charge.tier, charge.fork)
        lending = Lending(own)
        try:
            lending.start()
            if self._warm:
                own.prepare()
            return Watchdog(charge, ForkedJudges(lending), on_test).run()
        finally:
            lending.end()

    def close(self) -> None:
        """End what was started ahead."""
        if self._standing is not None:
            self._standing.close()
        for own in self._workers.values():
            own.close()

    def _stands(self) -> Standing:
        """Return the process that judges where this one cannot be forked."""
        from grader.judging.processes.subprocesses import Standing

        if self._standing is None:
            self._standing = Standing(self._course, self._stage)
        return self._standing
