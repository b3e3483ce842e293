"""HTTP: on the loopback address alone, what is answered, and what is refused."""

from __future__ import annotations

import json
import socket
import threading

import pytest

from grader.errors import UsageError
from grader.tests.support.patience import SLACK
from grader.tests.web.serving.asking import ask, raw
from grader.web.serving import server as module
from grader.web.serving.server import Server


def test_it_listens_on_the_loopback_address_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1" and server.guard.port > 0


def test_a_page_is_answered_with_its_headers(server: Server) -> None:
    answer = ask(server, "GET", f"{server.guard.base}road")
    assert answer.status == 200 and b"The road" in answer.read()
    assert answer.headers["Server"] == "grader" and "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_the_headers_alone_can_be_asked_for(server: Server) -> None:
    answer = ask(server, "HEAD", f"{server.guard.base}road")
    assert answer.status == 200 and int(answer.headers["Content-Length"]) > 100 and answer.read() == b""


def test_what_the_guard_refuses_is_refused(server: Server) -> None:
    assert ask(server, "GET", "/").status == 404
    assert ask(server, "GET", server.guard.base, Host="evil.example").status == 421
    assert ask(server, "POST", f"{server.guard.base}do/check", b"{}").status == 403
    assert ask(server, "DELETE", server.guard.base).status == 501
    answer = ask(server, "GET", f"{server.guard.base}%2e%2e/x")
    assert answer.status == 400 and b"2e" not in answer.read()


def test_one_of_its_pages_may_act(server: Server) -> None:
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
    server: Server, text: bytes, status: bytes
) -> None:
    answer = raw(server, text)
    assert status in answer.split(b"\r\n")[0] and b"script" not in answer.split(b"\r\n\r\n", 1)[1]
    assert b"nosniff" in answer


def test_a_body_that_does_not_arrive_is_the_requests_fault(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    base, port = server.guard.base, server.guard.port
    head = f"POST {base}do/check HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    text = f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode()
    assert raw(server, text).startswith(b"HTTP/1.1 400 ")  # it broke off
    monkeypatch.setattr(module.Handler, "timeout", 0.1)
    with socket.create_connection(("127.0.0.1", port), SLACK) as connection:
        connection.sendall(text)
        assert connection.recv(13) == b"HTTP/1.1 408 "


def test_a_failure_of_ours_is_answered_without_its_trace_and_told_in_the_terminal(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("secret words")

    monkeypatch.setattr(server.app, "answer", fails)
    answer = ask(server, "GET", f"{server.guard.base}road")
    assert answer.status == 500 and b"secret words" not in answer.read()
    told = capsys.readouterr().err
    assert "secret words" in told and server.guard.base not in told


def test_a_server_that_is_not_ready_says_so() -> None:
    with Server(0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        assert ask(server, "GET", f"{server.guard.base}road").status == 503
        server.shutdown()
        thread.join(SLACK)


def test_a_port_in_use_is_told() -> None:
    with Server(0) as server, pytest.raises(UsageError, match="is in use") as caught:
        Server(server.guard.port)
    assert "Leave --port out" in str(caught.value.hint)


@pytest.mark.parametrize("port", [-1, 65536])
def test_what_is_no_port_is_told(port: int) -> None:
    with pytest.raises(UsageError, match=f"{port} is not a port"):
        Server(port)


def test_a_port_of_the_systems_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Server, "server_bind", denied)
    with pytest.raises(UsageError, match=r"port 80 of 127\.0\.0\.1 is not yours to use"):
        Server(80)
