"""`grader class push`: writes marks into a learning platform by its API."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Annotated

import typer

from grader.commands.classes.class_options import Folder
from grader.commands.classes.messages import some, tell, tell_mixed, tell_twice
from grader.commands.options import Json, stage_names
from grader.errors import GraderError, UsageError
from grader.report.document import dumps
from grader.report.terminal.screen import say, write
from grader.report.terminal.words import count

PLATFORMS = ("canvas",)
Number = typer.Option(metavar="NUMBER", help="As the address of the page in Canvas has it.")


def push(
    platform: Annotated[str, typer.Argument(metavar="canvas", help="Where the marks go.")],
    stage: Annotated[str, typer.Option("--stage", metavar="STAGE", help="Whose marks.", autocompletion=stage_names)],
    out: Folder,
    server: Annotated[str, typer.Option("--server", metavar="URL", help="The address of your Canvas.")],
    course: Annotated[str, Number],
    assignment: Annotated[str, Number],
    apply: Annotated[bool, typer.Option("--apply", help="Write the marks; without it nothing is written.")] = False,
    comments: Annotated[
        bool, typer.Option("--comments", help="Add to each mark that is written why it is what it is.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write marks that differ into Canvas.

    They are those of a stage, into one assignment.

    CANVAS_TOKEN in the environment is an access token that may edit grades. Without --apply it only shows what would be
    written. A mark that is not known yet leaves Canvas's as it is. Exit code 4 if some could not be written.
    """
    from grader.classroom.canvas import CanvasAssignment, planned
    from grader.commands.classes.marks import stage_id
    from grader.gradebook.marks import table
    from grader.gradebook.store import Gradebook

    token = _token(platform, server, course, assignment)
    wanted = stage_id(stage)
    with Gradebook.open(out) as book:
        entries = [each for each in table(book) if each.stage == wanted]
    there = CanvasAssignment(server, course, assignment, token)
    most = there.points_possible()
    found = planned(entries, there.scores(), comments)
    failed: list[str] = []
    for change in found.changes if apply else ():
        try:
            there.put(change)
        except GraderError as error:
            failed.append(f"{change.student}: {error.message}")
    if as_json:
        write(dumps({"schema": 1, "applied": apply, "points_possible": most, **asdict(found), "failed": failed}))
    else:
        for change in found.changes:
            before = "none" if change.before is None else f"{change.before:g}"
            words = f": {change.comment}" if change.comment else ""
            tell(f"{change.student}: {before} → {change.after:g}{words}")
    done = "written" if apply else "would be written"
    say(f"{count(len(found.changes) - len(failed), 'mark')} {done}, {found.same} already there.")
    outs = {each.mark.out_of for each in entries if each.mark}
    if most is not None and outs and max(outs) != most:
        say(f"warning: {wanted} has {max(outs):g} points, and the assignment {most:g}.")
    if found.unknown:
        say(f"Canvas does not know {some(found.unknown)}: give its gradebook's export with --roster to `class intake`.")
    tell_twice(entries)
    tell_mixed(out)
    if found.changes and not apply:
        say("The same command with --apply writes them.")
    for why in failed:
        say(f"not written: {why}")
    raise typer.Exit(4 if failed else 0)


def _token(platform: str, server: str, course: str, assignment: str) -> str:
    """Return the token to write with; UsageError for whatever cannot be asked for, the token last."""
    from grader.classroom.canvas import TOKEN, expect_server

    if platform not in PLATFORMS:
        raise UsageError(f"{platform!r} cannot be pushed to", "Choose canvas; `class export` writes files for others.")
    expect_server(server)
    if not course.isdecimal() or not assignment.isdecimal():
        raise UsageError("--course and --assignment are numbers", "As in …/courses/17/assignments/4711.")
    if not (token := os.environ.get(TOKEN, "").strip()):
        raise UsageError(f"{TOKEN} is not set", "Make an access token in Canvas, under Account, Settings.")
    return token
