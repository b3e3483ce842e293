"""A worker that lies: each thing that it can send gives its one test an outcome, in time, and takes bounded memory."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.protocol import codec
from grader.remote.exceptions import WorkerFailed
from grader.tests.remote.hostile.forged import CONTAINING_THEMSELVES, CRASHES, MEMORY, ROWS, SHORT, TOO_LARGE, form
from grader.tests.remote.hostile.hostile import EMPTY, TWO, FakeWorker, Script, array_form, handle, playing, status_of
from grader.tests.support.patience import SLACK


def send_all(learner: Any) -> object:
    """Call a function with an array, a list, a dict, a set and many lists: numbers 0 to 20 of what was sent."""
    return learner.f(np.zeros(2), [1], {}, {1}, *[[n] for n in range(17)])


class TestOneAnswer:
    @pytest.mark.parametrize(
        ("attack", "status"),
        [*((name, "over_limit") for name in TOO_LARGE), *((name, "failed") for name in CONTAINING_THEMSELVES)],
    )
    def test_what_no_stage_takes_is_refused_before_it_is_built(self, attack: str, status: str) -> None:
        script = TOO_LARGE.get(attack) or CONTAINING_THEMSELVES[attack]
        tracemalloc.start()
        try:
            with playing(script) as (learner, connection):
                with pytest.raises(WorkerFailed, match=r"^f (returned|sent back|left in an argument) ") as caught:
                    send_all(learner)
                assert caught.value.status == status == status_of(connection, caught.value)
            assert tracemalloc.get_traced_memory()[1] < MEMORY
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("attack", CRASHES)
    def test_it_crashes_its_own_test_and_nothing_else(self, attack: str) -> None:
        tracemalloc.start()
        try:
            with playing(CRASHES[attack]) as (learner, connection):
                started = time.monotonic()
                with pytest.raises(WorkerFailed) as caught:
                    learner.f(np.zeros(2), [1])
                assert time.monotonic() - started < 15 + SLACK  # most of it is tracemalloc
                assert caught.value.status == "crashed" == status_of(connection, caught.value)
                with pytest.raises(WorkerFailed):  # a test that swallows it gains nothing
                    learner.g(1)
                assert status_of(connection, None) == "crashed"
            assert tracemalloc.get_traced_memory()[1] < MEMORY
        finally:
            tracemalloc.stop()

    def test_a_process_that_ends_without_a_word(self) -> None:
        def leave(worker: FakeWorker) -> None:
            worker.request()
            worker.socket.close()

        with playing(leave) as (learner, connection):
            with pytest.raises(WorkerFailed, match="ended without an answer") as caught:
                learner.f(1)
            assert status_of(connection, caught.value) == "crashed"

    def test_an_honest_answer_passes(self) -> None:
        """The worker of these tests is not refused for something else."""
        with playing(form(array_form(), TWO)) as (learner, connection):
            assert learner.f(np.zeros(2), [1]).tolist() == [0, 1]
        assert status_of(connection, None) == "passed"


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


def call_for_ever(worker: FakeWorker) -> None:
    worker.request()
    while True:
        worker.body([0, "callback", 1, [codec.TUPLE, 1], [codec.DICT]])
        worker.request()


class TestDeadlines:
    @pytest.mark.parametrize("script", [late, drip, header_only, lambda worker: None, call_for_ever])
    def test_what_does_not_come_in_time_times_out(self, script: Script) -> None:
        tracemalloc.start()
        try:
            with playing(script, SHORT) as (learner, connection):
                started = time.monotonic()
                with pytest.raises(WorkerFailed) as caught:
                    learner.f(lambda x: x)
                assert time.monotonic() - started < SHORT + SLACK
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
            started = time.monotonic()
            with pytest.raises(WorkerFailed) as caught:
                learner.apply(lambda: learner.g(1))
            assert caught.value.status == "timed_out" and time.monotonic() - started < SHORT * 1.5 + SLACK

    def test_all_calls_of_a_test_together_have_an_end(self) -> None:
        def slow(worker: FakeWorker) -> None:
            while True:
                serial = worker.request()[0]
                time.sleep(SHORT * 0.25)
                worker.value(serial, 1)

        with playing(slow, SHORT) as (learner, connection):
            started = time.monotonic()
            with pytest.raises(WorkerFailed, match="together") as caught:
                while True:
                    learner.f(1)
            assert 3 * SHORT - 0.1 < time.monotonic() - started < 3 * SHORT + SLACK
            assert status_of(connection, caught.value) == "timed_out"


class TestAnswersWithoutAQuestion:
    def test_before_the_call(self) -> None:
        with playing(lambda worker: worker.value(1, 1)) as (learner, connection):
            time.sleep(0.2)
            with pytest.raises(WorkerFailed, match="unrequested data") as caught:
                learner.f(1)
            assert status_of(connection, caught.value) == "crashed"

    def test_an_id_that_was_answered_already(self) -> None:
        def replay(worker: FakeWorker) -> None:
            serial = worker.request()[0]
            worker.value(serial, 1)
            worker.request()
            worker.value(serial, 2)

        with playing(replay) as (learner, connection):
            assert learner.f(1) == 1
            with pytest.raises(WorkerFailed, match="another request") as caught:
                learner.f(1)
            assert status_of(connection, caught.value) == "crashed"

    def test_a_second_answer_is_seen_even_after_the_last_call(self) -> None:
        def twice(worker: FakeWorker) -> None:
            serial = worker.request()[0]
            worker.value(serial, 1)
            worker.value(serial, 2)

        with playing(twice) as (learner, connection):
            assert learner.f(1) == 1
            time.sleep(0.2)
            connection.end()
            assert status_of(connection, None) == "crashed"

    def test_ids_are_not_to_be_guessed(self) -> None:
        seen: list[int] = []

        def note(worker: FakeWorker) -> None:
            while True:
                seen.append(worker.request()[0])
                worker.value(seen[-1], 1)

        with playing(note) as (learner, _):
            for _ in range(20):
                learner.f(1)
        assert len(set(seen)) == 20 and max(seen) > 1 << 40 and np.unique(np.diff(seen)).size > 15


class TestTooMuch:
    """Limits are lowered here, so that little is sent; that they are finite is what counts."""

    @staticmethod
    def refused(script: Script, use: Callable[[Any], object], **limits: Any) -> str:
        with playing(script, **limits) as (learner, connection):
            with pytest.raises(WorkerFailed) as caught:
                use(learner)
            assert status_of(connection, caught.value) == "over_limit"
        return str(caught.value)

    def test_a_generator_that_never_ends(self) -> None:
        def endless(worker: FakeWorker) -> None:
            worker.forms(handle(9), handle(9))
            while True:
                worker.answer(1)

        assert "does it never end?" in self.refused(endless, lambda learner: list(learner.f()), requests=300)

    def test_a_loop_that_calls_back_for_ever(self) -> None:
        text = self.refused(call_for_ever, lambda learner: learner.apply(lambda x: x), callbacks=100)
        assert "called back" in text

    def test_objects_without_number(self) -> None:
        def many(worker: FakeWorker) -> None:
            for start in range(10, 10**6, 100):
                worker.forms([codec.LIST, *[handle(n) for n in range(start, start + 100)]])

        def use(learner: Any) -> None:
            while True:
                learner.f()

        assert "more objects" in self.refused(many, use, handles=1000)

    def test_exception_classes_without_number(self) -> None:
        def many(worker: FakeWorker) -> None:
            for n in range(10, 10**6):
                worker.form(worker.request()[0], [codec.LIST, handle(n, "exception", "Odd")])

        def use(learner: Any) -> None:
            while True:
                learner.f()

        assert "more objects" in self.refused(many, use, handles=50)

    @pytest.mark.parametrize("value", [np.zeros(1 << 17), [0.5] * 4000], ids=["array", "list"])
    def test_data_without_end(self, value: Any) -> None:
        def many(worker: FakeWorker) -> None:
            while True:
                worker.answer(value)

        def use(learner: Any) -> None:
            while True:
                learner.f()

        tracemalloc.start()
        try:
            assert "more data" in self.refused(many, use, bounds=ROWS, received=8 << 20)
            assert tracemalloc.get_traced_memory()[1] < 32 << 20
        finally:
            tracemalloc.stop()

    def test_what_records_keep_is_bounded(self) -> None:
        def many(worker: FakeWorker) -> None:
            while True:
                worker.answer(np.zeros(1 << 17))

        tracemalloc.start()
        try:
            with playing(many, bounds=ROWS, kept=8 << 20) as (learner, connection):
                for _ in range(60):
                    assert learner.f().size == 1 << 17
                assert not connection.records[-1].replayable and connection.records[0].replayable
            assert tracemalloc.get_traced_memory()[1] < 24 << 20
        finally:
            tracemalloc.stop()

    def test_printed_output_and_warnings(self) -> None:
        def loud(worker: FakeWorker) -> None:
            while True:
                notes = ["x" * (1 << 16), [["UserWarning", "y" * 9999, 1]] * 20]
                worker.body([worker.request()[0], "ok", notes, 0.0, 1, EMPTY])

        with playing(loud) as (learner, connection), pytest.warns(UserWarning) as warned:
            for _ in range(50):
                learner.f()
        notes = connection.notes
        assert len(notes.printed) == 20_000 and len(notes.warnings) == 50 and len(warned) == 200
        assert max(len(text) for _, text, _ in notes.warnings) == 500

    def test_what_a_callback_raised_does_not_keep_what_it_was_given(self) -> None:
        blob = bytes(1 << 20)

        def call(worker: FakeWorker) -> None:
            serial = worker.request()[0]
            for _ in range(40):
                worker.body([0, "callback", 1, [codec.TUPLE, array_form("uint8", (1 << 20,))], [codec.DICT]], blob)
                worker.request()
            worker.value(serial, 1)

        def raising(x: Any) -> None:
            raise ValueError("no")

        tracemalloc.start()
        try:
            with playing(call, bounds=ROWS) as (learner, _):
                assert learner.apply(raising) == 1
            assert tracemalloc.get_traced_memory()[1] < 16 << 20
        finally:
            tracemalloc.stop()
