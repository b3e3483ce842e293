"""Connections are bounded in number and time, and a browser that leaves costs nothing."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import suppress

import pytest

from grader.tests.support.command import Place
from grader.tests.support.patience import SLACK
from grader.tests.web.serving.asking import answering, ask, until
from grader.web.serving import server as module
from grader.web.serving.server import Server


def test_frames_are_streamed(server: Server) -> None:
    answer = ask(server, "GET", f"{server.guard.base}events")
    assert answer.headers["Content-Type"] == "text/event-stream"
    lines = [answer.readline() for _ in range(3)]
    assert lines[0] == b"retry: 1000\n" and json.loads(lines[2].removeprefix(b"data: "))["stage"] == "s01"
    answer.close()


def test_a_browser_that_goes_away_is_forgotten(server: Server) -> None:
    connection = socket.create_connection(("127.0.0.1", server.guard.port), SLACK)
    request = f"GET {server.guard.base}events HTTP/1.1\r\nHost: 127.0.0.1:{server.guard.port}\r\n\r\n"
    connection.sendall(request.encode())
    until(lambda: len(server.hub) == 1)
    connection.close()
    until(lambda: len(server.hub) == 0)


def test_an_idle_stream_is_kept_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(module, "BEAT_SECONDS", 0.1)
    answer = ask(server, "GET", f"{server.guard.base}events")
    until(lambda: answer.readline() == b":\n")
    answer.close()


def test_connections_beyond_the_bound_are_closed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 2)
    with answering(place) as server:
        address = ("127.0.0.1", server.guard.port)
        held = [streaming(server) for _ in range(2)]
        until(lambda: is_full(server))
        with socket.create_connection(address, SLACK) as one_more:
            assert one_more.recv(1) == b""
        for each in held:
            each.close()
        until(lambda: _answers(server))


def test_a_connection_that_asks_for_nothing_yields_its_place(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 3)
    with answering(place) as server:
        address = ("127.0.0.1", server.guard.port)
        stream = streaming(server)
        silent = [socket.create_connection(address, SLACK) for _ in range(8)]
        silent[-1].sendall(b"GET / HTTP/1.1\r\nHost: ")  # half a request is none
        until(lambda: is_full(server))
        assert _answers(server)
        until(lambda: silent[0].recv(1) == b"")
        stream.settimeout(0.1)
        with suppress(TimeoutError):
            while stream.recv(1 << 16):
                pass
            pytest.fail("the stream was ended for a silent connection")
        for each in (stream, *silent):
            each.close()


def streaming(server: Server) -> socket.socket:
    """Return a connection that asked for the stream of events, and was answered."""
    connection = socket.create_connection(("127.0.0.1", server.guard.port), SLACK)
    asked = f"GET {server.guard.base}events HTTP/1.1\r\nHost: 127.0.0.1:{server.guard.port}\r\n\r\n"
    connection.sendall(asked.encode())
    assert connection.recv(1 << 10).startswith(b"HTTP/1.1 200")
    return connection


def is_full(server: Server) -> bool:
    if server._free.acquire(blocking=False):
        server._free.release()
        return False
    return True


def _answers(server: Server) -> bool:
    with suppress(OSError, http.client.HTTPException):
        return ask(server, "GET", f"{server.guard.base}road").status == 200
    return False


def test_a_request_that_never_ends_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.Handler, "timeout", 0.1)
    with socket.create_connection(("127.0.0.1", server.guard.port), SLACK) as connection:
        connection.sendall(b"GET / HT")
        assert connection.recv(1) == b""
