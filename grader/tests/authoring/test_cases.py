"""What is graded to prove a stage: the cases' names, their order, and which of them need a worker."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.authoring import cases
from grader.authoring.cases import Case
from grader.course.mutants import Mutant, mutants
from grader.course.stage import Course, Stage
from grader.tests.conftest import SmallCourse
from grader.tests.support.good_stage import LOOPS, SOLUTION, write_stage

HALF = Mutant("half", 24, "return total(x) / 2", "return total(x) / 3", SOLUTION.replace("/ 2", "/ 3"))


@pytest.fixture(scope="module")
def course(small_course: SmallCourse) -> Course:
    """A course of the one small stage that lacks nothing."""
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small")
    return small_course.course


@pytest.fixture(scope="module")
def stage(course: Course) -> Stage:
    """The stage itself."""
    return course.stages[0]


class TestCases:
    def test_the_reference_once_a_seed(self, stage: Stage) -> None:
        assert cases.reference_cases(stage, range(7, 9)) == [
            Case("reference", "s90", SOLUTION, 7),
            Case("reference", "s90", SOLUTION, 8),
        ]

    def test_with_the_first_seeds_what_is_right_goes_through_a_worker_and_with_others_it_need_not(
        self, stage: Stage
    ) -> None:
        made = [*cases.reference_cases(stage, range(7, 10)), *cases.alternative_cases(stage, range(7, 10), 1)]
        assert [(case.seed, case.worker) for case in made] == [(7, True), (8, True), (9, False)] * 2

    def test_the_stub_is_the_one_in_the_stages_folder(self, stage: Stage) -> None:
        (case,) = cases.stub_cases(stage, [7])
        assert (case.name, case.source) == ("stub", stage.module_path.read_text(encoding="utf-8"))

    def test_each_alternative_for_each_seed_also_from_an_iterator(self, stage: Stage) -> None:
        made = cases.alternative_cases(stage, iter([7, 8]))
        assert [(case.name, case.seed) for case in made] == [
            (f"alternatives/{name}", seed) for name in ("einsum", "loops", "products") for seed in (7, 8)
        ]
        assert made[2].source == LOOPS

    def test_a_stage_without_alternatives_has_none(self, stage: Stage) -> None:
        elsewhere = replace(stage, hidden_root=stage.folder)
        assert cases.alternative_files(elsewhere) == [] == cases.alternative_cases(elsewhere, [7])

    def test_each_mistake_stands_behind_the_reference(self, stage: Stage) -> None:
        made = cases.mistake_cases(stage, iter([7, 8]))
        assert [case.name for case in made[::2]] == [
            f"mistakes/{name}"
            for name in ("sum-of-columns", "mean-of-rows", "sum-of-all", "mean-of-terms", "twice", "whole")
        ]
        assert {case.only for case in made} == {None}
        assert made[0].source.startswith(SOLUTION) and made[0].source.endswith("\ntotal = sum_of_columns\n")
        assert {case.first_failure for case in made} == {None}


class TestHunts:
    def test_rows_about_the_changed_function_come_first(self, stage: Stage) -> None:
        (case,) = cases.mutant_cases(stage, [HALF], 7)
        assert case == Case("mutants/0", "s90", HALF.source, 7, first_failure=("half", "total"))

    def test_then_come_those_that_reach_it(self, stage: Stage) -> None:
        rows = tuple(
            replace(stage.criteria[0], id=name, functions=functions)
            for name, functions in [("none", ("other",)), ("half", ("half",)), ("total", ("total", "other"))]
        )
        made = cases.mutant_cases(replace(stage, criteria=rows), [replace(HALF, function="total")], 7)
        assert made[0].first_failure == ("total", "half", "none")

    def test_a_method_is_asked_of_the_rows_about_it_or_its_class(self, stage: Stage) -> None:
        rows = tuple(
            replace(stage.criteria[0], id=name, functions=(function,))
            for name, function in [("none", "half"), ("class", "Layer"), ("other", "Layer.other"), ("own", "Layer.run")]
        )
        made = cases.mutant_cases(replace(stage, criteria=rows), [replace(HALF, function="Layer.run")], 7)
        assert made[0].first_failure == ("class", "own", "none", "other")

    def test_they_are_numbered_in_the_order_of_the_mutants(self, stage: Stage) -> None:
        made = mutants(SOLUTION)
        first_failures = cases.mutant_cases(stage, made, 7)
        assert [(case.name, case.source) for case in first_failures] == [
            (f"mutants/{number}", mutant.source) for number, mutant in enumerate(made)
        ]
