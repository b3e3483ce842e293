"""The report's pages: what they tell and to whom, and how they are put in their place."""

from __future__ import annotations

import re
import tracemalloc
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Course, Feedback
from grader.errors import GraderError, UsageError
from grader.gradebook.figures import Figures, StudentRecord, sheets
from grader.gradebook.pages import (
    MOST_FAILURES,
    ClassPages,
    criteria,
    expect_free,
    numbered,
    page_name,
    write_feedback,
    write_report,
)
from grader.gradebook.records import Member, Mixture, Override
from grader.gradebook.store import Gradebook
from grader.report.feedback import HELD_BACK
from grader.report.templates import MOST_TEXT
from tests.gradebook.made import NOW, TEXT, failure, keep, sheet, verdict
from tests.similarity.test_page import EVIL, Reader
from tests.support.command import Place


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
    pages = ClassPages(course, "full", NOW)
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


def test_what_a_row_lacks_is_separated_from_its_result(course: Course) -> None:
    lacks = verdict()
    lacks["criteria"][0] |= {"kinds": {"refusals": {"tests_passed": 0, "tests_total": 4}}, "values_right": True}
    read = Reader(ClassPages(course, "full", NOW).student(sheet(lacks)))
    assert re.search(r"passed\s+· 4 of 4 refusals missing", read.text)


def test_a_cause_stands_first_and_once_with_its_place_and_then_what_was_seen(course: Course) -> None:
    bad = verdict(double=False)
    bad["criteria"][0] |= {"failures": [failure(), failure(call="double(7)")]}
    page = Reader(ClassPages(course, "full", NOW).student(sheet(bad))).text
    parts = [page.index(each) for each in (TEXT, "ada.py:7", "double(3)", "got 9", "double(7)")]
    assert parts == sorted(parts) and page.count(TEXT) == 1 and page.count("Multiply by 2") == 1


def test_code_in_a_cause_is_set_as_code(course: Course) -> None:
    found = failure()
    found["cause"] = {"id": "m", "text": "It was still in `while i < n`.", "fix": "Check that `i < n` ends."}
    bad = verdict(double=False)
    bad["criteria"][0] |= {"failures": [found]}
    pages = ClassPages(course, "full", NOW)
    figures = Figures()
    figures.add(sheet(bad), "students/x.html")
    for page in (pages.student(sheet(bad)), "".join(pages.overview(figures))):
        assert "still in <code>while i &lt; n</code>." in page and "that <code>i &lt; n</code> ends" in page


def test_what_was_stood_in_for_is_said_on_the_students_page(course: Course) -> None:
    note = "torch is not available when a stage is checked"
    pages = ClassPages(course, "verdict", NOW)
    assert f"Note: {note}." in pages.student(sheet(verdict() | {"notes": [note]}))
    assert "Note:" not in pages.student(sheet(verdict()))


def test_a_row_that_is_not_started_is_said_once(course: Course) -> None:
    empty = verdict(double=False)
    empty["criteria"][0] |= {"status": "not_started", "failures": [failure(message="double is not written yet")] * 3}
    page = ClassPages(course, "full", NOW).student(sheet(empty))
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
    words = " ".join(re.sub(r"<[^>]+>", " ", "".join(ClassPages(course, "full", NOW).overview(found))).split())
    assert "2 students, 1 stage. Made 2026-11-22 23:59 UTC." in words
    assert "s01 Numbers 1 2 50 %" in words
    assert "This is the square. Multiply by 2. s01 double 1" in words
    assert "ada s01 3 double" in words


def test_the_class_page_lists_the_hardest_criterion_first(course: Course) -> None:
    found = Figures()
    found.add(sheet(verdict(quadruple=False)))
    found.add(sheet(verdict(), student="bob"))
    page = "".join(ClassPages(course, "full", NOW).overview(found))
    words = " ".join(re.sub(r"<[^>]+>", " ", page[page.index('<h2 id="criteria">') :]).split())
    first, second = (row.text for row in sorted(course.stages[0].criteria, key=lambda row: row.id == "double"))
    assert words.index(f"{first} 1 2 50 %") < words.index(f"{second} 2 2 100 %")


def test_the_class_page_begins_with_who_passes_what(course: Course) -> None:
    found = Figures()
    found.add(sheet(verdict(double=False), points=1.0), "ada.html")
    found.add(sheet(verdict(), student="bob", points=0.0, outcome="missing"))
    page = "".join(ClassPages(course, "full", NOW).overview(found))
    assert re.search(r"<h2 id=\"(\w+)\"", page).group(1) == "matrix"  # type: ignore[union-attr]
    words = " ".join(Reader(page[page.index("<tbody>") : page.index("</tbody>") + 8]).text.split())
    assert words == "ada1 of 2✗ failed✓ passed1double: This is the square. bobnothing handed in0nothing handed in"
    assert 'href="ada.html"' in page and 'id="students"' not in page  # one stage: the matrix is the list of all


