"""`grader class push canvas` against a small Canvas on this machine, by the endpoints that its API documents."""

from __future__ import annotations

import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from grader.gradebook.records import Member
from grader.gradebook.store import Gradebook
from tests.gradebook.made import keep, verdict
from tests.support.command import Here

TOKEN = "a-secret"


class _Canvas(http.server.BaseHTTPRequestHandler):
    """One assignment, 17/4711, whose submissions come in pages of two."""

    scores: dict[str, float | None] = {}  # noqa: RUF012  # each server makes a class of its own
    users: dict[str, dict[str, str]] = {}  # noqa: RUF012
    put: list[tuple[str, ...]] = []  # noqa: RUF012
    elsewhere = ""

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self._answer({"errors": []}, 401)
        elif place.path == "/api/v1/courses/17/assignments/4711":
            self._answer({"id": 4711, "points_possible": 2.0})
        elif place.path == "/api/v1/courses/17/assignments/4711/submissions":
            page = int(parse_qs(place.query).get("page", ["1"])[0])
            users = list(self.scores)[2 * page - 2 : 2 * page]
            found = [{"user_id": int(each), "score": self.scores[each], "user": self.users[each]} for each in users]
            here = self.elsewhere or f"http://{self.headers['Host']}"
            link = f'<{here}{place.path}?page={page + 1}>; rel="next"' if 2 * page < len(self.scores) else ""
            self._answer(found, link=link)
        else:
            self._answer({"errors": []}, 404)

    def do_PUT(self) -> None:
        match = re.fullmatch(r"/api/v1/courses/17/assignments/4711/submissions/([0-9]+)", self.path)
        body = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        assert match is not None
        user, grade = match[1], body["submission[posted_grade]"][0]
        if user == "99":
            self._answer({"errors": []}, 400)
            return
        self.put.append((user, grade, *body.get("comment[text_comment]", ())))
        self.scores[user] = float(grade)
        self._answer({"user_id": int(user), "score": float(grade)})

    def _answer(self, values: Any, code: int = 200, link: str = "") -> None:
        body = json.dumps(values).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        if link:
            self.send_header("Link", link)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def canvas(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Any]]:
    monkeypatch.setenv("CANVAS_TOKEN", f"{TOKEN}\n")
    users = {"1": {}, "2": {"sis_user_id": "S2"}, "3": {"login_id": "Cy3"}, "4": {}}
    kept = {"scores": {"1": None, "2": 2.0, "3": 1.0, "4": None}, "users": users, "put": []}
    handler: Any = type("Handler", (_Canvas,), kept)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}", handler
        httpd.shutdown()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    members = [Member("ada", canvas_id="1"), Member("bob", sis_id="S2"), Member("cy", sis_login="cy3"), Member("eve")]
    with Gradebook.open(tmp_path / "out", create=True) as book:
        for member in members:
            keep(book, member.student, verdict())
        with book.changing():
            book.keep_roster(members)
    return tmp_path / "out"


def command(server: str, out: Path, *more: str) -> tuple[str, ...]:
    where = ("--server", server, "--course", "17", "--assignment", "4711")
    return ("class", "push", "canvas", "--out", str(out), "--stage", "s01", *where, *more)


def test_only_marks_that_differ_are_written_and_only_when_asked(here: Here, out: Path, canvas: tuple[str, Any]) -> None:
    server, handler = canvas
    shown = here(*command(server, out))
    assert shown.code == 0 and shown.out.splitlines() == ["ada: none → 2", "cy: 1 → 2"]
    assert handler.put == [] and "2 marks would be written, 1 already there." in shown.err
    assert "Canvas does not know eve" in " ".join(shown.err.split())
    assert here(*command(server, out, "--apply")).code == 0
    assert handler.put == [("1", "2"), ("3", "2")]
    again = here(*command(server, out, "--apply", "--json"))
    assert (again.json["changes"], again.json["same"], len(handler.put)) == ([], 3, 2)
    assert TOKEN not in shown.out + shown.err


def test_a_comment_goes_along_with_a_mark_that_is_written(here: Here, out: Path, canvas: tuple[str, Any]) -> None:
    server, handler = canvas
    give = ("class", "override", "cy", "s01", "--points", "1.5", "--reason", "oral exam & bonus", "--out", str(out))
    assert here(*give).code == 0
    shown = here(*command(server, out, "--comments"))
    assert "cy: 1 → 1.5: given by hand: oral exam & bonus" in shown.out.splitlines() and handler.put == []
    assert here(*command(server, out, "--comments", "--apply")).code == 0
    assert handler.put == [("1", "2", "2 of 2 criteria · 2 robust"), ("3", "1.5", "given by hand: oral exam & bonus")]
    assert here(*command(server, out, "--comments", "--apply")).code == 0 and len(handler.put) == 2


def test_a_mark_that_canvas_does_not_take_is_named_and_the_others_are_written(
    here: Here, out: Path, canvas: tuple[str, Any]
) -> None:
    server, handler = canvas
    handler.scores, handler.users = {"99": 0.0, "3": 1.0}, {"99": {"sis_user_id": "S2"}, "3": {"login_id": "cy3"}}
    done = here(*command(server, out, "--apply"))
    assert done.code == 4 and handler.put == [("3", "2")] and "not written: bob: Canvas answers 400" in done.err


def test_a_token_does_not_follow_to_another_server(here: Here, out: Path, canvas: tuple[str, Any]) -> None:
    server, handler = canvas
    handler.elsewhere = "http://127.0.0.1:1"
    done = here(*command(server, out))
    assert done.code == 4 and "another server" in done.err


def test_what_is_missing_is_said(
    here: Here, out: Path, canvas: tuple[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _ = canvas
    assert here(*command("http://canvas.example.edu", out)).code == 2  # a token goes over https alone
    monkeypatch.setenv("CANVAS_TOKEN", "wrong")
    refused = here(*command(server, out))
    assert refused.code == 4 and "Canvas answers 401" in refused.err
    monkeypatch.delenv("CANVAS_TOKEN")
    assert "CANVAS_TOKEN is not set" in here(*command(server, out)).err
    assert "is not an address to publish to" in here(*command("http://canvas.example.edu", out)).err  # first of all
    assert here("class", "push", "moodle", *command(server, out)[3:]).code == 2
