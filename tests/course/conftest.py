"""Manifests and a course of four stages, written for one test."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Course
from tests.course.manifests import HEAD, SPLIT, Write, other


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a manifest; returns the stage's folder."""

    (tmp_path / "hidden").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.grader]\npackages = ["numpy"]\n', encoding="utf-8")

    def write(text: str, folder: str = "s15_attention") -> Path:
        path = tmp_path / "stages" / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / "stage.toml").write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def course(write: Write, tmp_path: Path) -> Course:
    write(other("s01", module="matrices.py"), "s01_matrix_operations")
    write(HEAD + SPLIT, "s15_attention")
    write(other("s16", module="layer.py"), "s16_attention_layer")
    write(other("s17", module="layer.py"), "s17_other_layer")
    return load_course(tmp_path)
