"""One check that is missing is one cause, whatever comes of the calls that it would have refused."""

from __future__ import annotations

import textwrap

import numpy as np

from grader.course.answers import Mistake
from tests.diagnosis.engine import Call, explained

RIGHT = """
    import numpy as np


    def slope(y, h):
        if h <= 0:
            raise ValueError("h: expected a step above 0")
        if len(y) == 0:
            raise ValueError("y: expected a value")
        return sum(y) / float(h)


    def solved(A, b):
        largest = np.abs(A).max()
        if abs(np.linalg.det(A)) <= 1e-12 * largest**2:
            raise ValueError("A: singular")
        return np.array([A[1, 1] * b[0] - A[0, 1] * b[1], A[0, 0] * b[1] - A[1, 0] * b[0]]) / np.linalg.det(A)
"""
STEP = """        if h <= 0:
            raise ValueError("h: expected a step above 0")
"""
EMPTY = """        if len(y) == 0:
            raise ValueError("y: expected a value")
"""
SINGULAR = """        if abs(np.linalg.det(A)) <= 1e-12 * largest**2:
            raise ValueError("A: singular")
"""
NOT_NOTICED = Mistake(
    "singular-not-noticed", "row", "solved", "It is solved by what rounding left.", "Compare it.",
    textwrap.dedent(RIGHT[RIGHT.index("    def solved") :].replace(SINGULAR, "")),
)  # fmt: skip


def told(without: str, calls: list[Call], known: tuple[Mistake, ...] = ()) -> list[str]:
    """Return the id that each of some calls is told, where a check is left out."""
    assert RIGHT.count(without) == 1
    _, outcomes = explained(RIGHT, RIGHT.replace(without, ""), [[each] for each in calls], mistakes=known)
    return [diagnosis.mistake for each in outcomes for diagnosis in each.explains]


def test_a_missing_check_has_one_id_where_some_of_its_calls_end_by_accident() -> None:
    assert told(STEP, [("slope", ([1.0, 2.5], 0)), ("slope", ([1.0, 2.5], -0.5))]) == ["refusal-missing"] * 2


def test_calls_of_another_check_keep_their_own_id() -> None:
    calls: list[Call] = [("slope", ([1.0, 2.5], 0)), ("slope", ([], 0.5)), ("slope", (["a"], 0.5))]
    assert told(STEP + EMPTY, calls)[:2] == ["refusal-by-accident", "refusal-missing"]


def test_a_known_mistake_is_told_of_all_calls_that_one_check_refuses() -> None:
    """What is answered in place of a refusal is noise: that of another way to it is another one."""
    one, other = np.array([[0.1, 0.2], [0.3, 0.6]]), np.array([[1.0, 3.0], [2.0, 6.0]])
    learners = RIGHT.replace(SINGULAR, "").replace(
        "return np.array([A[1, 1] * b[0] - A[0, 1] * b[1], A[0, 0] * b[1] - A[1, 0] * b[0]]) / np.linalg.det(A)",
        "return np.array([A[1, 1] * b[0] - A[0, 1] * b[1], A[0, 0] * b[1] - A[1, 0] * b[0]])"
        " / (np.linalg.det(A) if A[0, 0] < 1 else 3.0)",
    )
    calls: list[Call] = [("solved", (A, np.array([1.0, 2.5]) + n)) for n in range(2) for A in (one, other)]
    _, outcomes = explained(RIGHT, learners, [[each] for each in calls], mistakes=(NOT_NOTICED,))
    assert [each.mistake for outcome in outcomes for each in outcome.explains] == ["singular-not-noticed"] * 4
