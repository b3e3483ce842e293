"""The command `grader`: it parses, calls, prints, and sets the exit code."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader import __version__
from grader.commands import ci, classroom, course, exploring
from grader.commands.options import (
    AnyStage,
    FeedbackLevel,
    Formats,
    Isolation,
    Json,
    KeyFile,
    Receipt,
    RequireIsolation,
    RowName,
    Seed,
    SigningKey,
    StageName,
    Verbose,
    row_names,
)
from grader.course.sealed import is_copy
from grader.errors import GraderError, GraderFault, UsageError

if TYPE_CHECKING:
    from grader.progress.actions import Workspace

EPILOG = (
    "Data goes to stdout, messages to stderr. Exit codes: 0 all criteria pass, 1 some do not, 2 usage, 3 stage locked, "
    "4 grader fault or isolation refused."
)
app = typer.Typer(
    name="grader",
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(course.app, name="course", hidden=is_copy())
app.add_typer(classroom.keys, name="keys")
app.add_typer(ci.app, name="ci", hidden=is_copy())


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"grader {__version__}")
        raise typer.Exit


def _desk(key_file: Path | None = None) -> Workspace:
    """Open the course around the current folder; say so if its progress file is not as it should be."""
    from grader.progress.actions import open_workspace
    from grader.report.terminal.screen import say

    workspace = open_workspace(Path.cwd(), key_file)
    if notice := workspace.store.read().notice:
        say(f"warning: {notice}", style="yellow")
    return workspace


@app.callback(invoke_without_command=True)
def home(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Learn attention by building it: grade what you write, stage by stage, and read what went wrong.

    Without a command: where you are, and what comes next.
    """
    if context.invoked_subcommand is not None:
        return
    from grader.progress.actions import standings
    from grader.report.terminal.overview import home_lines
    from grader.report.terminal.screen import look, show

    workspace = _desk()
    progress = workspace.store.read()
    show(home_lines(standings(workspace, progress), progress.last, look()))


@app.command()
def status(as_json: Json = False) -> None:
    """List the stages: passed, skipped, open, or locked."""
    from grader.progress.actions import standings
    from grader.report.document import dumps
    from grader.report.terminal.overview import status_document, status_lines
    from grader.report.terminal.screen import look, show, write

    workspace = _desk()
    progress = workspace.store.read()
    found = standings(workspace, progress)
    if as_json:
        write(dumps(status_document(found, progress, __version__)))
    else:
        show(status_lines(found, look()))


