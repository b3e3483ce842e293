"""Keys and lines that plain mode answers with text, and what goes with each; the full screen has its own windows."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from grader import shell
from grader.errors import GraderError, UsageError
from grader.report.terminal.beside import comparison_lines
from grader.report.terminal.layout import Look
from grader.report.terminal.overview import hint_title, hint_told
from grader.watching.board_lines import KEYS, state_words
from grader.watching.session import WatchSession

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


ENDS = "There is no further stage in that direction."


@dataclass(frozen=True)
class Reply:
    """What a key led to: text to show, and whether that is the end."""

    text: str = ""
    quits: bool = False


class Keys:
    """Answers keys and, in plain mode, lines; a reset needs `r` and then `yes`."""

    def __init__(self, session: WatchSession, look: Look) -> None:
        self._session = session
        self._look = look
        self._asked = False

    def __call__(self, typed: str) -> Reply:
        """Return the answer to what was typed; an error is an answer, too."""
        word, _, rest = typed.strip().partition(" ")
        asked, self._asked = self._asked, False
        if asked:
            return self._told(self._session.reset) if word in ("y", "yes") else Reply("Nothing was changed.")
        match word:
            case "":
                return Reply()
            case "q":
                return Reply(quits=True)
            case "n" | "p":
                return self._told(lambda: "" if self._session.step(1 if word == "n" else -1) else ENDS)
            case "c":
                self._session.check()
                return Reply("Checking.")
            case "h":
                return self._told(lambda: self._hint(rest or None))
            case "s":
                return self._told(lambda: self._lesson(rest))
            case "d":
                return self._told(self._compared)
            case "o":
                return self._told(self._opened)
            case "e":
                return Reply(self._session.explore())
            case "r":
                self._asked = True
                stage = self._session.board.stage
                return Reply(f"Replace stages/{stage.name}/{stage.module} by its stub? Type y for yes.")
            case "l":
                return Reply(self._listed(""))
            case "?":
                return Reply("\n".join(f"{key}  {what}" for key, what in KEYS))
        return Reply(self._searched(word, rest))

    def _told(self, act: Callable[[], str]) -> Reply:
        try:
            return Reply(self._look.command(act()))
        except (GraderError, OSError) as error:
            return Reply(self._look.command(error_text(error)))

    def _hint(self, criterion: str | None) -> str:
        found = self._session.hint(criterion)
        if isinstance(found, str):
            return found
        stage = self._session.board.stage
        lines = [hint_title(stage, found), *(line.plain for line in hint_told(stage, found, self._look))]
        return "\n".join(lines)

    def _lesson(self, name: str) -> str:
        """Return the step of a criterion, a function or a number; `s all` is the whole README."""
        return self._session.readme() if name == "all" else self._session.lesson(name or None)

    def _compared(self) -> str:
        return "\n".join(line.plain for line in comparison_lines(self._session.compared(), self._look))

    def _opened(self) -> str:
        file, line = self._session.board.place()
        root = self._session.workspace.course.root
        how = opening(str(root / file), line, os.environ, shutil.which)
        if how.in_terminal:  # which this view keeps
            return f"{file}:{line}. In another terminal: {shell.joined(how.command)}"
        started(how)
        return f"{file}:{line}"

    def _listed(self, part: str) -> str:
        found = [
            f"{each.stage.id} {each.stage.title}: {state_words(each)}"
            for each in self._session.board.standings
            if part.lower() in f"{each.stage.id} {each.stage.title} {each.stage.name}".lower()
        ]
        return "\n".join(found)

    def _criteria(self, part: str) -> str:
        """Return a line for each criterion of any stage that has part in its name or its functions'."""
        stages = [each.stage for each in self._session.board.standings]
        return "\n".join(
            f"{stage.id} {each.id}: {each.text}"
            for stage in stages
            for each in stage.criteria
            if part.lower() in f"{stage.id} {each.id} {each.text} {' '.join(each.functions)}".lower()
        )

    def _searched(self, word: str, rest: str) -> str:
        """Search where / begins the line; else take the word for the name of a stage, and watch that."""
        if word.startswith("/"):
            part = f"{word[1:]} {rest}".strip()
            found = [self._listed(part), self._criteria(part)] if part else [self._listed(part)]
            return "\n".join(filter(None, found)) or f"No stage and no criterion has {part!r} in its name."
        try:
            self._session.open(self._session.workspace.course.find(word))
        except GraderError as error:
            return f"{error_text(error)} Type ? for the keys."
        return ""


def error_text(error: GraderError | OSError) -> str:
    """Return an error as one text: what, and what to do."""
    if isinstance(error, GraderError):
        said = error.message[:1].upper() + error.message[1:]
        return f"{said}. {error.hint}" if error.hint else f"{said}."
    return f"{error.filename or 'a file'}: {error.strerror or error}."
