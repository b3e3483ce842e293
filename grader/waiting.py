"""What a row's failures rest on: which of its tests failed by themselves, and which only wait for another function."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from grader.course.stage import Criterion, Stage
from grader.outcome import Outcome

Reaches = Mapping[str, frozenset[str]]  # for a function those that it leads to in the module's text


@dataclass(frozen=True)
class Before:
    """What comes before a row: the rows that it needs and that do not stand, the nearest first."""

    criterion: Criterion
    stage: Stage
    missing: tuple[str, ...]
    reaches: Reaches

    def rests_on(self, outcome: Outcome) -> list[str]:
        """Return the functions of missing rows that a failed test called, or that what it called leads to.

        A test that rests on none has failed by itself. Of a class that was called only its methods' calls count: that
        an object was made does not say which of its methods took part.
        """
        own, known = self.criterion.functions, _functions(self.stage)
        found: dict[str, str] = {}  # the name that is told, by the one that it was found as
        for label in outcome.called or own:
            key = label if label in known else label.partition(".")[0]
            if label not in own:
                found[label] = key
            if "." in label or not key[:1].isupper():
                found |= {name: name for name in known if name in self.reaches.get(key, ()) and name not in own}
        rows = {name: self._rows(name, known) for name in found}
        used = sorted((name for name in found if rows[name]), key=lambda name: self.missing.index(rows[name][0]))
        return list(dict.fromkeys(found[name] for name in used))

    def waits_for(self, failed: Iterable[Outcome], rest: Iterable[list[str]]) -> tuple[str, ...]:
        """Return what a row waits for: functions called in vain, else what its tests rest on, else its needs."""
        own = self.criterion.functions
        called = [outcome.waits_on for outcome in failed if outcome.waits_on and outcome.waits_on not in own]
        firsts = [name for each in self.missing for name in self.stage.criterion(each).functions[:1]]
        return tuple(dict.fromkeys(called or [name for names in rest for name in names] or firsts))

    def _rows(self, name: str, known: Collection[str]) -> list[str]:
        """Return the missing rows that name a function, or the class of a method that no row names."""
        wanted = name if name in known else name.partition(".")[0]
        return [each for each in self.missing if wanted in self.stage.criterion(each).functions]


def before(criterion: Criterion, stage: Stage, standing: Collection[str], reaches: Reaches) -> Before:
    """Return what comes before a row; standing holds the rows that nothing has to wait for."""
    missing: list[str] = []
    queue = list(criterion.needs)
    while queue:
        need = queue.pop(0)
        if need not in standing and need not in missing:
            missing.append(need)
            queue += stage.criterion(need).needs
    return Before(criterion, stage, tuple(missing), reaches)


def held_up_by(row: str, others: list[str], stage: Stage, reaches: Reaches) -> tuple[str, ...]:
    """Return the functions of other rows that those of a row lead to, and that do not lead back, the deepest rows'."""

    def led_to(one: str, other: str) -> list[str]:
        into = stage.criterion(other).functions
        from_one = stage.criterion(one).functions
        return [name for name in into if name not in from_one and any(name in reaches.get(f, ()) for f in from_one)]

    below = [other for other in others if led_to(row, other) and not led_to(other, row)]
    first = [each for each in below if not any(led_to(each, other) for other in below if other != each)]
    return tuple(dict.fromkeys(led_to(row, other)[0] for other in first or below))


def _functions(stage: Stage) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in stage.criteria for name in row.functions))
