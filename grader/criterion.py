"""One criterion of a stage's checklist: by the kinds of its tests whether it passes, and what it lacks.

A criterion is about mathematics: it passes by its tests of values, edges, purity, speed and memory. Tests of refusals
and of the dtype are its robustness, which is counted apart and part of passing only where a course or a class says
`passes = "all"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Status = Literal["passed", "failed", "not_started", "blocked", "crashed", "timed_out", "over_limit", "grader_fault"]
# What a test asks of an answer: right values; that bad input is refused; the dtype; cases at the edges; that arguments
# stay as they were; that it is fast enough; that it holds little memory.
Kind = Literal["values", "refusals", "dtype", "edges", "purity", "speed", "memory"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Passes = Literal["mathematics", "all"]  # the tests that make a criterion pass
PASSES: tuple[Passes, ...] = get_args(Passes)
ROBUSTNESS: tuple[Kind, ...] = ("refusals", "dtype")
# Where only these fail, the values are right, and the criterion is nearly done.
BESIDE_VALUES: tuple[Kind, ...] = ("edges", "purity", *ROBUSTNESS)


@dataclass(frozen=True)
class KindCount:
    """How many of a criterion's tests of one kind pass."""

    kind: Kind
    passed: int
    total: int

    @property
    def missing(self) -> int:
        """How many do not pass."""
        return self.total - self.passed


@dataclass(frozen=True)
class Counts:
    """How many tests of a criterion pass, and by kind those that name their kind; a test without one always counts."""

    passed: int
    total: int
    kinds: tuple[KindCount, ...] = ()

    @property
    def lacking(self) -> tuple[KindCount, ...]:
        """The kinds of which some tests do not pass."""
        return tuple(each for each in self.kinds if each.missing)

    @property
    def robustness(self) -> tuple[KindCount, ...]:
        """The kinds that are robustness; none where the criterion has no other tests, and so is about them."""
        found = tuple(each for each in self.kinds if each.kind in ROBUSTNESS)
        return found if sum(each.total for each in found) < self.total else ()

    @property
    def missing_robustness(self) -> int:
        """How many tests of robustness do not pass."""
        return sum(each.missing for each in self.robustness)

    def passes(self, by: Passes) -> bool:
        """Whether the criterion passes: it has tests, and all that count pass."""
        missing = self.total - self.passed
        return self.total > 0 and missing == (self.missing_robustness if by == "mathematics" else 0)

    @property
    def values_pass(self) -> bool:
        """Whether there are tests of values, all of them pass, and each that does not pass names its kind."""
        values = any(each.kind == "values" and not each.missing for each in self.kinds)
        return values and sum(each.missing for each in self.kinds) == self.total - self.passed

    @property
    def values_right(self) -> bool:
        """Whether the values are right and only the edges, purity or robustness are not."""
        return self.values_pass and all(each.kind in BESIDE_VALUES for each in self.lacking)

    def counts(self, kind: str, by: Passes) -> bool:
        """Whether a test of a kind takes part in passing."""
        return by == "all" or not any(each.kind == kind for each in self.robustness)


def redecided(status: Status, counts: Counts, by: Passes) -> Status:
    """Return the status of a criterion whose status was decided earlier, perhaps by other tests.

    What passed by all its tests passes by fewer. A fault of the grader stays one.
    """
    if status == "grader_fault":
        return status
    if status == "passed":
        return "failed" if by == "all" and counts.missing_robustness else status
    return "passed" if counts.passes(by) else status


def counts_of(tests: Iterable[tuple[Kind | Literal[""], bool]], also: Iterable[Kind | Literal[""]] = ()) -> Counts:
    """Return the counts of tests, each a kind and whether it passes.

    also are kinds of which something passes in tests that count as another kind.

    >>> found = counts_of([("values", True), ("values", True), ("refusals", False)])
    >>> found.passes("mathematics"), found.passes("all"), found.missing_robustness
    (True, False, 1)
    """
    known = tuple(tests)
    every = (*known, *((name, True) for name in also))
    of = {kind: [passed for name, passed in every if name == kind] for kind in KINDS}
    kinds = tuple(KindCount(kind, sum(passed), len(passed)) for kind, passed in of.items() if passed)
    return Counts(sum(passed for _, passed in known), len(known), kinds)


def counts_in(criterion: Mapping[str, Any]) -> Counts:
    """Return the counts of a criterion in a verdict's JSON document, of any version."""
    kinds = tuple(KindCount(kind, criterion["kinds"][kind]["tests_passed"], criterion["kinds"][kind]["tests_total"])
                  for kind in KINDS if kind in criterion["kinds"])  # fmt: skip
    return Counts(criterion["tests_passed"], criterion["tests_total"], kinds)
