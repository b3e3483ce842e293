"""Which requests are answered: right host, right key, a path that only goes down and, to act, one of our own pages."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from grader.web.serving.guard import MOST_BODY, Guard, Headers, RefusedError, body_length

GUARD = Guard(8000, "secret")
OWN = {"host": ("127.0.0.1:8000",)}
ACTS = {**OWN, "origin": ("http://127.0.0.1:8000",), "content-type": ("application/json",)}


def refused(method: str, target: str, headers: Headers) -> HTTPStatus:
    with pytest.raises(RefusedError) as caught:
        GUARD.path(method, target, headers)
    assert "secret" not in caught.value.said and target not in caught.value.said
    return caught.value.status


def test_its_own_address_is_answered() -> None:
    assert GUARD.address == "http://127.0.0.1:8000/secret/"
    assert GUARD.path("GET", "/secret/", OWN) == ""
    assert GUARD.path("GET", "/secret/stages/s01?x=1", OWN) == "stages/s01"
    assert GUARD.path("HEAD", "/secret/a%20b", {"host": ("LOCALHOST:8000",)}) == "a b"


def test_each_key_is_another_and_cannot_be_guessed() -> None:
    assert Guard(1).key != Guard(1).key and len(Guard(1).key) >= 20


@pytest.mark.parametrize(
    "hosts",
    [(), ("evil.example:8000",), ("127.0.0.1",), ("127.0.0.1:8001",), ("127.0.0.1:8000", "127.0.0.1:8000"), ("",)],
)
def test_another_name_is_not_answered(hosts: tuple[str, ...]) -> None:
    assert refused("GET", "/secret/", {"host": hosts}) == HTTPStatus.MISDIRECTED_REQUEST


@pytest.mark.parametrize("target", ["/", "/secre/", "/secret", "/Secret/", "/secret2/", "/static/style.css", "/ä/"])
def test_without_the_key_there_is_nothing(target: str) -> None:
    assert refused("GET", target, OWN) == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize(
    "target",
    [
        "secret/",
        "//secret/",
        "http://127.0.0.1:8000/secret/",
        "/secret/../x",
        "/secret/./x",
        "/secret/%2e%2e/x",
        "/secret/a/..%2fb",
        "/secret/..%5cx",
        "/secret/%252e%252e/x",
        "/secret/%00",
        "/secret/%ff",
        "/secret/" + "x" * 2000,
        "/[/",
        "*",
    ],
)
def test_a_path_goes_down_only(target: str) -> None:
    assert refused("GET", target, OWN) in (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "get", ""])
def test_other_methods_are_not_known(method: str) -> None:
    assert refused(method, "/secret/", OWN) == HTTPStatus.METHOD_NOT_ALLOWED


def test_one_of_its_own_pages_may_act() -> None:
    assert GUARD.path("POST", "/secret/do/check", ACTS) == "do/check"
    same = {**ACTS, "sec-fetch-site": ("same-origin",), "content-type": ("application/json; charset=utf-8",)}
    assert GUARD.path("POST", "/secret/do/check", same) == "do/check"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"origin": ()}, HTTPStatus.FORBIDDEN),
        ({"origin": ("null",)}, HTTPStatus.FORBIDDEN),
        ({"origin": ("http://evil.example",)}, HTTPStatus.FORBIDDEN),
        ({"origin": ("https://127.0.0.1:8000",)}, HTTPStatus.FORBIDDEN),
        ({"origin": ("http://127.0.0.1:8001",)}, HTTPStatus.FORBIDDEN),
        ({"origin": ("http://localhost:8000",)}, HTTPStatus.FORBIDDEN),  # another origin than the host's
        ({"origin": ACTS["origin"] * 2}, HTTPStatus.FORBIDDEN),
        ({"sec-fetch-site": ("cross-site",)}, HTTPStatus.FORBIDDEN),
        ({"sec-fetch-site": ("same-site",)}, HTTPStatus.FORBIDDEN),
        ({"content-type": ("text/plain",)}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),  # what a form could send
        ({"content-type": ()}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
    ],
)
def test_nobody_else_may(change: dict[str, tuple[str, ...]], status: HTTPStatus) -> None:
    assert refused("POST", "/secret/do/check", {**ACTS, **change}) == status


def test_the_length_of_a_body_is_known_and_bounded() -> None:
    assert body_length({"content-length": ("0",)}) == 0
    assert body_length({"content-length": (str(MOST_BODY),)}) == MOST_BODY


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, HTTPStatus.LENGTH_REQUIRED),
        ({"content-length": ("1", "2")}, HTTPStatus.LENGTH_REQUIRED),
        ({"content-length": ("-1",)}, HTTPStatus.LENGTH_REQUIRED),
        ({"content-length": ("²",)}, HTTPStatus.LENGTH_REQUIRED),
        ({"content-length": ("1",), "transfer-encoding": ("chunked",)}, HTTPStatus.LENGTH_REQUIRED),
        ({"content-length": (str(MOST_BODY + 1),)}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        ({"content-length": ("9" * 5000,)}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    ],
)
def test_any_other_body_is_refused(headers: Headers, status: HTTPStatus) -> None:
    with pytest.raises(RefusedError) as caught:
        body_length(headers)
    assert caught.value.status == status
