"""HTTP: on the loopback address alone, what is answered and refused, and how the server begins and ends."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import threading
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.progress.actions import Workspace
from grader.progress.workspace import open_workspace
from grader.watching.session import WatchSession
from grader.web import http_server as module
from grader.web import http_server as server
from grader.web.http_server import PageServer, serve
from tests.support.command import Place
from tests.support.patience import SLACK
from tests.watching.fakes import Checks, Saves
from tests.web.asking import answering, ask, raw, until


def test_it_listens_on_the_loopback_address_alone(server: PageServer) -> None:
    assert server.server_address[0] == "127.0.0.1" and server.guard.port > 0


def test_a_page_is_answered_with_its_headers(server: PageServer) -> None:
    answer = ask(server, "GET", f"{server.guard.base}road")
    assert answer.status == 200 and b"The road" in answer.read()
    assert answer.headers["Server"] == "grader" and "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_the_headers_alone_can_be_asked_for(server: PageServer) -> None:
    answer = ask(server, "HEAD", f"{server.guard.base}road")
    assert answer.status == 200 and int(answer.headers["Content-Length"]) > 100 and answer.read() == b""


def test_what_the_guard_refuses_is_refused(server: PageServer) -> None:
    assert ask(server, "GET", "/").status == 404
    assert ask(server, "GET", server.guard.base, Host="evil.example").status == 421
    assert ask(server, "POST", f"{server.guard.base}do/check", b"{}").status == 403
    assert ask(server, "DELETE", server.guard.base).status == 501
    answer = ask(server, "GET", f"{server.guard.base}%2e%2e/x")
    assert answer.status == 400 and b"2e" not in answer.read()


def test_one_of_its_pages_may_act(server: PageServer) -> None:
    origin = server.guard.address.removesuffix(server.guard.base)
    headers = {"Origin": origin, "Content_Type": "application/json"}
    answer = ask(server, "POST", f"{server.guard.base}do/check", b'{"stage": "s01"}', **headers)
    assert (answer.status, json.loads(answer.read())) == (200, {"said": ""})
    assert ask(server, "POST", f"{server.guard.base}do/check", b"x" * 5000, **headers).status == 413


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b"GET / HTTP/1.0\r\n\r\n", b"421"),
        (b"GET / HTTP/9.9\r\n\r\n", b"505"),
        (b"<script>\r\n\r\n", b"400"),
        (b"GET /" + b"x" * 70000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"421"),
        (b"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", b"501"),
    ],
)
def test_what_is_no_request_of_a_browser_is_refused_and_not_repeated(
    server: PageServer, text: bytes, status: bytes
) -> None:
    answer = raw(server, text)
    assert status in answer.split(b"\r\n")[0] and b"script" not in answer.split(b"\r\n\r\n", 1)[1]
    assert b"nosniff" in answer


def test_a_body_that_does_not_arrive_is_the_requests_fault(server: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    base, port = server.guard.base, server.guard.port
    head = f"POST {base}do/check HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    text = f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode()
    assert raw(server, text).startswith(b"HTTP/1.1 400 ")  # it broke off
    monkeypatch.setattr(module.Handler, "timeout", 0.1)
    with socket.create_connection(("127.0.0.1", port), SLACK) as connection:
        connection.sendall(text)
        assert connection.recv(13) == b"HTTP/1.1 408 "


def test_a_failure_of_ours_is_answered_without_its_trace_and_told_in_the_terminal(
    server: PageServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("secret words")

    monkeypatch.setattr(server.app, "answer", fails)
    answer = ask(server, "GET", f"{server.guard.base}road")
    assert answer.status == 500 and b"secret words" not in answer.read()
    told = capsys.readouterr().err
    assert "secret words" in told and server.guard.base not in told


def test_a_server_that_is_not_ready_says_so() -> None:
    with PageServer(0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        assert ask(server, "GET", f"{server.guard.base}road").status == 503
        server.shutdown()
        thread.join(SLACK)


def test_a_port_in_use_is_told() -> None:
    with PageServer(0) as server, pytest.raises(UsageError, match="is in use") as caught:
        PageServer(server.guard.port)
    assert "Leave --port out" in str(caught.value.hint)


@pytest.mark.parametrize("port", [-1, 65536])
def test_what_is_no_port_is_told(port: int) -> None:
    with pytest.raises(UsageError, match=f"{port} is not a port"):
        PageServer(port)


def test_a_port_of_the_systems_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(PageServer, "server_bind", denied)
    with pytest.raises(UsageError, match=r"port 80 of 127\.0\.0\.1 is not yours to use"):
        PageServer(80)


def test_frames_are_streamed(server: PageServer) -> None:
    answer = ask(server, "GET", f"{server.guard.base}events")
    assert answer.headers["Content-Type"] == "text/event-stream"
    lines = [answer.readline() for _ in range(3)]
    assert lines[0] == b"retry: 1000\n" and json.loads(lines[2].removeprefix(b"data: "))["stage"] == "s01"
    answer.close()


def test_a_browser_that_goes_away_is_forgotten(server: PageServer) -> None:
    connection = socket.create_connection(("127.0.0.1", server.guard.port), SLACK)
    request = f"GET {server.guard.base}events HTTP/1.1\r\nHost: 127.0.0.1:{server.guard.port}\r\n\r\n"
    connection.sendall(request.encode())
    until(lambda: len(server.hub) == 1)
    connection.close()
    until(lambda: len(server.hub) == 0)


def test_an_idle_stream_is_kept_up(server: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
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


def streaming(server: PageServer) -> socket.socket:
    """Return a connection that asked for the stream of events, and was answered."""
    connection = socket.create_connection(("127.0.0.1", server.guard.port), SLACK)
    asked = f"GET {server.guard.base}events HTTP/1.1\r\nHost: 127.0.0.1:{server.guard.port}\r\n\r\n"
    connection.sendall(asked.encode())
    assert connection.recv(1 << 10).startswith(b"HTTP/1.1 200")
    return connection


def is_full(server: PageServer) -> bool:
    if server._free.acquire(blocking=False):
        server._free.release()
        return False
    return True


def _answers(server: PageServer) -> bool:
    with suppress(OSError, http.client.HTTPException):
        return ask(server, "GET", f"{server.guard.base}road").status == 200
    return False


def test_a_request_that_never_ends_is_given_up(server: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.Handler, "timeout", 0.1)
    with socket.create_connection(("127.0.0.1", server.guard.port), SLACK) as connection:
        connection.sendall(b"GET / HT")
        assert connection.recv(1) == b""


CHECKS: list[Checks] = []


@pytest.fixture
def workspace(place: Place, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    def made(workspace: Workspace, post: object, width: Callable[[], int], colour: bool, draws: bool) -> WatchSession:
        CHECKS.append(Checks())
        assert (width(), colour, draws) == (server.WIDTH, False, True)
        return WatchSession(workspace, CHECKS[-1], Saves(), lambda stage, typed: False)

    monkeypatch.setattr(server, "made", made)
    return open_workspace(place.root)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything_in_its_turn(workspace: Workspace, number: signal.Signals) -> None:
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    read: list[bytes] = []
    threads = threading.active_count()

    def ready(address: str) -> None:
        with urllib.request.urlopen(f"{address}road", timeout=SLACK) as answer:
            read.append(answer.read())
        signal.raise_signal(number)

    serve(workspace, workspace.course.stages[0], 0, ready)
    assert b"The road" in read[0] and CHECKS[-1].closed
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
    assert threading.active_count() <= threads + 1  # the connection's own thread may still be ending


def test_what_fails_at_the_beginning_leaves_nothing_running(workspace: Workspace) -> None:
    def ready(address: str) -> None:
        raise OSError("no terminal")

    with pytest.raises(OSError, match="no terminal"):
        serve(workspace, workspace.course.stages[0], 0, ready)
    assert not [each for each in threading.enumerate() if "serve_forever" in each.name]


def test_the_port_is_free_again_afterwards(workspace: Workspace) -> None:
    ports: list[int] = []

    def ready(address: str) -> None:
        ports.append(int(address.split(":")[2].split("/")[0]))
        signal.raise_signal(signal.SIGTERM)

    serve(workspace, workspace.course.stages[0], 0, ready)
    serve(workspace, workspace.course.stages[0], ports[0], ready)
    assert ports[0] == ports[1] and Path(workspace.course.root).is_dir()
