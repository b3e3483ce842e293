"""A stage's tests are collected once, leave nothing behind, and can be run by whoever has them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.course.answers import module_from, reference_source
from grader.judging import bounds
from grader.judging.content import test_files as files_of
from grader.judging.grading import Options
from grader.judging.pytest_suite import Suite, criterion_of, name_of
from grader.judging.session import Session
from grader.judging.task import JudgeTask, SharedStatus
from tests.conftest import SmallCourse
from tests.support.good_stage import HIDDEN, write_stage


@pytest.fixture(scope="module")
def course(small_course: SmallCourse) -> SmallCourse:
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small")
    return small_course


@pytest.fixture
def suite(course: SmallCourse) -> Iterator[Suite]:
    made = Suite(course.stage, files_of(course.stage))
    yield made
    made.close()


def test_every_test_is_there_with_its_row(suite: Suite) -> None:
    assert suite.faults == [] and len(suite.items) == len(suite.expected) > 3
    assert suite.expected == [(name_of(each), criterion_of(each), suite.is_hidden(each)) for each in suite.items]
    assert {row for _, row, _ in suite.expected} == {"total", "half"}
    assert {hidden for _, _, hidden in suite.expected} == {True, False}


def test_a_collection_leaves_modules_environment_and_streams_as_they_were(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")
    modules, environment, path = set(sys.modules), dict(os.environ), list(sys.meta_path)
    made = Suite(course.stage, files_of(course.stage))
    made.close()
    ours = {name for name in set(sys.modules) - modules if "s90" in name or name.startswith(("hidden", "test_"))}
    assert not ours and dict(os.environ) == environment and list(sys.meta_path) == path
    assert capfd.readouterr() == ("", "")


def test_a_collection_looks_through_no_folder_above_the_course(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, seen = course.stage, list[Path]()
    scandir = os.scandir

    def noted(path: Any = ".") -> Any:
        seen.append(Path(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", noted)
    Suite(stage, files_of(stage)).close()
    monkeypatch.undo()
    assert {each for each in seen if stage.folder.is_relative_to(each)} == {stage.folder}


def test_what_tests_import_is_there_while_they_run_and_not_afterwards(suite: Suite) -> None:
    before = set(sys.modules)
    with suite.in_place():
        assert set(suite._modules) <= set(sys.modules)
    assert set(sys.modules) == before


def test_rows_are_ordered(suite: Suite) -> None:
    rows = [criterion_of(each) for each in suite.in_order(("half", "total"))]
    assert rows == sorted(rows, key=("half", "total").index) and len(rows) == len(suite.items)
    assert suite.in_order() == suite.items
    assert task(suite, only="half", ahead=("total",)).criteria_first == ("half", "total")
    assert task(suite, ahead=("half", "total")).criteria_first == ("half", "total")
    assert task(suite, first_failure=("total",), ahead=("half",)).criteria_first == ("total",)


def task(suite: Suite, first_failure: tuple[str, ...] | None = None, **options: Any) -> JudgeTask:
    job: Any = None
    return JudgeTask(suite, job, "process", Options(1, **options), 1e9, SharedStatus(), first_failure=first_failure)


def test_the_doubt_about_one_test_keeps_nothing_for_another(course: SmallCourse, suite: Suite) -> None:
    """Which test is next is open: pytest asks that nothing of another file is still set up then."""
    answers: Any = SimpleNamespace(reference=module_from(reference_source(course.stage), "reference"), explains=False)
    process: Any = SimpleNamespace(
        open=lambda ends_at: None, job=SimpleNamespace(source=course.stage.module_path.read_bytes())
    )
    session = Session(task(suite), process, answers)
    files = [each.path for each in suite.items]
    places = [files.index(file) for file in dict.fromkeys(files)]
    assert len(places) > 1 and suite.items[places[0] + 1].path == files[0]
    session.provider.begin()
    try:
        with suite.in_place():
            assert [session.doubt(suite.items, place) for place in (*places, places[0])] == [None] * (len(places) + 1)
    finally:
        bounds.bound_time(0)
        session.provider.end()


def test_a_file_that_cannot_be_collected_is_a_fault_and_nothing_is_run(course: SmallCourse) -> None:
    path = course.hidden / "test_hidden.py"
    path.write_text("import nothing_of_that_name\n", encoding="utf-8")
    try:
        made = Suite(course.stage, files_of(course.stage))
    finally:
        path.write_text(HIDDEN, encoding="utf-8")
    assert made.items == [] and any("test_hidden.py cannot be collected" in fault for fault in made.faults), made.faults
    made.close()


def test_two_suites_in_one_process_do_not_meet(course: SmallCourse, suite: Suite) -> None:
    other = Suite(course.stage, files_of(course.stage))
    assert [name_of(each) for each in other.items] == [name_of(each) for each in suite.items]
    assert not {id(each) for each in other.items} & {id(each) for each in suite.items}
    other.close()
    assert suite.items
