"""A run as the result.json of Classroom 50 (classroom50/result/v1), for an autograder.py of one assignment.

Source: github.com/foundation50/classroom50, schemas/result-v1.schema.json and wiki/Advanced-Autograding.md; the rules
are in schemas/classroom50.schema.json. Its runner names who is graded in the environment and corrects owner, mode and
submission time afterwards. A run without marks has 0 of 0 points and no tests, as that runner's own errors have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.report.document import dumps
from grader.report.escape import one_line
from grader.report.graded import Report, Scene, details, points, unmarked
from grader.verdict import CriterionResult, Verdict

SCHEMA = "classroom50/result/v1"
_TAG = "submit/"


def missing(environment: Mapping[str, str]) -> str | None:
    """Return what the environment lacks of what a result names; None where it has all."""
    names = ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL")
    lacking = [name for name in names if not environment.get(name)]
    lacking += [] if _owner(environment) else ["OWNER"]
    if lacking:
        return f"the environment has no {', '.join(lacking)}, which Classroom 50's runner sets"
    tag = environment["SUBMISSION_TAG"]
    return None if tag.startswith(_TAG) else f"SUBMISSION_TAG is {tag!r}; expected a name that begins with {_TAG}"


def classroom50(report: Report, scene: Scene) -> str:
    """Return the document."""
    known, when = scene.environment, scene.now.strftime("%Y-%m-%dT%H:%M:%SZ")
    marked = () if unmarked(report) is not None else report.verdicts
    tests = [_test(row, verdict) for verdict in marked for row in verdict.criteria]
    return dumps({
        "schema": SCHEMA,
        "classroom": known["CLASSROOM"],
        "assignment": known["ASSIGNMENT"],
        "assignment_type": known.get("ASSIGNMENT_TYPE") or "individual",
        "owner": _owner(known),
        "submission": known["SUBMISSION_TAG"],
        "commit": known["COMMIT_URL"],
        "release": known["RELEASE_URL"],
        "review": known.get("REVIEW_URL") or known["COMMIT_URL"],
        "datetime": when,
        "graded_at": when,
        "score": sum(map(points, marked)),
        "max-score": len(tests),
        "tests": tests,
    })  # fmt: skip


def _owner(environment: Mapping[str, str]) -> str:
    return environment.get("OWNER") or environment.get("USERNAME") or ""


def _test(row: CriterionResult, verdict: Verdict) -> dict[str, Any]:
    passed = row.status == "passed"
    return {
        "test-name": one_line(f"{verdict.stage} · {row.text}"),
        "passed": passed,
        "score": int(passed),
        "max-score": 1,
        "status": row.status,
        "output": details(row, verdict),
    }
