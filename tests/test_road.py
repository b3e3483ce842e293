"""The road through the course, by the real command: each stage that passes opens the next one."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.course.answers import reference_source
from grader.course.manifest import load_course
from grader.progress.store import Store
from tests.support.places import ROOT

COURSE = load_course(ROOT)
STATUS, LOCKED = ("status", "--json"), 3


Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in a learner's folder, in this process; return its exit code and its document."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, dict[str, Any]]:
        monkeypatch.setattr(sys, "argv", ["grader", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return int(str(left.value.code or 0)), json.loads(capsys.readouterr().out)

    return command


def test_who_walks_the_road_sees_each_stage_open_the_next(tmp_path: Path, run: Run, is_full: bool) -> None:
    """By default the first is graded, since each reference is elsewhere: the others count as passed."""
    for name in ("stages", "hidden", "drawings", "demo"):
        shutil.copytree(COURSE.root / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(COURSE.root / "pyproject.toml", tmp_path)
    learners = load_course(tmp_path)
    walked: list[str] = []
    graded = {stage.id for stage in learners.stages if is_full or stage == learners.stages[0]}
    for stage, later in zip(learners.stages, [*learners.stages[1:], None], strict=True):
        if later is not None and stage.id in graded:
            code, refused = run("check", later.id, "--json")
            assert (code, refused["locked"]) == (LOCKED, True)
        stage.module_path.write_text(reference_source(stage), encoding="utf-8")
        if stage.id in graded:
            code, verdict = run("check", stage.id, "--json")
            assert (code, verdict["passed"]) == (0, True), verdict
            assert verdict["unlocked"] == ([later.id] if later is not None else [])
        else:
            digest = hashlib.sha256(stage.module_path.read_bytes()).hexdigest()
            Store(tmp_path).record_pass(stage.id, digest, 7, "0.1.0", datetime.now(UTC))
        walked.append(stage.id)
    _, status = run(*STATUS)
    assert [each["id"] for each in status["stages"] if each["state"] == "passed"] == walked
    assert walked == [stage.id for stage in COURSE.stages]
