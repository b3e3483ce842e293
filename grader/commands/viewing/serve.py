"""`grader serve`: the stage, its checklist and the road in a browser on this machine, as they change."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.commands.learning import open_here
from grader.commands.options import AnyStage

Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port to listen on; by default a free one.")
]
Open = Annotated[bool, typer.Option("--open", help="Open the page in your browser.")]


def serve(stage: AnyStage = None, port: Port = 0, open_it: Open = False) -> None:
    """Show a stage in your browser, and check it each time you save (extra `web`).

    The page has the stage's README with its formulas, the checklist with what is wrong, and the road. A pass is
    recorded as by `grader check`. Only this machine is answered, at an address with a key in it, which is printed;
    nothing comes from the network. Ctrl-C ends it.
    """
    from grader.progress.actions import stage_or_current
    from grader.report.terminal.screen import say, write
    from grader.web.server import serve as run

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

    from grader.report.terminal.screen import say

    if not webbrowser.open(address):
        say("No browser was found to open it with.", "Open the address yourself.", "yellow")
