"""The marks as a Parquet file, for data frames: a row for each student and stage, each column with its type."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from grader.errors import UsageError, installs
from grader.gradebook.exports.document import criteria_of, points_of
from grader.gradebook.table import Entry


def as_parquet(entries: Sequence[Entry]) -> bytes:
    """Return the file; UsageError where pyarrow is not installed. What is not known is null, and times are in UTC."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError("the format parquet needs pyarrow", installs("parquet", "pyarrow")) from error
    lines = [_line(entry) for entry in entries]
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(lines, pyarrow.schema(_types(pyarrow))), out)
    return out.getvalue()


def _types(arrow: Any) -> dict[str, Any]:
    text, number, whole, moment = arrow.string(), arrow.float64(), arrow.int64(), arrow.timestamp("us", "UTC")
    return {
        "student": text, "identity": text, "stage": text, "outcome": text, "passed": arrow.bool_(), "criteria": whole,
        "criteria_passed": whole, "criteria_robust": whole, "points": number,
        "out_of": number, "automatic": number, "before_lateness": number, "late_days": whole, "budget_days": whole,
        "override": number, "reason": text, "submitted": moment, "graded": moment, "attempts": whole, "seed": whole,
        "isolation": text, "submission": text, "name": text, "login": text, "email": text,
        "section": text, "team": text, "rows": arrow.map_(text, text),
    }  # fmt: skip


def _line(entry: Entry) -> dict[str, Any]:
    verdict = entry.verdict or {}
    return {
        "student": entry.student,
        "identity": entry.identity or None,
        "stage": entry.stage,
        "outcome": entry.outcome,
        "passed": entry.passed,
        **criteria_of(entry),
        **points_of(entry),
        "override": entry.override.points if entry.override else None,
        "reason": entry.reason or entry.fault or None,
        "submitted": entry.submitted,
        "graded": entry.graded,
        "attempts": entry.attempts,
        "seed": verdict.get("seed"),
        "isolation": verdict.get("isolation"),
        "submission": verdict.get("submission"),
        **{each: getattr(entry.member, each, "") or None for each in ("name", "login", "email", "section", "team")},
        "rows": [(row["id"], row["status"]) for row in verdict.get("criteria", ())],
    }
