"""A hidden test is fresh when it draws from `rng`, itself or through a fixture."""

from __future__ import annotations

import pytest

from grader.authoring.fresh import fresh_tests
from grader.tests.conftest import SmallCourse
from grader.tests.support.good_stage import HIDDEN, write_stage

FIXTURES = """
@pytest.fixture
def numbers(rng):
    return rng.normal(size=3)

@pytest.fixture(scope="function")
def rows(numbers):
    return [numbers]

@pytest.fixture
def learner(learner):
    return learner

@pytest.fixture
def fixed():
    return [1.0]
"""


def fresh(course: SmallCourse, tests: str) -> frozenset[str]:
    write_stage(course.stage_folder.parent, course.hidden.parent, "s90_small", {"hidden/test_hidden.py": tests})
    return fresh_tests(course.stage)


def test_the_tests_of_a_good_stage_are(small_course: SmallCourse) -> None:
    names = {f"test_hidden.py::{name}" for name in ("test_total_of_any_rows", "test_half_of_any_rows")}
    assert fresh(small_course, HIDDEN) == names


@pytest.mark.parametrize(
    "test",
    [
        "def test_it(learner, rng):\n    rng.random()\n",
        "def test_it(learner, *, rng):\n    helper(learner, rng)\n",
        "def test_it(learner, numbers):\n    pass\n",
        "def test_it(learner, fixed, rows):\n    pass\n",
    ],
    ids=["argument", "handed to a helper", "fixture", "fixture of a fixture"],
)
def test_one_that_draws_is(small_course: SmallCourse, test: str) -> None:
    assert fresh(small_course, FIXTURES + test) == {"test_hidden.py::test_it"}


@pytest.mark.parametrize(
    "test",
    [
        "def test_it(learner):\n    pass\n",
        "def test_it(learner, fixed):\n    pass\n",
        "def test_it(learner, rng):\n    learner.total([1.0])\n",
        "def draw(rng):\n    return rng.random()\n\ndef test_it(learner):\n    pass\n",
    ],
    ids=["no argument", "fixed fixture", "argument that is not used", "another function"],
)
def test_one_with_fixed_inputs_is_not(small_course: SmallCourse, test: str) -> None:
    assert fresh(small_course, FIXTURES + test) == frozenset()


def test_a_method_is_named_with_its_class(small_course: SmallCourse) -> None:
    tests = "class TestTotal:\n    def test_it(self, learner, rng):\n        rng.random()\n"
    assert fresh(small_course, tests) == {"test_hidden.py::TestTotal::test_it"}
