"""What names stand for, where a module does its best to make that question long."""

from __future__ import annotations

import ast
import time

import pytest

from grader.course.stage import Forbidden
from grader.submission.source.forbidden import Layout, read_forbidden
from grader.submission.source.forbidden.meanings import MAX_MEANINGS
from grader.submission.source.problem import Problem

FORBIDDEN = Forbidden((), ("numpy.dot", "numpy.linalg"), "Write it yourself.")


def found(source: str) -> Problem | None:
    return read_forbidden(Layout(ast.parse(source)), FORBIDDEN).first


def test_a_name_that_doubles_its_meanings_with_each_line_is_bounded_and_refused() -> None:
    source = "import numpy as x\n" + "".join(f"x = x.a{number}\n" for number in range(500))
    started = time.process_time()
    problem = found(source)
    assert time.process_time() - started < 2
    assert problem is not None and "cannot see which of the many things it stands for is meant" in problem.message


def test_many_uses_of_a_name_with_many_meanings_are_bounded() -> None:
    source = "".join(f"from numpy import a{number} as x\n" for number in range(1000)) + "x\n" * 5000
    started = time.process_time()
    assert found(source) is not None
    assert time.process_time() - started < 2


def test_many_stars_are_bounded() -> None:
    source = "".join(f"from numpy.a{number} import *\n" for number in range(1000)) + "y\n" * 5000
    started = time.process_time()
    assert found(source) is None
    assert time.process_time() - started < 2


def test_a_meaning_does_not_hide_behind_many_others() -> None:
    others = "".join(f"    from math import a{number} as x\n" for number in range(MAX_MEANINGS))
    assert found(f"if 0:\n{others}import numpy as x\nx.dot(1, 2)\n") is not None


@pytest.mark.parametrize(
    "source",
    ["def g():\n    global y\n    y = x\nimport numpy\nx = numpy\n", "import numpy\na = [0]\na[0] = numpy\n"],
    ids=["before it is known", "not a name"],
)
def test_a_module_is_followed_or_refused(source: str) -> None:
    assert found(source) is not None


def test_as_many_meanings_as_modules_have_are_known() -> None:
    source = "".join(f"from numpy import a{number} as x\n" for number in range(MAX_MEANINGS - 1))
    problem = found(source + "import numpy as x\nx.linalg.norm(1)\n")
    assert problem is not None and problem.line == MAX_MEANINGS + 1
