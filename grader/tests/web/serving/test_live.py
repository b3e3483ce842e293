"""What is watched while pages are served: events become frames, wishes are granted in turn, and an end is an end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from grader.errors import GraderError
from grader.tests.similarity.test_page import EVIL, Reader
from grader.tests.support.command import Place
from grader.tests.support.patience import SLACK
from grader.tests.watching.fakes import verdict
from grader.tests.web.serving.made import Served, frames
from grader.watching.board import Explored, Failed, Judged, Saved
from grader.web.serving import live
from grader.web.serving.live import named


@pytest.fixture
def served(place: Place) -> Iterator[Served]:
    with Served(place) as found:
        yield found


def test_a_verdict_becomes_a_frame(served: Served) -> None:
    with served.hub.listener() as listener:
        first = frames(listener, lambda frame: frame["checking"])
        assert first["said"] == "s01: checking"  # it stays until the verdict, whatever the board counts
        assert (first["stage"], first["verdicts"]) == ("s01", 0) and 'data-stage="s02"' in first["road"]
        served.post(Judged(1, verdict(served.workspace.course.stages[0], "failed", "blocked")))
        frame = frames(listener, lambda frame: not frame["checking"])
        assert frame["verdicts"] == 1 and "This is the square." in frame["html"] and "0 of 2" in frame["said"]


def test_a_save_begins_a_check(served: Served) -> None:
    with served.hub.listener() as listener:
        served.post(Judged(1, verdict(served.workspace.course.stages[0], "failed", "blocked")))
        frames(listener, lambda frame: not frame["checking"])
        served.post(Saved(served.workspace.course.stages[0].module_path))
        assert frames(listener, lambda frame: frame["checking"])
    assert served.checks.asked == [("s01", None), ("s01", "double")]


def test_what_a_learners_code_prints_is_text(served: Served) -> None:
    with served.hub.listener() as listener:
        served.post(Explored("s01", EVIL))
        frame = frames(listener, lambda frame: "alert" in frame["html"])
        served.post(Failed(1, EVIL, EVIL))
        trouble = frames(listener, lambda frame: "failure" in frame["html"])
    for html in (frame["html"], trouble["html"]):
        read = Reader(html)
        assert read.open == [] and not {"script", "img"} & set(read.tags) and "\x1b" not in html


def test_a_wish_is_granted_in_the_thread_of_the_watch(served: Served) -> None:
    names: list[str] = []

    def wish() -> str:
        names.append(threading.current_thread().name)
        return "granted"

    assert served.live.ask(wish) == "granted"
    assert names != [threading.current_thread().name]


def test_a_wish_that_fails_is_told_and_the_watch_goes_on(served: Served) -> None:
    def fails() -> str:
        raise GraderError("no hint", "Try later.")

    def breaks() -> str:
        raise ValueError("a fault")

    assert served.live.ask(fails) == "No hint. Try later."
    with pytest.raises(ValueError, match="a fault"):
        served.live.ask(breaks)
    assert served.live.ask(lambda: "still there") == "still there"


def test_an_answer_that_does_not_come_is_not_waited_for(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "ANSWER_SECONDS", 0.05)
    idle = Served(place)  # nobody runs it
    with pytest.raises(GraderError, match="no answer came"):
        idle.live.ask(lambda: "too late")
    monkeypatch.setattr(live, "ANSWER_SECONDS", SLACK)
    with idle:
        assert idle.live.ask(lambda: "next") == "next"


def test_the_end_closes_the_watch_and_the_hub(place: Place) -> None:
    with Served(place) as served, served.hub.listener() as listener:
        assert listener is not None
        served.live.stop()
        with pytest.raises(EOFError):
            while True:
                listener.take(SLACK)
    assert served.checks.closed and served.saves.watched is None


@pytest.mark.parametrize(("values", "text"), [({"row": "a"}, "a"), ({"row": 3}, ""), ({}, ""), ([], ""), (None, "")])
def test_only_texts_are_read_from_a_request(values: object, text: str) -> None:
    assert named(values, "row") == text
