"""The command, keys, and the author's small course."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.progress.actions import Workspace
from grader.progress.store import Store
from grader.tests.commands.classroom.typed import Typed
from grader.tests.support.copies import NAME
from grader.tests.support.good_stage import SOLUTION, write_stage

MODULES = [SOLUTION, SOLUTION.replace("x.sum(axis=1)", "x.mean(axis=1)")]


@pytest.fixture
def grader(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Typed:
    monkeypatch.delenv("GRADER_KEY_FILE", raising=False)
    return Typed(capsys, monkeypatch)


@pytest.fixture
def keys(tmp_path: Path, grader: Typed) -> Path:
    assert grader("keys", "new", tmp_path / "keys") == 0
    return tmp_path / "keys"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The author's small course, its reference handed in as right.py and a wrong module as wrong.py."""
    write_stage(tmp_path / "stages", tmp_path / "hidden", NAME)
    opened = load_course(tmp_path, tmp_path / "hidden")
    monkeypatch.setattr(
        "grader.progress.workspace.open_workspace", lambda start, key_file=None: Workspace(opened, Store(tmp_path))
    )
    monkeypatch.setattr("grader.course.settings.find_course_root", lambda start: tmp_path)
    monkeypatch.setattr("grader.course.manifest.load_course", lambda root: opened)
    for name, text in zip(("right.py", "wrong.py"), MODULES, strict=True):
        (tmp_path / name).write_text(text)
    return tmp_path
