"""Finds the changes of the reference that answer a row's failing tests as the learner's module did."""

from __future__ import annotations

import hashlib
import itertools
import time
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from grader.course.stage import Stage
from grader.diagnosis.replay import Replay
from grader.diagnosis.slips.likeness import likeness, manner_of
from grader.diagnosis.slips.patch import TooLong, bounded, can_bound, compiled, function_named, in_place
from grader.diagnosis.slips.schema import SWITCH, Change, Schema
from grader.diagnosis.slips.source import Source
from grader.diagnosis.slips.state import State
from grader.diagnosis.slips.trace import Trace
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.sentences import clause
from grader.outcome import Diagnosis
from grader.remote.record import Name, Record

PROBES = 4  # tests of one row that are tried one after the other, until one is explained
LOCATED = "located"  # the id of what says where a slip is, and not which
OF_ONE_FUNCTION = 2  # of them that ask the same function
LONGEST = 20  # times as long as the reference a change may run
LEAST = 0.02  # seconds that any change may run
CONFIRMING = 0.1  # seconds in which what was found is held against a row's other tests
MOST_ALIKE_SOURCES = 2  # right modules that are changed beside the reference, those most like the learner's
SOURCE_SHARE = 0.45  # of the time that is left, for changes of one right module
MOST_OF_THEM = 0.7  # of the tests of the same functions that a less likely change has to explain
MOST_FOUND = 24  # changes that are held against the other tests of a row
MOST_ALIKE = 8  # changes of one manner that are tried two at a time
MOST_LIKELY = 24  # likely changes of one function that are tried two at a time


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

    place: int  # of the source that this is about
    failing: Failing
    records: list[Record]
    seconds: float
    exact: bool
    trace: Trace  # of the last request
    before: Trace  # of those that come before it
    start: Replay  # that has repeated those
    state: State  # of the objects that it made

    @property
    def label(self) -> str:
        return self.records[-1].label


Part = tuple[str, int]  # the function that holds a change, and its number


