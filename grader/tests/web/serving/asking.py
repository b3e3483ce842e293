"""A server that answers, and ways to ask it."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from grader.tests.support.command import Place
from grader.tests.support.patience import SLACK
from grader.tests.web.serving.made import Served
from grader.web.serving.server import Server


@contextmanager
def answering(place: Place) -> Iterator[Server]:
    """A server that answers, with a watch without processes behind it."""
    with Server(0) as server:
        served = Served(place, server.hub, server.guard)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        with served:
            server.app = served.app
            yield server
        server.shutdown()
        thread.join(SLACK)


def ask(server: Server, method: str, path: str, body: bytes | None = None, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.guard.port, timeout=SLACK)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, named)
    return connection.getresponse()


def raw(server: Server, text: bytes) -> bytes:
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
