"""What is watched while pages are served: one session, as for `grader watch`, in one thread, and frames of its board.

Requests come from other threads: they leave what they want in a queue, and wait for the answer.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookTooLong
from typing import Any

from grader.course.stage import Stage
from grader.errors import GraderError
from grader.watching.board import Event, Explored, Judged
from grader.watching.keys import told
from grader.watching.session import Session
from grader.web.page import Pages
from grader.web.serving.hub import Hub
from grader.web.serving.steps import Steps
from grader.web.serving.view import view

WAKE_SECONDS = 0.5  # how often a wait looks whether it is to end, and a running check is shown anew
FRAME_SECONDS = 0.1  # between frames while tests are counted
ANSWER_SECONDS = 60.0  # a hint may have to grade first
Wish = tuple[Callable[[], str], "Future[str]"]


class Live:
    """Watches a stage, and publishes its board; run() is the one thread that touches the session."""

    def __init__(self, make: Callable[[Callable[[Event], None]], Session], pages: Pages, hub: Hub) -> None:
        self._queue: queue.Queue[Event | Wish] = queue.Queue()
        self.session = make(self._queue.put)
        self.hub = hub
        self._pages = pages
        self._steps = Steps()
        self._verdicts = 0
        self._explored = 0
        self._ended = threading.Event()

    def run(self, stage: Stage) -> None:
        """Watch until stop() or Ctrl-C."""
        try:
            self.session.open(stage)
            self._publish()
            while not self._ended.is_set():
                self._step()
        finally:
            self._ended.set()
            self.session.close()
            self.hub.close()

    def stop(self) -> None:
        """Have run() return soon."""
        self._ended.set()

    def ask(self, wish: Callable[[], str]) -> str:
        """Have something done between two events, and return what came of it; GraderError where it takes too long."""
        answer: Future[str] = Future()
        self._queue.put((wish, answer))
        try:
            return answer.result(ANSWER_SECONDS)
        except TookTooLong as error:
            answer.cancel()
            raise GraderError(f"no answer came within {ANSWER_SECONDS:g} s", "Try again in a moment.") from error

    def frame(self) -> str:
        """Return the board as JSON with its HTML; called by run() alone."""
        board = self.session.board
        shown = view(board, time.monotonic(), self._steps.of(board.stage))
        said = f"{shown.stage}: {'checking' if shown.is_checking else shown.reached}"  # a page keeps it while it checks
        html = self._pages.fill("board.html", view=shown)
        road = self._pages.fill("stages.html", standings=board.standings)
        checking = shown.is_checking
        found = {"stage": shown.stage, "checking": checking, "said": said, "html": html, "road": road}
        return json.dumps({**found, "verdicts": self._verdicts, "explored": self._explored})

    def _step(self) -> None:
        """Do all that is waiting, then show what it led to."""
        try:
            self._do(self._queue.get(timeout=WAKE_SECONDS))
            end = time.monotonic() + FRAME_SECONDS
            while (left := end - time.monotonic()) > 0 and self.session.board.since is not None:
                self._do(self._queue.get(timeout=left))
        except queue.Empty:
            pass
        self._publish()

    def _do(self, item: Event | Wish) -> None:
        if not isinstance(item, tuple):
            self._verdicts += isinstance(item, Judged)
            self._explored += isinstance(item, Explored)
            self.session.take(item)
            return
        wish, answer = item
        if not answer.set_running_or_notify_cancel():
            return
        try:
            answer.set_result(wish())
        except (GraderError, OSError) as error:
            answer.set_result(told(error))
        except BaseException as error:
            answer.set_exception(error if isinstance(error, Exception) else GraderError("the server is stopping"))
            if not isinstance(error, Exception):
                raise

    def _publish(self) -> None:
        self.hub.publish(self.frame())


def named(values: Any, key: str) -> str:
    """Return a text of a request's document; empty where it has none."""
    found = values.get(key) if isinstance(values, dict) else None
    return found if isinstance(found, str) else ""
