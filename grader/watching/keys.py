"""What a key does where text answers it: in plain mode, and in the live view; the full screen has its own windows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from grader import shell
from grader.errors import GraderError
from grader.report.terminal.beside import comparison_lines
from grader.report.terminal.layout import Look
from grader.report.terminal.overview import hint_title, hint_told
from grader.watching.editor import opening, started
from grader.watching.session import Session
from grader.watching.telling import KEYS, state_words

ENDS = "There is no further stage in that direction."


@dataclass(frozen=True)
class Answer:
    """What a key led to: text to show, and whether that is the end."""

    text: str = ""
    quits: bool = False


class Keys:
    """Answers keys and, in plain mode, lines; a reset needs `r` and then `yes`."""

    def __init__(self, session: Session, look: Look) -> None:
        self._session = session
        self._look = look
        self._asked = False

    def __call__(self, typed: str) -> Answer:
        """Return the answer to what was typed; an error is an answer, too."""
        word, _, rest = typed.strip().partition(" ")
        asked, self._asked = self._asked, False
        if asked:
            return self._told(self._session.reset) if word in ("y", "yes") else Answer("Nothing was changed.")
        match word:
            case "":
                return Answer()
            case "q":
                return Answer(quits=True)
            case "n" | "p":
                return self._told(lambda: "" if self._session.step(1 if word == "n" else -1) else ENDS)
            case "c":
                self._session.check()
                return Answer("Checking.")
            case "h":
                return self._told(lambda: self._hint(rest or None))
            case "s":
                return self._told(lambda: self._lesson(rest))
            case "d":
                return self._told(self._compared)
            case "o":
                return self._told(self._opened)
            case "e":
                return Answer(self._session.explore())
            case "r":
                self._asked = True
                stage = self._session.board.stage
                return Answer(f"Replace stages/{stage.name}/{stage.module} by its stub? Type y for yes.")
            case "l":
                return Answer(self._listed(""))
            case "?":
                return Answer("\n".join(f"{key}  {what}" for key, what in KEYS))
        return Answer(self._searched(word, rest))

    def _told(self, act: Callable[[], str]) -> Answer:
        try:
            return Answer(self._look.command(act()))
        except (GraderError, OSError) as error:
            return Answer(self._look.command(told(error)))

    def _hint(self, row: str | None) -> str:
        found = self._session.hint(row)
        if isinstance(found, str):
            return found
        stage = self._session.board.stage
        lines = [hint_title(stage, found), *(line.plain for line in hint_told(stage, found, self._look))]
        return "\n".join(lines)

    def _lesson(self, name: str) -> str:
        """Return the step of a row, a function or a number; `s all` is the whole README."""
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

    def _searched(self, word: str, rest: str) -> str:
        """Search where / begins the line; else take the word for the name of a stage, and watch that."""
        if word.startswith("/"):
            part = f"{word[1:]} {rest}".strip()
            return self._listed(part) or f"No stage has {part!r} in its name."
        try:
            self._session.open(self._session.workspace.course.find(word))
        except GraderError as error:
            return f"{told(error)} Type ? for the keys."
        return ""


def told(error: GraderError | OSError) -> str:
    """Return an error as one text: what, and what to do."""
    if isinstance(error, GraderError):
        said = error.message[:1].upper() + error.message[1:]
        return f"{said}. {error.hint}" if error.hint else f"{said}."
    return f"{error.filename or 'a file'}: {error.strerror or error}."
