"""The report in a terminal: its layout, its marks, what is told of a failed row, and that no text acts."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console
from rich.text import Text

from grader.outcome import Diagnosis, Outcome, Status, Where
from grader.report.terminal import screen
from grader.report.terminal.checklist import Style, detail_lines, summary_lines, verdict_lines
from grader.report.terminal.layout import MARKS, Look, heading, paragraph, printable, row, side_by_side, with_place
from grader.report.terminal.screen import Ticker, is_ascii
from grader.submission.source import Problem
from grader.verdict import CriterionResult, Failure, Run, Verdict

# The bar for every report, as the design of the course has it.
PICTURE = """\
s15 · Attention mechanisms                                  1 of 4 criteria   █████░░░░░░░░░░░░░░░
✓ compute_attention_scores gives QKᵀ/√d_k                                     5 tests
✗ split_heads reshapes for multi-head                                         2 of 4 tests
    split_heads(x: float64 (batch 2, seq 6, d_model 8), num_heads=2)
    shape (2, 2, 6, 4) is right; 72 of 96 values differ, first at [0, 0, 1, 0]: expected 8.0, got 4.0
    This is what you get by reshaping straight to (batch, heads, seq, d_k): tokens are mixed across heads.
    Reshape to (batch, seq, heads, d_k) first, then swap axes 1 and 2.            stages/s15_attention/attention.py:142
    and 1 more test: grader check s15 --row split-heads -v
    read: grader show s15 split-heads    more help: grader hint s15 split-heads
    again with these inputs: grader check s15 --seed 40817
