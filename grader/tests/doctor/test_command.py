"""The command `grader doctor`: what it prints, and how it ends."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import cli
from grader.doctor import health
from grader.doctor.health import Finding
from grader.tests.doctor.conftest import STAGE


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, course: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Run `grader doctor` in the course; returns the exit code and what it printed."""
    monkeypatch.chdir(course)
    monkeypatch.setattr(health, "_isolation", lambda every: iter([Finding("isolation process", "ok", "works")]))

    def run(*options: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["grader", "doctor", *options])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return int(left.value.code or 0), capsys.readouterr().out

    return run


def test_the_command_prints_findings_and_ends_with_0_where_all_works(run: Callable[..., tuple[int, str]]) -> None:
    code, out = run()
    assert code == 0
    assert "isolation process" in out


def test_the_command_ends_with_4_where_something_is_broken(run: Callable[..., tuple[int, str]], course: Path) -> None:
    (course / "stages" / STAGE / "stage.toml").write_text("id = [", encoding="utf-8")
    code, out = run("--json")
    document = json.loads(out)
    assert (code, document["healthy"], document["schema"]) == (4, False, 1)
    assert {"topic", "level", "what", "remedy", "guards", "promises"} == set(document["findings"][0])
    assert document["findings"][-1]["topic"] == "course"
