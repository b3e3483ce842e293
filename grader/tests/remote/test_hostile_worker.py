"""A worker that lies: each thing that it can send gives its one test an outcome, in time, and takes bounded memory."""

from __future__ import annotations

import operator
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
import pytest

from grader.protocol import codec
from grader.remote.exceptions import LearnerExit, Unusable, WorkerFailed
from grader.remote.proxies import RemoteValue
from grader.tests.remote.hostile import EMPTY, NOTHING, TWO, FakeWorker, Script, array_form, handle, playing, status_of

SHORT = 0.4  # seconds of a call, where the worker lets it run out
MEMORY = 64 << 20  # what no single answer below may take
ROWS = codec.Bounds(rows=1 << 20)


def nested(depth: int) -> list[Any]:
    form: list[Any] = [codec.LIST]
    for _ in range(depth):
        form = [codec.LIST, form]
    return form


def frame_of(body: bytes) -> bytes:
    return codec.HEADER.pack(codec.MAGIC, len(body), 0) + body


def raw(data: bytes) -> Script:
    """Wait for the request, then send bytes."""

    def script(worker: FakeWorker) -> None:
        worker.request()
        worker.send(data)

    return script


def form(value: Any, blob: bytes = b"", **more: Any) -> Script:
    """Answer with a form, under the right id."""
    return lambda worker: worker.form(worker.request()[0], value, blob, **more)


def message(build: Callable[[int], Any]) -> Script:
    """Answer with a whole message, made from the request's id."""
    return lambda worker: worker.body(build(worker.request()[0]))


def flood(worker: FakeWorker) -> None:
    worker.request()
    while True:
        worker.send(b"x" * (1 << 16))


