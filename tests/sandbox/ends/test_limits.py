"""A learner's process that takes more than it may is held to its limits, and the next test runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from grader.isolation import tiers
from grader.protocol import codec
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.values import Unusable
from tests.conftest import Learner
from tests.sandbox.hostile.breaking import SOURCE, failure


class TestLimits:
    @pytest.mark.parametrize("gigabytes", [1, 10])
    def test_memory(self, learner: Learner, gigabytes: int) -> None:
        remote: Any = learner.open()
        with pytest.raises(MemoryError):
            remote.gigabytes(gigabytes)
        assert remote.fine(1) == 2

    def test_a_text_past_what_is_carried(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with pytest.raises(Unusable, match="MB outside of arrays"):
            remote.many(codec.MAX_BODY + 1)

    def test_nesting(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with pytest.raises(Unusable, match="nested more than"):
            remote.deep()

    def test_recursion(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with pytest.raises(RecursionError):
            remote.recurse()

    def test_the_size_of_a_file(self, learner: Learner) -> None:
        remote: Any = learner.open()
        try:
            with pytest.raises(OSError, match="File too large"):
                remote.write_file(20)
        except WorkerFailed as error:
            assert error.status == "crashed"
            assert learner.done() == ("over_limit", "it wrote a file of more than 16 MB")

    def test_the_number_of_open_files(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with warnings.catch_warnings(action="ignore"), pytest.raises(OSError, match="Too many open files"):
            remote.open_files()

    def test_the_number_of_processes(self, learner: Learner, tier: tiers.Tier) -> None:
        remote: Any = learner.open()
        assert remote.fork_many() < 120

    def test_the_files_of_all_its_tests_together(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE)
        status, message = failure(learner, lambda remote: remote.fill(3000, 1))
        assert status == "over_limit" and "more than 2000 files" in message
        remote: Any = learner.open()
        assert remote.fine(1) == 2

    def test_what_its_files_take_together(self, worker: Callable[..., Learner], tier: tiers.Tier) -> None:
        learner = worker(SOURCE)
        if tier == "bubblewrap":  # there the scratch folder is no larger
            remote: Any = learner.open()
            with pytest.raises(OSError, match="No space left"):
                remote.fill(10, 15 << 20)
            return
        status, message = failure(learner, lambda remote: remote.fill(10, 15 << 20))
        assert status == "over_limit" and "more than 64 MB" in message

    @pytest.mark.full_matrix
    def test_the_memory_of_all_its_processes_together(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE, memory_mb=100)
        status, message = failure(learner, lambda remote: remote.fork_and_fill_memory(8))
        assert status == "over_limit" and "took more memory" in message

    @pytest.mark.full_matrix
    def test_processor_time(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE, call_seconds=10, cpu_seconds=0)
        status, message = failure(learner, lambda remote: remote.spin())
        assert status == "timed_out" and "it used up its processor time" in message
