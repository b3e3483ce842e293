"""A test that measures is known for it: by its file, or by what it imports itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from grader.judging.suite import Suite


def imports_one(learner: Any) -> None:
    import time

    assert learner.double(time.perf_counter()) > 0


def imports_one_within(learner: Any) -> None:
    def now() -> float:
        from time import monotonic

        return monotonic()

    assert learner.double(now()) > 0


def imports_none(learner: Any) -> None:
    assert learner.double(1) == 2


@pytest.mark.parametrize(("test", "measures"), [(imports_one, True), (imports_one_within, True), (imports_none, False)])
def test_a_clock_that_a_test_imports_itself_is_seen(test: Callable[..., None], measures: bool) -> None:
    path = Path("test_small.py")
    suite, item = SimpleNamespace(_measuring={path: False}), SimpleNamespace(function=test, path=path)
    assert Suite.measures(cast(Any, suite), cast(Any, item)) is measures
