"""A learner's process that survives each test: the next one finds its module as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from grader.isolation import tiers
from tests.conftest import Learner, Start
from tests.sandbox.hostile.breaking import PATIENCE, SOURCE


@pytest.fixture(scope="module")
def learner(tier: tiers.Tier, start: Start) -> Learner:
    return start(SOURCE, tier, call_seconds=PATIENCE, memory_mb=256, cpu_seconds=20)


@pytest.fixture(autouse=True)
def _next_test_runs(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test here another one finds the module as it was."""
    yield
    if "learner" in request.fixturenames:
        process: Learner = request.getfixturevalue("learner")
        remote: Any = process.open()
        assert remote.fine(1) == 2 and remote.count() == 2
        process.done()
