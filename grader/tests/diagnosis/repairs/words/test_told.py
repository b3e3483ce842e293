"""What is said of an expression that a right module has instead of a learner's."""

from __future__ import annotations

import ast

from grader.diagnosis.repairs.words.told import told
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.phrases import Vocabulary

SAY = Vocabulary(frozenset({"rows", "rate", "x"}), is_own=True)


def said(line: str, right: str) -> str | None:
    """Return what is said of a line whose whole value a right module has otherwise."""
    statement = ast.parse(line).body[0]
    assert isinstance(statement, ast.Assign)
    new = ast.parse(right, mode="eval").body
    clause = told(Change(1, "f", statement.value, new, statement, statement, "aligned"), SAY)
    return clause.said if clause is not None else None


def test_a_number_that_stands_for_a_formula_is_told_by_what_takes_no_part() -> None:
    assert said("rows = 0 * x", "rate ** 0.5 * x") == "rate took no part in rows"


def test_of_what_has_nothing_in_common_nothing_is_said() -> None:
    assert said("rows = 0 * x", "rate ** 0.5 * spread(rate, 3)[1:]") is None


def test_a_name_in_the_place_of_another_value_is_told_by_what_that_is_made_of() -> None:
    assert said("bias = total", "2 * np.mean(error)") == "`total` stood where a value made of error belongs"
    assert said("bias = total", "a * b * c") is None
