"""The pages: whatever students wrote is text, they need nothing from elsewhere, and they can be read by everybody."""

from __future__ import annotations

import builtins
import re
from typing import Any

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Course
from grader.errors import UsageError
from grader.gradebook.pages.figures import Figures
from grader.gradebook.pages.page import MOST_TEXT, Pages
from grader.tests.gradebook.pages.made import NOW, failure, sheet, verdict
from grader.tests.similarity.test_page import EVIL, Reader
from grader.tests.support.command import Place


@pytest.fixture(scope="module")
def course(original: Place) -> Course:
    return load_course(original.root)


@pytest.fixture(scope="module")
def documents(course: Course) -> tuple[str, str]:
    """Return the class's page and a student's, of a class in which all words are hostile."""
    evil = failure(test=EVIL, call=EVIL, message=EVIL, help=EVIL, where=EVIL)
    evil["cause"] = {"id": EVIL, "text": EVIL, "fix": EVIL}
    bad = verdict(double=False, title=EVIL) | {"notes": [EVIL]}
    bad["criteria"][0] |= {"failures": [evil], "text": EVIL, "waits_for": [EVIL], "id": EVIL}
    pages = Pages(course, "full", NOW)
    one = sheet(bad, bad, bad, student=EVIL, points=1.0)
    found = Figures()
    found.add(one, "students/x.html")
    return "".join(pages.overview(found)), pages.student(one)


@pytest.mark.parametrize("which", [0, 1], ids=["class", "student"])
def test_what_students_wrote_is_text(documents: tuple[str, str], which: int) -> None:
    document = documents[which]
    read = Reader(document)
    assert read.open == []
    assert not {"script", "img", "iframe", "object", "link"} & set(read.tags)
    assert not [name for name, _ in read.attributes if name.startswith("on") or name in ("src", "style")]
    assert read.text.count("alert(1)") >= 4 and "{{ 7*7 }}" in read.text
    assert "\u202e" not in document and "\x1b" not in document and "\\u202e" in document
    assert not re.search(r"https?://|url\(|@import", document) and "default-src 'none'" in document


def test_code_in_a_cause_is_set_as_code(course: Course) -> None:
    found = failure()
    found["cause"] = {"id": "m", "text": "It was still in `while i < n`.", "fix": "Check that `i < n` ends."}
    bad = verdict(double=False)
    bad["criteria"][0] |= {"failures": [found]}
    pages = Pages(course, "full", NOW)
    figures = Figures()
    figures.add(sheet(bad), "students/x.html")
    for page in (pages.student(sheet(bad)), "".join(pages.overview(figures))):
        assert "still in <code>while i &lt; n</code>." in page and "that <code>i &lt; n</code> ends" in page


def test_what_was_stood_in_for_is_said_on_the_students_page(course: Course) -> None:
    note = "torch is not available when a stage is checked"
    pages = Pages(course, "verdict", NOW)
    assert f"Note: {note}." in pages.student(sheet(verdict() | {"notes": [note]}))
    assert "Note:" not in pages.student(sheet(verdict()))


def test_a_row_that_is_not_started_is_said_once(course: Course) -> None:
    empty = verdict(double=False)
    empty["criteria"][0] |= {"status": "not_started", "failures": [failure(message="double is not written yet")] * 3}
    page = Pages(course, "full", NOW).student(sheet(empty))
    assert "not started" in page and "is not written yet" not in page


def test_each_link_and_label_leads_to_a_place_of_the_page(documents: tuple[str, str]) -> None:
    attributes = Reader(documents[0]).attributes
    ids = [value for name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    inner = {str(value)[1:] for name, value in attributes if name == "href" and str(value).startswith("#")}
    labels = {str(value) for name, value in attributes if name == "aria-labelledby"}
    assert inner and labels and inner | labels <= set(map(str, ids))
    assert ("href", "students/x.html") in attributes


def test_charts_have_words_and_numbers_beside_them(documents: tuple[str, str]) -> None:
    read = Reader(documents[0])
    charts = read.attributes.count(("role", "img")) + read.attributes.count(("aria-hidden", "true"))
    assert charts == read.tags["svg"] > 2
    assert "50 to under 60 %" in read.text and "How many students have which share" in read.text


def test_they_can_be_read_with_the_keyboard_and_in_the_dark(documents: tuple[str, str]) -> None:
    for document in documents:
        read = Reader(document)
        assert read.attributes.count(("tabindex", "0")) == read.attributes.count(("role", "region")) > 0
        assert "prefers-color-scheme: dark" in document and ("lang", "en") in read.attributes


def test_the_class_page_says_who_is_stuck_what_is_hard_and_which_mistake_is_common(course: Course) -> None:
    found = Figures()
    found.add(sheet(*[verdict(double=False)] * 3, points=1.0))
    found.add(sheet(verdict(), student="bob"))
    words = " ".join(re.sub(r"<[^>]+>", " ", "".join(Pages(course, "full", NOW).overview(found))).split())
    assert "2 students, 1 stage. Made 2026-11-22 23:59 UTC." in words
    assert "s01 Numbers 1 2 50 %" in words
    assert "This is the square. Multiply by 2. s01 double 1" in words
    assert "ada s01 3 double" in words


def test_a_class_without_a_mistake_has_a_page(course: Course) -> None:
    found = Figures()
    found.add(sheet(verdict()))
    words = Reader("".join(Pages(course, "full", NOW).overview(found))).text
    assert all(each in words for each in ("No verdict names a mistake.", "Everyone passes every row.", "Nobody:"))


def test_a_student_reads_what_class_toml_allows(course: Course) -> None:
    one = sheet(verdict(double=False), points=1.0)
    assert "double(3)" in Pages(course, "full", NOW).student(one)
    told = Reader(Pages(course, "verdict", NOW).student(one)).text
    assert "double(3)" not in told and "1 of 2 points" in told and "✗ failed" in told


def test_what_cannot_be_graded_says_why(course: Course) -> None:
    problem = {"kind": "missing", "message": "there is no numbers_.py", "hint": "Hand it in.", "line": None}
    one = sheet(verdict(double=False, problem=problem), outcome="missing", points=0.0)
    words = " ".join(Reader(Pages(course, "full", NOW).student(one)).text.split())
    assert "nothing handed in, 0 of 2 points. there is no numbers_.py Hand it in." in words
    assert "double" not in words


def test_a_message_without_end_is_cut(course: Course) -> None:
    bad = verdict(double=False)
    bad["criteria"][0]["failures"] = [failure(message="x" * 10**6)]
    assert len(Pages(course, "full", NOW).student(sheet(bad))) < 3 * MOST_TEXT


def test_without_jinja_it_says_what_to_install(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def without(name: str, *given: Any, **named: Any) -> Any:
        if name == "jinja2":
            raise ImportError(name)
        return plain(name, *given, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError) as caught:
        Pages(course, "full", NOW)
    assert "--extra class" in str(caught.value.hint)