@dataclass(frozen=True, eq=False)
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
    _made: dict[tuple[int, str], tuple[str, list[tuple[Change, Clause]]]] = field(default_factory=dict)
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
        tried: Counter[str] = Counter()
        for each in sorted(failing, key=_size):
            if tried.total() == PROBES or self.clock() > ends_at:
                break
            probe = self._probe(0, each)
            if probe is None or tried[probe.label] == OF_ONE_FUNCTION:
                continue
            tried[probe.label] += 1
            for place in self._order(probe.label):
                if self.clock() > ends_at:
                    return []
                other = probe if place == 0 else self._probe(place, probe.failing)
                until = self.clock() + SOURCE_SHARE * (ends_at - self.clock())
                found = self._agreeing(place, other, fine, own, until) if other else []
                slips = self._confirmed(found, probe, failing, row, own, fine)
                if slips:
                    return slips
        return []

    def everywhere(self, slips: Sequence[Slip], failing: Sequence[Failing]) -> list[Slip]:
        """Return each slip once, with all failing tests that it answers for, whichever row it was found in."""
        ends_at = self.clock() + CONFIRMING
        best: dict[str, Slip] = {}
        for slip in sorted(slips, key=lambda each: each.rank):
            best.setdefault(slip.diagnosis.mistake, slip)
        result = []
        for slip in list(best.values())[:MOST_FOUND]:
            known = set().union(*(each.tests for each in slips if each.diagnosis.mistake == slip.diagnosis.mistake))
            found = self._slips[slip.diagnosis.mistake]
            for each in failing if len(best) > 1 else ():
                is_asked = each.test not in known and self.clock() < ends_at
                if is_asked and self._answers(found, each.names, each.records, False, 10 * LEAST):
                    known.add(each.test)
            result.append(replace(slip, tests=frozenset(known), rank=(-len(known), *slip.rank[1:])))
        return result

    def located(self, failing: Failing, row: str, fine: frozenset[str]) -> Diagnosis | None:
        """Return where a wrong answer comes from, if all that its function calls is right; None where it is unknown."""
        place = self._replay(0, failing.names, False).first_difference(failing.records)
        label = failing.records[place].label if place is not None else ""
        called = self.sources[0].calls(label)
        if not called or not set(called) <= fine or label in fine or failing.records[place or 0].kind != "call":
            return None
        names = called[0] if len(called) == 1 else f"{', '.join(called[:-1])} and {called[-1]}"
        are = "is" if len(called) == 1 else "are"
        text = f"{names} {are} right when called alone: what differs is in the lines of {label} itself."
        fix = "Look at what each of these calls is given, in which order, and at what becomes of its result."
        return Diagnosis(LOCATED, row, text, fix)

    def _order(self, label: str) -> list[int]:
        """Return the sources, those first that go about a function as the learner's module does."""
        learners = manner_of(self._text, label)
        alike = [likeness(learners, manner_of(source.text, label)) for source in self.sources]
        order = sorted(range(len(self.sources)), key=lambda place: -alike[place])
        return list(dict.fromkeys([order[0], 0, *order[1:MOST_ALIKE_SOURCES]]))

    @cached_property
    def _text(self) -> str:
        return self.learner.decode("utf-8", "replace")

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
            before, trace = Trace(self.sources[place].file), Trace(self.sources[place].file)
            start = self._replay(place, failing.names, exact)
            with before.running():
                start.agrees(records[:-1])
            state = State(start.made())
            started = self.clock()
            start.copied().agrees(records[-1:])
            seconds = self.clock() - started
            state.restore()
            with trace.running():
                start.copied().agrees(records[-1:])
            return _Probe(place, failing, records, seconds, exact, trace, before, start, state)
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
                if self._fits(each, probe, longest):
                    found.append(each)
            return found

        if tried(dict.fromkeys(self._slips.values())):
            return found
        lists = []
        for key, changes in self._candidates(place, probe, fine, own, ends_at):
            singles = [_Found(place, ((key, change.number),), (change,), (said,)) for change, said in changes]
            lists.append(singles)
            tried(singles)
            if not found:
                tried(at_several_places(singles))
        for singles in lists if not found else ():
            tried(in_pairs(singles))
        return found

    def _fits(self, found: _Found, probe: _Probe, seconds: float) -> bool:
        """Say whether a probe is answered as recorded; what comes before is repeated only where the change is in it."""
        lines = {change.statement.lineno for change in found.changes}
        if found.source != probe.place or lines & probe.before.lines:
            return self._answers(found, probe.failing.names, probe.records, probe.exact, seconds + 2 * LEAST)
        try:
            with self._switched(found), bounded(seconds):
                probe.state.restore()
                return probe.start.copied().agrees(probe.records[-1:])
        except (TooLong, MemoryError, RecursionError):
            return False

    def _candidates(
        self, place: int, probe: _Probe, fine: frozenset[str], own: frozenset[str], ends_at: float
    ) -> Iterator[tuple[str, list[tuple[Change, Clause]]]]:
        """Yield the functions that ran, the row's own first, each with its changes, the likeliest first."""
        source = self.sources[place]
        ran = source.ran(probe.trace, probe.before)
        ran.sort(key=lambda name: 4 if _is_fine(name, fine) else self._distance(name, probe.label, own))
        for name in ran:
            if self.clock() > ends_at:
                return
            key, told = self._changes(place, name, probe)
            if key:
                lines = probe.trace.lines | probe.before.lines
                yield key, [(change, said) for change, said in told if change.runs(lines)]

    def _changes(self, place: int, name: str, probe: _Probe) -> tuple[str, list[tuple[Change, Clause]]]:
        """Return a function's changes, the likeliest first, and the key of the code that holds them; made once."""
        if (place, name) not in self._made:
            source = self.sources[place]
            schema = Schema(name, source.scope(name, probe.trace, probe.before), self._next)
            key = f"{name}#{self._next}"
            self._made[place, name] = "", []
            with suppress(SyntaxError, ValueError, RecursionError, NameError):
                self._schemas[key] = compiled(name, schema.definition(source.definitions[name]), source.module)
                self._next += len(schema.changes)
                say = source.vocabulary(name)
                told = [(change, said) for change in schema.changes if (said := clause(change, say)) is not None]
                self._made[place, name] = key, sorted(told, key=lambda pair: pair[1].rank)
        return self._made[place, name]

    @staticmethod
    def _distance(name: str, label: str, own: frozenset[str]) -> int:
        owner, _, own_name = name.rpartition(".")
        if name == label or (own_name == "__init__" and owner == label):
            return 0
        if own_name == "__init__":
            return 3
        if own_name.startswith("_") and owner in ("", label.rpartition(".")[0]):
            return 1
        return 2 if name in own or owner in own else 3

    def _confirmed(
        self,
        found: list[_Found],
        probe: _Probe,
        failing: Sequence[Failing],
        row: str,
        own: frozenset[str],
        fine: frozenset[str],
    ) -> list[Slip]:
        """Return one slip for each thing that is said, with the failing tests that it answers for.

        One that leaves a test of the same functions unexplained is a coincidence, unless it explains most of them.
        """
        ends_at = self.clock() + CONFIRMING
        asked = probe.failing.called
        peers = [each for each in failing if each is not probe.failing and asked & each.called]
        slips: dict[str, Slip] = {}
        for each in found:
            tests = {probe.failing.test}
            for other in peers:
                if self.clock() < ends_at and self._answers(each, other.names, other.records, False, 10 * LEAST):
                    tests.add(other.test)
            if not _stands(each, len(tests), len(peers) + 1):
                continue
            diagnosis = self._diagnosis(each, probe.label, row, fine)
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

    def _diagnosis(self, found: _Found, label: str, row: str, fine: frozenset[str]) -> Diagnosis:
        """Return what is told of changes, by the name of the public function that they are in.

        A function that passes is right in the learner's module: what goes wrong is where it was written once more.
        """
        inside = found.changes[0].function
        known = self.sources[found.source].public
        public = (inside in known or inside.partition(".")[0] in known) and not _is_fine(inside, fine)
        function = inside.removesuffix(".__init__") if public and "._" not in inside.replace(".__", "") else label
        criterion = self.stage.criterion_of(function)
        said = listed(dict.fromkeys(each.said for each in found.clauses))
        fixes = " ".join(dict.fromkeys(each.fix for each in found.clauses))
        text = f"{function} answers as if {said}."
        return Diagnosis(
            slip_id(text, found.source),
            criterion.id if criterion and public else row,
            text,
            fixes,
        )


