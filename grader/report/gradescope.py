"""A run as Gradescope's results.json: a test for each criterion of the checklist, each worth one point.

Source: https://gradescope-autograders.readthedocs.io/en/latest/specs/ ; schemas/gradescope.schema.json is that in JSON
Schema. The whole verdict lies packed in extra_data, from which `grader class import` takes it, also out of Gradescope's
export. A hand-in without a module that can be read is a result of no points, with the reason. A run that must not
count has neither a score nor tests, which is not a result: docs/gradescope/run_autograder then leaves no file, so that
Gradescope shows an error and not a zero.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from grader.report.document import dumps, kinds_document, robustness_document, verdict_document
from grader.report.escape import one_line
from grader.report.formats import Format
from grader.report.graded import CheckReport, ReportContext, details, facts, problem, title, unmarked
from grader.report.terminal.words import reached_words
from grader.verdict import CriterionResult, Verdict

PACKED = "verdict"  # the key of a verdict in extra_data


def packed(verdict: Verdict) -> str:
    """Return a verdict's document as one word, which no writer of YAML breaks."""
    text = json.dumps(verdict_document(verdict), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")


def unpacked(word: str, most: int) -> bytes | None:
    """Return the text of a document that was packed, of so many bytes at most; None for anything else."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(base64.b64decode(word, validate=True), most)
    except (binascii.Error, ValueError, zlib.error):
        return None
    return text if unpacking.eof else None


def words_in(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the packed verdicts of a results.json."""
    facts_by_stage = document.get("extra_data")
    for each in facts_by_stage.values() if isinstance(facts_by_stage, dict) else ():
        if isinstance(each, dict) and isinstance(word := each.get(PACKED), str):
            yield word


def gradescope(report: CheckReport, context: ReportContext) -> str:
    """Return the document."""
    shared: dict[str, Any] = {
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "execution_time": round(sum(verdict.run.duration_s for verdict in report.verdicts), 3),
        "extra_data": {verdict.stage: {**facts(verdict), PACKED: packed(verdict)} for verdict in report.verdicts},
    }
    if (why := unmarked(report)) is not None:
        return dumps({"output": why, **shared} | ({"score": 0.0} if _is_submissions(report) else {}))
    tests = [_test(result, verdict, report.every) for verdict in report.verdicts for result in verdict.criteria]
    return dumps({"output": "\n\n".join(map(_head, report.verdicts)), **shared, "tests": tests})


def _is_submissions(report: CheckReport) -> bool:
    """Say whether there are no marks because of what was handed in, and of nothing else."""
    (verdict, *others) = report.verdicts or (None,)
    if verdict is None or others or verdict.grader_fault or verdict.locked or verdict.waits_for:
        return False
    return verdict.problem is not None and not verdict.criteria


def _head(verdict: Verdict) -> str:
    lines = [
        f"{title(verdict)}: {reached_words(verdict)}",
        f"seed {verdict.run.seed} · isolation {verdict.run.isolation}",
    ]
    return "\n".join(filter(None, [*lines, problem(verdict)]))


def _test(result: CriterionResult, verdict: Verdict, every: bool) -> dict[str, Any]:
    passed = result.status == "passed"
    return {
        "name": one_line(f"{verdict.stage} · {result.text}" if every else result.text),
        "name_format": "text",
        "score": float(passed),
        "max_score": 1.0,
        "status": "passed" if passed else "failed",
        "output": details(result, verdict),
        "output_format": "text",
        "tags": [verdict.stage, result.id],
        "visibility": "visible",
        "extra_data": {
            "status": result.status,
            "tests_passed": result.tests_passed,
            "tests_total": result.tests_total,
            "robust": result.robust,
            "robustness": robustness_document(result.counts),
            "values_right": result.values_right,
            "kinds": kinds_document(result.counts),
        },
    }


GRADESCOPE = Format("gradescope", gradescope, gives_marks=True)
