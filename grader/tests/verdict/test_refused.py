"""A row whose functions reach what the stage forbids fails, whatever its tests found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.outcome import Outcome, Status, Where
from grader.submission.parsing import Problem
from grader.tests.verdict.decided import EXPECTED, FORBIDDEN, LEADS, RUN, STAGE, row, test_of, verdict
from grader.verdict import GRAVITY, SOURCE, CriterionResult, Failure, decide


class TestRefused:
    """Rows whose functions reach what the stage forbids."""

    def test_it_fails_with_the_problem_whatever_its_tests_found(self) -> None:
        found = verdict(refused={"weights": FORBIDDEN})
        assert not found.passed and found.problem is None and not found.grader_fault
        message = "line 3: @ is not allowed\nWrite it yourself."
        failure = Failure(SOURCE, False, "failed", "", message, None, Where("small.py", 3))
        assert row(found, "weights") == CriterionResult("weights", "gives weights", "failed", 0, 2, (failure,))
        assert (row(found, "scores").status, row(found, "attention").status) == ("passed", "passed")

    def test_a_row_that_fails_behind_it_waits_for_it(self) -> None:
        found = verdict({test_of("attention")[0]: "failed"}, refused={"weights": FORBIDDEN}, reaches=LEADS)
        assert (row(found, "attention").status, row(found, "attention").waits_for) == ("blocked", ("weights",))

    @pytest.mark.parametrize("status", GRAVITY)
    def test_it_fails_whatever_became_of_its_tests(self, status: Status) -> None:
        found = verdict({test_of("weights")[0]: status}, refused={"weights": FORBIDDEN})
        assert row(found, "weights").status == "failed" and not found.grader_fault

    def test_a_problem_of_the_whole_module_comes_first(self) -> None:
        found = verdict(problem=Problem("missing", "no function", None, None), refused={"weights": FORBIDDEN})
        assert {each.status for each in found.criteria} == {"blocked"}

    def test_another_row_that_alone_is_asked_for_is_not_concerned(self) -> None:
        assert verdict(only="scores", refused={"weights": FORBIDDEN}).passed
        assert not verdict(only="weights", refused={"weights": FORBIDDEN}).passed

    def test_public_tests_alone_do_not_pass_it(self) -> None:
        run = replace(RUN, public_only=True)
        expected = [entry for entry in EXPECTED if not entry[2]]
        outcomes = [Outcome(test, name, hidden, "passed") for test, name, hidden in expected]
        assert decide(STAGE, expected, outcomes, run).public_passed
        assert not decide(STAGE, expected, outcomes, run, refused={"weights": FORBIDDEN}).public_passed
