"""A test of a learner's functions has them through `remote`; its file says what `process` they run in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import Learner


@pytest.fixture
def remote(process: Learner) -> Iterator[Any]:
    """The remote module of one test."""
    yield process.open()
    process.done()
