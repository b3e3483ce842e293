"""Whether there is room for a second judge, and what a kept grader starts ahead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.judging.processes import staff


class TestAnIdleCore:
    @pytest.mark.parametrize(("running", "cores", "idle"), [(1, 2, True), (2, 2, False), (3, 4, True), (1, 1, False)])
    def test_is_there_where_fewer_processes_run_than_there_are_cores(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, running: int, cores: int, idle: bool
    ) -> None:
        (tmp_path / "loadavg").write_text(f"0.50 0.40 0.30 {running}/163 1234\n")
        monkeypatch.setattr(staff, "RUNNING", tmp_path / "loadavg")
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
        assert staff.has_idle_core() is idle

    @pytest.mark.parametrize(("load", "idle"), [(0.3, True), (1.6, False)])
    def test_is_told_by_the_load_elsewhere(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, load: float, idle: bool
    ) -> None:
        monkeypatch.setattr(staff, "RUNNING", tmp_path / "missing")
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
        monkeypatch.setattr(os, "cpu_count", lambda: 2)
        monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0), raising=False)
        assert staff.has_idle_core() is idle
