"""Work on a learner's values in a judge that is no grading: bounded alike, and what it told before its end is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grader.errors import GraderFault, IsolationRefused
from grader.isolation.tiers import FORKS, LocalWorkerFactory
from grader.isolation.workers import Workers
from grader.judging import bounds
from grader.judging.judge_process import ASKED, Body, Forked, WorkerKeeper
from grader.judging.messages import JudgeGone, Messages, SharedStatus, TimeIsUp
from grader.judging.task import OVERTIME_SECONDS, Death, JudgeOutOfMemory
from grader.outcome import Status

Work = Callable[[Messages, Workers, SharedStatus], None]


@dataclass(frozen=True)
class Bounds:
    """MB of address space beyond what this process has, and seconds."""

    memory_mb: int
    seconds: float


@dataclass(frozen=True)
class Bounded:
    """What was told, each as (kind, fields…) in plain form; death where the end was not reached."""

    told: tuple[tuple[Any, ...], ...]
    death: Death | None = None


class Telling:
    """What the work tells, and which of its parts it is at: a learner's values can end it in each."""

    def __init__(self, messages: Messages, shared: SharedStatus) -> None:
        self._messages = messages
        self.shared = shared

    def at(self, part: int) -> None:
        """Note the part that begins; it may take as much processor time as a test."""
        self.shared.at("test", part)
        bounds.bound_time(bounds.TEST_SECONDS)

    def send(self, kind: str, *fields: Any) -> None:
        """Tell one thing."""
        self._messages.send(kind, *fields)


def bounded(work: Work, own: LocalWorkerFactory, most: Bounds) -> Bounded:
    """Have work done in a fork of this process, within bounds, and return what it told.

    Where nothing can be forked it is done here. Raises IsolationRefused where no worker can be started.
    """
    shared = SharedStatus()
    if not FORKS:
        return _here(work, own, shared)

    def body(messages: Messages, workers: Workers) -> None:
        _tried(work, messages, workers, shared)

    lending = WorkerKeeper(own)
    try:
        forked = Forked(lending)
        return _followed(forked, body, shared, most)
    finally:
        lending.end()


def _tried(work: Work, messages: Messages, workers: Workers, shared: SharedStatus) -> None:
    bounds.bound_time(bounds.TEST_SECONDS)
    try:
        work(messages, workers, shared)
        messages.send("done")
    except (MemoryError, JudgeOutOfMemory):
        messages.send("swelled")
    except IsolationRefused as refused:
        messages.send("refused", refused.message, refused.hint)
    except JudgeGone:
        pass
    except Exception as error:
        messages.send("fault", f"{type(error).__name__}: {error}"[:1500])


def _followed(forked: Forked, body: Body, shared: SharedStatus, most: Bounds) -> Bounded:
    told: list[tuple[Any, ...]] = []
    until = time.monotonic() + most.seconds + OVERTIME_SECONDS
    messages = forked.start(body, most.memory_mb)
    reason: tuple[Status, str] | None = None
    try:
        while True:
            kind, fields = messages.receive(until)
            if kind == "done":
                return Bounded(tuple(told))
            if kind in ASKED:
                forked.answer(kind, *fields)
            elif kind == "swelled":
                reason = "over_limit", f"more than {most.memory_mb} MB of memory"
                break
            elif kind == "refused":
                raise IsolationRefused(*fields)
            elif kind == "fault":
                hint = "This is a fault of the grader, not of your code: please report it."
                raise GraderFault(f"the grader failed: {fields[0]}", hint)
            else:
                told.append((kind, *fields))
    except TimeIsUp:
        reason = "timed_out", "more time than the stage has"
    except JudgeGone:
        pass
    finally:
        said = forked.end(True)
    return Bounded(tuple(told), Death(shared.read(), *(reason or said)))


def _here(work: Work, own: LocalWorkerFactory, shared: SharedStatus) -> Bounded:
    """Do the work in this process, where nothing can be forked; its memory has no bound there."""
    told: list[tuple[Any, ...]] = []
    work(_Kept(told), own, shared)  # type: ignore[arg-type]  # takes what is sent, as an end of a connection does
    return Bounded(tuple(told))


class _Kept:
    """Keeps what is sent, in plain form."""

    def __init__(self, told: list[tuple[Any, ...]]) -> None:
        self._told = told

    def send(self, kind: str, *fields: Any) -> None:
        from grader.judging.messages import packed

        self._told.append((kind, *packed(fields)))
