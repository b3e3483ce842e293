"""A test says by a mark what it asks of an answer: the closest mark counts, and stands in the test's outcome."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.outcome import KINDS
from tests.conftest import Graded, SmallCourse

pytestmark = pytest.mark.usefixtures("brief_search")

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "double"
    text = "double doubles"
    functions = ["double"]
    needs = []
    hints = ["a", "b", "c"]
"""

SOLUTION = """
    def double(x):
        return 2 * x
"""

PUBLIC = """
    pytestmark = [pytest.mark.criterion("double"), pytest.mark.values]


    def test_of_the_file(learner):
        assert learner.double(1) == 2


    @pytest.mark.refusals
    def test_of_the_function(learner):
        assert learner.double(1) == 2


    @pytest.mark.edges
    class TestOfTheClass:
        def test_of_the_class(self, learner):
            assert learner.double(1) == 2

        @pytest.mark.dtype
        @pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.purity)])
        def test_of_a_parameter(self, learner, x):
            assert learner.double(x) == 2 * x


    @pytest.mark.speed
    @pytest.mark.dtype
    def test_of_two_kinds(learner):
        assert learner.double(1) == 2
"""

HIDDEN = """
    @pytest.mark.criterion("double")
    def test_of_no_kind(learner):
        assert learner.double(3) == 6
"""

KINDS_OF = {
    "test_of_the_file": "values",
    "test_of_the_function": "refusals",
    "test_of_the_class": "edges",
    "test_of_a_parameter[1]": "dtype",
    "test_of_a_parameter[2]": "purity",
    "test_of_two_kinds": "",
    "test_of_no_kind": "",
}


@pytest.fixture
def course(small_course: SmallCourse) -> SmallCourse:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN)
    return small_course


def kinds(graded: Graded) -> dict[str, str]:
    return {test: outcome.kind for test, outcome in graded.outcomes.items()}


@pytest.mark.parametrize("source", [SOLUTION, "def double(x):\n    return 3 * x\n"], ids=["right", "wrong"])
def test_the_closest_mark_stands_in_the_outcome(course: SmallCourse, source: str) -> None:
    assert kinds(course.grade(source)) == KINDS_OF


def test_a_test_that_ends_its_process_keeps_its_kind(course: SmallCourse) -> None:
    assert kinds(course.grade("import os\n\n\ndef double(x):\n    os._exit(1)\n")) == KINDS_OF


def test_plain_pytest_knows_the_marks(course: SmallCourse) -> None:
    command = [sys.executable, "-m", "pytest", "--strict-markers", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    chosen = [*command, "-m", " or ".join(kind for kind in KINDS if kind != "values"), str(course.stage_folder)]
    done = subprocess.run(chosen, capture_output=True, text=True, cwd=course.root, check=False)
    assert done.returncode == 0 and "5 passed, 1 deselected" in done.stdout, done.stdout + done.stderr


CHANGED = """
    import numpy as np


    @pytest.mark.criterion("double")
    @pytest.mark.values
    def test_values(learner):
        assert_array(learner.double(np.array([1.0, 2.0])), np.array([2.0, 4.0]))


    @pytest.mark.criterion("double")
    @pytest.mark.refusals
    def test_refusal(learner):
        with pytest.raises(ValueError):
            learner.double(np.array([]))
"""
REFUSING = """
    def double(x):
        if len(x) == 0:
            raise ValueError("x is empty")
        return 2 * x
"""


@pytest.mark.parametrize(
    ("found", "values", "purity"), [("2 * x", (1, 1), (0, 1)), ("3 * x", (0, 1), None)], ids=["right", "wrong"]
)
def test_a_right_answer_with_a_changed_argument_lacks_purity_alone(
    small_course: SmallCourse, found: str, values: tuple[int, int], purity: tuple[int, int] | None
) -> None:
    small_course.write(manifest=MANIFEST, solution=REFUSING, public=CHANGED, hidden=CHANGED.replace("test_", "test_h_"))
    source = REFUSING.replace("return 2 * x", f"found = {found}\n        x += 1\n        return found")
    (row,) = small_course.grade(source).verdict.criteria
    counts = {each.kind: (each.passed, each.total) for each in row.kinds}
    twice = {kind: (2 * each[0], 2 * each[1]) for kind, each in (("values", values), ("purity", purity)) if each}
    assert counts == {"refusals": (2, 2), **twice}
    assert (row.status, row.values_right) == ("failed", purity is not None)
    assert {each.kind for each in row.failures} == {"purity" if purity else "values"}
