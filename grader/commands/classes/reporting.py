"""`grader class report`: what a class's results say together, and a page of feedback for each student."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.commands.classes.options import PolicyFile, Stages


def report(
    out: Annotated[
        Path, typer.Option("--out", metavar="PLACE", help="FILE.html for the class alone, or a folder for all pages.")
    ],
    gradebook: Annotated[Path, typer.Argument(metavar="[GRADEBOOK]", help="The folder of the gradebook.")] = Path(),
    stage: Stages = None,
    policy: PolicyFile = None,
) -> None:
    """Write the class's results as HTML pages (extra `class`).

    A folder gets a page for the class and one for each student, which names nobody else and tells of hidden tests what
    `feedback` in class.toml allows. Pages need no network and run no scripts. An earlier report is replaced.
    """
    from datetime import datetime

    from grader.gradebook.pages.page import Pages
    from grader.gradebook.pages.sheets import sheets
    from grader.gradebook.pages.writing import expect_free, is_folder, write_report
    from grader.gradebook.session import Wishes, policy_of
    from grader.gradebook.store import Gradebook
    from grader.progress.workspace import open_workspace
    from grader.report.terminal.screen import say

    course = open_workspace(Path.cwd()).course
    wanted = frozenset(course.find(name).id for name in stage) if stage else None
    rules = policy_of(course, Wishes(gradebook, policy))
    pages = Pages(course, rules.feedback, datetime.now(rules.zone))
    expect_free(out)
    with Gradebook.open(gradebook) as book:
        book.decide_by(rules.passes(course.stages))
        count = write_report(pages, sheets(book, wanted), out)
    students = f"{count} student{'' if count == 1 else 's'}"
    say(f"Wrote the report of {students} to {out / 'index.html' if is_folder(out) else out}.")
