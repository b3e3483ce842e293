"""Reports: pictures, the JSON document, the page, and the file that it is written to."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader.course.stage import Stage
from grader.errors import IsolationRefused, UsageError
from grader.explore.example import example
from grader.explore.model import Chart, Curves, Exploration, ExplorationRun, Origin, Plan, Series, WeightMap
from grader.progress.last_check import remember
from grader.progress.state import Work
from grader.progress.workspace import open_workspace
from grader.report.escape import commands
from grader.submission import take
from grader.web import report_page as report
from grader.web.certificate import NAME, SIGNED, UNSIGNED, document, held
from grader.web.report_page import (
    OURS,
    Picture,
    ReportPages,
    can_draw,
    drawn,
    expect_free,
    in_script,
    report_document,
    sign,
    write,
)
from grader.web.road import Road, RoadCriterion, road
from tests.similarity.test_page import EVIL, Reader
from tests.support.command import NUMBERS, WRONG, Place
from tests.support.places import HOUSE
from tests.watching.fakes import verdict
from tests.web.test_certificate import ENTRY, KEY, MADE

LINE = Series("double", (0.0, 1.0), (0.0, 2.0))
CURVES = Curves("double", "Doubling", "A line.", "x", "y", (Chart("", (LINE,)),))
FOUND = Exploration("s01", "Numbers", None, ExplorationRun("f", "d", "process", None, None), drawings=(CURVES,))


@pytest.fixture
def begun(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A course whose two stages draw something, of which the first was begun."""
    plan = Plan((), lambda *_: {}, False)
    monkeypatch.setattr(report, "plans", lambda course: {"s01": plan, "s02": plan})
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    return place


def gives(monkeypatch: pytest.MonkeyPatch, what: Callable[..., Any]) -> None:
    monkeypatch.setattr(report, "explore", what)


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
    monkeypatch.setattr(report, "MOST_BYTES", least)
    gives(monkeypatch, lambda *_: FOUND)
    (found,) = drawn(open_workspace(begun.root), "auto", lambda stage: None)
    assert found.source.startswith(f"data:image/{kind}") if kind else "too large" in found.told and not found.source


def test_a_course_without_drawings_has_none(place: Place) -> None:
    assert list(drawn(open_workspace(place.root), "auto", lambda stage: None)) == []


def test_whether_pictures_can_be_drawn_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "find_spec", lambda name: None)
    assert not can_draw()


SCHEMA = json.loads((HOUSE / "web" / "report.schema.json").read_text(encoding="utf-8"))
NOW = datetime(2026, 11, 21, 8, 38, 2, tzinfo=UTC)


def test_it_has_the_published_shape_with_much_and_with_nothing_to_tell(place: Place) -> None:
    workspace = open_workspace(place.root)
    empty = report_document(road(workspace, NOW), document(MADE, KEY), [], None)
    jsonschema.validate(empty, SCHEMA)
    assert (empty["passed"], empty["current"], empty["file"]) == (0, "s01", None)
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    stage = workspace.course.stages[0]
    workspace.store.record_pass("s01", take(stage, None, place.root).digest, 7, "0.1.0", NOW)
    pictures = [Picture(stage, "a", "data:,"), Picture(workspace.course.stages[1], "", "", "why")]
    full = report_document(road(workspace, NOW), document(MADE, KEY), pictures, "report.html")
    jsonschema.validate(full, SCHEMA)
    assert (full["passed"], full["pictures"], full["file"]) == (1, ["s01"], "report.html")
    assert full["stages"][0]["passed_at"] == "2026-11-21T08:38:02+00:00"
    assert full["stages"][0]["attempts_until_passed"] == 1


def test_what_the_last_check_found_stands_in_it(place: Place) -> None:
    from dataclasses import replace

    from grader import __version__

    workspace = open_workspace(place.root)
    place.numbers.write_text(WRONG, encoding="utf-8")
    stage = workspace.course.stages[0]
    found = verdict(stage, "failed", "blocked")
    digest = take(stage, None, place.root).digest
    remember(
        workspace.store.folder,
        stage,
        replace(found, run=replace(found.run, submission=digest, course=__version__, only=None)),
    )
    made = report_document(road(workspace, NOW), document(MADE, KEY), [], None)
    jsonschema.validate(made, SCHEMA)
    assert [(row["status"], row["said"]) for row in made["stages"][0]["rows"]] == [
        ("failed", "This is the square."), ("blocked", None),
    ]  # fmt: skip


DRAWN = "data:image/svg+xml;base64,PHN2Zy8+"


