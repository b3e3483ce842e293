"""Tries small changes of a learner's own functions until the failing tests of a row are answered rightly."""

from __future__ import annotations

import ast
import hashlib
import time
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
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
SECONDS = 0.45  # of processor time, here and on the bench
ROW_SHARE = 0.7  # of what is left, for one row
LEAST = 0.03  # seconds, below which nothing is begun
PROBES = 2  # tests of one row that are tried one after the other
MOST_FOUND = 10  # repairs that are held against a row's other tests
MOST_CONFIRMED = 6  # of those tests
MOST_CONSTANTS = 12
ROUNDS = 3  # of one change more
MOST_TOGETHER = 8
MOST_GROUPS = 40  # changes of one manner that are tried together


@dataclass(frozen=True, eq=False)
class Repair:
    """Changes of a learner's text that are in force together."""

    changes: tuple[Change, ...]
    written: Written
    before: tuple[Change, ...] = ()  # that are in the text already

    @property
    def all(self) -> tuple[Change, ...]:
        return self.before + self.changes

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(change.number for change in self.changes)

    @property
    def likelihood(self) -> int:
        return max(map(likelihood, self.all))

    def after(self, other: Repair | None) -> Repair:
        """Return this one with what another has put right before."""
        return self if other is None else replace(self, before=other.before + other.changes)


@dataclass
class _Tried:
    """What came of the changes that were tried on one test: those that put it right, and the best that does not."""

    trial: Trial
    most: tuple[int, int]  # the score of the best
    ends_at: float
    clock: Callable[[], float]
    found: list[Repair] = field(default_factory=list)
    best: Repair | None = None

    def all(self, candidates: Iterable[Repair]) -> None:
        """Try changes, one after the other, while there is time."""
        for each in candidates:
            if self.clock() > self.ends_at or len(self.found) == MOST_FOUND:
                return
            late = not any(each.written.ran_before(change.statement) for change in each.changes)
            score = self.trial.score(each.numbers, late)
            if self.trial.is_right(score):
                self.found.append(each)
            elif score > self.most:
                self.most, self.best = score, each


