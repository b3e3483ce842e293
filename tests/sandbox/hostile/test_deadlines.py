"""A worker that does not answer in time ends its own test, however it spends the time."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from grader.protocol import codec
from grader.sandbox.exceptions import WorkerFailed
from tests.sandbox.hostile.forged import MEMORY, SHORT
from tests.sandbox.hostile.hostile import FakeWorker, Script, call_for_ever, playing, status_of


def late(worker: FakeWorker) -> None:
    serial = worker.request()[0]
    time.sleep(SHORT + 0.3)
    worker.value(serial, 1)


def drip(worker: FakeWorker) -> None:
    worker.request()
    worker.send(codec.HEADER.pack(codec.MAGIC, 1 << 20, 1 << 28))
    while True:
        worker.send(b"x")
        time.sleep(0.02)


def header_only(worker: FakeWorker) -> None:
    worker.request()
    worker.send(codec.HEADER.pack(codec.MAGIC, 1 << 20, codec.MAX_BLOB))


class TestDeadlines:
    @pytest.mark.parametrize("script", [late, drip, header_only, lambda worker: None, call_for_ever])
    def test_what_does_not_come_in_time_times_out(self, script: Script) -> None:
        tracemalloc.start()
        try:
            with playing(script, SHORT) as (learner, connection):
                with pytest.raises(WorkerFailed) as caught:
                    learner.f(lambda x: x)
                assert caught.value.status == "timed_out" == status_of(connection, caught.value)
                time.sleep(0.5 if script is late else 0)
                with pytest.raises(WorkerFailed):  # the answer that came too late is nobody's
                    learner.f(1)
            assert tracemalloc.get_traced_memory()[1] < codec.MAX_BLOB + MEMORY
        finally:
            tracemalloc.stop()

    def test_a_call_within_a_call_ends_with_it(self) -> None:
        def script(worker: FakeWorker) -> None:
            worker.request()
            time.sleep(SHORT / 2)
            worker.body([0, "callback", 1, [codec.TUPLE], [codec.DICT]])

        with playing(script, SHORT) as (learner, _):
            with pytest.raises(WorkerFailed) as caught:
                learner.apply(lambda: learner.g(1))
            assert caught.value.status == "timed_out"

    def test_all_calls_of_a_test_together_have_an_end(self) -> None:
        answered = []

        def slow(worker: FakeWorker) -> None:
            while True:
                serial = worker.request()[0]
                time.sleep(SHORT * 0.25)
                worker.value(serial, 1)
                answered.append(serial)

        with playing(slow, SHORT) as (learner, connection):
            with pytest.raises(WorkerFailed, match="together") as caught:
                while True:
                    learner.f(1)
            assert 1 <= len(answered) <= 3 * 4  # each takes a quarter of what one call may
            assert status_of(connection, caught.value) == "timed_out"
