"""What the commands of `grader class` say in the same words."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 10  # names in a message


def some(names: Sequence[str]) -> str:
    """Return the first names of many, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def tell_ignored(names: Sequence[str]) -> None:
    """Say which entries of a folder were taken for nobody's."""
    from grader.report.terminal.screen import say
    from grader.submission.names import shown

    if names:
        are = "it is" if len(names) == 1 else "they are"
        say(f"Ignored, since {are} no student's: {some([shown(each) for each in names])}.")
