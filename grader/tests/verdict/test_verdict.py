"""A stage and outcomes make a verdict: a table of cases, no process and no file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.outcome import Outcome, Status, Where
from grader.submission.parsing import Problem
from grader.tests.verdict.decided import EXPECTED, RUN, STAGE, A, row, test_of, verdict
from grader.verdict import GRAVITY, CriterionResult, Verdict, decide


def test_all_passed() -> None:
    found = verdict()
    assert found.passed and not found.grader_fault and found.problem is None
    assert [(each.id, each.status, each.tests_passed, each.tests_total) for each in found.criteria] == [
        ("scores", "passed", 2, 2), ("weights", "passed", 2, 2), ("attention", "passed", 2, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("status", GRAVITY)
@pytest.mark.parametrize("hidden", [True, False])
def test_one_test_that_did_not_pass_keeps_its_row_from_passing(status: Status, hidden: bool) -> None:
    test, _, _ = test_of("weights", hidden)
    found = verdict({test: status})
    assert not found.passed and row(found, "weights").status == status
    assert (row(found, "weights").tests_passed, row(found, "weights").tests_total) == (1, 2)
    assert [failure.test for failure in row(found, "weights").failures] == [test]
    assert row(found, "scores").status == "passed"
    assert found.grader_fault == (status == "grader_fault")


@pytest.mark.parametrize(("worse", "better"), [(a, b) for i, a in enumerate(GRAVITY) for b in GRAVITY[i + 1 :]])
def test_the_gravest_outcome_is_the_rows(worse: Status, better: Status) -> None:
    found = verdict({test_of("scores", False)[0]: better, test_of("scores", True)[0]: worse})
    assert row(found, "scores").status == worse


class TestNothingPassesByDefault:
    def test_no_tests_at_all(self) -> None:
        found = decide(STAGE, [], [], RUN)
        assert not found.passed and found.grader_fault
        assert {each.status for each in found.criteria} == {"grader_fault"}

    def test_a_test_that_was_not_finished(self) -> None:
        outcomes = [Outcome(test, name, hidden, "passed") for test, name, hidden in EXPECTED[:-1]]
        found = decide(STAGE, EXPECTED, outcomes, RUN)
        assert row(found, "attention").status == "grader_fault" and not found.passed
        assert row(found, "attention").failures[0].message == "this test did not finish"

    def test_only_public_tests(self) -> None:
        expected = [entry for entry in EXPECTED if not entry[2]]
        found = decide(STAGE, expected, [Outcome(test, name, hidden, "passed") for test, name, hidden in expected], RUN)
        assert not found.passed and {each.status for each in found.criteria} == {"grader_fault"}

    def test_outcomes_that_nobody_expected_count_for_nothing(self) -> None:
        found = decide(STAGE, [], [Outcome(test, name, hidden, "passed") for test, name, hidden in EXPECTED], RUN)
        assert not found.passed

    def test_a_stage_without_rows(self) -> None:
        assert not decide(Stage("s90", Path("s90_x"), "t", "m.py", (), ()), [], [], RUN).passed

    def test_a_fault_of_the_course(self) -> None:
        found = verdict(faults=("test_x.py cannot be collected",))
        assert not found.passed and found.grader_fault

    def test_a_problem_of_the_module(self) -> None:
        found = verdict(problem=Problem("syntax", "a colon is missing", 3, None))
        assert not found.passed and not found.grader_fault
        assert {(each.status, each.waits_for, each.failures) for each in found.criteria} == {
            ("blocked", ("the module",), ())
        }

    def test_a_problem_before_any_test_was_collected(self) -> None:
        found = decide(STAGE, [], [], RUN, problem=Problem("syntax", "a colon is missing", 3, None))
        assert not found.passed and not found.grader_fault and len(found.criteria) == 3


def test_one_row_only() -> None:
    found = verdict({test_of("scores")[0]: "failed"}, only="weights")
    assert [each.id for each in found.criteria] == ["weights"] and found.passed


def test_a_failure_carries_what_a_learner_is_told() -> None:
    test, name, hidden = EXPECTED[1]
    told = Outcome(
        test, name, hidden, "failed", "too large", "scores(x)", Where("small.py", 3), None, (A,), ("printed: x",)
    )
    others = [Outcome(t, n, h, "passed") for t, n, h in EXPECTED if t != test]
    (failure,) = row(decide(STAGE, EXPECTED, [told, *others], RUN), "scores").failures
    assert (failure.call, failure.message, failure.where, failure.diagnosis) == (
        "scores(x)",
        "too large",
        Where("small.py", 3),
        A,
    )
    assert failure.hidden and failure.notes == ("printed: x",)


@pytest.mark.parametrize(
    ("statuses", "untouched"),
    [
        (("not_started", "blocked"), True),
        (("not_started", "failed"), False),
        (("passed", "not_started"), False),
        ((), False),
    ],
)
def test_a_module_of_which_nothing_is_written_is_untouched(statuses: tuple[Status, ...], untouched: bool) -> None:
    rows = tuple(CriterionResult(status, status, status, 0, 1) for status in statuses)
    verdict = Verdict("s90", "Small things", False, rows, RUN)
    assert verdict.is_untouched is untouched
    assert not replace(verdict, problem=Problem("syntax", "invalid", 1, None)).is_untouched  # somebody wrote that
