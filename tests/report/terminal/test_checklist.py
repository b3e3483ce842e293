"""The checklist and what stands below its rows: failures, causes, and gradients."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.outcome import SEARCH, Gradient, Status
from grader.report.terminal.checklist import (
    Style,
    checklist_lines,
    detail_lines,
    found_lines,
    gradient_lines,
    summary_lines,
    verdict_lines,
)
from grader.report.terminal.layout import MARKS, Look, heading, paragraph, row, side_by_side
from grader.submission.parsing import Problem
from grader.verdict import Failure
from tests.report.terminal.made import (
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

PICTURE = """\
s15 · Attention mechanisms                                  1 of 4 criteria   █████░░░░░░░░░░░░░░░
✓   5  compute_attention_scores gives QKᵀ/√d_k
✗ 2/4  split_heads reshapes for multi-head
○      1 criterion not started · 1 waits for split_heads

✗ split_heads reshapes for multi-head
    This is what you get by reshaping straight to (batch, heads, seq, d_k): tokens are mixed across heads.
    --> stages/s15_attention/attention.py:142    return x.reshape(batch, num_heads, seq, d_k)
    split_heads(x: float64 (batch 2, seq 6, d_model 8), num_heads=2)
    shape (2, 2, 6, 4) is right; 72 of 96 values differ, first at [0, 0, 1, 0]: expected 8.0, got 4.0
