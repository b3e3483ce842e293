"""A run as JUnit XML: a suite for each stage, a case for each row of the checklist.

A row that does not pass is a failure, or an error where it did not come to an end. What one that passes lacks of its
robustness is its system-out, and each suite's properties count the robust rows. Nothing is ever "skipped": most
readers count that as green. What gives no marks at all, such as a grader fault, is an error of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from grader.report.escape import markup
from grader.report.graded import ERRORS, Report, Scene, details, facts, problem, title, unmarked
from grader.report.terminal.words import status_words, waits_words
from grader.verdict import CriterionResult, Verdict

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


@dataclass(frozen=True)
class Case:
    """A test case; kind is the name of the element that says what is wrong with it, if anything is.

    Without a kind, told is what it prints.
    """

    classname: str
    name: str
    kind: Literal["failure", "error"] | None = None
    message: str = ""
    cause: str = ""
    told: str = ""


def junit(report: Report, scene: Scene) -> str:
    """Return the document."""
    suites = [_suite(title(verdict), _cases(verdict), verdict) for verdict in report.verdicts]
    if (why := unmarked(report)) is not None:
        suites.append(_suite("grader", [Case("grader", "grader", "error", "not graded", "ungraded", why)]))
    return f"{_HEAD}\n{_element('testsuites', {'name': 'grader'}, suites)}\n"


def _cases(verdict: Verdict) -> list[Case]:
    cases = [_row(row, verdict) for row in verdict.criteria]
    if verdict.problem is not None:
        message = waits_words(verdict) if verdict.waits_for else "the module cannot be graded as it is"
        cases.insert(0, Case(verdict.stage, "the module", "error", message, verdict.problem.kind, problem(verdict)))
    return cases


def _row(row: CriterionResult, verdict: Verdict) -> Case:
    name = f"{verdict.stage}.{row.id}"
    if row.status == "passed":
        return Case(name, row.text, told=details(row, verdict))
    kind: Literal["failure", "error"] = "error" if row.status in ERRORS else "failure"
    return Case(name, row.text, kind, status_words(row), row.status, details(row, verdict))


def _suite(name: str, cases: list[Case], verdict: Verdict | None = None) -> str:
    attributes = {
        "name": name,
        "tests": str(len(cases)),
        "failures": str(sum(case.kind == "failure" for case in cases)),
        "errors": str(sum(case.kind == "error" for case in cases)),
        "skipped": "0",
        "time": f"{verdict.run.duration_s if verdict else 0:.3f}",
    }
    inner = [_case(case) for case in cases]
    if verdict is not None:
        robust = {"robust": str(sum(row.robust for row in verdict.criteria))} if verdict.criteria else {}
        known = [_element("property", {"name": key, "value": text}) for key, text in (facts(verdict) | robust).items()]
        inner.insert(0, _element("properties", {}, known))
    return _element("testsuite", attributes, inner)


def _case(case: Case) -> str:
    inner: list[str] = []
    if case.kind is not None:
        inner = [_element(case.kind, {"message": case.message, "type": case.cause}, [markup(case.told)])]
    elif case.told:
        inner = [_element("system-out", {}, [markup(case.told)])]
    return _element("testcase", {"classname": case.classname, "name": case.name}, inner)


def _element(name: str, attributes: Mapping[str, str], inner: Iterable[str] = ()) -> str:
    """Return an element; the attributes' values are escaped here, what stands in it already is."""
    head = "".join(f' {key}="{markup(value)}"' for key, value in attributes.items())
    body = "".join(inner)
    return f"<{name}{head}>{body}</{name}>" if body else f"<{name}{head}/>"
