"""A report as a JSON document of a published shape (report.schema.json)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grader import __version__
from grader.report.document import Document, plain_text
from grader.web.pictures import Picture
from grader.web.road import Road, Row, Stop

SCHEMA = 2


def report_document(
    found: Road, certificate: Mapping[str, Any], pictures: Sequence[Picture], file: str | None
) -> Document:
    """Return all that a report says as values that JSON has; file is where the page was written."""
    return {
        "schema": SCHEMA,
        "course": __version__,
        "title": found.title,
        "made": found.made.isoformat(timespec="seconds"),
        "passed": found.passed,
        "current": found.current.stage.id if found.current is not None else None,
        "stages": [_stage(stop) for stop in found.stops],
        "pictures": [each.stage.id for each in pictures if each.source],
        "certificate": dict(certificate),
        "file": plain_text(file),
    }


def _stage(stop: Stop) -> Document:
    work = stop.work
    return {
        "id": stop.stage.id,
        "title": stop.stage.title,
        "state": stop.state,
        "begun": stop.is_begun,
        "passed_at": stop.passed_at.isoformat(timespec="seconds") if stop.passed_at else None,
        "first_check": work.first or None,
        "last_check": work.last or None,
        "attempts": work.attempts,
        "attempts_until_passed": work.until or None,
        "seconds": work.seconds,
        "hints": stop.hints,
        "seen": list(stop.seen),
        "criteria": len(stop.stage.criteria),
        "criteria_passed": stop.passed if stop.rows else None,
        "criteria_robust": stop.robust,
        "rows": [_row(row) for row in stop.rows],
        "note": stop.note or None,
    }


def _row(row: Row) -> Document:
    return {
        "id": row.id,
        "text": row.text,
        "functions": list(row.functions),
        "status": row.status,
        "robust": row.robust,
        "said": plain_text(row.said) or None,
    }
