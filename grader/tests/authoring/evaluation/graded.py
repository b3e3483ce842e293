"""Results of gradings, made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grader.authoring.cases import Case, Result
from grader.course.answers import Mistake
from grader.course.mutants import Mutant
from grader.course.stage import Criterion, Stage
from grader.criterion import KindCount, Status
from grader.outcome import Diagnosis, Outcome
from grader.submission.source import Problem
from grader.verdict import CriterionResult, Failure, Run, Verdict

HINTS = ("a", "b", "c")


STAGE = Stage(
    "s90",
    Path("stages/s90_small"),
    "Sums",
    "small.py",
    (),
    (Criterion("total", "total", ("total",), (), HINTS), Criterion("half", "half", ("half",), (), HINTS)),
)


HIDDEN = "hidden/s90_small"


RUN = Run(7, "process", None, 0.1, "0.1.0", "0" * 64, "small.py")


DIAGNOSIS = Diagnosis("whole", "half", "It is not halved.", "Halve it.", declared=True)


FAILURE = Failure("test_small.py::test_half", False, "failed", "half(x)", "expected 1.0,\n  got 2.0", DIAGNOSIS, None)


WHOLE = Mistake("whole", "half", "half", "It is not halved.", "Halve it.", "…", 12)


MUTANT = Mutant("half", 24, "return total(x) / 2", "return total(x) / 3", "…")


def row(name: str, status: Status = "passed", *failures: Failure) -> CriterionResult:
    return CriterionResult(name, name, status, 0, 1, failures)


# The row above without one of its refusals: it passes, and is not robust.
BARE = CriterionResult(
    "half", "half", "passed", 1, 2, (replace(FAILURE, kind="refusals"),),
    kinds=(KindCount("values", 1, 1), KindCount("refusals", 0, 1)),
)  # fmt: skip


def verdict(*rows: CriterionResult, problem: Problem | None = None, faults: tuple[str, ...] = ()) -> Verdict:
    rows = rows or (row("total"), row("half"))
    passed = problem is None and not faults and all(each.status == "passed" for each in rows)
    return Verdict("s90", "Sums", passed, rows, RUN, problem, faults)


def result(name: str, seed: int, found: Verdict, *outcomes: Outcome) -> Result:
    return Result(Case(name, "s90", "…", seed), found, outcomes)


def mistaken(status: Status = "failed", *names: str | None, seed: int = 7) -> Result:
    """Return the result of the mistake above: its row's status, and what each failure is called."""
    failures = [replace(FAILURE, diagnosis=replace(DIAGNOSIS, mistake=name) if name else None) for name in names]
    return result("mistakes/whole", seed, verdict(row("half", status, *failures)))
