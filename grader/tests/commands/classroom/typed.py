"""The command as it is typed in this process: what it printed, and how it ended."""

from __future__ import annotations

import sys

import pytest

from grader import cli


class Typed:
    """What a command printed, and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self.out = self.err = ""
        self.lines: list[str] = []

    def __call__(self, *arguments: object) -> int:
        self._monkeypatch.setattr(sys, "argv", ["grader", *map(str, arguments)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        self.out, self.err = self._capsys.readouterr()
        self.lines = self.err.splitlines()
        self.err = " ".join(self.err.split())
        return int(ended.value.code or 0)
