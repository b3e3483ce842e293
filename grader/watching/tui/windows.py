"""What is read in a window: a hint, a step of the README, the module beside the reference; each made for its width."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console
from rich.text import Text

from grader.progress.hints import Hint
from grader.report.terminal.beside import comparison_lines
from grader.report.terminal.layout import Look, in_ascii
from grader.report.terminal.overview import hint_title, hint_told
from grader.report.terminal.pages import Page
from grader.watching import telling
from grader.watching.session import Session
from grader.watching.tui.dialogs import Reading

HINT_WIDTH = 66  # columns of a hint: its window has them in a terminal of 80, beside a scroll bar
USUAL_SHARE, MOST_COLUMNS = 0.9, 110  # of the screen, that any other window takes
SHARE, FRAME = 0.98, 8  # of the screen, that a wide window takes; columns of border, padding and scroll bar


def hint_window(session: Session, hint: Hint, look: Look) -> Reading:
    """Return a hint, with what the last check found; h asks for the next one."""
    goes_on = not hint.is_fix and (hint.number < hint.total or hint.has_fix)
    more = ("h", "the next hint") if goes_on else ("", "")
    text = Text("\n").join(hint_told(session.board.stage, hint, replace(look, width=HINT_WIDTH)))
    return Reading(look.clean(hint_title(session.board.stage, hint)), text, more=more)


def lesson_window(session: Session, row: str | None, look: Look, columns: int) -> Reading:
    """Return the step that a row belongs to; s asks for all of the README. It is all of it where no step is meant."""
    text = session.lesson(row)
    more = ("s", "all of the page") if text != session.readme() else ("", "")
    return _page(telling.title(session.board), text, look, columns, more)


def readme_window(session: Session, look: Look, columns: int) -> Reading:
    """Return all of the README."""
    return _page(telling.title(session.board), session.readme(), look, columns)


def _page(title: str, text: str, look: Look, columns: int, more: tuple[str, str] = ("", "")) -> Reading:
    """Return Markdown, in ASCII laid out here: Textual draws its tables with other signs."""
    if not look.ascii:
        return Reading(title, text, markdown=True, more=more)
    console = Console(width=min(int(columns * USUAL_SHARE), MOST_COLUMNS) - FRAME, color_system=None)
    with console.capture() as captured:
        console.print(Page(look.clean(look.prose(text))))
    return Reading(look.clean(title), in_ascii(captured.get()), more=more)


def comparison_window(session: Session, look: Look, columns: int) -> Reading:
    """Return the module beside the reference, on a screen of so many columns."""
    found = comparison_lines(session.compared(), replace(look, width=int(columns * SHARE) - FRAME))
    return Reading("yours beside the reference", Text("\n").join(found), wide=True)
