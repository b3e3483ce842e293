"""Many changed forms of one module: each ends as it would alone, whatever those before it have done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from grader.course.mutants import mutants
from grader.isolation import tiers
from grader.judging.grading import Options
from grader.judging.hunting.hunter import Hunter
from grader.judging.hunting.quarry import Quarry
from grader.outcome import Outcome
from grader.submission import Snapshot, take
from grader.tests.conftest import SmallCourse, need
from grader.tests.support.good_stage import FILES, SOLUTION, write_stage

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
def hunt(course: SmallCourse, snapshot: Snapshot) -> Hunt:
    """What hunts texts, or quarries, in the weakest tier."""
    stage = replace(course.stage, limits=replace(course.stage.limits, call_seconds=2.0))

    def hunted(*forms: str | Quarry, isolation: str = "process", fork: bool = tiers.FORKS) -> list[Outcome | None]:
        quarries = [form if isinstance(form, Quarry) else Quarry(form) for form in forms]
        with Hunter(course.course, stage) as hunter:
            return hunter.hunts(snapshot, Options(1, isolation, fork=fork), quarries)

    return hunted


def ends(found: list[Outcome | None]) -> list[tuple[str, str] | None]:
    return [None if each is None else (each.criterion, each.status) for each in found]


def test_nothing_to_hunt_is_no_answer(hunt: Hunt) -> None:
    assert hunt() == []


def test_each_form_has_its_own_end_in_their_order(hunt: Hunt) -> None:
    found = hunt(SOLUTION, THIRD, SOLUTION, COLUMNS, SOLUTION)
    assert ends(found) == [None, ("half", "failed"), None, ("total", "failed"), None]


def test_it_is_the_first_test_that_does_not_pass(hunt: Hunt) -> None:
    (found,) = hunt(THIRD)
    assert found is not None and found.test == "test_small.py::test_half_of_two"
    assert "expected 1.0, got 0.66" in found.message


@pytest.mark.skipif(not tiers.FORKS, reason="where no judge can be forked, every test is tried")
def test_named_tests_are_the_only_ones_and_come_in_that_order(hunt: Hunt) -> None:
    hidden, public = "test_hidden.py::test_half_of_any_rows", "test_small.py::test_half_of_two"
    totals = "test_small.py::test_total_of_two_rows"
    found = hunt(Quarry(THIRD, (hidden, public)), Quarry(THIRD, (totals,)), Quarry(THIRD, ()), Quarry(THIRD, (public,)))
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
def test_whatever_a_form_does_the_next_one_begins_afresh(hunt: Hunt, body: str, status: str) -> None:
    assert ends(hunt(doing(body), SOLUTION, THIRD)) == [("half", status), None, ("half", "failed")]


def test_a_form_that_cannot_be_loaded_is_caught(hunt: Hunt) -> None:
    first, second = hunt(f"{SOLUTION}\nSIZE = 1 / 0\n", SOLUTION)
    assert first is not None and "ZeroDivisionError" in first.message and second is None


def test_what_one_form_leaves_behind_is_not_there_for_the_next(hunt: Hunt) -> None:
    leaving = SOLUTION.replace("import numpy as np\n", "import numpy as np\n\nnp.left = 1\n")
    asking = doing("return total(x) / (3 if hasattr(np, 'left') else 2)")
    assert hunt(leaving, asking) == [None, None]


@pytest.mark.skipif(not tiers.FORKS, reason="where no judge can be forked, each form has its own anyway")
def test_one_that_ends_the_judge_is_hunted_alone(hunt: Hunt, monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.judging.hunting import hunts

    def ending(charge: Any, quarry: Quarry, *rest: Any) -> Outcome | None:
        if "/ 3" in quarry.source:
            raise MemoryError
        return whole(charge, quarry, *rest)

    whole = hunts._caught
    monkeypatch.setattr(hunts, "_caught", ending)
    assert ends(hunt(COLUMNS, THIRD, SOLUTION)) == [("total", "failed"), ("half", "failed"), None]


@pytest.mark.full_matrix
def test_without_forks_each_form_is_hunted_alone(hunt: Hunt) -> None:
    assert ends(hunt(THIRD, SOLUTION, fork=False)) == [("half", "failed"), None]


def test_a_fault_of_the_tests_is_ours(hunt: Hunt, course: SmallCourse) -> None:
    path = course.hidden / "test_hidden.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('@pytest.mark.criterion("half")\n', ""), encoding="utf-8")
    try:
        found = hunt(THIRD, SOLUTION)
    finally:
        path.write_text(text, encoding="utf-8")
    assert [each and each.status for each in found] == ["grader_fault", "grader_fault"]


@pytest.mark.parametrize("tier", ["landlock", "bubblewrap"])
def test_the_strong_tiers_say_the_same(hunt: Hunt, tier: tiers.Tier) -> None:
    need(tier)
    assert ends(hunt(THIRD, SOLUTION, COLUMNS, isolation=tier)) == [("half", "failed"), None, ("total", "failed")]


@pytest.mark.full_matrix
def test_mutants_end_as_they_do_alone(course: SmallCourse, snapshot: Snapshot) -> None:
    made = mutants(SOLUTION)
    options = Options(1, "process")
    with Hunter(course.course, course.stage) as hunter:
        together = hunter.hunts(snapshot, options, [Quarry(mutant.source) for mutant in made])
        alone = [hunter.hunt(replace(snapshot, source=mutant.source.encode()), options, ()) for mutant in made]
    assert [found is None for found in together] == [found is None for found in alone]
