"""What a module uses of what is forbidden, where it does its best to make that question long."""

from __future__ import annotations

import ast
import time

from grader.course.stage import Forbidden
from grader.submission.source.forbidden import MAX_MEANINGS, forbidden_problem
from grader.submission.source.problem import Problem

FORBIDDEN = Forbidden((), ("numpy.dot", "numpy.linalg"), "Write it yourself.")


def found(source: str) -> Problem | None:
    return forbidden_problem(list(ast.walk(ast.parse(source))), FORBIDDEN)


def test_a_name_that_doubles_its_meanings_with_each_line_is_bounded() -> None:
    source = "import numpy as x\n" + "".join(f"x = x.a{number}\n" for number in range(500))
    started = time.process_time()
    assert found(source) is None
    assert time.process_time() - started < 2


def test_many_uses_of_a_name_with_many_meanings_are_bounded() -> None:
    source = "".join(f"from numpy import a{number} as x\n" for number in range(1000)) + "x\n" * 5000
    started = time.process_time()
    assert found(source) is None
    assert time.process_time() - started < 2


def test_many_stars_are_bounded() -> None:
    source = "".join(f"from numpy.a{number} import *\n" for number in range(1000)) + "y\n" * 5000
    started = time.process_time()
    assert found(source) is None
    assert time.process_time() - started < 2


def test_as_many_meanings_as_modules_have_are_known() -> None:
    source = "".join(f"from numpy import a{number} as x\n" for number in range(MAX_MEANINGS - 1))
    problem = found(source + "import numpy as x\nx.linalg.norm(1)\n")
    assert problem is not None and problem.line == MAX_MEANINGS + 1


def test_a_long_name_is_cut_in_the_message() -> None:
    problem = found(f"import numpy\nnumpy.linalg.{'a' * 5000}\n")
    assert problem is not None and len(problem.message) < 200
