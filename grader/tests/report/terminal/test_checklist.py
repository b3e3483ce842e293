"""A verdict as lines: rows, marks and widths, a summary of stages, commands that can be pasted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.outcome import Status
from grader.report.terminal.checklist import Style, checklist_lines, found_lines, summary_lines, verdict_lines
from grader.report.terminal.layout import MARKS, Look, heading, paragraph, row, side_by_side
from grader.submission.parsing import Problem
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

PICTURE = """\
s15 · Attention mechanisms                                  1 of 4 criteria   █████░░░░░░░░░░░░░░░
✓   5  compute_attention_scores gives QKᵀ/√d_k
✗ 2/4  split_heads reshapes for multi-head
○      merge_heads reverses split_heads                                       not started
–      multi_head_attention_forward                                           waits for split_heads

✗ split_heads reshapes for multi-head
    This is what you get by reshaping straight to (batch, heads, seq, d_k): tokens are mixed across heads.
    --> stages/s15_attention/attention.py:142    return x.reshape(batch, num_heads, seq, d_k)
    split_heads(x: float64 (batch 2, seq 6, d_model 8), num_heads=2)
    shape (2, 2, 6, 4) is right; 72 of 96 values differ, first at [0, 0, 1, 0]: expected 8.0, got 4.0
    and 1 more test: grader check s15 --row split-heads -v
    read: grader show s15 split-heads    more help: grader hint s15 split-heads
    fix it: grader hint s15 split-heads --fix    same inputs again: grader check s15 --seed 40817
seed 40817 · isolation bubblewrap · 0.6 s
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
    assert "    fix it: grader hint s15 split-heads --fix" in lines
    assert "    same inputs again: grader check s15 --seed 40817" in lines


def test_what_is_known_before_any_cause_is_the_first_part_of_the_report() -> None:
    style = Style(Look(120), "grader check s15")
    first, rest = text_of(checklist_lines(VERDICT, style)), text_of(found_lines(VERDICT, style))
    assert first + rest == PICTURE and first.splitlines()[-1].startswith("–") and DIAGNOSIS.text not in first
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
    assert "[ ]      merge_heads" in text
    assert " -       multi_head" in text
    assert "#####..............." in text


def test_a_run_of_public_tests_alone_says_so_above_and_below() -> None:
    text = shown(verdict=replace(VERDICT, run=replace(RUN, public_only=True)))
    assert "1 of 4 criteria (public tests only)" in text.splitlines()[0]
    assert text.rstrip().endswith("Only public tests were run. Hidden tests run when you submit.")


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
    part = "3 more rows do not pass, to see one: grader check s01 --row cosine-similarity"
    for width in (len(part), len(part) + 3):
        first, *_ = side_by_side([part, "all: grader check s01 -v"], Look(width), indent=0)
        assert first.plain == part


@pytest.mark.parametrize("grader", ["grader", "uv run grader", "python -m grader"])
def test_commands_are_told_as_this_grader_was_started(grader: str) -> None:
    look = Look(80, grader=grader)
    told = "\n".join(line.plain for line in verdict_lines(VERDICT, Style(look, "grader check s15")))
    assert f"fix it: {grader} hint s15 split-heads" in told
    assert f"{grader} check s15 --seed 40817" in told
    assert max(map(len, told.split("\n"))) <= 80
    problem = Problem("missing", "there is no module", None, "`grader reset s15` puts it back.")
    told = "\n".join(line.plain for line in verdict_lines(replace(VERDICT, problem=problem), Style(look, "")))
    assert f"`{grader} reset s15` puts it back." in told


def test_rows_that_are_not_started_are_folded_after_the_first_of_them() -> None:
    fresh = [replace(MERGE, id=f"row-{place}", text=f"row {place}") for place in range(4)]
    begun = replace(VERDICT, criteria=(SCORES, *fresh))
    lines = text_of(verdict_lines(begun, Style(Look(80), "grader check s15"))).splitlines()
    assert [" ".join(line.split()) for line in lines if line.startswith("○")] == [
        "○ row 0 not started",
        "○ 3 more criteria not started",
    ]
    told = text_of(verdict_lines(begun, Style(Look(80), "grader check s15", verbose=True)))
    assert told.count("not started") == 4
    untouched = text_of(verdict_lines(replace(VERDICT, criteria=tuple(fresh)), Style(Look(80), "grader check s15")))
    assert untouched.count("not started") == 4
