"""A learner's repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.tests.support.repositories import make


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    return make(tmp_path / "ada")
