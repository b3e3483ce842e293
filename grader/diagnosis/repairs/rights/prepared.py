"""A stage's right modules, parsed, compiled and run: made when they are asked for, or ahead for all modules graded."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field

from grader.course.stage import Stage
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.slips.source import Source


@dataclass
class Prepared:
    """Right modules by their texts. Nothing of a learner's is kept here.

    A process that forks another for each module has them made once; what a fork changes in them ends with it.
    """

    stage: Stage
    _sources: dict[str, Source] = field(default_factory=dict)
    _written: dict[str, Written] = field(default_factory=dict)

    def source(self, text: str, file: str, load: Callable[[], types.ModuleType]) -> Source:
        """Return a module as a text to change; load runs it, the first time."""
        if text not in self._sources:
            self._sources[text] = Source(self.stage, text, load, file)
        return self._sources[text]

    def written(self, text: str) -> Written:
        """Return a module as one to hold a learner's against."""
        if text not in self._written:
            self._written[text] = Written(self.stage, text)
        return self._written[text]

    def make(self) -> None:
        """Make what is known of the modules that were asked for, and is the same whoever is graded."""
        for source in list(self._sources.values()):
            source.make()
            self.written(source.text).make()
