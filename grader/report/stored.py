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

    One without criteria decides nothing, and stays as it is; so does one that is decided so already.
    """
    if (document.get("schema"), document.get("passes")) == (SCHEMA, by):
        return dict(document)
    criteria = [decided_criterion(each, by) for each in document.get("criteria") or ()]
    if not criteria:
        return dict(document)
    graded = not (document.get("problem") or document.get("faults") or document.get("public_only"))
    passed = graded and all(each["status"] == "passed" for each in criteria)
    return {
        **document,
        "schema": SCHEMA,
        "passed": passed,
        "robust": passed and all(each["robust"] for each in criteria),
        "passes": by,
        "counts": counts_document([(each["status"] == "passed", each["robust"]) for each in criteria]),
        "criteria": criteria,
    }


def criterion_passes(criterion: Mapping[str, Any], by: Passes) -> bool:
    """Return whether a criterion of a verdict's document passes, as tests of these kinds decide it."""
    return redecided(criterion["status"], counts_in(criterion), by) == "passed"


def decided_criterion(criterion: Mapping[str, Any], by: Passes) -> Document:
    """Return a criterion of a verdict's document as tests of these kinds decide it."""
    counts = counts_in(criterion)
    status: str = redecided(criterion["status"], counts, by)
    if (criterion["status"], status) == ("passed", "failed"):
        status = _gravest(criterion)
    return {
        **criterion,
        "failures": [_with_cause(failure) for failure in criterion.get("failures") or ()],
        "status": status,
        "robust": status == "passed" and not counts.missing_robustness,
        "robustness": robustness_document(counts),
        "values_right": status == "failed" and counts.values_right,
        "waits_for": [] if status == "passed" else criterion.get("waits_for") or [],
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


def _gravest(criterion: Mapping[str, Any]) -> str:
    """Return the status of a criterion that passed and does not pass any more; its failures may be held back."""
    ended = {failure.get("status") for failure in criterion.get("failures") or ()}
    return next((status for status in GRAVITY if status in ended), "failed")
