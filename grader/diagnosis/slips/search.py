"""Finds the changes of the reference that answer a row's failing tests as the learner's module did."""

from __future__ import annotations

import time
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from grader.diagnosis.replay import Replay
from grader.diagnosis.slips.patch import TooLong, bounded, can_bound, compiled, function_named, in_place
from grader.diagnosis.slips.schema import SWITCH, Change, Schema
from grader.diagnosis.slips.source import Source
from grader.diagnosis.slips.trace import Trace
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.sentences import clause
from grader.outcome import Diagnosis
from grader.remote.record import Name, Record

PROBES = 3  # tests of one row that are tried one after the other, until one is explained
LONGEST = 20  # times as long as the reference a change may run
LEAST = 0.02  # seconds that any change may run
MOST_FOUND = 24  # changes that are held against the other tests of a row


@dataclass(frozen=True)
class Failing:
    """A test that failed: what it asked of the learner's module, and what came back."""

    test: str
    records: list[Record]
    names: dict[str, Name]


@dataclass(frozen=True)
class Slip:
    """A change that explains tests: what is told, how likely it is, and which tests it answers for."""

    diagnosis: Diagnosis
    change: Change
    rank: tuple[int, ...]
    tests: frozenset[str]


@dataclass
class _Probe:
    """One failing test in its shortest form: what is asked up to the first answer that differs."""

    failing: Failing
    records: list[Record]
    seconds: float
    exact: bool
    trace: Trace

    @property
    def label(self) -> str:
        return self.records[-1].label


