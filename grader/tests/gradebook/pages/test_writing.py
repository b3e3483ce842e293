"""A report on disk: all of it or what was there before, nothing of anybody else's, and one student at a time."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.errors import GraderError, UsageError
from grader.gradebook.pages.page import Pages
from grader.gradebook.pages.sheets import Sheet, sheets
from grader.gradebook.pages.writing import expect_free, page_name, write_report
from grader.gradebook.store import Gradebook
from grader.tests.gradebook.pages.made import NOW, keep, sheet, verdict
from grader.tests.support.command import Place

CLASS = [sheet(verdict(double=False), student="../../ada", points=1.0), sheet(verdict(), student="Zoë <b>")]


@pytest.fixture(scope="module")
def pages(original: Place) -> Pages:
    return Pages(load_course(original.root), "full", NOW)


def everything(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_gets_a_page_for_the_class_and_one_for_each_student(pages: Pages, tmp_path: Path) -> None:
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


def test_a_file_gets_the_class_alone(pages: Pages, tmp_path: Path) -> None:
    write_report(pages, CLASS, tmp_path / "class.html")
    found = everything(tmp_path)
    assert list(found) == ["class.html"] and "students/" not in found["class.html"]
    assert (tmp_path / "class.html").stat().st_mode & 0o077 == 0


def test_an_earlier_report_is_replaced_as_a_whole(pages: Pages, tmp_path: Path) -> None:
    for place in (tmp_path / "report", tmp_path / "class.html"):
        write_report(pages, CLASS, place)
        write_report(pages, CLASS[:1], place)
    assert "Zo" not in str(everything(tmp_path)) and len(everything(tmp_path)) == 3


def test_a_failure_on_the_way_leaves_the_earlier_report(pages: Pages, tmp_path: Path) -> None:
    def failing(error: Exception) -> Iterator[Sheet]:
        yield CLASS[0]
        raise error

    write_report(pages, CLASS, tmp_path / "report")
    before = everything(tmp_path)
    for error, raised in ((OSError(28, "No space left on device"), GraderError), (KeyError("x"), KeyError)):
        with pytest.raises(raised):
            write_report(pages, failing(error), tmp_path / "report")
        assert everything(tmp_path) == before and [path.name for path in tmp_path.iterdir()] == ["report"]


def test_no_results_make_no_report(pages: Pages, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no results"):
        write_report(pages, [], tmp_path / "report")
    assert not list(tmp_path.iterdir())


def test_what_is_somebody_elses_is_not_replaced(pages: Pages, tmp_path: Path) -> None:
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


def test_memory_does_not_grow_with_the_verdicts_of_a_class(pages: Pages, tmp_path: Path) -> None:
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
