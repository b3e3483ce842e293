"""What a mutant makes of an operation, a comparison, a condition or a sign."""

from __future__ import annotations

import pytest

from grader.tests.course.changes.changed import returned


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("x + y", ["x - y", "x", "y"]),
        ("x - y", ["x + y", "y - x", "x", "y"]),
        ("x * y", ["x / y", "x", "y"]),
        ("x / y", ["x * y", "y / x", "x", "y"]),
        ("x @ y", ["y @ x", "x", "y"]),
        ("x ** y", ["x * y", "y ** x", "x"]),
        ("x // y", ["x % y", "y // x"]),
        ("x % y", ["x // y", "y % x"]),
        ("x & y", ["x | y", "x", "y"]),
        ("x | y", ["x & y", "x", "y"]),
    ],
)
def test_an_operation_gets_another_operator_swapped_operands_or_a_term_less(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize("expression", ["x + y", "x * y", "x & y", "x | y", "x == y", "x and y"])
def test_operands_are_not_swapped_where_both_orders_mean_the_same(expression: str) -> None:
    backwards = " ".join(reversed(expression.split()))
    assert backwards not in returned(expression)


@pytest.mark.parametrize(("power", "is_swapped"), [("2", False), ("3", True), ("n", True)])
def test_a_difference_is_not_swapped_below_a_square(power: str, is_swapped: bool) -> None:
    assert (f"(y - x) ** {power}" in returned(f"(x - y) ** {power}")) is is_swapped


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("x < y", ["x <= y", "x >= y"]),
        ("x <= y", ["x < y", "x > y"]),
        ("x > y", ["x >= y", "x <= y"]),
        ("x >= y", ["x > y", "x < y"]),
        ("x == y", ["x != y"]),
        ("x != y", ["x == y"]),
        ("x is y", ["x is not y"]),
        ("x is not y", ["x is y"]),
        ("x in y", ["x not in y"]),
        ("x not in y", ["x in y"]),
        ("x < y == z", ["x <= y == z", "x >= y == z", "x < y != z"]),
    ],
)
def test_a_comparison_moves_its_bound_and_turns_round(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("x and y", ["x or y", "y", "x"]),
        ("x or y", ["x and y", "y", "x"]),
        ("x and y and z", ["x or y or z", "y and z", "x and z", "x and y"]),
    ],
)
def test_a_condition_gets_the_other_operator_or_a_part_less(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize("expression", ["-x", "not x", "~x", "+x"])
def test_a_sign_is_dropped(expression: str) -> None:
    assert returned(expression) == ["x"]


def test_each_arm_of_a_choice_stands_alone() -> None:
    assert returned("x if y else z") == ["x", "z"]


def test_what_a_value_is_looked_up_in_keeps_its_order() -> None:
    assert returned("x in (a, b)") == ["x not in (a, b)"]


def test_the_conditions_of_a_comprehension_are_left_out() -> None:
    assert returned("[x for x in y if x]") == ["[x for x in y]"]
