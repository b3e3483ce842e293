"""A watch without processes, the thread that runs it, and an app that asks it: what tests of the server share."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from grader.progress.actions import Workspace
from grader.progress.workspace import open_workspace
from grader.watching.board import Event
from grader.watching.session import WatchSession
from grader.web.app import AddressGuard, App
from grader.web.http_server import PageServer
from grader.web.live import Hub, Listener, Live
from grader.web.report_page import ReportPages
from tests.support.command import Place
from tests.support.patience import SLACK
from tests.watching.fakes import Checks, Saves


@dataclass
class Served:
    """A course that is served without a socket; post is how threads of a watch tell of events."""

    place: Place
    hub: Hub = field(default_factory=Hub)
    guard: AddressGuard = field(default_factory=lambda: AddressGuard(8000, "secret"))

    def __post_init__(self) -> None:
        self.workspace: Workspace = open_workspace(self.place.root)
        self.checks, self.saves = Checks(), Saves()
        self.explored: list[str] = []
        self.typed: list[str] = []  # the sentences of these
        self.live = Live(self._made, ReportPages(), self.hub)
        self.app = App(self.workspace, self.live, self.guard, ReportPages())
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _made(self, post: Callable[[Event], None]) -> WatchSession:
        self.post = post
        return WatchSession(self.workspace, self.checks, self.saves, self._explore)

    def _explore(self, stage: str, typed: str) -> bool:
        self.explored.append(stage)
        self.typed.append(typed)
        return True

    def _run(self) -> None:
        with suppress(KeyboardInterrupt):
            self.live.run(self.workspace.course.stages[0])

    def __enter__(self) -> Served:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()
        self._thread.join(SLACK)
        assert not self._thread.is_alive()


def frames(listener: Listener | None, holds: Callable[[Any], bool]) -> Any:
    """Return the first frame of which something holds."""
    assert listener is not None
    for _ in range(100):
        frame = listener.take(SLACK)
        assert frame is not None
        if holds(found := json.loads(frame)):
            return found
    raise AssertionError("no such frame")


@contextmanager
def answering(place: Place) -> Iterator[PageServer]:
    """A server that answers, with a watch without processes behind it."""
    with PageServer(0) as server:
        served = Served(place, server.hub, server.guard)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        with served:
            server.app = served.app
            yield server
        server.shutdown()
        thread.join(SLACK)


def ask(
    server: PageServer, method: str, path: str, body: bytes | None = None, **headers: str
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.guard.port, timeout=SLACK)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, named)
    return connection.getresponse()


def raw(server: PageServer, text: bytes) -> bytes:
    """Return what is answered to bytes as they are."""
    with socket.create_connection(("127.0.0.1", server.guard.port), SLACK) as connection:
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        found = b""
        with suppress(OSError):
            while piece := connection.recv(1 << 16):
                found += piece
        return found


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SLACK
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