def test_a_large_class_has_a_matrix_in_part_and_the_whole_list(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.gradebook.pages.MOST_LINES", 2)
    found = Figures()
    for name in ("ada", "bob", "cy"):
        found.add(sheet(verdict(), student=name))
    page = "".join(ClassPages(course, "full", NOW).overview(found))
    assert "<p>and 1 more.</p>" in page and page.count(">cy<") == 1 and page.count(">ada<") == 2


def test_a_class_without_a_mistake_has_a_page(course: Course) -> None:
    found = Figures()
    found.add(sheet(verdict()))
    words = Reader("".join(ClassPages(course, "full", NOW).overview(found))).text
    assert all(each in words for each in ("No verdict names a mistake.", "Nobody:"))


def test_a_student_reads_what_class_toml_allows(course: Course) -> None:
    one = sheet(verdict(double=False), points=1.0)
    assert "double(3)" in ClassPages(course, "full", NOW).student(one)
    told = Reader(ClassPages(course, "verdict", NOW).student(one)).text
    assert "double(3)" not in told and "1 of 2 points" in told and "✗ failed" in told


def test_what_cannot_be_graded_says_why(course: Course) -> None:
    problem = {"kind": "missing", "message": "there is no numbers_.py", "hint": "Hand it in.", "line": None}
    one = sheet(verdict(double=False, problem=problem), outcome="missing", points=0.0)
    words = " ".join(Reader(ClassPages(course, "full", NOW).student(one)).text.split())
    assert "nothing handed in, 0 of 2 points. there is no numbers_.py Hand it in." in words
    assert "double" not in words


def test_a_page_calls_the_student_as_the_roster_does(course: Course) -> None:
    found = sheet(verdict())
    pages = ClassPages(course, "full", NOW)
    assert "<h1>ada</h1>" in pages.student(found)
    entries = tuple(replace(each, member=Member("ada", "Ada Lovelace")) for each in found.entries)
    assert "<h1>Ada Lovelace (ada)</h1>" in pages.student(replace(found, entries=entries))


def test_a_message_without_end_is_cut(course: Course) -> None:
    bad = verdict(double=False)
    bad["criteria"][0]["failures"] = [failure(message="x" * 10**6)]
    assert len(ClassPages(course, "full", NOW).student(sheet(bad))) < 3 * MOST_TEXT


def test_everything_is_told_in_full_but_no_folder_of_the_machine() -> None:
    (told,) = criteria(verdict(double=False), "full")[0].failures
    assert (told.call, told.message, told.mistake, told.fix) == ("double(3)", "got 9", TEXT, "Multiply by 2.")
    assert told.where == "ada.py:7"


def test_what_was_stored_in_full_is_told_as_a_hint_without_inputs_or_explanation() -> None:
    (told,) = criteria(verdict(double=False), "hint")[0].failures
    assert (told.test, told.message) == ("test_two", HELD_BACK)
    assert not told.call and not told.mistake and not told.where


@pytest.mark.parametrize(("stored", "asked"), [("hint", "full"), ("hint", "hint")])
def test_a_stored_hint_keeps_its_declared_mistake_and_becomes_no_more(stored: str, asked: Feedback) -> None:
    (told,) = criteria(verdict(double=False, feedback=stored), asked)[0].failures
    assert (told.message, told.mistake, told.call) == (HELD_BACK, TEXT, "")


def test_the_level_verdict_tells_nothing_of_hidden_tests() -> None:
    row = criteria(verdict(double=False), "verdict")[0]
    assert (row.status, row.total, row.failures) == ("failed", 1, ())


def test_public_tests_are_told_without_what_may_come_from_the_reference() -> None:
    document = verdict(double=False)
    document["criteria"][0] |= {"failures": [failure(hidden=False)], "waits_for": ["secret"]}
    row = criteria(document, "verdict")[0]
    assert [(each.message, each.mistake) for each in row.failures] == [("got 9", "")]
    assert row.waits_for == ()


def test_a_failure_of_which_nothing_is_known_counts_as_hidden() -> None:
    document = verdict(double=False)
    document["criteria"][0]["failures"] = [{"test": "x", "message": "secret"}]
    assert "secret" not in str(criteria(document, "hint"))


def test_many_failures_of_a_row_are_cut_and_counted() -> None:
    document = verdict(double=False)
    document["criteria"][0]["failures"] = [failure()] * 10
    row = criteria(document, "full")[0]
    assert (len(row.failures), row.more) == (MOST_FAILURES, 10 - MOST_FAILURES)


CLASS = [sheet(verdict(double=False), student="../../ada", points=1.0), sheet(verdict(), student="Zoë <b>")]


@pytest.fixture(scope="module")
def pages(original: Place) -> ClassPages:
    return ClassPages(load_course(original.root), "full", NOW)


def everything(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_gets_a_page_for_the_class_and_one_for_each_student(pages: ClassPages, tmp_path: Path) -> None:
    assert write_report(pages, CLASS, tmp_path / "report") == 2
    found = everything(tmp_path)
    assert sorted(found) == [f"report/{name}" for name in ("index.html", *_names())]
    assert all(f'href="{name}"' in found["report/index.html"] for name in _names())
    mine = found[f"report/{_names()[0]}"]
    assert "../../ada" in mine and "Zo" not in mine
    assert (tmp_path / "report").stat().st_mode & 0o077 == 0


def _names() -> list[str]:
    return sorted(f"students/{page_name(each.student)}" for each in CLASS)


def test_names_become_files_that_no_two_students_share() -> None:
    names = [page_name(name) for name in ("ada", "Ada", "../ada", "…", "con", "x" * 999, "\ud800")]
    assert len(set(names)) == len(names)
    assert all(len(name) < 70 and name.isascii() and "/" not in name for name in names)


def test_a_file_gets_the_class_alone(pages: ClassPages, tmp_path: Path) -> None:
    write_report(pages, CLASS, tmp_path / "class.html")
    found = everything(tmp_path)
    assert list(found) == ["class.html"] and "students/" not in found["class.html"]
    assert (tmp_path / "class.html").stat().st_mode & 0o077 == 0


def test_an_earlier_report_is_replaced_as_a_whole(pages: ClassPages, tmp_path: Path) -> None:
    for place in (tmp_path / "report", tmp_path / "class.html"):
        write_report(pages, CLASS, place)
        write_report(pages, CLASS[:1], place)
    assert "Zo" not in str(everything(tmp_path)) and len(everything(tmp_path)) == 3


def test_a_failure_on_the_way_leaves_the_earlier_report(pages: ClassPages, tmp_path: Path) -> None:
    def failing(error: Exception) -> Iterator[StudentRecord]:
        yield CLASS[0]
        raise error

    write_report(pages, CLASS, tmp_path / "report")
    before = everything(tmp_path)
    for error, raised in ((OSError(28, "No space left on device"), GraderError), (KeyError("x"), KeyError)):
        with pytest.raises(raised):
            write_report(pages, failing(error), tmp_path / "report")
        assert everything(tmp_path) == before and [path.name for path in tmp_path.iterdir()] == ["report"]


def test_a_disk_that_is_read_only_is_told_and_is_no_fault_of_the_grader(
    pages: ClassPages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, *_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system", str(path))

    for each in ("mkdir", "unlink", "touch"):
        monkeypatch.setattr(Path, each, refused)
    for name in ("report", "class.html"):
        with pytest.raises(GraderError, match="cannot be written: Read-only file system"):
            write_report(pages, CLASS, tmp_path / name)


def test_no_results_make_no_report(pages: ClassPages, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no results"):
        write_report(pages, [], tmp_path / "report")
    assert not list(tmp_path.iterdir())


def test_what_is_somebody_elses_is_not_replaced(pages: ClassPages, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.txt").touch()
    (tmp_path / "marks").mkdir()
    (tmp_path / "marks" / "gradebook.sqlite").touch()
    write_report(pages, CLASS, tmp_path / "report")
    (tmp_path / "report" / "students" / "note.txt").touch()
    (tmp_path / "link").symlink_to("report")
    (tmp_path / "file").touch()
    (tmp_path / "folder.html").mkdir()
    for name, told in {
        "own": "is in the way", "marks": "holds a gradebook", "report": "is in the way", "link": "is a link",
        "file": "is in the way", "folder.html": "is in the way", "none/report": "is not a folder",
    }.items():  # fmt: skip
        with pytest.raises(UsageError, match=told):
            expect_free(tmp_path / name)
        with pytest.raises(UsageError, match=told):
            write_report(pages, CLASS, tmp_path / name)
    assert (tmp_path / "report" / "students" / "note.txt").exists()


@pytest.mark.parametrize("place", [".", "..", "/"])
def test_a_place_without_a_name_is_refused(place: str) -> None:
    with pytest.raises(UsageError, match="no name of its own"):
        expect_free(Path(place))


def test_students_are_read_one_by_one_with_all_their_attempts(tmp_path: Path) -> None:
    with Gradebook.open(tmp_path, create=True) as book:
        keep(book, "ada", verdict(double=False), verdict())
        keep(book, "ada", verdict(), stage="s02")
        keep(book, "bob", verdict(quadruple=False))
        found = list(sheets(book))
        assert [(each.student, each.passed, each.points) for each in found] == [("ada", 2, 4.0), ("bob", 0, 1.0)]
        assert [each.verdict["passed"] for each in found[0].tries["s01"]] == [False, True]
        only = list(sheets(book, frozenset({"s02"})))
        assert [(each.student, [one.stage for one in each.entries]) for each in only] == [("ada", ["s02"])]


def test_memory_does_not_grow_with_the_verdicts_of_a_class(pages: ClassPages, tmp_path: Path) -> None:
    big = verdict(double=False, filler="x" * 400_000)
    with Gradebook.open(tmp_path, create=True) as book:
        for place in range(40):
            keep(book, f"student {place}", big)
        tracemalloc.start()
        try:
            write_report(pages, sheets(book), tmp_path / "report")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 8_000_000, "16 MB of verdicts are in memory together"


def by_hand(record: StudentRecord, reason: str, criterion: str = "", called: str = "") -> StudentRecord:
    """Return a student with a point by hand, of the stage or of one criterion."""
    name, first = record.student, record.entries[0]
    given = Override(name, "s01", 1.0, reason, "prof", NOW, criterion)
    more: dict[str, Any] = {"corrections": (given,)} if criterion else {"override": given}
    return replace(record, entries=(replace(first, member=Member(name, called), **more),))


def test_the_class_page_has_names_beside_logins_and_points_by_hand_with_their_reasons(
    pages: ClassPages, tmp_path: Path
) -> None:
    given = [
        by_hand(sheet(verdict(double=False), student="ada-l"), "oral exam", called="Lovelace, Ada"),
        by_hand(sheet(verdict(double=False), student="lm"), "the idea is right", "double", "李明"),
        by_hand(sheet(verdict(double=False), student="zoe"), "<b>bonus</b>", called="zoe"),
    ]
    write_report(pages, given, tmp_path / "class.html")
    text = (tmp_path / "class.html").read_text(encoding="utf-8")
    assert re.findall(r'<th scope="row">([a-z-]+) <bdi class="soft">([^<]+)</bdi>', text) == [
        ("ada-l", "Lovelace, Ada"), ("lm", "李明"),
    ]  # fmt: skip
    assert re.findall(r"<strong>([^<]*given by hand[^<]*)</strong>", text) == [
        "1 point given by hand: oral exam",
        "double: 1 point given by hand, the idea is right",
        "1 point given by hand: &lt;b&gt;bonus&lt;/b&gt;",
    ]


def test_an_anonymous_report_names_nobody_and_has_no_code(course: Course, tmp_path: Path) -> None:
    names = ["ada", "bob", "zoe"]
    known = numbered(names)
    pages = ClassPages(course, "full", NOW, known, (Mixture("s01", "NumPy", {"2.1": 1, "2.2": 2}),))
    given = [sheet(verdict(double=False), student=name) for name in names]
    given[:2] = by_hand(given[0], "Lovelace came", called="Lovelace"), by_hand(given[1], "Lovelace came", "double")
    write_report(pages, given, tmp_path / "report")
    texts = [path.read_text(encoding="utf-8") for path in (tmp_path / "report").rglob("*.html")]
    assert len(texts) == 4 and not [name for text in texts for name in names if f">{name}<" in text]
    assert not [text for text in texts if "Lovelace" in text]
    index = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "2 versions of NumPy" in index and "regrade --stage s01" in index
    assert re.findall(r">student (\d)</a>", index) == ["1", "2", "3"]
    assert known == numbered(reversed(names))


def test_moodle_gets_a_page_for_each_participant_under_the_names_that_its_importer_reads(
    course: Course, tmp_path: Path
) -> None:
    def known(name: str, number: str, called: str) -> StudentRecord:
        found = sheet(verdict(double=False), student=name)
        mine = replace(found.entries[0], member=Member(name, called, moodle_id=number))
        return replace(found, entries=(mine,))

    place = tmp_path / "feedback.zip"
    given = [known("ada", "300123", "Ada_Lovelace"), known("zoe", "300126", "Zoë O'Hara"), known("bob", "", "Bob")]
    assert write_feedback(ClassPages(course, "full", NOW), given, place) == (2, ("bob",))
    with zipfile.ZipFile(place) as archive:
        read: dict[str, str] = {}
        for name in archive.namelist():
            info = name.split("/")[0].split("_", 4)  # as importziplib.php takes a folder's name apart
            assert len(info) >= 4 and info[2:4] == ["assignfeedback", "file"] and name.endswith("/feedback.html")
            read[info[1]] = archive.read(name).decode()
    assert sorted(read) == ["300123", "300126"]
    assert "ada" in read["300123"] and "zoe" not in read["300123"]
    with pytest.raises(UsageError, match="participant's number"):
        write_feedback(ClassPages(course, "full", NOW), given[2:], tmp_path / "other.zip")
