"""`grader notebook`: a notebook that imports the learner's functions and draws what they do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.commands.options import AnyStage


def notebook(
    stage: AnyStage = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it there; by default into the stage's folder."),
    ] = None,
) -> None:
    """Write a notebook that imports your functions and draws what they do.

    An existing file is never overwritten. Nothing in a notebook is graded.
    """
    from grader.atomic import write_new
    from grader.commands.learning import open_here
    from grader.explore.notebook import notebook as made
    from grader.explore.notebook import suggested
    from grader.progress.actions import stage_or_current
    from grader.report.terminal.screen import say

    workspace = open_here()
    target = stage_or_current(workspace, stage)
    text = made(workspace.course, target)
    path = output or suggested(target)
    write_new(path, text, free="Name another file with --output.")
    root = workspace.course.root
    say(f"{path.relative_to(root).as_posix() if path.is_relative_to(root) else path} draws with your {target.module}.")
    say("Open it in VS Code, or with `uv run --extra plot --with jupyterlab jupyter lab`.")
    say("Without uv: `pip install matplotlib jupyterlab`, then `jupyter lab`.")
