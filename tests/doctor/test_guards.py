"""The doctor's probe: what it reports as held back is, and what a weak tier lets through it finds."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.doctor import guards
from grader.errors import IsolationRefused
from grader.isolation import tiers
from grader.sandbox.process import LoadFailed
from tests.conftest import need

linux = pytest.mark.skipif(sys.platform != "linux", reason="guards of Linux")


@linux
@pytest.mark.parametrize("tier", tiers.TIERS)
def test_what_a_tier_promises_holds(tier: tiers.Tier) -> None:
    found = guards.try_out(need(tier))
    assert len(found) == 15
    lacking = {guard.name for guard in found if guard.promised and not guard.holds}
    assert lacking <= (set() if tiers.program_for("landlock") else {"no UDP"})


@linux
def test_what_a_tier_does_not_hold_back_is_found() -> None:
    """The probe's attempts are real: without isolation they get through."""
    found = {guard.name for guard in guards.try_out("process") if not guard.holds}
    assert {
        "the course cannot be read",
        "no other file can be read",
        "nothing is written but scratch",
        "no TCP",
        "no UDP",
    } <= found


@linux
def test_a_survivor_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with guards._scene("process") as scene:
        monkeypatch.setattr(scene.process, "kill", lambda: None)
        assert not guards._no_survivor(scene)


def test_a_probe_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "PROBE", b"raise RuntimeError('no_such_module')\n")
    with pytest.raises(LoadFailed, match="no_such_module"):
        guards.try_out("process")


def test_a_process_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise IsolationRefused("no process can be started")

    monkeypatch.setattr(tiers, "start", refuse)
    with pytest.raises(IsolationRefused, match="no process can be started"):
        guards.try_out("process")


@linux
def test_a_process_that_waits_for_its_parent_to_take_note_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert guards._runs(child.pid)
        assert child.stdin is not None
        child.kill()
        until = time.monotonic() + 60
        while guards._runs(child.pid) and time.monotonic() < until:
            time.sleep(0.01)
        assert not guards._runs(child.pid) and Path(f"/proc/{child.pid}").exists()
