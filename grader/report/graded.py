"""The verdicts of a run as every format reads them, and in words what is told of each criterion and of the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from grader.outcome import Status, Where
from grader.report.escape import one_line, plain
from grader.report.terminal.checklist import (
    FAULT,
    Style,
    detail_lines,
    told,
)
from grader.report.terminal.layout import DETAIL_WIDTH, INDENT, Look
from grader.report.terminal.words import status_words, waits_words
from grader.verdict import CriterionResult, Verdict

LOOK = Look(DETAIL_WIDTH)
# Ends that say nothing about the learner's answer: what reads a report calls them errors.
ERRORS: tuple[Status, ...] = ("crashed", "timed_out", "over_limit", "grader_fault")


@dataclass(frozen=True)
class CheckReport:
    """A run: one verdict or, with every, those of several stages; waits_for names what comes before a locked one."""

    verdicts: tuple[Verdict, ...]
    every: bool = False
    waits_for: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportContext:
    """Where a report is made: the environment, the time, and where in the repository a graded file lies, if it does."""

    now: datetime
    environment: Mapping[str, str] = field(default_factory=dict)
    locate: Callable[[str], str | None] = lambda label: None


def points(verdict: Verdict) -> int:
    """Return how many criteria pass; each is worth one point."""
    return sum(each.status == "passed" for each in verdict.criteria)


def title(verdict: Verdict) -> str:
    """Return the name of a stage on one line."""
    return one_line(f"{verdict.stage} · {verdict.title}")


def unmarked(report: CheckReport) -> str | None:
    """Return why a run must not be given any marks, not even none; None where it has them.

    That is a fault of ours, a stage that is locked or waits for an earlier one, and a module that could not be taken.
    """
    faults = [fault for verdict in report.verdicts if verdict.grader_fault for fault in verdict.faults or ("",)]
    if faults:
        return plain("\n".join([FAULT, *filter(None, faults)]))
    for verdict in report.verdicts:
        if verdict.locked:
            return plain(f"{verdict.stage} is locked: {', '.join(report.waits_for) or 'another stage'} comes first.")
        if verdict.problem is not None and not verdict.criteria:
            return problem(verdict)
    return None if report.verdicts else "No stage was graded."


def problem(verdict: Verdict) -> str:
    """Return why the module cannot be graded as it is; empty where it can."""
    found = verdict.problem
    if found is None:
        return ""
    place = f"{verdict.run.label}:{found.line}" if found.line else verdict.run.label
    head = f"{verdict.stage} {waits_words(verdict)}." if verdict.waits_for else f"{place} cannot be graded as it is."
    lines = [head, found.message, found.hint or ""]
    return plain("\n".join(line for line in lines if line))


def details(result: CriterionResult, verdict: Verdict) -> str:
    """Return what is told of a criterion that lacks something: how it did, and what the terminal shows below it."""
    if result.robust:
        return ""
    lines = [line.plain for line in detail_lines(result, verdict, _style(verdict))]
    below = [line.removeprefix(" " * INDENT) for line in lines]
    return plain("\n".join([f"{status_words(result)}.", *below]))


def said(result: CriterionResult, verdict: Verdict) -> list[str]:
    """Return in a few lines what a criterion's report says first: how it did, and the failure that it begins with."""
    lines = [f"{result.text}: {status_words(result)}"]
    for failure in told(result, _style(verdict))[:1]:
        lines += [failure.call, failure.message, failure.help]
        lines += [failure.diagnosis.text] if failure.diagnosis is not None else []
    return [line for line in lines if line]


def place(result: CriterionResult, verdict: Verdict) -> Where | None:
    """Return the learner's own line that a criterion's report names first."""
    if result.robust:
        return None
    return next((failure.where for failure in told(result, _style(verdict)) if failure.where), None)


def facts(verdict: Verdict) -> dict[str, str]:
    """Return how a run was made, by name."""
    run = verdict.run
    made = one_line(run.provenance.words)
    return {
        "stage": verdict.stage,
        "seed": str(run.seed),
        "isolation": run.isolation,
        "course": run.course,
        "submission": run.submission,
        "file": one_line(run.label),
        "feedback": verdict.feedback,
    } | ({"provenance": made} if made else {})


def _style(verdict: Verdict) -> Style:
    return Style(LOOK, f"grader check {verdict.stage}")
