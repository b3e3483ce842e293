"""The one entry to grading: a stage, a learner's snapshot and options give a verdict."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from grader import __version__
from grader.course.sealed import public_only
from grader.course.stage import Course, Stage
from grader.errors import GraderError
from grader.isolation import tiers
from grader.isolation.workers import close_to_others
from grader.judging import bounds
from grader.judging.content import Ahead
from grader.judging.grading_options import Options as Options
from grader.process import uncollected
from grader.submission import Snapshot
from grader.submission.parsing import Problem
from grader.submission.reading import told_of
from grader.submission.source import check_source, plain_text, reaches, refused_criteria, stubs_that_count
from grader.verdict import ABRUPT, Run, Verdict, decide

if TYPE_CHECKING:
    from grader.judging.pytest_suite import Suite
    from grader.judging.task import Findings, JudgeTask
    from grader.outcome import Outcome
    from grader.sandbox.recorded import Plan

    OnTest = Callable[[Outcome], None]
    OnDecided = Callable[[Verdict], None]

MAX_SEED = 100_000
MOST_PLANS = 16  # that a warm grader keeps: as many as a class run has seeds
LOAD = Path("/proc/loadavg")
CROWDED = 1.5  # processes that share a core, from which a stage's time by the clock says little
SPARE, MOST_PATIENCE = 2.0, 8.0  # who shares a core is not served in turn; times a stage's seconds


def fresh_seed() -> int:
    """Return a seed that nobody can foresee, short enough to type again."""
    return secrets.randbelow(MAX_SEED)


def patience(cores: int = os.cpu_count() or 1) -> float:
    """Return how many times a stage's seconds a grading may take that begins now: 1 on a machine with free cores.

    What computes or waits for a core counts, now or on average over the last minute; where nothing tells, 1.
    """
    try:
        average, _, _, now, _ = LOAD.read_text(encoding="ascii").split()
        shared = max(float(average), int(now.partition("/")[0])) / cores
    except (OSError, ValueError):
        return 1.0
    return 1.0 if shared < CROWDED else min(SPARE * shared, MOST_PATIENCE)


def grade(
    course: Course,
    stage: Stage,
    snapshot: Snapshot,
    options: Options,
    on_test: OnTest | None = None,
    on_decided: OnDecided | None = None,
) -> Verdict:
    """Grade a snapshot of one stage's module.

    Raises IsolationRefused where the requested isolation is unavailable, CourseError where the course lacks a file.
    """
    with Grader(course, stage) as grader:
        return grader.grade(snapshot, options, on_test, on_decided)


class Grader:
    """Grades modules of one stage; kept warm, the tests are loaded once, and one process forks all workers.

    A warm grader also knows what the tests ask with a seed that comes again, and which answers have passed: a test
    whose answers are the same, to the byte, as those of a module that passed it is not run again.
    """

    _has_loaded = False  # any of this process

    def __init__(self, course: Course, stage: Stage, warm: bool = False) -> None:
        bounds.one_thread()  # before anything here imports NumPy
        self.course = course
        self.stage = stage
        self._suite: Suite | None = None
        self._warm = warm
        self._has_graded = False
        self._plans: dict[int, Plan | None] = {}  # by seed; None for one that was used once
        self._ahead = Ahead(stage)
        self._workers: dict[tiers.Tier, tiers.LocalWorkerFactory] = {}
        self._tiers: dict[tuple[str, str | None], tuple[tiers.Tier, str | None]] = {}  # by what was asked for
        self.strayed: frozenset[str] = frozenset()  # tests of the last grading that asked what was not planned

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        if self._suite is not None:
            self._suite.close()
            self._suite = None
        for own in self._workers.values():
            own.close()

    def prepare(self, options: Options) -> None:
        """Start what the next grading needs: for a caller that has told the last verdict."""
        tier = self._tier(options.isolation, options.require)[0]
        self._start_ahead(tier, options.fork)
        if self._suite is not None:
            self._make_ahead(self._suite)
            self._plan(options, tier)

    def grade(
        self,
        snapshot: Snapshot,
        options: Options,
        on_test: OnTest | None = None,
        on_decided: OnDecided | None = None,
    ) -> Verdict:
        """Grade a snapshot; on_test is told of each test as soon as its outcome is known.

        on_decided is told of the verdict before the causes of failures are looked for, where any are.

        Raises IsolationRefused where the requested isolation is unavailable, CourseError where the course lacks a file.
        """
        started = time.monotonic()
        tier, note = self._tier(options.isolation, options.require)
        reading = check_source(self.stage, snapshot)

        def run(withheld: tuple[str, ...] = snapshot.withheld) -> Run:
            seconds = time.monotonic() - started
            public = public_only(self.stage)
            where = snapshot.whole, snapshot.label, options.only, public, snapshot.revision
            uses = tuple(each.use for each in snapshot.uses)
            stubs = stubs_that_count(plain_text(snapshot.source))
            notes = (*snapshot.notes, *told_of(reading.stood_in), *stubs)
            return Run(
                options.seed, tier, note, seconds, __version__, *where, uses=uses, withheld=withheld, notes=notes
            )

        if reading.problem is not None:  # nothing has run, so that nothing can have been read
            return decide(self.stage, (), (), run(()), problem=reading.problem)
        refused = refused_criteria(self.stage, reading)

        def verdict(found: Findings) -> Verdict:
            missing = None if found.names or not found.outcomes else _missing(self.stage, snapshot.label)
            is_broken = any(each.status in (*ABRUPT, "failed") for each in found.outcomes)
            known = reaches(self.stage, plain_text(snapshot.source)) if is_broken else {}
            return decide(
                self.stage, found.expected, found.outcomes, run(),
                problem=missing, faults=found.faults, refused=refused, reaches=known,
            )  # fmt: skip

        def decided(found: Findings) -> None:
            if on_decided is not None:
                on_decided(verdict(found))

        found = self._judged(snapshot, options, tier, None, on_test, decided)
        if found.problem is not None:
            return decide(self.stage, (), (), run(), problem=found.problem)
        return verdict(found)

    def tests(self) -> dict[str, str]:
        """Return each test's criterion, by name and in order; none before they are loaded, or where some cannot be."""
        from grader.judging.pytest_suite import criterion_of, name_of

        suite = self._suite
        return {} if suite is None or suite.faults else {name_of(each): criterion_of(each) for each in suite.items}

    def first_failure(self, snapshot: Snapshot, options: Options, criteria: tuple[str, ...]) -> Outcome | None:
        """Return the first test that a module does not pass, those of criteria first; None where it passes all.

        Nothing is diagnosed, and whether the reference passes is not asked: this is for modules known to be wrong.
        """
        from grader.outcome import Outcome

        problem = check_source(self.stage, snapshot).first
        if problem is not None:
            return Outcome("the source", "", False, "failed", problem.message)
        found = self._judged(snapshot, options, self._tier(options.isolation)[0], criteria, None)
        if found.problem is not None:
            return Outcome("the import", "", False, "crashed", found.problem.message)
        if found.faults:
            return Outcome("the run", "", False, "grader_fault", found.faults[0])
        return next((outcome for outcome in found.outcomes if outcome.status != "passed"), None)

    def _judged(
        self,
        snapshot: Snapshot,
        options: Options,
        tier: tiers.Tier,
        first_failure: tuple[str, ...] | None,
        on_test: OnTest | None,
        on_decided: Callable[[Findings], None] | None = None,
    ) -> Findings:
        from grader.judging.task import Findings

        with uncollected(stays=not Grader._has_loaded):  # of later suites, those before them would stay as well
            task = self._task(snapshot, options, tier, first_failure)
        Grader._has_loaded = True
        if task.suite.faults and not task.suite.items:
            return Findings((), faults=tuple(task.suite.faults))
        found = self._run(task, on_test, on_decided)
        for test, digest in found.passing.items():
            if task.plan is not None and test in task.plan:
                task.plan[test].learn(digest)
        self.strayed = found.strayed
        self._has_graded = True
        return replace(found, faults=(*task.suite.faults, *found.faults))

    def _task(
        self, snapshot: Snapshot, options: Options, tier: tiers.Tier, first_failure: tuple[str, ...] | None
    ) -> JudgeTask:
        """Return what a judge works on; the tests are loaded while the process that forks workers starts."""
        self._start_ahead(tier, options.fork)
        from grader.judging.task import JudgeTask, SharedStatus
        from grader.sandbox.process import job_for

        suite = self._loaded()
        if self._warm and self._has_graded:  # for the first, which may be the only one, it is made where a test fails
            self._make_ahead(suite)
        job = job_for(self.stage, snapshot, self.course.root)
        ends_at = time.monotonic() + patience() * self.stage.limits.stage_seconds
        stops_early = first_failure is not None
        answers = None if stops_early else self._ahead.about(snapshot.source)
        plan = None if stops_early or options.timed else self._plan(options, tier)
        return JudgeTask(suite, job, tier, options, ends_at, SharedStatus(), answers, first_failure, plan)

    def _run(
        self, task: JudgeTask, on_test: OnTest | None, on_decided: Callable[[Findings], None] | None = None
    ) -> Findings:
        from grader.judging.supervisor import ForkedJudges, Supervisor

        if not task.options.fork:
            from grader.judging.fresh_judge import FreshJudges

            with closing(FreshJudges(self.stage)) as judges:
                return Supervisor(replace(task, shared=judges.shared), judges, on_test, on_decided).run()
        from grader.judging.judge_process import WorkerKeeper

        keeper = WorkerKeeper(self.workers(task.tier))
        try:
            keeper.start()
            return Supervisor(task, ForkedJudges(keeper), on_test, on_decided).run()
        finally:
            keeper.end()

    def _tier(self, wanted: str, least: str | None = None) -> tuple[tiers.Tier, str | None]:
        """Return the tier and what it leaves open, looked for once: a look at bubblewrap runs a process in it."""
        if (wanted, least) not in self._tiers:
            self._tiers[wanted, least] = tiers.choose(wanted, least)
        return self._tiers[wanted, least]

    def workers(self, tier: tiers.Tier) -> tiers.LocalWorkerFactory:
        """Return what forks workers in a tier; it stays as long as this grader."""
        own = tiers.LocalWorkerFactory(tier, self.course.root, True, packages=self.stage.packages)
        return self._workers.setdefault(tier, own)

    def _start_ahead(self, tier: tiers.Tier, fork: bool) -> None:
        """Start what every worker of a tier needs, while this process goes on."""
        if fork:
            self.workers(tier).prepare()
            tiers.program_for(tier)  # made here, once: each judge is a fork

    def plan(self, options: Options) -> Plan | None:
        """Return what the tests ask with a seed, found out now if need be; None where nothing can be planned."""
        self._loaded()
        self._plans.setdefault(options.seed, None)
        return self._plan(options, self._tier(options.isolation)[0])

    def _plan(self, options: Options, tier: tiers.Tier) -> Plan | None:
        """Return what the tests ask with a seed; None where it may never be used again, or by nobody who is warm.

        A plan costs as much as two gradings. It is made where judges are forked, and where there is a reference.
        """
        if not self._warm or not options.fork or self._suite is None or self._suite.faults or public_only(self.stage):
            return None
        if options.seed not in self._plans:
            if len(self._plans) >= MOST_PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[options.seed] = None
            if not options.recurs:
                return None
        if self._plans[options.seed] is None:
            from grader.judging.plan import make_plan

            self._plans[options.seed] = {}
            with suppress(GraderError):  # of the course's own reference: a grading tells of it
                self._plans[options.seed] = make_plan(self._suite, options.seed, self.workers(tier))
        return self._plans[options.seed]

    def _loaded(self) -> Suite:
        from grader.judging.content import test_files
        from grader.judging.pytest_suite import Suite

        if self._suite is None:
            self._suite = Suite(self.stage, test_files(self.stage))
            close_to_others()
            if self._warm:  # else a judge does it when a test fails
                self._ahead.read()
        return self._suite

    def _make_ahead(self, suite: Suite) -> None:
        """Run the stage's right modules where they can import what a judge lets them import."""
        if not self._ahead.is_made:
            with suite.in_place():
                self._ahead.make()


def _missing(stage: Stage, label: str) -> Problem:
    """Say so where the module loads and yet defines nothing that the stage asks for."""
    wanted = [name for criterion in stage.criteria for name in criterion.functions]
    message = f"{label} defines none of this stage's functions ({', '.join(wanted[:3])}, …)"
    hint = f"`grader reset {stage.id}` puts the stub back and keeps your file in .grader/backups/."
    return Problem("missing", message, None, hint)
