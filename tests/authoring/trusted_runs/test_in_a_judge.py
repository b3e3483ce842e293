"""The course's own modules within the judge: what is right passes, changed forms end as they do through a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from grader.authoring.trusted_runs import ChangedForm, MutantRunner
from grader.course.mutants import mutants
from grader.isolation import tiers
from grader.judging.grading import Options
from grader.outcome import Outcome
from grader.submission import Snapshot, take
from grader.verdict import Verdict
from tests.conftest import SmallCourse
from tests.support.good_stage import HIDDEN, LOOPS, SOLUTION, write_stage

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="without forks nothing runs in the judge itself")

Caught = Callable[..., list[Outcome | None]]
Trusted = Callable[[str], tuple[Verdict, tuple[Outcome, ...]] | None]
THIRD = SOLUTION.replace("/ 2", "/ 3")
EXPECTED = """

@pytest.mark.criterion("total")
@pytest.mark.values
@pytest.mark.xfail
def test_that_is_expected_to_fail(learner):
    learner.total(np.ones((2, 2)))
"""


def doing(body: str) -> str:
    return SOLUTION.replace("return total(x) / 2", body)


@pytest.fixture(scope="module")
def course(small_course: SmallCourse) -> SmallCourse:
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small")
    return small_course


@pytest.fixture(scope="module")
def snapshot(course: SmallCourse) -> Snapshot:
    path = course.root.parent / "ours.py"
    path.write_text(SOLUTION, encoding="utf-8")
    return take(course.stage, path, course.root)


@pytest.fixture(scope="module")
def caught(course: SmallCourse) -> Caught:
    def found(*forms: str | ChangedForm, seconds: float = 1.0) -> list[Outcome | None]:
        mutants = [form if isinstance(form, ChangedForm) else ChangedForm(form) for form in forms]
        with MutantRunner(course.course, course.stage) as runner:
            return runner.caught(mutants, 1, seconds)

    return found


@pytest.fixture
def trusted(course: SmallCourse, snapshot: Snapshot) -> Trusted:
    def verdict(source: str) -> tuple[Verdict, tuple[Outcome, ...]] | None:
        with MutantRunner(course.course, course.stage) as runner:
            return runner.trusted(replace(snapshot, source=source.encode()), 7)

    return verdict


class TestChangedForms:
    def test_each_has_its_own_end_in_their_order(self, caught: Caught) -> None:
        first, second, third = caught(THIRD, SOLUTION, SOLUTION.replace("axis=1", "axis=0"))
        assert first is not None and third is not None and second is None
        assert (first.criterion, first.status, third.criterion) == ("half", "failed", "total")
        assert first.test == "test_small.py::test_half_of_two" and "expected 1.0, got 0.66" in first.message

    def test_named_tests_are_the_only_ones(self, caught: Caught) -> None:
        hidden, totals = "test_hidden.py::test_half_of_any_rows", "test_small.py::test_total_of_two_rows"
        found = caught(ChangedForm(THIRD, (hidden,)), ChangedForm(THIRD, (totals,)), ChangedForm(THIRD, ()))
        assert [each and each.test for each in found] == [hidden, None, None]

    @pytest.mark.some_of(3)
    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ("raise KeyError(1)", "failed"),
            ("while True: pass", "timed_out"),
            ("raise SystemExit(3)", "failed"),
            ("x[...] = 0; return total(x)", "failed"),
            ("return [0] * 10**12", "failed"),
            ("import os; os._exit(3)", None),
        ],
    )
    def test_whatever_one_does_the_next_begins_afresh(self, caught: Caught, body: str, status: str | None) -> None:
        odd, right, third = caught(doing(body), SOLUTION, THIRD)
        assert (odd and odd.status) == status
        assert right is None and third is not None

    def test_nothing_is_said_of_one_that_only_waits(self, caught: Caught) -> None:
        tests = ("test_small.py::test_half_of_two",)
        waiting = doing("import time; time.sleep(600)")
        assert caught(ChangedForm(waiting, tests), ChangedForm(THIRD, tests), seconds=0.2)[0] is None

    def test_one_that_cannot_be_loaded_is_caught(self, caught: Caught) -> None:
        (found,) = caught(f"{SOLUTION}\nSIZE = 1 / 0\n")
        assert found is not None and "ZeroDivisionError" in found.message

    def test_what_one_leaves_behind_is_not_there_for_the_next(self, caught: Caught) -> None:
        leaving = SOLUTION.replace("import numpy as np\n", "import numpy as np\n\nnp.left = 1\n")
        asking = doing("return total(x) / (3 if hasattr(np, 'left') else 2)")
        assert caught(leaving, asking) == [None, None]

    def test_mutants_end_as_they_do_through_a_worker(self, course: SmallCourse, snapshot: Snapshot) -> None:
        changed = [ChangedForm(mutant.source) for mutant in mutants(SOLUTION)]
        with MutantRunner(course.course, course.stage) as runner:
            ours = runner.caught(changed, 1, 1.0)
            through = runner.first_failures(snapshot, Options(1, "process"), changed)
        assert [each and each.test for each in ours] == [each and each.test for each in through]


class TestWhatIsRight:
    @pytest.mark.parametrize("source", [SOLUTION, LOOPS])
    def test_it_passes_every_test_with_the_seed_asked_for(self, trusted: Trusted, source: str) -> None:
        found = trusted(source)
        assert found is not None
        verdict, outcomes = found
        assert verdict.passed and verdict.run.seed == 7 and verdict.run.isolation == "none"
        assert {(each.criterion, each.hidden, each.status, each.kind != "") for each in outcomes} == {
            (row, hidden, "passed", True) for row in ("total", "half") for hidden in (False, True)
        }

    def test_it_does_not_where_one_test_fails(self, trusted: Trusted) -> None:
        found = trusted(THIRD)
        assert found is not None and not found[0].passed
        assert [row.status for row in found[0].criteria] == ["passed", "failed"]

    @pytest.mark.full_matrix
    def test_it_does_not_where_it_never_ends(self, course: SmallCourse, snapshot: Snapshot) -> None:
        stage = replace(course.stage, limits=replace(course.stage.limits, stage_seconds=1.0))
        with MutantRunner(course.course, stage) as runner:
            found = runner.trusted(replace(snapshot, source=doing("while True: pass").encode()), 7)
        assert found is not None and not found[0].passed

    def test_a_test_that_pytest_has_to_report_on_needs_a_worker(self, course: SmallCourse, trusted: Trusted) -> None:
        path = course.hidden / "test_hidden.py"
        path.write_text(HIDDEN + EXPECTED, encoding="utf-8")
        try:
            assert trusted(SOLUTION) is None
        finally:
            path.write_text(HIDDEN, encoding="utf-8")
