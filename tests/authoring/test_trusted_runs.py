"""Trusted modules run in a judge without a worker, or through one: changed forms, and what their tests reach."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from grader.authoring import trusted_runs as first_failures
from grader.authoring.trusted_runs import ChangedForm, LinesReached, MutantRunner, caught_through_worker
from grader.course.mutants import mutants
from grader.isolation import tiers
from grader.judging.grading import Options
from grader.judging.task import JudgeTask
from grader.outcome import Outcome
from grader.submission import Snapshot, take
from grader.verdict import Verdict
from tests.conftest import SmallCourse, need
from tests.support.good_stage import FILES, HIDDEN, LOOPS, SOLUTION, write_stage

needs_forks = pytest.mark.skipif(not tiers.FORKS, reason="without forks nothing runs in the judge itself")

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


@needs_forks
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


@needs_forks
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


RIGHT, MUTANTS_IN_ONE_JUDGE_THIRD = ChangedForm(SOLUTION), ChangedForm(SOLUTION.replace("/ 2", "/ 3"))


@pytest.fixture(scope="module")
def charged(small_course: SmallCourse) -> Iterator[tuple[JudgeTask, tiers.LocalWorkerFactory]]:
    """What a judge works on, and who starts its workers."""
    away: dict[str, str | None] = dict.fromkeys(name for name in FILES if "solution" in name or "mistakes" in name)
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small", away)
    path = small_course.root.parent / "right.py"
    path.write_text(SOLUTION, encoding="utf-8")
    snapshot = take(small_course.stage, path, small_course.root)
    with MutantRunner(small_course.course, small_course.stage) as runner:
        yield runner._task(snapshot, Options(1, "process"), "process", ()), runner.workers("process", True)


@needs_forks
def test_all_forms_are_told_of(charged: tuple[JudgeTask, tiers.LocalWorkerFactory]) -> None:
    task, own = charged
    found = caught_through_worker(task, [RIGHT, MUTANTS_IN_ONE_JUDGE_THIRD, RIGHT], own)
    assert [each and (each.test, each.status) for each in found] == [
        None,
        ("test_small.py::test_half_of_two", "failed"),
        None,
    ]


@needs_forks
@pytest.mark.parametrize("error", [MemoryError, RuntimeError, SystemExit])
def test_the_list_ends_before_the_form_that_ends_the_judge(
    charged: tuple[JudgeTask, tiers.LocalWorkerFactory], error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ending(task: Any, mutant: ChangedForm, *rest: Any) -> Outcome | None:
        if mutant == MUTANTS_IN_ONE_JUDGE_THIRD:
            raise error
        return whole(task, mutant, *rest)

    whole = first_failures._caught_through_worker
    monkeypatch.setattr(first_failures, "_caught_through_worker", ending)
    task, own = charged
    assert caught_through_worker(task, [RIGHT, MUTANTS_IN_ONE_JUDGE_THIRD, RIGHT], own) == [None]


@needs_forks
def test_tests_that_the_suite_lacks_are_left_out(charged: tuple[JudgeTask, tiers.LocalWorkerFactory]) -> None:
    task, own = charged
    known = "test_small.py::test_half_of_two"
    (found,) = caught_through_worker(
        task, [ChangedForm(MUTANTS_IN_ONE_JUDGE_THIRD.source, ("test_small.py::test_of_old", known))], own
    )
    assert found is not None and found.test == known


Seen = dict[str, LinesReached]
TOTAL = SOLUTION.splitlines().index("    return x.sum(axis=1)") + 1
HALF = SOLUTION.splitlines().index("    return total(x) / 2") + 1

ONCE = SOLUTION.replace("return x.sum(axis=1)", "if not SEEN:\n        SEEN.append(1)\n    return x.sum(axis=1)")
ODD = """

@pytest.mark.criterion("total")
@pytest.mark.values
def test_that_fails_with_the_reference(learner):
    assert learner.total(np.ones((2, 2))) is None


@pytest.mark.criterion("total")
@pytest.mark.values
@pytest.mark.xfail
def test_that_is_expected_to_fail(learner):
    learner.total(np.ones((2, 2)))


@pytest.mark.criterion("total")
@pytest.mark.values
def test_in_a_thread(learner):
    import threading

    thread = threading.Thread(target=learner.total, args=(np.ones((2, 2)),))
    thread.start()
    thread.join()
