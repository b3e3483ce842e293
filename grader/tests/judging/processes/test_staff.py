"""Whether there is room for a second judge, and what a kept grader starts ahead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.isolation import tiers
from grader.judging.grading import Grader, Options
from grader.judging.processes import staff
from grader.submission import take
from grader.tests.conftest import SmallCourse
from grader.tests.judging.processes.doubles import RIGHT
from grader.verdict import Verdict

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")


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


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("why_not", ["alone", "timed", "hunt", "few rows"])
def test_no_worker_is_started_where_one_judge_works(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch, why_not: str
) -> None:
    path = course.root.parent / "handed_in.py"
    course._put(path, RIGHT)
    if why_not == "few rows":
        monkeypatch.setattr(staff, "FEWEST_ROWS", 3)
    with Grader(course.course, course.stage, hurried=why_not != "alone") as grader:
        options = Options(1, "process", timed=why_not == "timed")
        snapshot = take(course.stage, path, course.root)
        found = grader.hunt(snapshot, options, ()) if why_not == "hunt" else grader.grade(snapshot, options)
        assert found is None or (isinstance(found, Verdict) and found.passed)
        assert not grader._staff._second


@pytest.mark.usefixtures("idle")
@pytest.mark.full_matrix
def test_a_kept_grader_has_both_workers_ready_for_the_next_time(course: SmallCourse) -> None:
    path = course.root.parent / "handed_in.py"
    course._put(path, RIGHT)
    options, snapshot = Options(1, "process"), take(course.stage, path, course.root)
    with Grader(course.course, course.stage, warm=True, hurried=True) as grader:
        for _ in range(2):
            assert grader.grade(snapshot, options).passed
            grader.prepare(options)
            own = grader._staff._first["process", True], grader._staff._second["process"]
            assert all(each._ahead is not None and each._ahead.running() for each in own)
