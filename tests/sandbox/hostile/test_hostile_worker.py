"""A worker that lies: each answer that it can send gives its one test an outcome, in time, and takes bounded memory."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

from grader.sandbox.exceptions import WorkerFailed
from grader.submission.loops import Span
from tests.sandbox.hostile.forged import CONTAINING_THEMSELVES, CRASHES, MEMORY, TOO_LARGE, form
from tests.sandbox.hostile.hostile import TWO, FakeWorker, array_form, playing, status_of


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
    @pytest.mark.some_of(4)
    def test_it_crashes_its_own_test_and_nothing_else(self, attack: str) -> None:
        tracemalloc.start()
        try:
            with playing(CRASHES[attack], seconds=30) as (learner, connection):
                with pytest.raises(WorkerFailed) as caught:
                    learner.f(np.zeros(2), [1])
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

    @pytest.mark.parametrize("spans", [[[1, False, 1, 1]], [["1", False, 1, 1]], [[1, False]], 7, [[1, 1, 1, 1]] * 99])
    def test_steps_that_nobody_counts_or_of_another_form(self, spans: Any) -> None:
        def unasked(worker: FakeWorker) -> None:
            worker.request()
            worker.body(["steps", spans])

        def asked(worker: FakeWorker) -> None:
            worker.value(worker.request()[0], None)
            unasked(worker)

        with playing(unasked) as (learner, connection), pytest.raises(WorkerFailed, match="an invalid answer"):
            learner.f(1)
        assert connection.spans == ()
        is_valid = spans == [[1, False, 1, 1]]
        with playing(asked) as (learner, connection):
            connection.count_steps(0, "f", 5.0)
            with pytest.raises(WorkerFailed) as caught:
                learner.f(1)
        assert caught.value.status == ("over_limit" if is_valid else "crashed")
        assert connection.spans == ((Span(1, False, 1, 1),) if is_valid else ())

    def test_an_honest_answer_passes(self) -> None:
        """The worker of these tests is not refused for something else."""
        with playing(form(array_form(), TWO)) as (learner, connection):
            assert learner.f(np.zeros(2), [1]).tolist() == [0, 1]
        assert status_of(connection, None) == "passed"


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
