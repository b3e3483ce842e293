"""The check of a stage that builds on earlier ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.progress.store import Store
from tests.courses.uses.building import Grade, wrote


@pytest.fixture
def check(grader: Grade, root: Path) -> Grade:
    """Check s04, with the solution in its place."""
    wrote(root, "s04")
    Store(root).record_skip(["s01", "s02", "s03"])
    return lambda *more: grader("check", "s04", "--isolation", "process", *more)
