"""Ctrl-C: one line, whenever it comes, and what it says of the record is true."""

from __future__ import annotations

import signal
import sys
from types import SimpleNamespace

import pytest

from grader.__main__ import main
from grader.stopping import STOPPED, stopped


@pytest.fixture(autouse=True)
def _interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep this process open to interrupts."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)


@pytest.mark.parametrize(
    ("words", "recorded", "said"),
    [
        (["check", "s01"], False, "stopped; nothing was recorded\n"),
        (["check", "s01"], True, "stopped\n"),
        (["status"], False, "stopped\n"),
        ([], False, "stopped\n"),
    ],
)
def test_it_is_told_in_one_line(
    words: list[str], recorded: bool, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["grader", *words])
    assert stopped(recorded) == STOPPED == 130
    assert capsys.readouterr() == ("", said)


def test_a_closed_stderr_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert stopped(False) == STOPPED


def test_an_interrupt_while_it_imports_has_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "grader.cli", SimpleNamespace(main=interrupted))
    monkeypatch.setattr(sys, "argv", ["grader", "check"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, capsys.readouterr().err) == (STOPPED, "stopped; nothing was recorded\n")
