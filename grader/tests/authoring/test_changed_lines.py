"""Where a wrong module differs from a right one: the lines of whole statements, and the functions around them."""

from __future__ import annotations

import pytest

from grader.authoring.changed_lines import change_of, replaced_by
from grader.course.manifest import load_course
from grader.tests.courses.conftest import WORDS
from grader.tests.support.places import ROOT

STAGE = load_course(WORDS).find("s01")
RIGHT = """\
def count_words(x):
    total = 0
    for each in x:
        if each:
            total += (
                _part(each)
            )
    return total


def _part(x):
    return x * 2


class Ranking:
    def __init__(self):
        self.size = 1

    def first(self):
        def inner():
            return self.size
        return inner()
"""


@pytest.mark.parametrize(
    ("was", "now", "lines"),
    [
        ("return total", "return -total", {8}),
        ("                _part(each)\n", "                _part(total)\n", {5, 6, 7}),
        ("in x:", "in x[1:]:", {3}),
        ("    total = 0\n", "", {1, 2}),
        ("    for each in x:\n", "    total = 1\n    for each in x:\n", {3}),
        ("in x:\n        if each:", "in x[1:]:\n        if not each:", {3, 4}),
    ],
    ids=["statement", "of several lines", "head", "taken out", "put in", "two"],
)
def test_the_lines_of_the_statements_that_differ(was: str, now: str, lines: set[int]) -> None:
    assert RIGHT.count(was) == 1
    assert change_of(RIGHT, RIGHT.replace(was, now), STAGE).lines == lines


@pytest.mark.parametrize(
    ("was", "now", "functions"),
    [
        ("total = 0", "total = 1", {"count_words"}),
        ("x * 2", "x * 3", {"_part", "count_words"}),  # it alone calls the helper
        ("self.size = 1", "self.size = 2", {"Ranking", "Ranking.__init__"}),
        ("return self.size", "return -self.size", {"Ranking", "Ranking.first", "Ranking.first.inner"}),
    ],
    ids=["row", "helper", "method", "inner"],
)
def test_the_functions_by_which_a_change_may_be_told(was: str, now: str, functions: set[str]) -> None:
    assert RIGHT.count(was) == 1
    assert change_of(RIGHT, RIGHT.replace(was, now), STAGE).functions == functions


def test_a_known_mistake_in_a_helper_of_the_reference_is_one_of_what_calls_it() -> None:
    replaced = replaced_by(load_course(ROOT).find("s03"))
    assert replaced["product-of-derivatives"] == {"Dual.__mul__"}
    assert replaced["chain-rule-forgotten"] >= {"_chained", "sin", "tanh"}
