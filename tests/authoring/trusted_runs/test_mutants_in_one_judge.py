"""What one judge tells of the forms that it goes through, up to one that ends it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from grader.authoring import trusted_runs as first_failures
from grader.authoring.trusted_runs import ChangedForm, MutantRunner, caught_through_worker
from grader.isolation import tiers
from grader.judging.grading import Options
from grader.judging.task import JudgeTask
from grader.outcome import Outcome
from grader.submission import take
from tests.conftest import SmallCourse
from tests.support.good_stage import FILES, SOLUTION, write_stage

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="no judge can be forked here")
RIGHT, THIRD = ChangedForm(SOLUTION), ChangedForm(SOLUTION.replace("/ 2", "/ 3"))


@pytest.fixture(scope="module")
def charged(small_course: SmallCourse) -> Iterator[tuple[JudgeTask, tiers.LocalWorkerFactory]]:
    """What a judge works on, and who starts its workers."""
    away: dict[str, str | None] = dict.fromkeys(name for name in FILES if "solution" in name or "mistakes" in name)
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small", away)
    path = small_course.root.parent / "right.py"
    path.write_text(SOLUTION, encoding="utf-8")
    snapshot = take(small_course.stage, path, small_course.root)
    with MutantRunner(small_course.course, small_course.stage) as runner:
        yield runner._task(snapshot, Options(1, "process"), "process", ()), runner.workers("process")


def test_all_forms_are_told_of(charged: tuple[JudgeTask, tiers.LocalWorkerFactory]) -> None:
    task, own = charged
    found = caught_through_worker(task, [RIGHT, THIRD, RIGHT], own)
    assert [each and (each.test, each.status) for each in found] == [
        None,
        ("test_small.py::test_half_of_two", "failed"),
        None,
    ]


@pytest.mark.parametrize("error", [MemoryError, RuntimeError, SystemExit])
def test_the_list_ends_before_the_form_that_ends_the_judge(
    charged: tuple[JudgeTask, tiers.LocalWorkerFactory], error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ending(task: Any, mutant: ChangedForm, *rest: Any) -> Outcome | None:
        if mutant == THIRD:
            raise error
        return whole(task, mutant, *rest)

    whole = first_failures._caught_through_worker
    monkeypatch.setattr(first_failures, "_caught_through_worker", ending)
    task, own = charged
    assert caught_through_worker(task, [RIGHT, THIRD, RIGHT], own) == [None]


def test_tests_that_the_suite_lacks_are_left_out(charged: tuple[JudgeTask, tiers.LocalWorkerFactory]) -> None:
    task, own = charged
    known = "test_small.py::test_half_of_two"
    (found,) = caught_through_worker(task, [ChangedForm(THIRD.source, ("test_small.py::test_of_old", known))], own)
    assert found is not None and found.test == known
