"""The premise of a known mistake: patterns that a learner's text has to hold, or to lack."""

from __future__ import annotations

import ast
import textwrap

import pytest

from grader.course.answers import load_mistakes
from grader.course.premise import Premise
from grader.errors import CourseError
from grader.tests.conftest import SmallCourse

TEXT = '''
def norm(x, ord, eps=0):
    """Return the sqrt."""
    count = x.count + 1
    total = np.sum(x * x, axis=0) ** 0.5
    return {"total": total}, count
'''
SOLUTION = "import math\n\n\ndef norm(x):\n    return math.sqrt(x)\n"
PATCH = """
    [row.norm.without-root]
    text = "The root is missing."
    fix = "Take the root."
    {line}
    find = "math.sqrt(x)"
    replace = "x"
"""
DECLARED = """
    @mistake(criterion="row", replaces="norm", text="The root is missing.", fix="Take it.", {line})
    def without_root(x):
        return x
"""
MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "row"
    text = "it works"
    functions = ["norm"]
    needs = []
    hints = ["a", "b", "c"]
"""


@pytest.mark.parametrize(
    ("pattern", "is_there"),
    [
        ("_ ** 0.5", True), ("_ ** 2", False), ("count", True), ("total", True), ("axis", True), ("sum", True),
        ("np.sum(_, axis=0)", True), ("_ + 1", True), ("return _", True), ("return None", False), ("ord", False),
        ("eps", False), ("sqrt", False), ("x", True), ("0.5", True), ("5", False),
    ],
)  # fmt: skip
def test_a_pattern_is_found_where_it_is_used(pattern: str, is_there: bool) -> None:
    functions = [ast.parse(TEXT)]
    assert (Premise(absent=(pattern,)).contradiction(functions) is not None) is is_there
    assert (Premise(present=(pattern,)).contradiction(functions) is None) is is_there


def test_no_patterns_are_no_premise() -> None:
    assert not Premise() and Premise(absent=("x",)) and Premise().contradiction([]) is None


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('absent = ["sqrt", "_ ** 0.5"]', ""),
        ('present = ["x"]', ""),
        ('absent = ["x"]', "'x' is in what the patch makes"),
        ('present = ["sqrt"]', "'sqrt' is not in what the patch makes"),
        ('absent = ["sqrt("]', "is no Python"),
        ('absent = "sqrt"', "is not a list"),
    ],
)
def test_a_premise_is_held_against_the_patch(small_course: SmallCourse, line: str, complaint: str) -> None:
    small_course.write(manifest=MANIFEST, solution=SOLUTION)
    file = small_course.hidden / "mistakes.toml"
    file.write_text(textwrap.dedent(PATCH.format(line=line)))
    try:
        _loads(small_course, complaint)
    finally:
        file.unlink()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('absent=("sqrt",)', ""),
        ('absent=("x",)', "does not fit the wrong answer itself"),
        ("absent=sqrt", "are tuples of Python patterns"),
        ('present=("sqrt(",)', "are tuples of Python patterns"),
    ],
)
def test_a_premise_is_held_against_a_function(small_course: SmallCourse, line: str, complaint: str) -> None:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, mistakes=DECLARED.format(line=line))
    _loads(small_course, complaint)


def _loads(small_course: SmallCourse, complaint: str) -> None:
    if complaint:
        with pytest.raises(CourseError, match=complaint):
            load_mistakes(small_course.stage)
        return
    (found,) = load_mistakes(small_course.stage)
    assert found.premise
