"""Decides stored verdict documents by the tests that count now: a class may change what passes after it was graded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.criterion import Passes, counts_in, redecided
from grader.report.document import Document, counts_document, robustness_document
from grader.verdict import GRAVITY


def decided(document: Mapping[str, Any], by: Passes) -> Document:
    """Return a verdict's document as tests of these kinds decide it.

    One without rows decides nothing, and stays as it is; so does one that is decided so already.
    """
    if not document.get("criteria") or document.get("passes") == by:
        return dict(document)
    rows = [_decided_row(row, by) for row in document["criteria"]]
    graded = not (document.get("problem") or document.get("faults") or document.get("public_only"))
    passed = graded and all(row["status"] == "passed" for row in rows)
    return {
        **document,
        "passed": passed,
        "robust": passed and all(row["robust"] for row in rows),
        "passes": by,
        "counts": counts_document([(row["status"] == "passed", row["robust"]) for row in rows]),
        "criteria": rows,
    }


def row_passes(row: Mapping[str, Any], by: Passes) -> bool:
    """Return whether a row of a verdict's document passes, as tests of these kinds decide it."""
    return redecided(row["status"], counts_in(row), by) == "passed"


def _decided_row(row: Mapping[str, Any], by: Passes) -> Document:
    """Return a row of a verdict's document as tests of these kinds decide it."""
    counts = counts_in(row)
    status: str = redecided(row["status"], counts, by)
    if (row["status"], status) == ("passed", "failed"):
        status = _gravest(row)
    return {
        **row,
        "status": status,
        "robust": status == "passed" and not counts.missing_robustness,
        "robustness": robustness_document(counts),
        "values_right": status == "failed" and counts.values_right,
        "waits_for": [] if status == "passed" else row.get("waits_for") or [],
    }


def _gravest(row: Mapping[str, Any]) -> str:
    """Return the status of a row that passed and does not pass any more; its failures may be held back."""
    ended = {failure.get("status") for failure in row.get("failures") or ()}
    return next((status for status in GRAVITY if status in ended), "failed")
