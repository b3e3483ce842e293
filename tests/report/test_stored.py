"""Verdict documents of any version, decided by the tests that count now."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources
from typing import Any, get_args

import jsonschema
import pytest

from grader.criterion import Passes
from grader.outcome import Status
from grader.report.document import verdict_document
from grader.report.stored import decided
from grader.submission.parsing import Problem
from grader.verdict import CriterionResult, Verdict
from tests.support.verdicts import CRASH, FORWARD, PASSED, RIGHT, SCORES, SPLIT, TEXTBOOK, VERDICT

SCHEMA: dict[str, Any] = json.loads(resources.files("grader.report").joinpath("verdict.schema.json").read_text("utf-8"))


def first(*rows: CriterionResult, **changes: Any) -> dict[str, Any]:
    """Return the document that version 1 made of rows: refusals and the dtype counted like any other test."""
    rows = tuple(replace(row, status="failed") if row.lacks_robustness else row for row in rows)
    verdict = replace(VERDICT, criteria=rows, passed=all(row.status == "passed" for row in rows), **changes)
    found = verdict_document(verdict) | {"schema": 1}
    for key in ("robust", "passes", "counts"):
        del found[key]
    for row in found["criteria"]:
        del row["robust"], row["robustness"]
        row["failures"] = [_diagnosed(failure) for failure in row["failures"]]
    return found


def _diagnosed(failure: dict[str, Any]) -> dict[str, Any]:
    """Return a failure as versions 1 and 2 had it."""
    cause, why = failure["cause"], failure["unexplained"]
    kept = {key: value for key, value in failure.items() if key not in ("cause", "unexplained")}
    names = ("criterion", "text", "fix", "function", "line")
    found = cause and {"mistake": cause["id"], **{name: cause[name] for name in names}}
    return {**kept, "diagnosis": found, "unexplained": why and why["reason"]}


def statuses(document: dict[str, Any], by: Passes = "mathematics") -> list[str]:
    return [row["status"] for row in decided(document, by)["criteria"]]


def test_version_1_is_decided_as_a_verdict_of_now() -> None:
    rows = (SCORES, TEXTBOOK, SPLIT, RIGHT, CRASH)
    now = verdict_document(replace(VERDICT, criteria=rows))
    assert decided(first(*rows), "mathematics") == now
    jsonschema.Draft202012Validator(SCHEMA).validate(decided(first(*rows), "mathematics"))
    assert statuses(first(*rows), "all") == ["passed", "failed", "failed", "failed", "crashed"]


def test_version_2_names_its_causes_as_now() -> None:
    failure = replace(SPLIT.failures[0], diagnosis=None, unexplained="the search for a cause took 60 s")
    now = verdict_document(replace(VERDICT, criteria=(SPLIT, replace(SPLIT, failures=(failure,)))))
    before = {**now, "schema": 2}
    before["criteria"] = [
        {**row, "failures": [_diagnosed(each) for each in row["failures"]]} for row in now["criteria"]
    ]
    assert before["criteria"][0]["failures"][0]["diagnosis"]["mistake"]
    assert decided(before, now["passes"]) == now
    assert now["criteria"][1]["failures"][0]["unexplained"] == {"reason": "the search for a cause took 60 s"}


def test_a_stage_that_lacked_only_refusals_passes() -> None:
    found = decided(first(SCORES, TEXTBOOK), "mathematics")
    assert (found["passed"], found["robust"], found["counts"]) == (
        True, False, {"criteria": 2, "passed": 2, "robust": 1},
    )  # fmt: skip
    assert not decided(first(SCORES, TEXTBOOK), "all")["passed"]


@pytest.mark.parametrize("by", ["mathematics", "all"])
def test_nothing_that_passed_is_lost(by: Passes) -> None:
    assert decided(first(SCORES, replace(TEXTBOOK, tests_passed=12, kinds=())), by)["passed"]


def test_what_passed_is_decided_again_where_all_tests_count() -> None:
    document = verdict_document(replace(PASSED, criteria=(SCORES, TEXTBOOK)))
    found = decided(document, "all")
    assert (found["passed"], found["passes"], found["counts"]["passed"]) == (False, "all", 1)
    assert (found["criteria"][1]["status"], found["criteria"][1]["values_right"]) == ("failed", True)
    assert decided(found, "mathematics") == document  # and back
    crashed = replace(TEXTBOOK, failures=(replace(TEXTBOOK.failures[0], status="crashed"),))
    assert statuses(verdict_document(replace(PASSED, criteria=(crashed,))), "all") == ["crashed"]
    withheld = verdict_document(replace(PASSED, criteria=(replace(TEXTBOOK, failures=()),)))
    assert statuses(withheld, "all") == ["failed"]


@pytest.mark.parametrize("by", ["mathematics", "all"])
@pytest.mark.parametrize("status", get_args(Status))
def test_what_is_decided_stays_as_it_is_when_it_is_decided_again(status: Status, by: Passes) -> None:
    rows = (SCORES, replace(TEXTBOOK, status=status), FORWARD)
    once = decided(first(*rows), by)
    assert decided(once, by) == decided({**once, "passes": None}, by) == once


@pytest.mark.parametrize(
    "changes",
    [
        {"problem": Problem("syntax", "line 3", 3, None)},
        {"faults": ("ours",)},
        {"run": replace(VERDICT.run, public_only=True)},
    ],
)
def test_what_was_not_graded_does_not_pass(changes: dict[str, Any]) -> None:
    assert not decided(first(SCORES, **changes), "mathematics")["passed"]


def test_a_row_that_waited_stays_waiting_and_one_without_rows_stays_as_it_is() -> None:
    assert statuses(first(FORWARD)) == ["blocked"]
    assert decided(first(FORWARD), "mathematics")["criteria"][0]["waits_for"] == ["split_heads"]
    empty: Verdict = replace(VERDICT, criteria=(), locked=True)
    assert decided(verdict_document(empty), "all") == verdict_document(empty)
