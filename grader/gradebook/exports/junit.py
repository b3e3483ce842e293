"""The marks as JUnit XML: a suite for each stage, a case for each student; what has no verdict is an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.gradebook.table import Entry
from grader.report.escape import markup


def as_junit(entries: Sequence[Entry]) -> str:
    """Return the document; nothing is ever skipped, since most readers count that as green."""
    stages = sorted({entry.stage for entry in entries})
    suites = "".join(_suite(stage, [each for each in entries if each.stage == stage]) for stage in stages)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="grader class">{suites}</testsuites>\n'


def _suite(stage: str, entries: Sequence[Entry]) -> str:
    failures = sum(entry.outcome == "graded" and not entry.passed for entry in entries)
    errors = sum(entry.outcome != "graded" for entry in entries)
    head = f'name="{markup(stage)}" tests="{len(entries)}" failures="{failures}" errors="{errors}" skipped="0"'
    return f"<testsuite {head}>{''.join(_cases(entries))}</testsuite>"


def _cases(entries: Iterable[Entry]) -> Iterable[str]:
    for entry in entries:
        verdict = entry.verdict or {}
        head = f'classname="{markup(entry.stage)}" name="{markup(entry.student)}" time="{verdict.get("duration_s", 0)}"'
        yield f"<testcase {head}/>" if entry.passed else f"<testcase {head}>{_inner(entry)}</testcase>"


def _inner(entry: Entry) -> str:
    verdict = entry.verdict or {}
    problem = verdict.get("problem")
    if problem:
        told = problem["message"]
    elif entry.outcome == "fault":
        told = "the grader failed; this costs the student nothing"
    else:
        told = "\n".join(f"{row['id']}: {row['status']}" for row in verdict["criteria"] if row["status"] != "passed")
    kind = "failure" if entry.outcome == "graded" else "error"
    points = f"{entry.points:g} points" if entry.points is not None else "no points yet"
    return f'<{kind} type="{entry.outcome}" message="{points}">{markup(told)}</{kind}>'
