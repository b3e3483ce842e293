"""A verdict with a row of each kind, and its report as a text."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text

from grader.outcome import Diagnosis, Status, Where
from grader.report.terminal.checklist import Style, verdict_lines
from grader.report.terminal.layout import Look
from grader.submission.parsing import Problem
from grader.verdict import CriterionResult, Failure, Run, Verdict

DIAGNOSIS = Diagnosis(
    "reshape-without-transpose",
    "split-heads",
    "This is what you get by reshaping straight to (batch, heads, seq, d_k): tokens are mixed across heads.",
    "Reshape to (batch, seq, heads, d_k) first, then swap axes 1 and 2.",
)


FAILURE = Failure(
    "test_attention.py::test_split",
    False,
    "failed",
    "split_heads(x: float64 (batch 2, seq 6, d_model 8), num_heads=2)",
    "shape (2, 2, 6, 4) is right; 72 of 96 values differ, first at [0, 0, 1, 0]: expected 8.0, got 4.0",
    DIAGNOSIS,
    Where("stages/s15_attention/attention.py", 142, "return x.reshape(batch, num_heads, seq, d_k)"),
)


FAILED = CriterionResult(
    "split-heads", "split_heads reshapes for multi-head", "failed", 2, 4, (FAILURE, replace(FAILURE, hidden=True))
)


SCORES = CriterionResult("scores", "compute_attention_scores gives QKᵀ/√d_k", "passed", 5, 5)


MERGE = CriterionResult("merge-heads", "merge_heads reverses split_heads", "not_started", 0, 3)


FORWARD = CriterionResult("forward", "multi_head_attention_forward", "blocked", 0, 5, (FAILURE,), ("split_heads",))


RUN = Run(40817, "bubblewrap", None, 0.61, "0.1.0", "0" * 64, "stages/s15_attention/attention.py")


VERDICT = Verdict("s15", "Attention mechanisms", False, (SCORES, FAILED, MERGE, FORWARD), RUN)


def text_of(lines: list[Text]) -> str:
    return "".join(f"{line.plain}\n" for line in lines)


def shown(
    *rows: CriterionResult,
    width: int = 120,
    ascii: bool = False,
    verbose: bool = False,
    verdict: Verdict = VERDICT,
    only: str | None = None,
) -> str:
    """The report of a verdict with these rows."""
    style = Style(Look(width, ascii), "grader check s15", verbose, only)
    return text_of(verdict_lines(replace(verdict, criteria=rows) if rows else verdict, style))


def failing(*failures: Failure, status: Status = "failed") -> CriterionResult:
    return replace(FAILED, status=status, failures=failures)


PROBLEM = Problem("syntax", "line 3: expected ':'\n    def f(x)\n            ^", 3, "Add it.")
