"""The tests that passed: what they asked of a learner's module may speak against an explanation of those that fail."""

from __future__ import annotations

from dataclasses import dataclass, field

from grader.diagnosis.slips.probes import Failing
from grader.diagnosis.weighing import tells
from grader.sandbox.record import Name, Record


@dataclass
class Seen:
    """What a test that passed asked of the learner's module; right says whether the reference answers alike."""

    test: str
    records: list[Record]
    names: dict[str, Name]
    right: bool | None = None


@dataclass
class Passed:
    """The tests that passed, by row."""

    _rows: dict[str, list[Seen]] = field(default_factory=dict)

    def add(self, row: str, seen: Seen) -> None:
        """Remember one test of a row."""
        self._rows.setdefault(row, []).append(seen)

    def telling(self, row: str) -> list[Seen]:
        """Return the tests of a row that may speak against a mistake, in which nothing was refused."""
        return [each for each in self._rows.get(row, []) if tells(each.records)]

    def of(self, row: str = "", refused: bool = False) -> list[Failing]:
        """Return the tests of a row, or of all, in the form of those that failed.

        Those in which nothing was refused, or those in which something was.
        """
        seen = self._rows.get(row, []) if row else [each for own in self._rows.values() for each in own]
        return [Failing(each.test, each.records, each.names) for each in seen if tells(each.records) != refused]
