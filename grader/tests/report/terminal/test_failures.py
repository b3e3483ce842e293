"""Which failures of a row are told, how often, and what of each."""

from __future__ import annotations

from dataclasses import replace

from grader.outcome import SEARCH
from grader.report.terminal.checklist import Style, detail_lines, verdict_lines
from grader.report.terminal.layout import Look
from grader.tests.report.terminal.made import (
    DIAGNOSIS,
    FAILED,
    FAILURE,
    FORWARD,
    MERGE,
    PROBLEM,
    RUN,
    SCORES,
    VERDICT,
    failing,
    shown,
    text_of,
)
from grader.verdict import Failure

OTHER = replace(DIAGNOSIS, mistake="another", text="The axes are swapped twice.")
LATER = replace(MERGE, status="failed", failures=(replace(FAILURE, call="merge()", diagnosis=OTHER),))
FIX = "Reshape to (batch, seq, heads, d_k) first"


def test_the_first_row_that_fails_is_told_whole_and_the_others_on_a_line_each() -> None:
    lines = shown(SCORES, FAILED, LATER, FORWARD).splitlines()
    assert "    split_heads(x: float64 (batch 2, seq 6, d_model 8), num_heads=2)" in lines
    assert "    merge()" not in lines and any(line.startswith("✗ 0/3  merge_heads") for line in lines)
    assert (
        "1 more row does not pass, to see one: grader check s15 --row merge-heads    all: grader check s15 -v" in lines
    )
    assert "more row" not in shown(SCORES, FAILED, FORWARD)


def test_one_row_alone_is_told_where_it_is_asked_for() -> None:
    text = shown(SCORES, FAILED, LATER, FORWARD, only="merge-heads")
    assert "    merge()\n" in text and "split_heads reshapes" not in text and "more row" not in text
    assert text.splitlines()[0].startswith("s15") and "1 of 4 criteria" in text
    assert FAILURE.message in shown(SCORES, FORWARD, only="forward")  # one that waits, too
    assert "✓ 5  compute" in shown(SCORES, FAILED, only="scores") and "split_heads" not in shown(
        SCORES, FAILED, only="scores"
    )


def test_all_rows_are_told_whole_on_request_and_what_repeats_once() -> None:
    text = shown(FAILED, LATER, verbose=True)
    assert "    merge()\n" in text and text.count("same inputs again") == text.count("more help") == 1
    assert "--row" not in text


def other(number: int, **changes: object) -> Failure:
    return replace(FAILURE, diagnosis=None, test=f"test_{number}", message=f"message {number}", **changes)  # type: ignore[arg-type]


def test_at_most_two_failures_of_a_row_are_shown() -> None:
    text = shown(failing(*map(other, range(5))))
    assert [f"message {n}" in text for n in range(5)] == [True, True, False, False, False]
    assert "    and 3 more tests: grader check s15 --row split-heads -v\n" in text


def test_a_row_that_was_graded_alone_is_asked_for_once() -> None:
    lines = detail_lines(
        failing(*map(other, range(5))), VERDICT, Style(Look(120), "grader check s15 --only split-heads")
    )
    assert "    and 3 more tests: grader check s15 --only split-heads -v\n" in text_of(lines)


def test_verbose_shows_all_failures_and_the_names_of_their_tests() -> None:
    text = shown(failing(*map(other, range(5))), verbose=True)
    assert all(f"message {n}" in text and f"test_{n}\n" in text for n in range(5))
    assert "more test" not in text


def test_the_name_of_a_test_that_is_too_long_is_broken_before_its_last_part() -> None:
    name = "test_hidden_triangular.py::TestForwardSubstitution::test_any_zero_of_the_diagonal_is_refused"
    lines = shown(failing(replace(FAILURE, test=name)), width=90, verbose=True).splitlines()
    place = lines.index("    test_hidden_triangular.py::TestForwardSubstitution::")
    assert lines[place + 1] == "    test_any_zero_of_the_diagonal_is_refused"
    assert f"    {name}" in shown(failing(replace(FAILURE, test=name)), width=120, verbose=True).splitlines()


def test_of_failures_with_one_cause_the_first_is_shown() -> None:
    text = shown(failing(FAILURE, replace(FAILURE, call="split_heads(y)"), other(1)))
    assert "split_heads(y)" not in text
    assert "message 1" in text
    assert "and 1 more test: grader check s15 --row split-heads -v\n" in text


def test_a_place_that_stands_above_is_not_repeated() -> None:
    text = shown(failing(other(0), other(1)))
    assert text.count("attention.py:142") == 1


def test_public_and_hidden_tests_are_told_alike() -> None:
    assert shown(failing(FAILURE)) == shown(failing(replace(FAILURE, hidden=True, test="test_hidden.py::test_split")))


def test_the_failure_that_decided_the_row_comes_first() -> None:
    text = shown(failing(other(0), other(1), other(2, status="crashed"), status="crashed"))
    assert text.index("message 2") < text.index("message 0")


