"""The table of marks as a JSON document of a published shape (marks.schema.json)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from grader.gradebook.records import Member, Override
from grader.gradebook.table import Entry
from grader.report.document import dumps

SCHEMA = 2
MEMBER = (
    "name", "login", "email", "section", "team", "canvas_id", "sis_id", "sis_login", "moodle_id", "gradescope_id",
)  # fmt: skip


def as_json(entries: Iterable[Entry]) -> str:
    """Return the document."""
    return dumps({"schema": SCHEMA, "marks": [_mark(entry) for entry in entries]})


def _mark(entry: Entry) -> dict[str, Any]:
    verdict = entry.verdict or {}
    return {
        "student": entry.student,
        "identity": entry.identity,
        "roster": _member(entry.member),
        "stage": entry.stage,
        "outcome": entry.outcome,
        "passed": entry.passed,
        **criteria_of(entry),
        **points_of(entry),
        "submitted": entry.submitted.isoformat() if entry.submitted else None,
        "attempts": entry.attempts,
        "override": _override(entry.override),
        "reason": entry.problem or entry.fault or None,
        "rows": {row["id"]: row["status"] for row in verdict.get("criteria", ())},
        "seed": verdict.get("seed"),
        "isolation": verdict.get("isolation"),
        "submission": verdict.get("submission"),
    }


def criteria_of(entry: Entry) -> dict[str, Any]:
    """Return how many criteria an entry's stage has, and how many of them pass and are robust."""
    names = {"criteria": "criteria", "criteria_passed": "passed", "criteria_robust": "robust"}
    return {name: entry.counts.get(key) for name, key in names.items()}


def points_of(entry: Entry) -> dict[str, Any]:
    """Return an entry's points, and what became of those that the rows gave."""
    mark = entry.mark
    return {
        "points": entry.points,
        "out_of": mark.out_of if mark else None,
        "automatic": mark.points if mark else None,
        "before_lateness": mark.raw if mark else None,
        "late_days": mark.late_days if mark else 0,
        "budget_days": mark.budget_days if mark else 0,
    }


def _member(member: Member | None) -> dict[str, str] | None:
    """Return what the roster says of a student, without what it leaves blank."""
    if member is None:
        return None
    return {name: value for name, value in asdict(member).items() if name in MEMBER and value}


def _override(override: Override | None) -> dict[str, Any] | None:
    if override is None:
        return None
    at = override.at.isoformat()
    return {"points": override.points, "reason": override.reason, "by": override.by, "at": at}
