"""The board as a page shows it: rows with their causes, why there are none, and what was opened."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.outcome import SEARCH, Gradient
from grader.submission.source import Problem
from grader.tests.support.command import Place
from grader.tests.watching.fakes import Watched, verdict
from grader.verdict import Failure
from grader.watching.board import Board, Decided, Failed, Judged
from grader.web.page import Pages
from grader.web.serving.steps import StepLink
from grader.web.serving.view import COMPLETE, PUBLIC, View, view


@pytest.fixture
def watched(place: Place) -> Watched:
    found = Watched(place.root)
    found.session.open(found.first)
    return found


def shown(board: Board) -> View:
    return view(board, 6.0)


def after(watched: Watched, *statuses: str, **changes: object) -> View:
    made = replace(verdict(watched.first, *statuses), **changes)  # type: ignore[arg-type]
    watched.session.take(watched.judged(made))
    return shown(watched.session.board)


def test_a_check_that_runs_says_how_far_it_is(watched: Watched) -> None:
    found = shown(watched.session.board)
    assert found.is_checking and found.reached.startswith("checking · 0 tests") and found.lines == ()


def test_the_first_row_that_fails_comes_with_its_cause(watched: Watched) -> None:
    found = after(watched, "failed", "blocked")
    first, second = found.lines
    assert (first.is_first, second.is_first, found.done, second.told) == (True, False, 0, ())
    (told,) = first.told
    assert (told.call, told.cause) == ("double(x=3)", "This is the square.")
    assert told.where == "stages/s01_numbers/numbers_.py:6" and first.functions == ("double",)


def test_a_cause_that_is_looked_for_and_a_search_that_was_cut_short_are_told(watched: Watched) -> None:
    made = verdict(watched.first, "failed", "blocked")
    row, *rest = made.criteria
    bare = tuple(replace(each, diagnosis=None) for each in row.failures)
    made = replace(made, criteria=(replace(row, failures=bare), *rest))
    watched.session.take(Decided(1, made))
    assert shown(watched.session.board).reached.endswith("looking for the cause")
    cut = tuple(replace(each, unexplained=f"{SEARCH} took 60 s") for each in bare)
    found = after(watched, "failed", "blocked", criteria=(replace(row, failures=cut), *rest))
    assert found.lines[0].told[0].cause == f"No cause was found: {SEARCH} took 60 s."
    assert "looking for the cause" not in found.reached


def test_gradients_are_a_table(watched: Watched) -> None:
    wrong = Gradient("grad_x", "x", (2,), (2,), 0.5, (0,), "1", "2", "factor", "twice")
    failure = Failure("t", False, "failed", "f()", "no", None, None, gradients=(wrong,))
    made = verdict(watched.first, "failed", "passed")
    rows = (replace(made.criteria[0], failures=(failure,)), made.criteria[1])
    (told,) = after(watched, "failed", "passed", criteria=rows).lines[0].told
    assert told.gradients.startswith("gradient") and "grad_x" in told.gradients


def test_a_module_that_cannot_be_graded_says_why(watched: Watched) -> None:
    found = after(watched, "failed", "failed", problem=Problem("syntax", "invalid syntax", 3, "Look at line 3."))
    assert found.trouble == ("stages/s01_numbers/numbers_.py:3: invalid syntax", "Look at line 3.")
    assert found.lines == ()


def test_a_line_that_the_message_names_is_said_once(watched: Watched) -> None:
    found = after(watched, "failed", "failed", problem=Problem("syntax", "line 3: invalid syntax", 3, None))
    assert found.trouble == ("stages/s01_numbers/numbers_.py: line 3: invalid syntax", "")


def test_a_row_knows_its_step(watched: Watched) -> None:
    watched.session.take(watched.judged(verdict(watched.first, "failed", "blocked")))
    found = view(watched.session.board, 6.0, {"double": StepLink(1, "step-1-twice")})
    assert [line.step for line in found.lines] == [StepLink(1, "step-1-twice"), None]


def test_a_check_that_came_to_nothing_says_why(watched: Watched) -> None:
    watched.session.take(Failed(1, "s02 is locked", "Pass s01."))
    assert shown(watched.session.board).trouble == ("s02 is locked", "Pass s01.")


def test_a_fault_of_ours_is_said_to_be_one(watched: Watched) -> None:
    assert "not in your code" in after(watched, "failed", "passed", faults=("broken",)).trouble[0]


def test_a_stage_that_is_complete_says_what_it_opened(watched: Watched) -> None:
    found = after(watched, "passed", "passed", unlocked=("s02",))
    assert (found.complete, found.opened, found.done) == (COMPLETE, ("s02 · Sums",), 2)
    unrecorded = after(watched, "passed", "passed", unlocked=("s02",), unrecorded="disk full")
    assert unrecorded.opened == () and "disk full" in unrecorded.note


def test_public_tests_that_pass_are_no_pass(watched: Watched) -> None:
    made = verdict(watched.first, "passed", "passed")
    public = replace(made, passed=False, run=replace(made.run, public_only=True))
    watched.session.take(Judged(1, public))
    assert shown(watched.session.board).complete == PUBLIC


def test_a_row_whose_function_was_shown_says_seen(watched: Watched) -> None:
    found = after(watched, "failed", "blocked")
    assert [line.is_seen for line in found.lines] == [False, False]
    board = watched.session.board
    first, *others = board.standings
    given_up = replace(board, standings=(replace(first, seen=(found.lines[1].id,)), *others))
    assert [line.is_seen for line in shown(given_up).lines] == [False, True]
    pages = Pages()
    assert "· seen" in pages.fill("board.html", view=shown(given_up))
    assert "· seen" not in pages.fill("board.html", view=found)
