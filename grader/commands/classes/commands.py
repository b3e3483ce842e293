"""`grader class`: the group of commands that grade a class and keep its marks; each stands in a module beside."""

from __future__ import annotations

import typer

from grader.commands.classes import grade, importing, intake, marks, push, requests, students
from grader.commands.classes.similar import similar

app = typer.Typer(
    help="For instructors: grade a class (docs/class.md).",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for _command in (
    intake.intake,
    grade.grade,
    grade.regrade,
    students.show,
    marks.override,
    requests.regrade_requests,
    marks.export,
    push.push,
    marks.history,
    marks.report,
    similar,
    students.rename,
    students.merge,
    students.forget,
):
    app.command()(_command)
app.command("import")(importing.take_in_verdicts)
