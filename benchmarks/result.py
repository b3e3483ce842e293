"""The result of a benchmark: medians, ratios of runs that alternated and goals, as text or JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Ratio:
    """How many times as much one measure is as another: the median and the extremes of the pairs, and the goal.

    `at_most` and `at_least` are goals; without one, nothing is wanted of the ratio.
    """

    of: str
    to: str
    median: float
    least: float
    most: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def is_met(self) -> bool:
        """True unless the ratio has a goal and misses it."""
        below = self.at_most is None or self.median <= self.at_most
        return below and (self.at_least is None or self.median >= self.at_least)

    @property
    def goal(self) -> str:
        """The goal in words; empty without one.

        >>> Ratio("check", "pytest", 1.2, 1.1, 1.3, at_most=1.0).goal
        'wanted: at most 1, missed'
        """
        if self.at_most is None and self.at_least is None:
            return ""
        words = f"at most {self.at_most:g}" if self.at_most is not None else f"at least {self.at_least:g}"
        return f"wanted: {words}, {'met' if self.is_met else 'missed'}"


def ratio(
    found: Mapping[str, Sequence[float]], of: str, to: str, at_most: float | None = None, at_least: float | None = None
) -> Ratio:
    """Return the ratio of two measures, run by run.

    >>> ratio({"a": [1.0, 3.0], "b": [2.0, 2.0]}, "a", "b").median
    1.0
    """
    pairs = [one / other if other else float("inf") for one, other in zip(found[of], found[to], strict=True)]
    median, least, most = (round(value, 3) for value in (statistics.median(pairs), min(pairs), max(pairs)))
    return Ratio(of, to, median, least, most, at_most, at_least)


@dataclass(frozen=True)
class Result:
    """What a benchmark measured.

    `values` are medians by name, in `unit`; `facts` is what helps to read them, such as the kinds of submissions.
    """

    benchmark: str
    stage: str
    runs: int
    unit: str
    values: Mapping[str, float]
    ratios: Sequence[Ratio] = ()
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_met(self) -> bool:
        """True where every goal is met."""
        return all(each.is_met for each in self.ratios)

    def as_json(self) -> str:
        """Return the result and the machine as a JSON document."""
        machine = {"cores": os.cpu_count(), "system": platform.platform(), "python": platform.python_version()}
        return json.dumps({**asdict(self), "is_met": self.is_met, "machine": machine}, indent=2)

    def as_text(self) -> str:
        """Return the result as a few lines."""
        lines = [f"{self.benchmark} {self.stage}: {self.runs} runs in turn, medians"]
        width = max((len(name) for name in self.values), default=0)
        lines += [f"  {name:{width}s}  {value:10.4g} {self.unit}".rstrip() for name, value in self.values.items()]
        for each in self.ratios:
            spread = f"({each.least:.2f} to {each.most:.2f})"
            lines.append(f"  {each.of} / {each.to}: {each.median:.2f} {spread}  {each.goal}".rstrip())
        return "\n".join([*lines, *(f"  {name}: {fact}" for name, fact in self.facts.items())])


def medians(found: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the median of each measure."""
    return {name: statistics.median(values) for name, values in found.items()}
