"""The command in this process, on the real course."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader import cli
from grader.tests.commands.exploring.typed import REFERENCE, Done, Grader
from grader.tests.support.places import ROOT


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Grader:
    """Run the command in this process, on the real course."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("LANG", "LC_ALL", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def command(*arguments: str, submission: Path | None = REFERENCE) -> Done:
        given = ("--submission", str(submission)) if submission is not None else ()
        monkeypatch.setattr(sys, "argv", ["grader", "explore", *arguments, *given])
        with pytest.raises(SystemExit) as left:
            cli.main()
        captured = capsys.readouterr()
        return Done(int(left.value.code or 0), captured.out, captured.err)

    return command
