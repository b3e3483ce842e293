"""Finds the changes of the reference that answer a row's failing tests as the learner's module did."""

from __future__ import annotations

import ast
import time
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from grader.diagnosis.bounds.bounded import can_bound
from grader.diagnosis.replay import Replay
from grader.diagnosis.slips.found import Found, at_several_places, in_pairs
from grader.diagnosis.slips.likeness import asks, likeness, manner_of, passes
from grader.diagnosis.slips.probes import Failing, Probe, holds_numbers, is_of_bits, is_poor, probe_of, size_of
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.switchboard import LEAST, Switchboard
from grader.diagnosis.slips.telling import Slip, diagnosis_of, distance, is_fine, located, stands
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.phrases import constant_of
from grader.outcome import Diagnosis

PROBES = 4  # tests of one row that are tried one after the other, until one is explained
OF_ONE_FUNCTION = 2  # of them that ask the same function
LONGEST = 20  # times as long as the reference a change may run
CONFIRMING = 0.1  # seconds in which what was found is held against a row's other tests
MOST_ALIKE_SOURCES = 2  # right modules that are changed beside the reference, those most like the learner's
SOURCE_SHARE = 0.45  # of the time that is left, for changes of one right module
FEW = 2  # tests, which cannot tell one of several changes from another
MOST_FOUND = 24  # changes that are held against the other tests of a row


