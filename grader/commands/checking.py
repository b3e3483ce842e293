"""`grader check` and `grader demo`: what they take, and what follows from it; `grading.py` does it."""

from __future__ import annotations

from dataclasses import replace

import typer

from grader.commands.learning import open_here
from grader.commands.options import (
    AnyStage,
    Anyway,
    BegunStages,
    EveryStage,
    Formats,
    Isolation,
    Json,
    OnlyRow,
    RowName,
    Seed,
    ShownRow,
    Verbose,
)
from grader.commands.submission_options import (
    FeedbackLevel,
    GradedFiles,
    KeyFile,
    Lend,
    Receipt,
    RequireIsolation,
    SigningKey,
    Student,
)
from grader.errors import UsageError


def check(
    stage: AnyStage = None,
    criterion: RowName = None,
    row: ShownRow = None,
    only: OnlyRow = None,
    seed: Seed = None,
    verbose: Verbose = False,
    every: EveryStage = False,
    begun: BegunStages = False,
    anyway: Anyway = False,
    isolation: Isolation = "auto",
    as_json: Json = False,
    formats: Formats = "",
    submission: GradedFiles = None,
    lend: Lend = "passed",
    student: Student = None,
    require_isolation: RequireIsolation = "auto",
    feedback: FeedbackLevel = "full",
    key_file: KeyFile = None,
    receipt: Receipt = None,
    signing_key: SigningKey = None,
) -> None:
    """Grade a stage and show its checklist.

    When all its criteria pass, that is recorded, and the stages that waited for it open. Exit codes: 0 all pass; 1 some
    do not; 2 usage; 3 locked, or waits for an earlier stage; 4 grader fault; 5 nothing that can be graded; 130 stopped.
    """
    from grader.commands import choices, classroom, grading
    from grader.progress.actions import GradingRequest, stage_and_row

    if None not in (criterion, row):
        raise UsageError(f"two rows are named, {criterion!r} and {row!r}, and one is shown", "Leave one of them out.")
    row = criterion if row is None else row
    lent = choices.lent(lend, submission)
    request = GradingRequest(submission, only, seed, isolation, require_isolation, student, lent=lent, anyway=anyway)
    several = choices.several(every, begun, stage, request, row)
    signing = classroom.signing(receipt, signing_key, only, several is not None)
    telling, workspace = grading.telling(formats, as_json, feedback, verbose, signing), open_here(key_file)
    if several is not None:
        raise typer.Exit(grading.check_all(workspace, request, telling, several))
    target, row = stage_and_row(workspace, stage, row)
    telling = replace(telling, row=None if row is None else target.asked(row).id)
    raise typer.Exit(grading.check(workspace, target, request, telling))


def demo(seed: Seed = None, isolation: Isolation = "auto", row: ShownRow = None, verbose: Verbose = False) -> None:
    """Grade a half-finished example, to show what a check looks like.

    The example comes with the grader, is graded like any other module, and nothing is recorded.
    """
    from grader.commands import grading
    from grader.progress.actions import GradingRequest

    raise typer.Exit(grading.demo(GradingRequest(None, None, seed, isolation), row, verbose))
