"""A run as GitHub Classroom's autograding reporter takes it: one JSON object, in base64, on one line.

Source: what github.com/education/autograding-grading-reporter reads (src/main.js, notify-classroom.js); no schema is
published, so schemas/autograding.schema.json says it in JSON Schema. The reporter prints names and messages into the
log as they are, so workflow commands are spelt out here. A run without marks has max_score 0, which it does not post.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from grader.report.escape import one_line
from grader.report.graded import ERRORS, Report, Scene, details, place, points, unmarked
from grader.verdict import CriterionResult, Verdict

VERSION = 1


def autograding(report: Report, scene: Scene) -> str:
    """Return the object in base64; it is the value of a step's output named result."""
    text = json.dumps(document(report), allow_nan=False)
    return base64.b64encode(text.encode("ascii")).decode("ascii")


def document(report: Report) -> dict[str, Any]:
    """Return the object."""
    if (why := unmarked(report)) is not None:
        test = {"name": "grader", "status": "error", "message": why, "score": 0, "filename": None, "line_no": None}
        return {"version": VERSION, "status": "error", "max_score": 0, "tests": [test]}
    tests = [_test(row, verdict) for verdict in report.verdicts for row in verdict.criteria]
    passed = sum(map(points, report.verdicts)) == len(tests) and all(verdict.passed for verdict in report.verdicts)
    return {"version": VERSION, "status": "pass" if passed else "fail", "max_score": len(tests), "tests": tests}


def _test(row: CriterionResult, verdict: Verdict) -> dict[str, Any]:
    passed = row.status == "passed"
    where = None if passed else place(row, verdict)
    return {
        "name": one_line(f"{verdict.stage} · {row.text}"),
        "status": "pass" if passed else "error" if row.status in ERRORS else "fail",
        "message": details(row, verdict) or None,
        "score": int(passed),
        "filename": None if where is None else one_line(where.file),
        "line_no": None if where is None else where.line,
    }
