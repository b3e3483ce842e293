"""What is shown of a reference as a JSON document: beside a learner's own module (schemas/solution.schema.json), or the
function of one row (schemas/seen.schema.json)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from grader.report.document import Document, plain_text

if TYPE_CHECKING:
    from grader.course.stage import Stage
    from grader.progress.comparison import Comparison, Pair, Piece
    from grader.progress.hints import Seen

SCHEMA = 1


def solution_document(found: Comparison) -> Document:
    """Return a comparison as values that JSON has."""
    return {
        "schema": SCHEMA,
        "stage": found.stage,
        "title": found.title,
        "file": plain_text(found.label),
        "problem": plain_text(found.problem) or None,
        "unmeasured": plain_text(found.unmeasured) or None,
        "functions": [_pair(pair) for pair in found.pairs],
    }


def seen_document(stage: Stage, found: Seen) -> Document:
    """Return the function of a row as values that JSON has."""
    return {
        "schema": SCHEMA,
        "stage": stage.id,
        "title": stage.title,
        "criterion": found.criterion.id,
        "functions": list(found.functions),
        "helpers": list(found.helpers),
        "text": plain_text(found.text),
        "seen_at": found.when,
    }


def _pair(pair: Pair) -> Document:
    return {
        "name": plain_text(pair.name),
        "same": pair.same,
        "own": _piece(pair.own),
        "reference": _piece(pair.reference),
        "time": None if pair.timing is None else asdict(pair.timing),
    }


def _piece(piece: Piece | None) -> dict[str, Any] | None:
    if piece is None:
        return None
    return {
        "text": plain_text(piece.text),
        "line": piece.line,
        "lines": piece.lines,
        "loops": piece.loops,
        "comprehensions": piece.comprehensions,
        "tools": [plain_text(tool) for tool in piece.tools],
    }