def slip_id(text: str, source: int) -> str:
    """Return the id of what is told of a change of one source, the same in each run: slip-1b4e7a90."""
    return f"slip-{hashlib.sha256(f'{source} {text}'.encode()).hexdigest()[:8]}"


def _is_fine(name: str, fine: frozenset[str]) -> bool:
    return bool({name, name.partition(".")[0]} & fine)


def _stands(found: _Found, explained: int, asked: int) -> bool:
    """Say whether so many of the tests of the same functions are enough: the less likely a slip, the more it needs."""
    if found.rank == (1, 0):
        return 2 * explained > asked
    if found.rank == (1, 1):
        return explained >= MOST_OF_THEM * asked
    return explained == asked and (found.rank[1] < 2 or explained > 1)


def _size(failing: Failing) -> int:
    """Return about how much is to be computed to repeat a test: requests, and the numbers in their arguments."""
    arrays = (value for record in failing.records for value in (*record.args, *record.kwargs.values()))
    return sum(getattr(value, "size", 1) for value in arrays) + 50 * len(failing.records)


def listed(clauses: Iterable[str]) -> str:
    """Return clauses as one: a, and as if b."""
    return ", and as if ".join(clauses)


def at_several_places(singles: Sequence[_Found]) -> Iterator[_Found]:
    """Yield changes of one manner that are made everywhere in a function, or at two places."""
    groups: dict[object, list[_Found]] = {}
    for each in singles:
        groups.setdefault(each.changes[0].manner, []).append(each)
    for group in groups.values():
        one_each = list({id(each.changes[0].old): each for each in reversed(group)}.values())[::-1]
        if len(one_each) > 2:
            yield joined(one_each)
        yield from map(joined, itertools.combinations(one_each[:MOST_ALIKE], 2))


def in_pairs(singles: Sequence[_Found]) -> Iterator[_Found]:
    """Yield the likely changes of a function two at a time."""
    likely = [each for each in singles if each.rank[1] == 0][:MOST_LIKELY]
    for one, other in itertools.combinations(likely, 2):
        if one.changes[0].old is not other.changes[0].old:
            yield joined((one, other))


def joined(several: Sequence[_Found]) -> _Found:
    """Return changes that are made together as one."""
    parts = tuple(part for each in several for part in each.parts)
    changes = tuple(change for each in several for change in each.changes)
    return _Found(several[0].source, parts, changes, tuple(said for each in several for said in each.clauses))
