"""Which exceptions of a replayed call agree: by kind, by message and by the numbers in it."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.replay import Replay
from tests.diagnosis.replay.replayed import X


def test_an_exception_that_is_missing(module: Any) -> None:
    found = module("def check(x):\n    return x\n")
    found.remote.check(np.ones(3))
    assert found.explained() == ["lets-everything-through"]


def test_an_exception_of_the_same_kind_agrees(module: Any) -> None:
    found = module("class Mine(ValueError):\n    pass\ndef check(x):\n    raise Mine\n")
    with pytest.raises(ValueError):
        found.remote.check(np.ones(3))
    assert found.explained() is None


def test_an_exception_in_its_own_words_agrees_with_another_such(module: Any) -> None:
    found = module("def first(x):\n    raise IndexError('nothing there')\n")
    with pytest.raises(IndexError):
        found.remote.first(np.ones(3))
    assert found.explained() == ["refuses-everything"]


def test_an_exception_of_numpys_agrees_where_the_message_does(module: Any) -> None:
    found = module("def first(x):\n    place = 7\n    return x[place]\n")
    with pytest.raises(IndexError):
        found.remote.first(np.ones(3))
    assert found.explained() == ["takes-the-eighth"]
    found = module("def first(x):\n    return x[9]\n")
    with pytest.raises(IndexError):
        found.remote.first(np.ones(3))
    assert found.explained() == []


def test_an_exception_of_another_function_of_the_checklist_is_that_functions(module: Any) -> None:
    found = module("def first(x):\n    return backward(x)\n\ndef backward(x):\n    place = 7\n    return x[place]\n")
    with pytest.raises(IndexError):
        found.remote.first(np.ones(3))
    assert found.explained() != ["takes-the-eighth"]
    found = module("def first(x):\n    return helper(x)\n\ndef helper(x):\n    place = 7\n    return x[place]\n")
    with pytest.raises(IndexError):
        found.remote.first(np.ones(3))
    assert found.explained() == ["takes-the-eighth"]


def test_an_exception_of_a_method_agrees_where_both_go_through_it(module: Any) -> None:
    layer = "class Layer:\n    def forward(self, x):\n        return x[7]\n\n"
    through = f"{layer}def first(x):\n    return Layer().forward(x)\n"
    found = module(through)
    with pytest.raises(IndexError):
        found.remote.first(np.ones(3))
    for text, is_one in ((through, True), ("def first(x):\n    return x[7]\n", False)):
        own = types.ModuleType("own")
        exec(text, own.__dict__)
        replay = Replay(own, found.answers.stage, found.learner.connection.names)
        replay.asked = {"first", "Layer.forward"}
        assert replay.agrees(found.learner.connection.records) == is_one


def test_an_exception_that_any_slip_may_end_in_is_told_apart_by_its_numbers(module: Any) -> None:
    found = module("""
        def first(x):
            return x[7]

        def softmax(x):
            return range(1.0 * len(x))
    """)
    for name in ("first", "softmax"):
        with pytest.raises((IndexError, TypeError)):
            getattr(found.remote, name)(np.ones(3))
    own = types.ModuleType("own")
    exec("def first(x):\n    return x[7]\n\ndef softmax(x):\n    return range(1.0 * len(x))\n", own.__dict__)
    with_numbers, without = found.learner.connection.records
    replay = Replay(own, found.answers.stage, found.learner.connection.names)
    assert replay.agrees([with_numbers]) and replay.agrees([without])
    replay.by_details = True
    assert replay.agrees([with_numbers]) and not replay.agrees([without])


def test_an_exception_that_was_returned_is_no_number(module: Any) -> None:
    found = module("""
        def softmax(x):
            return ValueError("no")
    """)
    found.remote.softmax(X)
    (record,) = found.learner.connection.records
    assert not Replay(found.answers.reference, found.answers.stage, {}).agrees([record])
    assert not found.explained()