def tiny(worker: FakeWorker) -> None:
    worker.request()
    empty = codec.HEADER.pack(codec.MAGIC, 1, 0) + b"\x90"
    for _ in range(1_000_000 // 4096):
        worker.send(empty * 4096)


def alike(count: int) -> list[Any]:
    """Return the forms of whole numbers of one hash."""
    return [codec.Encoder().encode((1 + n << 64) * (2**61 - 1)) for n in range(count)]


def pairs(count: int) -> list[Any]:
    return [codec.TUPLE, *(part for number in alike(count) for part in (number, 1))]


def members(count: int) -> list[Any]:
    return [codec.TUPLE, *alike(count)]


def generator_form() -> Any:
    return codec.Encoder().encode(np.random.default_rng(1))


CRASHES: dict[str, Script] = {
    "oversized body": raw(codec.HEADER.pack(codec.MAGIC, codec.MAX_BODY + 1, 0)),
    "oversized blob": raw(codec.HEADER.pack(codec.MAGIC, 0, codec.MAX_BLOB + 1)),
    "the largest header": raw(codec.HEADER.pack(codec.MAGIC, 2**32 - 1, 2**64 - 1)),
    "garbage": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"),
    "zeros": raw(b"\0" * 4096),
    "a flood": flood,
    "a million tiny frames": tiny,
    "an empty body": raw(frame_of(b"")),
    "half a body": raw(frame_of(b"\x96\x01")),
    "lists without end": raw(frame_of(b"\x91" * (1 << 20))),
    "a list longer than its frame": raw(frame_of(b"\xdd\xff\xff\xff\xff")),
    "text longer than its frame": raw(frame_of(b"\x91\xdb\xff\xff\xff\xff")),
    "invalid UTF-8": raw(frame_of(b"\x91\xa1\xff")),
    "an extension type": form(msgpack.ExtType(5, b"")),
    "a time stamp": form(msgpack.Timestamp(1)),
    "a map": form({1: 2}),
    "no list": message(lambda serial: "ok"),
    "too few fields": message(lambda serial: [serial, "ok", NOTHING]),
    "another id": message(lambda serial: [serial + 1, "ok", NOTHING, 0.0, 1, EMPTY]),
    "the first id that one would guess": message(lambda serial: [1, "ok", NOTHING, 0.0, 1, EMPTY]),
    "an id that is text": message(lambda serial: [str(serial), "ok", NOTHING, 0.0, 1, EMPTY]),
    "another kind of answer": message(lambda serial: [serial, "passed", NOTHING, 0.0, 1, EMPTY]),
    "deep nesting": form(nested(codec.MAX_DEPTH + 1)),
    "an unknown tag": form([99, 1]),
    "no tag": form([]),
    "a negative size": form(array_form(shape=(-1,)), TWO),
    "too many axes": form(array_form(shape=(1,) * 65), TWO),
    "dtype object": form(array_form("object"), TWO),
    "dtype O": form(array_form("O"), TWO),
    "dtype void": form(array_form("V16"), TWO),
    "a structured dtype": form(array_form("f8,f8"), TWO),
    "dates": form(array_form("datetime64[ns]"), TWO),
    "text that is none": form(array_form("U2"), b"\xff" * 16),
    "text of no length": form(array_form("U0", (1 << 30,)), TWO),
    "more values than bytes": form(array_form(shape=(3,)), TWO),
    "a place outside": form(array_form(offset=64), TWO),
    "a place that is not aligned": form(array_form(shape=(1,), offset=8), TWO),
    "a scalar of too few bytes": form([codec.SCALAR, "float64", b"1234"]),
    "a scalar object": form([codec.SCALAR, "O", b"12345678"]),
    "a boolean of 2": form([codec.SCALAR, "bool", b"\2"]),
    "a key that has no hash": form([codec.DICT, EMPTY, 1]),
    "a key that is there twice": form([codec.DICT, "a", 1, "a", 2]),
    "a member that has no hash": form([codec.SET, [codec.DICT]]),
    "a key without a value": form([codec.DICT, 1]),
    "a reference to nothing": form([codec.REFERENCE, 9]),
    "a type of its choice": form([codec.TYPE, "type", "eval"]),
    "an unknown function": form([codec.CALLBACK, 77]),
    "a function number that is text": form([codec.CALLBACK, "__class__"]),
    "a negative handle": form(handle(-1)),
    "a handle larger than any": form(handle(2**63)),
    "a handle of an unknown kind": form(handle(9, "__class__")),
    "a handle of another kind than before": form([codec.LIST, handle(9), handle(9, "class")]),
    "a handle without fields": form([codec.HANDLE, 9]),
    "a hundred thousand handles at once": form([codec.LIST, *[handle(n) for n in range(10, 100_000)]]),
    "the state of a generator that is none": form([codec.GENERATOR, "PCG64", [["state", handle(9)]]]),
    "an unknown bit generator": form([codec.GENERATOR, "__class__", []]),
    "a call of a function never passed": message(lambda serial: [0, "callback", 7, [codec.TUPLE], [codec.DICT]]),
    "a call without arguments": message(lambda serial: [0, "callback", "__class__", 1, 2]),
    "notes that are none": message(lambda serial: [serial, "ok", None, 0.0, 1, EMPTY]),
    "printed bytes": message(lambda serial: [serial, "ok", [b"x", []], 0.0, 1, EMPTY]),
    "seconds that are text": message(lambda serial: [serial, "ok", NOTHING, "0", 1, EMPTY]),
    "too many warnings": message(lambda serial: [serial, "ok", ["", [["UserWarning", "x", 1]] * 21], 0.0, 1, EMPTY]),
    "a warning that is none": message(lambda serial: [serial, "ok", ["", [[[], "x", 1]]], 0.0, 1, EMPTY]),
    "a line that is text": message(lambda serial: [serial, "ok", ["", [["Warning", "x", "9" * 5000]]], 0.0, 1, EMPTY]),
    "an exception that is none": form(7, kind="error"),
    "changes that are none": form(1, changes=7),
    "a change of nothing": form(1, changes=[codec.LIST, [codec.TUPLE, 99, 1]]),
    "a change to another shape": form(1, TWO, changes=[codec.LIST, [codec.TUPLE, 0, array_form(shape=(1,))]]),
    "a change from a handle": form(1, changes=[codec.LIST, [codec.TUPLE, 1, handle(9)]]),
}  # fmt: skip


TOO_LARGE: dict[str, Script] = {
    "a huge shape": form(array_form(shape=(1 << 39, 1 << 39)), TWO),
    "an empty array with rows without end": form(array_form(shape=(1 << 40, 0))),
    "a range without end": form([codec.RANGE, 0, 1 << 62, 1]),
    "ranges in a range": form([codec.LIST, *[[codec.RANGE, 0, 1 << 20, 1]] * 100]),
    "one array met without end": form([codec.LIST, array_form("uint8", (1 << 20,)), *[[codec.REFERENCE, 3]] * 999],
                                      bytes(1 << 20)),
    "an integer of a megabyte": form([codec.BIGINT, b"\1" * (1 << 20)]),
    "rows without end": form(array_form(shape=(1 << 25, 0))),
    "empty rows of empty rows": form(array_form(shape=(1 << 16, 1 << 14, 0))),
    "a long axis of a few bytes": form(array_form("bool", (1 << 17, 1, 1)), bytes(1 << 17)),
    "a long list": form([codec.LIST, *[1] * 70_000]),
    "a long tuple in a list": form([codec.LIST, [codec.TUPLE, *[1] * 70_000]]),
    "a long set": form([codec.SET, *range(70_000)]),
    "a long dict": form([codec.DICT, *range(140_000)]),
    "a long range": form([codec.RANGE, 0, 70_000, 1]),
    "a body of more than a stage takes": form("x" * (5 << 20)),
    "a blob of more than a stage takes": form(array_form(shape=(1 << 20,)), bytes(8 << 20)),
    "random generators without number": form([codec.LIST, *[generator_form()] * 1001]),
    "keys that are all alike": form([codec.SET, *alike(3000)]),
    "keys that are all alike, in a change": form(1, changes=[codec.LIST, [codec.TUPLE, 2, pairs(3000)]]),
    "members that are all alike, in a change": form(1, changes=[codec.LIST, [codec.TUPLE, 3, members(3000)]]),
    "a list in a change that is larger than the one that was sent": form(
        1, changes=[codec.LIST, [codec.TUPLE, 1, [codec.TUPLE, *[1] * 70_000]]]),
    "an argument that unfolds": form(1, changes=[codec.LIST, *[[codec.TUPLE, n, [codec.TUPLE, *[
        [codec.REFERENCE, n + 1]] * 9]] for n in range(4, 20)]]),
}  # fmt: skip
CONTAINING_THEMSELVES: dict[str, Script] = {
    "a list": form([codec.LIST, 1, [codec.REFERENCE, 21]]),
    "a dict": form([codec.DICT, "a", [codec.LIST, [codec.REFERENCE, 21]]]),
    "a list of lists that grows deep by what it refers to": form([codec.LIST, EMPTY, *[
        [codec.LIST, [codec.REFERENCE, n]] for n in range(22, 200)]]),
    "an argument": form(1, changes=[codec.LIST, [codec.TUPLE, 1, [codec.TUPLE, [codec.REFERENCE, 1]]]]),
    "two arguments": form(1, changes=[codec.LIST, [codec.TUPLE, 1, [codec.TUPLE, [codec.REFERENCE, 4]]],
                                      [codec.TUPLE, 4, [codec.TUPLE, [codec.REFERENCE, 1]]]]),
}  # fmt: skip


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
                assert time.monotonic() - started < 15  # most of it is tracemalloc on a busy machine
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
                assert time.monotonic() - started < SHORT + 2
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
            assert caught.value.status == "timed_out" and time.monotonic() - started < SHORT * 1.5 + 0.3

    def test_all_calls_of_a_test_together_have_an_end(self) -> None:
        def slow(worker: FakeWorker) -> None:
            while True:
                serial = worker.request()[0]
                time.sleep(SHORT * 0.6)
                worker.value(serial, 1)

        with playing(slow, SHORT) as (learner, connection):
            started = time.monotonic()
            with pytest.raises(WorkerFailed, match="together") as caught:
                while True:
                    learner.f(1)
            assert 3 * SHORT - 0.1 < time.monotonic() - started < 3 * SHORT + 2
            assert status_of(connection, caught.value) == "timed_out"


class TestAnswersWithoutAQuestion:
    def test_before_the_call(self) -> None:
        with playing(lambda worker: worker.value(1, 1)) as (learner, connection):
            time.sleep(0.2)
            with pytest.raises(WorkerFailed, match="not asked for") as caught:
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
    def refused(script: Script, use: Callable[[Any], object], **allowance: Any) -> str:
        with playing(script, **allowance) as (learner, connection):
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


class TestNames:
    @pytest.mark.parametrize("name", ["__class__", "__dict__", "__globals__", "__reduce__", "_connection", "__array__"])
    def test_no_such_attribute_is_asked_for(self, name: str) -> None:
        asked: list[Any] = []

        def note(worker: FakeWorker) -> None:
            worker.forms(handle(9, shown=name))
            asked.append(worker.request())

        with playing(note) as (learner, _):
            thing = learner.f()
            if name not in ("__class__", "__dict__", "__reduce__", "_connection"):  # these are the proxy's own
                with pytest.raises(AttributeError):
                    getattr(thing, name)
            with pytest.raises(AttributeError):
                setattr(thing, name, 1)
            assert type(thing) is RemoteValue and thing.__class__ is RemoteValue
        assert not asked

    def test_a_keyword_of_such_a_name_is_the_functions_own_affair(self) -> None:
        answers: list[Any] = []

        def call(worker: FakeWorker) -> None:
            serial = worker.request()[0]
            worker.body([0, "callback", 1, [codec.TUPLE], [codec.DICT, "__class__", 1]])
            answers.append(worker.request())
            worker.body([0, "callback", 1, [codec.TUPLE], [codec.DICT, 5, 1]])
            answers.append(worker.request())
            worker.value(serial, 1)

        with playing(call) as (learner, _):
            assert learner.apply(lambda: 1) == 1
        assert [answer[1] for answer in answers] == ["raise", "raise"]


class TestExceptions:
    def raised(self, *description: Any) -> BaseException:
        def script(worker: FakeWorker) -> None:
            worker.form(worker.request()[0], [codec.LIST, *description], kind="error")
            worker.request()  # nothing may come back to ask about an argument

        with playing(script) as (learner, connection):
            with pytest.raises(Exception) as caught:
                learner.f()
            assert connection.failure is None and len(connection.records) == 1
            assert status_of(connection, caught.value) == "failed"
        return caught.value

    @pytest.mark.parametrize(
        "names",
        [["__class__"], ["eval"], ["BaseException"], ["ExceptionGroup"], ["BaseExceptionGroup"], [7], ["x" * 9999], []],
        ids=str,
    )
    def test_a_name_that_is_no_exception(self, names: list[Any]) -> None:
        error = self.raised([codec.LIST, *names], "Odd", 0, "text", None, EMPTY, 0)
        assert type(error) is Exception and str(error) == "text"

    def test_leaving_is_no_exception_of_ours(self) -> None:
        assert isinstance(self.raised([codec.LIST, "SystemExit"], "x", 0, "", None, EMPTY, 0), LearnerExit)

    @pytest.mark.parametrize("argument", [handle(9), nested(3), array_form(shape=(0,))])
    def test_arguments_that_would_be_asked(self, argument: Any) -> None:
        args = [codec.LIST, argument, argument]
        assert str(self.raised([codec.LIST, "ValueError"], "x", 0, "said", args, EMPTY, 0)) == "said"

    def test_frames_and_texts_are_cut(self) -> None:
        frames = [codec.LIST, *[[codec.LIST, 3, "f" * 999]] * 999, [codec.LIST, "3", "g"]]
        error: Any = self.raised([codec.LIST, "ValueError"], "x" * 9999, 0, "y" * 99_999, None, frames, 0)
        assert len(error.learner_frames) == 20 and len(error.learner_frames[0].function) == 200
        assert len(str(error)) == 4000 and len(error.learner_type) == 100


class TestPretending:
    """Objects that stay with the learner may say what they like: they are never asked about a plain value."""

    @pytest.fixture
    def thing(self) -> Any:
        def yes(worker: FakeWorker) -> None:
            worker.forms(handle(9))
            while True:
                worker.answer(True)

        with playing(yes) as (learner, _):
            yield learner.f()

    def test_equal_to_nothing_plain(self, thing: Any) -> None:
        for value in (3, 3.0, "x", None, True, [1]):
            assert [thing == value, value == thing, thing != value, value != thing] == [False, False, True, True]
        assert thing not in [1, 2, 3] and thing == thing

    def test_neither_smaller_nor_larger(self, thing: Any) -> None:
        for compare in (operator.lt, operator.le, operator.gt, operator.ge):
            for value in (3, np.float64(1), np.ones(2)):
                with pytest.raises(TypeError):
                    compare(thing, value)
                with pytest.raises(TypeError):
                    compare(value, thing)

    def test_a_length_that_would_take_all_memory(self) -> None:
        def script(worker: FakeWorker) -> None:
            worker.forms(handle(9), handle(9))
            worker.answer(1 << 40)

        with playing(script) as (learner, _), pytest.raises(ValueError, match="a length of"):
            list(learner.f())

    @pytest.mark.parametrize("operation", [len, float, int, bool, str, lambda thing: 3 in thing])
    def test_an_operator_that_gives_another_type(self, operation: Callable[[Any], Any]) -> None:
        with playing(lambda worker: worker.forms(handle(9), EMPTY)) as (learner, _), pytest.raises(TypeError):
            operation(learner.f())


class TestPassingOn:
    def test_what_cannot_be_sent_back_is_the_learners_fault(self) -> None:
        with playing(form(nested(codec.MAX_DEPTH))) as (learner, connection):
            deep = learner.f()
            with pytest.raises(Unusable, match="came back before") as caught:
                learner.g(deep)
            assert status_of(connection, caught.value) == "failed"

    def test_before_any_answer_it_is_the_tests(self) -> None:
        with playing(lambda worker: None) as (learner, connection):
            with pytest.raises(codec.WireError) as caught:
                learner.f(np.array([None]))
            assert status_of(connection, caught.value) == "grader_fault"

    @pytest.mark.parametrize("given", [True, False])
    def test_what_a_function_of_the_tests_makes_of_it(self, given: bool) -> None:
        def script(worker: FakeWorker) -> None:
            serial = worker.request()[0]
            worker.body([0, "callback", 1, [codec.TUPLE, *([1] if given else [])], [codec.DICT]])
            token = worker.request()[4]
            worker.form(serial, [codec.LIST, EMPTY, "x", 0, "", None, EMPTY, token], kind="error")

        with playing(script) as (learner, connection):
            with pytest.raises(Unusable if given else codec.WireError) as caught:
                learner.apply(lambda *args: object())
            assert status_of(connection, caught.value) == ("failed" if given else "grader_fault")


class TestChanges:
    def test_a_change_is_undone_after_the_test_and_fails_it(self) -> None:
        x = np.ones(2)
        with playing(form(1, TWO, changes=[codec.LIST, [codec.TUPLE, 0, array_form()]])) as (learner, connection):
            learner.f(x)
            assert x.tolist() == [0, 1]
            connection.end()
            assert x.tolist() == [1, 1] and status_of(connection, None) == "failed"

    def test_a_read_only_array_is_not_changed(self) -> None:
        x = np.broadcast_to(1.0, (2,))
        script = form(1, TWO, changes=[codec.LIST, [codec.TUPLE, 0, array_form()]])
        with playing(script) as (learner, _), pytest.raises(WorkerFailed, match="does not fit"):
            learner.f(x)
        assert x.tolist() == [1, 1]

    def test_a_random_generator_moves_only_by_drawing(self) -> None:
        ours = np.random.default_rng(1)
        before = ours.bit_generator.state
        chosen = codec.generator_state(np.random.default_rng(2))
        change = codec.Encoder().encode([(1, tuple(chosen))])

        def script(worker: FakeWorker) -> None:
            worker.form(worker.request()[0], 1, changes=change)

        with playing(script) as (learner, connection):
            with pytest.raises(WorkerFailed, match="does not lead to") as caught:
                learner.f([ours])
            assert status_of(connection, caught.value) == "failed" and ours.bit_generator.state == before

    def test_what_a_callback_changes_in_place_stays_here(self) -> None:
        """Known and kept so: the learner hands over a copy, and the answer is the function's value alone."""
        answers: list[Any] = []

        def script(worker: FakeWorker) -> None:
            serial = worker.request()[0]
            worker.body([0, "callback", 1, [codec.TUPLE, [codec.LIST, 1]], [codec.DICT]])
            answers.append(worker.request())
            worker.value(serial, 1)

        with playing(script) as (learner, _):
            learner.apply(lambda items: items.append(2))
        assert answers == [[0, "return", None]]
