"""Finds the changes of the reference that answer a row's failing tests as the learner's module did."""

from __future__ import annotations

import itertools
import time
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from grader.course.stage import Stage
from grader.diagnosis.replay import Replay
from grader.diagnosis.slips.likeness import likeness, manner_of
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
MOST_ALIKE = 12  # changes of one manner that are tried two at a time
MOST_LIKELY = 30  # likely changes of one function that are tried two at a time


@dataclass(frozen=True)
class Failing:
    """A test that failed: what it asked of the learner's module, and what came back."""

    test: str
    records: list[Record]
    names: dict[str, Name]

    @property
    def called(self) -> set[str]:
        """What the test called."""
        return {record.label for record in self.records if record.kind == "call"}


@dataclass(frozen=True)
class Slip:
    """A change that explains tests: what is told, how likely it is, and which tests it answers for."""

    diagnosis: Diagnosis
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


Part = tuple[str, int]  # the function that holds a change, and its number


@dataclass(frozen=True)
class _Found:
    """One or several changes of one source that are in force together, and what each of them says."""

    source: int
    parts: tuple[Part, ...]
    changes: tuple[Change, ...]
    clauses: tuple[Clause, ...]

    @property
    def rank(self) -> tuple[int, int]:
        return len(self.parts), max(each.rank for each in self.clauses)


