"""Which lines of a right module each test runs: a change elsewhere in it cannot matter to that test.

A test draws what the run's seed says and nothing else, and each has a module of its own. So with a module that differs
in lines which the test does not run, it does the same again.
"""

from __future__ import annotations

import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from grader.isolation.tiers import Own
from grader.isolation.workers import Workers
from grader.judging.hunting.provider import Provider, provided
from grader.judging.processes import bounds
from grader.judging.processes.bounded import Bounds, bounded
from grader.judging.processes.messages import Messages
from grader.judging.processes.slate import Slate
from grader.judging.suite import Suite, criterion_of, name_of

PATIENCE = 4.0  # noting lines takes time of its own


@dataclass(frozen=True)
class Reached:
    """A test, its row, the lines of the module that it runs, and its seconds.

    lines is None where that cannot be told: then a change in any line may matter to it.
    """

    test: str
    criterion: str
    lines: frozenset[int] | None
    seconds: float

    def runs(self, span: tuple[int, int] | None) -> bool:
        """Say whether it may run any of these lines, the first to the last; without any, whether it may tell at all.

        >>> Reached("test_a.py::test_b", "row", frozenset({3, 4}), 0.1).runs((4, 9))
        True
        """
        if self.lines is None or span is None:
            return True
        return any(span[0] <= line <= span[1] for line in self.lines)


def reached(suite: Suite, source: str, seed: int, own: Own) -> tuple[Reached, ...]:
    """Return what each test of a suite runs of a right module's text, as far as it could be seen.

    A test that is not among them may run any line.
    """
    limits = suite.stage.limits
    most = Bounds(limits.judge_mb + limits.memory_mb, PATIENCE * limits.stage_seconds)
    told = bounded(partial(_told, suite, source, seed), own, most).told
    return tuple(
        Reached(test, row, None if lines is None else frozenset(lines), seconds)
        for kind, test, row, lines, seconds in told
        if kind == "reached"
    )


def _told(suite: Suite, source: str, seed: int, messages: Messages, workers: Workers, slate: Slate) -> None:
    del workers, slate  # the module is the course's own: it runs here
    bounds.bound_time(PATIENCE * suite.stage.limits.stage_seconds)
    with suite.in_place(), provided(suite, source, seed, partial(_tracing, None)) as provider:
        for item in suite.items:
            lines, seconds = _noted(provider, item)
            plain = None if lines is None else sorted(lines)
            messages.send("reached", name_of(item), criterion_of(item), plain, seconds)


def _noted(provider: Provider, item: pytest.Item) -> tuple[set[int] | None, float]:
    """Return the lines that a test runs, None where it does not come to its end, and its seconds."""
    lines, started = set[int](), time.perf_counter()
    with _tracing(_noting(provider.file, lines)):
        passed = provider.attempt(item).passed
    seconds = time.perf_counter() - started
    return (lines if passed else None), seconds


Tracer = Callable[[types.FrameType, str, Any], Any]


def _noting(file: str, lines: set[int]) -> Tracer:
    def line(frame: types.FrameType, event: str, _: Any) -> Any:
        lines.add(frame.f_lineno)
        return line

    def entered(frame: types.FrameType, event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename == file else None

    return entered


@contextmanager
def _tracing(tracer: Tracer | None) -> Iterator[None]:
    """Trace this thread, and those that begin meanwhile; what was traced before is traced again afterwards."""
    before, others = sys.gettrace(), threading.gettrace()
    sys.settrace(tracer)
    threading.settrace(tracer)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(others)
