"""What is graded to prove a stage: the cases' names and order, and what comes back from other processes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace

import pytest

from grader.authoring import proof
from grader.authoring.proof import Case, Result
from grader.course.mutants import Mutant, mutants
from grader.course.stage import Course, Stage
from grader.errors import UnknownStage
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
        assert proof.reference_cases(stage, range(7, 9)) == [
            Case("reference", "s90", SOLUTION, 7),
            Case("reference", "s90", SOLUTION, 8),
        ]

    def test_the_stub_is_the_one_in_the_stages_folder(self, stage: Stage) -> None:
        (case,) = proof.stub_cases(stage, [7])
        assert (case.name, case.source) == ("stub", stage.module_path.read_text(encoding="utf-8"))

    def test_each_alternative_for_each_seed_also_from_an_iterator(self, stage: Stage) -> None:
        cases = proof.alternative_cases(stage, iter([7, 8]))
        assert [(case.name, case.seed) for case in cases] == [
            (f"alternatives/{name}", seed) for name in ("einsum", "loops", "products") for seed in (7, 8)
        ]
        assert cases[2].source == LOOPS

    def test_a_stage_without_alternatives_has_none(self, stage: Stage) -> None:
        elsewhere = replace(stage, hidden_root=stage.folder)
        assert proof.alternative_files(elsewhere) == [] == proof.alternative_cases(elsewhere, [7])

    def test_each_mistake_stands_behind_the_reference_and_asks_for_its_row_alone(self, stage: Stage) -> None:
        cases = proof.mistake_cases(stage, iter([7, 8]))
        assert [case.name for case in cases[::2]] == [
            f"mistakes/{name}"
            for name in ("sum-of-columns", "mean-of-rows", "sum-of-all", "mean-of-terms", "twice", "whole")
        ]
        assert [case.only for case in cases[::2]] == ["total"] * 3 + ["half"] * 3
        assert cases[0].source.startswith(SOLUTION) and cases[0].source.endswith("\ntotal = sum_of_columns\n")
        assert {case.hunt for case in cases} == {None}


class TestHunts:
    def test_rows_about_the_changed_function_come_first(self, stage: Stage) -> None:
        (case,) = proof.mutant_cases(stage, [HALF], 7)
        assert case == Case("mutants/0", "s90", HALF.source, 7, hunt=("half", "total"))

    def test_then_come_those_that_reach_it(self, stage: Stage) -> None:
        rows = tuple(
            replace(stage.criteria[0], id=name, functions=functions)
            for name, functions in [("none", ("other",)), ("half", ("half",)), ("total", ("total", "other"))]
        )
        cases = proof.mutant_cases(replace(stage, criteria=rows), [replace(HALF, function="total")], 7)
        assert cases[0].hunt == ("total", "half", "none")

    def test_a_method_is_asked_of_the_rows_about_it_or_its_class(self, stage: Stage) -> None:
        rows = tuple(
            replace(stage.criteria[0], id=name, functions=(function,))
            for name, function in [("none", "half"), ("class", "Layer"), ("other", "Layer.other"), ("own", "Layer.run")]
        )
        cases = proof.mutant_cases(replace(stage, criteria=rows), [replace(HALF, function="Layer.run")], 7)
        assert cases[0].hunt == ("class", "own", "none", "other")

    def test_they_are_numbered_in_the_order_of_the_mutants(self, stage: Stage) -> None:
        made = mutants(SOLUTION)
        cases = proof.mutant_cases(stage, made, 7)
        assert [(case.name, case.source) for case in cases] == [
            (f"mutants/{number}", mutant.source) for number, mutant in enumerate(made)
        ]


@pytest.fixture(scope="module")
def pool(course: Course) -> Iterator[Executor]:
    """One other process that knows the course."""
    with proof.workers(course, 1) as executor:
        yield executor


@pytest.fixture(scope="module")
def found(stage: Stage, pool: Executor) -> dict[str, Result]:
    """Results of another process, by name."""
    cases = [
        *proof.reference_cases(stage, [7]),
        *proof.mistake_cases(stage, [7])[-1:],
        *proof.mutant_cases(stage, [HALF, replace(HALF, source=SOLUTION)], 7),
    ]
    processes = [replace(case, isolation="process") for case in cases]
    return {result.case.name: result for result in proof.results(pool, processes)}


class TestResults:
    def test_every_case_comes_back_once(self, found: dict[str, Result]) -> None:
        assert sorted(found) == ["mistakes/whole", "mutants/0", "mutants/1", "reference"]

    def test_a_graded_case_has_its_verdict_and_every_outcome(self, found: dict[str, Result]) -> None:
        result = found["reference"]
        assert result.verdict is not None and result.verdict.passed
        assert (result.verdict.run.seed, result.verdict.run.isolation) == (7, "process")
        assert result.verdict.run.label == "stages/s90_small/small.py"
        assert {(outcome.criterion, outcome.hidden, outcome.status) for outcome in result.outcomes} == {
            (row, hidden, "passed") for row in ("total", "half") for hidden in (False, True)
        }

    def test_a_mistake_is_named_and_only_its_row_is_graded(self, found: dict[str, Result]) -> None:
        result = found["mistakes/whole"]
        assert result.verdict is not None
        (row,) = result.verdict.criteria
        assert (row.id, row.status) == ("half", "failed")
        assert {failure.diagnosis and failure.diagnosis.mistake for failure in row.failures} == {"whole"}

    def test_a_hunt_ends_with_the_first_test_that_does_not_pass(self, found: dict[str, Result]) -> None:
        result = found["mutants/0"]
        assert result.verdict is None
        (outcome,) = result.outcomes
        assert (outcome.criterion, outcome.status) == ("half", "failed")

    def test_aimed_mutants_are_hunted_together_and_each_comes_back(self, stage: Stage, pool: Executor) -> None:
        sources = [HALF.source, SOLUTION, HALF.source]
        cases = proof.mutant_cases(stage, [replace(HALF, source=each) for each in sources], 7)
        tests = "test_hidden.py::test_half_of_any_rows", "test_small.py::test_half_of_two"
        ended = {
            result.case.name: [outcome.test for outcome in result.outcomes]
            for result in proof.results(pool, [replace(each, isolation="process", tests=tests) for each in cases])
        }
        assert ended == {"mutants/0": [tests[0]], "mutants/1": [], "mutants/2": [tests[0]]}

    @pytest.mark.parametrize(("seconds", "status"), [(2.0, []), (600.0, ["timed_out"])], ids=["slow", "hanging"])
    def test_a_mutant_that_ran_out_of_time_has_a_second_chance(
        self, stage: Stage, pool: Executor, seconds: float, status: list[str]
    ) -> None:
        source = SOLUTION.replace("return total(x) / 2", f"import time; time.sleep({seconds}); return total(x) / 2")
        (case,) = proof.mutant_cases(stage, [replace(HALF, source=source)], 7)
        case = replace(case, isolation="process", tests=("test_small.py::test_half_of_two",), call_seconds=1.0)
        (result,) = proof.results(pool, [case])
        assert [outcome.status for outcome in result.outcomes] == status

    def test_a_hunt_that_catches_nothing_has_no_outcome(self, found: dict[str, Result]) -> None:
        assert (found["mutants/1"].verdict, found["mutants/1"].outcomes) == (None, ())

    def test_a_mutant_that_never_ends_is_caught_by_the_clock_before_the_stages_own_limit(
        self, course: Course, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert stage.limits.call_seconds > proof.MUTANT_CALL_SECONDS
        monkeypatch.setattr(proof, "MUTANT_CALL_SECONDS", 0.5)
        monkeypatch.setattr(proof, "_course", [course])
        hanging = replace(HALF, source=SOLUTION.replace("return total(x) / 2", "while True: pass"))
        (case,) = proof.mutant_cases(stage, [hanging], 7)
        (outcome,) = proof.graded(replace(case, isolation="process")).outcomes
        assert outcome.status == "timed_out" and "within 0.5 s" in outcome.message

    def test_a_stage_that_the_course_lacks_is_an_error_here(self, pool: Executor) -> None:
        with pytest.raises(UnknownStage):
            list(proof.results(pool, [Case("reference", "s91", SOLUTION, 7)]))
