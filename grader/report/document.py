"""JSON documents of published shapes (schemas/): a verdict, and what is shown of a reference."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from grader.report.escape import obeyed

if TYPE_CHECKING:
    from grader.course.stage import Stage
    from grader.criterion import Counts
    from grader.outcome import Gradient, Where
    from grader.progress.comparison import FunctionPair, Piece, SolutionComparison
    from grader.progress.hints import Seen
    from grader.submission.parsing import Problem
    from grader.verdict import CriterionResult, Failure, Verdict


Document = dict[str, Any]


def verdict_document(verdict: Verdict, waits_for: Iterable[str] = ()) -> Document:
    """Return a verdict as values that JSON has; waits_for names what comes first where the stage is locked."""
    from grader.verdict import SCHEMA

    run = verdict.run
    return {
        "schema": SCHEMA,
        "stage": verdict.stage,
        "title": verdict.title,
        "passed": verdict.passed,
        "robust": verdict.robust,
        "passes": verdict.passes,
        "counts": counts_document([(each.status == "passed", each.robust) for each in verdict.criteria]),
        "locked": verdict.locked,
        "waits_for": [*waits_for, *verdict.waits_for],
        "seed": run.seed,
        "isolation": run.isolation,
        "isolation_note": plain_text(run.isolation_note),
        "duration_s": None if run.withheld else round(run.duration_s, 3),
        "course": run.course,
        "submission": run.submission,
        "file": plain_text(run.label),
        "only": run.only,
        "uses": [asdict(use) for use in run.uses],
        "notes": [plain_text(note) for note in run.notes],
        "public_only": run.public_only,
        "problem": problem_document(verdict.problem),
        "faults": [plain_text(fault) for fault in verdict.faults],
        "criteria": [_criterion(result) for result in verdict.criteria],
        "unlocked": list(verdict.unlocked),
        "feedback": verdict.feedback,
        "provenance": asdict(run.provenance),
    }


def summary_document(verdicts: Iterable[Verdict]) -> Document:
    """Return the verdicts of several stages as one document; it passed only where each of them did."""
    from grader.verdict import SCHEMA

    documents = [verdict_document(verdict) for verdict in verdicts]
    passed, robust = (bool(documents) and all(document[key] for document in documents) for key in ("passed", "robust"))
    return {"schema": SCHEMA, "passed": passed, "robust": robust, "verdicts": documents}


def dumps(document: Document) -> str:
    """Return the text of a document in ASCII, so that no terminal, pipe or locale can change it, nor a log obey it."""
    text = json.dumps(document, indent=2, allow_nan=False)
    for place in reversed(obeyed(text)):  # a sign such as '#' stands within a string of JSON only
        text = f"{text[:place]}\\u{ord(text[place]):04x}{text[place + 1 :]}"
    return text


def _criterion(result: CriterionResult) -> Document:
    return {
        "id": result.id,
        "text": result.text,
        "status": result.status,
        "tests_passed": result.tests_passed,
        "tests_total": result.tests_total,
        "robust": result.robust,
        "robustness": robustness_document(result.counts),
        "values_right": result.values_right,
        "kinds": kinds_document(result.counts),
        "waits_for": list(result.waits_for),
        "failures": [_failure(failure) for failure in result.failures],
    }


def counts_document(criteria: Sequence[tuple[bool, bool]]) -> Document:
    """Return how many criteria there are, pass and are robust; each says whether it passes and is robust."""
    return {
        "criteria": len(criteria),
        "passed": sum(passed for passed, _ in criteria),
        "robust": sum(robust for _, robust in criteria),
    }


def kinds_document(counts: Counts) -> Document:
    """Return by kind how many of a criterion's tests pass, of those that name their kind."""
    return {each.kind: {"tests_passed": each.passed, "tests_total": each.total} for each in counts.kinds}


def robustness_document(counts: Counts) -> Document:
    """Return how many of a criterion's tests of refusals and of the dtype pass."""
    found = counts.robustness
    return {"tests_passed": sum(each.passed for each in found), "tests_total": sum(each.total for each in found)}


def _failure(failure: Failure) -> Document:
    return {
        "test": failure.test,
        "hidden": failure.hidden,
        "status": failure.status,
        "kind": failure.kind or None,
        "call": plain_text(failure.call),
        "message": plain_text(failure.message),
        "cause": _cause(failure),
        "where": where_text(failure.where),
        "notes": [plain_text(note) for note in failure.notes],
        "unexplained": _unexplained(failure),
        "help": plain_text(failure.help) or None,
        "gradients": [_gradient(gradient) for gradient in failure.gradients],
    }


def _gradient(gradient: Gradient) -> Document:
    worst = None
    if gradient.index is not None:
        worst = {"index": list(gradient.index), "expected": gradient.expected, "got": gradient.got}
    return {
        "name": plain_text(gradient.name),
        "of": plain_text(gradient.of) or None,
        "right": not gradient.finding,
        "shape": list(gradient.shape),
        "expected_shape": list(gradient.expected_shape),
        "relative_error": gradient.relative,
        "worst": worst,
        "finding": gradient.finding or None,
        "text": plain_text(gradient.text) or None,
    }


def _cause(failure: Failure) -> Document | None:
    diagnosis = failure.diagnosis
    if diagnosis is None:
        return None
    said = "\n".join(line for line in failure.message.splitlines() if line != failure.pattern)
    return {
        "id": diagnosis.mistake,
        "criterion": diagnosis.criterion,
        "function": plain_text(diagnosis.function) or None,
        "line": diagnosis.line or None,
        "text": plain_text(diagnosis.text),
        "fix": plain_text(diagnosis.fix) or None,
        "evidence": plain_text(": ".join(filter(None, (failure.call, said)))),
    }


def _unexplained(failure: Failure) -> Document | None:
    """Return why no cause is known, where the search for it came to no end."""
    return {"reason": plain_text(failure.unexplained)} if failure.unexplained and failure.diagnosis is None else None


def where_text(where: Where | None) -> str | None:
    """Return a place in the learner's file as file:line."""
    return None if where is None else plain_text(f"{where.file}:{where.line}")


def problem_document(problem: Problem | None) -> Document | None:
    """Return what keeps a module from being run as values that JSON has."""
    if problem is None:
        return None
    return {
        "kind": problem.kind,
        "message": plain_text(problem.message),
        "line": problem.line,
        "hint": plain_text(problem.hint),
    }


def plain_text(text: str | None) -> str | None:
    """Replace what is half a character: JSON could spell it, but many readers refuse it."""
    return text and text.encode("utf-8", "replace").decode("utf-8")


SCHEMA = 1


def solution_document(found: SolutionComparison) -> Document:
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
    """Return the function of a criterion as values that JSON has."""
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


def _pair(pair: FunctionPair) -> Document:
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