def test_printed_output_and_warnings_are_told() -> None:
    text = shown(failing(replace(FAILURE, notes=("printed: hello", "RuntimeWarning: divide by zero (line 3)"))))
    assert "    printed: hello\n" in text
    assert "    RuntimeWarning: divide by zero (line 3)\n" in text


def test_long_output_is_shortened_and_says_by_how_much() -> None:
    note = replace(FAILURE, notes=("printed: " + "line\n" * 50,))
    assert "… 45 more lines" in shown(failing(note))
    assert shown(failing(note), verbose=True).count("line\n") >= 50


def test_blank_lines_of_a_message_are_left_out() -> None:
    text = shown(failing(replace(FAILURE, message="ValueError: a" + "\n" * 40 + "b")))
    assert "    ValueError: a\n    b\n" in text


def test_a_row_whose_tests_made_no_call_offers_no_hint() -> None:
    late = replace(FAILURE, call="", message="the stage's 60 s were used up before this test", diagnosis=None)
    assert "more help" not in shown(failing(late, status="timed_out"))


def test_a_fault_of_the_grader_says_whose_fault_it_is() -> None:
    text = shown(
        failing(FAILURE, status="grader_fault"), verdict=replace(VERDICT, faults=("test_hidden.py is broken",))
    )
    assert "not in your code: this result does not count" in text
    assert "    test_hidden.py is broken\n" in text
    assert "more help" not in text


def test_a_module_that_cannot_be_graded_is_told_instead_of_its_rows() -> None:
    text = shown(verdict=replace(VERDICT, problem=PROBLEM))
    assert text.splitlines()[1:] == [
        "✗ stages/s15_attention/attention.py:3 cannot be graded as it is",
        "    line 3: expected ':'",
        "        def f(x)",
        "                ^",
        "    Add it.",
    ]


def test_verbose_shows_the_rows_of_a_module_that_cannot_be_graded() -> None:
    assert "merge_heads" in shown(verdict=replace(VERDICT, problem=PROBLEM), verbose=True)


def test_why_the_isolation_is_weak_is_told_on_request() -> None:
    weak = replace(VERDICT, run=replace(RUN, isolation="process", isolation_note="bwrap is not installed"))
    assert "bwrap" not in shown(verdict=weak)
    assert "isolation: bwrap is not installed" in shown(verdict=weak, verbose=True)


def test_beside_a_named_cause_nothing_else_explains() -> None:
    pattern = "every value is 0.5 times the expected one"
    failure = replace(FAILURE, message=f"{FAILURE.message}\n{pattern}", pattern=pattern, help="What ValueError means.")
    for row, explained in ((failing(failure), False), (failing(replace(failure, diagnosis=None)), True)):
        text = " ".join(shown(row).split())
        assert (pattern in text, failure.help in text) == (explained, explained)
        assert "72 of 96 values differ" in text and ("fix it: grader hint" in text) != explained
    text = " ".join(shown(failing(failure), verbose=True).split())
    assert pattern in text and failure.help in text


def test_what_to_write_is_told_by_hint_and_where_it_is_asked_for() -> None:
    for verbose in (False, True):
        text = shown(verbose=verbose)
        assert FIX not in text and "fix it: grader hint s15 split-heads --fix" in text
    asked = Style(Look(120), "grader demo", fix=True)
    told = text_of(verdict_lines(VERDICT, asked))
    assert FIX in told and "fix it" not in told


def test_one_cause_of_several_rows_is_told_once() -> None:
    merge = replace(LATER, failures=(replace(FAILURE, call="merge()"),))
    text = shown(failing(FAILURE), merge, verbose=True)
    assert text.count(DIAGNOSIS.text) == 1 and "    By the same cause as split-heads.\n    merge()\n" in text
    text = shown(failing(FAILURE), merge)
    assert "\nBy the same cause: merge-heads.\n" in text and "more row" not in text
    text = shown(failing(FAILURE), replace(merge, failures=(*merge.failures, other(1))))
    assert "By the same cause" not in text and "1 more row does not pass" in text
    assert DIAGNOSIS.text in shown(failing(FAILURE), merge, only="merge-heads")


def test_a_search_that_was_cut_short_is_told_and_what_else_is_missing_on_request() -> None:
    cut, broken = (replace(other(0), unexplained=why) for why in (f"{SEARCH} took 60 s", "ValueError: of the engine"))
    assert f"    No cause was found: {SEARCH} took 60 s.\n" in shown(failing(cut, replace(cut, message="other")))
    assert shown(failing(cut, replace(cut, message="other"))).count("No cause") == 1
    assert "No cause" not in shown(failing(broken)) and "No cause" not in shown(failing(other(0)))
    assert "No cause was found: ValueError: of the engine." in shown(failing(broken), verbose=True)