"""


@pytest.fixture(scope="module")
def see(small_course: SmallCourse) -> Callable[[str], Seen]:
    """What looks at a module's text with the tests of the small stage, and with some odd ones."""
    changes = {"hidden/test_hidden.py": HIDDEN + ODD}
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small", changes)

    def seen(source: str) -> Seen:
        with MutantRunner(small_course.course, small_course.stage) as runner:
            return {each.test.partition("::")[2]: each for each in runner.reached(source, 1)}

    return seen


@pytest.fixture(scope="module")
def seen(see: Callable[[str], Seen]) -> Seen:
    return see(SOLUTION)


def test_each_test_has_the_lines_of_functions_that_it_runs_and_its_row(seen: Seen) -> None:
    assert (seen["test_total_of_two_rows"].lines, seen["test_total_of_two_rows"].criterion) == (
        frozenset({TOTAL}),
        "total",
    )
    assert (seen["test_half_of_two"].lines, seen["test_half_of_two"].criterion) == (frozenset({TOTAL, HALF}), "half")
    assert seen["test_half_of_two"].seconds > 0


@pytest.mark.parametrize("name", ["test_that_fails_with_the_reference", "test_that_is_expected_to_fail"])
def test_a_test_that_does_not_pass_may_run_any_line(seen: Seen, name: str) -> None:
    assert seen[name].lines is None and seen[name].runs((1, 1))


def test_lines_of_another_thread_are_seen(seen: Seen) -> None:
    assert seen["test_in_a_thread"].lines == frozenset({TOTAL})


def test_what_a_module_keeps_is_not_seen_by_the_next_test(see: Callable[[str], Seen]) -> None:
    found = see(ONCE.replace("import numpy as np\n", "import numpy as np\n\nSEEN = []\n"))
    appended = ONCE.splitlines().index("        SEEN.append(1)") + 3
    assert all(appended in (each.lines or {appended}) for each in found.values())


def test_nothing_is_traced_afterwards(seen: Seen) -> None:
    assert (seen and sys.gettrace() is None) or "coverage" in sys.modules


@pytest.mark.parametrize(
    ("span", "runs"), [((3, 3), True), ((1, 2), False), ((1, 9), True), ((5, 9), False), (None, True)]
)
def test_a_span_is_run_by_any_of_its_lines(span: tuple[int, int] | None, runs: bool) -> None:
    assert LinesReached("test", "row", frozenset({3, 4}), 0.1).runs(span) is runs


Hunt = Callable[..., list[Outcome | None]]
COLUMNS = SOLUTION.replace("axis=1", "axis=0")


@pytest.fixture(scope="module")
def course_of_through_a_worker(small_course: SmallCourse) -> SmallCourse:
    """A small stage whose answers are away, of which a call may take two seconds."""
    away: dict[str, str | None] = dict.fromkeys(name for name in FILES if "solution" in name or "mistakes" in name)
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small", away)
    return small_course


@pytest.fixture(scope="module")
def snapshot_of_through_a_worker(course_of_through_a_worker: SmallCourse) -> Snapshot:
    path = course_of_through_a_worker.root.parent / "right.py"
    path.write_text(SOLUTION, encoding="utf-8")
    return take(course_of_through_a_worker.stage, path, course_of_through_a_worker.root)


@pytest.fixture(scope="module")
def first_failure(course_of_through_a_worker: SmallCourse, snapshot_of_through_a_worker: Snapshot) -> Hunt:
    """What runs texts, or mutants, in the weakest tier."""
    stage = replace(
        course_of_through_a_worker.stage, limits=replace(course_of_through_a_worker.stage.limits, call_seconds=2.0)
    )

    def hunted(*forms: str | ChangedForm, isolation: str = "process", fork: bool = tiers.FORKS) -> list[Outcome | None]:
        mutants = [form if isinstance(form, ChangedForm) else ChangedForm(form) for form in forms]
        with MutantRunner(course_of_through_a_worker.course, stage) as runner:
            return runner.first_failures(snapshot_of_through_a_worker, Options(1, isolation, fork=fork), mutants)

    return hunted


def ends(found: list[Outcome | None]) -> list[tuple[str, str] | None]:
    return [None if each is None else (each.criterion, each.status) for each in found]


def test_nothing_to_hunt_is_no_answer(first_failure: Hunt) -> None:
    assert first_failure() == []


def test_each_form_has_its_own_end_in_their_order(first_failure: Hunt) -> None:
    found = first_failure(SOLUTION, THIRD, SOLUTION, COLUMNS, SOLUTION)
    assert ends(found) == [None, ("half", "failed"), None, ("total", "failed"), None]


