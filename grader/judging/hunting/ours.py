"""Runs a stage's tests on the course's own modules within the judge, many times as fast as through a worker.

Only a reference, an alternative, or a small change of the reference comes here: nothing that a learner wrote. What a
worker is for, isolation and limits, is proved by other gradings of the same modules. Each changed form has a fork of
the judge, so that what it does to the judge's memory ends with it.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import pytest

from grader.isolation.tiers import Own
from grader.isolation.workers import Workers
from grader.judging import phases
from grader.judging.hunting.provider import Attempt, provided
from grader.judging.hunting.quarry import RECORDS, Quarry, chosen
from grader.judging.processes import bounds
from grader.judging.processes.bounded import Bounds, bounded
from grader.judging.processes.messages import Messages
from grader.judging.processes.plain import unpacked
from grader.judging.processes.slate import Slate
from grader.judging.suite import Suite, criterion_of, kind_of, name_of
from grader.outcome import Outcome, Status
from grader.worker import kernel

PATIENCE = 4.0  # times as many seconds of the clock as of the processor, for a form that waits for something
TEXT_LIMIT = 500


def caught(suite: Suite, quarries: Sequence[Quarry], seed: int, seconds: float, own: Own) -> list[Outcome | None]:
    """Return the first test that each changed form does not pass here, None where nothing can be said of it.

    seconds of the processor are what a test may take. A form that passes here may still fail through a worker.
    """
    limits = suite.stage.limits
    most = Bounds(limits.judge_mb + limits.memory_mb, (PATIENCE + 1) * limits.stage_seconds * len(quarries))
    told = bounded(partial(_caught, suite, quarries, seed, seconds), own, most).told
    found: dict[int, Outcome] = {number: unpacked(outcome, RECORDS) for _, number, outcome in told}
    return [found.get(number) for number in range(len(quarries))]


def outcomes(suite: Suite, source: str, seed: int, own: Own) -> tuple[Outcome, ...] | None:
    """Return what came of each test of a module that is meant to be right; None where one cannot be run here."""
    if not all(map(phases.is_plain, suite.items)):
        return None
    limits = suite.stage.limits
    most = Bounds(limits.judge_mb + limits.memory_mb, limits.stage_seconds)
    told = bounded(partial(_told, suite, source, seed), own, most).told
    return tuple(unpacked(outcome, RECORDS) for _, outcome in told)


def _told(suite: Suite, source: str, seed: int, messages: Messages, workers: Workers, slate: Slate) -> None:
    del workers, slate  # the module is the course's own: it runs here
    bounds.bound_time(suite.stage.limits.stage_seconds)
    with suite.in_place(), provided(suite, source, seed) as provider:
        for item, following in zip(suite.items, [*suite.items[1:], None], strict=True):
            messages.send("ours", _outcome(suite, item, provider.attempt(item, following)))


def _outcome(suite: Suite, item: pytest.Item, attempt: Attempt) -> Outcome:
    said = "" if attempt.passed else f"{type(attempt.error).__name__}: {attempt.error}"[:TEXT_LIMIT]
    status: Status = "passed" if attempt.passed else "failed"
    return Outcome(name_of(item), criterion_of(item), suite.is_hidden(item), status, said, kind=kind_of(item))


def _caught(
    suite: Suite,
    quarries: Sequence[Quarry],
    seed: int,
    seconds: float,
    messages: Messages,
    workers: Workers,
    slate: Slate,
) -> None:
    del workers, slate
    bounds.bound_time(0)
    with suite.in_place():
        for number, quarry in enumerate(quarries):

            def tell(outcome: Outcome, number: int = number) -> None:
                messages.send("ours", number, outcome)

            items = [item for item in chosen(suite.items, quarry.tests) if phases.is_plain(item)]
            patience = PATIENCE * seconds * len(items)
            if not _in_a_fork(partial(_first, suite, quarry.source, items, seed, seconds), tell, patience):
                late = f"a test took more than {seconds:g} s of processor time"
                tell(Outcome("the run", "", False, "timed_out", late))


def _in_a_fork(first: Callable[[], Outcome | None], tell: Callable[[Outcome], None], patience: float) -> bool:
    """Have a fork of the judge tell the first test that a form does not pass; say whether its time was enough.

    patience are seconds of the clock, after which nothing can be said of a form that waits for something.
    """
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            with suppress(kernel.Unconfined):
                kernel.end_with_parent()
            outcome = first()
            bounds.bound_time(0)
            if outcome is not None:
                tell(outcome)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb"):
        ended, _, _ = select.select([reader], [], [], patience)
        if not ended:
            os.kill(process, signal.SIGKILL)
    return bounds.why_ended(os.waitpid(process, 0)[1]) is None


def _first(suite: Suite, source: str, items: Sequence[pytest.Item], seed: int, seconds: float) -> Outcome | None:
    """Return the first of these tests that a module does not pass."""
    bounds.bound_time(seconds)
    with provided(suite, source, seed) as provider:
        for item in items:
            bounds.bound_time(seconds)
            attempt = provider.attempt(item)
            if not attempt.passed:
                return _outcome(suite, item, attempt)
    return None