@app.command()
def check(
    stage: AnyStage = None,
    as_json: Json = False,
    seed: Seed = None,
    isolation: Isolation = "auto",
    require_isolation: RequireIsolation = "auto",
    submission: Annotated[
        Path | None,
        typer.Option(
            "--submission",
            metavar="PATH",
            help="Grade someone's course, folder, module, archive or repo@revision; record nothing.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="CRITERION", help="Grade one row of the checklist.", autocompletion=row_names),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Grade every stage that is unlocked or begun.")] = False,
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
    from grader.commands import grading
    from grader.progress.actions import GradingRequest, stage_or_current

    wanted = GradingRequest(submission, only, seed, isolation, require_isolation)
    if every and stage is not None:
        raise UsageError(f"--all grades every stage, and {stage!r} is one", "Leave one of them out.")
    telling = grading.telling(formats, as_json, feedback, verbose)
    telling = replace(telling, signing=classroom.signing(receipt, signing_key, only, every))
    workspace = _desk(key_file)
    if every:
        raise typer.Exit(grading.check_all(workspace, wanted, telling))
    raise typer.Exit(grading.check(workspace, stage_or_current(workspace, stage), wanted, telling))


app.command()(exploring.explore)
app.command(hidden=is_copy())(classroom.release)
app.command()(classroom.verify)


@app.command()
def hint(stage: StageName, criterion: RowName = None) -> None:
    """Help with one row, a step further each time.

    Without CRITERION it is the first row that a check finds not passed.
    """
    from grader.progress import lessons
    from grader.report.terminal.overview import hint_lines
    from grader.report.terminal.screen import look, say, show

    workspace = _desk()
    target = workspace.course.find(stage)
    found = lessons.hint(workspace, target, criterion)
    if found is None:
        say(f"Every row of {target.id} passes: no hint is needed.", f"`grader check {target.id}` records it.")
    else:
        show(hint_lines(target, found, look()))


@app.command()
def show(stage: StageName) -> None:
    """Show a stage's README."""
    from grader.progress.lessons import readme
    from grader.report.terminal.screen import show_markdown

    show_markdown(readme(_desk().course.find(stage)))


@app.command()
def start(stage: StageName) -> None:
    """Begin at this stage.

    Stages before it that have not passed are recorded as skipped, never as passed.
    """
    from grader.progress import lessons
    from grader.report.terminal.screen import say

    workspace = _desk()
    target = workspace.course.find(stage)
    skipped = lessons.start(workspace, target)
    say(f"You are at {target.id} · {target.title}." + (f" Skipped: {', '.join(skipped)}." if skipped else ""))
    say(f"Write stages/{target.name}/{target.module}; `grader show {target.id}` explains it, `grader check` grades it.")


@app.command()
def reset(stage: StageName, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False) -> None:
    """Put a stage's stub back and start it over.

    The old file is kept in .grader/backups/.
    """
    from grader.progress import lessons
    from grader.report.terminal.screen import say

    workspace = _desk()
    target = workspace.course.find(stage)
    file = f"stages/{target.name}/{target.module}"
    if not yes and not sys.stdin.isatty():
        raise UsageError(f"reset replaces {file}, and nobody is there to be asked", "Give --yes.")
    if not yes and not typer.confirm(f"Replace {file} by its stub, and count {target.id} as not passed?", err=True):
        say("Nothing was changed.")
        return
    kept = lessons.reset(workspace, target)
    say(f"{file} is the stub again.")
    if kept is not None:
        say(f"Your file is kept as {kept.relative_to(workspace.course.root).as_posix()}.")


@app.command()
def solution(
    stage: StageName,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it to a new file instead.")
    ] = None,
) -> None:
    """Show the solution of a stage that you have passed."""
    from grader.progress import lessons
    from grader.report.terminal.screen import say, write

    workspace = _desk()
    text = lessons.solution(workspace, workspace.course.find(stage))
    if output is None:
        write(text)
    else:
        lessons.write_new(output, text)
        say(f"The solution is in {output}.")


@app.command()
def doctor(as_json: Json = False) -> None:
    """Say what works on this machine, and why something does not.

    Looks at Python, packages, each tier of isolation, the terminal, the course and the progress file.
    """
    from grader.commands.health import report

    raise typer.Exit(report(Path.cwd(), as_json))


@app.command()
def demo(seed: Seed = None, isolation: Isolation = "auto", verbose: Verbose = False) -> None:
    """Grade a half-finished example, to show what a check looks like.

    The example comes with the grader, is graded like any other module, and nothing is recorded.
    """
    from grader.commands import grading
    from grader.progress.actions import GradingRequest

    raise typer.Exit(grading.demo(GradingRequest(None, None, seed, isolation), verbose))


def main() -> None:
    """Run the command line; every error ends as a message and an exit code, never as a traceback."""
    from grader.report.terminal.screen import complain, prepare

    prepare()
    try:
        app(prog_name="grader")
    except GraderError as error:
        complain(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # whatever it is, exit code 1 would say that a criterion does not pass
        complain(GraderFault(*_own_fault(error)))
        sys.exit(GraderFault.exit_code)


def _own_fault(error: Exception) -> tuple[str, str]:
    """Say where the grader failed, for whoever mends it."""
    import os
    import traceback

    if os.environ.get("GRADER_TRACEBACK"):
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    hint = "This is a fault of the grader, not of your code. GRADER_TRACEBACK=1 in the environment shows all of it."
    return f"{type(error).__name__} in {place}: {error}", hint
