"""Where two ways to a value part and meet again, no line between is suspect."""

from __future__ import annotations

from grader.diagnosis.repairs.relevance import Relevance
from grader.diagnosis.repairs.rights.suspects import suspects
from grader.tests.diagnosis.repairs.made import written
from grader.tests.diagnosis.repairs.rights.test_suspects import found

RIGHT = "def f(x, w):\n    a = (x + w) * 2\n    return a - 1"


def test_another_way_to_a_right_value_is_cleared() -> None:
    ours = "def f(x, w):\n    doubled = x * 2\n    more = doubled + w * 2\n    again = more - 1\n    return again / 1.5"
    assert found(ours, RIGHT) == [5, 6]


def test_a_way_is_not_cleared_that_something_wrong_is_made_of_as_well() -> None:
    ours = "def f(x, w):\n    part = x * 2\n    a = part + w * 2\n    return a - 1 + 0 * part + part"
    assert 3 in found(ours, RIGHT)


def test_a_helper_is_cleared_whose_callers_come_out_right() -> None:
    helper = "def half(x):\n    return x * 0.25\n\n\n"
    ours = helper + "def f(x, w):\n    quarter = half(x)\n    a = quarter * 8 + w * 2\n    return a + 1"
    assert found(ours, RIGHT) == [8, 9]


def test_what_is_asked_last_is_not_cleared() -> None:
    layer = "class L:\n    def __init__(self, x):\n        self.kept = x * {}\n\n    def f(self, x):\n"
    right = layer.format(2) + "        return x * 1.5"
    ours = layer.format(3) + "        y = self.kept / 3\n        return y * 1.5"
    call = "L(np.array([1.0, 2.5])).f(np.array([1.0, 2.5]))"
    assert set_in(ours, right, call, "L.f") == []
    assert set_in(ours, right, call, "L.kept") == [4]


def set_in(ours: str, right: str, call: str, asked: str) -> list[int]:
    """Return the suspect lines of what sets up an object, where something is asked."""
    learners, theirs = written(ours, call), written(right, call)
    wrong = suspects(learners, [theirs], list(learners.definitions), Relevance(learners.definitions).lines, asked)
    return [each.lineno for each in learners.definitions["L.__init__"].body if id(each) in wrong]
