"""`grader watch --plain`: lines only, each a sentence, for screen readers, logs and terminals that cannot do more."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from typing import TextIO

from grader.course.stage import Stage
from grader.progress.actions import Workspace
from grader.report.terminal import screen
from grader.report.terminal.layout import Look, paragraph
from grader.verdict import CriterionResult, Verdict
from grader.watching.board import (
    CheckFailed,
    EarlyCriterion,
    EarlyVerdict,
    Event,
    Explored,
    FileSaved,
    FinalVerdict,
    LineTyped,
)
from grader.watching.board_lines import SEARCHING, spoken, spoken_criterion, title
from grader.watching.keys import Keys
from grader.watching.session import WatchSession, made

WAKE_SECONDS = 0.5  # where a wait without end cannot be interrupted by Ctrl-C


def watch(workspace: Workspace, stage: Stage, look: Look) -> None:
    """Watch until `q` or Ctrl-C; what is printed goes to stdout."""
    events: queue.Queue[Event] = queue.Queue()
    session = made(workspace, events.put, lambda: look.width, colour=False)
    threading.Thread(target=read_lines, args=(sys.stdin, events.put), daemon=True).start()
    lines = Lines(session, Keys(session, look), look)
    try:
        lines.begin(stage)
        while lines.take(following(events)):
            pass
    finally:
        session.close()


def following(events: queue.Queue[Event]) -> Event:
    """Wait for the next event; Ctrl-C ends the wait on every system."""
    while True:
        try:
            return events.get(timeout=WAKE_SECONDS)
        except queue.Empty:
            pass


def read_lines(stream: TextIO, post: Callable[[Event], None]) -> None:
    """Post each line that is typed, in a thread."""
    try:
        for line in stream:
            post(LineTyped(line))
    except (OSError, ValueError):  # closed
        pass


class Lines:
    """Prints what an event leads to."""

    def __init__(self, session: WatchSession, keys: Keys, look: Look) -> None:
        self._session = session
        self._keys = keys
        self._look = look
        self._glimpsed: CriterionResult | None = None  # the criterion that was told ahead of its explanation
        self._decided: Verdict | None = None  # the verdict that was told so
        self._ticket = 0  # of the check that both are of

    def begin(self, stage: Stage) -> None:
        """Say what is watched, and how to stop."""
        self._session.open(stage)
        self._say(f"Watching {title(self._session.board)}. Type ? and Enter for the keys, q to quit.")

    def take(self, event: Event) -> bool:
        """Do what an event asks for and print what comes of it; False where that is the end."""
        before = self._session.board
        if isinstance(event, LineTyped):
            answer = self._keys(event.text)
            self._begin_anew()
            if answer.text:
                self._say(answer.text)
            if self._session.board.stage is not before.stage:
                self._say(f"Watching {title(self._session.board)}.")
            return not answer.quits
        self._session.take(event)
        self._begin_anew()
        board = self._session.board
        if board is not before:
            self._tell(event)
        return True

    def _begin_anew(self) -> None:
        """Forget what was told of an earlier check, once another one has begun."""
        if self._session.ticket != self._ticket:
            self._ticket, self._glimpsed, self._decided = self._session.ticket, None, None

    def _tell(self, event: Event) -> None:
        """Print what has changed."""
        board = self._session.board
        if isinstance(event, FileSaved):
            said = "Saved." if event.path.exists() else self._session.happened(event.path)
            self._say(f"{said} Checking.")
        elif isinstance(event, EarlyCriterion):
            self._glimpsed = event.result
            screen.show(spoken_criterion(board, event.result, self._look))
        elif isinstance(event, EarlyVerdict):
            screen.show(spoken(board, self._look, self._glimpsed))
            self._glimpsed, self._decided = board.first, board.verdict
            if board.first is not None and board.first.status == "failed":
                self._say(SEARCHING)
        elif isinstance(event, (FinalVerdict, CheckFailed)):
            screen.show(spoken(board, self._look, self._glimpsed, self._decided))
            self._glimpsed = self._decided = None
            if board.note:
                self._say(board.note)
        elif isinstance(event, Explored) and event.text:
            screen.write(event.text)
        elif isinstance(event, Explored) and event.why and board.note == f"{event.why}.":
            self._say(board.note)
        sys.stdout.flush()

    def _say(self, text: str) -> None:
        screen.show(paragraph(text, self._look, indent=0))
        sys.stdout.flush()
