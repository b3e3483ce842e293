"""What is graded to prove a stage: the cases' names and order, and what comes back from other processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace

import pytest

from grader.authoring import cases, proof
from grader.authoring.cases import CaseResult, ProofCase
from grader.authoring.trusted_runs import NAME
from grader.course.mutants import Mutant
from grader.course.stage import Course, Stage
from grader.errors import UnknownStage
from grader.isolation import tiers
from grader.judging import bounds
from tests.conftest import SmallCourse
from tests.support.good_stage import SOLUTION, write_stage

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


@pytest.fixture(scope="module")
def pool(course: Course) -> Iterator[Executor]:
    """One other process that knows the course."""
    with proof.workers(course, 1) as executor:
        yield executor


@pytest.fixture(scope="module")
def found(stage: Stage, pool: Executor) -> dict[str, CaseResult]:
    """Results of another process, by name."""
    made = [
        *cases.reference_cases(stage, [7]),
        *cases.mistake_cases(stage, [7])[-1:],
        *cases.mutant_cases(stage, [HALF, replace(HALF, source=SOLUTION)], 7),
    ]
    processes = [replace(case, isolation="process") for case in made]
    return {result.case.name: result for result in proof.results(pool, processes)}


class TestResults:
    @pytest.mark.full_matrix("grader/judging")
    def test_every_case_comes_back_once(self, found: dict[str, CaseResult]) -> None:
        assert sorted(found) == ["mistakes/whole", "mutants/0", "mutants/1", "reference"]

    @pytest.mark.skipif(not tiers.FORKS, reason="a plan is made where judges are forked")
    def test_how_many_tests_of_an_alternative_stray_from_the_plan_is_counted(
        self, stage: Stage, pool: Executor
    ) -> None:
        (case,) = cases.plan_cases(stage, [7])
        (result,) = proof.results(pool, [replace(case, isolation="process")])
        assert result.planned is not None
        assert result.planned.tests > 0 and set(result.planned.strayed) == {"loops", "einsum", "products"}
        assert all(0 <= count <= result.planned.tests for count in result.planned.strayed.values())

    def test_a_graded_case_has_its_verdict_and_every_outcome(self, found: dict[str, CaseResult]) -> None:
        result = found["reference"]
        assert result.verdict is not None and result.verdict.passed
        assert (result.verdict.run.seed, result.verdict.run.isolation) == (7, "process")
        assert result.verdict.run.label == "stages/s90_small/small.py"
        assert {(outcome.criterion, outcome.hidden, outcome.status) for outcome in result.outcomes} == {
            (row, hidden, "passed") for row in ("total", "half") for hidden in (False, True)
        }

    def test_a_mistake_is_named_in_its_row(self, found: dict[str, CaseResult]) -> None:
        result = found["mistakes/whole"]
        assert result.verdict is not None
        row = next(row for row in result.verdict.criteria if row.id == "half")
        assert row.status == "failed"
        assert {failure.diagnosis and failure.diagnosis.mistake for failure in row.failures} == {"whole"}

    def test_a_hunt_ends_with_the_first_test_that_does_not_pass(self, found: dict[str, CaseResult]) -> None:
        result = found["mutants/0"]
        assert result.verdict is None
        (outcome,) = result.outcomes
        assert (outcome.criterion, outcome.status) == ("half", "failed")

    def test_aimed_mutants_are_hunted_together_and_each_comes_back(self, stage: Stage, pool: Executor) -> None:
        sources = [HALF.source, SOLUTION, HALF.source]
        made = cases.mutant_cases(stage, [replace(HALF, source=each) for each in sources], 7)
        tests = "test_hidden.py::test_half_of_any_rows", "test_small.py::test_half_of_two"
        ended = {
            result.case.name: [outcome.test for outcome in result.outcomes]
            for result in proof.results(pool, [replace(each, isolation="process", tests=tests) for each in made])
        }
        assert ended == {"mutants/0": [tests[0]], "mutants/1": [], "mutants/2": [tests[0]]}

    @pytest.mark.full_matrix("grader/judging")
    @pytest.mark.parametrize(("seconds", "status"), [(2.0, []), (600.0, ["timed_out"])], ids=["slow", "hanging"])
    def test_a_mutant_that_ran_out_of_time_has_a_second_chance(
        self, stage: Stage, pool: Executor, seconds: float, status: list[str]
    ) -> None:
        source = SOLUTION.replace("return total(x) / 2", f"import time; time.sleep({seconds}); return total(x) / 2")
        (case,) = cases.mutant_cases(stage, [replace(HALF, source=source)], 7)
        case = replace(case, isolation="process", tests=("test_small.py::test_half_of_two",), call_seconds=1.0)
        (result,) = proof.results(pool, [case])
        assert [outcome.status for outcome in result.outcomes] == status

    def test_a_hunt_that_catches_nothing_has_no_outcome(self, found: dict[str, CaseResult]) -> None:
        assert (found["mutants/1"].verdict, found["mutants/1"].outcomes) == (None, ())

    def test_a_mutant_that_never_ends_is_caught_by_the_clock_before_the_stages_own_limit(
        self, course: Course, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert stage.limits.call_seconds > cases.MUTANT_CALL_SECONDS
        monkeypatch.setattr(proof, "MUTANT_CALL_SECONDS", 0.5)
        monkeypatch.setattr(proof, "_course", [course])
        hanging = replace(HALF, source=SOLUTION.replace("return total(x) / 2", "while True: pass"))
        (case,) = cases.mutant_cases(stage, [hanging], 7)
        (outcome,) = proof.graded(replace(case, isolation="process")).outcomes
        assert outcome.status == "timed_out" and "within 0.5 s" in outcome.message

    def test_what_needs_no_worker_goes_without_one_and_what_fails_so_has_one_all_the_same(
        self, stage: Stage, pool: Executor
    ) -> None:
        elsewhere = SOLUTION.replace("/ 2", f"/ (3 if __name__ == {NAME!r} else 2)")
        made = [
            ProofCase("alternatives/x", "s90", text, 7, None, "process", worker=False) for text in (SOLUTION, elsewhere)
        ]
        found = {result.case.source: result.verdict for result in proof.results(pool, made)}
        seen = [found[text] for text in (SOLUTION, elsewhere)]
        assert [each and (each.passed, each.run.isolation) for each in seen] == [(True, "none"), (True, "process")]

    def test_its_processes_have_one_thread_each_unless_the_user_says_otherwise(self, pool: Executor) -> None:
        asked = [pool.submit(os.getenv, name).result() for name in bounds.THREADS]
        assert asked == [os.environ.get(name, "1") for name in bounds.THREADS]

    def test_a_stage_that_the_course_lacks_is_an_error_here(self, pool: Executor) -> None:
        with pytest.raises(UnknownStage):
            list(proof.results(pool, [ProofCase("reference", "s91", SOLUTION, 7)]))
