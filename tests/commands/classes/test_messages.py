"""What several commands of `grader class` say."""

from __future__ import annotations

import pytest

from grader.commands.classes import messages
from grader.commands.classes.messages import tell, tell_faults
from grader.report.terminal.layout import Look


def test_reasons_that_differ_in_numbers_alone_are_one(capsys: pytest.CaptureFixture[str]) -> None:
    tell_faults([(f"s{at}", f"test_two: expected {at}.25e-3, got -{at}") for at in range(4)], "no mark.")
    told = " ".join(capsys.readouterr().err.split())
    assert told.count("test_two") == 1 and "s0, s1, s2, s3: test_two: expected 0.25e-3, got -0, here for s0" in told
    tell_faults([(name, f"got <function f at 0x7f{name}0>") for name in "abc"], "no mark.")
    assert "a, b, c: got" in capsys.readouterr().err
    tell_faults([(name, f"the disk of {name} is full") for name in "abcd"], "no mark.")
    assert capsys.readouterr().err.endswith("and 1 more reason\n")


def test_a_long_line_is_broken_below_its_words_on_a_terminal_and_stays_whole_elsewhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"  2026-11-28  李明 s01  result: {'seed 123456 ' * 12}\x1b[31m end"
    tell(line)
    assert capsys.readouterr().out == f"{line}\n".replace("\x1b", "\\x1b")
    monkeypatch.setattr(messages, "look", lambda: Look(80, height=24))
    tell(line)
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("  2026-11-28  李明") and len(rest) > 1
    assert all(each.startswith("      ") and len(each) <= 80 for each in rest) and rest[-1].endswith("\\x1b[31m end")
