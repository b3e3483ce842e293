"""What reaches a terminal, a log or a file: colours where they are wanted, no control characters, lines of progress."""

from __future__ import annotations

import errno
import io
import sys
from contextlib import suppress
from dataclasses import replace

import pytest
from rich.console import Console
from rich.text import Text

from grader.errors import OutputError
from grader.outcome import Diagnosis, Outcome, Where
from grader.report.terminal import screen
from grader.report.terminal.checklist import Style, summary_lines, verdict_lines
from grader.report.terminal.layout import Look, paragraph, printable, with_place
from grader.report.terminal.screen import Ticker, is_ascii
from grader.submission.parsing import Problem
from grader.verdict import Verdict
from tests.illustrations.test_colours import contrast
from tests.report.terminal.made import FAILURE, RUN, VERDICT, failing, shown, text_of
from tests.support.command import Here
from tests.support.streams import Full


def test_a_full_disk_is_named_where_data_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(OutputError, match="stdout cannot be written to: No space left") as caught:
        screen.write("data")
    assert caught.value.hint
    sys.stdout = Full()
    with pytest.raises(OutputError):
        screen.show([Text("line")])
    screen.write("all that follows is lost without another error")


def test_a_message_that_cannot_be_told_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Full())
    screen.say("a message", "and what to do")
    screen.write("a line", error=True)


def test_a_reader_who_has_seen_enough_is_no_error_of_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str, /) -> int:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(sys, "stdout", Gone())
    with pytest.raises(BrokenPipeError):
        screen.write("data")


def test_a_closed_stream_has_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    screen.prepare()
    stand_ins = sys.stdin, sys.stdout, sys.stderr
    assert (sys.stdin.read(), sys.stdin.isatty()) == ("", False)
    screen.say("lost")
    with pytest.raises(OutputError, match="stdout cannot be written to"):
        screen.write("data")
    for stream in stand_ins:
        with suppress(OSError):  # stdout still holds what it could not write
            stream.close()


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("status",), ("status", "--json")])
def test_no_command_calls_a_full_disk_its_own_fault(here: Here, words: tuple[str, ...]) -> None:
    here.monkeypatch.setattr(sys, "stdout", Full())
    done = here(*words)
    assert done.code == 4
    assert done.err.startswith("error: stdout cannot be written to: No space left on device\nhint: ")


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


def test_words_in_colour_are_read_on_light_and_on_dark_where_a_terminal_has_the_colours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)
    for variable in ("truecolor", ""):
        monkeypatch.setenv("COLORTERM", variable)
        made = screen.console()
        for name in ("yellow", "cyan", "green", "dim"):
            colour = made.get_style(name).color
            assert colour is not None
            shown = f"#{''.join(f'{part:02x}' for part in colour.get_truecolor())}"
            assert contrast(shown, "#ffffff") > 3.7 and contrast(shown, "#1e1e1e") > 3.6
    monkeypatch.setenv("TERM", "xterm")
    assert screen.console().get_style("yellow").color.name == "yellow"  # type: ignore[union-attr]
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    assert screen.console().get_style("dim").dim


def test_a_dumb_terminal_gets_no_escape_sequences() -> None:
    assert "\x1b" not in rendered(VERDICT, TERM="dumb")


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
    assert max(map(len, stream.getvalue().split("\r"))) < 40 - len("^C")


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
