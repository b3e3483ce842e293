"""What the calls of a test tell: the functions that it asked for, their times, and which of them are late."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median

from grader.course.stage import Stage
from grader.criterion import ROBUSTNESS
from grader.diagnosis.replay import Replay, usable
from grader.judging.task import JudgeTask
from grader.outcome import Call, Outcome
from grader.sandbox.connection import Connection
from grader.sandbox.module import RemoteModule
from grader.sandbox.process import LearnerProcess
from grader.submission.source import plain_text, reaches

ASKED = ("call", "traced", "op")
SHARE_AGAIN, LEAST_AGAIN = 0.1, 1.0  # of a call's seconds, and in seconds: for one that took all of its time before


def charged(criterion: str, kind: str) -> str:
    """Return what is left out once a test of a row has timed out: of its robustness, nothing that counts without it."""
    return f"{criterion}, robustness" if kind in ROBUSTNESS else criterion


def called(stage: Stage, connection: Connection | None) -> tuple[str, ...]:
    """Return which of the stage's own functions and classes a test called."""
    records = connection.records if connection else []
    labels = dict.fromkeys(record.label for record in records if record.kind in ASKED)
    return tuple(label for label in labels if stage.criterion_of(label))


def times(
    stage: Stage, task: JudgeTask, process: LearnerProcess, outcome: Outcome, connection: Connection | None
) -> tuple[Call, ...]:
    """Return the calls of a test that passed, with their times, where these are asked for and known."""
    if not task.timed or outcome.status != "passed" or connection is None:
        return ()

    start = partial(process.open, task.ends_at) if process.fork else None
    try:
        return timed(stage, connection, start, process.done)
    except Exception:  # of values that a learner's process chose, or its end; the result stands without times
        return ()


class Late:
    """Functions that did not return in time, and what leads to one by the module's text."""

    def __init__(self, stage: Stage, source: bytes) -> None:
        self._stage = stage
        self._source = source
        self._reaches: Mapping[str, frozenset[str]] = {}
        self._endless: set[str] = set()  # those that took the whole time of a call

    def note(self, outcome: Outcome, connection: Connection | None) -> bool:
        """Remember the call that a test waited for in vain; say whether it took a call's whole time."""
        if outcome.status != "timed_out" or connection is None:
            return False
        is_whole = bool(connection.late) and self.seconds(connection.late) == self._stage.limits.call_seconds
        own = [name for row in self._stage.criteria if row.id == outcome.criterion for name in row.functions]
        if not self._endless:
            self._reaches = reaches(self._stage, plain_text(self._source))
        if connection.late and (self._stage.criterion_of(connection.late) or connection.late in own):
            self._endless.add(connection.late)
        return is_whole

    def seconds(self, label: str) -> float:
        """Return how long a call may take: less where its function, or one it leads to, once took all of its time."""
        whole = self._stage.limits.call_seconds
        names = {label, label.partition(".")[0]}  # a method, and its class, which is what the checklist names
        if self._endless.isdisjoint(names.union(*(self._reaches.get(name, ()) for name in names))):
            return whole
        return min(whole, max(LEAST_AGAIN, SHARE_AGAIN * whole))


MOST_CALLS = 2000  # of a test
TIMES = 5  # that a test is repeated, after once to warm up
SECONDS = 0.2  # in which it is repeated; a test that takes longer is not, since warming up is little beside that
LONG = 0.005  # seconds: a call that cannot be repeated counts from here on


def timed(
    stage: Stage, test: Connection, start: Callable[[], Connection] | None, end: Callable[[Connection], object]
) -> tuple[Call, ...]:
    """Return the calls of a test that passed, each with the median of its times.

    start opens a connection to a fresh process of the module, end ends it; without start the test's own times are told.
    """
    calls = [record for record in test.records if record.kind == "call"]
    own = [record.seconds for record in calls]
    if start is not None and usable(test.records) and sum(own) < SECONDS:
        found = _repeated(stage, test, start, end)
        own = found if len(found) == len(calls) else []
    elif start is not None and sum(own) < LONG * len(own):
        own = []
    return tuple(Call(record.label, seconds) for record, seconds in list(zip(calls, own, strict=False))[:MOST_CALLS])


def _repeated(
    stage: Stage, test: Connection, start: Callable[[], Connection], end: Callable[[Connection], object]
) -> list[float]:
    """Return the median time of each call; none where a request cannot be repeated."""
    connection = start()
    rounds: list[list[float]] = []
    ends_at = time.monotonic() + SECONDS
    try:
        while len(rounds) <= TIMES and (len(rounds) < 2 or time.monotonic() < ends_at):
            connection.records.clear()
            replay = Replay(RemoteModule(connection, ""), stage, test.names, False)  # type: ignore[arg-type]  # it has the names of one
            if any(replay.perform(record) is None for record in test.records):
                return []
            rounds.append([record.seconds for record in connection.records if record.kind == "call"])
    finally:
        end(connection)
    alike = [each for each in rounds[1:] if len(each) == len(rounds[0])]
    return [median(times) for times in zip(*alike, strict=True)]
