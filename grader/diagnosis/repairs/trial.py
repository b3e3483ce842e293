"""One failing test held against changed forms of the learner's module: how much of it each of them answers rightly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from grader.course.stage import Stage
from grader.diagnosis.repairs.batch import error_of, requests_of, stays_there
from grader.diagnosis.repairs.bench import Bench, BenchGone, Module
from grader.diagnosis.repairs.held.scale import factor
from grader.diagnosis.replay import Replay, frozen
from grader.diagnosis.slips.probes import Failing, is_of_bits
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.record import Record
from grader.worker.operations import perform

MOST_STEPWISE = 16  # groups that are tried one after the other before several are tried at once again
NOISE = 1e-9  # two answers that are right may differ by this where 0 is expected


class Remote(Replay):
    """A replay on what stands for a changed module; it counts the values that are right."""

    agreed = 0

    def _agrees(self, record: Record) -> bool:
        """Say whether a request is answered rightly; what became of its arguments is looked at where the answer is."""
        args = tuple(self._local(*pair) for pair in zip(record.args, record.given, strict=True))
        kwargs = {name: self._local(value, value) for name, value in record.kwargs.items()}
        try:
            result, error = perform(record.kind, self.objects[record.target], record.name, args, kwargs), None
        except Exception as raised:  # a changed form may well raise
            result, error = None, raised
        if not self._is_same(record, result, error, record.changed):
            return False
        changed = frozen([args, kwargs]) != frozen([record.args, record.kwargs])
        return record.error is not None or changed == record.changed

    def _same(self, recorded: Any, local: Any) -> bool:
        """Compare, and count each value of a tuple or table that is right by itself."""
        if isinstance(recorded, tuple) and isinstance(local, tuple) and len(recorded) == len(local):
            return min([self._same(a, b) for a, b in zip(recorded, local, strict=True)], default=True)
        if isinstance(recorded, dict) and isinstance(local, dict) and set(recorded) <= set(local):
            return min([self._same(value, local[name]) for name, value in recorded.items()], default=True)
        same = super()._same(recorded, local)
        self.agreed += same
        return same

    def is_told(self, record: Record, result: Any, names: Any, changed: Any) -> bool:
        """Say whether a request was answered rightly, by what came back of it in one exchange with others."""
        error = error_of(names)
        stays = error is None and record.error is None and result is None and record.result is not None
        if stays and stays_there(record.result):
            self.agreed += 1
            return True
        try:
            return self._is_same(record, result, error, bool(changed))
        except Exception:  # values that cannot be compared: the other side chose them
            return False

    def _same_error(self, recorded: BaseException, local: Exception) -> bool:
        """Say whether both raised the same sort of exception."""
        own = next((each for each in type(local).__mro__ if each.__module__ == "builtins"), Exception)
        return isinstance(recorded, own)


@dataclass(eq=False)
class Trial:
    """A failing test, with the answers that are right, on a bench that holds the changed forms."""

    stage: Stage
    bench: Bench
    failing: Failing
    right: Sequence[Record]
    exact: bool
    last: int = -1  # which of the test's requests is the last of these
    others: Sequence[Sequence[Record]] = ()  # other answers that are right, as with free signs
    start: Remote | None = None
    before: Remote | None = None  # that has made all requests but the last
    loads: int = 0  # how many codes the bench had run when the names were looked up
    modules: int = 0  # how many modules when all requests but the last were made

    def begin(self) -> None:
        """Look the module's names up; once for each text that is loaded."""
        self.loads = self.bench.loads
        replay = self._unasked()
        for number, name in self._names.items():
            replay.objects[number] = self.bench.named(name)
        replay._named = frozenset(replay.objects)
        self.start, self.before = replay, None

    def _unasked(self) -> Remote:
        """Return a replay that has looked no name up."""
        replay = Remote(Module(self.bench), self.stage, {}, self.exact)  # type: ignore[arg-type]
        replay.floor = NOISE
        return replay

    @cached_property
    def _names(self) -> dict[int, str]:
        """The names of the module that are asked for, by their numbers."""
        wanted = {record.target for record in self.right} - {0}
        return {entry.number: name for name, entry in self.failing.names.items() if entry.number in wanted}

    @property
    def is_yes_or_no(self) -> bool:
        """Whether what is asked last is answered by True or False alone."""
        return isinstance(self.right[-1].result, (bool, np.bool_))

    @property
    def says_little(self) -> bool:
        """Whether what is asked last is answered alike by many formulas."""
        return self.is_yes_or_no or self.is_of_bits

    @cached_property
    def is_of_bits(self) -> bool:
        """Whether what is asked last is answered by the floats 0 and 1 alone: many formulas give these."""
        return is_of_bits(self.right[-1].result)

    @property
    def factor(self) -> float | None:
        """What the last answer has to be multiplied by to be right, where that is one factor."""
        return factor(self.failing.records[self.last].result, self.right[-1].result)

    def score(self, numbers: Sequence[int], last: bool = False) -> tuple[int, int]:
        """Return how many requests, one after the other, are answered rightly with these changes, and how many values.

        With last, only the last request is made once more, as if those before it had just been made.
        BenchGone where no process is left.
        """
        return self.scores([numbers], last)[0]

    def _step_by_step(self, numbers: Sequence[int], last: bool) -> tuple[int, int]:
        """Return the same, with an exchange for each request."""
        best = (-1, 0)
        for right in (self.right, *self.others):
            replay, records = self._ready(right, last)
            self.bench.choose(numbers)
            with np.errstate(all="ignore"):
                done = self._answered(replay, records)
            best = max(best, (len(right) - len(records) + done, replay.agreed))
            if self.is_right(best):
                break
        return best

    def up_to(self, place: int) -> Trial:
        """Return the same test up to one of its requests."""
        others = [right[: place + 1] for right in self.others]
        return replace(self, right=self.right[: place + 1], last=place, others=others, start=None, before=None)

    def wrong_parts(self) -> list[int | str]:
        """Return which entries of a tuple or table a learner answered wrongly; none where it is all of it, or another.

        What was answered has to be of one form with what is right.
        """
        found = [self._wrong_parts(right[-1].result) for right in (self.right, *self.others)]
        return min(found, key=len)

    def _wrong_parts(self, a: Any) -> list[int | str]:
        b = self.failing.records[self.last].result
        assert self.start is not None
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            pairs: list[tuple[int | str, Any, Any]] = [(n, *each) for n, each in enumerate(zip(a, b, strict=True))]
        elif isinstance(a, dict) and isinstance(b, dict) and set(a) == set(b):
            pairs = [(name, a[name], b[name]) for name in a if isinstance(name, str)]
        else:
            return []
        return [part for part, one, other in pairs if not self.start.copied()._same(one, other)]

    def _ready(self, right: Sequence[Record], last: bool) -> tuple[Remote, Sequence[Record]]:
        """Return a replay to go on with, and the requests that it has still to make: all, or the last."""
        if self.bench.is_gone():
            self.bench.restart()
        if self.start is None or self.loads != self.bench.loads:
            self.begin()
        if last and self.before is None:
            self.prepare()
        replay = self.before if last else self.start
        assert replay is not None
        return replay.copied(), right[-1:] if last else right

    def scores(self, groups: Sequence[Sequence[int]], last: bool = False) -> list[tuple[int, int]]:
        """Return the score of each of several groups of changes."""
        found: list[tuple[int, int]] = []
        while len(found) < len(groups):
            found += self.first_scores(groups[len(found) :], last)
        return found

    def first_scores(self, groups: Sequence[Sequence[int]], last: bool = False) -> list[tuple[int, int]]:
        """Return the scores of one or more of the first groups, in one exchange where the requests allow it."""
        if self.bench.is_gone():
            self.bench.restart()
        if last and (self.before is None or self.modules != self.bench.modules):
            self._ready(self.right, last)
        replay = self.before if last and self.before is not None else self._unasked()
        records = self.right[-1:] if last else self.right
        requests = requests_of(records, {n: each for n, each in replay.objects.items() if n} | self._names)
        told = None if requests is None else self.bench.attempt(groups, requests)
        if not isinstance(told, list) or not 0 < len(told) <= len(groups):
            return [self._step_by_step(each, last) for each in groups[:MOST_STEPWISE]]
        done = len(self.right) - len(records)
        rights = [right[-len(records) :] for right in (self.right, *self.others)]
        with np.errstate(all="ignore"):
            return [max(self._told(replay.copied(), right, each, done) for right in rights) for each in told]

    @staticmethod
    def _told(replay: Remote, records: Sequence[Record], told: Any, done: int) -> tuple[int, int]:
        """Return the score of what came back for one group."""
        for record, each in zip(records, told if isinstance(told, list) else (), strict=False):
            if not (isinstance(each, list) and len(each) == 3 and replay.is_told(record, *each)):
                break
            done += 1
        return done, replay.agreed

    def prepare(self) -> None:
        """Make all requests but the last, with no change in force."""
        assert self.start is not None
        self.before, self.modules = self.start.copied(), self.bench.modules
        self.bench.choose(())
        with np.errstate(all="ignore"):
            self._answered(self.before, self.right[:-1])

    @staticmethod
    def _answered(replay: Remote, records: Sequence[Record]) -> int:
        """Return how many requests are answered rightly before the first that is not."""
        for done, record in enumerate(records):
            try:
                same = replay._agrees(record)
            except (BenchGone, WorkerFailed):
                raise
            except Exception:  # values that cannot be compared: the other side chose them
                same = False
            if not same:
                return done
        return len(records)

    def is_right(self, score: tuple[int, int]) -> bool:
        """Say whether a score is that of a module that answers everything rightly."""
        return score[0] == len(self.right)
