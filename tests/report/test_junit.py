"""JUnit XML: junitparser reads it back, and no row that does not pass looks green."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given
from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from grader.outcome import Status
from grader.report.graded import details
from grader.report.junit import junit
from grader.verdict import Verdict
from tests.support.verdicts import (
    PASSED,
    SCENE,
    SPLIT,
    SYNTAX,
    TEXTS,
    UNMARKED,
    VERDICT,
    obeyed_by_a_runner,
    report,
    written,
)


def read(*verdicts: Verdict, every: bool = False) -> list[TestSuite]:
    return list(JUnitXml.fromstring(junit(report(*verdicts, every=every), SCENE).encode()))


def cases(suite: TestSuite) -> list[TestCase]:
    return list(suite)


def kinds(suite: TestSuite) -> dict[str, list[type]]:
    return {case.name: [type(result) for result in case.result] for case in suite}


def test_a_stage_is_a_suite_and_a_row_a_case() -> None:
    (suite,) = read(VERDICT)
    assert (suite.name, suite.tests, suite.failures, suite.errors, suite.skipped) == (
        "s15 · Attention mechanisms", 5, 3, 1, 0,
    )  # fmt: skip
    assert suite.time == 0.61
    properties = ET.fromstring(junit(report(VERDICT), SCENE)).iter("property")
    assert {each.get("name"): each.get("value") for each in properties}["seed"] == "40817"
    assert [case.classname for case in suite][:2] == ["s15.scores", "s15.split-heads"]


def test_only_a_row_that_passes_is_green() -> None:
    (suite,) = read(VERDICT)
    assert kinds(suite) == {
        "scores are QKᵀ/√d_k": [],
        "split_heads reshapes": [Failure],
        "merge_heads reverses split_heads": [Failure],
        "forward": [Failure],
        "it stays alive": [Error],
    }


@pytest.mark.parametrize("status", ["crashed", "timed_out", "over_limit", "grader_fault"])
def test_what_did_not_come_to_an_end_is_an_error(status: Status) -> None:
    suite = read(replace(VERDICT, criteria=(replace(SPLIT, status=status),)))[0]
    assert kinds(suite)["split_heads reshapes"] == [Error]


def test_a_failure_tells_what_the_terminal_does() -> None:
    case = cases(read(VERDICT)[0])[1]
    assert (case.result[0].message, case.result[0].type) == ("2 of 4 tests", "failed")
    assert case.result[0].text == details(SPLIT, VERDICT)


def test_a_module_that_cannot_be_graded_is_an_error_beside_its_rows() -> None:
    (suite,) = read(SYNTAX)
    assert kinds(suite) == {"the module": [Error], "forward": [Failure]}
    assert "expected ':'" in (cases(suite)[0].result[0].text or "")


@pytest.mark.parametrize("verdict", UNMARKED.values(), ids=list(UNMARKED))
def test_what_gives_no_marks_is_an_error(verdict: Verdict) -> None:
    *_, last = read(verdict)
    assert kinds(last) == {"grader": [Error]}
    assert last.errors == 1


def test_each_stage_of_a_course_has_its_suite() -> None:
    assert [suite.name for suite in read(PASSED, replace(PASSED, stage="s16"), every=True)] == [
        "s15 · Attention mechanisms",
        "s16 · Attention mechanisms",
    ]


@given(TEXTS)
def test_whatever_a_learner_wrote_is_text_in_well_formed_xml(text: str) -> None:
    verdict = written(text)
    document = junit(report(verdict), SCENE)
    assert document.isascii()
    assert obeyed_by_a_runner(document) == []
    (suite,) = read(verdict)
    row = verdict.criteria[0]
    assert cases(suite)[1].result[0].text == details(row, verdict)
    tags = {element.tag for element in ET.fromstring(document).iter()}
    assert tags == {"testsuites", "testsuite", "properties", "property", "testcase", "failure", "error"}
