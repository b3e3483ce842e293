"""A run for GitHub Actions: the job's summary as Markdown, and annotations on the learner's own lines.

Limits: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands (a summary of a step has at
most 1 MB; more than 10 errors of a step are not shown).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from grader.outcome import Where
from grader.report.escape import code_span, command_data, command_property, markdown, preformatted
from grader.report.graded import Report, Scene, details, first_told, place, problem, reached, title, unmarked
from grader.report.terminal.layout import MARKS
from grader.report.terminal.words import kind_of_row, status_words
from grader.verdict import CriterionResult, Verdict

Level = Literal["error", "warning"]
LIMIT = 1 << 20
ANNOTATIONS = 10
MESSAGE = 1000  # characters of one annotation
_CUT = "\n\n_The rest is left out: a job summary has at most 1 MB._\n"
_QUIET = ("passed", "not_started", "blocked")  # rows that have no annotation: nothing is wrong on a line of theirs


def summary(report: Report, scene: Scene, limit: int = LIMIT) -> str:
    """Return the summary in Markdown, with all that fits into limit bytes."""
    return within(_blocks(report), limit)


def within(blocks: Iterator[str], limit: int) -> str:
    """Return the first blocks, as many as fit whole into limit bytes, and a note where some are left out."""
    text = ""
    for block in blocks:
        longer = f"{text}{block}\n\n"
        if len(longer.encode()) + len(_CUT) > limit:
            return f"{text.rstrip()}{_CUT}" if len(text.encode()) + len(_CUT) <= limit else ""
        text = longer
    return text


def annotation_lines(report: Report, scene: Scene) -> list[str]:
    """Return workflow commands, one a line, at most ANNOTATIONS.

    First comes what gives no marks, then problems, rows that fail and, as warnings, rows that lack robustness.
    """
    found: list[str] = []
    if (why := unmarked(report)) is not None:
        found.append(_command(None, "grader", why))
    for verdict in report.verdicts:
        if verdict.problem is not None and verdict.criteria:
            where = Where(verdict.run.label, verdict.problem.line or 1)
            found.append(_command(_located(where, scene), title(verdict), problem(verdict)))
        found += [_row_command(row, verdict, scene) for row in verdict.criteria if row.status not in _QUIET]
    for verdict in report.verdicts:
        found += [_row_command(row, verdict, scene, "warning") for row in verdict.criteria if row.lacks_robustness]
    return found[:ANNOTATIONS]


def _blocks(report: Report) -> Iterator[str]:
    if (why := unmarked(report)) is not None:
        yield "## Not graded"
        yield preformatted(why)
    for verdict in report.verdicts:
        if verdict.criteria:
            yield from _stage(verdict)


def _stage(verdict: Verdict) -> Iterator[str]:
    run = verdict.run
    yield f"## {markdown(title(verdict))}"
    took = "" if run.withheld else f"{run.duration_s:.1f} s"
    how = " · ".join(filter(None, (f"seed {run.seed}", f"isolation {run.isolation}", took, run.provenance.words)))
    yield f"**{reached(verdict)}** · {markdown(how)} · {code_span(run.label)}"
    if verdict.problem is not None:
        yield preformatted(problem(verdict))
    rows = [
        f"| {MARKS[kind_of_row(row)][0]} | {markdown(row.text)} | {markdown(status_words(row))} |"
        for row in verdict.criteria
    ]
    yield "\n".join(["| | criterion | result |", "| --- | --- | --- |", *rows])
    for row in verdict.criteria:
        told = details(row, verdict)
        if "\n" in told:  # more than the status, which the table has
            yield f"### {markdown(row.text)}"
            yield preformatted(told)


def _row_command(row: CriterionResult, verdict: Verdict, scene: Scene, level: Level = "error") -> str:
    """Return an annotation that says what the row's report says first, on the line that it names."""
    failure = first_told(row, verdict)
    lines = [f"{row.text}: {status_words(row)}"]
    if failure is not None:
        lines += [failure.call, failure.message, failure.help]
    if failure is not None and failure.diagnosis is not None:
        lines.append(failure.diagnosis.text)
    where = place(row, verdict)
    at = _located(where, scene)
    if where is not None and at is None:
        lines.append(f"{where.file}:{where.line}")
    return _command(at, f"{verdict.stage} {row.id}", "\n".join(line for line in lines if line), level)


def _located(where: Where | None, scene: Scene) -> tuple[str, int] | None:
    """Return file and line in the repository, if the file lies there."""
    path = scene.locate(where.file) if where is not None else None
    return None if path is None or where is None else (path, where.line)


def _command(at: tuple[str, int] | None, name: str, message: str, level: Level = "error") -> str:
    if len(message) > MESSAGE:
        message = f"{message[:MESSAGE]}…"
    properties = [f"file={command_property(at[0])}", f"line={at[1]}"] if at is not None else []
    return f"::{level} {','.join([*properties, f'title={command_property(name)}'])}::{command_data(message)}"
