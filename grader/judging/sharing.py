"""Which tests share a process of the learner's: those that pass, as long as nothing of one is left for the next.

Processes of one worker share its scratch folder. What a public test shows is told in full, and much less of a hidden
one: so a public test that comes late has a worker that no hidden test has used.
"""

from __future__ import annotations

from collections.abc import Callable

from grader.judging.attempt import Attempt
from grader.judging.processes import bounds
from grader.outcome import Status
from grader.remote.connection import Connection
from grader.remote.processes.process import LearnerProcess

Tried = tuple[Attempt, tuple[Status, str] | None]  # the attempt, and what its process told at its end


class Sharing:
    """Runs tests; own says whether the next one has to have a process of its own.

    apart says that no public test may learn of a hidden one.
    """

    def __init__(self, process: LearnerProcess, apart: bool) -> None:
        self.own = False
        self._apart = apart
        self._has_seen_hidden = False  # the worker that runs
        self._ends = False
        self._process = process

    def opened(self, key: str, ends_at: float, is_hidden: bool, own: bool | None = None) -> Connection:
        """Return the connection of the test that begins; own overrules whether it has a process of its own."""
        if self._apart and self._has_seen_hidden and not is_hidden:
            self._process.renew()
            self._has_seen_hidden = False
        self._has_seen_hidden |= is_hidden
        return self._process.open(key, ends_at, self.own if own is None else own)

    def tried(self, attempt: Callable[[], Attempt]) -> Tried:
        """Run a test; one that fails where another ran before is run again by itself, and that alone counts.

        If it passes then, no other test of the run shares a process: code that fails now and then gets one second try.
        """
        made, ended = self._once(attempt)
        is_shared = made.connection is not None and made.connection.tests_before > 0
        if not is_shared or made.passed() or made.hung():
            return made, ended
        del made, ended  # they hold on to values of the learner's
        bounds.bound_time(bounds.TEST_SECONDS)
        made, ended = self._once(attempt)
        self._ends = made.passed()
        self.own = True
        return made, ended

    def _once(self, attempt: Callable[[], Attempt]) -> Tried:
        made = attempt()
        if made.connection is None:
            return made, None
        self.own = self._ends or not made.passed()  # failures come in rows: while they do, no test is run twice
        return made, self._process.done(made.connection, keep=not self.own)
