"""A small course, and the command on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.progress.actions import Workspace
from grader.progress.store import Store
from grader.tests.commands.grading.typed import MANIFEST, SOLUTION, TEST, Command
from grader.tests.conftest import SmallCourse


@pytest.fixture
def command(
    small_course: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    small_course.write(
        manifest=MANIFEST,
        solution=SOLUTION,
        public=TEST.format(name="public", value=3),
        hidden=TEST.format(name="secret", value=4711),
    )
    monkeypatch.chdir(small_course.root)
    monkeypatch.setattr(
        "grader.progress.workspace.open_workspace", lambda *_: Workspace(small_course.course, Store(tmp_path))
    )
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CLASSROOM", "LANG", "LC_ALL", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Command(small_course, tmp_path, monkeypatch, capsys)
