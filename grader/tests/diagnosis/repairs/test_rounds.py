"""A while loop that a change makes endless ends, and says nothing; outside of a try none is counted."""

from __future__ import annotations

import ast
from typing import Any

from grader.diagnosis.repairs.batch import DRIVER, TRY, error_of
from grader.diagnosis.repairs.rounds import MOST_ROUNDS, STEP, counted

COUNTS = """
def count(most):
    n = 0
    for _ in range(1):
        while n != most:
            n += 1
    return n
"""


def module() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(DRIVER, names)
    exec(compile(ast.Module([counted(ast.parse(COUNTS).body[0])], []), "<counted>", "exec"), names)
    return names


def test_an_endless_loop_ends_and_the_next_change_is_tried() -> None:
    names = module()
    endless, right = ["call", names["count"], "", [-1], {}, True], ["call", names["count"], "", [9], {}, True]
    (told,) = names[TRY]([[]], [endless])[0]
    assert isinstance(error_of(told[0][1]), TimeoutError)
    assert names[TRY]([[]], [right])[0] == [[[9, [], False]]]


def test_each_change_has_all_rounds() -> None:
    names = module()
    long = ["call", names["count"], "", [MOST_ROUNDS], {}, True]
    assert [each[0][0] for each in names[TRY]([[], []], [long])[0]] == [MOST_ROUNDS] * 2


def test_where_nothing_is_tried_a_loop_may_be_long() -> None:
    assert module()["count"](MOST_ROUNDS + 9) == MOST_ROUNDS + 9


def test_what_has_no_loop_is_shared_as_it_is() -> None:
    node = ast.parse("def f(x):\n    if x:\n        return 1\n    return 2").body[0]
    assert counted(node) is node
    assert STEP in ast.unparse(counted(ast.parse(COUNTS).body[0]))
