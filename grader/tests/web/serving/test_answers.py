"""Answers: each has headers that let a browser do as little as possible with it."""

from __future__ import annotations

from http import HTTPStatus

from grader.web.serving.answers import KINDS, Answer, Stream, document, moved, page, refusal


def test_a_page_runs_and_loads_only_what_comes_from_here() -> None:
    headers = page("<p>ä").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy and "http" not in policy
    assert headers["Content-Length"] == "5" and headers["Content-Type"] == "text/html; charset=utf-8"


def test_every_answer_keeps_its_kind_and_is_nobody_elses() -> None:
    answers: list[Answer | Stream] = [
        page(""),
        document({}),
        refusal(HTTPStatus.NOT_FOUND, "No."),
        moved("/x"),
        Stream(),
    ]
    for answer in (*answers, *(Answer(kind=kind) for kind in KINDS.values())):
        headers = answer.headers
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin" and headers["Cache-Control"] == "no-store"
        assert not [name for name in headers if name.lower().startswith("access-control")]


def test_a_drawing_that_is_opened_by_itself_is_in_a_sandbox() -> None:
    assert "sandbox" in Answer(kind="image/svg+xml").headers["Content-Security-Policy"]


def test_a_document_is_ascii_and_a_move_has_its_place() -> None:
    assert document({"said": "ä\u2028"}).body == b'{"said": "\\u00e4\\u2028"}'
    assert moved("/k/road").headers["Location"] == "/k/road" and moved("/k/road").status == HTTPStatus.FOUND
