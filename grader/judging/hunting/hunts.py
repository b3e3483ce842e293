"""Hunts changed forms of one module with a single judge and a single worker, which loads the module once.

Each test has a process of its own, as in any grading. It takes the changed form in before the test begins.
"""

from __future__ import annotations

import marshal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from grader.isolation.tiers import Own
from grader.isolation.workers import Workers
from grader.judging.assessment import Assessor
from grader.judging.hunting.quarry import RECORDS, Quarry, chosen
from grader.judging.judge import Charge
from grader.judging.processes import bounds
from grader.judging.processes.bounded import Bounds, bounded
from grader.judging.processes.messages import Messages
from grader.judging.processes.plain import unpacked
from grader.judging.processes.slate import Slate
from grader.judging.session import Session
from grader.outcome import Outcome
from grader.remote.processes.loading import become
from grader.remote.processes.process import LearnerProcess


def caught(charge: Charge, quarries: Sequence[Quarry], own: Own) -> list[Outcome | None]:
    """Return the first test that each form does not pass, None where it passes all, as far as one judge comes.

    A form that ends the judge ends the list: what comes of that one and of those behind it is not known.
    """
    limits = charge.suite.stage.limits
    seconds = limits.stage_seconds * len(quarries)
    told = bounded(partial(_hunted, charge, quarries), own, Bounds(limits.judge_mb, seconds)).told
    return [unpacked(outcome, RECORDS) for kind, outcome in told if kind == "hunted"]


def _hunted(charge: Charge, quarries: Sequence[Quarry], messages: Messages, workers: Workers, slate: Slate) -> None:
    """Load the module, then hunt one form after another, and tell what came of each."""
    suite = charge.suite
    process = LearnerProcess(charge.job, charge.tier, workers, charge.fork)
    try:
        session = Hunting(suite, charge.task, process, Assessor(suite.stage, charge.job, None), slate)
        with suite.in_place():
            session.giving.begin()
            with suppress(Exception):  # of a form that is then hunted alone, where whatever it does is told
                process.load()
                for quarry in quarries:
                    messages.send("hunted", session.hunted(quarry))
            session.giving.end()
    finally:
        bounds.bound_time(0)
        process.kill()


class Hunting(Session):
    """Judges changed forms of the module that its process has loaded."""

    def hunted(self, quarry: Quarry) -> Outcome | None:
        """Return the first of the quarry's tests that it does not pass; it may take as long as a grading."""
        code = compile(quarry.source, self.process.job.label, "exec", dont_inherit=True)
        form = marshal.dumps(code)
        self.giving.on_given = lambda connection: become(connection, form)
        self.task = self.giving.task = replace(
            self.task, ends_at=time.monotonic() + self.suite.stage.limits.stage_seconds
        )
        self.slow_rows.clear()
        items = chosen(self.suite.items, quarry.tests)
        try:
            for place in range(len(items)):
                bounds.bound_time(bounds.TEST_SECONDS)
                outcome = self._judged(_Nobody(), *items[place : place + 2])
                if outcome.status != "passed":
                    return outcome
        finally:
            self.suite.take_down()
        return None


class _Nobody:
    """Takes no part of what a session tells: what came of a form is told as a whole."""

    def send(self, kind: str, *fields: Any) -> None:
        """Drop it."""
