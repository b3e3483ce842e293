"""One run of a test: its first exception, the phases that came to their end, and what they say of the module."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from grader.remote.connection import Connection

PHASES = {"setup", "call", "teardown"}


@dataclass
class Attempt:
    """One run of a test: its first exception and the phases that came to their end.

    asked says whether what it saw was held against every known mistake, late that there was no more time for it.
    """

    item: pytest.Item
    connection: Connection | None = None
    error: BaseException | None = None
    phases: set[str] = field(default_factory=set)
    seconds: float = 0.0
    asked: bool = False
    late: bool = False

    def note(self, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
        """Take in one phase that pytest reports on."""
        if call.excinfo is not None and self.error is None:
            self.error = call.excinfo.value
        if report.passed and not hasattr(report, "wasxfail"):
            self.phases.add(report.when)

    def fault(self) -> str | None:
        """Return why the test did not pass; None where it did."""
        if self.error is not None:
            return f"{type(self.error).__name__}: {self.error}"
        return None if self.phases == PHASES else "it did not finish"

    def changed(self) -> bool:
        """Say whether a call changed what it was given, in a test that does not say that it is meant to."""
        changed = self.connection is not None and self.connection.changed
        return bool(changed) and not self.item.get_closest_marker("changes_arguments")

    def passed(self) -> bool:
        """Say whether the test came to its end, and left its arguments as they were."""
        return self.fault() is None and not self.changed()

    def hung(self) -> bool:
        """Say whether it met the end of its time: waiting once more for a function that hangs tells nothing new."""
        failure = None if self.connection is None else self.connection.failure
        return failure is not None and failure.status == "timed_out"
