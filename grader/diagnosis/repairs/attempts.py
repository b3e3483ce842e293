"""What is tried on one failing test: changes of the lines that its wrong answer can come from, the nearest first."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

from grader.diagnosis.repairs.asked import is_drawn
from grader.diagnosis.repairs.bench import Bench
from grader.diagnosis.repairs.forms import Forms
from grader.diagnosis.repairs.held.scale import scales
from grader.diagnosis.repairs.kinds.draws import DRAWING, calls
from grader.diagnosis.repairs.kinds.missing import ALIGNED, LIKEWISE, OTHERS, QUICK, TERMS
from grader.diagnosis.repairs.relevance import FAR, SUSPECT
from grader.diagnosis.repairs.repair import Repair, crossed, is_likely, is_of_names, refuses, together
from grader.diagnosis.repairs.trial import Trial
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.slips.probes import Failing
from grader.diagnosis.slips.telling import distance, is_fine
from grader.diagnosis.trees import walk

AT_ONCE = 64  # changes that are handed over in one exchange; it ends after some of them where they take long
MOST_FOUND = 10  # repairs that are held against a row's other tests
MOST_CROSSED = 40  # pairs of names that are confused in two lines
MOST_RUNS, MOST_OF_DRAWS = 120, 8  # of a test, with one change after the other; where arrays are given as well
MOST_PASSED = 3  # changes with which it passes
FIRST = range(SUSPECT, SUSPECT + 1)  # how far statements are from what is wrong
NEAR, DEEP, NO_PART, EVERY = range(3), range(3, FAR), range(FAR, FAR + 1), range(SUSPECT, FAR)
REACHED = range(FAR)  # whatever an answer can come from
LOOPS = (ast.For, ast.While)
NEAREST = 1  # functions whose lines have quick changes before those of suspect lines have slow ones
LEVELS = (0, ALIGNED)  # of changes where a value first goes wrong: all of one function's, then the next
OF_FAILING = (
    (NEAR, 0),
    (NEAR, ALIGNED),
    (FIRST, TERMS),
    (NEAR, TERMS),
)  # before those of functions of which all rows pass
ORDER = (
    *(
        (NEAR, 0),
        (FIRST, 1),
        (FIRST, TERMS),
        (FIRST, OTHERS),
        (NEAR, ALIGNED),
        (DEEP, ALIGNED),
        (DEEP, 0),
        (NEAR, 1),
        (DEEP, 1),
    ),
    *((NEAR, TERMS), (FIRST, 2), (DEEP, TERMS), (NEAR, 2), (DEEP, 2)),
    *((NO_PART, level) for level in (0, 1, TERMS, 2)),
)


@dataclass(frozen=True)
class Row:
    """What a row's search is about: its id, its tests that fail and those that passed, and whose lines are asked.

    fine are the functions that are left alone, own those of this row. refused are the tests that passed and in which
    something had to be refused; the search ends at a time of the clock. Of what is asked, passing are the functions of
    which all rows pass: they come after the others.
    """

    id: str
    failing: Sequence[Failing]
    passed: Sequence[Failing]
    fine: frozenset[str]
    own: frozenset[str]
    refused: Sequence[Failing] = ()
    ends_at: float = 0.0
    passing: frozenset[str] = frozenset()


@dataclass
class Tried:
    """What came of the changes that were tried on one test: those that put it right, and the best that does not."""

    trial: Trial
    most: tuple[int, int]  # the score of the best
    ends_at: float
    clock: Callable[[], float]
    found: list[Repair] = field(default_factory=list)
    best: Repair | None = None

    def all(self, candidates: Iterable[Repair]) -> None:
        """Try changes, some at a time, while there is time."""
        for late, group in groupby(candidates, key=_is_late):
            waiting = list(group)
            while waiting:
                if self.clock() > self.ends_at or len(self.found) >= MOST_FOUND:
                    return
                scores = self.trial.first_scores([each.numbers for each in waiting[:AT_ONCE]], late)
                for each, score in zip(waiting, scores, strict=False):
                    if self.trial.is_right(score):
                        self.found.append(each)
                    elif score > self.most:
                        self.most, self.best = score, each
                waiting = waiting[len(scores) :]


def _is_late(repair: Repair) -> bool:
    """Say whether what is changed ran in the last request of a test alone."""
    return not any(repair.written.ran_before(change.statement) for change in repair.changes)


@dataclass
class Candidates:
    """The changes of a learner's functions, some after the other, as a bench has them."""

    forms: Forms
    row: Row
    clock: Callable[[], float]

    def of(
        self, written: Written, trial: Trial, depths: dict[int, int], is_drawn_in: bool = False
    ) -> Iterator[tuple[int, list[Repair]]]:
        """Yield changes with their level, until the time is over: those near to what is wrong first.

        Where an answer is wrong by what is drawn, the functions that draw come before the others.
        """
        label = trial.right[-1].label
        names = [name for name in written.that_ran() if not is_fine(name, self.row.fine)]
        names.sort(key=lambda name: _place(name, written, label, self.row.own))
        late = [name for name in names if written.is_late(name)]
        names = [*late, *(name for name in names if name not in late)]
        yield from self._scaled(written, names, depths)
        asked = written.leading(self.row.own, self.row.passing)
        failing = [name for name in names if name in asked]
        drawing = [name for name in names if is_drawn_in and calls(written.definitions[name], DRAWING)]
        tried = [(ring, level, name) for name in drawing for level in (QUICK, 1, 0) for ring in (REACHED, NO_PART)]
        tried += [(FIRST, QUICK, name) for name in (*failing, *names)]
        tried += [(ring, LIKEWISE, name) for name in (*failing, *names) for ring in (FIRST, REACHED)]
        tried += [(REACHED, QUICK, name) for name in names[:NEAREST]]
        if len(failing) < len(names):
            tried += _of_suspects(written, failing, depths, self.row.own, label)
        tried += _of_suspects(written, names, depths, self.row.own, label)
        for some, order in ((failing if len(failing) < len(names) else [], OF_FAILING), (names, ORDER)):
            tried += [(REACHED, QUICK, name) for name in some]
            tried += [(FIRST, level, name) for name in some for level in LEVELS]
            tried += [(ring, level, name) for ring, level in order for name in some]
        tried += [(NO_PART, QUICK, name) for name in names]
        for ring, level, name in dict.fromkeys(tried):
            if self.clock() > self.row.ends_at:
                return
            if singles := self.forms.made(written, name, level, depths, ring):
                yield level, singles

    def _scaled(self, written: Written, names: list[str], depths: dict[int, int]) -> Iterator[tuple[int, list[Repair]]]:
        """Yield the changes that alter a value by the factor by which an answer is wrong, where it is one factor."""
        for level, name in [(level, name) for level in (0, TERMS) for name in names]:
            if written.factor is None or self.clock() > self.row.ends_at:
                return
            singles = self.forms.made(written, name, level, depths, FIRST)
            some = [each for each in singles if scales(each.changes[0], written.factor, written.value_of)]
            if some:
                yield level, some

    def right(self, written: Written, tried: Tried, depths: dict[int, int]) -> Iterator[list[Repair]]:
        """Yield those that put a test right, as soon as there are some; what comes closest is left in tried."""
        is_first = True
        for level, singles in self.of(written, tried.trial, depths):
            if self.clock() > tried.ends_at:
                return
            tried.all([*singles, *together(singles)] if level in (0, QUICK, LIKEWISE) else singles)
            if level == QUICK and is_first and not tried.found:
                is_first = False
                tried.all(islice(crossed(singles), MOST_CROSSED))
            alone = [each for each in tried.found if len(each.changes) == 1]
            tried.found = alone or tried.found
            if tried.found:
                yield tried.found
                tried.found = []

    def of_draws(self, written: Written, trial: Trial, depths: dict[int, int]) -> Iterator[tuple[int, list[Repair]]]:
        """Yield the changes for answers that come of draws, those of lines that draw alone where arrays are given."""
        if is_drawn(trial.right):
            yield from self.of(written, trial, depths, True)
        ran = [] if is_drawn(trial.right) else written.that_ran()
        for name in sorted(ran, key=lambda each: _place(each, written, trial.right[-1].label, self.row.own)):
            definition = written.definitions[name]
            if is_fine(name, self.row.fine) or name.endswith("__init__") or not calls(definition, DRAWING):
                continue
            singles = [
                each for ring in (EVERY, NO_PART) for each in self.forms.made(written, name, QUICK, depths, ring)
            ]
            likely = [each for each in singles if calls(each.changes[0].statement, DRAWING)]
            likely = [each for each in likely if is_likely(each.changes[0])]
            yield QUICK, sorted(likely, key=lambda each: not is_of_names(each.changes[0]))[:MOST_OF_DRAWS]

    def passing(self, tried: Iterable[tuple[int, list[Repair]]], trial: Trial, bench: Bench) -> list[Repair]:
        """Return those with which a test passes as a whole: where numbers are drawn, no answer is the right one."""
        runs = 0
        for level, singles in tried:
            found: list[Repair] = []
            likely = sorted(
                (each for each in singles if is_likely(each.changes[0]) and _has_part_in_draws(each)),
                key=lambda each: not is_of_names(each.changes[0]),  # the likeliest first: every try is a whole test
            )
            for each in likely if level in (0, 1, TERMS, QUICK, ALIGNED) else ():
                runs += 1
                if self.clock() > self.row.ends_at or runs > MOST_RUNS or len(found) == MOST_PASSED:
                    break
                if bench.passes(each.numbers, trial.failing.test):
                    found.append(each)
            if found or self.clock() > self.row.ends_at or runs > MOST_RUNS:
                return found
        return []


