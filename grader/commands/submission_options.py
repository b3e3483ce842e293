"""The options with which somebody grades the work of others: whose it is, how safely, and what is handed back."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from grader.commands.options import known_tier, tier_names
from grader.course.provenance import STUDENT
from grader.course.stage import FEEDBACK
from grader.course.table import listed
from grader.errors import UsageError

PANEL = "For instructors"


def lent_from(text: str) -> datetime | None:
    """Return from when on --lend lends references, None for never; raises UsageError."""
    from grader.submission.earlier import ALWAYS

    if text in ("passed", "always"):
        return None if text == "passed" else ALWAYS
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        why = "works only in class.toml" if text == "deadline" else "does not say when references are lent"
        hint = "Expected passed, always, or a date and time, as in 2026-11-30T23:59:00+01:00."
        raise UsageError(f"--lend {text!r} {why}", hint) from None
    if moment.tzinfo is None:
        raise UsageError(f"--lend {text!r} has no UTC offset; expected e.g. 2026-11-30T23:59:00+01:00")
    return moment


def _known_lend(text: str) -> str:
    lent_from(text)
    return text


def _lend_names(incomplete: str) -> list[str]:
    return [name for name in ("passed", "always") if name.startswith(incomplete)]


def _level_names(incomplete: str) -> list[str]:
    return [level for level in FEEDBACK if level.startswith(incomplete)]


def _known_level(name: str) -> str:
    if name not in FEEDBACK:
        raise UsageError(f"{name!r} is not a level of feedback", f"Choose {listed(FEEDBACK)}.")
    return name


def _named_student(name: str | None) -> str | None:
    if name is not None and not STUDENT.fullmatch(name):
        hint = "Expected at most 100 letters, digits, and . @ / + - _"
        raise UsageError(f"{name!r} cannot be the name of a student", hint)
    return name


RequireIsolation = Annotated[
    str,
    typer.Option(
        "--require-isolation",
        rich_help_panel=PANEL,
        metavar="TIER",
        help="Reject isolation weaker than this tier.",
        callback=known_tier,
        autocompletion=tier_names,
    ),
]
GradedFiles = Annotated[
    Path | None,
    typer.Option(
        "--submission",
        rich_help_panel=PANEL,
        metavar="PATH",
        help="Grade someone's course, folder, module, archive or repo@revision; record nothing.",
    ),
]
Lend = Annotated[
    str,
    typer.Option(
        "--lend",
        rich_help_panel=PANEL,
        metavar="WHEN",
        help="With --submission: when an earlier stage's reference stands in for a module that has not passed: "
        "passed (never), always, or a date and time with its offset, from which on.",
        callback=_known_lend,
        autocompletion=_lend_names,
    ),
]
Student = Annotated[
    str | None,
    typer.Option(
        "--student",
        metavar="NAME",
        rich_help_panel=PANEL,
        help="Whose work it is, for reports and the receipt.",
        callback=_named_student,
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="KEY",
        rich_help_panel=PANEL,
        help="Opens hidden tests that are sealed; or GRADER_KEY_FILE.",
    ),
]
Receipt = Annotated[
    Path | None,
    typer.Option("--receipt", metavar="FILE", rich_help_panel=PANEL, help="Write a signed receipt of the verdict."),
]
SigningKey = Annotated[
    Path | None,
    typer.Option("--signing-key", metavar="KEY", rich_help_panel=PANEL, help="The private key that signs the receipt."),
]
FeedbackLevel = Annotated[
    str,
    typer.Option(
        "--feedback",
        rich_help_panel=PANEL,
        metavar="LEVEL",
        help="How much to tell about hidden tests: full, hint or verdict; never more than the stage allows.",
        callback=_known_level,
        autocompletion=_level_names,
    ),
]