○ merge_heads reverses split_heads                                            not started
– multi_head_attention_forward                                                waits for split_heads
seed 40817 · isolation bubblewrap · 0.6 s
"""
DIAGNOSIS = Diagnosis(
    "reshape-without-transpose",
    "split-heads",
    "This is what you get by reshaping straight to (batch, heads, seq, d_k): tokens are mixed across heads.",
    "Reshape to (batch, seq, heads, d_k) first, then swap axes 1 and 2.",
)
FAILURE = Failure(
    "test_attention.py::test_split",
    False,
    "failed",
    "split_heads(x: float64 (batch 2, seq 6, d_model 8), num_heads=2)",
    "shape (2, 2, 6, 4) is right; 72 of 96 values differ, first at [0, 0, 1, 0]: expected 8.0, got 4.0",
    DIAGNOSIS,
    Where("stages/s15_attention/attention.py", 142),
)
FAILED = CriterionResult(
    "split-heads", "split_heads reshapes for multi-head", "failed", 2, 4, (FAILURE, replace(FAILURE, hidden=True))
)
SCORES = CriterionResult("scores", "compute_attention_scores gives QKᵀ/√d_k", "passed", 5, 5)
MERGE = CriterionResult("merge-heads", "merge_heads reverses split_heads", "not_started", 0, 3)
FORWARD = CriterionResult("forward", "multi_head_attention_forward", "blocked", 0, 5, (FAILURE,), ("split_heads",))
RUN = Run(40817, "bubblewrap", None, 0.61, "0.1.0", "0" * 64, "stages/s15_attention/attention.py")
VERDICT = Verdict("s15", "Attention mechanisms", False, (SCORES, FAILED, MERGE, FORWARD), RUN)


def text_of(lines: list[Text]) -> str:
    return "".join(f"{line.plain}\n" for line in lines)


def shown(
    *rows: CriterionResult,
    width: int = 120,
    ascii: bool = False,
    verbose: bool = False,
    verdict: Verdict = VERDICT,
    only: str | None = None,
) -> str:
    """The report of a verdict with these rows."""
    style = Style(Look(width, ascii), "grader check s15", verbose, only)
    return text_of(verdict_lines(replace(verdict, criteria=rows) if rows else verdict, style))


def failing(*failures: Failure, status: Status = "failed") -> CriterionResult:
    return replace(FAILED, status=status, failures=failures)


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


def test_at_80_columns_the_place_and_the_commands_stand_on_lines_of_their_own() -> None:
    lines = shown(width=80).splitlines()
    assert "    stages/s15_attention/attention.py:142" in lines
    assert "    read: grader show s15 split-heads    more help: grader hint s15 split-heads" in lines
    assert "    again with these inputs: grader check s15 --seed 40817" in lines


def test_a_long_line_keeps_all_its_words_when_it_is_wrapped() -> None:
    lines = shown(width=60).splitlines()
    assert DIAGNOSIS.text in " ".join(line.strip() for line in lines)


def test_a_status_that_does_not_fit_beside_its_row_stands_below_it_on_the_right() -> None:
    lines = text_of(row("blocked", "x" * 60, "waits for scaled_dot_product_attention", Look(80))).splitlines()
    assert lines == ["– " + "x" * 60, "waits for scaled_dot_product_attention".rjust(80)]


def test_a_row_that_is_wider_than_the_terminal_is_broken_between_words() -> None:
    lines = text_of(row("passed", "one two three four five six", "5 tests", Look(24))).splitlines()
    assert lines == ["✓ one two three four", "  five six", "5 tests".rjust(24)]


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
    assert line.startswith(f"{mark} split_heads")
    assert line.endswith(words)


def test_every_kind_of_row_has_marks_of_one_width() -> None:
    assert {len(mark) for mark, _, _ in MARKS.values()} == {1}
    assert {len(plain) for _, plain, _ in MARKS.values()} == {3}
    assert all(plain.isascii() for _, plain, _ in MARKS.values())


def test_without_unicode_all_is_ascii() -> None:
    text = shown(ascii=True, width=80)
    assert text.isascii()
    assert "ok  compute_attention_scores gives QKT/sqrt d_k" in text
    assert "NO  split_heads" in text
    assert "[ ] merge_heads" in text
    assert " -  multi_head" in text
    assert "#####..............." in text


def test_a_run_of_public_tests_alone_says_so_above_and_below() -> None:
    text = shown(verdict=replace(VERDICT, run=replace(RUN, public_only=True)))
    assert "1 of 4 criteria (public tests only)" in text.splitlines()[0]
    assert text.rstrip().endswith("Only public tests were run. Hidden tests run when you submit.")


def test_one_test_is_not_called_tests() -> None:
    assert shown(replace(SCORES, tests_passed=1, tests_total=1)).splitlines()[1].endswith("  1 test")


def test_a_row_that_waits_for_several_functions_counts_them() -> None:
    line = shown(replace(FORWARD, waits_for=("split_heads", "merge_heads", "attention_weights"))).splitlines()[1]
    assert line.endswith("waits for split_heads and 2 more")


def test_a_waiting_row_tells_no_failures_unless_asked() -> None:
    assert FAILURE.message not in shown(FORWARD)
    assert FAILURE.message in shown(FORWARD, verbose=True)


LATER = replace(MERGE, status="failed", failures=(replace(FAILURE, call="merge()"),))


def test_the_first_row_that_fails_is_told_whole_and_the_others_on_a_line_each() -> None:
    lines = shown(SCORES, FAILED, LATER, FORWARD).splitlines()
    assert "    split_heads(x: float64 (batch 2, seq 6, d_model 8), num_heads=2)" in lines
    assert "    merge()" not in lines and any(line.startswith("✗ merge_heads") for line in lines)
    assert (
        "1 more row does not pass, to see one: grader check s15 --row merge-heads    all: grader check s15 -v" in lines
    )
    assert "more row" not in shown(SCORES, FAILED, FORWARD)


def test_one_row_alone_is_told_where_it_is_asked_for() -> None:
    text = shown(SCORES, FAILED, LATER, FORWARD, only="merge-heads")
    assert "    merge()\n" in text and "split_heads reshapes" not in text and "more row" not in text
    assert text.splitlines()[0].startswith("s15") and "1 of 4 criteria" in text
    assert FAILURE.message in shown(SCORES, FORWARD, only="forward")  # one that waits, too
    assert "5 tests" in shown(SCORES, FAILED, only="scores") and "split_heads" not in shown(
        SCORES, FAILED, only="scores"
    )


def test_all_rows_are_told_whole_on_request_and_what_repeats_once() -> None:
    text = shown(FAILED, LATER, verbose=True)
    assert "    merge()\n" in text and text.count("again with these inputs") == text.count("more help") == 1
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


PROBLEM = Problem("syntax", "line 3: expected ':'\n    def f(x)\n            ^", 3, "Add it.")


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


EVIL = "\x1b[2J\x1b]0;title\x07\x9b31m\u202ereversed\x00\r\ud800 [red]markup[/red] [/] :smile: [link=x]"


def test_what_a_learner_wrote_never_reaches_the_terminal_as_a_command() -> None:
    evil = replace(
        FAILURE,
        call=EVIL,
        message=EVIL,
        notes=(EVIL,),
        where=Where(EVIL, 1),
        diagnosis=Diagnosis("x", "row", EVIL, EVIL),
    )
    verdict = replace(
        VERDICT,
        run=replace(RUN, label=EVIL),
        problem=Problem("import", EVIL, 1, EVIL),
        faults=(EVIL,),
        criteria=(failing(evil),),
    )
    text = shown(verdict=verdict, verbose=True) + text_of(summary_lines((verdict,), Look(80)))
    assert all(char == "\n" or char.isprintable() for char in text)
    assert text.encode("utf-8")
    assert "\\x1b[2J" in text
    assert "[red]markup[/red] [/] :smile: [link=x]" in text


def test_a_console_shows_markup_as_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    screen.show(paragraph("[red]markup[/red] :smile: 1.5", Look(200), indent=0))
    assert capsys.readouterr().out == "[red]markup[/red] :smile: 1.5\n"


def test_tabs_and_line_ends_of_other_systems_are_no_control_characters() -> None:
    assert printable("a\tb\r\nc") == "a   b\nc"


def test_a_quoted_line_keeps_its_columns() -> None:
    assert (
        text_of(paragraph("line 1:\n    a  =  1\n       ^", Look(80))) == "    line 1:\n        a  =  1\n           ^\n"
    )


def test_a_place_moves_to_a_line_of_its_own_when_the_last_line_is_full() -> None:
    lines = with_place([Text("x" * 70)], "attention.py:1", Look(80))
    assert text_of(lines).splitlines() == ["x" * 70, "    attention.py:1"]


def test_a_bar_is_full_only_when_all_is_done() -> None:
    assert [Look(80, True).bar(done, 30) for done in (0, 29, 30)] == ["." * 20, "#" * 19 + ".", "#" * 20]
    assert Look(80, True).bar(0, 0) == "." * 20


def rendered(verdict: Verdict, **environment: str) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, force_terminal=True, _environ={"TERM": "xterm-256color", **environment}, soft_wrap=True
    )
    for line in verdict_lines(verdict, Style(Look(80), "grader check s15")):
        console.print(line)
    return stream.getvalue()


def test_colour_is_used_on_a_terminal_but_not_where_no_color_is_set() -> None:
    assert "\x1b[32m" in rendered(VERDICT)
    without = rendered(VERDICT, NO_COLOR="1")
    assert not any(f"\x1b[{code}m" in without for code in range(30, 50))


def test_a_dumb_terminal_gets_no_escape_sequences() -> None:
    assert "\x1b" not in rendered(VERDICT, TERM="dumb")


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


@pytest.mark.parametrize(
    ("encoding", "environment", "expected"),
    [
        ("utf-8", {}, False),
        ("utf-8", {"LANG": "de_DE.UTF-8"}, False),
        ("utf-8", {"LANG": "C"}, True),
        ("utf-8", {"LANG": "C.UTF-8"}, False),
        ("utf-8", {"LANG": "C", "LC_ALL": "en_US.UTF-8"}, False),
        ("utf-8", {"LC_ALL": "POSIX"}, True),
        ("ascii", {}, True),
        ("cp1252", {}, True),
        (None, {}, True),
    ],
)
def test_ascii_is_used_where_the_encoding_or_the_locale_asks_for_it(
    encoding: str | None, environment: dict[str, str], expected: bool
) -> None:
    assert is_ascii(encoding, environment) is expected


def test_a_progress_line_counts_tests_and_takes_itself_back() -> None:
    stream = io.StringIO()
    ticker = Ticker(stream, "s15", Look(40))
    ticker(Outcome("test_a", "split-heads", False, "passed"))
    ticker(Outcome("test_b", "split-heads", False, "failed"))
    ticker.clear()
    *_, first, second, blank, end = stream.getvalue().split("\r")
    assert first.rstrip() == "s15 · 1 test · split-heads"
    assert second.rstrip() == "s15 · 2 tests · split-heads"
    assert (blank.strip(), end) == ("", "")
    assert max(map(len, stream.getvalue().split("\r"))) < 40


def test_no_progress_line_where_nobody_watches() -> None:
    with screen.ticking("s15") as ticker:
        assert ticker is None


class Watched(io.StringIO):
    """A terminal that remembers what was written."""

    def isatty(self) -> bool:
        return True


def test_a_build_s_log_obeys_nothing_that_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [Text("::error::x"), Text("  ::group::y"), Text.assemble(("say ##[", "red"), "warning]z"), Text("x[::2]")]
    screen.show(lines)
    screen.show(lines, error=True)
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [r"\x3a:error::x", r"  \x3a:group::y", r"say #\x23[warning]z", "x[::2]"]
    assert captured.err == captured.out


def test_data_is_written_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    screen.write("::error::x")
    screen.write("::error::y\n", error=True)
    assert capsys.readouterr() == ("::error::x\n", "::error::y\n")


def test_many_gradings_are_counted_on_one_line_that_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Watched()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    with screen.counting() as count:
        count(3, 7, "s15")
        count(7, 7, "[s16]")
    *_, shown, end = terminal.getvalue().split("\r")
    assert "[s16]" in shown and "7/7" in shown
    assert "[s16]" not in end and "\n" not in end.rstrip("\n")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_log_gets_a_line_every_half_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    if terminal:
        monkeypatch.setenv("TERM", "dumb")
    moments = iter([0.0, 29.0, 30.0, 30.0, 59.0, 61.0, 61.0])
    with screen.counting(lambda: next(moments)) as count:
        for done in range(1, 5):
            count(done, 9, "s15")
    assert capsys.readouterr() == ("", "s15: 2 of 9 graded\ns15: 4 of 9 graded\n")


@pytest.mark.parametrize("width", [30, 40, 60, 80])
def test_a_command_is_never_broken(width: int) -> None:
    text = "`grader check s01 --seed 5` grades it again; `grader start s02` skips it and `grader show s01` explains it."
    lines = [line.plain for line in paragraph(text, Look(width), indent=0)]
    for command in ("`grader check s01 --seed 5`", "`grader start s02`", "`grader show s01`"):
        assert any(command in line for line in lines)
    assert max(map(len, lines)) <= width
    parts = ["more help: grader hint s01 dot-product", f"again with these inputs: {'grader check s01 --seed 5' * 3}"]
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
    assert f"more help: {grader} hint s15 split-heads" in told
    assert f"{grader} check s15 --seed 40817" in told
    assert max(map(len, told.split("\n"))) <= 80
    problem = Problem("missing", "there is no module", None, "`grader reset s15` puts it back.")
    told = "\n".join(line.plain for line in verdict_lines(replace(VERDICT, problem=problem), Style(look, "")))
    assert f"`{grader} reset s15` puts it back." in told
