"""`grader watch` and `grader serve`: a stage checked at each save, in the terminal or in a browser on this machine."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from grader import shell
from grader.commands.learning import open_here
from grader.commands.options import AnyStage
from grader.errors import UsageError, installs
from grader.report.terminal import screen
from grader.report.terminal.screen import say, write

WITHOUT = "Textual is not installed, so what happens is told in lines."


def watch(
    stage: AnyStage = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Print lines only, for a screen reader or a simple terminal.")
    ] = False,
) -> None:
    """Check a stage each time you save it.

    Shows the stages, the checklist and what is wrong first. A pass is recorded as by `grader check`. The full screen
    needs Textual, which the extra `tui` brings. Without it what happens is told in lines, as with `--plain`.
    """
    from grader.progress.actions import stage_or_current

    missing = [name for name in ("stdin", "stdout", "stderr") if not getattr(sys, name).isatty()]
    if not plain and missing:
        message = f"`grader watch` needs a terminal, and {missing[0]} is not one"
        raise UsageError(message, "`grader watch --plain` prints lines instead.")
    workspace = open_here()
    target = stage_or_current(workspace, stage)
    in_lines = plain or shell.is_dumb(os.environ.get("TERM"))
    if not in_lines and find_spec("textual") is None:
        screen.say(WITHOUT, installs("tui", "textual"), "yellow")
        in_lines = True
    if in_lines:
        from grader.watching.plain import watch as view
    else:
        from grader.watching.tui import watch as view
    view(workspace, target, screen.look())


Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port to listen on; by default a free one.")
]
Open = Annotated[bool, typer.Option("--open", help="Open the page in your browser.")]


def serve(stage: AnyStage = None, port: Port = 0, open_it: Open = False) -> None:
    """Show a stage in your browser; check each save (extra `web`).

    The page has the stage's README with its formulas, the checklist with what is wrong, and the road. A pass is
    recorded as by `grader check`. Only this machine is answered, at an address with a key in it, which is printed;
    nothing comes from the network. Ctrl-C ends it.
    """
    from grader.progress.actions import stage_or_current
    from grader.web.http_server import serve as run

    workspace = open_here()
    target = stage_or_current(workspace, stage)

    def ready(address: str) -> None:
        write(f"{address}stages/{target.id}")
        say("This address is for you alone. Ctrl-C ends the server.")
        if open_it:
            _show(f"{address}stages/{target.id}")

    run(workspace, target, port, ready)
    say("Stopped.")


def _show(address: str) -> None:
    """Open the page in the browser; say so where none is found."""
    import webbrowser

    if not webbrowser.open(address):
        say("No browser was found to open it with.", "Open the address yourself.", "yellow")