def _has_part_in_draws(repair: Repair) -> bool:
    """Say whether a change is of a line that draws, or of one that sets a name which such a line reads."""
    statement = repair.changes[0].statement
    definition = repair.written.definitions[repair.changes[0].function]
    lines = [each for each in walk(definition) if isinstance(each, (ast.Assign, ast.Return, ast.AugAssign))]
    draws = [each for each in lines if calls(each, DRAWING)]
    read = {name.id for each in draws for name in walk(each) if isinstance(name, ast.Name)}
    own = {each.id for each in walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    is_around = any(each is line for line in draws for each in walk(statement))
    return not draws or is_around or not own.isdisjoint(read)


def _is_suspect(definition: ast.FunctionDef, depths: Mapping[int, int]) -> bool:
    """Say whether a value first goes wrong in a function."""
    return any(depths.get(id(each)) == SUSPECT for each in walk(definition))


def _of_suspects(
    written: Written, names: list[str], depths: dict[int, int], own: frozenset[str], label: str
) -> list[tuple[range, int, str]]:
    """Return the changes of suspect lines: first in the nearest functions and in those that call no other suspect."""
    doubted = [name for name in names if _is_suspect(written.definitions[name], depths)]
    places = {name: _place(name, written, label, own) for name in doubted}
    nearest = [name for name in doubted if places[name] == places[doubted[0]]]
    inner = [name for name in doubted if not calls(written.definitions[name], doubted)]
    tried = [(FIRST, level, name) for level in LEVELS for name in (*nearest, *inner)]
    looping = [name for name in nearest if any(isinstance(each, LOOPS) for each in walk(written.definitions[name]))]
    tried += [(REACHED, QUICK, name) for name in looping]  # what goes wrong in a later round may be right in the first
    return [*tried, *((FIRST, TERMS, name) for name in (*inner, *nearest))]


def _place(name: str, written: Written, label: str, own: frozenset[str]) -> tuple[object, ...]:
    """Return when a function is asked: those that only refuse are late, and so is what sets up an object."""
    is_setup = name.endswith(".__init__") and "." in label
    return refuses(written.definitions[name]), distance(name, label, own), is_setup
