"""A course of one stage for the doctor to look at."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.tests.support.places import HIDDEN, ROOT

STAGE = "s01_matrix_operations"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of one stage, with hidden files of its own beside it."""
    shutil.copytree(ROOT / "stages" / STAGE, tmp_path / "stages" / STAGE)
    shutil.copytree(HIDDEN / STAGE, tmp_path / "hidden" / STAGE)
    (tmp_path / "pyproject.toml").write_text('[tool.grader]\npackages = ["numpy"]\n', encoding="utf-8")
    return tmp_path
