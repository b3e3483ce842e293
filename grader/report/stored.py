"""Verdict documents that were stored, by any version of the grader, as they are decided now.

Version 1 counted refusals and the dtype like any other test. What passed then passes now, and more may. Up to version 2
a cause was called a diagnosis, and its id a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.criterion import Passes, counts_in, redecided
from grader.report.document import Document, counts_document, robustness_document
from grader.verdict import GRAVITY, SCHEMA

READ = (1, 2, SCHEMA)  # the versions that are understood


def decided(document: Mapping[str, Any], by: Passes) -> Document:
    """Return a verdict's document as tests of these kinds decide it, in the present version.

    One without rows decides nothing, and stays as it is; so does one that is decided so already.
    """
    if (document.get("schema"), document.get("passes")) == (SCHEMA, by):
        return dict(document)
    rows = [decided_row(row, by) for row in document.get("criteria") or ()]
    if not rows:
        return dict(document)
    graded = not (document.get("problem") or document.get("faults") or document.get("public_only"))
    passed = graded and all(row["status"] == "passed" for row in rows)
    return {
        **document,
        "schema": SCHEMA,
        "passed": passed,
        "robust": passed and all(row["robust"] for row in rows),
        "passes": by,
        "counts": counts_document([(row["status"] == "passed", row["robust"]) for row in rows]),
        "criteria": rows,
    }


def row_passes(row: Mapping[str, Any], by: Passes) -> bool:
    """Return whether a row of a verdict's document passes, as tests of these kinds decide it."""
    return redecided(row["status"], counts_in(row), by) == "passed"


def decided_row(row: Mapping[str, Any], by: Passes) -> Document:
    """Return a row of a verdict's document as tests of these kinds decide it."""
    counts = counts_in(row)
    status: str = redecided(row["status"], counts, by)
    if (row["status"], status) == ("passed", "failed"):
        status = _gravest(row)
    return {
        **row,
        "failures": [_with_cause(failure) for failure in row.get("failures") or ()],
        "status": status,
        "robust": status == "passed" and not counts.missing_robustness,
        "robustness": robustness_document(counts),
        "values_right": status == "failed" and counts.values_right,
        "waits_for": [] if status == "passed" else row.get("waits_for") or [],
    }


def _with_cause(failure: Mapping[str, Any]) -> Document:
    """Return a failure of a verdict's document with what explains it under its present name."""
    if "diagnosis" not in failure:
        return dict(failure)
    kept = {key: value for key, value in failure.items() if key != "diagnosis"}
    found, reason = failure["diagnosis"], failure.get("unexplained")
    cause = found and {
        "id": found.get("mistake"),
        **{key: found.get(key) for key in ("criterion", "function", "line", "text", "fix")},
        "evidence": ": ".join(filter(None, (failure.get("call"), failure.get("message")))),
    }
    return {**kept, "cause": cause, "unexplained": {"reason": reason} if reason and not cause else None}


def _gravest(row: Mapping[str, Any]) -> str:
    """Return the status of a row that passed and does not pass any more; its failures may be held back."""
    ended = {failure.get("status") for failure in row.get("failures") or ()}
    return next((status for status in GRAVITY if status in ended), "failed")
