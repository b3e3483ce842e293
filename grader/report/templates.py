"""One environment of Jinja for all HTML pages: whatever a template prints is made printable, and then escaped."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError, installs
from grader.report.document import plain_text
from grader.report.escape import breakable, commands
from grader.report.terminal.layout import printable

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_TEXT = 4000  # characters of one message


def environment(folder: Path, extra: str, command: str | None = None) -> Environment:
    """Return what fills the templates of a folder; UsageError, with the extra that brings it, where Jinja2 is missing.

    A `command` in a text is shown as it is pasted here, or with another name of the grader.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise UsageError("pages need the package jinja2, which is not installed", installs(extra, "jinja2")) from error
    made = Environment(
        loader=FileSystemLoader(str(folder)),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "breakable": breakable,
        "commands": partial(commands, name=command),
        "cut": cut,
        "printable": printable,
    }
    return made


def cut(text: str, most: int = MOST_TEXT) -> str:
    """Return text no longer than that, and a sign where it was cut."""
    return text if len(text) <= most else f"{text[:most]}…"


def _plain(value: Any) -> Any:
    """Return what a template prints as it can be shown; what is markup already is the template's own."""
    return printable(plain_text(value) or "") if type(value) is str else value