1 more test does not pass: -v
seed 40817 · isolation bubblewrap · 0.6 s
more help: grader hint s15 split-heads    same inputs again: --seed 40817
"""


def test_the_report_is_the_one_of_the_design() -> None:
    assert shown() == PICTURE


@pytest.mark.parametrize("width", [20, 40, 60, 80, 98, 100, 119])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = verdict_lines(VERDICT, Style(Look(width), "grader check s15"))
    rest = [line for line in lines if not line.plain.strip().startswith("grader ")]  # a command is never broken
    assert max(line.cell_len for line in rest) <= max(width, 24)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_ends_in_spaces(width: int) -> None:
    assert all(line == line.rstrip() for line in shown(width=width).splitlines())


def test_at_80_columns_the_line_of_the_fault_and_the_commands_stand_on_lines_of_their_own() -> None:
    lines = shown(width=80).splitlines()
    place = lines.index("    --> stages/s15_attention/attention.py:142")
    assert lines[place + 1] == "        return x.reshape(batch, num_heads, seq, d_k)"
    assert lines[-1] == "more help: grader hint s15 split-heads    same inputs again: --seed 40817"
    assert shown(width=60).splitlines()[-2:] == [
        "more help: grader hint s15 split-heads",
        "same inputs again: --seed 40817",
    ]


def test_what_is_known_before_any_cause_is_the_first_part_of_the_report() -> None:
    style = Style(Look(120), "grader check s15")
    first, rest = text_of(checklist_lines(VERDICT, style)), text_of(found_lines(VERDICT, style))
    assert first + rest == PICTURE and first.splitlines()[-1].startswith("○") and DIAGNOSIS.text not in first
    bare = replace(VERDICT, criteria=tuple(replace(each, failures=()) for each in VERDICT.criteria))
    assert text_of(checklist_lines(bare, style)) == first


def test_a_long_line_keeps_all_its_words_when_it_is_wrapped() -> None:
    lines = shown(width=60).splitlines()
    assert DIAGNOSIS.text in " ".join(line.strip() for line in lines)


def test_a_status_that_does_not_fit_beside_its_row_stands_below_it_on_the_right() -> None:
    lines = text_of(row("blocked", "x" * 60, "waits for scaled_dot_product_attention", Look(80))).splitlines()
    assert lines == ["– " + "x" * 60, "waits for scaled_dot_product_attention".rjust(80)]


def test_a_row_that_is_wider_than_the_terminal_is_broken_between_words() -> None:
    lines = text_of(row("passed", "one two three four five six", "5 tests", Look(24))).splitlines()
    assert lines == ["✓ one two three four", "  five six  5 tests"]


def test_a_title_that_does_not_fit_beside_the_bar_stands_above_it() -> None:
    lines = text_of(heading("s15 · Attention mechanisms", "1 of 4 criteria", "█" * 20, Look(50))).splitlines()
    assert lines == ["s15 · Attention mechanisms", "1 of 4 criteria   " + "█" * 20]


def test_wide_characters_count_as_two_columns() -> None:
    line = row("passed", "行列の積", "5 tests", Look(80))[0]
    assert line.plain.index("5 tests") == 60 - 4


@pytest.mark.parametrize(
    ("status", "mark", "words"),
    [
        ("crashed", "!", "crashed"),
        ("timed_out", "…", "timed out"),
        ("over_limit", "▲", "over a limit"),
        ("grader_fault", "?", "grader fault"),
    ],
)
def test_each_way_of_not_ending_has_a_mark_and_words(status: Status, mark: str, words: str) -> None:
    line = shown(failing(FAILURE, status=status)).splitlines()[1]
    assert line.startswith(f"{mark} 2/4  split_heads")
    assert line.endswith(words)


def test_every_kind_of_row_has_marks_of_one_width() -> None:
    assert {len(mark) for mark, _, _ in MARKS.values()} == {1}
    assert {len(plain) for _, plain, _ in MARKS.values()} == {3}
    assert all(plain.isascii() for _, plain, _ in MARKS.values())


def test_without_unicode_all_is_ascii() -> None:
    text = shown(ascii=True, width=80)
    assert text.isascii()
    assert "ok    5  compute_attention_scores gives QK^T/sqrt d_k" in text
    assert "NO  2/4  split_heads" in text
    assert "[ ]      1 criterion not started - 1 waits for split_heads" in text
    assert " -  multi_head" in shown(FORWARD, ascii=True, width=80)
    assert "#####..............." in text


def test_a_run_of_public_tests_alone_says_so_above_and_below() -> None:
    text = shown(verdict=replace(VERDICT, run=replace(RUN, public_only=True)))
    assert "1 of 4 criteria (public tests only)" in text.splitlines()[0]
    assert "\nOnly public tests were run. Hidden tests run when you submit.\n" in text


def test_the_numbers_of_tests_stand_below_one_another() -> None:
    rows = (replace(SCORES, tests_passed=12, tests_total=12), replace(SCORES, tests_passed=1, tests_total=1), FAILED)
    lines = [line for line in shown(*rows, width=80).splitlines() if line[:1] in tuple("✓✗")][:3]
    assert [line[:7] for line in lines] == ["✓  12  ", "✓   1  ", "✗ 2/4  "]
    assert shown(MERGE).splitlines()[1].startswith("○ merge_heads")  # no row has any yet


def test_a_row_that_waits_for_several_functions_counts_them() -> None:
    line = shown(replace(FORWARD, waits_for=("split_heads", "merge_heads", "attention_weights"))).splitlines()[1]
    assert line.endswith("waits for split_heads and 2 more")


def test_a_waiting_row_tells_no_failures_unless_asked() -> None:
    assert FAILURE.message not in shown(FORWARD)
    assert FAILURE.message in shown(FORWARD, verbose=True)


def test_on_request_failures_of_a_waiting_row_with_a_cause_that_is_told_are_counted() -> None:
    waits = replace(FORWARD, failures=(*[replace(FAILURE, call="multi(x)")] * 13, other(1)))
    lines = shown(failing(FAILURE), waits, verbose=True).splitlines()
    assert "    13 tests fail by the same cause as split-heads." in lines and "    multi(x)" not in lines
    assert "    multi(x)" in shown(failing(FAILURE), waits, only=FORWARD.id).splitlines()


def test_on_request_the_tests_that_wait_are_counted_by_what_they_wait_for() -> None:
    waits = replace(FAILURE, status="blocked", message="merge_heads is not written yet", diagnosis=None)
    row = replace(FORWARD, failures=(*[waits] * 13, replace(waits, message="split is not written yet"), FAILURE))
    lines = shown(SCORES, FAILED, row, verbose=True).splitlines()
    assert "    13 tests: merge_heads is not written yet" in lines and "    1 test: split is not written yet" in lines
    assert sum("is not written yet" in line for line in lines) == 2


def test_on_a_low_screen_rows_that_pass_are_counted_so_that_the_title_stays() -> None:
    passing = [replace(SCORES, id=f"row-{place}", text=f"row {place}") for place in range(15)]
    verdict = replace(VERDICT, criteria=(*passing, FAILED, MERGE, FORWARD))
    lines = text_of(verdict_lines(verdict, Style(Look(80, height=24), "grader check s15"))).splitlines()
    assert lines[1:4] == [
        "✓  75  15 criteria pass",
        "✗ 2/4  split_heads reshapes for multi-head",
        "○      1 criterion not started · 1 waits for split_heads",
    ]
    assert len(lines) < 24
    for style in (Style(Look(80, height=60), ""), Style(Look(80), ""), Style(Look(80, height=24), "", verbose=True)):
        assert "row 14" in text_of(checklist_lines(verdict, style))
    whole = replace(verdict, criteria=tuple(passing))  # a stage that is done shows all that it has
    assert "row 14" in text_of(checklist_lines(whole, Style(Look(80, height=10), "")))


def test_a_bar_is_full_only_when_all_is_done() -> None:
    assert [Look(80, True).bar(done, 30) for done in (0, 29, 30)] == ["." * 20, "#" * 19 + ".", "#" * 20]
    assert Look(80, True).bar(0, 0) == "." * 20


def test_a_summary_has_a_row_for_each_stage() -> None:
    missing = replace(
        VERDICT, stage="s02", title="Sums", problem=Problem("missing", "sums.py does not exist", None, None)
    )
    broken = replace(VERDICT, stage="s04", title="Terms", problem=PROBLEM)
    stages = (
        replace(VERDICT, stage="s01", title="Numbers", passed=True, criteria=(SCORES,)),
        missing,
        replace(VERDICT, stage="s03", title="Products"),
        broken,
        replace(VERDICT, stage="s05", title="Fresh", criteria=(MERGE,)),
        replace(VERDICT, stage="s06", title="Fault", faults=("x",)),
    )
    public = replace(stages[0], stage="s07", title="Public", passed=False, run=replace(RUN, public_only=True))
    lines = text_of(summary_lines((*stages, public), Look(80))).splitlines()
    assert lines[0].startswith("All stages")
    assert "1 of 7 stages" in lines[0]
    for start, end in [
        ("✓ s01 · Numbers", "1 of 1 criterion"),
        ("✗ s02 · Sums", "no module"),
        ("    sums.py does not exist", "exist"),
        ("✗ s03 · Products", "1 of 4 criteria"),
        ("✗ s04 · Terms", "cannot be graded"),
        ("○ s05 · Fresh", "not started"),
        ("? s06 · Fault", "grader fault"),
        ("✓ s07 · Public", "public tests pass"),
    ]:
        assert any(line.startswith(start) and line.endswith(end) for line in lines)


@pytest.mark.parametrize("width", [30, 40, 60, 80])
def test_a_command_is_never_broken(width: int) -> None:
    text = "`grader check s01 --seed 5` grades it again; `grader start s02` skips it and `grader show s01` explains it."
    lines = [line.plain for line in paragraph(text, Look(width), indent=0)]
    for command in ("`grader check s01 --seed 5`", "`grader start s02`", "`grader show s01`"):
        assert any(command in line for line in lines)
    assert max(map(len, lines)) <= width
    parts = ["more help: grader hint s01 dot-product", f"same inputs again: {'grader check s01 --seed 5' * 3}"]
    shown = [line.plain.strip() for line in side_by_side(parts, Look(width))]
    assert shown[-1] == parts[1].partition(": ")[2]


def test_a_command_that_fills_the_line_is_not_broken() -> None:
    part = "3 more criteria do not pass, to see one: grader check s01 cosine-similarity"
    for width in (len(part), len(part) + 3):
        first, *_ = side_by_side([part, "all: grader check s01 -v"], Look(width), indent=0)
        assert first.plain == part


@pytest.mark.parametrize("grader", ["grader", "uv run grader", "python -m grader"])
def test_commands_are_told_as_this_grader_was_started(grader: str) -> None:
    look = Look(80, grader=grader)
    told = "\n".join(line.plain for line in verdict_lines(VERDICT, Style(look, "grader check s15")))
    assert f"more help: {grader} hint s15 split-heads" in told
    assert "same inputs again: --seed 40817" in told
    assert max(map(len, told.split("\n"))) <= 80
    problem = Problem("missing", "there is no module", None, "`grader reset s15` puts it back.")
    told = "\n".join(line.plain for line in verdict_lines(replace(VERDICT, problem=problem), Style(look, "")))
    assert f"`{grader} reset s15` puts it back." in told


def test_rows_that_are_not_begun_are_counted_on_the_last_line() -> None:
    fresh = [replace(MERGE, id=f"row-{place}", text=f"row {place}") for place in range(4)]
    waiting = [FORWARD, replace(FORWARD, waits_for=("merge_heads",)), replace(FORWARD, waits_for=("merge_heads",))]
    begun = replace(VERDICT, criteria=(fresh[0], SCORES, *fresh[1:], *waiting))
    lines = text_of(verdict_lines(begun, Style(Look(80), "grader check s15"))).splitlines()
    assert [" ".join(line.split()) for line in lines[1:3]] == [
        "✓ 5 compute_attention_scores gives QKᵀ/√d_k",
        "○ 4 criteria not started · 1 waits for split_heads · 2 wait for merge_heads",
    ]
    only = text_of(verdict_lines(replace(begun, criteria=(SCORES, *waiting)), Style(Look(80), "grader check s15")))
    assert "○    1 criterion waits for split_heads · 2 wait for merge_heads\n" in only
    told = text_of(verdict_lines(begun, Style(Look(80), "grader check s15", verbose=True)))
    assert told.count("not started") == 4
    untouched = text_of(verdict_lines(replace(VERDICT, criteria=tuple(fresh)), Style(Look(80), "grader check s15")))
    assert untouched.count("not started") == 4
    several = tuple(replace(FORWARD, waits_for=(name,)) for name in ("split_heads", "merge_heads", "layer_norm"))
    told = text_of(verdict_lines(replace(begun, criteria=(SCORES, *several)), Style(Look(80), "grader check s15")))
    assert "○    3 criteria wait for split_heads and others\n" in told


def test_a_stub_of_more_rows_than_the_screen_keeps_its_title_there() -> None:
    stub = replace(VERDICT, criteria=tuple(replace(MERGE, id=f"row-{place}") for place in range(18)))
    low, high = (verdict_lines(stub, Style(Look(80, height=height), "grader check s15")) for height in (24, 30))
    assert "○ 18 criteria not started" in text_of(low) and len(low) < 10
    assert text_of(high).count("not started") == 18


OTHER = replace(DIAGNOSIS, mistake="another", text="The axes are swapped twice.")
LATER = replace(MERGE, status="failed", failures=(replace(FAILURE, call="merge()", diagnosis=OTHER),))
FIX = "Reshape to (batch, seq, heads, d_k) first"


def test_the_first_row_that_fails_is_told_whole_and_the_others_on_a_line_each() -> None:
    lines = shown(SCORES, FAILED, LATER, FORWARD).splitlines()
    assert "    split_heads(x: float64 (batch 2, seq 6, d_model 8), num_heads=2)" in lines
    assert "    merge()" not in lines and any(line.startswith("✗ 0/3  merge_heads") for line in lines)
    assert "1 more test and 1 more criterion do not pass: -v, or grader check s15 merge-heads" in lines
    assert "more criterion" not in shown(SCORES, FAILED, FORWARD)


def test_one_row_alone_is_told_where_it_is_asked_for() -> None:
    text = shown(SCORES, FAILED, LATER, FORWARD, only="merge-heads")
    assert "    merge()\n" in text and "split_heads reshapes" not in text and "more criterion" not in text
    assert text.splitlines()[0].startswith("s15") and "1 of 4 criteria" in text
    assert FAILURE.message in shown(SCORES, FORWARD, only="forward")  # one that waits, too
    assert "✓ 5  compute" in shown(SCORES, FAILED, only="scores") and "split_heads" not in shown(
        SCORES, FAILED, only="scores"
    )


def test_all_rows_are_told_whole_on_request_and_what_repeats_once() -> None:
    text = shown(FAILED, LATER, verbose=True)
    assert "    merge()\n" in text and text.count("same inputs again") == text.count("more help: ") == 1
    assert "do not pass: -v" not in text


def other(number: int, **changes: object) -> Failure:
    return replace(FAILURE, diagnosis=None, test=f"test_{number}", message=f"message {number}", **changes)  # type: ignore[arg-type]


def test_at_most_two_failures_of_a_row_are_shown() -> None:
    text = shown(failing(*map(other, range(5))))
    assert [f"message {n}" in text for n in range(5)] == [True, True, False, False, False]
    assert "\n3 more tests do not pass: -v\n" in text


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
    assert "\n1 more test does not pass: -v\n" in text


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
    late = replace(
        FAILURE, call="", message="the time that the whole stage may take was used up before this test", diagnosis=None
    )
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
    for told, explained in ((failing(failure), False), (failing(replace(failure, diagnosis=None)), True)):
        text = " ".join(shown(told).split())
        assert (pattern in text, failure.help in text) == (explained, explained)
        assert "72 of 96 values differ" in text and "more help: grader hint" in text
    text = " ".join(shown(failing(failure), verbose=True).split())
    assert pattern in text and failure.help in text


def test_what_to_write_is_told_by_hint_and_where_it_is_asked_for() -> None:
    for verbose in (False, True):
        text = shown(verbose=verbose)
        assert FIX not in text and "more help: grader hint s15 split-heads" in text
    asked = Style(Look(120), "grader demo", fix=True)
    told = text_of(verdict_lines(VERDICT, asked))
    assert FIX in told and "more help: " in told


def test_one_cause_of_several_rows_is_told_once() -> None:
    merge = replace(LATER, failures=(replace(FAILURE, call="merge()"),))
    text = shown(failing(FAILURE), merge, verbose=True)
    assert text.count(DIAGNOSIS.text) == 1 and "    By the same cause as split-heads.\n    merge()\n" in text
    text = shown(failing(FAILURE), merge)
    assert "\nBy the same cause: merge-heads.\n" in text and "more criterion" not in text
    text = shown(failing(FAILURE), replace(merge, failures=(*merge.failures, other(1))))
    assert "By the same cause" not in text and "1 more criterion does not pass" in text
    assert DIAGNOSIS.text in shown(failing(FAILURE), merge, only="merge-heads")


def test_a_row_does_not_name_itself_where_a_cause_comes_again_after_another() -> None:
    again = replace(FAILURE, call="split_heads(y)")
    text = shown(failing(other(1), FAILURE, again), verbose=True)
    assert text.count(DIAGNOSIS.text) == 1 and "By the same cause" not in text and "split_heads(y)" in text


def test_a_cause_of_one_name_in_other_words_is_told_in_its_own_row() -> None:
    words = "merge_heads accepts a call that it has to refuse"
    merge = replace(LATER, failures=(replace(FAILURE, diagnosis=replace(DIAGNOSIS, text=words)),))
    text = shown(failing(FAILURE), merge, verbose=True)
    assert DIAGNOSIS.text in text and words in text and "By the same cause" not in text
    text = shown(failing(FAILURE), merge)
    assert "By the same cause" not in text and "1 more criterion does not pass" in text


def test_a_search_that_was_cut_short_is_told_and_what_else_is_missing_on_request() -> None:
    cut, broken = (replace(other(0), unexplained=why) for why in (f"{SEARCH} took 60 s", "ValueError: of the engine"))
    assert f"    No cause was found: {SEARCH} took 60 s.\n" in shown(failing(cut, replace(cut, message="other")))
    assert shown(failing(cut, replace(cut, message="other"))).count("No cause") == 1
    assert "No cause" not in shown(failing(broken)) and "No cause" not in shown(failing(other(0)))
    assert "No cause was found: ValueError: of the engine." in shown(failing(broken), verbose=True)


X = Gradient("grad_x", "x", (5, 4), (5, 4), 0.0)
WEIGHTS = Gradient(
    "grad_W", "W", (4, 3), (4, 3), 0.8, (3, 0), "2.5", "0.5", "factor", "got = 0.2 × expected; 0.2 is 1/batch"
)
BIAS = Gradient("grad_b", "b", (5, 3), (3,), None, finding="missing-sum", text="a sum over axis 0 (batch) is missing")
ALL = (X, WEIGHTS, BIAS)
TABLE = """\
    gradient  of  shape   rel. error  worst at  expected  got
    grad_x    x   (5, 4)  right
    grad_W    W   (4, 3)  8.0e-01     [3, 0]    2.5       0.5
      got = 0.2 × expected; 0.2 is 1/batch
    grad_b    b   (5, 3)
      shape (3,) was expected; a sum over axis 0 (batch) is missing"""
LINES = """\
    grad_x of x, (5, 4), right
    grad_W of W, (4, 3), relative error
      8.0e-01
      worst at [3, 0]: expected 2.5, got 0.5
      got = 0.2 × expected; 0.2 is 1/batch
    grad_b of b, (5, 3)
      shape (3,) was expected; a sum over axis
        0 (batch) is missing"""


def table(gradients: tuple[Gradient, ...], width: int = 80, ascii: bool = False) -> str:
    return "\n".join(line.plain for line in gradient_lines(gradients, Look(width, ascii)))


def test_each_gradient_has_a_row_and_below_it_what_is_wrong() -> None:
    assert table(ALL) == TABLE
    assert table(ALL, 120) == TABLE
    assert table(()) == ""


def test_a_narrow_terminal_has_lines_in_place_of_the_table() -> None:
    assert table(ALL, 48) == LINES


@pytest.mark.parametrize("name", ["grads['weights']", "grad_weights['a_long_name_of_a_parameter']"])
@pytest.mark.parametrize("width", [24, 40, 80, 120])
def test_nothing_is_wider_than_the_terminal(name: str, width: int) -> None:
    long = replace(WEIGHTS, name=name, of=name[6:-2], index=(12, 3, 4, 55), expected="-0.000123457", got="1.23457e+20")
    assert max(map(len, table((X, long, BIAS), width).splitlines())) <= width


def test_what_a_name_says_already_makes_room_for_the_table() -> None:
    long = replace(WEIGHTS, name="grad_weights['W_Q']", of="W_Q", shape=(4, 4, 4), expected="-0.315059", got="-0.63011")
    head, *_ = table((long,)).splitlines()
    assert head.split() == ["gradient", "shape", "rel.", "error", "worst", "at", "expected", "got"]


def test_it_reads_in_ascii() -> None:
    text = table(
        (replace(WEIGHTS, text="got = expectedᵀ"), replace(X, finding="factor", text="got = −expected")), 80, True
    )
    assert text.isascii() and "expected^T" in text and "got = -expected" in text
