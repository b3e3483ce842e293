"""The server, the watch and the pages put together: they begin together, and end together."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from grader.course.stage import Stage
from grader.progress.actions import Workspace
from grader.watching.board import Event
from grader.watching.session import Session, made
from grader.web.page import Pages
from grader.web.serving.app import App
from grader.web.serving.live import Live
from grader.web.serving.server import Server

WIDTH = 64  # columns of what `grader explore` prints: as many as the panel of a page holds


def serve(workspace: Workspace, stage: Stage, port: int, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; ready is given the address once it answers.

    Raises UsageError where the port cannot be used, or the extra `web` is not installed.
    """
    pages = Pages()

    def make(post: Callable[[Event], None]) -> Session:
        return made(workspace, post, lambda: WIDTH, colour=False)

    with Server(port) as server:
        live = Live(make, pages, server.hub)
        server.app = App(workspace, live, server.guard, pages)
        with _stopped_by_signals(live), _answering(server):
            ready(server.guard.address)
            live.run(stage)


@contextmanager
def _answering(server: Server) -> Iterator[None]:
    """Answer requests in a thread, and stop that afterwards."""
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.hub.close()
        server.shutdown()
        thread.join()


@contextmanager
def _stopped_by_signals(live: Live) -> Iterator[None]:
    """Have SIGINT and SIGTERM end the watch, so that everything is put away in its turn."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        live.stop()

    names = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(name, stop) for name in names]
    try:
        yield
    finally:
        for name, handler in zip(names, before, strict=True):
            signal.signal(name, handler)
