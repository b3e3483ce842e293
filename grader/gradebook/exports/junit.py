"""The marks as JUnit XML: a suite for each stage, a case for each student; what has no verdict is an error.

Times are in seconds; a suite began, in UTC, when the first of what counts was graded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC

from grader.gradebook.table import Entry
from grader.report.escape import markup


def as_junit(entries: Sequence[Entry]) -> str:
    """Return the document; nothing is ever skipped, since most readers count that as green."""
    stages = sorted({entry.stage for entry in entries})
    suites = "".join(_suite(stage, [each for each in entries if each.stage == stage]) for stage in stages)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="grader class">{suites}</testsuites>\n'


def _suite(stage: str, entries: Sequence[Entry]) -> str:
    counts: dict[str, object] = {
        "tests": len(entries),
        "failures": sum(entry.outcome == "graded" and not entry.passed for entry in entries),
        "errors": sum(entry.outcome != "graded" for entry in entries),
        "skipped": 0,
        "time": f"{sum(map(_seconds, entries)):.3f}",
    }
    moments = [entry.graded for entry in entries if entry.graded is not None]
    if moments:
        counts["timestamp"] = f"{min(moments).astimezone(UTC):%Y-%m-%dT%H:%M:%S}"  # the form has no place for a zone
    head = " ".join(f'{name}="{value}"' for name, value in counts.items())
    return f'<testsuite name="{markup(stage)}" {head}>{"".join(_cases(entries))}</testsuite>'


def _seconds(entry: Entry) -> float:
    return float((entry.verdict or {}).get("duration_s") or 0.0)


def _cases(entries: Iterable[Entry]) -> Iterable[str]:
    for entry in entries:
        name = f'classname="{markup(entry.stage)}" name="{markup(entry.student)}"'
        head = f'{name} time="{_seconds(entry):.3f}"'
        inner = ("" if entry.passed else _inner(entry)) + _printed(entry)
        yield f"<testcase {head}>{inner}</testcase>" if inner else f"<testcase {head}/>"


def _printed(entry: Entry) -> str:
    """Return how many criteria pass and are robust, and what a person said of their points; they change no verdict."""
    hand = "" if entry.override is None else f"{entry.override.points:g} points given by hand: {entry.reason}"
    told = "\n".join(filter(None, [entry.reached, hand]))
    return f"<system-out>{markup(told)}</system-out>" if told else ""


def _inner(entry: Entry) -> str:
    verdict = entry.verdict or {}
    if entry.problem:
        told = entry.problem
    elif entry.outcome == "fault":
        why = f": {entry.fault}" if entry.fault else ""
        told = f"the grader failed; this costs the student nothing{why}"
    else:
        rows = verdict.get("criteria", ())
        told = "\n".join(f"{row['id']}: {row['status']}" for row in rows if row["status"] != "passed")
    kind = "failure" if entry.outcome == "graded" else "error"
    points = f"{entry.points:g} points" if entry.points is not None else "no points yet"
    return f'<{kind} type="{entry.outcome}" message="{points}">{markup(told)}</{kind}>'
