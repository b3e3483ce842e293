"""How calls and operators of a test read: what was applied to what, as far as one line holds it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from grader.course.answers import module_from
from grader.diagnosis.explanation import LONGEST, expression_of
from tests.conftest import SmallCourse, Start
from tests.support.small_course import manifest

SOURCE = textwrap.dedent("""
    class Number:
        def __init__(self, value, slope=0.0):
            self.value, self.slope = value, slope

        def __add__(self, other):
            return Number(self.value + getattr(other, "value", other))

        __radd__ = __add__
        __mul__ = __add__

        def __neg__(self):
            return Number(-self.value)

        def times(self, factor):
            return Number(self.value * factor)


    def double(x):
        return x + x
""")
MANIFEST = manifest(
    {"number": ["Number", "double"]},
    '[members]\nNumber = ["value", "slope", "times", "__add__", "__radd__", "__neg__", "__mul__", "__rmul__"]\n',
)


@pytest.fixture
def text(start: Start, small_course: SmallCourse) -> Callable[[Callable[[Any], object]], tuple[str, str]]:
    small_course.write(manifest=MANIFEST, solution=SOURCE)

    def of(test: Callable[[Any], object]) -> tuple[str, str]:
        learner = start(SOURCE, contract=small_course.stage.contract)
        test(learner.open())
        connection = learner.connection
        learner.done()
        return expression_of(connection.records, small_course.stage, module_from(SOURCE, "reference"))

    return of


@pytest.mark.parametrize(
    ("test", "expected", "label"),
    [
        (lambda m: m.double(2.0), "double(x=2.0)", "double"),
        (lambda m: m.Number(2.0, slope=1.0), "Number(value=2.0, slope=1.0)", "Number"),
        (lambda m: m.Number(2.0).times(3), "Number.times(factor=3)", "Number.times"),
        (lambda m: m.Number(2.0) + 3, "Number(2.0) + 3", "Number.__add__"),
        (lambda m: (3 + m.Number(2.0)).value, "3 + Number(2.0)", "Number.__radd__"),
        (lambda m: -(m.Number(2.0) * m.Number(1.0, 5.0)), "-(Number(2.0) * Number(1.0, 5.0))", "Number.__neg__"),
        (lambda m: (m.Number(2.0) + 1).times(3), "(Number(2.0) + 1).times(3)", "Number.times"),
        (lambda m: m.double(m.Number(2.0) + 1), "double(Number(2.0) + 1)", "double"),
    ],
)
def test_it_reads_as_the_test_wrote_it(text: Any, test: Any, expected: str, label: str) -> None:
    assert text(test) == (expected, label)


def test_what_is_nested_deeply_is_cut(text: Any) -> None:
    def deep(module: Any) -> None:
        number = module.Number(1.0)
        for _ in range(9):
            number = number + 1

    assert text(deep)[0] == "((((((… + 1) + 1) + 1) + 1) + 1) + 1) + 1"


def test_what_no_line_holds_is_told_by_its_last_call(text: Any) -> None:
    def long(module: Any) -> None:
        number = module.Number(1.25)
        for _ in range(5):
            number = number + number

    assert 32 * len("Number(1.25)") > LONGEST and text(long) == ("Number(value=1.25)", "Number")


def test_without_a_call_there_is_nothing_to_tell(text: Any) -> None:
    assert text(lambda module: None) == ("", "")
