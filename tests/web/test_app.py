"""Requests and answers: who is let in, what each address gets, and headers that let a browser do little with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest

from grader.watching.board import FinalVerdict
from grader.web.app import (
    KINDS,
    MOST_BODY,
    AddressGuard,
    Headers,
    RefusedError,
    Response,
    Stream,
    body_length,
    document,
    moved,
    page,
    refusal,
)
from tests.similarity.test_page import Reader
from tests.support.command import Place
from tests.watching.fakes import verdict
from tests.web.asking import Served


def test_a_page_runs_and_loads_only_what_comes_from_here() -> None:
    headers = page("<p>ä").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy and "http" not in policy
    assert headers["Content-Length"] == "5" and headers["Content-Type"] == "text/html; charset=utf-8"


def test_every_answer_keeps_its_kind_and_is_nobody_elses() -> None:
    answers: list[Response | Stream] = [
        page(""),
        document({}),
        refusal(HTTPStatus.NOT_FOUND, "No."),
        moved("/x"),
        Stream(),
    ]
    for answer in (*answers, *(Response(kind=kind) for kind in KINDS.values())):
        headers = answer.headers
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin" and headers["Cache-Control"] == "no-store"
        assert not [name for name in headers if name.lower().startswith("access-control")]


def test_a_drawing_that_is_opened_by_itself_is_in_a_sandbox() -> None:
    assert "sandbox" in Response(kind="image/svg+xml").headers["Content-Security-Policy"]


def test_a_document_is_ascii_and_a_move_has_its_place() -> None:
    assert document({"said": "ä\u2028"}).body == b'{"said": "\\u00e4\\u2028"}'
    assert moved("/k/road").headers["Location"] == "/k/road" and moved("/k/road").status == HTTPStatus.FOUND


GUARD = AddressGuard(8000, "secret")
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
    assert AddressGuard(1).key != AddressGuard(1).key and len(AddressGuard(1).key) >= 20


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


README = """# Numbers

![two](pictures/two.svg) ![hidden](../../hidden/s01_numbers/x.svg)

$$y = 2 x$$

