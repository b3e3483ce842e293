"""`grader watch` where Textual is not installed: the checklist and the first failing row, drawn anew as they change."""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from grader.course.stage import Stage
from grader.progress.actions import Workspace
from grader.report.terminal.layout import Look, paragraph
from grader.watching.events import Event, Explored, Judged, Typed
from grader.watching.keys import Keys
from grader.watching.making import made
from grader.watching.telling import below, reached, row_line, title

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from grader.watching.board import Board

FOOT = "n next  p previous  h hint  e explore  s specification  d compare  r reset  l list  ? help  q quit"
TICK_SECONDS = 0.5


def watch(workspace: Workspace, stage: Stage, console: Console, look: Callable[[], Look]) -> None:
    """Watch until `q` or Ctrl-C."""
    from rich.live import Live

    events: queue.Queue[Event] = queue.Queue()
    session = made(workspace, events.put, lambda: look().width, colour=not console.no_color)
    keys = Keys(session, look())
    said = ""
    try:
        session.open(stage)
        with _keys_at_once(events.put), Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                live.update(_page(session.board, look(), console.height, said), refresh=True)
                with suppress(queue.Empty):
                    event = events.get(timeout=TICK_SECONDS)
                    if isinstance(event, Typed):
                        answer = keys(event.text)
                        if answer.quits:
                            return
                        said = answer.text
                        continue
                    session.take(event)
                    said = "" if isinstance(event, (Judged, Explored)) else said
    finally:
        session.close()


def page(board: Board, look: Look, height: int, said: str, now: float) -> list[Text]:
    """Return the lines that fit: the title, the rows, what is wrong first or what a key was answered, and the keys."""
    top = paragraph(f"{title(board)}   {reached(board, look, now)}", look, "bold", indent=0)
    foot = paragraph(FOOT, look, "dim", indent=0)
    rows = [] if board.verdict is None or board.verdict.problem else [row_line(r, look) for r in board.verdict.criteria]
    answer = paragraph(said or board.note, look, "cyan", indent=0) if said or board.note else []
    told = answer if said else [*answer, *below(board, look)]
    if board.drawn and not said:
        from rich.text import Text

        told = [*told, *Text.from_ansi(board.drawn).split("\n")]
    room = max(0, height - len(top) - len(foot) - 2)
    least = min(len(told), room // 2)
    rows = rows[: max(0, room - least)]
    told = told[: room - len(rows)]
    blank = paragraph("", look)
    return [*top, *blank, *rows, *(blank if rows else []), *told, *foot]


def _page(board: Board, look: Look, height: int, said: str) -> Text:
    from rich.text import Text

    return Text("\n", no_wrap=True, overflow="crop").join(page(board, look, height, said, time.monotonic()))


@contextmanager
def _keys_at_once(post: Callable[[Event], None]) -> Iterator[None]:
    """Post each key as it is pressed, without Enter, where the system can do that; else there are none."""
    try:
        import termios
        import tty
    except ImportError:
        yield
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    threading.Thread(target=_read_keys, args=(descriptor, post), daemon=True).start()
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _read_keys(descriptor: int, post: Callable[[Event], None]) -> None:
    with suppress(OSError):
        while key := os.read(descriptor, 32):
            post(Typed(key.decode("utf-8", "replace")))
