"""A mistake that explains one test by chance is not named: the row's other tests speak against it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.tests.conftest import SmallCourse

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "scale"
    text = "scale and shift"
    functions = ["scale", "shift"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "twice"
    text = "twice"
    functions = ["twice"]
    needs = []
    hints = ["a", "b", "c"]
"""

SOLUTION = """
    def scale(x, alpha):
        return alpha * x


    def shift(x, by):
        return x + by


    def twice(x):
        return shift(x, x)
"""

MISTAKES = """
    @mistake(criterion="scale", replaces="scale", text="alpha was squared", fix="leave it")
    def squared(x, alpha):
        return alpha**2 * x

    @mistake(criterion="scale", replaces="shift", text="to the left", fix="add")
    def to_the_left(x, by):
        return x - by
"""

PUBLIC = """
    @pytest.mark.criterion("scale")
    @pytest.mark.parametrize("alpha", [2.0, 3.0, 5.0])
    def test_scale(learner, alpha):
        assert_array(learner.scale(np.ones(2), alpha), [alpha, alpha])

    @pytest.mark.criterion("twice")
    def test_twice(learner):
        assert_array(learner.twice(np.ones(2)), [2.0, 2.0])
"""

HIDDEN = """
    @pytest.mark.criterion("scale")
    @pytest.mark.parametrize("by", [1.0, 2.0])
    def test_shift(learner, by):
        assert_array(learner.shift(np.zeros(2), by), [by, by])

    @pytest.mark.criterion("twice")
    def test_twice_in_hiding(learner):
        assert_array(learner.twice(np.zeros(2)), [0.0, 0.0])
"""


Named = Callable[[str], dict[str, str | None]]


@pytest.fixture
def named(small_course: SmallCourse) -> Named:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN, mistakes=MISTAKES)

    def graded(source: str) -> dict[str, str | None]:
        rows = small_course.grade(source).verdict.criteria
        failures = [failure for row in rows for failure in row.failures]
        return {
            failure.test.rpartition("::")[2]: found.mistake if (found := failure.diagnosis) and found.declared else None
            for failure in failures
        }

    return graded


def changed(old: str, new: str) -> str:
    assert old in SOLUTION
    return SOLUTION.replace(old, new)


def test_a_known_mistake_is_named_in_every_test(named: Named) -> None:
    found = named(changed("alpha * x", "alpha * alpha * x"))
    assert found == dict.fromkeys(("test_scale[2.0]", "test_scale[3.0]", "test_scale[5.0]"), "squared")


def test_not_where_a_test_that_passed_would_have_failed_with_it(named: Named) -> None:
    assert named(changed("alpha * x", "(4 if alpha == 2 else alpha) * x")) == {"test_scale[2.0]": None}


def test_not_where_most_tests_fail_in_a_way_that_nothing_explains(named: Named) -> None:
    found = named(changed("alpha * x", "2 * alpha * x"))
    assert found == dict.fromkeys(("test_scale[2.0]", "test_scale[3.0]", "test_scale[5.0]"))


def test_what_another_function_of_the_row_does_wrong_is_another_matter(named: Named) -> None:
    found = named(changed("alpha * x", "2 * alpha + x").replace("x + by", "x - by"))
    assert found.pop("test_shift[1.0]") == found.pop("test_shift[2.0]") == "to-the-left"
    assert found.pop("test_twice") == "to-the-left"
    assert found == dict.fromkeys(("test_scale[2.0]", "test_scale[3.0]", "test_scale[5.0]"))


def test_a_tie_names_nothing(named: Named) -> None:
    source = changed("x + by", "x - by").replace("return shift(x, x)", "return shift(x, x) if x.any() else x + 1")
    found = named(source)
    assert found.pop("test_shift[1.0]") == found.pop("test_shift[2.0]") == "to-the-left"
    assert found == {"test_twice": None, "test_twice_in_hiding": None}


def test_not_where_it_explains_no_failure_of_its_own_row(named: Named) -> None:
    source = changed("x + by", "x + 3 * by").replace("return shift(x, x)", "return x - x")
    found = named(source)
    assert found == dict.fromkeys(("test_shift[1.0]", "test_shift[2.0]", "test_twice"))


def test_a_name_that_is_explained_leaves_nothing_to_say_of_where_it_is(named: Named, small_course: SmallCourse) -> None:
    source = changed("return shift(x, x)", "return shift_(x, x)")
    assert set(named(source)) == {"test_twice", "test_twice_in_hiding"}
    rows = small_course.grade(source).verdict.criteria
    failures = [failure for row in rows for failure in row.failures]
    assert {failure.help for failure in failures} == {"Nothing is called shift_ here. Is shift meant?"}
    assert {failure.diagnosis for failure in failures} == {None}
