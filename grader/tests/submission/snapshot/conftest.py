"""A stage of a course, a folder for what is handed in, and both ways to open files."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.submission import files


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "course" / "stages" / "s15_attention").mkdir(parents=True)
    return tmp_path / "course"


@pytest.fixture
def stage(course: Path) -> Stage:
    return Stage("s15", course / "stages" / "s15_attention", "Attention", "attention.py", (), ())


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    (tmp_path / "inbox").mkdir()
    return tmp_path / "inbox"


@pytest.fixture(params=["descriptors", "paths"])
def _either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once with openat, where the system has it, and once without."""
    if request.param == "paths":
        monkeypatch.setattr(files, "_HAS_DIR_FD", False)
