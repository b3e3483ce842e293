"""The lines are suspect in which a wrong value is made of right ones."""

from __future__ import annotations

import pytest

from grader.diagnosis.repairs.relevance import statements_of
from grader.diagnosis.repairs.rights.suspects import suspects
from grader.tests.diagnosis.repairs.made import written

RIGHT = "def f(x, w):\n    a = x * 3\n    b = a + w\n    return b * 2"


@pytest.mark.parametrize(
    ("ours", "lines"),
    [
        (RIGHT, []),
        ("def f(x, w):\n    a = x * 4\n    b = a + w\n    return b * 2", [3]),
        ("def f(x, w):\n    a = x * 3\n    b = a - w\n    return b * 2", [3, 4]),
        ("def f(x, w):\n    k = x\n    a = k * 3\n    b = a + w\n    return b / 2", [5, 6]),
    ],
    ids=["right", "first", "second", "last"],
)
def test_where_values_leave_the_right_ones(ours: str, lines: list[int]) -> None:
    call = "f(np.array([1.0, 2.5]), np.array([0.3, -4.0]))"
    learners, right = written(ours, call), written(RIGHT, call)
    found = suspects(learners, [right], ["f"])
    body = statements_of(learners.definitions["f"].body)
    assert [each.lineno for each in body if id(each) in found] == lines


def test_nothing_is_suspect_without_a_right_module() -> None:
    assert suspects(written(RIGHT, "f(np.ones(2), 1.0)"), [], ["f"]) == frozenset()
