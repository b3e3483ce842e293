"""What every format reads: what gives marks, and what is told of a row, in text that nothing obeys."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from grader.course.provenance import Provenance
from grader.outcome import Where
from grader.report import github, graded
from grader.report.terminal.words import reached_words
from grader.verdict import Verdict
from tests.support.verdicts import (
    CRASH,
    EMPTY,
    FORWARD,
    HIDDEN,
    LABEL,
    MERGE,
    PASSED,
    PUBLIC,
    SCENE,
    SCORES,
    SPLIT,
    SYNTAX,
    TEXTS,
    UNMARKED,
    VERDICT,
    obeyed_by_a_runner,
    report,
    written,
)


@pytest.mark.parametrize("verdict", UNMARKED.values(), ids=list(UNMARKED))
def test_what_must_not_give_marks_says_why(verdict: Verdict) -> None:
    assert graded.unmarked(report(verdict))
    assert graded.unmarked(report(PASSED, verdict, every=True))


def test_the_reasons_are_told() -> None:
    assert "cannot be collected" in (graded.unmarked(report(UNMARKED["fault"])) or "")
    assert "not in your code" in (graded.unmarked(report(UNMARKED["fault of a row"])) or "")
    assert graded.unmarked(report(UNMARKED["locked"])) == "s15 is locked: s01 comes first."
    assert "does not exist" in (graded.unmarked(report(UNMARKED["not taken"])) or "")
    assert graded.unmarked(report()) == "No stage was graded."


@pytest.mark.parametrize("verdict", [PASSED, VERDICT, SYNTAX])
def test_what_was_graded_gives_marks(verdict: Verdict) -> None:
    assert graded.unmarked(report(verdict)) is None


def test_each_row_that_passes_is_worth_a_point() -> None:
    assert (graded.points(VERDICT), reached_words(VERDICT)) == (1, "1 of 5 criteria")
    assert graded.points(EMPTY) == 0


def test_details_are_what_the_terminal_shows_below_a_row() -> None:
    assert graded.details(SPLIT, VERDICT).splitlines() == [
        "2 of 4 tests.",
        "Tokens are mixed across heads.",
        f"--> {LABEL}:142",
        "split_heads(x: float64 (2, 6, 8), num_heads=2)",
        "72 of 96 values differ",
        "and 1 more test: grader check s15 split-heads -v",
        "more help: grader hint s15 split-heads",
        "same inputs again: grader check s15 --seed 40817",
    ]


def test_rows_that_have_not_begun_say_so_and_passed_ones_say_nothing() -> None:
    told = [graded.details(row, VERDICT) for row in (SCORES, MERGE, FORWARD, CRASH)]
    assert told[:3] == ["", "not started.", "waits for split_heads."]
    assert told[3].startswith("crashed.\n")


def test_the_place_is_the_first_of_the_learner_s_lines() -> None:
    other = replace(HIDDEN, where=Where(LABEL, 7), message="another", diagnosis=None)
    row = replace(SPLIT, failures=(replace(PUBLIC, where=None), other))
    assert graded.place(row, VERDICT) == Where(LABEL, 7)
    assert graded.said(row, VERDICT)[1] == PUBLIC.call
    assert graded.place(SCORES, VERDICT) is None
    assert graded.place(SPLIT, VERDICT) == Where(LABEL, 142)


def test_a_module_that_cannot_be_graded_says_where() -> None:
    assert graded.problem(SYNTAX) == f"{LABEL}:3 cannot be graded as it is.\nline 3: expected ':'\nAdd a colon."
    assert graded.problem(VERDICT) == ""


def test_facts_name_what_a_result_was_made_with_where_that_is_known() -> None:
    made = Provenance("c" * 40, True, None, "3.13.1", "2.4.0", "class/ada", "d" * 40)
    verdict = replace(VERDICT, run=replace(VERDICT.run, provenance=made))
    words = "course commit cccccccccccc (changed since) · Python 3.13.1 · NumPy 2.4.0 · student class/ada · revision "
    assert graded.facts(verdict)["provenance"] == f"{words}dddddddddddd"
    assert "course commit cccccccccccc" in github.summary(report(verdict), SCENE)


def test_facts_say_how_the_run_was_made() -> None:
    assert graded.facts(VERDICT) == {
        "stage": "s15",
        "seed": "40817",
        "isolation": "bubblewrap",
        "course": "0.1.0",
        "submission": "ab" * 32,
        "file": LABEL,
        "feedback": "full",
    }


@given(TEXTS)
def test_nothing_that_a_learner_wrote_is_obeyed(text: str) -> None:
    verdict = written(text)
    told = [graded.details(row, verdict) for row in verdict.criteria]
    told += [graded.problem(verdict), graded.title(replace(verdict, title=text)), *graded.facts(verdict).values()]
    told += [graded.unmarked(report(replace(verdict, faults=(text,)))) or ""]
    for each in told:
        assert obeyed_by_a_runner(each) == []
        assert all(char == "\n" or char.isprintable() for char in each)


def test_what_is_reached_with_public_tests_alone_says_so() -> None:
    assert reached_words(PASSED) == "1 of 1 criterion"
    only = replace(PASSED, passed=False, run=replace(PASSED.run, public_only=True))
    assert reached_words(only) == "1 of 1 criterion (public tests only)"
