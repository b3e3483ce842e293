"""What a mutant makes of a whole statement, and which statements it leaves alone."""

from __future__ import annotations

import pytest

from grader.tests.course.changes.changed import changed


def test_a_condition_holds_never_and_always() -> None:
    assert changed("if x:\n    y = z") == ["if False:", "if True:"]


def test_a_refusal_is_left_out_and_raises_any_error_but_does_not_refuse_everything() -> None:
    assert changed("if x:\n    raise ValueError(f'{x + 1}')") == ["if False:", "raise Exception(f'{x + 1}')"]


def test_each_condition_of_a_chain_is_changed() -> None:
    assert changed("if x:\n    y = z\nelif a:\n    y = b") == ["if False:", "if True:", "if False:", "if True:"]


def test_a_loop_runs_over_nothing() -> None:
    assert changed("for x in y:\n    z = x") == ["for x in ():"]
    assert changed("while x:\n    y = z") == ["while False:"]


@pytest.mark.parametrize("statement", ["raise ValueError('bad', 3, x + y)", "raise ValueError(x - 1) from error"])
def test_of_an_error_the_class_alone_is_changed(statement: str) -> None:
    assert changed(statement) == [statement.replace("ValueError", "Exception")]


@pytest.mark.parametrize("statement", ["raise", "raise error"])
def test_an_error_from_elsewhere_stays(statement: str) -> None:
    assert changed(statement) == []


@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        ("x += y", ["pass", "x -= y"]),
        ("x *= 2", ["pass", "x /= 2", "x *= 3", "x *= 1"]),
        ("x @= y", ["pass"]),
        ("call()", ["pass"]),
        ("x[0] = y", ["pass", "x[1] = y"]),
        ("x.part = y", ["pass"]),
        ("x = -x", ["pass", "x = x"]),
        ("x, y = y, x", ["pass", "x, y = (x, y)"]),
    ],
)
def test_a_statement_goes_where_its_names_stand_without_it(statement: str, wrong: list[str]) -> None:
    assert changed(statement) == wrong


@pytest.mark.parametrize("statement", ["x = y", "x = y = z", "x, y = z", "x, y = y, z"])
def test_an_assignment_stays_where_a_name_would_be_missing(statement: str) -> None:
    assert "pass" not in changed(statement)


def test_what_is_assigned_to_keeps_its_name() -> None:
    assert changed("x.T = y") == ["pass"]


@pytest.mark.parametrize("statement", ["import math", "from math import pi", "assert x == 1", "pass", "return"])
def test_imports_and_assertions_stay(statement: str) -> None:
    assert changed(statement) == []
