"""The formats of `grader class export`: the grader's own, and those of installed packages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from grader.gradebook.exports.document import as_json
from grader.gradebook.exports.parquet import as_parquet
from grader.gradebook.exports.tables import as_canvas, as_csv, as_moodle
from grader.gradebook.table import Entry
from grader.report.formats import Format, Formats
from grader.report.junit import TestCase, TestSuite, document


def as_junit(entries: Sequence[Entry]) -> str:
    """Return the marks as JUnit XML: a suite for each stage, a case for each student; without a verdict, an error.

    A suite began when the first of what counts was graded. Nothing is skipped, since most readers count that as green.
    """
    stages = sorted({entry.stage for entry in entries})
    return document(
        "grader class", [_suite(stage, [each for each in entries if each.stage == stage]) for stage in stages]
    )


def _suite(stage: str, entries: Sequence[Entry]) -> TestSuite:
    began = min((each.graded for each in entries if each.graded is not None), default=None)
    return TestSuite(stage, [_case(each) for each in entries], sum(map(_seconds, entries)), began)


def _seconds(entry: Entry) -> float:
    return float((entry.verdict or {}).get("duration_s") or 0.0)


def _case(entry: Entry) -> TestCase:
    """Return a case; what it prints, robust criteria and what a person said of their points, changes no verdict."""
    hand = "" if entry.override is None else f"{entry.override.points:g} points given by hand: {entry.reason}"
    printed = "\n".join(filter(None, [entry.reached, hand]))
    case = TestCase(entry.stage, entry.student, printed=printed, seconds=_seconds(entry))
    if entry.passed:
        return case
    points = f"{entry.points:g} points" if entry.points is not None else "no points yet"
    kind: Literal["failure", "error"] = "failure" if entry.outcome == "graded" else "error"
    return replace(case, kind=kind, message=points, type=entry.outcome, text=_text(entry))


def _text(entry: Entry) -> str:
    if entry.problem:
        return entry.problem
    if entry.outcome == "fault":
        return f"the grader failed; this costs the student nothing{f': {entry.fault}' if entry.fault else ''}"
    rows = (entry.verdict or {}).get("criteria", ())
    return "\n".join(f"{row['id']}: {row['status']}" for row in rows if row["status"] != "passed")


CSV = Format("csv", as_csv)
JSON = Format("json", as_json)
CANVAS = Format("canvas", as_canvas)
MOODLE = Format("moodle", as_moodle)
JUNIT = Format("junit", as_junit)
PARQUET = Format("parquet", as_parquet)
CLASSES = Formats(
    "grader.class_formats",
    {each.name: f"{__name__}:{each.name.upper()}" for each in (CSV, JSON, CANVAS, MOODLE, JUNIT, PARQUET)},
)
