"""Tries small changes of a learner's own functions until the failing tests of a row are answered rightly."""

from __future__ import annotations

import ast
import hashlib
import time
import types
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from grader.course.stage import Stage
from grader.diagnosis.repairs.bench import Bench, BenchGone
from grader.diagnosis.repairs.expected import expected
from grader.diagnosis.repairs.seen import Seen
from grader.diagnosis.repairs.trial import Trial
from grader.diagnosis.repairs.wording import told
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.replay import Replay
from grader.diagnosis.slips.probes import Failing, size_of
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.telling import Slip, distance, is_fine
from grader.outcome import Diagnosis

REPAIR = "repair-"  # how the id of what is told begins
PROBES = 2  # tests of one row that are tried one after the other
MOST_FOUND = 10  # repairs that are held against a row's other tests
MOST_CONFIRMED = 6  # of those tests
MOST_CONSTANTS = 12


@dataclass(frozen=True, eq=False)
class Repair:
    """Changes of a learner's function that are in force together."""

    changes: tuple[Change, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(change.number for change in self.changes)


@dataclass
class Repairs:
    """Looks for repairs of one module; reference is the right one, and bench runs what a learner wrote."""

    stage: Stage
    learner: bytes
    reference: types.ModuleType
    reference_text: str
    bench: Bench
    clock: Callable[[], float] = time.monotonic
    _written: Written | None = None

    def explain(
        self, row: str, failing: Sequence[Failing], fine: frozenset[str], own: frozenset[str], ends_at: float
    ) -> list[Slip]:
        """Return what repairs a row's failing tests, the likeliest first; the search ends at a time of clock."""
        with suppress(BenchGone):
            for each in sorted(failing, key=size_of)[:PROBES]:
                if self.clock() > ends_at:
                    break
                trial = self._trial(each)
                if trial is None:
                    continue
                found = self._found(trial, fine, own, ends_at)
                slips = self._confirmed(found, each, failing, row, own)
                if slips:
                    return slips
        return []

    def _trial(self, failing: Failing) -> Trial | None:
        """Return a failing test up to its first wrong answer; None where the right module cannot repeat it."""
        for exact in (False, True):
            replay = Replay(self.reference, self.stage, failing.names, exact, self.learner)
            first = replay.first_difference(failing.records)
            if first is None:
                continue
            record = failing.records[first]
            records = [record] if replay.stands_alone(record) else failing.records[: first + 1]
            right = expected(Replay(self.reference, self.stage, failing.names, exact, self.learner), records)
            return None if right is None else Trial(self.stage, self.bench, failing.names, right, exact)
        return None

    def _found(self, trial: Trial, fine: frozenset[str], own: frozenset[str], ends_at: float) -> list[Repair]:
        """Return the changes with which a test is answered rightly: single ones, else one after the other."""
        label = trial.right[-1].label
        written, early = self._noted(trial, label, fine)
        ran = sorted(written.that_ran(), key=lambda name: distance(name, label, own))
        found: list[Repair] = []
        best: tuple[tuple[int, int], Repair | None] = (0, 0), None
        for name in ran:
            if is_fine(name, fine) or self.clock() > ends_at:
                continue
            changes = self._load(written, name)
            best = trial.score(()), None

            def tried(candidates: Iterable[Repair]) -> None:
                nonlocal best
                for each in candidates:
                    if self.clock() > ends_at or len(found) == MOST_FOUND:
                        return
                    late = not any(written.ran_before(change.statement, early) for change in each.changes)
                    score = trial.score(each.numbers, late)
                    if trial.is_right(score):
                        found.append(each)
                    elif score > best[0]:
                        best = score, each

            singles = [Repair((change,)) for change in changes]
            tried(singles)
            if not found and best[1] is not None:
                first = best[1]
                others = (each for each in singles if each.changes[0].old is not first.changes[0].old)
                tried(Repair(first.changes + each.changes) for each in others)
            if found:
                break
        return found

    def _noted(self, trial: Trial, label: str, fine: frozenset[str]) -> tuple[Written, frozenset[int]]:
        """Return the learner's text with what its expressions hold, and the numbers of those before the last request."""
        written = Written(self.stage, self.text, lambda: self.reference)
        reached = [name for name in written.reached(label) if not is_fine(name, fine)]
        self.bench.load(written.taking_notes(reached))
        trial.begin()
        trial.prepare()
        early = Seen.of(self.bench.noted())
        trial.score((), last=True)
        written.seen = Seen.of(self.bench.noted())
        return written, frozenset(early.expressions)

    def _load(self, written: Written, name: str) -> list[Change]:
        """Have the bench hold the changes of a function; return them, the likeliest first."""
        with suppress(SyntaxError, ValueError, RecursionError):
            definition, changes = written.schema(name, 1, self.constants)
            self.bench.load(written.compiled({name: definition}))
            self._written = written
            return sorted((each for each in changes if written.did_run(each.statement)), key=_likelihood)
        return []

    def _confirmed(
        self, found: list[Repair], probe: Failing, failing: Sequence[Failing], row: str, own: frozenset[str]
    ) -> list[Slip]:
        """Return what is said of the repairs that put most of a row's failing tests right."""
        peers = [each for each in sorted(failing, key=size_of) if each is not probe and probe.called & each.called]
        trials = [(each, trial) for each in peers[:MOST_CONFIRMED] if (trial := self._whole(each)) is not None]
        slips: dict[str, Slip] = {}
        for each in found:
            diagnosis = self._diagnosis(each, row)
            if diagnosis is None:
                continue
            tests = {probe.test}
            for other, trial in trials:
                if trial.is_right(trial.score(each.numbers)):
                    tests.add(other.test)
            if 2 * len(tests) <= len(trials) + 1:
                continue
            rank = (-len(tests), len(each.changes), max(map(_likelihood, each.changes)), _grown(each))
            before = slips.get(diagnosis.mistake)
            if before is None or rank < before.rank:
                slips[diagnosis.mistake] = Slip(diagnosis, rank, frozenset(tests))
        return sorted(slips.values(), key=lambda slip: slip.rank)

    def _whole(self, failing: Failing) -> Trial | None:
        right = expected(Replay(self.reference, self.stage, failing.names, False, self.learner), failing.records)
        return None if right is None else Trial(self.stage, self.bench, failing.names, right, False)

    def _diagnosis(self, repair: Repair, row: str) -> Diagnosis | None:
        """Return what is told of a repair; None where one of its changes has no words."""
        function = repair.changes[0].function
        assert self._written is not None
        say = self._written.vocabulary(function)
        clauses = [said for change in repair.changes if (said := told(change, say)) is not None]
        if len(clauses) < len(repair.changes):
            return None
        function = function.removesuffix(".__init__")
        criterion = self.stage.criterion_of(function)
        lines = sorted({change.statement.lineno for change in repair.changes})
        said = ", and as if ".join(dict.fromkeys(each.said for each in clauses))
        at = f"line{'s' if len(lines) > 1 else ''} {' and '.join(map(str, lines))}"
        text = f"{function} answers as if {said} ({at})."
        fixes = " ".join(dict.fromkeys(each.fix for each in clauses))
        name = REPAIR + hashlib.sha256(text.encode()).hexdigest()[:8]
        return Diagnosis(name, criterion.id if criterion else row, text, fixes)

    @cached_property
    def text(self) -> str:
        """The learner's text."""
        return self.learner.decode("utf-8-sig", "replace")

    @cached_property
    def constants(self) -> frozenset[float]:
        """Numbers that stand in the right module, without the commonest."""
        found = {
            each.value
            for each in ast.walk(ast.parse(self.reference_text))
            if isinstance(each, ast.Constant) and type(each.value) in (int, float)
        }
        return frozenset(sorted(each for each in found if each not in (0, 1, -1))[:MOST_CONSTANTS])


def _likelihood(change: Change) -> int:
    """Return how early a change is tried: what stands for something else first, then what is missing."""
    if isinstance(change.new, list):
        return 1
    if isinstance(change.old, ast.Constant):
        return 1
    if isinstance(change.new, ast.BinOp) and change.new.left is change.old:
        return 1 if isinstance(change.new.right, (ast.Name, ast.Attribute, ast.Subscript)) else 2
    if isinstance(change.new, ast.AST) and any(each is change.old for each in ast.walk(change.new)):
        return 2
    return 0


def _grown(repair: Repair) -> int:
    """Return by how much longer the repaired lines are: of two repairs, the shorter is the likelier."""
    def size(node: object) -> int:
        return len(list(ast.walk(node))) if isinstance(node, ast.AST) else 20

    return sum(abs(size(change.new) - size(change.old)) for change in repair.changes)
