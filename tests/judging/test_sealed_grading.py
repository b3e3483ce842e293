"""Grading from a learner's copy: with the key as the author would, without it the public tests and nothing to go by."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course.stage import Course
from grader.doctor.health import _course
from grader.errors import CourseError, GraderError, SealError
from grader.judging import grading
from grader.progress import actions
from grader.progress.actions import GradingRequest, Workspace, is_stub
from grader.progress.actions import check as graded
from grader.progress.standings import standings
from grader.progress.store import Store
from grader.submission import take
from grader.verdict import Verdict
from tests.support.copies import NAME, OTHER_KEY, SmallCopy
from tests.support.good_stage import SOLUTION

WRONG = SOLUTION.replace("x.sum(axis=1)", "x.mean(axis=1)")
HARD_CODED = SOLUTION.replace("return x.sum(axis=1)", "return np.array([3.0, 7.0]) if len(x) == 2 else np.array([2.0])")


@pytest.fixture
def copy(tmp_path: Path) -> SmallCopy:
    return SmallCopy(tmp_path)


def grade(course: Course, folder: Path, source: str) -> Verdict:
    path = folder / "handed_in.py"
    path.write_text(source)
    stage = course.stages[0]
    return grading.grade(course, stage, take(stage, path, course.root), grading.Options(7, "process"))


def told(verdict: Verdict) -> list[tuple[object, ...]]:
    """Return all that a learner reads of a verdict."""
    return [
        (
            row.id,
            row.status,
            row.tests_passed,
            row.tests_total,
            [(f.test, f.call, f.message, f.diagnosis, f.where) for f in row.failures],
        )
        for row in verdict.criteria
    ]


@pytest.mark.parametrize("source", [SOLUTION, WRONG, HARD_CODED], ids=["right", "wrong", "hard-coded"])
def test_with_the_key_a_verdict_is_the_authors(copy: SmallCopy, tmp_path: Path, source: str) -> None:
    sealed = grade(copy.course(copy.key_file), tmp_path, source)
    own = grade(copy.author, tmp_path, source)
    assert told(sealed) == told(own) and sealed.passed == own.passed == (source is SOLUTION)
    assert not sealed.run.public_only and not sealed.faults
    assert source is not WRONG or sealed.criteria[0].failures[0].diagnosis is not None


def test_an_edited_public_test_gains_nothing_where_there_is_a_key(copy: SmallCopy, tmp_path: Path) -> None:
    (copy.root / "stages" / NAME / "tests" / "test_small.py").write_text("def test_nothing():\n    pass\n")
    found = grade(copy.course(copy.key_file), tmp_path, WRONG)
    assert [row.status for row in found.criteria] == ["failed", "blocked"]
    assert found.criteria[0].failures[0].test == "test_small.py::test_total_of_two_rows"


def test_nothing_that_was_sealed_is_written_or_stays_loaded(copy: SmallCopy, tmp_path: Path) -> None:
    before = sorted(path for path in copy.root.rglob("*"))
    assert grade(copy.course(copy.key_file), tmp_path, SOLUTION).passed
    assert sorted(path for path in copy.root.rglob("*")) == before
    assert not [name for name in sys.modules if name.startswith(("sealed_", f"hidden.{NAME}"))]


def test_without_the_key_public_tests_are_run_and_that_is_no_pass(copy: SmallCopy, tmp_path: Path) -> None:
    found = grade(copy.course(), tmp_path, HARD_CODED)
    assert [(row.status, row.tests_total) for row in found.criteria] == [("passed", 1), ("passed", 1)]
    assert found.run.public_only and found.public_passed and not found.passed and not found.grader_fault


def test_without_the_key_a_failure_is_told_without_a_diagnosis(copy: SmallCopy, tmp_path: Path) -> None:
    found = grade(copy.course(), tmp_path, WRONG)
    (failure,) = found.criteria[0].failures
    assert (found.criteria[0].status, failure.call, failure.diagnosis) == (
        "failed",
        "total(x: float64 (2, 2) [[1, 2], [3, 4]])",
        None,
    )
    assert "all 2 values differ" in failure.message and failure.where is not None
    assert not found.public_passed and not found.grader_fault


def test_without_the_key_a_changed_public_test_ends_the_run(copy: SmallCopy, tmp_path: Path) -> None:
    path = copy.root / "stages" / NAME / "tests" / "test_small.py"
    path.write_text(path.read_text().replace("[3.0, 7.0]", "[1.5, 3.5]"))
    with pytest.raises(CourseError, match=r"test_small\.py differs from the released file"):
        grade(copy.course(), tmp_path, WRONG)


def altered(copy: SmallCopy) -> None:
    data = copy.bundle.read_bytes()
    copy.bundle.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def cut_off(copy: SmallCopy) -> None:
    copy.bundle.write_bytes(copy.bundle.read_bytes()[:-100])


def wrong_key(copy: SmallCopy) -> None:
    copy.key_file.write_text(OTHER_KEY.text)


def no_key_file(copy: SmallCopy) -> None:
    copy.key_file.unlink()


@pytest.mark.parametrize("spoil", [altered, cut_off, wrong_key, no_key_file])
def test_what_cannot_be_opened_costs_the_learner_nothing(
    copy: SmallCopy, tmp_path: Path, spoil: Callable[[SmallCopy], None]
) -> None:
    workspace = Workspace(copy.course(copy.key_file), Store(copy.root))
    (copy.root / "stages" / NAME / "small.py").write_text(SOLUTION)
    assert graded(workspace, workspace.course.stages[0], GradingRequest(isolation="process")).passed
    before = workspace.store.read()
    spoil(copy)
    with pytest.raises(GraderError) as caught:
        graded(workspace, workspace.course.stages[0], GradingRequest(isolation="process"))
    assert caught.value.exit_code == 4 and workspace.store.read() == before


class TestProgress:
    @pytest.fixture
    def workspace(self, copy: SmallCopy) -> Workspace:
        (copy.root / "stages" / NAME / "small.py").write_text(SOLUTION)
        return Workspace(copy.course(), Store(copy.root))

    def test_public_tests_that_pass_are_recorded_as_that(self, workspace: Workspace) -> None:
        verdict = graded(workspace, workspace.course.stages[0], GradingRequest(isolation="process"))
        progress = workspace.store.read()
        assert verdict.public_passed and "s90" in progress.public and not progress.passed
        assert [each.state for each in standings(workspace, progress)] == ["public"]

    def test_one_row_records_nothing(self, workspace: Workspace) -> None:
        graded(workspace, workspace.course.stages[0], GradingRequest(isolation="process", only="total"))
        assert not workspace.store.read().public

    def test_what_somebody_handed_in_needs_the_key(self, workspace: Workspace) -> None:
        with pytest.raises(SealError, match="what somebody handed in needs the hidden tests of s90"):
            graded(
                workspace,
                workspace.course.stages[0],
                GradingRequest(submission=workspace.course.root, isolation="process"),
            )

    def test_a_solution_is_sealed_even_after_the_public_tests_passed(self, workspace: Workspace) -> None:
        graded(workspace, workspace.course.stages[0], GradingRequest(isolation="process"))
        with pytest.raises(SealError, match="are sealed"):
            actions.solution(workspace, workspace.course.stages[0])

    def test_reset_puts_the_released_stub_back(self, workspace: Workspace) -> None:
        assert not is_stub(workspace.course.stages[0])
        actions.reset(workspace, workspace.course.stages[0])
        assert is_stub(workspace.course.stages[0])


class TestDoctor:
    def findings(self, monkeypatch: pytest.MonkeyPatch, course: Course) -> list[tuple[str, str]]:
        monkeypatch.setattr("grader.doctor.health.load_course", lambda root: course)
        return [(each.level, each.what) for each in _course(course.root) if each.topic.startswith(("course", "stages"))]

    def test_a_whole_copy_is_well_with_and_without_the_key(
        self, copy: SmallCopy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for key in (None, copy.key_file):
            assert [level for level, _ in self.findings(monkeypatch, copy.course(key))] == ["ok"]

    def test_what_cannot_be_opened_is_broken(self, copy: SmallCopy, monkeypatch: pytest.MonkeyPatch) -> None:
        altered(copy)
        ((level, what),) = self.findings(monkeypatch, copy.course(copy.key_file))
        assert level == "broken" and "was altered" in what

    def test_a_changed_public_test_is_broken(self, copy: SmallCopy, monkeypatch: pytest.MonkeyPatch) -> None:
        (copy.root / "stages" / NAME / "tests" / "test_small.py").write_text("")
        ((level, what),) = self.findings(monkeypatch, copy.course())
        assert level == "broken" and "differs from the released file" in what
