"""The command `grader`: it parses, calls, prints, and sets the exit code."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from grader import __version__
from grader.commands import ci, class_, classroom, course, learning, setup, verifying
from grader.commands.capstone import commands as capstone
from grader.commands.desk.editor import editor
from grader.commands.desk.notebook import notebook
from grader.commands.learning import open_here
from grader.commands.options import (
    AnyStage,
    BegunStages,
    EveryStage,
    FeedbackLevel,
    Formats,
    GradedFiles,
    Isolation,
    Json,
    KeyFile,
    OnlyRow,
    Receipt,
    RequireIsolation,
    Seed,
    ShownRow,
    SigningKey,
    Student,
    Verbose,
)
from grader.commands.viewing import exploring, report, serve, watching
from grader.course.sealed import in_copy
from grader.errors import GraderError, GraderFault
from grader.parsing import is_refusal, refusal
from grader.setup.edition import is_shipped
from grader.stopping import STOPPED, stopped

EPILOG = (
    "Data goes to stdout, messages to stderr. Exit codes: 0 all criteria pass, 1 some do not, 2 usage, 3 stage locked, "
    "4 grader fault or isolation refused, 5 nothing that can be graded was handed in, 130 stopped with Ctrl-C."
)
_IN_COPY = in_copy(Path())  # which lacks what only an author's copy can do
app = typer.Typer(
    name="grader",
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(course.app, name="course", hidden=_IN_COPY)
app.add_typer(classroom.keys, name="keys")
app.add_typer(capstone.app, name="capstone")
app.add_typer(ci.app, name="ci", hidden=_IN_COPY)
app.add_typer(class_.app, name="class", hidden=_IN_COPY)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"grader {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def home(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Learn by building: grade what you write, stage by stage, and read what went wrong.

    Without a command: where you are, and what comes next.
    """
    if context.invoked_subcommand is not None:
        return
    from grader.progress.actions import standings
    from grader.report.terminal.overview import home_lines
    from grader.report.terminal.screen import look, show

    workspace = open_here()
    progress = workspace.store.read()
    show(home_lines(workspace.course, standings(workspace, progress), progress.last, look()))
    setup.tell_newer_course(workspace.course)


@app.command()
def status(as_json: Json = False) -> None:
    """List the stages: passed, skipped, open, or locked."""
    from grader.progress.actions import standings
    from grader.report.document import dumps
    from grader.report.terminal.overview import status_document, status_lines
    from grader.report.terminal.screen import look, show, write

    workspace = open_here()
    progress = workspace.store.read()
    found = standings(workspace, progress)
    if as_json:
        write(dumps(status_document(found, progress, __version__)))
    else:
        show(status_lines(workspace.course, found, look()))
        setup.tell_newer_course(workspace.course)


@app.command()
def check(
    stage: AnyStage = None,
    as_json: Json = False,
    seed: Seed = None,
    isolation: Isolation = "auto",
    require_isolation: RequireIsolation = "auto",
    submission: GradedFiles = None,
    student: Student = None,
    only: OnlyRow = None,
    row: ShownRow = None,
    every: EveryStage = False,
    begun: BegunStages = False,
    formats: Formats = "",
    feedback: FeedbackLevel = "full",
    key_file: KeyFile = None,
    receipt: Receipt = None,
    signing_key: SigningKey = None,
    verbose: Verbose = False,
) -> None:
    """Grade a stage and show its checklist.

    When all its criteria pass, that is recorded, and the stages that waited for it open.
    """
    from grader.commands import choices, grading
    from grader.progress.actions import GradingRequest
    from grader.progress.naming import stage_and_row

    request = GradingRequest(submission, only, seed, isolation, require_isolation, student)
    several = choices.several(every, begun, stage, request, row)
    telling = grading.telling(formats, as_json, feedback, verbose)
    telling = replace(telling, signing=classroom.signing(receipt, signing_key, only, several is not None))
    workspace = open_here(key_file)
    if several is not None:
        raise typer.Exit(grading.check_all(workspace, request, telling, several))
    target, row = stage_and_row(workspace, stage, row)
    shown = None if row is None else target.asked(row).id
    raise typer.Exit(grading.check(workspace, target, request, replace(telling, row=shown)))


app.command()(watching.watch)
app.command()(exploring.explore)
app.command()(report.report)
app.command()(serve.serve)
app.command(hidden=_IN_COPY)(classroom.release)
app.command()(verifying.verify)
app.command(hidden=not is_shipped())(setup.init)
app.command(hidden=not is_shipped())(setup.update)
app.command("next")(learning.next_step)
for _command in (learning.hint, learning.show, learning.start, learning.reset, learning.solution, editor, notebook):
    app.command()(_command)


@app.command()
def doctor(
    as_json: Json = False,
    every_tier: Annotated[
        bool, typer.Option("--every-tier", help="Try out every tier of isolation, not only the one that checks use.")
    ] = False,
) -> None:
    """Check what works on this machine, why something does not, and which command mends it.

    Looks at Python, packages, isolation, the terminal, the course and the progress file.
    """
    from grader.commands.health import report

    raise typer.Exit(report(Path.cwd(), as_json, every_tier))


@app.command(hidden=_IN_COPY)
def demo(seed: Seed = None, isolation: Isolation = "auto", row: ShownRow = None, verbose: Verbose = False) -> None:
    """Grade a half-finished example, to show what a check looks like.

    The example comes with the grader, is graded like any other module, and nothing is recorded.
    """
    from grader.commands import grading
    from grader.progress.actions import GradingRequest

    raise typer.Exit(grading.demo(GradingRequest(None, None, seed, isolation), row, verbose))


def main() -> None:
    """Run the command line; every error ends as a message and an exit code, never as a traceback."""
    from grader.progress.store import has_recorded
    from grader.report.terminal.screen import complain, prepare, unwritten

    prepare()
    try:
        code = app(prog_name="grader", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except GraderError as error:
        complain(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(stopped(has_recorded()))
    except SystemExit as ended:
        sys.exit(stopped(has_recorded()) if ended.code == STOPPED else ended.code)  # typer has caught the interrupt
    except Exception as error:  # whatever it is, exit code 1 would say that a criterion does not pass
        if is_refusal(error):
            told: GraderError = refusal(error)
        elif isinstance(error, OSError) and _echoed(error):
            told = unwritten(error)
        else:
            told = GraderFault(*_own_fault(error))
        complain(told)
        sys.exit(told.exit_code)


def _echoed(error: Exception) -> bool:
    """Say whether an error comes from what typer prints by itself: help, and the version."""
    import traceback

    return any(frame.name == "echo" for frame in traceback.extract_tb(error.__traceback__))


def _own_fault(error: Exception) -> tuple[str, str]:
    """Say where the grader failed, for whoever mends it."""
    import traceback

    if os.environ.get("GRADER_TRACEBACK"):
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    hint = "This is a fault of the grader, not of your code. GRADER_TRACEBACK=1 in the environment shows all of it."
    return f"{type(error).__name__} in {place}: {error}", hint
