"""The board in words: what is told first, of a stage that is complete, and to who listens."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.text import Text

from grader.criterion import KindCount
from grader.report.terminal.layout import Look
from grader.submission.parsing import Problem
from grader.verdict import Verdict
from grader.watching import board_lines
from grader.watching.board import Board
from tests.support.command import Place
from tests.watching.fakes import Watched, verdict

LOOK = Look(80)


@pytest.fixture
def board(place: Place) -> Board:
    watched = Watched(place.root)
    watched.session.open(watched.first)
    return watched.session.board


def text(lines: list[Text]) -> str:
    return "\n".join(line.plain for line in lines)


def judged(board: Board, *statuses: str) -> Board:
    return replace(board, verdict=verdict(board.stage, *statuses), since=None)


def test_while_a_check_runs_its_tests_and_seconds_are_told(board: Board) -> None:
    assert board_lines.reached(board, LOOK, 5.4) == "checking · 0 tests"
    slow = replace(board, tests=1, at="double")
    assert board_lines.reached(slow, LOOK, 17.0) == "checking · 1 test · 12 s · double"
    assert board_lines.reached(judged(board, "passed", "failed"), LOOK, 17.0) == "1 of 2 criteria"
    assert "check is running" in text(board_lines.below(board, LOOK))


def test_while_the_cause_is_looked_for_that_is_told(board: Board) -> None:
    row, *rest = verdict(board.stage, "failed", "passed").criteria
    bare = replace(row, failures=tuple(replace(each, diagnosis=None) for each in row.failures))
    found = replace(board, verdict=replace(verdict(board.stage, "failed", "passed"), criteria=(bare, *rest)))
    assert board_lines.AHEAD in text(board_lines.below(found, LOOK))
    searching = replace(found, searches=True)
    assert board_lines.reached(searching, LOOK, 17.0) == "1 of 2 criteria · looking for the cause"
    told = text(board_lines.below(searching, LOOK))
    assert board_lines.SEARCHING in told and board_lines.AHEAD not in told
    over = replace(found, since=None)
    assert board_lines.reached(over, LOOK, 17.0) == "1 of 2 criteria"
    assert not any(said in text(board_lines.below(over, LOOK)) for said in (board_lines.SEARCHING, board_lines.AHEAD))


def test_the_first_row_that_does_not_pass_is_told_whole_or_the_one_that_is_chosen(board: Board) -> None:
    board = judged(board, "failed", "blocked")
    told = text(board_lines.below(board, LOOK))
    for words in ("✗ double is right", "double(x=3)", "expected 6, got 9", "This is the square.", "numbers_.py:6"):
        assert words in told
    assert "grader hint" not in told  # there is a key for that
    assert "quadruple" in text(board_lines.below(board, LOOK, "quadruple"))
    assert board.place() == ("stages/s01_numbers/numbers_.py", 6)
    assert board.verdict is not None
    assert board_lines.row_line(board.verdict.criteria[0], LOOK, 4).plain == "✗  0/2  double is right"
    seen = board_lines.row_line(board.verdict.criteria[0], LOOK, 3, is_seen=True)
    assert seen.plain == "✗ 0/2  double is right  · seen"


def test_a_row_that_is_not_started_says_what_to_write(board: Board) -> None:
    told = text(board_lines.below(judged(board, "not_started", "not_started"), LOOK))
    assert "Write double in stages/s01_numbers/numbers_.py and save." in told


def test_a_module_that_cannot_be_read_says_where(board: Board) -> None:
    broken = replace(
        verdict(board.stage, "blocked", "blocked"), problem=Problem("syntax", "expected ':'", 3, "Add it.")
    )
    told = text(board_lines.below(replace(board, verdict=broken, since=None), LOOK))
    assert "numbers_.py:3 cannot be graded" in told and "expected ':'" in told and "Add it." in told
    assert board_lines.reached(replace(board, verdict=broken, since=None), LOOK, 0) == "cannot be graded as it is"
    locked = replace(board, verdict=None, since=None, trouble=("s01 is locked", None))
    assert board_lines.reached(locked, LOOK, 0) == "not graded"


def test_a_stage_that_is_complete_says_what_was_built_and_opened(board: Board) -> None:
    done = replace(verdict(board.stage, "passed", "passed"), unlocked=("s02",))
    told = text(board_lines.below(replace(board, verdict=done, since=None), LOOK))
    assert told.endswith("n goes on.")  # there is nothing to explore
    assert "e explores it again" in text(
        board_lines.below(replace(board, verdict=done, since=None, drawn="a curve"), LOOK)
    )
    for words in ("s01 · Numbers is complete.", "You built double, quadruple.", "Unlocked: s02 · Sums.", "n goes on"):
        assert words in told
    unrecorded = replace(done, unrecorded="no space")
    assert "Unlocked" not in text(board_lines.below(replace(board, verdict=unrecorded, since=None), LOOK))
    public = replace(done, passed=False, run=replace(done.run, public_only=True))
    told = text(board_lines.below(replace(board, verdict=public, since=None), LOOK))
    assert "hidden tests run when you submit" in told and "reference" not in told


def test_a_stage_that_is_complete_says_how_robust_it_is(board: Board) -> None:
    done = verdict(board.stage, "passed", "passed")
    failing = verdict(board.stage, "failed", "passed").criteria[0].failures
    kinds = (KindCount("values", 2, 2), KindCount("refusals", 1, 3))
    bare = replace(done.criteria[0], tests_passed=3, tests_total=5, kinds=kinds, failures=failing)
    board = replace(board, verdict=replace(done, criteria=(bare, done.criteria[1])), since=None)
    told = " ".join(text(board_lines.below(board, LOOK)).split())
    assert "2 of 2 criteria · 1 robust. First: double is right: 2 of 3 refusals missing." in told
    assert "✗" not in told and board.complete and board.first is None
    assert board_lines.row_line(bare, LOOK, 3).plain == "✓ 3/5  double is right  2 of 3 refusals missing"
    chosen = text(board_lines.below(board, LOOK, "double"))
    assert "✓ double is right" in chosen and "3 of 5 tests · 2 of 3 refusals missing" in chosen
    assert "This is the square." in chosen  # its cause, as that of anything else
    assert (
        text(board_lines.spoken_criterion(board, bare, LOOK)) == "Passes now: double is right; 2 of 3 refusals missing."
    )


def test_of_more_tests_no_command_is_told_that_nobody_can_type_here(board: Board) -> None:
    failed = verdict(board.stage, "failed", "blocked")
    (failure,) = failed.criteria[0].failures
    others = (replace(failure, diagnosis=None, message=f"message {number}") for number in range(4))
    many = replace(failed.criteria[0], failures=tuple(others))
    board = replace(board, verdict=replace(failed, criteria=(many, failed.criteria[1])), since=None)
    for told in (board_lines.below(board, LOOK, "double"), board_lines.spoken_criterion(board, many, LOOK)):
        assert "    and 2 more tests" in text(told).splitlines() and "grader check" not in text(told)


def test_a_fault_of_the_grader_is_told_as_one(board: Board) -> None:
    faulty: Verdict = replace(verdict(board.stage, "failed", "blocked"), faults=("a test file is broken",))
    told = text(board_lines.below(replace(board, verdict=faulty, since=None), LOOK))
    assert "not in your code" in told and "a test file is broken" in told


def test_plain_mode_tells_sentences_without_marks(board: Board) -> None:
    board = judged(board, "failed", "blocked")
    lines = text(board_lines.spoken(board, LOOK)).splitlines()
    assert lines[:2] == ["s01 · Numbers: 0 of 2 criteria pass.", "First: double is right: 0 of 2 tests."]
    assert not set("✗✓○–░█") & set("\n".join(lines))
    told = text(board_lines.spoken(board, LOOK, board.first))
    assert told == "s01 · Numbers: 0 of 2 criteria pass.\n    This is the square."
    trouble = replace(board, verdict=None, trouble=("s01 has no module", "Use `grader reset s01`."))
    assert text(board_lines.spoken(trouble, LOOK)) == "s01 has no module\nUse `grader reset s01`."


def test_in_ascii_nothing_else_is_shown(board: Board) -> None:
    look = Look(80, ascii=True)
    board = judged(board, "failed", "blocked")
    assert text(board_lines.below(board, look)).isascii()
