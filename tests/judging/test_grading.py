"""The first test that a wrong module does not pass ends such a run; what a whole check does, those in session show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.judging import grading
from grader.outcome import Outcome
from grader.submission import take
from tests.conftest import SmallCourse
from tests.support.good_stage import FILES, HIDDEN, SOLUTION, write_stage

pytestmark = pytest.mark.usefixtures("brief_search")


@pytest.fixture(scope="module")
def course(small_course: SmallCourse) -> SmallCourse:
    """A small stage whose answers are away: it needs neither the reference nor the known mistakes."""
    away: dict[str, str | None] = dict.fromkeys(name for name in FILES if "solution" in name or "mistakes" in name)
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small", away)
    return small_course


def first_failure(course: SmallCourse, source: str, *rows: str, seed: int = 1) -> Outcome | None:
    """Hunt in a module's text."""
    path = course.root.parent / "handed_in.py"
    path.write_text(source, encoding="utf-8")
    snapshot = take(course.stage, path, course.root)
    with grading.Grader(course.course, course.stage) as grader:
        return grader.first_failure(snapshot, grading.Options(seed, "process"), rows)


@contextmanager
def hidden_tests(course: SmallCourse, old: str, new: str) -> Iterator[None]:
    """Change the hidden tests for a while."""
    assert old in HIDDEN
    path = course.hidden / "test_hidden.py"
    path.write_text(HIDDEN.replace(old, new), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(HIDDEN, encoding="utf-8")


WRONG = SOLUTION.replace("axis=1", "axis=0").replace("/ 2", "/ 3")


def test_the_answers_are_away(course: SmallCourse) -> None:
    assert sorted(path.name for path in course.hidden.glob("*.py")) == ["test_hidden.py"]


def test_a_module_that_passes_every_test_is_not_caught(course: SmallCourse) -> None:
    assert first_failure(course, SOLUTION, "half", "total") is None


@pytest.mark.parametrize("first", ["half", "total"])
def test_the_named_rows_are_tried_first(course: SmallCourse, first: str) -> None:
    found = first_failure(course, WRONG, first)
    assert found is not None and (found.criterion, found.status) == (first, "failed")


def test_the_rows_that_are_not_named_come_after(course: SmallCourse) -> None:
    found = first_failure(course, SOLUTION.replace("/ 2", "/ 3"), "total")
    assert found is not None and found.criterion == "half"


def test_it_ends_with_the_first_test_that_does_not_pass(course: SmallCourse, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    note = f"    with open({str(ran)!r}, 'a') as file:\n        file.write('x')\n"
    with hidden_tests(course, "    x = rng", f"{note}    x = rng"):
        assert first_failure(course, SOLUTION) is None and ran.read_text() == "xx"
        found = first_failure(course, WRONG, "half")
    assert found is not None and ran.read_text() == "xx"  # its public test is at fault already


def test_nothing_is_diagnosed(course: SmallCourse) -> None:
    found = first_failure(course, SOLUTION.replace("total(x) / 2", "total(x)"), "half")
    assert found is not None and (found.explains, found.call, found.where) == ((), "", None)
    assert "expected 1.0, got 2.0" in found.message


def test_whether_the_reference_passes_is_not_asked(course: SmallCourse) -> None:
    with hidden_tests(course, "sum(row) / 2", "sum(row) / 4"):
        found = first_failure(course, SOLUTION, "half")
    assert found is not None and (found.test, found.status) == ("test_hidden.py::test_half_of_any_rows", "failed")


def test_a_module_that_does_not_load_is_caught_by_its_import(course: SmallCourse) -> None:
    found = first_failure(course, f"{SOLUTION}\nSIZE = 1 / 0\n", "half")
    assert found is not None and (found.test, found.status) == ("the import", "crashed")
    assert "ZeroDivisionError" in found.message


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (SOLUTION.replace("total(x) / 2", "np.linalg.norm(x)"), "numpy.linalg"),
        ("def total(x:\n", "never closed"),
    ],
    ids=["forbidden", "no Python"],
)
def test_a_text_that_may_not_be_run_is_caught_by_itself(course: SmallCourse, source: str, said: str) -> None:
    found = first_failure(course, source, "half")
    assert found is not None and (found.test, found.status) == ("the source", "failed") and said in found.message


def test_what_is_forbidden_costs_the_rows_that_reach_it(course: SmallCourse) -> None:
    use = "return total(x) / 2 + 0 * np.linalg.norm(x)"
    source = SOLUTION.replace("return total(x) / 2", use)
    path = course.root.parent / "graded.py"
    path.write_text(source, encoding="utf-8")
    snapshot = take(course.stage, path, course.root)
    found = grading.grade(course.course, course.stage, snapshot, grading.Options(1, "process"))
    assert not found.passed and found.problem is None
    assert {row.id: row.status for row in found.criteria} == {"total": "passed", "half": "failed"}
    (failure,) = found.criteria[1].failures
    assert "numpy.linalg.norm is not allowed in this stage" in failure.message
    assert failure.where is not None and source.splitlines()[failure.where.line - 1].strip() == use


@pytest.mark.parametrize(
    ("body", "status"), [("raise NotImplementedError('half')", "not_started"), ("import os; os._exit(3)", "crashed")]
)
def test_a_function_that_gives_no_answer_is_caught(course: SmallCourse, body: str, status: str) -> None:
    found = first_failure(course, SOLUTION.replace("return total(x) / 2", body), "half")
    assert found is not None and (found.criterion, found.status) == ("half", status)


def test_test_files_that_are_at_fault_end_the_hunt_as_ours(course: SmallCourse) -> None:
    with hidden_tests(course, '@pytest.mark.criterion("half")\n', ""):
        found = first_failure(course, SOLUTION, "half")
    assert found is not None and (found.test, found.status) == ("the run", "grader_fault")
    assert "belongs to no criterion" in found.message


@pytest.mark.parametrize(
    ("load", "cores", "times"),
    [
        ("0.31 0.20 0.10 2/244 20362", 2, 1.0),
        ("2.90 2.00 2.00 2/244 20362", 2, 1.0),
        ("8.00 9.00 9.00 2/244 20362", 4, 4.0),
        ("0.10 0.10 0.10 8/244 20362", 4, 4.0),
        ("99.9 24.1 27.0 28/244 20362", 2, 8.0),
        ("", 2, 1.0),
        ("1 2 3 many/244 5", 2, 1.0),
        (None, 2, 1.0),
    ],
)
def test_a_grading_on_a_crowded_machine_has_more_time(
    load: str | None, cores: int, times: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "LOAD", tmp_path / "loadavg")
    if load is not None:
        grading.LOAD.write_text(load)
    assert grading.patience(cores) == times
