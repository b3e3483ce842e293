"""The report as a page: whatever it holds is text, it needs nothing from elsewhere, and makes sense from the start."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from grader.progress.work import Work
from grader.progress.workspace import open_workspace
from grader.report.escape import commands
from grader.tests.similarity.test_page import EVIL, Reader
from grader.tests.support.command import Place
from grader.tests.web.test_certificate import ENTRY, KEY, MADE
from grader.web.certificate import NAME, SIGNED, UNSIGNED, document, held
from grader.web.page import MOST_TEXT, Pages, cut, in_script, sign
from grader.web.pictures import Picture
from grader.web.road import Road, Row, road

NOW = datetime(2026, 11, 21, 8, 38, 2, tzinfo=UTC)
DRAWN = "data:image/svg+xml;base64,PHN2Zy8+"


@pytest.fixture(scope="module")
def fresh(original: Place) -> Road:
    return road(open_workspace(original.root), NOW)


@pytest.fixture
def hostile(fresh: Road) -> tuple[Road, dict[str, Any], list[Picture]]:
    """All that a report shows, with hostile words wherever a learner, or a file of theirs, has any."""
    stage = replace(fresh.stops[0].stage, title=EVIL)
    row = Row("double", EVIL, (EVIL,), "failed", "failed", EVIL, EVIL)
    stop = replace(fresh.stops[0], stage=stage, rows=(row,), note=EVIL, is_begun=True, work=Work(2, seconds=60))
    entry = replace(ENTRY, title=EVIL, isolation=EVIL, python=EVIL, when=EVIL, module=EVIL)
    certificate = document(replace(MADE, source="recorded", title=EVIL, student=EVIL, stages=(entry,)))
    found = replace(fresh, title=EVIL, stops=(stop, fresh.stops[1]))
    return found, certificate, [Picture(stage, EVIL, DRAWN), Picture(stage, EVIL, "", EVIL)]


def report(found: Road, certificate: Any = None, *more: Any) -> str:
    return Pages().report(
        found, certificate or document(replace(MADE, source="recorded", stages=(), student=None)), *more
    )


def test_whatever_it_holds_is_text(hostile: Any) -> None:
    page = report(*hostile)
    read = Reader(page)
    assert read.open == [] and read.tags["script"] == 1 and read.tags["img"] == 1
    assert not [name for name, _ in read.attributes if name.startswith("on") or name == "style"]
    assert [value for name, value in read.attributes if name == "src"] == [DRAWN]
    assert read.text.count("alert(1)") > 8 and "{{ 7*7 }}" in read.text
    assert "\u202e" not in page and "\x1b" not in page and "\\u202e" in page


def test_commands_are_named_as_its_reader_types_them(fresh: Road) -> None:
    certificate = document(replace(MADE, source="recorded", stages=(), student=None))
    assert "<code>uv run grader check</code>" in Pages("uv run grader").report(fresh, certificate)


def test_code_in_a_cause_is_set_as_code(fresh: Road) -> None:
    row = Row(
        "double",
        "double",
        ("double",),
        "timed_out",
        "timed_out",
        "timed out",
        "It was still in the loop `while i < n`.",
    )
    stop = replace(fresh.stops[0], rows=(row,), is_begun=True)
    page = report(replace(fresh, stops=(stop, *fresh.stops[1:])))
    assert "still in the loop <code>while i &lt; n</code>." in page


def test_it_needs_nothing_from_elsewhere_and_runs_nothing(hostile: Any) -> None:
    page = report(*hostile)
    assert not re.search(r"https?://|url\(|@import|<link", page)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert re.findall(r"<script[^>]*>", page) == ['<script type="application/json" id="grader-certificate">']


def test_each_link_and_label_leads_to_a_place_of_the_page(hostile: Any) -> None:
    attributes = Reader(report(*hostile)).attributes
    ids = [value for name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    inner = {str(value)[1:] for name, value in attributes if name == "href"}
    labels = {str(value) for name, value in attributes if name == "aria-labelledby"}
    assert inner and labels and inner | labels <= set(map(str, ids))


def test_somebody_who_has_begun_nothing_is_told_how_to_begin(fresh: Road) -> None:
    text = " ".join(Reader(report(fresh)).text.split())
    assert "Nothing has been begun yet; s01 · Numbers is where to start." in text
    assert "grader show s01" in text and "stages/s01_numbers/numbers_.py" in text
    assert "No module differs from its stub yet." in text and "Nothing is certified yet" in text
    assert "Pictures" not in text


def test_a_course_without_a_next_stage_says_so(fresh: Road) -> None:
    stops = tuple(replace(stop, is_current=False, state="skipped", is_begun=True) for stop in fresh.stops)
    assert "Every stage is passed or skipped." in report(replace(fresh, stops=stops))


def test_the_page_holds_the_very_certificate(fresh: Road) -> None:
    made = document(replace(MADE, title=EVIL), KEY)
    page = report(fresh, made)
    data = held(page.encode())
    assert data is not None and json.loads(data) == made


@pytest.mark.parametrize("key", [None, KEY])
def test_what_a_certificate_is_worth_is_said(fresh: Road, key: Any) -> None:
    made = document(MADE if key else replace(MADE, source="recorded"), key)
    text = " ".join(Reader(report(fresh, made)).text.split())
    assert (SIGNED.format(made["key"]) if key else UNSIGNED) in text
    assert ("grader verify" in text, f"key {made['key']}" in text) == (bool(key), bool(key))
    assert "a" * 64 in text and "isolation bubblewrap, seed 7" in text and "Ada L has passed 1 stage" in text


def test_pictures_that_cannot_be_drawn_are_accounted_for(fresh: Road) -> None:
    page = report(fresh, None, [], "Pictures need matplotlib: `uv sync --extra plot` installs it.")
    assert "Pictures need matplotlib: <code>uv sync --extra plot</code> installs it." in page


def test_a_command_is_set_as_one_and_the_rest_is_text() -> None:
    assert commands("`grader check` <b>") == "<code>grader check</code> &lt;b&gt;"
    assert commands("one ` alone") == "one ` alone"


def test_no_text_ends_the_element_that_holds_json() -> None:
    assert in_script({"a": "</script><!--&"}) == '{"a": "\\u003c/script\\u003e\\u003c!--\\u0026"}'


def test_long_texts_are_cut_and_every_kind_has_a_sign() -> None:
    assert cut("x" * MOST_TEXT) == "x" * MOST_TEXT and len(cut("x" * (MOST_TEXT + 1))) == MOST_TEXT + 1
    assert {sign(kind) for kind in ("passed", "changed", "public")} == {"✓"}
    assert NAME == "certificate"
