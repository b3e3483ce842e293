"""A worker that sends without end meets a limit of each thing that it can send."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.protocol import codec
from grader.sandbox.exceptions import WorkerFailed
from tests.sandbox.hostile.forged import ROWS
from tests.sandbox.hostile.hostile import (
    EMPTY,
    FakeWorker,
    Script,
    array_form,
    call_for_ever,
    handle,
    playing,
    status_of,
)


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

        with playing(endless, items=300) as (learner, connection):
            with pytest.raises(WorkerFailed, match=r"took 2,000 items of what f gave, .* does it never end") as caught:
                list(learner.f())
            assert (status_of(connection, caught.value), connection.late_function) == ("timed_out", "f")

    def test_an_item_that_never_comes_is_one_of_the_function_that_gave_the_iterator(self) -> None:
        def slow(worker: FakeWorker) -> None:
            worker.forms(handle(9))
            worker.request()

        with playing(slow, seconds=0.3) as (learner, connection):
            with pytest.raises(WorkerFailed, match=r"did not return within 0\.3 s"):
                next(learner.f())
            assert connection.late_function == "f"

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
