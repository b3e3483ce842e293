"""Changes that are in force together: one alone, one manner of change at several places, or two likely ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.clause import Clause

MOST_ALIKE = 8  # changes of one manner that are tried two at a time
MOST_LIKELY = 24  # likely changes of one function that are tried two at a time

Part = tuple[str, int]  # the function that holds a change, and its number


@dataclass(frozen=True, eq=False)
class Found:
    """One or several changes of one source that are in force together, and what each of them says."""

    source: int
    parts: tuple[Part, ...]
    changes: tuple[Change, ...]
    clauses: tuple[Clause, ...]

    @property
    def rank(self) -> tuple[int, int]:
        return len(self.parts), max(each.rank for each in self.clauses)


def at_several_places(singles: Sequence[Found]) -> Iterator[Found]:
    """Yield changes of one manner that are made everywhere in a function, or at two places."""
    groups: dict[object, list[Found]] = {}
    for each in singles:
        groups.setdefault(each.changes[0].manner, []).append(each)
    for group in groups.values():
        one_each = list({id(each.changes[0].old): each for each in reversed(group)}.values())[::-1]
        if len(one_each) > 2:
            yield joined(one_each)
        yield from map(joined, itertools.combinations(one_each[:MOST_ALIKE], 2))


def in_pairs(singles: Sequence[Found]) -> Iterator[Found]:
    """Yield the likely changes of a function two at a time."""
    likely = [each for each in singles if each.rank[1] == 0][:MOST_LIKELY]
    for one, other in itertools.combinations(likely, 2):
        if one.changes[0].old is not other.changes[0].old:
            yield joined((one, other))


def joined(several: Sequence[Found]) -> Found:
    """Return changes that are made together as one."""
    parts = tuple(part for each in several for part in each.parts)
    changes = tuple(change for each in several for change in each.changes)
    return Found(several[0].source, parts, changes, tuple(said for each in several for said in each.clauses))
