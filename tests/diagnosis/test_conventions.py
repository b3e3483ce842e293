"""Where a test accepts several answers, causes are looked for beside right modules of the learner's own convention."""

from __future__ import annotations

import pytest

from grader.course.answers import Mistake
from grader.course.stage import Stage
from tests.diagnosis.engine import Call, causes
from tests.diagnosis.test_causes import X, stage

__all__ = ["stage"]

RIGHT = """
    import numpy as np


    def softmax(x):
        return x / (1 + np.abs(x))


    def both(x, w, b):
        return softmax(x @ w) + b
"""
BY_TANH = RIGHT.replace("x / (1 + np.abs(x))", "np.tanh(x)")
ARGUMENTS = (X, X.T, 0.5)
PASSING: list[list[Call]] = [[("softmax", (X,))], [("softmax", (X / 3,))]]
FAILING: list[list[Call]] = [[("both", ARGUMENTS)], [("both", (X / 2, X.T, 2.0))]]


def test_a_fault_beside_another_convention_is_found(stage: Stage) -> None:
    (found,) = causes(stage, RIGHT, BY_TANH.replace("+ b", "- b"), FAILING, PASSING, others=[BY_TANH])
    assert (found.function, found.line, found.id) == ("both", 9, "operator-confused")


def test_without_a_right_module_of_that_convention_there_is_none(stage: Stage) -> None:
    assert causes(stage, RIGHT, BY_TANH.replace("+ b", "- b"), FAILING, PASSING) == []


@pytest.mark.parametrize("others", [[], [BY_TANH]])
def test_a_known_mistake_is_told_by_the_convention_of_what_it_calls(stage: Stage, others: list[str]) -> None:
    source = "def both(x, w, b):\n    return softmax(x @ w)\n"
    known = Mistake("no-bias", "row", "both", "The bias is missing.", "Add b.", source)
    wrong = BY_TANH.replace(" + b", "")
    found = causes(stage, RIGHT, wrong, FAILING, PASSING, (known,), others=others)
    assert [each.id for each in found] == ["no-bias"] * len(others)


def test_where_the_reference_answers_alike_no_other_convention_counts(stage: Stage) -> None:
    (found,) = causes(stage, RIGHT, RIGHT.replace("+ b", "- b"), FAILING, PASSING, others=[BY_TANH])
    assert (found.function, found.line) == ("both", 9)
