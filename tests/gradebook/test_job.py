"""What a grading of the pool tells of the grader's own faults."""

from __future__ import annotations

from dataclasses import replace

from grader.gradebook.job import faults
from tests.support.verdicts import CRASH, PUBLIC, SCORES, SPLIT, VERDICT


def test_a_row_whose_test_is_wrong_says_which_and_why() -> None:
    wrong = replace(PUBLIC, status="grader_fault", message="the reference solution does not pass this test either")
    row = replace(SPLIT, status="grader_fault", failures=(PUBLIC, wrong, replace(wrong, message="another")))
    verdict = replace(VERDICT, criteria=(SCORES, row, CRASH), faults=("no memory",))
    assert [*faults(verdict)] == ["no memory", f"criterion split-heads, {wrong.test}: {wrong.message}"]
    assert [*faults(replace(VERDICT, criteria=(SPLIT, CRASH)))] == []
