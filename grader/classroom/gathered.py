"""The results of a whole class in one place: a summary with a table, a CSV file, and the statuses of every student."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.publish import post, status, summary
from grader.classroom.results import Result, expect_graded, read
from grader.classroom.roster import Student
from grader.course.stage import Stage
from grader.errors import GraderFault
from grader.report.escape import Cell, code_span, csv_text, markdown
from grader.report.github import LIMIT
from grader.report.terminal.layout import MARKS

COLUMNS = (
    "student", "repository", "revision", "stage", "graded", "passed", "criteria_passed", "criteria", "criteria_robust",
    "why",
)  # fmt: skip
AT_ONCE = 60  # statuses; with more GitHub wants time between them (80 in a minute)
PAUSE = 0.8  # seconds
NAMED = 5
_CUT = (
    "_What follows is left out, since a job summary has at most 1 MB. The results of every student are in results.csv._"
)


@dataclass(frozen=True)
class Graded:
    """A student and what came of each stage."""

    student: Student
    results: tuple[Result, ...]


def gather(
    folder: Path, students: Iterable[Student], stages: Sequence[Stage], tiers: Sequence[str], group: str
) -> tuple[Graded, ...]:
    """Return the results of a class from the folders that its grading jobs left: verdict-STUDENT-STAGE-GROUP."""
    return tuple(
        Graded(
            student,
            tuple(read(folder / f"verdict-{student.name}-{stage.id}-{group}", stage, tiers) for stage in stages),
        )
        for student in students
    )


def class_summary(graded: Sequence[Graded], limit: int = LIMIT) -> str:
    """Return the results in Markdown: for several students a table, and below it as much of each as fits in limit."""
    if len(graded) == 1:
        return summary(graded[0].results, graded[0].student.commit)
    parts = [f"## {len(graded)} students", _table(graded)]
    room = limit - sum(len(part.encode()) + 2 for part in parts) - len(_CUT) - 2
    for each in graded:
        details = summary(each.results, each.student.commit)
        text = f"<details><summary>{markdown(each.student.name)}</summary>\n\n{details}\n</details>"
        room -= len(text.encode()) + 2
        if room < 0:
            parts.append(_CUT)
            break
        parts.append(text)
    return "\n\n".join(parts) + "\n"


def results_csv(graded: Iterable[Graded]) -> str:
    """Return a line for each student and stage; what was not graded has no counts."""
    return csv_text([COLUMNS, *_lines(graded)])


def _lines(graded: Iterable[Graded]) -> Iterator[tuple[Cell, ...]]:
    for each in graded:
        who = (each.student.name, each.student.repository, each.student.revision)
        for result in each.results:
            done: tuple[Cell, ...] = (
                (None, None, None, None)
                if result.why
                else (result.passed, _passing(result), len(result.rows), sum(row.robust for row in result.rows))
            )
            yield (*who, result.stage.id, not result.why, *done, result.why)


def post_all(graded: Sequence[Graded], server: str, token: str, sleep: Callable[[float], None] = time.sleep) -> None:
    """Put the statuses of every student beside their commits; all are tried before GraderFault says which failed."""
    count = sum(len(each.results) for each in graded)
    failed: list[str] = []
    hint: str | None = None
    for place, each in enumerate(graded):
        if place and count > AT_ONCE:
            sleep(PAUSE * len(each.results))
        try:
            post([status(result) for result in each.results], each.student.commit, server, token)
        except GraderFault as fault:
            failed.append(fault.message if len(graded) == 1 else f"{each.student.name}, {fault.message}")
            hint = fault.hint
    if failed:
        raise GraderFault(_some(failed), hint)


def expect_all_graded(graded: Sequence[Graded]) -> None:
    """Raise GraderFault unless each stage of each student was graded, or waits for an earlier one."""
    if len(graded) == 1:
        return expect_graded(graded[0].results)
    lacking = [
        f"{each.student.name}, {result.stage.id}: {result.why}"
        for each in graded
        for result in each.results
        if result.why and not result.waits_for
    ]
    if lacking:
        raise GraderFault(f"not graded: {_some(lacking)}", "The log of the grading job says more.")


def _table(graded: Sequence[Graded]) -> str:
    stages = [result.stage.id for result in graded[0].results]
    lines = [f"| student | commit | {' | '.join(stages)} |", f"| --- | --- |{' --- |' * len(stages)}"]
    for each in graded:
        commit = code_span(f"{each.student.repository}@{each.student.revision[:12]}")
        cells = (markdown(each.student.name), commit, *map(_cell, each.results))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(result: Result) -> str:
    if result.why:
        return "waits" if result.waits_for else "not graded"
    mark = MARKS["passed" if result.passed else "failed"][0]
    return f"{mark} {_passing(result)} of {len(result.rows)}"


def _passing(result: Result) -> int:
    return sum(row.status == "passed" for row in result.rows)


def _some(texts: Sequence[str]) -> str:
    more = [f"and {len(texts) - NAMED} more"] if len(texts) > NAMED else []
    return "; ".join([*texts[:NAMED], *more])