@pytest.fixture(scope="module")
def fresh(original: Place) -> Road:
    return road(open_workspace(original.root), NOW)


@pytest.fixture
def hostile(fresh: Road) -> tuple[Road, dict[str, Any], list[Picture]]:
    """All that a report shows, with hostile words wherever a learner, or a file of theirs, has any."""
    stage = replace(fresh.stops[0].stage, title=EVIL)
    row = RoadCriterion("double", EVIL, (EVIL,), "failed", "failed", EVIL, EVIL)
    stop = replace(fresh.stops[0], stage=stage, criteria=(row,), note=EVIL, is_begun=True, work=Work(2, seconds=60))
    entry = replace(ENTRY, title=EVIL, isolation=EVIL, python=EVIL, when=EVIL, module=EVIL)
    certificate = document(replace(MADE, source="recorded", title=EVIL, student=EVIL, stages=(entry,)))
    found = replace(fresh, title=EVIL, stops=(stop, fresh.stops[1]))
    return found, certificate, [Picture(stage, EVIL, DRAWN), Picture(stage, EVIL, "", EVIL)]


def report_of(found: Road, certificate: Any = None, *more: Any) -> str:
    return ReportPages().report(
        found, certificate or document(replace(MADE, source="recorded", stages=(), student=None)), *more
    )


def test_whatever_it_holds_is_text(hostile: Any) -> None:
    page = report_of(*hostile)
    read = Reader(page)
    assert read.open == [] and read.tags["script"] == 1 and read.tags["img"] == 1
    assert not [name for name, _ in read.attributes if name.startswith("on") or name == "style"]
    assert [value for name, value in read.attributes if name == "src"] == [DRAWN]
    assert read.text.count("alert(1)") > 8 and "{{ 7*7 }}" in read.text
    assert "\u202e" not in page and "\x1b" not in page and "\\u202e" in page


def test_commands_are_named_as_its_reader_types_them(fresh: Road) -> None:
    certificate = document(replace(MADE, source="recorded", stages=(), student=None))
    assert "<code>uv run grader check</code>" in ReportPages("uv run grader").report(fresh, certificate)


def test_code_in_a_cause_is_set_as_code(fresh: Road) -> None:
    row = RoadCriterion(
        "double",
        "double",
        ("double",),
        "timed_out",
        "timed_out",
        "timed out",
        "It was still in the loop `while i < n`.",
    )
    stop = replace(fresh.stops[0], criteria=(row,), is_begun=True)
    page = report_of(replace(fresh, stops=(stop, *fresh.stops[1:])))
    assert "still in the loop <code>while i &lt; n</code>." in page


def test_it_needs_nothing_from_elsewhere_and_runs_nothing(hostile: Any) -> None:
    page = report_of(*hostile)
    assert not re.search(r"https?://|url\(|@import|<link", page)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert re.findall(r"<script[^>]*>", page) == ['<script type="application/json" id="grader-certificate">']