@dataclass
class Search:
    """Tries changes of one reference; tolerance and caches are those of the stage."""

    source: Source
    learner: bytes = b""
    clock: Callable[[], float] = time.process_time
    _slips: dict[str, tuple[str, int]] = field(default_factory=dict)  # by id: the function and number of its change
    _schemas: dict[str, types.FunctionType] = field(default_factory=dict)
    _next: int = 1

    def explain(
        self, row: str, failing: Sequence[Failing], fine: frozenset[str], own: frozenset[str], ends_at: float
    ) -> list[Slip]:
        """Return the changes that explain a row's failing tests, the likeliest first.

        fine are the public functions of which all rows pass, own those of this row; the search ends at a time of clock.
        """
        if not can_bound():
            return []
        probes = sorted(filter(None, map(self._probe, failing)), key=lambda probe: probe.seconds)
        tried: set[str] = set()
        for probe in probes:
            if len(tried) == PROBES or probe.label in tried or self.clock() > ends_at:
                continue
            tried.add(probe.label)
            found = self._agreeing(probe, row, fine, own, ends_at)
            if found:
                return self._confirmed(found, probe, failing, row, ends_at)
        return []

    @contextmanager
    def active(self, slip: str) -> Iterator[None]:
        """Have the reference answer as a slip that was found, in this block."""
        function, number = self._slips[slip]
        with self._switched(function, number):
            yield

    @contextmanager
    def _switched(self, key: str, number: int) -> Iterator[None]:
        original = function_named(self.source.module, key.partition("#")[0])
        assert original is not None
        vars(self.source.module)[SWITCH] = number
        with in_place(original, self._schemas[key]):
            yield

    def _probe(self, failing: Failing) -> _Probe | None:
        """Return the shortest form of a test, with what the reference does in it; None where the reference agrees."""
        for exact in (False, True):
            replay = self._replay(failing.names, exact)
            place = replay.first_difference(failing.records)
            if place is None:
                continue
            record = failing.records[place]
            records = [record] if replay.stands_alone(record) else failing.records[: place + 1]
            started = self.clock()
            self._replay(failing.names, exact).agrees(records)
            seconds = self.clock() - started
            trace = Trace("<reference>")
            with trace.running():
                self._replay(failing.names, exact).agrees(records)
            return _Probe(failing, records, seconds, exact, trace)
        return None

    def _replay(self, names: dict[str, Name], exact: bool) -> Replay:
        return Replay(self.source.module, self.source.stage, names, exact, self.learner)

    def _agreeing(
        self, probe: _Probe, row: str, fine: frozenset[str], own: frozenset[str], ends_at: float
    ) -> list[tuple[str, Change, Clause]]:
        """Return the changes with which the reference answers a probe as recorded."""
        found: list[tuple[str, Change, Clause]] = []
        longest = max(LEAST, LONGEST * probe.seconds)
        for key, changes in self._candidates(probe, fine, own):
            for change, said in changes:
                if self.clock() > ends_at or len(found) == MOST_FOUND:
                    return found
                try:
                    with self._switched(key, change.number), bounded(longest):
                        if self._replay(probe.failing.names, probe.exact).agrees(probe.records):
                            found.append((key, change, said))
                except (TooLong, MemoryError, RecursionError):
                    continue
        return found

    def _candidates(
        self, probe: _Probe, fine: frozenset[str], own: frozenset[str]
    ) -> Iterator[tuple[str, list[tuple[Change, Clause]]]]:
        """Yield the functions that ran, the row's own first, each with its changes, the likeliest first."""
        ran = [name for name in self.source.ran(probe.trace) if not ({name, name.partition(".")[0]} & fine)]
        ran.sort(key=lambda name: self._distance(name, probe, own))
        for name in ran:
            node = self.source.definitions[name]
            schema = Schema(name, self.source.scope(name, probe.trace), probe.trace.lines, self._next)
            key = f"{name}#{self._next}"
            try:
                self._schemas[key] = compiled(name, schema.definition(node), self.source.module)
            except (SyntaxError, ValueError, RecursionError, NameError):
                continue
            self._next += len(schema.changes)
            say = self.source.vocabulary(name)
            told = [(change, said) for change in schema.changes if (said := clause(change, say)) is not None]
            yield key, sorted(told, key=lambda pair: pair[1].rank)

    def _distance(self, name: str, probe: _Probe, own: frozenset[str]) -> int:
        if name == probe.label or name == f"{probe.label}.__init__":
            return 0
        if name in own or name.partition(".")[0] in own:
            return 1
        return 2 if name.rpartition(".")[2].startswith("_") else 3

    def _confirmed(
        self,
        found: list[tuple[str, Change, Clause]],
        probe: _Probe,
        failing: Sequence[Failing],
        row: str,
        ends_at: float,
    ) -> list[Slip]:
        """Return one slip for each thing that is said, with the failing tests that it answers for."""
        slips: dict[str, Slip] = {}
        for key, change, said in found:
            diagnosis = self._diagnosis(change, said, probe.label, row)
            tests = {probe.failing.test}
            for other in failing:
                if other is not probe.failing and self.clock() < ends_at and self._answers(key, change, other, probe.exact):
                    tests.add(other.test)
            rank = (-len(tests), said.rank, self._distance(change.function, probe, frozenset()))
            self._slips.setdefault(diagnosis.mistake, (key, change.number))
            slip = Slip(diagnosis, change, rank, frozenset(tests))
            before = slips.get(diagnosis.mistake)
            if before is None or slip.rank < before.rank:
                slips[diagnosis.mistake] = slip
                self._slips[diagnosis.mistake] = (key, change.number)
        return sorted(slips.values(), key=lambda slip: slip.rank)

    def _answers(self, key: str, change: Change, failing: Failing, exact: bool) -> bool:
        try:
            with self._switched(key, change.number), bounded(10 * LEAST):
                return self._replay(failing.names, exact).agrees(failing.records)
        except (TooLong, MemoryError, RecursionError):
            return False

    def _diagnosis(self, change: Change, said: Clause, label: str, row: str) -> Diagnosis:
        """Return what is told of a change, by the name of the public function that it is in."""
        stage = self.source.stage
        public = not change.function.rpartition(".")[2].startswith("_") or change.function.endswith("__init__")
        function = change.function.removesuffix(".__init__") if public else label
        criterion = stage.criterion_of(function)
        text = f"{function} answers as if {said.said}."
        return Diagnosis(f"slip: {text}", criterion.id if criterion and public else row, text, said.fix)
