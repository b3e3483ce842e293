"""The one entry to hunting: a grader of one stage that tries many changed forms of a right module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.isolation import tiers
from grader.judging.grading import Grader, Options
from grader.judging.hunting.hunts import Quarry, caught
from grader.judging.hunting.reach import Reached, reached
from grader.outcome import Outcome
from grader.submission import Snapshot


class Hunter(Grader):
    """A grader that hunts changed forms of a module that is known to be right."""

    def hunts(self, snapshot: Snapshot, options: Options, quarries: Sequence[Quarry]) -> list[Outcome | None]:
        """Return the first test that each changed form of a snapshot does not pass; None where it passes all.

        One judge goes through them, with a worker that loads the snapshot once. A form that ends the judge is hunted
        alone, as every form is where no judge can be forked: by its text, and with every test.
        """
        found: list[Outcome | None] = []
        while len(found) < len(quarries):
            if options.fork:
                charge, own = self._charge(snapshot, options, self._tier(options.isolation)[0], ())
                found += [] if charge.suite.faults else caught(charge, quarries[len(found) :], own)
            if len(found) < len(quarries):
                source = quarries[len(found)].source.encode()
                found.append(self.hunt(replace(snapshot, source=source), options, ()))
        return found

    def reached(self, source: str, seed: int) -> tuple[Reached, ...]:
        """Return which lines of a right module's text each test runs, as far as it could be seen."""
        own = tiers.Own("process", self.course.root, packages=self.stage.packages)
        try:
            return reached(self._loaded(), source, seed, own)
        finally:
            own.close()
