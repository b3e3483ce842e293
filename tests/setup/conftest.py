"""A learner's folder to bring newer courses into."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.setup.making import make
from tests.setup.editions import edition


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A learner's folder of version 0.1.0."""
    make(edition(), tmp_path / "course")
    return tmp_path / "course"
