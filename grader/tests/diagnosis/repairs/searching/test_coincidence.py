"""What puts right hardly more than one test is a coincidence: what is wrong shows in another test."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.repairs.standing import are_many, can_be_drawn, is_chance, is_open, left_wrong, ran_first
from grader.diagnosis.repairs.trial import Trial
from grader.tests.conftest import SmallCourse
from grader.tests.diagnosis.repairs.layers import told

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Brevity"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "brevity"
    text = "brevity"
    functions = ["brevity"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = '''
    import numpy as np


    def brevity(length, wanted):
        """Return exp(1 - wanted / length), at most 1."""
        return float(np.exp(np.minimum(0.0, 1 - wanted / length)))
'''
LEARNERS = """
    import math


    def brevity(length, wanted):
        share = wanted / length
        missing = 1 - share
        return min(1.0, math.exp(missing))
"""
TESTS = """
    @pytest.mark.criterion("brevity")
    @pytest.mark.parametrize(("length", "wanted"), [(4.0, 4.0), (4.0, 6.0), (4.0, 7.0), (5.0, 8.0), (2.0, 3.0)])
    def test_brevity(learner, length, wanted):
        assert_array(learner.brevity(length, wanted), np.exp(1 - wanted / length))
"""


def test_what_one_test_admits_by_chance_gives_way_to_what_all_need(course: SmallCourse) -> None:
    """Of two lengths that are equal, nearly everything makes 1 of 0; NumPy is at hand without an import, too."""
    course.write(manifest=MANIFEST, solution=SOLUTION, public=TESTS, hidden=TESTS)
    assert course.grade(LEARNERS).verdict.passed
    found = told(course.grade(LEARNERS.replace("math.exp(missing)", "missing")).verdict)["brevity"]
    assert found == {"brevity answers as if the exponential of missing were not taken (line 8)."}


def repair(line: int, *tests: str) -> Any:
    """Return what is told of a repair of one line, with the tests that it puts right."""
    return SimpleNamespace(tests=frozenset(tests)), SimpleNamespace(
        changes=[SimpleNamespace(statement=SimpleNamespace(lineno=line))]
    )


@pytest.mark.parametrize(
    ("found", "left"),
    [
        ([repair(1, "a", "b"), repair(2, "a", "b")], "cdef"),  # two places are equally good, and neither is good
        ([repair(1, "a", "b"), repair(1, "a", "b")], ""),  # one place, in two ways
        ([repair(1, "a", "b"), repair(2, "a")], ""),  # one is better
        ([repair(1, "a")], "bcdef"),  # hardly anything
        ([repair(1, *"abcd"), repair(2, *"abcd")], ""),  # most of the row
        ([repair(1, *"abc"), repair(2, *"cde")], "f"),
        ([], ""),
    ],
)
def test_another_test_is_asked_where_what_was_found_looks_like_a_coincidence(found: list[Any], left: str) -> None:
    row: Any = SimpleNamespace(failing=[SimpleNamespace(test=name) for name in "abcdef"])
    assert "".join(each.test for each in left_wrong(found, row.failing, row)) == left


def test_of_repairs_that_are_equally_good_none_is_sure() -> None:
    def of(text: str, number: int) -> Any:
        return SimpleNamespace(rank=(-number, 1, 0), diagnosis=SimpleNamespace(text=text)), None

    assert is_open([of("one", 2), of("other", 2), of("third", 1)])
    assert not is_open([of("one", 2), of("one", 2), of("other", 1)])
    assert not is_open([])


def test_what_many_changes_do_as_well_is_a_coincidence_if_a_test_stays_wrong() -> None:
    def of(text: str, *tests: str, rank: int = 0) -> Any:
        ranked = (-len(tests), 1, rank)
        return SimpleNamespace(rank=ranked, tests=frozenset(tests), diagnosis=SimpleNamespace(text=text)), None

    row: list[Any] = [SimpleNamespace(test=name, called={"f"}) for name in "abc"]
    row.append(SimpleNamespace(test="d", called={"g"}))
    alike = [of("one", "a", "b"), of("two", "a", "b"), of("three", "a", "b")]
    assert are_many(alike, row, row[0])
    assert not are_many(alike[:2], row, row[0])
    assert not are_many([*alike[:2], of("three", "a", "c")], row, row[0])
    assert not are_many([*alike[:2], of("three", "a", "b", rank=1)], row, row[0])
    assert not are_many([of(text, *"abc") for text in ("one", "two", "three")], row, row[0])
    assert not are_many([], row, row[0])


def test_of_repairs_that_are_equally_good_one_that_ran_in_the_other_test_too_comes_first() -> None:
    def of(line: str, *rank: int) -> Any:
        return SimpleNamespace(rank=rank), SimpleNamespace(changes=[SimpleNamespace(statement=line)])

    written: Any = SimpleNamespace(did_run=lambda statement: statement == "shared")
    found = [of("branch", -3, 1, 1, 0), of("shared", -3, 1, 1, 9), of("shared", -2, 1, 0)]
    assert ran_first(found, written) == [found[1], found[0], found[2]]


def test_what_is_left_out_of_a_line_is_no_cause_where_one_test_alone_draws() -> None:
    whole = ast.parse("std = np.sqrt(2 / n)").body[0]
    assert isinstance(whole, ast.Assign) and isinstance(whole.value, ast.Call)
    less = SimpleNamespace(kind="", old=whole.value, new=whole.value.args[0], statement=whole)
    other = SimpleNamespace(kind="", old=whole.value, new=ast.Name("spread"), statement=whole)
    repairs: list[Any] = [SimpleNamespace(all=[each]) for each in (less, other)]
    assert [can_be_drawn(each, 0) for each in repairs] == [False, True]
    assert can_be_drawn(repairs[0], 1)


def test_a_change_of_brackets_alone_tells_something_where_one_test_draws() -> None:
    whole = ast.parse("std = np.sqrt(2 / (n * k) ** 2)").body[0]
    old, new = (ast.parse(text, mode="eval").body for text in ("(n * k) ** 2", "n * k ** 2"))
    repair: Any = SimpleNamespace(all=[SimpleNamespace(kind="", old=old, new=new, statement=whole)])
    assert can_be_drawn(repair, 0)


def answering(result: object) -> Trial:
    unused: Any = None
    records: list[Any] = [SimpleNamespace(result=result)]
    failing: Any = SimpleNamespace(records=[SimpleNamespace(error=None)])
    return Trial(unused, unused, failing, records, True)


@pytest.mark.parametrize(
    ("result", "says_little"),
    [
        (np.array([0.0, 1.0, 1.0]), True),
        (1.0, True),
        (True, True),
        (np.array([0.0, 0.5]), False),
        (np.array([0, 1]), False),
        (np.array([True, False]), False),
        ((0.0, 1.0), False),
    ],
)
def test_floats_that_are_0_or_1_say_little(result: object, says_little: bool) -> None:
    assert answering(result).says_little is says_little


def test_where_only_0_and_1_are_asked_for_a_term_more_is_chance_and_so_is_one_of_two_changes() -> None:
    def of(new: ast.AST | str, before: ast.AST, likelihood: int = 0, holder: ast.AST | None = None) -> Any:
        after = ast.parse(new, mode="eval").body if isinstance(new, str) else new
        slip = SimpleNamespace(diagnosis=SimpleNamespace(text=f"{new}"), tests={"a"}, rank=(-1, 1, likelihood))
        return slip, SimpleNamespace(all=[SimpleNamespace(old=before, new=after, holder=holder)])

    trial = answering(np.array([0.0, 1.0, 1.0, 0.0]))
    old = ast.parse("x @ W", mode="eval").body
    assert isinstance(old, ast.expr)
    more = of(ast.BinOp(old, ast.Mult(), ast.Name("x")), old)
    other, another, unlikely = of("x @ V", old), of("x @ U", old), of("x @ T", old, likelihood=1)
    call = ast.parse("relu(x)", mode="eval").body
    assert isinstance(call, ast.Call)
    assert is_chance([more], trial, [])
    assert not is_chance([other], trial, [])
    assert not is_chance([other, unlikely], trial, [])
    assert is_chance([other, another], trial, [])
    assert not is_chance([other, another], answering(np.array([0.2, 1.0])), [])
    assert is_chance([of("step", call.func, holder=call)], trial, [])


@pytest.mark.parametrize(("right", "asked", "chance"), [(1, 4, True), (2, 3, True), (3, 6, True), (3, 5, False)])
def test_what_avoids_an_error_is_no_chance_where_it_puts_most_of_a_row_right(
    right: int, asked: int, chance: bool
) -> None:
    trial = answering(np.array([0.5, 2.0]))
    trial.failing.records[0].error = ValueError()
    repair: Any = SimpleNamespace(all=[SimpleNamespace(old=ast.Name("a"), new=ast.Name("b"), holder=None)])
    slip: Any = SimpleNamespace(
        diagnosis=SimpleNamespace(text="a for b"), tests=frozenset(map(str, range(right))), rank=(-right, 1, 0)
    )
    vars(trial.failing)["called"] = {"f"}
    failing: Any = [
        SimpleNamespace(test=str(each), records=trial.failing.records, called={"f"}) for each in range(asked)
    ]
    assert is_chance([(slip, repair)], trial, failing) is chance
    assert not is_chance([], trial, failing)
