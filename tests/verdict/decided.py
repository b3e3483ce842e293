"""A stage of three rows, and the verdict on it where every test passed but those that a test names."""

from __future__ import annotations

from pathlib import Path

from grader.course.stage import Criterion, Stage
from grader.outcome import Diagnosis, Outcome, Status
from grader.submission.parsing import Problem
from grader.verdict import CriterionResult, Run, Verdict, decide

HINTS = ("a", "b", "c")
ROWS = (
    Criterion("scores", "gives scores", ("scores",), (), HINTS),
    Criterion("weights", "gives weights", ("weights",), (), HINTS),
    Criterion("attention", "puts them together", ("attention", "Attention"), ("scores", "weights"), HINTS),
)
STAGE = Stage("s90", Path("stages/s90_small"), "Small things", "small.py", (), ROWS)
RUN = Run(7, "process", None, 0.5, "0.1.0", "digest", "small.py")

A = Diagnosis("a", "scores", "mistake a", "fix a")
B = Diagnosis("b", "scores", "mistake b", "fix b")
C = Diagnosis("c", "scores", "mistake c", "fix c")
FORBIDDEN = Problem("forbidden", "line 3: @ is not allowed", 3, "Write it yourself.")


def test_of(row: str, hidden: bool = True, number: int = 1) -> tuple[str, str, bool]:
    return f"{'hidden' if hidden else 'public'}::test_{row}_{number}", row, hidden


test_of.__test__ = False  # type: ignore[attr-defined]
EXPECTED = [test_of(row.id, hidden) for row in ROWS for hidden in (False, True)]
LEADS = {"attention": frozenset({"scores", "weights"})}  # as far as a module's text tells


def verdict(statuses: dict[str, Status] | None = None, *, only: str | None = None, **more: object) -> Verdict:
    """Decide where every test passed but those named."""
    outcomes = [Outcome(test, row, hidden, (statuses or {}).get(test, "passed")) for test, row, hidden in EXPECTED]
    run = Run(**{**RUN.__dict__, "only": only})
    return decide(STAGE, EXPECTED, outcomes, run, **more)  # type: ignore[arg-type]


def row(found: Verdict, criterion: str) -> CriterionResult:
    return next(each for each in found.criteria if each.id == criterion)
