"""`grader class`: what is done with the submissions of a whole class."""

from __future__ import annotations

import typer

from grader.commands.similar import similar

app = typer.Typer(help="For instructors: the submissions of a whole class.", no_args_is_help=True)
app.command()(similar)


@app.callback()
def _class() -> None:
    """For instructors: the submissions of a whole class."""
