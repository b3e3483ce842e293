"""A test that measures is known for it: by its file, or by what it imports itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import ModuleType, SimpleNamespace
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


def helper() -> float:
    from time import perf_counter

    return perf_counter()


@pytest.fixture
def clock() -> Any:
    import time

    return time


class Watch:
    def seconds(self) -> float:
        from time import monotonic

        return monotonic()


def plain(x: float) -> float:
    return x


@pytest.mark.parametrize(("value", "measures"), [(helper, True), (clock, True), (Watch, True), (plain, False)])
def test_a_clock_in_what_the_test_uses_of_its_file_is_seen(value: object, measures: bool) -> None:
    path = Path("test_small.py")
    module = SimpleNamespace(__name__=__name__, used=value)
    item = SimpleNamespace(function=imports_none, path=path, module=module)
    assert Suite.measures(cast(Any, SimpleNamespace(_measuring={}, _modules={})), cast(Any, item)) is measures


def test_a_clock_in_a_module_of_the_course_that_the_file_imports_is_seen() -> None:
    path = Path("test_small.py")
    speed = ModuleType("hidden.speed")
    vars(speed)["perf_counter"] = perf_counter
    item = SimpleNamespace(function=imports_none, path=path, module=SimpleNamespace(__name__="t", speed=speed))
    suite = SimpleNamespace(_measuring={}, _modules={"hidden.speed": speed})
    assert Suite.measures(cast(Any, suite), cast(Any, item))


@pytest.mark.parametrize(("test", "measures"), [(imports_one, True), (imports_one_within, True), (imports_none, False)])
def test_a_clock_that_a_test_imports_itself_is_seen(test: Callable[..., None], measures: bool) -> None:
    path = Path("test_small.py")
    suite, item = SimpleNamespace(_measuring={path: False}), SimpleNamespace(function=test, path=path)
    assert Suite.measures(cast(Any, suite), cast(Any, item)) is measures
