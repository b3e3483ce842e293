"""`grader watch`, the command: where it cannot run, which view it takes, and the whole of it once in lines."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import pytest

from grader.commands import watching
from tests.support.command import NUMBERS, RUN, WRONG, Here, Place
from tests.support.patience import SLACK
from tests.test_flow import loaded


def test_without_a_terminal_it_names_the_lines(here: Here) -> None:
    done = here("watch")
    assert (done.code, done.out) == (2, "")
    assert "needs a terminal, and stdin is not one" in done.err and "`grader watch --plain` prints lines" in done.err


def test_neither_help_nor_status_loads_what_watching_needs() -> None:
    assert not {"textual", "watchfiles", "numpy", "pytest"} & loaded("grader.commands.watching")
    assert not {"textual", "watchfiles", "numpy", "pytest"} & loaded("grader.cli")


@pytest.mark.parametrize(
    ("term", "missing", "view"),
    [("dumb", False, "plain"), ("", False, "plain"), ("xterm", True, "plain"), ("xterm", False, "tui")],
)
def test_the_view_is_the_best_that_works(
    here: Here, monkeypatch: pytest.MonkeyPatch, term: str, missing: bool, view: str
) -> None:
    shown: list[str] = []
    for name in ("plain", *(() if missing else ("tui",))):
        if name == "tui":
            pytest.importorskip("textual")
        monkeypatch.setattr(f"grader.watching.{name}.watch", lambda *_, name=name: shown.append(name))
    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(getattr(sys, stream), "isatty", lambda: True, raising=False)
    monkeypatch.setattr(watching, "find_spec", lambda name: None if missing else object())
    monkeypatch.setenv("TERM", term) if term else monkeypatch.delenv("TERM", raising=False)
    monkeypatch.chdir(here.place.root)
    watching.watch()
    assert shown == [view]


def test_a_save_leads_to_a_verdict_a_pass_to_the_next_stage_and_q_to_the_end(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    variables = {**os.environ, "PYTHONPATH": str(place.package.parent), "COLUMNS": "100", "PYTHONUTF8": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", RUN, "watch", "--plain"], cwd=place.root, env=variables, text=True, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        lines: queue.Queue[str] = queue.Queue()
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        threading.Thread(target=read, args=(process.stdout, lines), daemon=True).start()

        def until(words: str) -> str:
            while words not in (line := lines.get(timeout=3 * SLACK)):
                pass
            return line

        try:
            assert until("criteria pass") == "s01 · Numbers: 0 of 2 criteria pass.\n"
            until("This is the square.")
            replaced(place.numbers, NUMBERS)
            until("s01 · Numbers is complete.")
            assert until("Unlocked") == "Unlocked: s02 · Sums.\n"
            process.stdin.write("n\nq\n")
            process.stdin.flush()
            until("Watching s02")
            assert process.wait(3 * SLACK) == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()
    assert place.recorded == {"s01"}


def read(stream: IO[str], lines: queue.Queue[str]) -> None:
    for line in stream:
        lines.put(line)


def replaced(path: Path, text: str) -> None:
    fresh = path.with_name("fresh")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, path)
