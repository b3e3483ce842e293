"""A call that does not return is told with the loop that it is in, if its process tells it."""

from __future__ import annotations

from typing import Any

import pytest

from grader.isolation import tiers
from grader.remote.exceptions import WorkerFailed
from grader.tests.conftest import Start

pytestmark = pytest.mark.skipif(
    not tiers.FORKS, reason="a signal asks, and only a forked process has one that it heeds"
)
SOURCE = """
import signal


def step(x):
    for each in range(100):
        x = x + 0
    return x


def endless(x):
    x = abs(x)
    while x >= 0:
        x = step(x)
    return x


def recursive(n):
    return recursive(n - 1) + recursive(n - 1) if n else 0


def deaf():
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    while True:
        pass


def lying():
    signal.signal(signal.SIGUSR1, lambda *_: print("x" * 100))
    while True:
        pass
"""


def located(start: Start, call: str, *arguments: Any) -> tuple[str, list[int]]:
    learner = start(SOURCE, call_seconds=0.5)
    with pytest.raises(WorkerFailed) as failed:
        getattr(learner.open(), call)(*arguments)
    learner.process.locate(learner.connection)
    learner.done()
    return str(failed.value), [frame.line for frame in failed.value.learner_frames]


def test_the_loop_that_does_not_end_is_named_and_not_the_one_that_it_calls(start: Start) -> None:
    said = "endless did not return within 0.5 s: it was in the loop of line 13, `while x >= 0`"
    assert located(start, "endless", 1) == (said, [13])


@pytest.mark.parametrize(("call", "arguments"), [("recursive", (60,)), ("deaf", ()), ("lying", ())])
def test_where_nothing_is_known_nothing_is_said(start: Start, call: str, arguments: tuple[Any, ...]) -> None:
    assert located(start, call, *arguments) == (f"{call} did not return within 0.5 s", [])
