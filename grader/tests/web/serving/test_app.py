"""What each address is answered: the course's pages and our own files, and nothing else that lies on the disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest

from grader.tests.similarity.test_page import Reader
from grader.tests.support.command import Place
from grader.tests.watching.fakes import verdict
from grader.tests.web.serving.made import Served
from grader.watching.board import Judged
from grader.web.serving.answers import Answer, Stream
from grader.web.serving.guard import Guard

README = """# Numbers

![two](pictures/two.svg) ![hidden](../../hidden/s01_numbers/x.svg)

```text
y = 2 x
```

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


def get(served: Served, path: str) -> Answer:
    answer = served.app.answer("GET", path)
    assert isinstance(answer, Answer)
    return answer


def post(served: Served, what: str, body: object) -> tuple[HTTPStatus, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = served.app.answer("POST", f"do/{what}", data)
    assert isinstance(answer, Answer)
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
    assert 'data-tex="y = 2\\,x"' in text and '<a href="/secret/conventions">all</a>' in text
    assert '<a href="/secret/stages/s02">next</a>' in text and "<span>module</span>" in text
    assert "After: s02 Sums" in text and "Before:" not in text


def test_only_a_stage_that_has_something_to_draw_has_a_button_for_it(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explores(stage: str) -> bool:
        return 'data-do="explore"' in get(served, f"stages/{stage}").body.decode()

    assert not explores("s01")
    monkeypatch.setattr("grader.web.serving.app.may_draw", lambda course, stage: stage == "s01")
    assert explores("s01") and not explores("s02")


def test_a_picture_of_the_page_is_served(served: Served) -> None:
    answer = get(served, "pictures/s01/pictures/two.svg")
    assert (answer.status, answer.kind, answer.body) == (HTTPStatus.OK, "image/svg+xml", b"<svg/>")


def test_our_own_files_are_served(served: Served) -> None:
    for name in ("style.css", "live.js", "live.css", "katex/katex.min.js", "katex/fonts/KaTeX_Main-Regular.woff2"):
        assert get(served, f"static/{name}").status == HTTPStatus.OK
    assert get(served, "static/katex/LICENSE.txt").body.startswith(b"The MIT License")


@pytest.mark.parametrize(
    "path",
    [
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
    ],
)
def test_nothing_else_is_there(served: Served, path: str) -> None:
    answer = get(served, path)
    assert answer.status == HTTPStatus.NOT_FOUND and b"def " not in answer.body


def test_the_address_alone_leads_to_the_road_and_events_are_a_stream(served: Served) -> None:
    assert get(served, "").headers["Location"] == "/secret/road"
    assert isinstance(served.app.answer("GET", "events"), Stream)


def test_a_page_that_is_gone_is_told_without_a_trace(served: Served) -> None:
    (served.place.numbers.parent / "README.md").unlink()
    answer = get(served, "stages/s01")
    assert answer.status == HTTPStatus.INTERNAL_SERVER_ERROR and b"README.md cannot be read" in answer.body


def test_a_course_without_conventions_has_no_such_page(served: Served) -> None:
    (served.place.root / "stages" / "README.md").unlink()
    assert get(served, "conventions").status == HTTPStatus.NOT_FOUND
    assert b"conventions" not in get(served, "road").body


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


def test_a_hint_is_given_for_a_row_one_step_further_each_time(served: Served) -> None:
    assert "still running" in post(served, "hint", {"stage": "s01"})[1]["said"]
    served.post(Judged(1, verdict(served.workspace.course.stages[0], "failed", "not_started")))
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
    assert isinstance(answer, Answer) and answer.status == HTTPStatus.NOT_FOUND


def test_the_key_stands_in_no_page_but_in_addresses(served: Served) -> None:
    assert Guard(1).key not in get(served, "road").body.decode()
    assert "secret" not in Reader(get(served, "road").body.decode()).text
