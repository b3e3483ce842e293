"""One module that looks around, in each tier, in bubblewrap, and in landlock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from grader.isolation import tiers
from tests.conftest import Learner, Start
from tests.isolation.inside import SOURCE
from tests.pace.matrix import why_missing


@pytest.fixture(scope="module")
def learner(tier: tiers.Tier, start: Start) -> Learner:
    return start(SOURCE, tier)


@pytest.fixture
def inside(learner: Learner) -> Iterator[Any]:
    """The module in each tier."""
    yield learner.open()
    learner.done()


@pytest.fixture(scope="module")
def bubbled(start: Start) -> Learner:
    if reason := why_missing("bubblewrap"):
        pytest.skip(f"tier bubblewrap is missing here: {reason}")
    return start(SOURCE, "bubblewrap")


@pytest.fixture
def in_bubblewrap(bubbled: Learner) -> Iterator[Any]:
    """The module in bubblewrap."""
    yield bubbled.open()
    bubbled.done()


@pytest.fixture(scope="module")
def landlocked(start: Start) -> Learner:
    if reason := why_missing("landlock"):
        pytest.skip(f"tier landlock is missing here: {reason}")
    return start(SOURCE, "landlock")


@pytest.fixture
def in_landlock(landlocked: Learner) -> Iterator[Any]:
    """The module in landlock."""
    yield landlocked.open()
    landlocked.done()
