"""Blocks without a look for garbage."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.__main__ import main
from grader.course.import_guard import ImportGuard
from grader.process import STOPPED, stopped, uncollected
from tests.support.places import ROOT


def test_no_garbage_is_looked_for_meanwhile() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_inner_of_two_blocks_leaves_the_outer_one_as_it_is() -> None:
    with uncollected():
        with uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_ends_the_block() -> None:
    with pytest.raises(ValueError, match="meanwhile"), uncollected():
        raise ValueError("meanwhile")
    assert gc.isenabled()


def test_what_stays_is_never_looked_at_again() -> None:
    before = gc.get_freeze_count()
    with uncollected(stays=True):
        ring: list[object] = []
        ring.append(ring)
    assert gc.get_freeze_count() > before
    assert not any(each is ring for each in gc.get_objects())


def test_what_stays_of_a_block_within_another_is_never_looked_at_again() -> None:
    with uncollected():
        with uncollected(stays=True):
            ring: list[object] = []
            ring.append(ring)
        assert not any(each is ring for each in gc.get_objects())


@pytest.fixture(autouse=True)
def _interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep this process open to interrupts, and to imports."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(ImportGuard, "install", lambda _: None)


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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGHUP", "SIGTERM"])
def test_a_terminal_that_is_closed_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    endless = tmp_path / "matrices.py"
    endless.write_text("while True:\n    pass\n", encoding="utf-8")
    heard = f"import signal; signal.signal(signal.{name}, signal.SIG_DFL); "  # under nohup it would be ignored
    run = f"{heard}from grader.__main__ import main; main()"
    command = [sys.executable, "-c", run, "check", "s01", "--submission", str(endless)]
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o755)  # a learner's process has another user
        where = {**os.environ, "TMPDIR": scratch}
        with subprocess.Popen(
            command, cwd=ROOT, env=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            while process.poll() is None and not list(Path(scratch).iterdir()):
                time.sleep(0.02)
            time.sleep(0.5)  # it is at work, as one that is left alone is for twenty seconds
            process.send_signal(getattr(signal, name))
            assert process.wait(30) == 128 + getattr(signal, name)
        assert list(Path(scratch).iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_signal_that_meets_a_finaliser_still_tells_the_exit_code() -> None:
    code = """
import os, signal, sys
from grader import process

class Met:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            pass

process.end_in_order()
sys.unraisablehook = lambda told: print(repr(told.exc_value))
met = Met()
del met
sys.exit(process.exit_code(1))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("SystemExit(143)\n", 143), done.stderr
