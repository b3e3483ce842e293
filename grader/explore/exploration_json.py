"""An exploration as a JSON document of a published shape (exploration.schema.json)."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import Any

from grader import __version__
from grader.explore.model import Drawing, Example, Exploration, Part, StepResult, WeightMap
from grader.report.document import Document, plain_text, problem_document, where_text

SCHEMA = 4  # from 3: heads are counted from 0
NUMBERS = "exploration.json"  # the name of the document beside the pictures of `grader explore --each`


def exploration_document(found: Exploration, pictures: tuple[str, ...] = ()) -> Document:
    """Return an exploration as values that JSON has; pictures are the files that were drawn."""
    example, ran = found.example, found.ran
    return {
        "schema": SCHEMA,
        "stage": found.stage,
        "title": found.title,
        "fine": found.fine,
        "next_function": plain_text(found.next_function),
        "file": plain_text(ran.file),
        "submission": ran.digest,
        "isolation": ran.isolation,
        "isolation_note": plain_text(ran.isolation_note),
        "seed": ran.seed,
        "course": __version__,
        "given": found.given,
        **_sentence(example),
        "problem": problem_document(found.problem),
        "steps": [_step(step) for step in found.steps],
        "maps": [_map(each) for each in found.maps],
        "drawings": [_drawing(each) for each in found.drawings],
        "origins": [asdict(each) for each in found.origins],
        "pictures": [plain_text(name) for name in pictures],
    }


def _sentence(example: Example | None) -> Document:
    if example is None:
        return {"words": [], "key_words": None, "source": None, "inputs": None, "heads": None}
    return {
        "words": [plain_text(word) for word in example.words],
        "key_words": None if example.key_words is None else [plain_text(word) for word in example.key_words],
        "source": plain_text(example.source),
        "inputs": {"Q": example.Q.tolist(), "K": example.K.tolist(), "V": example.V.tolist()},
        "heads": example.heads,
    }


def _step(step: StepResult) -> Document:
    return {
        "id": step.id,
        "title": step.title,
        "status": step.status,
        "meaning": step.meaning,
        "notice": step.notice,
        "parts": [_part(part) for part in step.parts],
    }


def _part(part: Part) -> Document:
    return {
        "id": part.id,
        "call": part.code,
        "function": part.function,
        "status": part.status,
        "shape": None if part.shape is None else list(part.shape),
        "axes": list(part.axes),
        "facts": [
            {"name": fact.name, "values": list(fact.values), "text": plain_text(fact.text)} for fact in part.facts
        ],
        "message": plain_text(part.message),
        "waits_for": plain_text(part.waits_for),
        "where": where_text(part.where),
        "notes": [plain_text(note) for note in part.notes],
    }


def _map(each: WeightMap) -> Document:
    return {
        "id": each.id,
        "title": each.title,
        "causal": each.causal,
        "head": each.head,
        "weights": [list(weights) for weights in each.weights],
    }


def _drawing(each: Drawing) -> Document:
    return {"kind": type(each).__name__.lower(), **_listed(asdict(each))}


def _listed(value: Any) -> Any:
    """Return tuples as lists, and NaN as None, as a reader of the document finds them."""
    if isinstance(value, dict):
        return {key: _listed(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_listed(each) for each in value]
    return None if isinstance(value, float) and isnan(value) else value
