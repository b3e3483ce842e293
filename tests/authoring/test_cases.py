"""The modules that prove a stage, and the tests that are aimed at each mutant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.authoring import cases
from grader.authoring.cases import MUTANT_CALL_SECONDS, ProofCase, aimed, reach_cases
from grader.authoring.proof import graded, workers
from grader.authoring.trusted_runs import LinesReached
from grader.course.mutants import Mutant, mutants
from grader.course.stage import Course, Stage
from tests.conftest import SmallCourse
from tests.support.good_stage import LOOPS, SOLUTION, write_stage

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
            ProofCase("reference", "s90", SOLUTION, 7),
            ProofCase("reference", "s90", SOLUTION, 8),
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
        assert case == ProofCase("mutants/0", "s90", HALF.source, 7, first_failure=("half", "total"))

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


TESTS = {"slow": 0.3, "quick": 0.1, "other": 0.2, "unseen": 0.4}
SEEN = [
    LinesReached("slow", "half", frozenset({24}), TESTS["slow"]),
    LinesReached("quick", "half", frozenset({14, 24}), TESTS["quick"]),
    LinesReached("other", "total", frozenset({14}), TESTS["other"]),
    LinesReached("unseen", "total", None, TESTS["unseen"]),
]


def aim(span: tuple[int, int] | None, seen: list[LinesReached] = SEEN, tests: set[str] | None = None) -> ProofCase:
    mutant = Mutant("half", 24, "return total(x) / 2", "return total(x) / 3", "…", span)
    (case,) = aimed(
        [ProofCase("mutants/0", "s90", "…", 7, first_failure=("half", "total"))], [mutant], seen, tests or set(TESTS)
    )
    return case


def test_only_tests_that_run_the_changed_lines_can_tell_and_the_unseen() -> None:
    assert aim((24, 24)).tests == ("quick", "slow", "unseen")
    assert aim((14, 14)).tests == ("quick", "other", "unseen")
    assert aim((30, 31)).tests == ("unseen",)


def test_what_is_outside_of_functions_may_matter_to_any() -> None:
    assert aim(None).tests == ("quick", "slow", "other", "unseen")


@pytest.mark.parametrize(("seconds", "expected"), [(0.3, 1), (1.6, 1), (1.7, 2), (4.0, 4), (30.0, 32)])
def test_a_call_may_take_three_times_as_long_as_the_slowest_of_its_tests(seconds: float, expected: int) -> None:
    seen = [*SEEN[1:], LinesReached("slow", "half", frozenset({24}), seconds)]
    assert aim((24, 24), seen).call_seconds == expected * MUTANT_CALL_SECONDS
    assert aim((14, 14), seen).call_seconds == MUTANT_CALL_SECONDS


@pytest.mark.parametrize("seen", [[], SEEN[1:]], ids=["nothing", "not all"])
def test_where_a_test_was_not_looked_at_none_is_left_out(seen: list[LinesReached]) -> None:
    assert aim((24, 24), seen).tests is None


def test_without_a_graded_reference_none_is_left_out() -> None:
    (case,) = aimed([ProofCase("mutants/0", "s90", "…", 7, first_failure=())], [], [], set())
    assert case.tests is None


def test_what_is_seen_is_seen_of_the_reference(small_course: SmallCourse) -> None:
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small")
    (case,) = reach_cases(small_course.stage, [7])
    assert (case.stage, case.source, case.seed, case.first_failure) == ("s90", SOLUTION, 7, None)
    with workers(small_course.course, 0):
        result = graded(case)
    assert result.verdict is None and result.outcomes == () and len(result.reached) == 4