@dataclass
class Search:
    """Tries changes of right modules, the reference first; tolerance and caches are those of the stage."""

    sources: Sequence[Source]
    learner: bytes = b""
    clock: Callable[[], float] = time.process_time
    _slips: dict[str, _Found] = field(default_factory=dict)  # by id
    _schemas: dict[str, types.FunctionType] = field(default_factory=dict)
    _next: int = 1

    @property
    def stage(self) -> Stage:
        return self.sources[0].stage

    def explain(
        self, row: str, failing: Sequence[Failing], fine: frozenset[str], own: frozenset[str], ends_at: float
    ) -> list[Slip]:
        """Return the changes that explain a row's failing tests, the likeliest first.

        fine are the public functions of which all rows pass, own those of this row; the search ends at a time of clock.
        """
        if not can_bound():
            return []
        probes = sorted(filter(None, (self._probe(0, each) for each in failing)), key=lambda probe: probe.seconds)
        first = {probe.label: probe for probe in reversed(probes)}
        for probe in list(first.values())[::-1][:PROBES]:
            for place in self._order(probe.label):
                other = probe if place == 0 else self._probe(place, probe.failing)
                found = self._agreeing(place, other, fine, own, ends_at) if other else []
                slips = self._confirmed(found, probe, failing, row, own, ends_at)
                if slips:
                    return slips
        return []

    def _order(self, label: str) -> list[int]:
        """Return the sources, those first that go about a function as the learner's module does."""
        learners = manner_of(self.learner.decode("utf-8", "replace"), label)
        alike = [likeness(learners, manner_of(source.text, label)) for source in self.sources]
        return sorted(range(len(self.sources)), key=lambda place: -alike[place])

    @contextmanager
    def active(self, slip: str) -> Iterator[types.ModuleType]:
        """Have a source answer as a slip that was found, in this block."""
        found = self._slips[slip]
        with self._switched(found):
            yield self.sources[found.source].module

    @contextmanager
    def _switched(self, found: _Found) -> Iterator[None]:
        module = self.sources[found.source].module
        vars(module)[SWITCH] = frozenset(number for _, number in found.parts)
        with ExitStack() as stack:
            for key in {key for key, _ in found.parts}:
                original = function_named(module, key.partition("#")[0])
                if original is not None:
                    stack.enter_context(in_place(original, self._schemas[key]))
            yield

    def _probe(self, place: int, failing: Failing) -> _Probe | None:
        """Return the shortest form of a test, with what a source does in it; None where the source agrees."""
        for exact in (False, True):
            replay = self._replay(place, failing.names, exact)
            first = replay.first_difference(failing.records)
            if first is None:
                continue
            record = failing.records[first]
            records = [record] if replay.stands_alone(record) else failing.records[: first + 1]
            started = self.clock()
            self._replay(place, failing.names, exact).agrees(records)
            seconds = self.clock() - started
            trace = Trace(self.sources[place].file)
            with trace.running():
                self._replay(place, failing.names, exact).agrees(records)
            return _Probe(failing, records, seconds, exact, trace)
        return None

    def _replay(self, place: int, names: dict[str, Name], exact: bool) -> Replay:
        return Replay(self.sources[place].module, self.stage, names, exact, self.learner)

    def _agreeing(
        self, place: int, probe: _Probe, fine: frozenset[str], own: frozenset[str], ends_at: float
    ) -> list[_Found]:
        """Return the changes with which a source answers a probe as recorded: earlier ones, single ones, several."""
        longest = max(LEAST, LONGEST * probe.seconds)
        found: list[_Found] = []

        def tried(candidates: Iterable[_Found]) -> list[_Found]:
            for each in candidates:
                if self.clock() > ends_at or len(found) == MOST_FOUND:
                    break
                if self._answers(each, probe.failing.names, probe.records, probe.exact, longest):
                    found.append(each)
            return found

        if tried(dict.fromkeys(self._slips.values())):
            return found
        lists = []
        for key, changes in self._candidates(place, probe, fine, own):
            singles = [_Found(place, ((key, change.number),), (change,), (said,)) for change, said in changes]
            lists.append(singles)
            tried(singles)
        for singles in lists if not found else ():
            tried(together(singles))
        return found

    def _candidates(
        self, place: int, probe: _Probe, fine: frozenset[str], own: frozenset[str]
    ) -> Iterator[tuple[str, list[tuple[Change, Clause]]]]:
        """Yield the functions that ran, the row's own first, each with its changes, the likeliest first."""
        source = self.sources[place]
        ran = [name for name in source.ran(probe.trace) if not ({name, name.partition(".")[0]} & fine)]
        ran.sort(key=lambda name: self._distance(name, probe.label, own))
        for name in ran:
            schema = Schema(name, source.scope(name, probe.trace), probe.trace.lines, self._next)
            key = f"{name}#{self._next}"
            try:
                self._schemas[key] = compiled(name, schema.definition(source.definitions[name]), source.module)
            except (SyntaxError, ValueError, RecursionError, NameError):
                continue
            self._next += len(schema.changes)
            say = source.vocabulary(name)
            told = [(change, said) for change in schema.changes if (said := clause(change, say)) is not None]
            yield key, sorted(told, key=lambda pair: pair[1].rank)

    @staticmethod
    def _distance(name: str, label: str, own: frozenset[str]) -> int:
        if name in (label, f"{label}.__init__"):
            return 0
        if name in own or name.partition(".")[0] in own:
            return 1
        return 2 if name.rpartition(".")[2].startswith("_") else 3

    def _confirmed(
        self,
        found: list[_Found],
        probe: _Probe,
        failing: Sequence[Failing],
        row: str,
        own: frozenset[str],
        ends_at: float,
    ) -> list[Slip]:
        """Return one slip for each thing that is said, with the failing tests that it answers for.

        One that leaves a test of the same functions unexplained is a coincidence, unless it explains most of them.
        """
        asked = probe.failing.called
        peers = [each for each in failing if each is not probe.failing and asked & each.called]
        slips: dict[str, Slip] = {}
        for each in found:
            tests = {probe.failing.test}
            for other in peers:
                if self.clock() < ends_at and self._answers(each, other.names, other.records, False, 10 * LEAST):
                    tests.add(other.test)
            if 2 * len(tests) <= len(peers) + 1:
                continue
            diagnosis = self._diagnosis(each, probe.label, row)
            distance = max(self._distance(change.function, probe.label, own) for change in each.changes)
            slip = Slip(diagnosis, (-len(tests), *each.rank, distance), frozenset(tests))
            before = slips.get(diagnosis.mistake)
            if before is None or slip.rank < before.rank:
                slips[diagnosis.mistake] = slip
                self._slips[diagnosis.mistake] = each
        return sorted(slips.values(), key=lambda slip: slip.rank)

    def _answers(
        self, found: _Found, names: dict[str, Name], records: list[Record], exact: bool, seconds: float
    ) -> bool:
        try:
            with self._switched(found), bounded(seconds):
                return self._replay(found.source, names, exact).agrees(records)
        except (TooLong, MemoryError, RecursionError):
            return False

    def _diagnosis(self, found: _Found, label: str, row: str) -> Diagnosis:
        """Return what is told of changes, by the name of the public function that they are in."""
        inside = found.changes[0].function
        known = self.sources[found.source].public
        public = inside in known or inside.partition(".")[0] in known
        function = inside.removesuffix(".__init__") if public and "._" not in inside.replace(".__", "") else label
        criterion = self.stage.criterion_of(function)
        said = listed(dict.fromkeys(each.said for each in found.clauses))
        fixes = " ".join(dict.fromkeys(each.fix for each in found.clauses))
        text = f"{function} answers as if {said}."
        return Diagnosis(f"slip: {text}", criterion.id if criterion and public else row, text, fixes)


def listed(clauses: Iterable[str]) -> str:
    """Return clauses as one: a, and as if b."""
    return ", and as if ".join(clauses)


def together(singles: Sequence[_Found]) -> Iterator[_Found]:
    """Yield changes of one function that are made at several places at once, then pairs of likely ones."""
    groups: dict[object, list[_Found]] = {}
    for each in singles:
        groups.setdefault(each.changes[0].manner, []).append(each)
    pairs: list[tuple[_Found, ...]] = []
    for group in groups.values():
        one_each = list({id(each.changes[0].old): each for each in reversed(group)}.values())[::-1]
        if len(one_each) > 2:
            pairs.append(tuple(one_each))
        pairs += itertools.combinations(one_each[:MOST_ALIKE], 2)
    likely = [each for each in singles if each.rank[1] == 0][:MOST_LIKELY]
    pairs += itertools.combinations(likely, 2)
    for several in pairs:
        if len({id(each.changes[0].old) for each in several}) == len(several):
            parts, changes, clauses = (
                tuple(part for each in several for part in each.parts),
                tuple(each.changes[0] for each in several),
                tuple(each.clauses[0] for each in several),
            )
            yield _Found(several[0].source, parts, changes, clauses)
