"""A compared class as a JSON document of a published shape (similar.schema.json)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.report.document import dumps
from grader.similarity.compare import Comparison, Pair
from grader.similarity.gather import HandedIn
from grader.similarity.passages import passages

SCHEMA = 1


def as_json(comparison: Comparison, lacking: Sequence[HandedIn], stage: str, least: float) -> str:
    """Return the document; lacking holds submissions that were not compared."""
    return dumps(
        {
            "schema": SCHEMA,
            "stage": stage,
            "compared": len(comparison.texts),
            "least": least,
            "own_solutions_known": comparison.own_known,
            "own_solutions": [
                {"student": each.left.name, "solution": each.right.name, **_shared(each)} for each in comparison.copies
            ],
            "count": comparison.count,
            "pairs": [{"left": each.left.name, "right": each.right.name, **_shared(each)} for each in comparison.pairs],
            "usual": list(comparison.usual),
            "notes": [
                {"student": each.name, "idle": each.tokens.idle, "notes": list(each.notes)}
                for each in comparison.texts
                if each.notes
            ],
            "not_compared": [{"student": each.student, "reason": each.why} for each in lacking],
        }
    )


def _shared(pair: Pair) -> dict[str, Any]:
    return {
        "of_left": round(pair.of_left, 4),
        "of_right": round(pair.of_right, 4),
        "passages": [
            {"tokens": each.tokens, "left": list(each.left), "right": list(each.right)} for each in passages(pair)
        ],
    }
