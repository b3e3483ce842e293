"""Which tests a mutant is held against: those that run its lines, of the first rows, the quick ones first."""

from __future__ import annotations

import pytest

from grader.authoring.aim import aimed, reach_cases
from grader.authoring.cases import MUTANT_CALL_SECONDS, Case
from grader.authoring.proof import graded, workers
from grader.authoring.trusted_runs import Reached
from grader.course.mutants import Mutant
from grader.tests.conftest import SmallCourse
from grader.tests.support.good_stage import SOLUTION, write_stage

TESTS = {"slow": 0.3, "quick": 0.1, "other": 0.2, "unseen": 0.4}
SEEN = [
    Reached("slow", "half", frozenset({24}), TESTS["slow"]),
    Reached("quick", "half", frozenset({14, 24}), TESTS["quick"]),
    Reached("other", "total", frozenset({14}), TESTS["other"]),
    Reached("unseen", "total", None, TESTS["unseen"]),
]


def aim(span: tuple[int, int] | None, seen: list[Reached] = SEEN, tests: set[str] | None = None) -> Case:
    mutant = Mutant("half", 24, "return total(x) / 2", "return total(x) / 3", "…", span)
    (case,) = aimed(
        [Case("mutants/0", "s90", "…", 7, first_failure=("half", "total"))], [mutant], seen, tests or set(TESTS)
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
    seen = [*SEEN[1:], Reached("slow", "half", frozenset({24}), seconds)]
    assert aim((24, 24), seen).call_seconds == expected * MUTANT_CALL_SECONDS
    assert aim((14, 14), seen).call_seconds == MUTANT_CALL_SECONDS


@pytest.mark.parametrize("seen", [[], SEEN[1:]], ids=["nothing", "not all"])
def test_where_a_test_was_not_looked_at_none_is_left_out(seen: list[Reached]) -> None:
    assert aim((24, 24), seen).tests is None


def test_without_a_graded_reference_none_is_left_out() -> None:
    (case,) = aimed([Case("mutants/0", "s90", "…", 7, first_failure=())], [], [], set())
    assert case.tests is None


def test_what_is_seen_is_seen_of_the_reference(small_course: SmallCourse) -> None:
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small")
    (case,) = reach_cases(small_course.stage, [7])
    assert (case.stage, case.source, case.seed, case.first_failure) == ("s90", SOLUTION, 7, None)
    with workers(small_course.course, 0):
        result = graded(case)
    assert result.verdict is None and result.outcomes == () and len(result.reached) == 4
