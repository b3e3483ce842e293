"""Which known mistake explains a wrong answer: named when it is the only one, silent otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.diagnosis.diagnostician import COMPARED, Diagnostician
from grader.tests.diagnosis.replay.replayed import FIRST_AXIS, X


def test_a_mistake_written_in_another_way_is_named(module: Any) -> None:
    found = module(FIRST_AXIS)
    found.remote.softmax(X)
    assert found.explained() == ["softmax-along-the-first-axis"]


def test_every_call_of_the_test_has_to_agree(module: Any) -> None:
    found = module("def softmax(x):\n    return np.exp(x) / np.exp(x).sum(0) + (x.shape[0] == 3)\n")
    found.remote.softmax(X)
    found.remote.softmax(np.ones((3, 2)))
    assert found.explained() == []


def test_an_answer_that_nothing_explains_stays_unexplained(module: Any) -> None:
    found = module("def softmax(x):\n    return x * 3\n")
    found.remote.softmax(X)
    assert found.explained() == []


def test_two_that_explain_it_alike_are_both_returned(module: Any) -> None:
    """It is for the verdict to narrow them by the row's other tests, or to stay silent."""
    equal = np.array([[3.0], [3.0]])  # of two equal rows each gets a half, by either mistake
    found = module(FIRST_AXIS)
    found.remote.softmax(equal)
    assert found.explained() == ["softmax-along-the-first-axis", "softmax-by-the-number-of-rows"]
    found = module(FIRST_AXIS)
    found.remote.softmax(X)
    assert found.explained() == ["softmax-along-the-first-axis"]


def test_silent_where_the_reference_gives_the_same_answers(module: Any) -> None:
    """As when the test looked at something else: a right answer is explained by no mistake."""
    found = module()
    found.remote.softmax(np.array([[3.0]]))  # 1, which softmax without division gives too
    assert found.explained() is None


def test_a_mistake_in_a_function_that_did_not_run_is_not_tried(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    repeats = Diagnostician._repeats

    def noted(self: Diagnostician, mistake: Any, *given: Any) -> bool:
        tried.append(mistake.replaces)
        return repeats(self, mistake, *given)

    monkeypatch.setattr(Diagnostician, "_repeats", noted)
    found = module("class Layer:\n    def __init__(self, b):\n        self.b = b + 1\n")
    assert found.remote.Layer(2.0).b == 3.0
    assert found.explained() == []
    assert tried == ["Layer.__iadd__"]  # the reference has none, so that nothing tells whether it would run


def test_silent_without_calls(module: Any) -> None:
    assert module(FIRST_AXIS).explained() is None


def test_silent_where_the_worker_failed(module: Any) -> None:
    found = module("def softmax(x):\n    import os\n    os._exit(1)\n")
    with pytest.raises(Exception, match="ended without an answer"):
        found.remote.softmax(X)
    assert found.explained() is None


def test_the_time_for_it_is_bounded(answers: Diagnostician, module: Any) -> None:
    found = module(FIRST_AXIS)
    found.remote.softmax(X)
    found.answers.purse.left = 0.0
    assert found.explained() is None


@pytest.fixture
def own(answers: Diagnostician, module: Any) -> Any:
    """Return what explains a test of a row that asks one function, with all the time that it needs."""
    made = Diagnostician(answers.stage, answers._reference_text, answers.mistakes)
    made.purse.left = 60.0

    def explained(replacement: str, row: str, name: str, *args: object) -> Any:
        found = module(replacement)
        getattr(found.remote, name)(*args)
        connection = found.learner.connection
        found.learner.done()
        return made.of_row(row, connection.records, connection.names)

    explained.made = made  # type: ignore[attr-defined]
    return explained


def test_a_mistake_that_explains_neither_of_two_tests_of_its_row_is_no_longer_asked(
    own: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    repeats = Diagnostician._repeats

    def noted(self: Diagnostician, mistake: Any, *given: Any) -> bool:
        tried.append(mistake.id)
        return repeats(self, mistake, *given)

    monkeypatch.setattr(Diagnostician, "_repeats", noted)
    unlike = "def softmax(x):\n    return x * 3\n"
    assert own(unlike, "softmax", "softmax", X) == ()
    first, tried[:] = set(tried), []
    assert {"softmax-along-the-first-axis", "softmax-of-softmax"} <= first
    assert own(unlike, "softmax", "softmax", X) == () and set(tried) == first
    tried.clear()
    assert own(unlike, "softmax", "softmax", X) == () and not tried


def test_one_that_explains_a_test_of_its_row_is_asked_in_all_others(own: Any) -> None:
    for _ in range(4):
        told = own(FIRST_AXIS, "softmax", "softmax", X)
        assert [each.mistake for each in told] == ["softmax-along-the-first-axis"]


def test_rows_behind_the_first_have_less_time_and_a_test_without_is_late(own: Any) -> None:
    own.made._later = 0.0
    assert own(FIRST_AXIS, "softmax", "softmax", X) and not own.made.is_late
    assert own("def first(x):\n    return x[-1]\n", "layer", "first", X) is None and own.made.is_late
    assert own("def first(x):\n    return x[0]\n", "layer", "first", X) is None
    assert not own.made.is_late  # the reference answers alike


def test_of_each_row_a_few_tests_have_their_gradients_compared_while_there_is_time(own: Any) -> None:
    for _ in range(COMPARED):
        assert own.made.compares("backward")
        own.made.compared("backward")
    assert not own.made.compares("backward") and own.made.compares("layer")
    own.made.purse.left = 0.0
    assert not own.made.compares("layer")


def test_a_test_that_takes_long_is_not_repeated_where_no_time_is_left(own: Any, module: Any) -> None:
    found = module("def first(x):\n    return x[-1]\n")
    found.remote.first(X)
    connection = found.learner.connection
    found.learner.done()
    own.made.purse.left = 0.0
    assert own.made.of_row("layer", connection.records, connection.names) is None and own.made.is_late
    connection.records[-1].seconds = 1.0
    assert own.made.last_of_row("layer", connection.records, connection.names) is None and not own.made.is_late


def test_a_test_that_takes_long_is_late_and_asked_when_all_have_ended(own: Any, module: Any) -> None:
    found = module(FIRST_AXIS)
    found.remote.softmax(X)
    connection = found.learner.connection
    found.learner.done()
    connection.records[-1].seconds = 1.0
    assert own.made.of_row("softmax", connection.records, connection.names) is None and own.made.is_late
    told = own.made.last_of_row("softmax", connection.records, connection.names)
    assert [each.mistake for each in told] == ["softmax-along-the-first-axis"]
