"""Pictures of what a learner's code does: an image within the page, or why there is none."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from grader.course.stage import Stage
from grader.errors import IsolationRefused
from grader.explore.drawing import Chart, Curves, Series
from grader.explore.model import Exploration, Plan, Ran
from grader.progress.workspace import open_workspace
from grader.tests.support.command import NUMBERS, Place
from grader.web import pictures
from grader.web.pictures import can_draw, drawn

LINE = Series("double", (0.0, 1.0), (0.0, 2.0))
CURVES = Curves("double", "Doubling", "A line.", "x", "y", (Chart("", (LINE,)),))
FOUND = Exploration("s01", "Numbers", None, Ran("f", "d", "process", None, None), drawings=(CURVES,))


@pytest.fixture
def begun(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A course whose two stages draw something, of which the first was begun."""
    plan = Plan((), lambda *_: {}, False)
    monkeypatch.setattr(pictures, "plans", lambda course: {"s01": plan, "s02": plan})
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    return place


def gives(monkeypatch: pytest.MonkeyPatch, what: Callable[..., Any]) -> None:
    monkeypatch.setattr(pictures, "explore", what)


def test_a_stage_that_was_begun_has_its_picture(begun: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    told: list[Stage] = []
    gives(monkeypatch, lambda course, stage, snapshot, made, seed, isolation: FOUND)
    (found,) = drawn(open_workspace(begun.root), "auto", told.append)
    assert [stage.id for stage in told] == ["s01"] and found.said == "s01 Numbers: Doubling"
    head, _, data = found.source.partition(",")
    assert head == "data:image/svg+xml;base64" and b"<svg" in base64.b64decode(data)


def test_a_stage_that_draws_nothing_yet_has_none(begun: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    gives(monkeypatch, lambda *_: replace(FOUND, drawings=()))
    assert list(drawn(open_workspace(begun.root), "auto", lambda stage: None)) == []


def test_what_cannot_be_explored_says_why(begun: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> Exploration:
        raise IsolationRefused("bubblewrap does not work here")

    gives(monkeypatch, refused)
    (found,) = drawn(open_workspace(begun.root), "bubblewrap", lambda stage: None)
    assert (found.source, found.told) == ("", "bubblewrap does not work here")


@pytest.mark.parametrize(("least", "kind"), [(1, ""), (20_000_000, "svg+xml")])
def test_a_picture_that_is_too_large_is_left_out(
    begun: Place, monkeypatch: pytest.MonkeyPatch, least: int, kind: str
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(pictures, "MOST_BYTES", least)
    gives(monkeypatch, lambda *_: FOUND)
    (found,) = drawn(open_workspace(begun.root), "auto", lambda stage: None)
    assert found.source.startswith(f"data:image/{kind}") if kind else "too large" in found.told and not found.source


def test_a_course_without_drawings_has_none(place: Place) -> None:
    assert list(drawn(open_workspace(place.root), "auto", lambda stage: None)) == []


def test_whether_pictures_can_be_drawn_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "find_spec", lambda name: None)
    assert not can_draw()
