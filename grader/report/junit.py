"""JUnit XML, with one writer for checks and classes; of a check a suite for each stage, a case for each criterion.

A criterion that does not pass is a failure, or an error where it did not come to an end. What one that passes lacks of
its robustness is its system-out, and each suite's properties count the robust criteria. Nothing is ever "skipped": most
readers count that as green. What gives no marks at all, such as a grader fault, is an error of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from grader.report.escape import markup
from grader.report.formats import Format
from grader.report.graded import ERRORS, CheckReport, ReportContext, details, facts, problem, title, unmarked
from grader.report.terminal.words import status_words, waits_words
from grader.verdict import CriterionResult, Verdict


@dataclass(frozen=True)
class TestCase:
    """A test case; kind names the element that says with message, type and text what is wrong, if anything is."""

    classname: str
    name: str
    kind: Literal["failure", "error"] | None = None
    message: str = ""
    type: str = ""
    text: str = ""
    printed: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class TestSuite:
    """Test cases, how long they took, when they began, and what else is known of them."""

    name: str
    cases: Sequence[TestCase]
    seconds: float = 0.0
    began: datetime | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


def document(name: str, suites: Iterable[TestSuite]) -> str:
    """Return suites as a document; times are in seconds, and moments in UTC, as the form has no place for a zone."""
    inner = _element("testsuites", {"name": name}, map(_suite, suites))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{inner}\n'


def _suite(suite: TestSuite) -> str:
    attributes = {
        "name": suite.name,
        "tests": len(suite.cases),
        "failures": sum(case.kind == "failure" for case in suite.cases),
        "errors": sum(case.kind == "error" for case in suite.cases),
        "skipped": 0,
        "time": f"{suite.seconds:.3f}",
        "timestamp": f"{suite.began.astimezone(UTC):%Y-%m-%dT%H:%M:%S}" if suite.began else None,
    }
    known = [_element("property", {"name": key, "value": value}) for key, value in suite.properties.items()]
    return _element(
        "testsuite", attributes, [*([_element("properties", {}, known)] if known else []), *map(_case, suite.cases)]
    )


def _case(case: TestCase) -> str:
    inner = (
        [_element(case.kind, {"message": case.message, "type": case.type}, [markup(case.text)])] if case.kind else []
    )
    inner += [_element("system-out", {}, [markup(case.printed)])] if case.printed else []
    seconds = None if case.seconds is None else f"{case.seconds:.3f}"
    return _element("testcase", {"classname": case.classname, "name": case.name, "time": seconds}, inner)


def _element(name: str, attributes: Mapping[str, object], inner: Iterable[str] = ()) -> str:
    """Return an element; the attributes' values are escaped here, what stands in it already is; None is left out."""
    head = "".join(f' {key}="{markup(str(value))}"' for key, value in attributes.items() if value is not None)
    body = "".join(inner)
    return f"<{name}{head}>{body}</{name}>" if body else f"<{name}{head}/>"


def junit(report: CheckReport, context: ReportContext) -> str:
    """Return the document of a run."""
    suites = [_stage(verdict) for verdict in report.verdicts]
    if (why := unmarked(report)) is not None:
        suites.append(TestSuite("grader", [TestCase("grader", "grader", "error", "not graded", "ungraded", why)]))
    return document("grader", suites)


def _stage(verdict: Verdict) -> TestSuite:
    cases = [_test_case(result, verdict) for result in verdict.criteria]
    if verdict.problem is not None:
        message = waits_words(verdict) if verdict.waits_for else "the module cannot be graded as it is"
        cases.insert(0, TestCase(verdict.stage, "the module", "error", message, verdict.problem.kind, problem(verdict)))
    robust = {"robust": str(sum(each.robust for each in verdict.criteria))} if verdict.criteria else {}
    return TestSuite(title(verdict), cases, verdict.run.duration_s, properties=facts(verdict) | robust)


def _test_case(result: CriterionResult, verdict: Verdict) -> TestCase:
    name = f"{verdict.stage}.{result.id}"
    if result.status == "passed":
        return TestCase(name, result.text, printed=details(result, verdict))
    kind: Literal["failure", "error"] = "error" if result.status in ERRORS else "failure"
    return TestCase(name, result.text, kind, status_words(result), result.status, details(result, verdict))


JUNIT = Format("junit", junit)
