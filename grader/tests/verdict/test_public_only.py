"""Public tests that pass are no pass of the stage, where the hidden ones are sealed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.outcome import Outcome, Status
from grader.submission.parsing import Problem
from grader.tests.verdict.decided import ROWS, RUN, STAGE, row, test_of, verdict
from grader.verdict import GRAVITY, Verdict, decide


class TestPublicOnly:
    """Where the hidden tests are sealed, and their key is somewhere else."""

    def decided(self, status: Status = "passed", hidden: bool = False, **more: object) -> Verdict:
        expected = [test_of(each.id, hidden=False) for each in ROWS]
        outcomes = [Outcome(test, row, False, status if row == "weights" else "passed") for test, row, _ in expected]
        return decide(STAGE, expected, outcomes, replace(RUN, public_only=not hidden), **more)  # type: ignore[arg-type]

    def test_public_tests_that_pass_are_no_pass(self) -> None:
        found = self.decided()
        assert [each.status for each in found.criteria] == ["passed"] * 3
        assert found.public_passed and not found.passed and not found.grader_fault

    @pytest.mark.parametrize("status", GRAVITY)
    def test_one_that_does_not_pass_is_told(self, status: Status) -> None:
        found = self.decided(status)
        assert not found.public_passed and row(found, "weights").status == status

    def test_a_problem_or_a_fault_is_no_pass_of_public_tests(self) -> None:
        assert not self.decided(problem=Problem("syntax", "line 1", 1, None)).public_passed
        assert not self.decided(faults=("x",)).public_passed

    def test_a_row_without_a_public_test_is_a_fault(self) -> None:
        found = decide(STAGE, [], [], replace(RUN, public_only=True))
        assert found.grader_fault and not found.public_passed

    def test_without_hidden_tests_nothing_passes_where_they_are_not_sealed(self) -> None:
        found = self.decided(hidden=True)
        assert found.grader_fault and not found.passed and not found.public_passed

    def test_a_pass_of_all_tests_is_not_called_one_of_public_tests(self) -> None:
        assert verdict().passed and not verdict().public_passed