def test_it_is_the_first_test_that_does_not_pass(first_failure: Hunt) -> None:
    (found,) = first_failure(THIRD)
    assert found is not None and found.test == "test_small.py::test_half_of_two"
    assert "expected 1.0, got 0.66" in found.message


@pytest.mark.skipif(not tiers.FORKS, reason="where no judge can be forked, every test is tried")
def test_named_tests_are_the_only_ones_and_come_in_that_order(first_failure: Hunt) -> None:
    hidden, public = "test_hidden.py::test_half_of_any_rows", "test_small.py::test_half_of_two"
    totals = "test_small.py::test_total_of_two_rows"
    found = first_failure(
        ChangedForm(THIRD, (hidden, public)),
        ChangedForm(THIRD, (totals,)),
        ChangedForm(THIRD, ()),
        ChangedForm(THIRD, (public,)),
    )
    assert [each and each.test for each in found] == [hidden, None, None, public]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("import os; os._exit(3)", "crashed"),
        ("while True: pass", "timed_out"),
        ("raise NotImplementedError('half')", "not_started"),
        ("raise KeyError(1)", "failed"),
        ("x[...] = 0; return total(x)", "failed"),
    ],
)
@pytest.mark.some_of(2)
def test_whatever_a_form_does_the_next_one_begins_afresh(first_failure: Hunt, body: str, status: str) -> None:
    assert ends(first_failure(doing(body), SOLUTION, THIRD)) == [("half", status), None, ("half", "failed")]


def test_a_form_that_cannot_be_loaded_is_caught(first_failure: Hunt) -> None:
    first, second = first_failure(f"{SOLUTION}\nSIZE = 1 / 0\n", SOLUTION)
    assert first is not None and "ZeroDivisionError" in first.message and second is None


def test_what_one_form_leaves_behind_is_not_there_for_the_next(first_failure: Hunt) -> None:
    leaving = SOLUTION.replace("import numpy as np\n", "import numpy as np\n\nnp.left = 1\n")
    asking = doing("return total(x) / (3 if hasattr(np, 'left') else 2)")
    assert first_failure(leaving, asking) == [None, None]


@pytest.mark.skipif(not tiers.FORKS, reason="where no judge can be forked, each form has its own anyway")
def test_one_that_ends_the_judge_is_hunted_alone(first_failure: Hunt, monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.authoring import trusted_runs as first_failures

    def ending(charge: Any, mutant: ChangedForm, *rest: Any) -> Outcome | None:
        if "/ 3" in mutant.source:
            raise MemoryError
        return whole(charge, mutant, *rest)

    whole = first_failures._caught_through_worker
    monkeypatch.setattr(first_failures, "_caught_through_worker", ending)
    assert ends(first_failure(COLUMNS, THIRD, SOLUTION)) == [("total", "failed"), ("half", "failed"), None]


@pytest.mark.full_matrix
def test_without_forks_each_form_is_hunted_alone(first_failure: Hunt) -> None:
    assert ends(first_failure(THIRD, SOLUTION, fork=False)) == [("half", "failed"), None]


def test_a_fault_of_the_tests_is_ours(first_failure: Hunt, course_of_through_a_worker: SmallCourse) -> None:
    path = course_of_through_a_worker.hidden / "test_hidden.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('@pytest.mark.criterion("half")\n', ""), encoding="utf-8")
    try:
        found = first_failure(THIRD, SOLUTION)
    finally:
        path.write_text(text, encoding="utf-8")
    assert [each and each.status for each in found] == ["grader_fault", "grader_fault"]


@pytest.mark.parametrize("tier", ["landlock", "bubblewrap"])
def test_the_strong_tiers_say_the_same(first_failure: Hunt, tier: tiers.Tier) -> None:
    need(tier)
    assert ends(first_failure(THIRD, SOLUTION, COLUMNS, isolation=tier)) == [
        ("half", "failed"),
        None,
        ("total", "failed"),
    ]


@pytest.mark.full_matrix
def test_mutants_end_as_they_do_alone(
    course_of_through_a_worker: SmallCourse, snapshot_of_through_a_worker: Snapshot
) -> None:
    made = mutants(SOLUTION)
    options = Options(1, "process")
    with MutantRunner(course_of_through_a_worker.course, course_of_through_a_worker.stage) as runner:
        together = runner.first_failures(
            snapshot_of_through_a_worker, options, [ChangedForm(mutant.source) for mutant in made]
        )
        alone = [
            runner.first_failure(replace(snapshot_of_through_a_worker, source=mutant.source.encode()), options, ())
            for mutant in made
        ]
    assert [found is None for found in together] == [found is None for found in alone]
