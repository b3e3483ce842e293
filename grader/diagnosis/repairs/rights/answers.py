"""The right answers to a failing test: where several are right, as with free signs, those of other modules as well."""

from __future__ import annotations

import copy
import time
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from grader.course.stage import Stage
from grader.diagnosis.bounds.bounded import TooLong, bounded
from grader.diagnosis.repairs.bench import Bench
from grader.diagnosis.repairs.trial import Trial
from grader.diagnosis.replay import Replay
from grader.diagnosis.slips.probes import Failing
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Record

SECONDS = 0.05  # of processor time, for what one right module answers
IN_ALL = 0.15  # of processor time, for all of them in all tests
LONG = 60.0  # seconds, where nobody says how much is left
MORE = 1.5  # times as long
LEAST = 0.005  # seconds, below which nothing is asked any more
MOST_MODULES = 4
MOST_RIGHT = 3  # answers to one test
ENOUGH = 2  # tests of the same functions, one after the other, to which all right modules answer alike

Answer = TypeVar("Answer")


@dataclass
class Answers:
    """Makes trials of failing tests, with what the reference and the other right modules answer."""

    stage: Stage
    learner: bytes
    reference: types.ModuleType
    bench: Bench
    others: Callable[[], Sequence[types.ModuleType]] = tuple
    left: float = IN_ALL
    remaining: Callable[[], float] = lambda: LONG  # seconds of processor time, to whoever asks
    _whole: dict[str, Trial | None] = field(default_factory=dict)  # by test
    _first: dict[str, Trial | None] = field(default_factory=dict)  # by test
    _too_short: dict[str, float] = field(default_factory=dict)  # by test: seconds in which nothing was said
    _alike: dict[frozenset[str], int] = field(default_factory=dict)  # tests to which there is one answer, by what asks

    def first_wrong(self, failing: Failing) -> Trial | None:
        """Return a failing test up to its first wrong answer; None where no right module can repeat it in time.

        An answer is wrong if no right module gives it.
        """
        return self._once(self._first, failing, lambda: self._first_wrong(failing))

    def _first_wrong(self, failing: Failing) -> Trial | None:
        for exact in (False, True):
            module = self.reference
            first = self._replay(module, failing, exact).first_difference(failing.records)
            if first is None:
                continue
            for other in self._modules():
                further = self._further(other, failing, exact, first)
                if further is not None:
                    module, first = other, further
            record = failing.records[first]
            alone = self._replay(module, failing, exact).stands_alone(record)
            records = [record] if alone else failing.records[: first + 1]
            return self._trial(failing, records, exact, first, module)
        return None

    def whole(self, failing: Failing) -> Trial | None:
        """Return all that a test asks, with the right answers; None where it cannot be repeated in time."""
        return self._once(
            self._whole, failing, lambda: self._trial(failing, failing.records, False, -1, self.reference)
        )

    def whole_soon(self, failing: Failing) -> Trial | None:
        """Return the same, or None where the reference takes too long for it."""
        if failing.test in self._whole:
            return self._whole[failing.test]
        right = self._answers(self.reference, failing, failing.records, False)
        if right is not None:
            self._whole[failing.test] = self._with_others(failing, right, False, -1, self.reference)
        return self._whole.get(failing.test)

    def _further(self, module: types.ModuleType, failing: Failing, exact: bool, first: int) -> int | None:
        """Return a later place, up to which another right module answers as the learner's does; None where none is."""
        found = self._within(lambda: self._replay(module, failing, exact).first_difference(failing.records))
        return found if found is not None and found > first else None

    def _trial(
        self, failing: Failing, records: Sequence[Record], exact: bool, last: int, module: types.ModuleType
    ) -> Trial | None:
        right = expected(self._replay(module, failing, exact), records)
        return None if right is None else self._with_others(failing, right, exact, last, module)

    def _with_others(
        self, failing: Failing, right: list[Record], exact: bool, last: int, module: types.ModuleType
    ) -> Trial:
        """Return a trial with the answers of one right module, and with those of the others that differ."""
        found: list[list[Record]] = [right]
        asked = frozenset(failing.called)
        is_refused = any(each.error is not None for each in right)  # each module refuses in its own way
        for other in self._modules() if self._alike.get(asked, 0) < ENOUGH and not is_refused else ():
            answers = None if other is module else self._answers(other, failing, right, exact)
            if answers is not None and not any(self._are_alike(answers, each, exact) for each in found):
                found.append(answers)
        if not is_refused:
            self._alike[asked] = 0 if len(found) > 1 else self._alike.get(asked, 0) + 1
        return Trial(self.stage, self.bench, failing, right, exact, last, found[1:MOST_RIGHT])

    def _answers(
        self, module: types.ModuleType, failing: Failing, records: Sequence[Record], exact: bool
    ) -> list[Record] | None:
        """Return what a right module answers; None where it takes too long, or raises: each refuses in its own way."""
        found = self._within(lambda: expected(self._replay(module, failing, exact), records))
        return None if found is None or any(each.error is not None for each in found) else found

    def _once(self, known: dict[str, Trial | None], failing: Failing, ask: Callable[[], Trial | None]) -> Trial | None:
        """Return what is known of a test, or ask; None where that takes longer than whoever asks has time.

        Where there was too little time, more is needed to ask again.
        """
        given = max(LEAST, min(LONG, self.remaining()))
        if failing.test not in known and given > MORE * self._too_short.get(failing.test, 0.0):
            try:
                with bounded(given):
                    known[failing.test] = ask()
            except TooLong:
                self._too_short[failing.test] = given
        return known.get(failing.test)

    def _within(self, ask: Callable[[], Answer]) -> Answer | None:
        """Return what a right module says, or None where that takes too long."""
        if self.left < LEAST:
            return None
        began = time.process_time()
        try:
            with bounded(min(SECONDS, self.left)):
                return ask()
        except TooLong:
            return None
        finally:
            self.left -= time.process_time() - began

    def _are_alike(self, one: Sequence[Record], other: Sequence[Record], exact: bool) -> bool:
        """Say whether two right modules answer alike; what is opaque, and what stays in a module, is not compared."""
        replay = Replay(self.reference, self.stage, {}, exact)
        for a, b in zip(one, other, strict=True):
            is_opaque = a.label in self.stage.opaque and isinstance(a.result, tuple) and isinstance(b.result, tuple)
            pair = (a.result[:-1], b.result[:-1]) if is_opaque else (a.result, b.result)
            if b.error is None and not replay._same(*pair):
                return False
        return True

    def _modules(self) -> Sequence[types.ModuleType]:
        """Return the other right modules, while there is time for them."""
        try:
            return self.others()[:MOST_MODULES] if self.left >= LEAST else ()
        except Exception:  # what a right module does as it is loaded may not stand a bound
            return ()

    def _replay(self, module: types.ModuleType, failing: Failing, exact: bool) -> Replay:
        return Replay(module, self.stage, failing.names, exact, self.learner)


def expected(replay: Replay, records: Sequence[Record]) -> list[Record] | None:
    """Return the records with the answers of the module that a replay is on; None where it cannot repeat them."""
    found = []
    for record in records:
        done = replay.perform(record)
        if done is None:
            return None
        result, error, changed, _ = done
        right = copy.copy(record)
        right.error, right.changed, right.failed = error, changed, False
        right.result = _expected(record, result)
        found.append(right)
    return found


def _expected(record: Record, result: Any) -> Any:
    """Return the right answer, with the learner's own objects where the right ones stay in their module."""
    if isinstance(record.result, RemoteValue):
        return record.result
    several = isinstance(record.result, (list, tuple)) and isinstance(result, (list, tuple))
    if several and any(isinstance(each, RemoteValue) for each in record.result):
        return record.result
    return result
