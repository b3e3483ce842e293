"""What is read in a window: a hint, a step of the README, the module beside the reference; each made for its width."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text

from grader.progress.lessons import Hint
from grader.report.terminal.beside import comparison_lines
from grader.report.terminal.layout import Look
from grader.report.terminal.overview import hint_title, hint_told
from grader.watching import telling
from grader.watching.session import Session
from grader.watching.tui.dialogs import Reading

HINT_WIDTH = 66  # columns of a hint: its window has them in a terminal of 80, beside a scroll bar
SHARE, FRAME = 0.98, 8  # of the screen, that a wide window takes; columns of border, padding and scroll bar


def hint_window(session: Session, hint: Hint, look: Look) -> Reading:
    """Return a hint, with what the last check found; h asks for the next one."""
    more = ("h", "the next hint") if hint.number < hint.total else ("", "")
    text = Text("\n").join(hint_told(hint, replace(look, width=HINT_WIDTH)))
    return Reading(look.clean(hint_title(session.board.stage, hint)), text, more=more)


def lesson_window(session: Session, row: str | None) -> Reading:
    """Return the step that a row belongs to; s asks for all of the README. It is all of it where no step is meant."""
    text = session.lesson(row)
    more = ("s", "all of the page") if text != session.readme() else ("", "")
    return Reading(telling.title(session.board), text, markdown=True, more=more)


def readme_window(session: Session) -> Reading:
    """Return all of the README."""
    return Reading(telling.title(session.board), session.readme(), markdown=True)


def comparison_window(session: Session, look: Look, columns: int) -> Reading:
    """Return the module beside the reference, on a screen of so many columns."""
    found = comparison_lines(session.compared(), replace(look, width=int(columns * SHARE) - FRAME))
    return Reading("yours beside the reference", Text("\n").join(found), wide=True)
