"""What is believed of a grading job's counts by kind, and how a verdict of an earlier grader is decided now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.results import read
from grader.report.document import dumps, verdict_document
from grader.tests.classroom.test_results import TIERS, left, of, stage_of
from grader.tests.support.verdicts import PASSED, TEXTBOOK


@pytest.mark.parametrize(
    "kinds",
    [
        None, [], {"taste": {"tests_passed": 1, "tests_total": 1}}, {"values": 3},
        {"values": {"tests_passed": 2, "tests_total": 1}}, {"values": {"tests_passed": True, "tests_total": 1}},
        {"values": {"tests_passed": 12, "tests_total": 12}}, {"refusals": {"tests_passed": 0, "tests_total": 2}},
    ],
)  # fmt: skip
def test_counts_by_kind_that_do_not_fit_are_no_verdict(kinds: Any, tmp_path: Path) -> None:
    verdict = replace(PASSED, criteria=(TEXTBOOK,))
    document = verdict_document(verdict)
    document["criteria"][0]["kinds"] = kinds
    assert "left no verdict" in read(left(tmp_path, dumps(document)), stage_of(verdict), TIERS).why


def test_a_row_that_lacks_refusals_passes_and_is_not_robust(tmp_path: Path) -> None:
    found = of(replace(PASSED, criteria=(TEXTBOOK,)), tmp_path)
    assert (found.why, found.passed, found.rows[0].status, found.rows[0].robust) == ("", True, "passed", False)


@pytest.mark.parametrize("passed", [True, False])
def test_the_verdict_of_an_earlier_grader_is_decided_by_what_counts_now(passed: bool, tmp_path: Path) -> None:
    row = PASSED.criteria[0] if passed else replace(TEXTBOOK, status="failed")
    verdict = replace(PASSED, passed=passed, criteria=(row,))
    document = verdict_document(verdict) | {"schema": 1}
    for key in ("robust", "passes", "counts"):
        del document[key]
    for key in ("robust", "robustness"):
        del document["criteria"][0][key]
    found = read(left(tmp_path, dumps(document)), stage_of(verdict), TIERS)
    assert (found.why, found.passed, found.rows[0].robust) == ("", True, passed)
    strict = read(tmp_path, replace(stage_of(verdict), passes="all"), TIERS)
    assert (strict.why, strict.passed) == ("", passed)
