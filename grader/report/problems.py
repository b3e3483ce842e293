"""A run for an editor: a line for each criterion that does not pass, with the learner's line, as compilers write them.

A line is `FILE:LINE: error: MESSAGE`, which problem matchers read; a criterion whose values are right is a warning, and
so is one that passes without all of its robustness.
Below them stands how far each stage is. FILE is relative to the course.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.outcome import Where
from grader.report.escape import joined, one_line
from grader.report.formats import Format
from grader.report.graded import CheckReport, ReportContext, place, problem, said, title, unmarked
from grader.report.terminal.checklist import QUIET
from grader.report.terminal.words import reached_words
from grader.verdict import CriterionResult, Verdict

LONGEST = 500  # characters of a message


def problems(report: CheckReport, context: ReportContext) -> str:
    """Return the lines of a run."""
    lines: list[str] = []
    if (why := unmarked(report)) is not None:
        lines.append(f"grader: {one_line(why)}")
    for verdict in report.verdicts:
        lines += _stage(verdict)
    return "\n".join(lines) + "\n"


def _stage(verdict: Verdict) -> Iterator[str]:
    found = verdict.problem
    if found is not None:
        yield _line(Where(verdict.run.label, found.line or 1), "error", problem(verdict))
    else:
        yield from (_criterion_line(result, verdict) for result in verdict.criteria if result.status not in QUIET)
        yield from (_criterion_line(result, verdict) for result in verdict.criteria if result.lacks_robustness)
    if verdict.criteria:
        yield f"{title(verdict)}: {reached_words(verdict)}"


def _criterion_line(result: CriterionResult, verdict: Verdict) -> str:
    """Return what the criterion's report says first, on the line that it names, or else on the file's first."""
    severity = "warning" if result.values_right or result.lacks_robustness else "error"
    return _line(place(result, verdict) or Where(verdict.run.label, 1), severity, " · ".join(said(result, verdict)))


def _line(where: Where, severity: str, message: str) -> str:
    message = one_line(joined(message))
    message = message if len(message) <= LONGEST else f"{message[:LONGEST]}…"
    return f"{one_line(where.file)}:{where.line}: {severity}: {message}"


PROBLEMS = Format("problems", problems)
