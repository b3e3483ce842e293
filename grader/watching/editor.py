"""The command that opens a file at a line in the editor that somebody uses."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from grader import shell
from grader.errors import UsageError

# How editors take a line; those that are not listed get what vi, emacs, nano and most others understand.
WITH_COLON = ("hx", "helix", "subl", "sublime_text", "zed", "lapce")
WITH_GOTO = ("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf")
WITH_OPTION = {"idea": "--line", "pycharm": "--line", "charm": "--line", "kate": "--line"}
WITHOUT = ("notepad", "open", "xdg-open", "gnome-text-editor")
WINDOWED = (*WITH_GOTO, *WITH_OPTION, *WITHOUT, "subl", "sublime_text", "zed", "lapce", "gedit", "gvim", "mate")


@dataclass(frozen=True)
class Opening:
    """A command, and whether it needs the terminal until it ends."""

    command: tuple[str, ...]
    in_terminal: bool


def opening(file: str, line: int, environment: Mapping[str, str], which: Callable[[str], str | None]) -> Opening:
    """Return how to open a file at a line; UsageError where no editor is known.

    Inside VS Code's terminal that is VS Code, else $VISUAL or $EDITOR.
    """
    if environment.get("TERM_PROGRAM") == "vscode":
        for name in WITH_GOTO:
            if which(name) is not None:
                return Opening((name, "--goto", f"{file}:{line}"), False)
    given = environment.get("VISUAL") or environment.get("EDITOR") or ""
    try:
        words = shell.split(given)
    except ValueError as error:
        raise UsageError(f"EDITOR={given!r} cannot be read: {error}", "Set it to a command, such as nano.") from error
    if not words:
        raise UsageError("no editor is known: EDITOR is not set", "Set it, for example `export EDITOR=nano`.")
    if which(words[0]) is None:
        raise UsageError(f"the editor {words[0]!r} is not found", "Set EDITOR to a command that is installed.")
    name = PurePath(words[0]).name.removesuffix(".exe").removesuffix(".cmd")
    return Opening((*words, *_at(name, file, line)), name not in WINDOWED)


def _at(name: str, file: str, line: int) -> tuple[str, ...]:
    if name in WITHOUT:
        return (file,)
    if name in WITH_GOTO:
        return "--goto", f"{file}:{line}"
    if name in WITH_OPTION:
        return WITH_OPTION[name], str(line), file
    return (f"{file}:{line}",) if name in WITH_COLON else (f"+{line}", file)


def started(how: Opening) -> None:
    """Start an editor that has a window of its own, and go on."""
    subprocess.Popen(how.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
