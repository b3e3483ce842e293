"""What the calls of a test tell: the functions that it asked for, their times, and what waits for one that is late.

A function that does not return costs the test that finds it the whole time of a call. Tests that lead to it come
last, so that the time of the stage is there for all that have nothing to do with it, and they wait less for it: who is
in a loop without an end is told after seconds, not after as many times the whole time as there are rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from grader.course.stage import Stage
from grader.criterion import ROBUSTNESS
from grader.judging.task import EXPLAINED, Task
from grader.outcome import Call, Outcome
from grader.remote.connection import Connection
from grader.remote.processes.process import LearnerProcess
from grader.submission.source import plain_text
from grader.submission.source.reaching import helpers, reaches

ASKED = ("call", "traced", "op")
BITS = 64
FEW = 2  # tests of a row that shares code with one that fails: of those, a cause is held against three at most
SHARE_AGAIN, LEAST_AGAIN = 0.1, 1.0  # of a call's seconds, and in seconds: for one that took all of its time before


def charged(criterion: str, kind: str) -> str:
    """Return what is left out once a test of a row has timed out: of its robustness, nothing that counts without it."""
    return f"{criterion}, robustness" if kind in ROBUSTNESS else criterion


def called(stage: Stage, connection: Connection | None) -> tuple[str, ...]:
    """Return which of the stage's own functions and classes a test called."""
    records = connection.records if connection else []
    labels = dict.fromkeys(record.label for record in records if record.kind in ASKED)
    return tuple(label for label in labels if stage.criterion_of(label))


def times(
    stage: Stage, task: Task, process: LearnerProcess, outcome: Outcome, connection: Connection | None
) -> tuple[Call, ...]:
    """Return the calls of a test that passed, with their times, where these are asked for and known."""
    if not task.timed or outcome.status != "passed" or connection is None:
        return ()
    from grader.judging.processes.repeated import timed

    start = partial(process.open, "", task.ends_at) if process.fork else None
    try:
        return timed(stage, connection, start, process.done)
    except Exception:  # of values that a learner's process chose, or its end; the result stands without times
        return ()


class Involved:
    """Which of a stage's functions a test involves: those that it calls, and what these lead to by the module's text.

    Each function is a bit; of more than there are bits, all that are over share the last.
    """

    def __init__(self, stage: Stage, source: bytes) -> None:
        self._stage = stage
        self._source = source
        names = dict.fromkeys(name.partition(".")[0] for row in stage.criteria for name in row.functions)
        self._functions = {row.id: row.functions for row in stage.criteria}
        self._bits = {name: 1 << min(place, BITS - 1) for place, name in enumerate(names)}
        self._reaches: Mapping[str, frozenset[str]] | None = None

    def of(self, label: str) -> int:
        """Return the bit of what a call with this label calls; 0 for none of the stage's."""
        return self._bits.get(label.partition(".")[0], 0)

    def by(self, labels: Iterable[str]) -> int:
        """Return the bits of what calls with these labels involve."""
        if self._reaches is None:
            self._reaches = reaches(self._stage, plain_text(self._source))
        found = 0
        for name in {label.partition(".")[0] for label in labels}:
            for each in (name, *self._reaches.get(name, ())):
                found |= self._bits.get(each.partition(".")[0], 0)
        return found

    def by_failures(self, outcomes: Iterable[Outcome]) -> int:
        """Return the bits of what explains a failure may be held against: what the tests that failed involve."""
        labels = {label for each in outcomes if each.status in EXPLAINED for label in each.called}
        labels.update(*(self._functions.get(row, ()) for row in _failing(outcomes)))
        return self.by(labels) if labels else 0

    def failing(self, outcomes: Iterable[Outcome]) -> int:
        """Return the bits of the functions whose own tests failed, without what these lead to."""
        found = 0
        for row in _failing(outcomes):
            for name in self._functions.get(row, ()):
                found |= self.of(name)
        return found

    def kin(self, outcomes: Iterable[Outcome]) -> frozenset[str]:
        """Return the rows that tell about a cause of the failures: those that fail, and those that share code with one.

        A row whose tests all pass shares code with one that fails where it leads to a function of that row, or both to
        the same helper.
        """
        if not (failing := _failing(outcomes)):
            return frozenset()
        text = plain_text(self._source)
        leads, own = reaches(self._stage, text), helpers(self._stage, text)
        wrong = {name for row in failing for name in self._functions.get(row, ())}
        shared = frozenset().union(*(own.get(name, ()) for name in wrong))
        return failing | {
            row
            for row, names in self._functions.items()
            if any(not wrong.isdisjoint(leads.get(name, ())) or shared & own.get(name, frozenset()) for name in names)
        }

    def telling(self, outcomes: Iterable[Outcome]) -> Callable[[str, Callable[[], int]], bool]:
        """Return what says whether a test that passed, of a row and with such bits, is held against a cause.

        Of a row that only shares code with one that fails, a few are enough.
        """
        functions, rows, failing = self.by_failures(outcomes), self.kin(outcomes), _failing(outcomes)
        told: Counter[str] = Counter()

        def tells(row: str, bits: Callable[[], int]) -> bool:
            if row in failing:
                return bool(functions & bits())
            told[row] += row in rows
            return row in rows and told[row] <= FEW

        return tells


def _failing(outcomes: Iterable[Outcome]) -> frozenset[str]:
    return frozenset(each.criterion for each in outcomes if each.status in EXPLAINED)


class Late:
    """Functions that did not return in time, and the rows that lead to one, by the module's text or by their needs."""

    def __init__(self, stage: Stage, source: bytes) -> None:
        self._stage = stage
        self._source = source
        self._reaches: Mapping[str, frozenset[str]] = {}
        self._functions: set[str] = set()
        self._endless: set[str] = set()  # those that took the whole time of a call
        self._rows: set[str] = set()

    def note(self, outcome: Outcome, connection: Connection | None) -> bool:
        """Remember the call that a test waited for in vain, and its row; say whether it took a call's whole time."""
        if outcome.status != "timed_out" or connection is None:
            return False
        is_whole = bool(connection.late) and self.seconds(connection.late) == self._stage.limits.call_seconds
        if not self._functions:
            self._reaches = reaches(self._stage, plain_text(self._source))
        own = [name for row in self._stage.criteria if row.id == outcome.criterion for name in row.functions]
        waited = [record.label for record in connection.records if record.failed]
        self._functions |= {label for label in waited if self._stage.criterion_of(label)} or {*own}
        self._endless |= {connection.late} & self._functions
        self._rows.add(outcome.criterion)
        for row in self._stage.criteria:  # each needs rows above it only
            if not self._rows.isdisjoint(row.needs):
                self._rows.add(row.id)
        return is_whole

    def seconds(self, label: str) -> float:
        """Return how long a call may take: less where its function, or one it leads to, once took all of its time."""
        whole = self._stage.limits.call_seconds
        names = {label, label.partition(".")[0]}  # a method, and its class, which is what the checklist names
        if self._endless.isdisjoint(names.union(*(self._reaches.get(name, ()) for name in names))):
            return whole
        return min(whole, max(LEAST_AGAIN, SHARE_AGAIN * whole))

    def leads_here(self, row: str) -> bool:
        """Say whether one of a row's functions is late, or leads to one that is, or the row needs another that does."""
        if not self._functions:
            return False
        names = [name for each in self._stage.criteria if each.id == row for name in each.functions]
        return row in self._rows or any(
            not self._functions.isdisjoint((name, *self._reaches.get(name, ()))) for name in names
        )
