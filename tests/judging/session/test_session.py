"""How each test of a stage ends: nothing passes by default, and each row has the status that its tests give it."""

from __future__ import annotations

import pytest

from grader.isolation import tiers
from tests.conftest import SmallCourse
from tests.judging.session.doubling import SOLUTION, changed
from tests.pace.matrix import why_missing

pytestmark = pytest.mark.usefixtures("brief_search")


class TestLearners:
    @pytest.mark.parametrize("isolation", tiers.TIERS)
    def test_a_correct_module_passes(self, course: SmallCourse, isolation: tiers.Tier) -> None:
        if reason := why_missing(isolation):
            pytest.skip(f"tier {isolation} is missing here: {reason}")
        graded = course.grade(SOLUTION, isolation=isolation)
        assert graded.verdict.passed and not graded.verdict.grader_fault
        assert {row.id: (row.tests_passed, row.tests_total) for row in graded.verdict.criteria} == {
            "double": (4, 4),
            "quadruple": (1, 1),
            "fill": (1, 1),
        }
        assert (graded.verdict.run.isolation, graded.verdict.run.seed) == (isolation, 1)

    def test_without_fork(self, course: SmallCourse) -> None:
        assert course.grade(SOLUTION, fork=False).verdict.passed

    def test_a_wrong_value(self, course: SmallCourse) -> None:
        graded = course.grade(changed("return 2 * x", "return 3 * x"))
        found = graded.outcomes["test_array"]
        assert (
            found.status == "failed" and found.call == "double(x: float64 (batch 2, features 3) [[0, 1, 2], [3, 4, 5]])"
        )
        assert found.where is not None and found.where.line == 5 and found.where.file.endswith("handed_in.py")
        assert (
            graded.row("double") == "failed" and graded.row("quadruple") == "blocked" and graded.row("fill") == "passed"
        )
        assert not graded.verdict.passed

    def test_what_is_not_written_is_not_started_and_what_needs_it_waits(self, course: SmallCourse) -> None:
        graded = course.grade(changed("return 2 * x", "raise NotImplementedError('double')"))
        assert (graded.outcomes["test_array"].status, graded.row("double")) == ("not_started", "not_started")
        waiting = graded.outcomes["test_quadruple"]
        assert (waiting.status, waiting.waits_on, graded.row("quadruple")) == ("blocked", "double", "blocked")
        assert next(row.waits_for for row in graded.verdict.criteria if row.id == "quadruple") == ("double",)

    def test_a_helper_of_the_learners_own_that_is_not_written(self, course: SmallCourse) -> None:
        source = (
            changed("return 2 * x", "return helper(x)") + "\n    def helper(x):\n        raise NotImplementedError\n"
        )
        found = course.grade(source).outcomes["test_array"]
        assert (found.status, found.waits_on) == ("blocked", "helper")

    def test_a_function_that_is_missing(self, course: SmallCourse) -> None:
        graded = course.grade(changed("def fill", "def fil"))
        assert (
            graded.outcomes["test_fill"].status == "failed"
            and "does not define fill" in graded.outcomes["test_fill"].message
        )
        assert graded.row("double") == "passed"

    def test_an_argument_changed_in_place(self, course: SmallCourse) -> None:
        """It fails the test that it was found in; constants and parameters are as they were for everybody else."""
        graded = course.grade(changed("return 2 * x", "x *= 2; return x"))
        for name in ("test_array", "test_constant_is_as_it_was", "test_parameter[x0]", "test_random"):
            assert graded.outcomes[name].status == "failed", graded.outcomes[name]
        assert "double changed its argument x in place" in graded.outcomes["test_array"].message
        assert "changed its argument x in place" in graded.outcomes["test_constant_is_as_it_was"].message
        assert graded.outcomes["test_fill"].status == "passed" and not graded.verdict.grader_fault

    def test_one_row_only(self, course: SmallCourse) -> None:
        graded = course.grade(SOLUTION, only="fill")
        assert [row.id for row in graded.verdict.criteria] == ["fill"] and list(graded.outcomes) == ["test_fill"]

    def test_the_seed_makes_the_inputs(self, course: SmallCourse) -> None:
        printing = changed("return 2 * x", "print(x.ravel()[0]); return 2 * x")
        notes = [course.grade(printing, seed=seed).outcomes["test_random"].notes for seed in (1, 1, 2)]
        assert notes[0] == notes[1] != notes[2]
