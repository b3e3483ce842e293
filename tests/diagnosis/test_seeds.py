"""An edit has to stand with inputs of other seeds, also where its test has other faults."""

from __future__ import annotations

import pytest

from tests.conftest import SmallCourse
from tests.support.small_course import manifest

MANIFEST = manifest({"row": ["scaled", "other"]})
SOLUTION = """
    import numpy as np


    def scaled(x, draw):
        factor = 1.0 if draw < 0.5 else 3.25
        return x.sum() * factor


    def other(x):
        return np.linalg.norm(x) * 0.375
"""
PUBLIC = """
    @pytest.mark.criterion("row")
    def test_both(learner, rng):
        x, draw = rng.standard_normal(4), rng.random()
        first, second, last = learner.scaled(x, draw), learner.scaled(x + 1, draw), learner.other(x)
        factor = 1.0 if draw < 0.5 else 3.25
        assert_close(first, x.sum() * factor)
        assert_close(second, (x + 1).sum() * factor)
        assert_close(last, np.linalg.norm(x) * 0.375)


    def assert_close(result, expected):
        assert abs(plain_array(result) - expected) < 1e-9
"""


@pytest.mark.parametrize("other", ["np.linalg.norm(x) * 0.375", "np.median(x) ** 3"], ids=["whole", "another fault"])
@pytest.mark.parametrize("seed", range(1, 6))
def test_an_edit_that_fits_one_seed_is_not_told(small_course: SmallCourse, other: str, seed: int) -> None:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC)
    learners = SOLUTION.replace("        factor = 1.0 if draw < 0.5 else 3.25\n", "").replace("* factor", "* 2.0")
    graded = small_course.grade(learners.replace("np.linalg.norm(x) * 0.375", other), seed=seed)
    told = [failure.diagnosis for row in graded.verdict.criteria for failure in row.failures]
    assert told and not [each for each in told if each is not None and each.function == "scaled"], (seed, told)


@pytest.mark.parametrize("other", ["np.linalg.norm(x) * 0.375", "np.median(x) ** 3"], ids=["whole", "another fault"])
def test_an_edit_that_fits_all_seeds_is_told(small_course: SmallCourse, other: str) -> None:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC)
    learners = SOLUTION.replace("x.sum() * factor", "x.sum() / factor")
    graded = small_course.grade(learners.replace("np.linalg.norm(x) * 0.375", other), seed=3)
    told = [failure.diagnosis for row in graded.verdict.criteria for failure in row.failures]
    assert [(each.function, each.line) for each in told if each is not None] == [("scaled", 7)]


def test_an_edit_of_what_raised_is_told_where_its_test_then_ends_at_another_fault(small_course: SmallCourse) -> None:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC)
    learners = SOLUTION.replace("x.sum() * factor", "x.sum() * factor[0]")
    graded = small_course.grade(learners.replace("np.linalg.norm(x) * 0.375", "np.median(x) ** 3"), seed=3)
    told = [failure.diagnosis for row in graded.verdict.criteria for failure in row.failures]
    assert [(each.function, each.line) for each in told if each is not None] == [("scaled", 7)]