@dataclass
class Search:
    """Tries changes of right modules, the reference first; tolerance and caches are those of the stage."""

    board: Switchboard
    clock: Callable[[], float] = time.process_time
    _slips: dict[str, Found] = field(default_factory=dict)  # by id

    def explain(
        self, row: str, failing: Sequence[Failing], fine: frozenset[str], own: frozenset[str], ends_at: float
    ) -> list[Slip]:
        """Return the changes that explain a row's failing tests, the likeliest first.

        fine are the public functions of which all rows pass, own those of this row; the search ends at a time of clock.
        """
        if not can_bound():
            return []
        tried: Counter[str] = Counter()
        for each in sorted(failing, key=size_of):
            if tried.total() == PROBES or self.clock() > ends_at:
                break
            probe = self._probe(0, each)
            if probe is None or tried[probe.label] == OF_ONE_FUNCTION or not _tells(probe):
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
                if is_asked and self.board.answers(found, each.names, each.records, False, 10 * LEAST):
                    known.add(each.test)
            result.append(replace(slip, tests=frozenset(known), rank=(-len(known), *slip.rank[1:])))
        return result

    def located(self, failing: Failing, row: str, fine: frozenset[str]) -> Diagnosis | None:
        """Return where a wrong answer comes from, if all that its function calls is right; None where it is not."""
        place = self.board.replay(0, failing.names, False).first_difference(failing.records)
        if place is None or failing.records[place].kind != "call":
            return None
        return located(self.board.sources[0], failing.records[place].label, row, fine)

    def _probe(self, place: int, failing: Failing) -> Probe | None:
        def replay_of(exact: bool) -> Replay:
            return self.board.replay(place, failing.names, exact)

        return probe_of(place, self.board.sources[place].file, failing, replay_of, self.clock)

    def _is_refuted(self, found: Found) -> bool:
        """Say whether what is told would not be true of the learner's own lines.

        An argument is left out that they pass, or a case always taken for which they have a condition.
        """
        for change in found.changes:
            old, new = change.old, change.new
            if isinstance(old, ast.Call) and isinstance(new, ast.Call):
                called = str(getattr(old.func, "attr", getattr(old.func, "id", "")))
                left_out = {each.arg for each in old.keywords} - {each.arg for each in new.keywords}
                if any(passes(self._text, change.function, called, each) for each in left_out if each):
                    return True
            if isinstance(old, ast.If) and isinstance(new, ast.If) and constant_of(new.test) is True:
                names = self.board.sources[found.source].vocabulary(change.function).names(old.test)
                if names and asks(self._text, change.function, names.split(" and ")):
                    return True
        return False

    def _order(self, label: str) -> list[int]:
        """Return the sources, those first that go about a function as the learner's module does."""
        learners = manner_of(self._text, label)
        alike = [likeness(learners, manner_of(source.text, label)) for source in self.board.sources]
        order = sorted(range(len(self.board.sources)), key=lambda place: -alike[place])
        return list(dict.fromkeys([order[0], 0, *order[1:MOST_ALIKE_SOURCES]]))

    @cached_property
    def _text(self) -> str:
        return self.board.learner.decode("utf-8", "replace")

    @contextmanager
    def active(self, slip: str) -> Iterator[types.ModuleType]:
        """Have a source answer as a slip that was found, in this block."""
        found = self._slips[slip]
        with self.board.switched(found):
            yield self.board.sources[found.source].module

    def _agreeing(
        self, place: int, probe: Probe, fine: frozenset[str], own: frozenset[str], ends_at: float
    ) -> list[Found]:
        """Return the changes with which a source answers a probe as recorded: earlier ones, single ones, several."""
        longest = max(LEAST, LONGEST * probe.seconds)
        found: list[Found] = []

        def tried(candidates: Iterable[Found]) -> list[Found]:
            for each in candidates:
                if self.clock() > ends_at or len(found) == MOST_FOUND:
                    break
                if self.board.fits(each, probe, longest):
                    found.append(each)
            return found

        if tried(dict.fromkeys(self._slips.values())):
            return found
        lists = []
        for key, changes in self._candidates(place, probe, fine, own, ends_at):
            singles = [Found(place, ((key, change.number),), (change,), (said,)) for change, said in changes]
            lists.append(singles)
            tried(singles)
            if not found:
                tried(at_several_places(singles))
        for singles in lists if not found else ():
            tried(in_pairs(singles))
        return found

    def _candidates(
        self, place: int, probe: Probe, fine: frozenset[str], own: frozenset[str], ends_at: float
    ) -> Iterator[tuple[str, list[tuple[Change, Clause]]]]:
        """Yield the functions that ran, the row's own first, each with its changes, the likeliest first."""
        source = self.board.sources[place]
        ran = source.ran(probe.trace, probe.before)
        ran.sort(key=lambda name: 4 if is_fine(name, fine) else distance(name, probe.label, own))
        for name in ran:
            if self.clock() > ends_at:
                return
            key, told = self.board.changes(place, name, probe)
            if key:
                lines = probe.trace.lines | probe.before.lines
                yield key, [(change, said) for change, said in told if change.runs(lines)]

    def _confirmed(
        self,
        found: list[Found],
        probe: Probe,
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
                if self.clock() < ends_at and self.board.answers(each, other.names, other.records, False, 10 * LEAST):
                    tests.add(other.test)
            if self._is_refuted(each) or not stands(each, len(tests), len(peers) + 1, is_poor(probe.records[-1])):
                continue
            diagnosis = diagnosis_of(each, self.board.sources[each.source], probe.label, row, fine)
            far = max(distance(change.function, probe.label, own) for change in each.changes)
            slip = Slip(diagnosis, (-len(tests), *each.rank, far), frozenset(tests))
            before = slips.get(diagnosis.mistake)
            if before is None or slip.rank < before.rank:
                slips[diagnosis.mistake] = slip
                self._slips[diagnosis.mistake] = each
        order = sorted(slips.values(), key=lambda slip: slip.rank)
        if len(order) > 1 and len(order[0].tests) <= FEW and order[0].rank == order[1].rank:
            return []  # so few tests cannot tell which of several it is
        return order


def _tells(probe: Probe) -> bool:
    """Say whether an answer tells one cause from another: NaN, bits, or a refusal by hand, has too many."""
    record = probe.records[-1]
    is_refused = record.error is not None and probe.start.learner_raised(record.error)
    if is_of_bits(record.result):
        right = probe.start.copied().perform(record)
        return right is not None and not is_of_bits(_as_floats(right[0]))
    return not is_refused and holds_numbers(record)


def _as_floats(value: object) -> object:
    """Return whole numbers as floats: of integers a right module may make integers."""
    return value.astype(float) if isinstance(value, np.ndarray) and value.dtype.kind in "iu" else value
