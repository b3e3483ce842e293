"""Runs a stage's tests on many changed forms of one right module: which of them no test tells from it."""

from __future__ import annotations

import marshal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from grader import __version__
from grader.authoring import trusted_runs
from grader.authoring.trusted_runs import RECORDS, Mutant, Reached, chosen, reached
from grader.isolation import tiers
from grader.isolation.tiers import LocalWorkerFactory
from grader.isolation.workers import Workers
from grader.judging import bounds
from grader.judging.grading import Grader, Options
from grader.judging.judge_process import Bounds, bounded
from grader.judging.outcomes import Assessor
from grader.judging.session import Session
from grader.judging.task import JudgeTask, Messages, SharedStatus, unpacked
from grader.outcome import Outcome
from grader.sandbox.process import LearnerProcess
from grader.submission import Snapshot
from grader.verdict import Run, Verdict, decide


def caught(task: JudgeTask, mutants: Sequence[Mutant], own: LocalWorkerFactory) -> list[Outcome | None]:
    """Return the first test that each form does not pass, None where it passes all, as far as one judge comes.

    A form that ends the judge ends the list: what comes of that one and of those behind it is not known.
    """
    limits = task.suite.stage.limits
    seconds = limits.stage_seconds * len(mutants)
    told = bounded(partial(_run_all, task, mutants), own, Bounds(limits.judge_mb, seconds)).told
    return [unpacked(outcome, RECORDS) for kind, outcome in told if kind == "caught"]


def _run_all(
    task: JudgeTask, mutants: Sequence[Mutant], messages: Messages, workers: Workers, shared: SharedStatus
) -> None:
    """Load the module, then run the tests on one form after another, and tell what came of each."""
    process = LearnerProcess(task.job, task.tier, workers, task.fork)
    try:
        with task.suite.in_place(), suppress(Exception):  # of a form that then runs alone, where it is told
            process.load()
            for mutant in mutants:
                messages.send("caught", _caught(task, mutant, process, shared))
    finally:
        bounds.bound_time(0)
        process.kill()


def _caught(task: JudgeTask, mutant: Mutant, process: LearnerProcess, shared: SharedStatus) -> Outcome | None:
    """Return the first of the mutant's tests that it does not pass; it may take as long as a grading."""
    suite = task.suite
    process.form = marshal.dumps(compile(mutant.source, process.job.label, "exec", dont_inherit=True))
    task = replace(task, shared=shared, answers=None, ends_at=time.monotonic() + suite.stage.limits.stage_seconds)
    session = Session(task, process, Assessor(suite.stage, task.job, None))
    session.provider.begin()
    try:
        return session.first_failure(chosen(suite.items, mutant.tests))
    finally:
        session.provider.end()
        suite.take_down()


class MutantRunner(Grader):
    """Runs a stage's tests on changed forms of a module that is known to be right."""

    def first_failures(self, snapshot: Snapshot, options: Options, mutants: Sequence[Mutant]) -> list[Outcome | None]:
        """Return the first test that each changed form of a snapshot does not pass; None where it passes all.

        One judge goes through them, with a worker that loads the snapshot once. A form that ends the judge runs
        alone, as every form is where no judge can be forked: by its text, and with every test.
        """
        found: list[Outcome | None] = []
        while len(found) < len(mutants):
            if options.fork:
                task = self._task(snapshot, options, self._tier(options.isolation)[0], ())
                own = self.workers(task.tier, task.fork)
                found += [] if task.suite.faults else caught(task, mutants[len(found) :], own)
            if len(found) < len(mutants):
                source = mutants[len(found)].source.encode()
                found.append(self.first_failure(replace(snapshot, source=source), options, ()))
        return found

    def caught(self, mutants: Sequence[Mutant], seed: int, seconds: float) -> list[Outcome | None]:
        """Return the first test that each changed form does not pass in the judge itself, None where that is open.

        A test may take so many seconds of the processor. The forms are changes of the course's own text: they run
        without isolation. All are open where no judge can be forked.
        """
        if not tiers.FORKS or self._loaded().faults:
            return [None] * len(mutants)
        with self._own_judge() as own:
            return trusted_runs.caught(self._loaded(), mutants, seed, seconds, own)

    def trusted(self, snapshot: Snapshot, seed: int) -> tuple[Verdict, tuple[Outcome, ...]] | None:
        """Return the verdict on a module of the course's own, and the outcome of each test, run in the judge itself.

        None where that cannot be told: no judge can be forked, or a test ends in a way that pytest has to report.
        """
        suite, started = self._loaded(), time.monotonic()
        if not tiers.FORKS or suite.faults:
            return None
        with self._own_judge() as own:
            found = trusted_runs.outcomes(suite, snapshot.source.decode(), seed, own)
        if found is None:
            return None
        seconds = time.monotonic() - started
        run = Run(seed, "none", None, seconds, __version__, snapshot.whole, snapshot.label)
        return decide(self.stage, suite.expected, found, run), found

    @contextmanager
    def _own_judge(self) -> Iterator[tiers.LocalWorkerFactory]:
        """Give what lends a judge its worker; these judges use none."""
        own = tiers.LocalWorkerFactory("process", self.course.root, packages=self.stage.packages)
        try:
            yield own
        finally:
            own.close()

    def reached(self, source: str, seed: int) -> tuple[Reached, ...]:
        """Return which lines of a right module's text each test runs, as far as it could be seen."""
        with self._own_judge() as own:
            return reached(self._loaded(), source, seed, own)
