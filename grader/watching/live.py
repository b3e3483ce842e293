"""`grader watch` where Textual is not installed: the checklist and the first failing row, drawn anew as they change."""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
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
    from grader.watching.session import Session

FOOT = (
    "n next", "p previous", "h hint", "e explore", "s specification", "d compare", "r reset", "l list", "? help",
    "q quit",
)  # fmt: skip
ON, BACK = (" ", "\x1b[6~", "\x1b[B"), ("b", "\x1b[5~", "\x1b[A")  # with the keys that turn pages, and arrows
ESCAPE = "\x1b"
TICK_SECONDS = 0.5


@dataclass(frozen=True)
class Page:
    """The lines of a screen, and how often its text can be turned on from the beginning."""

    lines: list[Text]
    turns: int = 0


def watch(workspace: Workspace, stage: Stage, console: Console, look: Callable[[], Look]) -> None:
    """Watch until `q` or Ctrl-C."""
    from rich.live import Live

    look = steady(look)
    events: queue.Queue[Event] = queue.Queue()
    session = made(workspace, events.put, lambda: look().width, colour=not console.no_color)
    screen = Screen(session, Keys(session, look()))
    try:
        session.open(stage)
        with _keys_at_once(events.put), Live(console=console, screen=True, auto_refresh=False) as live:
            while not screen.ended:
                live.update(_text(screen.page(look(), console.height, time.monotonic())), refresh=True)
                with suppress(queue.Empty):
                    screen.take(events.get(timeout=TICK_SECONDS))
    finally:
        session.close()


def steady(look: Callable[[], Look]) -> Callable[[], Look]:
    """Return look with the letters of now: what stands in for stdout on a live screen does not tell its encoding."""
    ascii_only = look().ascii
    return lambda: replace(look(), ascii=ascii_only)


class Screen:
    """What the screen shows besides the board: what a key was answered, and how far its text was turned on."""

    def __init__(self, session: Session, keys: Keys) -> None:
        self.ended = False
        self._session = session
        self._keys = keys
        self._said = ""
        self._turn = self._turns = 0

    def page(self, look: Look, height: int, now: float) -> Page:
        """Return what is shown on so many lines; now is on the monotonic clock."""
        found = page(self._session.board, look, height, self._said, now, self._turn)
        self._turns = found.turns
        return found

    def take(self, event: Event) -> None:
        """Do what a key asks for, or what has happened."""
        if isinstance(event, Typed):
            self._typed(event.text)
            return
        self._session.take(event)
        if isinstance(event, (Judged, Explored)):
            self._say("")

    def _typed(self, key: str) -> None:
        if key in ON or key in BACK:
            self._turn = max(0, min(self._turns, self._turn + (1 if key in ON else -1)))
        elif key.startswith(ESCAPE):
            self._say("")
        else:
            answer = self._keys(key)
            self.ended = answer.quits
            self._say(answer.text)

    def _say(self, text: str) -> None:
        self._said, self._turn = text, 0


def page(board: Board, look: Look, height: int, said: str, now: float, turn: int = 0) -> Page:
    """Return the lines that fit: the title, the rows, what is wrong first or what a key was answered, and the keys.

    A text that does not fit is cut into pages, of which turn counts; an answer that is long takes the rows' place.
    """
    top = paragraph(f"{title(board)}   {reached(board, look, now)}", look, "bold", indent=0)
    foot = paragraph(_packed(FOOT, look.width), look, "dim", indent=0)
    found = () if board.verdict is None or board.verdict.problem else board.verdict.criteria
    rows = [row_line(row, look, row.id in board.seen) for row in found]
    answer = paragraph(said or board.note, look, "cyan", indent=0) if said or board.note else []
    told = answer if said else [*answer, *below(board, look)]
    if board.drawn and not said:
        from rich.text import Text

        told = [*told, *Text.from_ansi(board.drawn).split("\n")]
    room = max(0, height - len(top) - len(foot) - 2)
    rows = [] if said and len(told) > room // 2 else rows[: room - min(len(told), room // 2)]
    room += 0 if rows else 1  # no line between rows and text
    shown, turns = _turned(told, room - len(rows), turn, look)
    blank = paragraph("", look)
    return Page([*top, *blank, *rows, *(blank if rows else []), *shown, *foot], turns)


def _turned(lines: list[Text], room: int, turn: int, look: Look) -> tuple[list[Text], int]:
    """Return the lines of a page, with which these are where there are others, and how often one can go on."""
    if len(lines) <= room:
        return lines, 0
    fit = max(1, room - 1)
    turns = -(-len(lines) // fit) - 1
    first = min(turn, turns) * fit
    last = min(len(lines), first + fit)
    keys = " and ".join([*(["Space goes on"] if last < len(lines) else []), *(["b goes back"] if first else [])])
    note = paragraph(f"lines {first + 1} to {last} of {len(lines)}: {keys}", look, "dim", indent=0)
    return [*lines[first:last], *note[:1]][: max(0, room)], turns


def _packed(words: Sequence[str], width: int) -> str:
    """Return words side by side, on lines that break between them only."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 2 + len(word) <= width:
            lines[-1] += f"  {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def _text(shown: Page) -> Text:
    from rich.text import Text

    return Text("\n", no_wrap=True, overflow="crop").join(shown.lines)


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
