"""What a hostile worker hands over: names, exceptions, objects that pretend, and changes of a test's own values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.protocol import codec
from grader.sandbox.exceptions import LearnerExit, WorkerFailed
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.values import Unusable
from tests.sandbox.hostile.forged import form, nested
from tests.sandbox.hostile.hostile import EMPTY, TWO, FakeWorker, array_form, handle, playing, status_of


class TestNames:
    @pytest.mark.parametrize("name", ["__class__", "__dict__", "__globals__", "__reduce__", "_connection", "__array__"])
    def test_no_such_attribute_is_asked_for(self, name: str) -> None:
        asked: list[Any] = []

        def note(worker: FakeWorker) -> None:
            worker.forms(handle(9, shown=name))
            asked.append(worker.request())

        with playing(note) as (learner, _):
            thing = learner.f()
            if name == "__globals__":  # the others are the proxy's own
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
