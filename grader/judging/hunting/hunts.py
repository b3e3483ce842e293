"""Hunts changed forms of one module with a single judge and a single worker, which loads the module once.

Each process takes the changed form in before a test begins there.
"""

from __future__ import annotations

import marshal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

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
    process = LearnerProcess(charge.job, charge.tier, workers, charge.fork)
    try:
        with charge.suite.in_place(), suppress(Exception):  # of a form that is then hunted alone, where it is told
            process.load()
            for quarry in quarries:
                messages.send("hunted", _caught(charge, quarry, process, slate))
    finally:
        bounds.bound_time(0)
        process.kill()


def _caught(charge: Charge, quarry: Quarry, process: LearnerProcess, slate: Slate) -> Outcome | None:
    """Return the first of the quarry's tests that it does not pass; it may take as long as a grading."""
    suite = charge.suite
    process.form = marshal.dumps(compile(quarry.source, process.job.label, "exec", dont_inherit=True))
    task = replace(charge.task, ends_at=time.monotonic() + suite.stage.limits.stage_seconds)
    session = Session(suite, task, process, Assessor(suite.stage, charge.job, None), slate)
    session.giving.begin()
    try:
        return session.first_failure(chosen(suite.items, quarry.tests))
    finally:
        session.giving.end()
        suite.take_down()
