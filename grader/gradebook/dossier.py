"""All that is known of one student: points by criterion and why, the module with the lines of its causes, the history.

with Gradebook.open(folder) as book:
    for each in dossier(book, policy, "ada"): ...
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grader.gradebook.marks import Entry, entries, given, worth
from grader.gradebook.policy import Policy
from grader.gradebook.records import Attempt, Change, Result
from grader.gradebook.store import Gradebook
from grader.report.document import counts_document
from grader.submission.parsing import lines_of

MOST_SAID = 300  # characters beside a line


@dataclass(frozen=True)
class MarkedLine:
    """A line of a module, and what is wrong there."""

    number: int
    text: str
    causes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CriterionPoints:
    """A criterion with its points before lateness; reason is what the person said who gave them, calls what failed."""

    id: str
    text: str
    status: str
    points: float
    out_of: float
    reason: str = ""
    calls: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StageDossier:
    """One stage of a student; result is the one that counts, attempt what it is of."""

    entry: Entry
    title: str
    criteria: tuple[CriterionPoints, ...]
    code: tuple[MarkedLine, ...]
    history: tuple[Change, ...]
    attempt: Attempt | None
    result: Result | None


def dossier(
    book: Gradebook, policy: Policy, student: str, stage: str | None = None, criterion: str = ""
) -> tuple[StageDossier, ...]:
    """Return the stages of a student, or one of them; with a criterion, the code says what is wrong for it alone."""
    found = [each for each in entries(book, student) if stage in (None, each.stage)]
    history = [each for each in book.history() if each.student == student]
    counting = {each.result: each for each in book.attempts(student)}
    by_hand = book.overrides(student)
    made = []
    for entry in found:
        verdict = entry.verdict or {}
        number = entry.mark.result if entry.mark else None
        attempt = counting.get(number) if number is not None else None
        text = book.source(attempt.digest) if attempt is not None else None
        reasons = {each.criterion: each.reason for each in by_hand if each.stage == entry.stage}
        earned = worth(verdict, policy.of(entry.stage), given(by_hand).get(entry.stage, {})) if number else {}
        made.append(
            StageDossier(
                entry,
                str(verdict.get("title") or ""),
                tuple(_earned(each, earned, reasons) for each in verdict.get("criteria") or ()),
                marked(text, _said(verdict, criterion)) if text is not None else (),
                tuple(each for each in history if each.stage in (entry.stage, "")),
                attempt,
                book.result(number) if number is not None else None,
            )
        )
    return tuple(made)


def _earned(
    criterion: Mapping[str, Any], earned: Mapping[str, tuple[float, float]], reasons: Mapping[str, str]
) -> CriterionPoints:
    points, out_of = earned.get(criterion["id"], (0.0, 0.0))
    failures = criterion.get("failures") or ()
    calls = [f"{each.get('call') or each.get('test') or ''}: {_first(each.get('message'))}" for each in failures]
    causes = dict.fromkeys(_cause(each["cause"]) for each in failures if each.get("cause"))
    name, reason = criterion["id"], reasons.get(criterion["id"], "")
    about = str(criterion.get("text") or name)
    return CriterionPoints(name, about, criterion["status"], points, out_of, reason, tuple(calls), tuple(causes))


def _cause(cause: Mapping[str, Any]) -> str:
    line = f"line {cause['line']}: " if cause.get("line") else ""
    text = str(cause["text"])
    return text if f"line {cause.get('line')}" in text else f"{line}{text}"


def _first(text: object) -> str:
    return str(text or "").partition("\n")[0][:MOST_SAID]


def marked(text: bytes, said: Iterable[tuple[int, str]]) -> tuple[MarkedLine, ...]:
    """Return the lines of a module, each with what is said of its number; a number of 0 is of no line.

    >>> marked(b"a = 1\\nb = 2", [(2, "got 2"), (0, "no line")])[1]
    MarkedLine(number=2, text='b = 2', causes=('got 2',))
    """
    found: dict[int, dict[str, None]] = {}
    for line, cause in said:
        if line and cause:
            found.setdefault(line, {})[cause] = None
    lines = enumerate(lines_of(text.rstrip(b"\r\n")), 1)
    return tuple(MarkedLine(at, line, tuple(found.get(at, ()))) for at, line in lines)


def _said(verdict: Mapping[str, Any], criterion: str) -> Iterator[tuple[int, str]]:
    """Yield the causes of a verdict with their lines; of a failure without a cause what it is, at its own line."""
    for each in verdict.get("criteria") or ():
        for failure in (each.get("failures") or ()) if criterion in ("", each["id"]) else ():
            cause = failure.get("cause") or {}
            place = str(failure.get("where") or "").rpartition(":")[2]
            line = cause.get("line") or (int(place) if place.isdecimal() and not cause else 0)
            yield line, _first(cause.get("text") or failure.get("message"))
    problem = verdict.get("problem") or {}
    yield problem.get("line") or 0, _first(problem.get("message"))


def as_document(found: Iterable[StageDossier], student: str) -> dict[str, Any]:
    """Return the same as a document for programs."""
    return {"schema": 1, "student": student, "stages": [_document(each) for each in found]}


def _document(each: StageDossier) -> dict[str, Any]:
    entry, result = each.entry, each.result
    return {
        "stage": entry.stage,
        "outcome": entry.outcome,
        "points": entry.points,
        "out_of": entry.mark.out_of if entry.mark else None,
        "late_days": entry.mark.late_days if entry.mark else 0,
        "reason": entry.reason or None,
        "submitted": entry.submitted.isoformat() if entry.submitted else None,
        "file": entry.label or None,
        "counts": entry.counts or counts_document([]),
        "made": {
            "seed": result.key.seed,
            "isolation": result.key.isolation,
            "course": result.key.course,
            "python": result.made.python,
            "numpy": result.made.numpy,
        }
        if result
        else None,
        "criteria": [
            {
                "id": criterion.id,
                "status": criterion.status,
                "points": round(criterion.points, 2),
                "out_of": round(criterion.out_of, 2),
                "reason": criterion.reason or None,
                "calls": list(criterion.calls),
                "causes": list(criterion.causes),
            }
            for criterion in each.criteria
        ],
        "lines": [{"line": line.number, "text": line.text, "causes": list(line.causes)} for line in each.code],
        "history": [
            {"number": change.number, "at": change.at, "what": change.what, "why": change.why}
            for change in each.history
        ],
    }