@dataclass
class Repairs:
    """Looks for repairs of one module; reference is the right one, and bench runs what a learner wrote."""

    stage: Stage
    learner: bytes
    reference: types.ModuleType
    reference_text: str
    bench: Bench
    left: float = SECONDS  # of processor time, here and on the bench, for all rows
    _known: list[Repair] = field(default_factory=list)
    _held: Written | None = None
    _next: int = 1

    def explain(
        self,
        row: str,
        failing: Sequence[Failing],
        passed: Sequence[Failing],
        fine: frozenset[str],
        own: frozenset[str],
    ) -> list[Slip]:
        """Return what repairs a row's failing tests, the likeliest first; one row may take a part of the time.

        passed are tests of the row that passed: what is right there stays right. fine are the functions of which all
        rows pass, own those of this row.
        """
        began = self.clock()
        ends_at = began + ROW_SHARE * self.left
        try:
            return self._explained(row, failing, passed, fine, own, ends_at)
        except BenchGone:
            return []
        finally:
            self.left = max(0.0, self.left - (self.clock() - began))

    def clock(self) -> float:
        """Return the processor time that was taken, on the bench too."""
        return time.process_time() + self.bench.seconds

    def _explained(
        self,
        row: str,
        failing: Sequence[Failing],
        passed: Sequence[Failing],
        fine: frozenset[str],
        own: frozenset[str],
        ends_at: float,
    ) -> list[Slip]:
        left = sorted(failing, key=size_of)
        partial: Repair | None = None
        for _ in range(ROUNDS):
            trial = next((made for each in left if (made := self._trial(each)) and made.right[-1].error is None), None)
            if trial is None or ends_at - self.clock() < LEAST:
                break
            found, best = self._found(trial, partial, fine, own, ends_at)
            found = [each.after(partial) for each in found]
            slips = self._confirmed(found, trial.failing, failing, passed, row)
            whole = [slip for slip, _ in slips if 2 * len(slip.tests) > len(failing)]
            if whole:
                self._known += [repair for _, repair in slips[:1] if repair not in self._known]
                return whole
            if slips:
                partial = slips[0][1]
                left = [each for each in left if each.test not in slips[0][0].tests]
            elif best is not None:
                partial = best.after(partial)
            else:
                left = [each for each in left if each.test != trial.failing.test]
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
            return None if right is None else Trial(self.stage, self.bench, failing, right, exact)
        return None

    def _found(
        self, trial: Trial, partial: Repair | None, fine: frozenset[str], own: frozenset[str], ends_at: float
    ) -> tuple[list[Repair], Repair | None]:
        """Return the changes with which a test is answered rightly, and the one with which more of it is.

        Where a part of what is wrong is known, it is put right before.
        """
        for each in self._known if partial is None else ():
            self._hold(each.written)
            if trial.is_right(trial.score(each.numbers)):
                return [each], None
        label = trial.right[-1].label
        written = self._noted(trial, label, fine, partial)
        names = [name for name in written.that_ran() if not is_fine(name, fine)]
        names.sort(key=lambda name: (refuses(written.definitions[name]), distance(name, label, own)))
        self._hold(written)
        tried = _Tried(trial, trial.score(()), ends_at, self.clock)
        late = [name for name in names if written.is_late(name)]
        early = [name for name in names if name not in late]
        for functions, level in ((late, 0), (late, 1), (early, 0), (early, 1), (late, 2), (early, 2)):
            for name in functions:
                if self.clock() > ends_at:
                    return [], tried.best
                singles = self._made(written, name, level)
                tried.all(singles)
                if not tried.found and level == 0:
                    tried.all(together(singles))
                if tried.found:
                    return tried.found, None
        return [], tried.best

    def _noted(self, trial: Trial, label: str, fine: frozenset[str], partial: Repair | None) -> Written:
        """Return the learner's text with what its expressions hold while a test is repeated."""
        written = Written(self.stage, self.text, lambda: self.reference)
        if partial is not None:
            written = partial.written.applied(partial.changes)
        reached = [name for name in written.reached(label) if not is_fine(name, fine)]
        self._held = None
        self.bench.load(written.taking_notes(reached))
        trial.begin()
        trial.prepare()
        written.early = frozenset(Seen.of(self.bench.noted()).expressions)
        trial.score((), last=True)
        written.seen = Seen.of(self.bench.noted())
        return written

    def _made(self, written: Written, name: str, level: int) -> list[Repair]:
        """Have the bench hold a function's changes of one level; return them, the likeliest first."""
        try:
            definition, changes = written.schema(name, level, self._next, self.constants)
            code = written.code_of(name, definition)
        except (SyntaxError, ValueError, RecursionError):
            return []
        self._next += len(changes)
        written.codes.append(code)
        self.bench.extend(code)
        ran = sorted((each for each in changes if written.did_run(each.statement)), key=likelihood)
        return [Repair((change,), written) for change in ran]

    def _hold(self, written: Written) -> None:
        """Have the bench hold a text's changes."""
        if self._held is not written:
            self._held = None
            self.bench.load(written.whole())
            for code in written.codes:
                self.bench.extend(code)
            self._held = written

    def _confirmed(
        self, found: list[Repair], probe: Failing, failing: Sequence[Failing], passed: Sequence[Failing], row: str
    ) -> list[tuple[Slip, Repair]]:
        """Return what is said of the repairs that put most of a row's failing tests right, and break none that passed."""
        peers = [each for each in sorted(failing, key=size_of) if each is not probe and probe.called & each.called]
        trials = [(each, trial) for each in peers if (trial := self._whole(each)) is not None]
        others = [each for each in sorted(passed, key=size_of) if probe.called & each.called][:MOST_CONFIRMED]
        kept = [trial for each in others if (trial := self._whole(each)) is not None and trial.is_right(trial.score(()))]
        slips: dict[str, tuple[Slip, Repair]] = {}
        for each in found:
            self._hold(each.written)
            diagnosis = self._diagnosis(each, row)
            if diagnosis is None:
                continue
            tests = {probe.test}
            for other, trial in trials:
                if trial.is_right(trial.score(each.numbers)):
                    tests.add(other.test)
            if not all(trial.is_right(trial.score(each.numbers)) for trial in kept):
                continue
            rank = (-len(tests), len(each.all), each.likelihood, _grown(each))
            before = slips.get(diagnosis.mistake)
            if before is None or rank < before[0].rank:
                slips[diagnosis.mistake] = Slip(diagnosis, rank, frozenset(tests)), each
        order = sorted(slips.values(), key=lambda pair: pair[0].rank)
        if order and len(order[0][0].tests) == 1:
            best = [repair for slip, repair in order if slip.rank[:3] == order[0][0].rank[:3]]
            if len({change.statement.lineno for each in best for change in each.changes}) > 1:
                return []  # one test cannot tell which of several places it is
        return order

    def _whole(self, failing: Failing) -> Trial | None:
        right = expected(Replay(self.reference, self.stage, failing.names, False, self.learner), failing.records)
        return None if right is None else Trial(self.stage, self.bench, failing, right, False)

    def _diagnosis(self, repair: Repair, row: str) -> Diagnosis | None:
        """Return what is told of a repair; None where one of its changes has no words."""
        function = repair.all[0].function
        clauses = []
        for change in repair.all:
            said = told(change, repair.written.vocabulary(change.function))
            if said is None:
                return None
            clauses.append(said)
        function = function.removesuffix(".__init__")
        criterion = self.stage.criterion_of(function)
        lines = sorted({change.statement.lineno for change in repair.all})
        words = ", and as if ".join(dict.fromkeys(each.said for each in clauses))
        at = f"line{'s' if len(lines) > 1 else ''} {' and '.join(map(str, lines))}"
        text = f"{function} answers as if {words} ({at})."
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


