"""The lines are suspect in which a wrong value is made of right ones."""

from __future__ import annotations

import pytest

from grader.diagnosis.repairs.relevance import Relevance, statements_of
from grader.diagnosis.repairs.rights.suspects import suspects
from grader.tests.diagnosis.repairs.made import written

RIGHT = "def f(x, w):\n    a = x * 3\n    b = a + w\n    return b * 2"
CALL = "f(np.array([1.0, 2.5]), np.array([0.3, -4.0]))"


def found(ours: str, right: str, call: str = CALL, draws: bool = False) -> list[int]:
    """Return the lines of the last function that are suspect, beside what a right module holds."""
    learners, theirs = written(ours, call), written(right, call)
    lines = Relevance(learners.definitions).lines
    wrong = suspects(learners, [theirs], list(learners.definitions), lines, "f", draws)
    body = statements_of(list(learners.definitions.values())[-1].body)
    return [each.lineno for each in body if id(each) in wrong]


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
    assert found(ours, RIGHT) == lines


def test_a_part_of_an_array_is_suspect_that_is_set_to_another_right_value() -> None:
    right = "def f(x, w):\n    a = x * 3\n    out = np.zeros(2)\n    out[0] = a[0] / w[0]\n    return out"
    ours = "def f(x, w):\n    a = x * 3\n    out = np.zeros(2)\n    out[0] = a[0]\n    return out"
    assert found(ours, right) == [3, 4, 5]


def test_a_call_of_right_values_is_suspect_whose_results_are_wrong() -> None:
    helper = "def pair(x):\n    return x * 1, x * 2\n\n\n"
    right = helper + "def f(x, w):\n    low, high = pair(x + w)\n    return high"
    ours = helper + "def f(x, w):\n    y = x\n    low, high = pair(y)\n    return high"
    assert found(ours, right) == [7, 8]


def test_what_raises_is_suspect() -> None:
    right = "def f(x, w):\n    a = x * 3\n    b = a + w\n    return b"
    ours = "def f(x, w):\n    a = x * 3\n    try:\n        a = a @ w[:1]\n    except ValueError:\n        return None"
    assert found(ours, right) == [3, 5]


def test_what_is_drawn_is_suspect_where_draws_are_asked_for() -> None:
    right = "def f(x, rng):\n    noise = rng.normal(0, 1, 2)\n    return x * 2"
    ours = "def f(x, rng):\n    noise = rng.normal(0, 1 / np.sqrt(7), 2)\n    return x / 2"
    call = "f(np.array([1.0, 2.5]), np.random.default_rng(0))"
    assert found(ours, right, call) == [4]
    assert found(ours, right, call, draws=True) == [3, 4]


def test_nothing_is_suspect_without_a_right_module() -> None:
    assert suspects(written(RIGHT, "f(np.ones(2), 1.0)"), [], ["f"], [], "f") == frozenset()