def test_each_link_and_label_leads_to_a_place_of_the_page(hostile: Any) -> None:
    attributes = Reader(report_of(*hostile)).attributes
    ids = [value for name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    inner = {str(value)[1:] for name, value in attributes if name == "href"}
    labels = {str(value) for name, value in attributes if name == "aria-labelledby"}
    assert inner and labels and inner | labels <= set(map(str, ids))


def test_somebody_who_has_begun_nothing_is_told_how_to_begin(fresh: Road) -> None:
    text = " ".join(Reader(report_of(fresh)).text.split())
    assert "Nothing has been begun yet; s01 · Numbers is where to start." in text
    assert "grader show s01" in text and "stages/s01_numbers/numbers_.py" in text
    assert "No module differs from its stub yet." in text and "Nothing is certified yet" in text
    assert "Pictures" not in text


def test_a_course_without_a_next_stage_says_so(fresh: Road) -> None:
    stops = tuple(replace(stop, is_current=False, state="skipped", is_begun=True) for stop in fresh.stops)
    assert "Every stage is passed or skipped." in report_of(replace(fresh, stops=stops))


def test_the_page_holds_the_very_certificate(fresh: Road) -> None:
    made = document(replace(MADE, title=EVIL), KEY)
    page = report_of(fresh, made)
    data = held(page.encode())
    assert data is not None and json.loads(data) == made


@pytest.mark.parametrize("key", [None, KEY])
def test_what_a_certificate_is_worth_is_said(fresh: Road, key: Any) -> None:
    made = document(MADE if key else replace(MADE, source="recorded"), key)
    text = " ".join(Reader(report_of(fresh, made)).text.split())
    assert (SIGNED.format(made["key"]) if key else UNSIGNED) in text
    assert ("grader verify" in text, f"key {made['key']}" in text) == (bool(key), bool(key))
    assert "a" * 64 in text and "isolation bubblewrap, seed 7" in text and "Ada L has passed 1 stage" in text


def test_a_certificate_has_the_attention_of_a_stage_that_passed_and_only_its_digests_are_folded(fresh: Road) -> None:
    stages = [stop.stage for stop in fresh.stops]
    pictures = [Picture(stages[1], "b", "data:,b", weights="data:,other"), Picture(stages[0], "a", "data:,a")]
    assert MADE.stages[0].stage == stages[0].id
    made = document(MADE, KEY)
    assert 'src="data:,other"' not in report_of(fresh, made, pictures)  # s02 has not passed
    page = report_of(fresh, made, [pictures[0], replace(pictures[1], weights="data:,own")])
    certificate = page[page.index('<section class="certificate"') : page.index("</section>")]
    assert 'src="data:,own"' in certificate and "a" * 64 not in certificate
    assert "a" * 64 in page[page.index('<details class="digests">') :]
    assert page.count("<details><summary>") == 2  # a picture each, closed


def test_wrong_weights_are_no_attention_to_certify(begun: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    plain = WeightMap("plain", "Plain", False, None, ((1.0,),))
    right = replace(FOUND, maps=(plain,), example=example("one", None, None))
    for wrong in (False, True):
        gives(monkeypatch, lambda *_, wrong=wrong: replace(right, origins=(Origin("plain", "step", wrong),)))
        (found,) = drawn(open_workspace(begun.root), "auto", lambda stage: None)
        assert found.source and bool(found.weights) is not wrong


def test_pictures_that_cannot_be_drawn_are_accounted_for(fresh: Road) -> None:
    page = report_of(fresh, None, [], "Pictures need matplotlib: `uv sync --extra plot` installs it.")
    assert "Pictures need matplotlib: <code>uv sync --extra plot</code> installs it." in page


def test_a_command_is_set_as_one_and_the_rest_is_text() -> None:
    assert commands("`grader check` <b>") == "<code>grader check</code> &lt;b&gt;"
    assert commands("one ` alone") == "one ` alone"


def test_no_text_ends_the_element_that_holds_json() -> None:
    assert in_script({"a": "</script><!--&"}) == '{"a": "\\u003c/script\\u003e\\u003c!--\\u0026"}'


def test_every_kind_has_a_sign() -> None:
    assert {sign(kind) for kind in ("passed", "public")} == {"✓"} and sign("changed") != "✓"
    assert NAME == "certificate"


PAGE = f"<!doctype html>{OURS.decode()}<p>new"


def test_a_report_is_written_and_replaced(tmp_path: Path) -> None:
    for text in (PAGE, PAGE + "er"):
        write(tmp_path / "report.html", text)
        assert (tmp_path / "report.html").read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_what_is_no_report_stays(tmp_path: Path) -> None:
    (tmp_path / "mine.html").write_text("<p>mine", encoding="utf-8")
    with pytest.raises(UsageError, match="already exists and is not a report; it was not replaced"):
        write(tmp_path / "mine.html", PAGE)
    assert (tmp_path / "mine.html").read_text(encoding="utf-8") == "<p>mine"


@pytest.mark.parametrize(("name", "told"), [("a.txt", "does not end in .html"), ("no/a.html", "not a folder")])
def test_a_place_that_cannot_be_is_refused(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        expect_free(tmp_path / name)


def test_a_folder_and_a_link_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "link.html").symlink_to(tmp_path / "elsewhere.html")
    for name in ("folder.html", "link.html"):
        with pytest.raises(UsageError, match="not a regular file"):
            write(tmp_path / name, PAGE)
    assert not (tmp_path / "elsewhere.html").exists()


def test_a_folder_that_is_mounted_read_only_is_no_fault_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    for name in ("open", "unlink"):  # there the second fails, too, where there is no such file
        monkeypatch.setattr(os, name, refused)
    with pytest.raises(UsageError, match="cannot be written: Read-only file system"):
        write(tmp_path / "report.html", PAGE)


def test_a_disk_that_takes_nothing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "report.html", PAGE)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(UsageError, match="No space left") as caught:
        write(tmp_path / "report.html", PAGE + "er")
    assert "stays as it was" in str(caught.value.hint)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
