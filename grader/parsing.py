"""What the parser of the command line refuses, told as every other error is."""

from __future__ import annotations

import re
from typing import Protocol, TypeGuard

from grader.errors import UsageError

_WORDS = (
    (re.compile(r"is not a valid int(eger)?( range)?$"), "is not a whole number"),
    (re.compile(r"is not a valid float( range)?$"), "is not a number"),
)


class Refusal(Protocol):
    """The parser's exception for a command line that it does not take; ctx is that of the command, once it is known."""

    ctx: Context | None

    def format_message(self) -> str: ...


class Context(Protocol):
    """Where the parser was: the words of the command so far."""

    command_path: str


def is_refusal(error: Exception) -> TypeGuard[Refusal]:
    """Say whether the parser raised this: its own classes, which are other ones in other versions of typer."""
    return hasattr(error, "format_message") and hasattr(error, "ctx")


def is_help(error: Refusal) -> bool:
    """Say whether what is told is the help of a group that was named without a command."""
    return type(error).__name__ == "NoArgsIsHelpError"


def refusal(error: Refusal) -> UsageError:
    """Return what the parser refused, with the command that shows what it takes."""
    message = error.format_message().rstrip(".")
    for pattern, words in _WORDS:
        message = pattern.sub(words, message)
    asked = error.ctx.command_path if error.ctx is not None else "grader"
    return UsageError(f"{message[:1].lower()}{message[1:]}", f"`{asked} -h` shows what it takes.")
