"""Which stages, and which row of one, somebody asks `grader check` for; what contradicts itself is a usage error."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader.commands.submission_options import lent_from
from grader.errors import UsageError
from grader.submission import holds_stages

if TYPE_CHECKING:
    from grader.progress.actions import GradingRequest, Which


def lent(lend: str, submission: Path | None) -> datetime | None:
    """Return from when on --lend lends references, None for never.

    UsageError where it is given for one's own files, beside which references always serve.
    """
    if lend != "passed" and submission is None:
        message = f"--lend needs --submission: {lend} says when references serve a submission"
        raise UsageError(message, "Your own check is graded with the references that it needs.")
    return lent_from(lend)


def several(
    every: bool, begun: bool, stage: str | None, request: GradingRequest, row: str | None = None
) -> Which | None:
    """Return which stages to grade, None for the one that is named or current; raises UsageError."""
    if row is not None and (request.only is not None or every or begun):
        other = "--only grades and shows another" if request.only is not None else "many stages were asked for"
        raise UsageError(f"--row {row} shows one row of one stage, and {other}", "Leave one of them out.")
    _expect_one(request, every, begun)
    if not every and not begun:
        return None
    option = "--all" if every else "--begun"
    if every and begun:
        raise UsageError("--all grades every stage, --begun only those that are begun", "Leave one of them out.")
    if stage is not None:
        raise UsageError(f"{option} grades every stage, and {stage!r} is one", "Leave one of them out.")
    if request.only is not None:
        raise UsageError(f"{option} grades whole stages, --only one row", "Leave one of them out.")
    if begun and request.submission is not None:
        raise UsageError("--begun is about your own files, and --submission names others", "Use --all.")
    if request.submission is not None and not holds_stages(request.submission):
        message = f"--all needs a folder of stages, and {request.submission} is not one"
        raise UsageError(message, "Name a stage to grade one module.")
    return "begun" if begun else "all"


def _expect_one(request: GradingRequest, every: bool, begun: bool) -> None:
    """Raise UsageError where --anyway is given for anything but one stage of one's own."""
    other = "--submission" if request.submission is not None else "--all" if every else "--begun" if begun else ""
    if request.anyway and other:
        message = f"--anyway is about one locked stage of your own, and {other} grades others"
        raise UsageError(message, "Leave one of them out.")