[all](../README.md) [next](../s02_sums/README.md) [module](numbers_.py)
"""


@pytest.fixture
def served(place: Place) -> Iterator[Served]:
    folder = place.numbers.parent
    (folder / "README.md").write_text(README, encoding="utf-8")
    (folder / "pictures").mkdir()
    for path in (folder / "pictures" / "two.svg", place.root / "hidden" / "s01_numbers" / "x.svg"):
        path.write_text("<svg/>", encoding="utf-8")
    (place.root / "stages" / "README.md").write_text("# Conventions\n", encoding="utf-8")
    with Served(place) as found:
        yield found


def get(served: Served, path: str) -> Response:
    answer = served.app.answer("GET", path)
    assert isinstance(answer, Response)
    return answer


def post(served: Served, what: str, body: object) -> tuple[HTTPStatus, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = served.app.answer("POST", f"do/{what}", data)
    assert isinstance(answer, Response)
    return answer.status, json.loads(answer.body) if answer.kind == "application/json" else answer.body.decode()


@pytest.mark.parametrize("path", ["road", "conventions", "stages/s01", "stages/s02"])
def test_each_page_is_whole_and_loads_from_here_alone(served: Served, path: str) -> None:
    answer = get(served, path)
    read = Reader(answer.body.decode())
    assert answer.status == HTTPStatus.OK and read.open == []
    loaded = [str(value) for name, value in read.attributes if name == "src"]
    linked = [str(value) for name, value in read.attributes if name == "href"]
    assert all(each.startswith("/secret/") for each in loaded)
    assert all(each.startswith(("/secret/", "#", "data:,")) for each in linked)
    assert not [name for name, _ in read.attributes if name.startswith("on") or name == "style"]


def test_a_chapter_has_its_pictures_formulas_links_and_neighbours(served: Served) -> None:
    text = get(served, "stages/s01").body.decode()
    assert '<img src="/secret/pictures/s01/pictures/two.svg" alt="two"' in text and "<em>Picture: hidden</em>" in text
    assert 'alttext="y = 2 x"' in text and '<a href="/secret/conventions">all</a>' in text
    assert '<a href="/secret/stages/s02">next</a>' in text and "<span>module</span>" in text
    assert "After: s02 Sums" in text and "Before:" not in text


def test_only_a_stage_that_has_something_to_draw_has_a_button_for_it(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explores(stage: str) -> bool:
        return 'data-do="explore"' in get(served, f"stages/{stage}").body.decode()

    assert not explores("s01")
    monkeypatch.setattr("grader.web.app.may_draw", lambda course, stage: stage == "s01")
    assert explores("s01") and not explores("s02")


def test_a_picture_of_the_page_is_served(served: Served) -> None:
    answer = get(served, "pictures/s01/pictures/two.svg")
    assert (answer.status, answer.kind, answer.body) == (HTTPStatus.OK, "image/svg+xml", b"<svg/>")


def test_our_own_files_are_served(served: Served) -> None:
    for name in ("style.css", "live.js", "live.css", "weights.js"):
        assert get(served, f"static/{name}").status == HTTPStatus.OK


def test_nothing_else_is_there(served: Served) -> None:
    for path in (
        "hidden/s01_numbers/solution.py",
        "stages/s01_numbers",
        "stages/s01/numbers_.py",
        "stages/s99",
        "pictures/s01/numbers_.py",
        "pictures/s01/../../hidden/s01_numbers/x.svg",
        "pictures/s01/pictures",
        "pictures/s02/pictures/two.svg",
        "static/../page.py",
        "static/../templates/live.html",
        "static/",
        "static//etc/passwd",
        ".grader/progress.json",
        "pyproject.toml",
        "do/check",
        "/etc/passwd",
        "nothing",
    ):
        answer = get(served, path)
        assert answer.status == HTTPStatus.NOT_FOUND and b"def " not in answer.body, path


def test_the_address_alone_leads_to_the_road_and_events_are_a_stream(served: Served) -> None:
    assert get(served, "").headers["Location"] == "/secret/road"
    assert isinstance(served.app.answer("GET", "events"), Stream)


def test_a_page_that_is_gone_is_told_without_a_trace(served: Served) -> None:
    (served.place.numbers.parent / "README.md").unlink()
    answer = get(served, "stages/s01")
    assert answer.status == HTTPStatus.INTERNAL_SERVER_ERROR and b"README.md cannot be read" in answer.body


def test_a_course_without_conventions_has_no_such_page(served: Served) -> None:
    (served.place.root / "stages" / "README.md").unlink()
    assert get(served, "conventions").status == get(served, "beyond").status == HTTPStatus.NOT_FOUND
    assert b"conventions" not in get(served, "road").body


def test_what_comes_after_the_course_is_a_page_where_there_is_one(served: Served) -> None:
    (served.place.root / "stages" / "beyond.md").write_text("# Beyond\n\n[s01](s01_numbers/README.md)\n", "utf-8")
    text = get(served, "beyond").body.decode()
    assert "<title>Beyond: " in text and '<a href="/secret/stages/s01">s01</a>' in text
    assert '<a href="/secret/beyond" aria-current="page">Beyond</a>' in text
    assert '<a href="/secret/beyond">Beyond</a>' in get(served, "stages/s01").body.decode()


def test_a_page_opens_its_stage(served: Served) -> None:
    assert post(served, "open", {"stage": "s02"}) == (HTTPStatus.OK, {"said": ""})
    assert served.live.session.board.stage.id == "s02"
    assert post(served, "open", {"stage": "s02"}) == (HTTPStatus.OK, {"said": ""})
    assert [stage for stage, _ in served.checks.asked] == ["s01", "s02"]


def test_a_check_and_a_picture_are_asked_for(served: Served) -> None:
    post(served, "check", {"stage": "s01"})
    assert served.checks.asked == [("s01", None)] * 2
    assert post(served, "explore", {"stage": "s01"})[1]["said"] == "Running your functions on an example."
    assert served.explored == ["s01"]


def test_a_sentence_of_ones_own_is_explored_and_is_bounded(served: Served) -> None:
    asked = [" so \n it is ", "x" * 401, "a\x00b", ""]
    said = [post(served, "sentence", {"stage": "s01", "words": each})[1]["said"] for each in asked]
    assert served.typed == ["so it is", ""]
    assert said[0] == said[3] == "Running your functions on an example." and said[1] == said[2] != said[0]


def test_a_hint_is_given_for_a_row_one_step_further_each_time(served: Served) -> None:
    assert "still running" in post(served, "hint", {"stage": "s01"})[1]["said"]
    served.post(FinalVerdict(1, verdict(served.workspace.course.stages[0], "failed", "not_started")))
    said = [post(served, "hint", {"stage": "s01", "row": "quadruple"})[1]["said"] for _ in range(2)]
    assert said == ["Hint 1 of 3: quadruple: a nudge", "Hint 2 of 3: quadruple: the idea"]


@pytest.mark.parametrize(
    ("what", "body", "status"),
    [
        ("check", b"{", HTTPStatus.BAD_REQUEST),
        ("check", b"[" * 4000, HTTPStatus.BAD_REQUEST),
        ("check", {"stage": "s99"}, HTTPStatus.BAD_REQUEST),
        ("check", {}, HTTPStatus.BAD_REQUEST),
        ("check", ["s01"], HTTPStatus.BAD_REQUEST),
        ("reset", {"stage": "s01"}, HTTPStatus.NOT_FOUND),
        ("", {"stage": "s01"}, HTTPStatus.NOT_FOUND),
    ],
)
def test_what_cannot_be_asked_for_does_nothing(served: Served, what: str, body: object, status: HTTPStatus) -> None:
    assert post(served, what, body)[0] == status
    assert len(served.checks.asked) <= 1


def test_a_page_of_ours_is_the_only_place_to_post_to(served: Served) -> None:
    answer = served.app.answer("POST", "stages/s01", b"{}")
    assert isinstance(answer, Response) and answer.status == HTTPStatus.NOT_FOUND


def test_the_key_stands_in_no_page_but_in_addresses(served: Served) -> None:
    assert AddressGuard(1).key not in get(served, "road").body.decode()
    assert "secret" not in Reader(get(served, "road").body.decode()).text
