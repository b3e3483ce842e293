"""The road through the course, by the real command: each stage that passes opens the next one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from grader.course.answers import reference_source
from grader.course.manifest import load_course
from grader.tests.support.places import ROOT

COURSE = load_course(ROOT)
COMMAND = "import sys; from grader.cli import main; sys.exit(main())"
STATUS, LOCKED = ("status", "--json"), 3


def run(root: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Run the command in a learner's folder and return its exit code and its document."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], cwd=root, capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode, json.loads(done.stdout)


def test_who_walks_the_road_sees_each_stage_open_the_next(tmp_path: Path) -> None:
    shutil.copytree(COURSE.root / "stages", tmp_path / "stages", ignore=shutil.ignore_patterns("__pycache__"))
    learners = load_course(tmp_path)
    walked: list[str] = []
    for stage, later in zip(learners.stages, [*learners.stages[1:], None], strict=True):
        if later is not None:
            code, refused = run(tmp_path, "check", later.id, "--json")
            assert (code, refused["locked"]) == (LOCKED, True)
        stage.module_path.write_text(reference_source(stage), encoding="utf-8")
        code, verdict = run(tmp_path, "check", stage.id, "--json")
        assert (code, verdict["passed"]) == (0, True), verdict
        assert verdict["unlocked"] == ([later.id] if later is not None else [])
        walked.append(stage.id)
    _, status = run(tmp_path, *STATUS)
    assert [each["id"] for each in status["stages"] if each["state"] == "passed"] == walked
    assert walked == [stage.id for stage in COURSE.stages]
