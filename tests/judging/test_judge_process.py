"""Work on a learner's values outside of a grading is bounded alike, and what it told is kept."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from grader.errors import GraderFault, IsolationRefused
from grader.isolation import tiers
from grader.isolation.workers import Workers
from grader.judging import bounds
from grader.judging import judge_process as module
from grader.judging.judge_process import Bounded, Bounds, Work, bounded
from grader.judging.task import Messages, SharedStatus

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="only a fork is bounded")


def result(work: Work, tmp_path: Path, seconds: float = 60) -> Bounded:
    return bounded(work, tiers.LocalWorkerFactory("process", tmp_path), Bounds(150, seconds))


def test_what_is_told_comes_back(tmp_path: Path) -> None:
    def work(messages: Messages, workers: Workers, shared: SharedStatus) -> None:
        messages.send("one", (1, 2))
        assert workers.start().running()
        messages.send("two", "x")

    assert result(work, tmp_path) == Bounded((("one", [1, 2]), ("two", "x")))


@pytest.mark.full_matrix
def test_an_end_by_memory_keeps_what_was_told(tmp_path: Path) -> None:
    def work(messages: Messages, workers: Workers, shared: SharedStatus) -> None:
        shared.at("test", 4)
        shared.call("softmax")
        messages.send("one", 1)
        [np.ones(1 << 24) for _ in range(50)]

    found = result(work, tmp_path)
    assert found.told == (("one", 1),) and found.death is not None
    assert (found.death.status, found.death.reason) == ("over_limit", "more than 150 MB of memory")
    assert (found.death.at.test, found.death.at.label) == (4, "softmax")


def test_an_end_by_processor_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "TEST_SECONDS", 0.3)

    def work(messages: Messages, workers: Workers, shared: SharedStatus) -> None:
        while True:
            pass

    death = result(work, tmp_path).death
    assert death is not None and (death.status, death.reason) == ("timed_out", "more than 0.3 s of processor time")


def test_an_end_by_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OVERTIME_SECONDS", 0.1)
    death = result(lambda messages, workers, shared: time.sleep(60), tmp_path, 0.2).death
    assert death is not None and death.status == "timed_out"


def test_errors_of_ours_and_refusals_are_raised_here(tmp_path: Path) -> None:
    def faulty(messages: Messages, workers: Workers, shared: SharedStatus) -> None:
        raise ZeroDivisionError("ours")

    def refused(messages: Messages, workers: Workers, shared: SharedStatus) -> None:
        raise IsolationRefused("no", "hint")

    with pytest.raises(GraderFault, match="the grader failed: ZeroDivisionError: ours"):
        result(faulty, tmp_path)
    with pytest.raises(IsolationRefused, match="no"):
        result(refused, tmp_path)


def test_where_nothing_can_be_forked_it_is_done_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FORKS", False)
    told = result(lambda messages, workers, shared: messages.send("here", (1,)), tmp_path).told
    assert told == (("here", [1]),)
