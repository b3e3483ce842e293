"""`grader serve`: HTTP on the loopback address, a thread for each connection, bounded in number and in time."""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from grader.course.stage import Stage
from grader.errors import UsageError
from grader.progress.actions import Workspace
from grader.report.terminal.layout import printable
from grader.watching.board import Event
from grader.watching.session import WatchSession, made
from grader.web.app import HOST, AddressGuard, App, RefusedError, Response, Stream, body_length, refusal
from grader.web.live import Hub, Listener, Live
from grader.web.report_page import ReportPages

MOST_CONNECTIONS = 64
ROOM_SECONDS = 1.0  # for a connection that asked for nothing to be ended, where another needs its place
REQUEST_SECONDS = 10.0  # for a request to arrive, and for each piece of an answer to be taken
LOOK_SECONDS = 1.0  # how often a stream looks whether its browser is still there
BEAT_SECONDS = 15.0  # after so long without an event a comment is sent: what lies between forgets idle streams


class PageServer(ThreadingHTTPServer):
    """Listens on a port of the loopback address; app answers once it is set."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = os.name == "posix"  # elsewhere that would let two servers share a port
    request_queue_size = 32

    def __init__(self, port: int) -> None:
        self.app: App | None = None
        self.hub = Hub()
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._silent: dict[socket.socket, None] = {}  # connections that asked for nothing yet, the oldest first
        self._lock = threading.Lock()
        try:
            super().__init__((HOST, port), Handler)
        except (OSError, OverflowError) as error:
            raise _unusable(port, error) from error
        self.guard = AddressGuard(self.server_address[1])

    def server_bind(self) -> None:
        """Bind without looking up a name, which may ask the network."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1) if self.allow_reuse_address else None
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a thread for a connection; one too many takes the place of the oldest silent one, or is closed."""
        if self._free.acquire(blocking=False) or (self._end_a_silent() and self._free.acquire(timeout=ROOM_SECONDS)):
            with self._lock:
                self._silent[request] = None
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def spoke(self, request: socket.socket) -> None:
        """Note that a connection asked for something."""
        with self._lock:
            self._silent.pop(request, None)

    def _end_a_silent(self) -> bool:
        with self._lock:
            oldest = next(iter(self._silent), None)
            if oldest is None:
                return False
            del self._silent[oldest]
            with suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)  # its thread reads the end, and gives its place back
        return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.spoke(request)  # it is closed: its descriptor may be another connection's
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a browser that goes away in the middle is no error."""


class Handler(BaseHTTPRequestHandler):
    """Answers one request, then closes the connection."""

    server: PageServer
    protocol_version = "HTTP/1.1"
    timeout = REQUEST_SECONDS

    def version_string(self) -> str:
        """Return what the server calls itself."""
        return "grader"

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: the address holds the key."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no HTTP, without repeating any of it."""
        self.request_version = self.protocol_version  # to what is older or unknown, headers are sent all the same
        self._send(refusal(HTTPStatus(code), "This request is not understood."))

    def do_GET(self) -> None:
        """Answer a page, a file, or the stream of events."""
        self._answer()

    def do_HEAD(self) -> None:
        """Answer the headers alone."""
        self._answer()

    def do_POST(self) -> None:
        """Do what one of the pages asks for."""
        self._answer()

    def _answer(self) -> None:
        self.server.spoke(self.connection)
        app = self.server.app
        headers = {name.lower(): tuple(self.headers.get_all(name, ())) for name in self.headers}
        try:
            path = self.server.guard.path(self.command, self.path, headers)
            body = self._body(body_length(headers)) if self.command == "POST" else b""
            if app is None:
                raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, "The server is starting.")
            answer = app.answer(self.command, path, body)
        except RefusedError as error:
            answer = refusal(error.status, error.said)
        except Exception as error:  # whatever failed, nothing of it is for a browser to read
            _tell(error)
            answer = refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "The server failed to answer this.")
        if isinstance(answer, Response):
            self._send(answer)
        else:
            self._stream(answer)

    def _body(self, length: int) -> bytes:
        """Return the body of a request; RefusedError where it does not arrive, or not all of it."""
        try:
            body = self.rfile.read(length)
        except OSError as error:
            raise RefusedError(HTTPStatus.REQUEST_TIMEOUT, "The request did not arrive in time.") from error
        if len(body) < length:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "The request broke off.")
        return body

    def _send(self, answer: Response) -> None:
        self.close_connection = True
        with suppress(OSError):
            self._begin(answer.status, answer.headers)
            if getattr(self, "command", None) != "HEAD":
                self.wfile.write(answer.body)

    def _begin(self, status: HTTPStatus, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    def _stream(self, stream: Stream) -> None:
        """Send frames as they come, until the browser or the server goes away."""
        self.close_connection = True
        with self.server.hub.listener() as listener:
            if listener is None:
                self._send(refusal(HTTPStatus.SERVICE_UNAVAILABLE, "Too many pages are open."))
                return
            with suppress(OSError, EOFError, ValueError):
                self._begin(HTTPStatus.OK, stream.headers)
                if self.command != "HEAD":
                    self._follow(listener)

    def _follow(self, listener: Listener) -> None:
        self.wfile.write(b"retry: 1000\n\n")
        quiet = 0.0
        while not self._is_gone():
            frame = listener.take(LOOK_SECONDS)
            quiet = 0.0 if frame is not None else quiet + LOOK_SECONDS
            if frame is not None:
                self.wfile.write(f"data: {frame}\n\n".encode())
            elif quiet >= BEAT_SECONDS:
                quiet = 0.0
                self.wfile.write(b":\n\n")

    def _is_gone(self) -> bool:
        """Say whether the browser has closed its end; it sends nothing more on a stream."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)


def _unusable(port: int, error: OSError | OverflowError) -> UsageError:
    if isinstance(error, OverflowError) or not 0 <= port <= 65535:
        return UsageError(f"{port} is not a port", "Expected a number from 1 to 65535, or 0 for a free one.")
    if error.errno in (errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", errno.EADDRINUSE)):
        hint = "Leave --port out to get a free one; another `grader serve` may have it."
        return UsageError(f"port {port} of {HOST} is in use", hint)
    if error.errno in (errno.EACCES, getattr(errno, "WSAEACCES", errno.EACCES)):
        return UsageError(f"port {port} of {HOST} is not yours to use", "Name one from 1024 on, or leave --port out.")
    return UsageError(f"port {port} of {HOST} cannot be used: {error.strerror or error}", "Leave --port out.")


def _tell(error: Exception) -> None:
    """Say in the terminal what no browser is to read: that the grader failed, and where. An address holds the key."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    said = f"error: the grader failed to answer a browser: {type(error).__name__}: {error} ({last.name})"
    with suppress(OSError, ValueError):  # a terminal that is gone
        print(printable(said)[:500], file=sys.stderr, flush=True)


WIDTH = 64  # columns of what `grader explore` prints: as many as the panel of a page holds


def serve(workspace: Workspace, stage: Stage, port: int, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; ready is given the address once it answers.

    Raises UsageError where the port cannot be used, or the extra `web` is not installed.
    """
    pages = ReportPages()

    def make(post: Callable[[Event], None]) -> WatchSession:
        return made(workspace, post, lambda: WIDTH, colour=False, draws=True)

    with PageServer(port) as server:
        live = Live(make, pages, server.hub)
        server.app = App(workspace, live, server.guard, pages)
        with _stopped_by_signals(live), _answering(server):
            ready(server.guard.address)
            live.run(stage)


@contextmanager
def _answering(server: PageServer) -> Iterator[None]:
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
