"""The time of a test's calls: what it asked is repeated in one process, of which the first calls cost more."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from grader.course.stage import Stage
from grader.diagnosis.replay import Replay, usable
from grader.outcome import Call
from grader.remote.connection import Connection
from grader.remote.module import RemoteModule

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
