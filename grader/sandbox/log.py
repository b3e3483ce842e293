"""What the tests of one run asked and were answered, kept until something has to be explained.

Most runs end without that: what explains is imported when the first test fails, and not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from grader.outcome import Outcome
from grader.sandbox.connection import Connection
from grader.sandbox.record import Name, Record

KEPT_BYTES = 128 << 20  # of what tests sent and were given; past that they are no evidence


class LoggedTest(NamedTuple):
    """A test that ended, its requests, and the names of the module that it asked."""

    outcome: Outcome
    records: list[Record]
    names: dict[str, Name]


class RequestLog:
    """What can be held against an explanation of a run's failures, within bounds."""

    def __init__(self) -> None:
        self.passed: list[LoggedTest] = []
        self.failed: list[LoggedTest] = []
        self._left = KEPT_BYTES

    def keep(self, outcome: Outcome, connection: Connection) -> None:
        """Remember one test that failed or passed."""
        self._forget(outcome.test)  # it ran again
        test = LoggedTest(outcome, connection.records, connection.names)
        if outcome.status == "failed":
            self._add(test, self.failed, connection.limits.held)
        elif outcome.status == "passed":
            self._add(test, self.passed, connection.limits.held)

    def sort(self, order: Mapping[str, int]) -> None:
        """Put the tests into their order by name: in which they ran has no part in what explains them."""
        for tests in (self.passed, self.failed):
            tests.sort(key=lambda each: order[each.outcome.test])

    def _forget(self, test: str) -> None:
        for tests in (self.passed, self.failed):
            tests[:] = [each for each in tests if each.outcome.test != test]

    def _add(self, test: LoggedTest, tests: list[LoggedTest], held: int) -> None:
        if held <= self._left:
            self._left -= held
            tests.append(test)

    @property
    def is_asked(self) -> bool:
        """Whether any test failed in a way that can be explained."""
        return bool(self.failed)
