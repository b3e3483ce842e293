"""A small stage with many tests, and its right module."""

from __future__ import annotations

from grader.tests.support import good_stage
from grader.tests.support.small_course import SmallCourse

TESTS = 30
MANIFEST = good_stage.MANIFEST.format(id="s90").replace("total", "double")
RIGHT = """
    def double(x):
        return 2 * x

    def half(x):
        return x / 2
"""
HIDDEN = f"""
    pytestmark = pytest.mark.values

    @pytest.mark.criterion("double")
    @pytest.mark.parametrize("n", range({TESTS // 2}))
    def test_double(learner, n):
        assert learner.double(n) == 2 * n

    @pytest.mark.criterion("half")
    @pytest.mark.parametrize("n", range({TESTS // 2}))
    def test_half(learner, n):
        assert learner.half(n) == n / 2
"""
PUBLIC = """
    @pytest.mark.values
    @pytest.mark.criterion("double")
    def test_two(learner):
        assert learner.double(1) == 2
"""


def write(course: SmallCourse) -> SmallCourse:
    """Write the stage into a course."""
    course.write(manifest=MANIFEST, solution=RIGHT, public=PUBLIC, hidden=HIDDEN)
    return course
