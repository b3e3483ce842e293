"""The report's pages as HTML without scripts, which a browser opens from anywhere.

Whatever a template prints goes through Jinja2's escaping, after characters that only pretend to be shown are spelt out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.course.stage import Course, Feedback
from grader.errors import UsageError, installs
from grader.gradebook.pages.feedback import Row, rows
from grader.gradebook.pages.figures import MANY, Figures
from grader.gradebook.pages.sheets import Sheet
from grader.gradebook.table import Entry
from grader.report.escape import breakable, commands
from grader.report.feedback import lower
from grader.report.terminal.layout import printable

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_TEXT = 4000  # of one message
SHOWN_MISTAKES, SHOWN_ROWS, SHOWN_STUCK = 25, 12, 50
OUTCOMES = {
    "missing": "nothing handed in", "rejected": "cannot be accepted", "waits": "waits for an earlier stage",
    "fault": "the grader failed",
}  # fmt: skip
WORDS = {
    "passed": "✓ passed", "failed": "✗ failed", "not_started": "○ not started", "blocked": "– waits",
    "crashed": "✗ crashed", "timed_out": "✗ timed out", "over_limit": "✗ over a limit", "grader_fault": "grader fault",
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One stage on a student's page; problem and hint say why nothing could be run, notes what was stood in for."""

    entry: Entry
    title: str
    outcome: str
    problem: str
    hint: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


class Pages:
    """The pages of one report. Raises UsageError without Jinja2.

    feedback is what class.toml says now; a page tells no more than that, the stage and the stored verdict allow.
    """

    def __init__(self, course: Course, feedback: Feedback, now: datetime) -> None:
        self._levels = {stage.id: lower(stage.feedback, feedback) for stage in course.stages}
        self._order = {stage.id: place for place, stage in enumerate(course.stages)}
        self._feedback = feedback
        self._common: Mapping[str, Any] = {"title": course.settings.title, "made": now.strftime("%Y-%m-%d %H:%M %Z")}
        self._templates = _environment()

    def overview(self, figures: Figures) -> Iterator[str]:
        """Yield the text of the class's page, piece by piece."""
        return self._templates.get_template("overview.html").generate(
            figures=figures,
            stages=sorted(figures.stages.values(), key=lambda each: (self._order.get(each.id, math.inf), each.id)),
            mistakes=figures.commonest(SHOWN_MISTAKES),
            hardest=figures.hardest(SHOWN_ROWS),
            stuck=figures.longest(SHOWN_STUCK),
            many=MANY,
            **self._common,
        )

    def student(self, sheet: Sheet) -> str:
        """Return the text of one student's page; nobody else is named in it."""
        return self._templates.get_template("student.html").render(
            student=sheet.student,
            passed=sheet.passed,
            points=sheet.points,
            parts=[self._part(entry) for entry in sheet.entries],
            words=WORDS,
            **self._common,
        )

    def _part(self, entry: Entry) -> Part:
        verdict = entry.verdict or {}
        problem = verdict.get("problem") or {}
        failed = entry.outcome != "graded" or bool(problem)
        level = self._levels.get(entry.stage, self._feedback)
        return Part(
            entry,
            str(verdict.get("title") or ""),
            "passed" if entry.passed else OUTCOMES.get(entry.outcome, "not passed"),
            entry.problem,
            str(problem.get("hint") or ""),
            () if failed else rows(verdict, level),
            tuple(map(str, verdict.get("notes") or ())),
        )


def cut(text: str, most: int = MOST_TEXT) -> str:
    """Return text no longer than that, and a sign where it was cut."""
    return text if len(text) <= most else f"{text[:most]}…"


def percent(share: float) -> str:
    """Return a share in percent: never 0 or 100 where it is only near.

    >>> percent(0.999), percent(0.001), percent(0.5), percent(1.0)
    ('99', '1', '50', '100')
    """
    return str(round(share * 100) if share in (0.0, 1.0) else min(max(round(share * 100), 1), 99))


def _plain(value: Any) -> Any:
    """Return what a template prints as it can be shown; what is markup already is the template's own."""
    return printable(value) if type(value) is str else value


def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        message = "a report cannot be written without Jinja2"
        raise UsageError(message, installs("class", "jinja2")) from error
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "cut": cut,
        "percent": percent,
        "breakable": breakable,
        "commands": partial(commands, name="grader"),
    }
    return made
