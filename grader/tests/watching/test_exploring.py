"""The picture of a stage: what the command prints, and nothing where it cannot."""

from __future__ import annotations

import os
import queue
import subprocess
from dataclasses import replace
from typing import Any

import pytest

from grader.course.manifest import load_course
from grader.tests.support.command import Place
from grader.tests.support.patience import SLACK
from grader.watching.events import Event, Explored
from grader.watching.exploring import Exploring, explored


def test_what_the_command_prints_arrives_as_an_event(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: dict[str, Any] = {}

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        ran.update(options, command=command)
        return subprocess.CompletedProcess(command, 1, "a curve ∿\n".encode())

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("NO_COLOR", "1")
    found: queue.Queue[Event] = queue.Queue()
    course = load_course(place.root)
    course = replace(course, settings=replace(course.settings, drawings="drawings"))
    assert Exploring(course, found.put, lambda: 50, colour=True)("s01")
    assert found.get(timeout=SLACK) == Explored("s01", "a curve ∿\n")
    assert (ran["command"][-2:], ran["cwd"], ran["env"]["COLUMNS"]) == (["explore", "s01"], place.root, "50")
    assert "NO_COLOR" not in ran["env"] and ran["env"]["FORCE_COLOR"] == "1" and "NO_COLOR" in os.environ


@pytest.mark.parametrize("error", [OSError("no process"), subprocess.TimeoutExpired("explore", 120)])
def test_a_command_that_cannot_run_says_why(place: Place, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def run(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(subprocess, "run", run)
    found = explored(place.root, "s01", 80, colour=False)
    assert found.text == "" and ("no process" in found.why or "took longer than 120 s" in found.why)


def test_a_stage_that_cannot_be_explored_says_so(place: Place) -> None:
    told = "s01 has nothing to draw or explore"
    assert explored(place.root, "s01", 20, colour=True) == Explored("s01", "", told)  # wrapped and coloured before


def test_no_command_runs_for_a_stage_without_a_drawing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> None:
        raise OSError("a process was started")

    monkeypatch.setattr(subprocess, "run", run)
    found: queue.Queue[Event] = queue.Queue()
    assert not Exploring(load_course(place.root), found.put, lambda: 50, colour=False)("s01")
    assert found.empty()
