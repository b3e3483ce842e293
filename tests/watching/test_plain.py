"""Plain mode: what is typed and what happens, and the lines that come of it."""

from __future__ import annotations

import io
import shlex
import sys
from dataclasses import replace

import pytest

from grader.outcome import SEARCH, Where
from grader.report.terminal.layout import Look
from grader.watching.board import CheckFailed, EarlyCriterion, EarlyVerdict, Event, Explored, FileSaved, LineTyped
from grader.watching.keys import Keys
from grader.watching.plain import Lines, read_lines
from tests.support.command import Place
from tests.watching.fakes import Watched, verdict


class Plain(Watched):
    """Plain mode on a session of fakes."""

    def __init__(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(place.root)
        look = Look(90)
        self.lines = Lines(self.session, Keys(self.session, look), look)
        self.capsys = capsys
        self.goes_on = True
        self.lines.begin(self.first)

    def told(self, event: Event | str) -> str:
        """Return what is printed when an event arrives, or a line."""
        self.capsys.readouterr()
        self.goes_on = self.lines.take(LineTyped(f"{event}\n") if isinstance(event, str) else event)
        return self.capsys.readouterr().out


@pytest.fixture
def plain(place: Place, capsys: pytest.CaptureFixture[str]) -> Plain:
    return Plain(place, capsys)


def test_a_save_and_its_verdict_are_told_once(plain: Plain) -> None:
    failing = verdict(plain.first, "failed", "blocked")
    assert plain.told(plain.judged(failing)).startswith("s01 · Numbers: 0 of 2 criteria pass.\nFirst: double is right")
    assert plain.told(FileSaved(plain.first.module_path)) == "Saved. Checking.\n"
    row = failing.criteria[0]
    ahead = replace(row, failures=tuple(replace(each, diagnosis=None) for each in row.failures))
    assert "expected 6, got 9" in plain.told(EarlyCriterion(2, ahead))
    told = plain.told(plain.judged(failing)).splitlines()
    assert told == ["s01 · Numbers: 0 of 2 criteria pass.", "    This is the square."]
    plain.told("c")
    better = verdict(plain.first, "passed", "failed")
    assert plain.told(EarlyCriterion(3, better.criteria[0])) == "Passes now: double is right.\n"
    assert "First: quadruple is right" in plain.told(plain.judged(better))
    assert plain.told(CheckFailed(1, "of an earlier check", None)) == ""
    plain.told("c")
    assert plain.told(CheckFailed(4, "s01 has no module", None)) == "s01 has no module\n"


def test_a_file_that_is_gone_is_told_as_such(plain: Plain) -> None:
    test = min(plain.first.tests_path.glob("*.py"))
    for file in (plain.first.module_path, test):
        file.unlink()
        label = file.relative_to(plain.workspace.course.root).as_posix()
        assert plain.told(FileSaved(file)) == f"{label} is gone: put it back. Checking.\n"
        assert plain.session.board.note == ("" if file != test else f"{label} is gone: put it back.")


def test_a_verdict_that_was_told_unexplained_is_told_no_more(plain: Plain) -> None:
    failing = verdict(plain.first, "failed", "blocked")
    row = failing.criteria[0]
    ahead = replace(row, failures=tuple(replace(each, diagnosis=None) for each in row.failures))
    decided = replace(failing, criteria=(ahead, failing.criteria[1]))
    told = plain.told(EarlyVerdict(1, decided))
    assert (
        told.startswith("s01 · Numbers: 0 of 2 criteria pass.\nFirst: double is right") and "expected 6, got 9" in told
    )
    assert plain.told(plain.judged(failing)).splitlines() == ["    This is the square."]
    plain.told(FileSaved(plain.first.module_path))
    plain.told(EarlyCriterion(2, ahead))
    assert (
        plain.told(EarlyVerdict(2, decided)) == "s01 · Numbers: 0 of 2 criteria pass.\nThe cause is being looked for.\n"
    )
    better = verdict(plain.first, "passed", "failed")
    assert plain.told(plain.judged(better)).startswith(
        "s01 · Numbers: 1 of 2 criteria pass.\nFirst: quadruple is right"
    )
    assert "0 of 2 criteria pass." in plain.told(plain.judged(failing))  # each check begins anew


def test_a_cause_is_told_with_the_line_of_the_fault(plain: Plain) -> None:
    failing = verdict(plain.first, "failed", "blocked")
    row = failing.criteria[0]
    bare = replace(row, failures=tuple(replace(each, diagnosis=None) for each in row.failures))
    assert ":6" in plain.told(EarlyVerdict(1, replace(failing, criteria=(bare, failing.criteria[1]))))
    fault = Where("stages/s01_numbers/numbers_.py", 8, "return x * x")
    found = replace(row, failures=tuple(replace(each, where=fault) for each in row.failures))
    told = plain.told(plain.judged(replace(failing, criteria=(found, failing.criteria[1]))))
    assert told == "    This is the square.\n    --> stages/s01_numbers/numbers_.py:8    return x * x\n"
    plain.told("c")
    assert ":6" in plain.told(EarlyVerdict(2, replace(failing, criteria=(bare, failing.criteria[1]))))
    cut = replace(bare, failures=tuple(replace(each, unexplained=f"{SEARCH} took 60 s") for each in bare.failures))
    told = plain.told(plain.judged(replace(failing, criteria=(cut, failing.criteria[1]))))
    assert told == f"    No cause was found: {SEARCH} took 60 s.\n"


def test_each_check_is_told_by_itself(plain: Plain) -> None:
    nothing = verdict(plain.first, "failed", "blocked")
    assert "0 of 2 criteria pass." in plain.told(EarlyVerdict(1, nothing))
    plain.told("n")
    second = plain.session.board.stage
    told = plain.told(plain.judged(verdict(second, *["failed"] * len(second.criteria))))
    assert told.startswith(f"s02 · Sums: 0 of {len(second.criteria)} criteria pass.")


def test_a_fault_and_another_message_are_told_after_all(plain: Plain) -> None:
    failing = verdict(plain.first, "failed", "blocked")
    plain.told(EarlyVerdict(1, failing))
    told = plain.told(plain.judged(replace(failing, faults=("test_hidden.py does not load",))))
    assert "test_hidden.py does not load" in told and "expected 6, got 9" in told
    plain.told("c")
    plain.told(EarlyVerdict(2, failing))
    row = failing.criteria[0]
    other = replace(row, failures=tuple(replace(each, message="expected 6, got 10") for each in row.failures))
    assert "got 10" in plain.told(plain.judged(replace(failing, criteria=(other, failing.criteria[1]))))


def test_where_no_cause_is_found_that_is_told(plain: Plain) -> None:
    failing = verdict(plain.first, "failed", "blocked")
    row = failing.criteria[0]
    without = replace(row, failures=tuple(replace(each, diagnosis=None) for each in row.failures))
    found = replace(failing, criteria=(without, failing.criteria[1]))
    plain.told(EarlyVerdict(1, found))
    assert plain.told(plain.judged(found)) == "    No cause was found.\n"


def test_what_could_not_be_recorded_and_what_was_drawn_are_told(plain: Plain) -> None:
    nothing = Explored("s01", "", "s01 has nothing to draw")
    assert plain.told(nothing) == ""  # nobody asked
    plain.told("e")
    assert plain.told(nothing) == "s01 has nothing to draw.\n"
    full = replace(verdict(plain.first, "passed", "passed"), unrecorded="no space left on device")
    assert plain.told(plain.judged(full)).endswith("Nothing is recorded: no space left on device\n")
    assert plain.told(Explored("s01", "a curve\n")) == "a curve\n"
    assert plain.told(Explored("s01", "")) == ""


def test_keys_go_on_and_back_and_end(plain: Plain) -> None:
    assert plain.told("n") == "Watching s02 · Sums.\n"
    assert plain.told("n") == "There is no further stage in that direction.\n"
    assert plain.told("s01") == "Watching s01 · Numbers.\n"
    assert "'s99'" in plain.told("s99") and plain.goes_on
    assert plain.told("") == ""
    plain.told("e")
    assert plain.explored == ["s01"]
    plain.told("q")
    assert not plain.goes_on


def test_keys_help_and_show(plain: Plain) -> None:
    assert "q  quit" in plain.told("?")
    assert plain.told("s").startswith("# Numbers")
    assert plain.told("l") == "s01 Numbers: you are here\ns02 Sums: locked, waits for s01\n"
    assert plain.told("/") == plain.told("l")
    assert plain.told("/ sums") == "s02 Sums: locked, waits for s01\n"
    assert plain.told("/double") == "s01 double: double is right\n"
    assert plain.told("/nothing") == "No stage and no criterion has 'nothing' in its name.\n"
    assert plain.told("d").startswith("The solution of s01 is shown once s01 has passed.")
    plain.told(plain.judged(verdict(plain.first, "failed", "blocked")))
    assert plain.told("h") == "s01 · double is right · hint 1 of 3, a question\n    double: a nudge\n"
    assert plain.told("h quadruple").endswith("hint 1 of 3, a question\n    quadruple: a nudge\n")


def test_a_reset_asks_first(plain: Plain, place: Place) -> None:
    place.numbers.write_text("mine = 1\n", encoding="utf-8")
    assert plain.told("r") == "Replace stages/s01_numbers/numbers_.py by its stub? Type y for yes.\n"
    assert plain.told("n") == "Nothing was changed.\n"
    assert place.numbers.read_text(encoding="utf-8") == "mine = 1\n"
    plain.told("r")
    assert "is the stub again" in plain.told("y")


def test_the_failing_line_opens_in_an_editor_with_a_window(plain: Plain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TERM_PROGRAM", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", shlex.quote(sys.executable))
    assert "In another terminal: " in plain.told("o")
    monkeypatch.delenv("EDITOR")
    assert plain.told("o").startswith("No editor is known")


def test_the_end_of_stdin_ends_no_watching() -> None:
    found: list[Event] = []
    read_lines(io.StringIO("n\nq\n"), found.append)
    closed = io.StringIO()
    closed.close()
    read_lines(closed, found.append)
    assert found == [LineTyped("n\n"), LineTyped("q\n")]
