"""Many changed forms of one module: each ends as it would alone, whatever those before it have done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from grader.authoring.trusted_runs import ChangedForm, MutantRunner
from grader.course.mutants import mutants
from grader.isolation import tiers
from grader.judging.grading import Options
from grader.outcome import Outcome
from grader.submission import Snapshot, take
from tests.conftest import SmallCourse, need
from tests.support.good_stage import FILES, SOLUTION, write_stage

Hunt = Callable[..., list[Outcome | None]]
THIRD = SOLUTION.replace("/ 2", "/ 3")
COLUMNS = SOLUTION.replace("axis=1", "axis=0")


def doing(body: str) -> str:
    return SOLUTION.replace("return total(x) / 2", body)


@pytest.fixture(scope="module")
def course(small_course: SmallCourse) -> SmallCourse:
    """A small stage whose answers are away, of which a call may take two seconds."""
    away: dict[str, str | None] = dict.fromkeys(name for name in FILES if "solution" in name or "mistakes" in name)
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small", away)
    return small_course


@pytest.fixture(scope="module")
def snapshot(course: SmallCourse) -> Snapshot:
    path = course.root.parent / "right.py"
    path.write_text(SOLUTION, encoding="utf-8")
    return take(course.stage, path, course.root)


@pytest.fixture(scope="module")
def first_failure(course: SmallCourse, snapshot: Snapshot) -> Hunt:
    """What runs texts, or mutants, in the weakest tier."""
    stage = replace(course.stage, limits=replace(course.stage.limits, call_seconds=2.0))

    def hunted(*forms: str | ChangedForm, isolation: str = "process", fork: bool = tiers.FORKS) -> list[Outcome | None]:
        mutants = [form if isinstance(form, ChangedForm) else ChangedForm(form) for form in forms]
        with MutantRunner(course.course, stage) as runner:
            return runner.first_failures(snapshot, Options(1, isolation, fork=fork), mutants)

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


def test_a_fault_of_the_tests_is_ours(first_failure: Hunt, course: SmallCourse) -> None:
    path = course.hidden / "test_hidden.py"
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
def test_mutants_end_as_they_do_alone(course: SmallCourse, snapshot: Snapshot) -> None:
    made = mutants(SOLUTION)
    options = Options(1, "process")
    with MutantRunner(course.course, course.stage) as runner:
        together = runner.first_failures(snapshot, options, [ChangedForm(mutant.source) for mutant in made])
        alone = [runner.first_failure(replace(snapshot, source=mutant.source.encode()), options, ()) for mutant in made]
    assert [found is None for found in together] == [found is None for found in alone]
