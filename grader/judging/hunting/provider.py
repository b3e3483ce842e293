"""Gives tests a module of the course's own in the judge's process: no worker, and no copies over a pipe."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import pytest

from grader.course.answers import module_from
from grader.course.data import named
from grader.judging import phases, plugin
from grader.judging.suite import Suite

NAME = "provided"  # of the module while its tests run
ENDED = {"setup", "call", "teardown"}
Loading = Callable[[], AbstractContextManager[None]]


@dataclass
class Attempt:
    """What came of one test."""

    error: BaseException | None = None
    phases: set[str] = field(default_factory=set)

    @property
    def passed(self) -> bool:
        """Whether all that the test consists of came to its end."""
        return self.error is None and self.phases == ENDED


class Provider:
    """Gives each test a module of its own, made of one text."""

    def __init__(
        self, suite: Suite, source: str, seed: int, loading: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self.seed = seed
        self.file = f"<{NAME}>"
        self._suite = suite
        self._code = compile(source, self.file, "exec", dont_inherit=True)
        self._loading = loading

    def learner(self, item: pytest.Item) -> types.ModuleType:
        """Return a module of this test's own; it is loaded within what `loading` gives."""
        del item
        with self._loading():
            return module_from(self._code, NAME)

    def data(self, name: str) -> bytes:
        """Return a file of the stage's data."""
        return named(self._suite.files.data, name, self._suite.stage.id)

    def attempt(self, item: pytest.Item, following: pytest.Item | None = None) -> Attempt:
        """Run a test, and return what came of it; one that is not plain is not run, and so has not passed."""
        attempt = Attempt()
        if phases.is_plain(item):
            phases.run(item, following, attempt)
        return attempt


@contextmanager
def provided(suite: Suite, source: str, seed: int, loading: Loading = nullcontext) -> Iterator[Provider]:
    """Have the suite's tests, which are in place, get the module while the block lasts; SyntaxError if it is none."""
    provider = Provider(suite, source, seed, loading)
    suite.config.stash[plugin.PROVIDER] = provider
    try:
        yield provider
    finally:
        suite.take_down()
        del suite.config.stash[plugin.PROVIDER]
