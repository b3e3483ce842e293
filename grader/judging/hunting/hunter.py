"""The one entry to hunting: a grader of one stage that tries many changed forms of a right module."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from grader import __version__
from grader.isolation import tiers
from grader.judging.grading import Grader, Options
from grader.judging.hunting import ours
from grader.judging.hunting.hunts import caught
from grader.judging.hunting.quarry import Quarry
from grader.judging.hunting.reach import Reached, reached
from grader.outcome import Outcome
from grader.submission import Snapshot
from grader.verdict import Run, Verdict, decide


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
                charge = self._charge(snapshot, options, self._tier(options.isolation)[0], ())
                own = self._staff.workers(charge.tier, charge.fork)
                found += [] if charge.suite.faults else caught(charge, quarries[len(found) :], own)
            if len(found) < len(quarries):
                source = quarries[len(found)].source.encode()
                found.append(self.hunt(replace(snapshot, source=source), options, ()))
        return found

    def caught(self, quarries: Sequence[Quarry], seed: int, seconds: float) -> list[Outcome | None]:
        """Return the first test that each changed form does not pass in the judge itself, None where that is open.

        A test may take so many seconds of the processor. The forms are changes of the course's own text: they run
        without isolation. All are open where no judge can be forked.
        """
        if not tiers.FORKS or self._loaded().faults:
            return [None] * len(quarries)
        with self._own_judge() as own:
            return ours.caught(self._loaded(), quarries, seed, seconds, own)

    def trusted(self, snapshot: Snapshot, seed: int) -> tuple[Verdict, tuple[Outcome, ...]] | None:
        """Return the verdict on a module of the course's own, and the outcome of each test, run in the judge itself.

        None where that cannot be told: no judge can be forked, or a test ends in a way that pytest has to report.
        """
        suite, started = self._loaded(), time.monotonic()
        if not tiers.FORKS or suite.faults:
            return None
        with self._own_judge() as own:
            found = ours.outcomes(suite, snapshot.source.decode(), seed, own)
        if found is None:
            return None
        seconds = time.monotonic() - started
        run = Run(seed, "none", None, seconds, __version__, snapshot.whole, snapshot.label)
        return decide(self.stage, suite.expected, found, run), found

    @contextmanager
    def _own_judge(self) -> Iterator[tiers.Own]:
        """Give what lends a judge its worker; these judges use none."""
        own = tiers.Own("process", self.course.root, packages=self.stage.packages)
        try:
            yield own
        finally:
            own.close()

    def reached(self, source: str, seed: int) -> tuple[Reached, ...]:
        """Return which lines of a right module's text each test runs, as far as it could be seen."""
        with self._own_judge() as own:
            return reached(self._loaded(), source, seed, own)