def refuses(node: ast.FunctionDef) -> bool:
    """Say whether a function does nothing but refuse."""
    return all(isinstance(each, (ast.If, ast.Raise, ast.Return, ast.Expr, ast.Assign)) for each in node.body) and any(
        isinstance(each, ast.If) and isinstance(each.body[0], ast.Raise) for each in node.body
    ) and len(node.body) < 5


def likelihood(change: Change) -> int:
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


def together(singles: Sequence[Repair]) -> Iterator[Repair]:
    """Yield changes of one manner that are made at every place where they fit, as a name that is confused throughout."""
    groups: dict[object, dict[int, Repair]] = {}
    for each in singles:
        change = each.changes[0]
        if isinstance(change.new, ast.AST) and isinstance(change.old, ast.AST):
            groups.setdefault(_edit(change.old, change.new) or change.manner, {}).setdefault(id(change.old), each)
    several = [list(group.values()) for group in groups.values() if len(group) > 1]
    for group in [each for each in several if len(each) < MOST_TOGETHER][:MOST_GROUPS]:
        yield Repair(tuple(each.changes[0] for each in group), group[0].written)
    for group in several[:MOST_GROUPS]:
        of_one: dict[int, list[Repair]] = {}
        for each in group:
            of_one.setdefault(id(each.changes[0].statement), []).append(each)
        for own in of_one.values():
            if 1 < len(own) < len(group):
                yield Repair(tuple(each.changes[0] for each in own), own[0].written)


def _edit(old: ast.AST, new: ast.AST) -> tuple[str, str] | None:
    """Return what of one name was replaced by what, as 1 by 2 where gamma1 became gamma2; None for other changes."""
    one, other = (_name(each) for each in (old, new))
    if not one or not other:
        return None
    start = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return one, other


def _name(node: ast.AST) -> str:
    key = getattr(node, "slice", None)
    found = getattr(node, "id", getattr(node, "attr", getattr(key or node, "value", "")))
    return found if isinstance(found, str) else ""


def _grown(repair: Repair) -> int:
    """Return by how much longer the repaired lines are: of two repairs, the shorter is the likelier."""
    def size(node: object) -> int:
        return len(list(ast.walk(node))) if isinstance(node, ast.AST) else 20

    return sum(abs(size(change.new) - size(change.old)) for change in repair.all)
