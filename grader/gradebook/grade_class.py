"""`grader class grade` from end to end: a run takes submissions, has them graded in a pool, and records each result.

Each result is written in one transaction with its attempt and its marks. Whatever ends a run, the next one resumes it:
what has a result is kept (`Coordinator.to_resume`), and what is not yet written is graded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from grader import __version__
from grader.course.stage import Course, Stage
from grader.diagnosis.likeness import most_alike
from grader.errors import GraderError, GraderFault, StageWaits, SystematicFault
from grader.gradebook.class_run import (
    POOL,
    OnProgress,
    RunContext,
    RunOptions,
    Tally,
    opened,
    policy_of,
    roster_of,
    share_one_heap,
    stoppable,
)
from grader.gradebook.cluster import Cluster, Order, packed
from grader.gradebook.intake import MISSING, Alarm, Intake, Loading, ReadAttempt, expected, survey, taken
from grader.gradebook.job import Done, GradingJob, course_version, grade_job, plan_of, prepare, ungraded
from grader.gradebook.marks import differences, update_marks
from grader.gradebook.policy import Policy
from grader.gradebook.process_pool import ProcessPool, WorkerDied
from grader.gradebook.records import Attempt, Key, Member, Outcome, Result, Versions, Waiting
from grader.gradebook.roster import described
from grader.gradebook.store import Gradebook
from grader.gradebook.submissions import Listing, StudentSubmission, listing
from grader.judging.grading import MOST_PATIENCE
from grader.report.escape import one_line
from grader.report.stored import decided
from grader.submission import Snapshot
from grader.submission.earlier import Lending, used_modules
from grader.submission.snapshot import UsedModule
from grader.verdict import SOURCE

SPARE_SECONDS = 60.0  # beyond a stage's time, until a process that grades is taken for dead
TRIES = 2  # of a submission whose process dies
MOST_WHY = 1000  # characters of what is kept of a fault
RECURRING = 3  # submissions with a seed, from which a plan of its tests pays for the first of them
MOST_TEXTS = 50  # of a class that passed, whose values steer the search for causes
AHEAD = 2  # submissions that are read for each process, before one is free


@contextmanager
def coordinating(
    stages: tuple[Stage, ...], options: RunOptions, book: Gradebook, context: RunContext, on_progress: OnProgress
) -> Iterator[Coordinator]:
    """Give a coordinator whose processes know the course, here or on a cluster; they end with the block."""
    seconds = max(stage.limits.stage_seconds for stage in stages) * MOST_PATIENCE + SPARE_SECONDS
    share_one_heap()
    with stoppable():
        executor: ProcessPool | Cluster
        if options.cluster is None:
            cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            executor = ProcessPool(options.jobs or cores, seconds, prepare, (context.course, context.made), plan_of)
        else:
            order = Order(__version__, context.isolation, seconds, prepare, (context.made,), plan_of)
            executor = Cluster(options.cluster, packed(context.course), order)
        try:
            yield Coordinator(book, context, executor, executor.width, on_progress)
        finally:
            executor.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class RunOutcome:
    """What a run did, by stage; how many marks the policy of now would change in points, and whom it names in vain.

    ignored are the entries of the folder that are no student's; policy is what class.toml said; systematic is each
    reason that more than a tenth of the class shares.
    """

    tallies: tuple[Tally, ...]
    outdated: int
    strangers: tuple[str, ...]
    ignored: tuple[str, ...]
    policy: Policy
    systematic: tuple[Alarm, ...]


def take_in(
    course: Course, stages: tuple[Stage, ...], submissions: Path, options: RunOptions, accept: bool
) -> tuple[Listing, tuple[Member, ...], Intake]:
    """Return who handed in something, who is in the class, and what is in doubt; nothing is written or graded."""
    policy = policy_of(course, options)
    roster = roster_of(options, policy.zone)
    listed = listing(submissions, policy.zone, roster)
    found = survey(stages, listed.arrivals, course.root, policy, accept)
    return listed, described(roster, listed.members), replace(found, ignored=listed.ignored)


def grade(
    course: Course,
    stages: tuple[Stage, ...],
    submissions: Path,
    options: RunOptions,
    on_progress: OnProgress,
    *,
    accept: bool = False,
    proceed: bool = False,
    arrived: Callable[[Intake], None] = lambda intake: None,
) -> RunOutcome:
    """Grade everything that has no result yet. An interrupt, or SIGTERM, leaves all results so far in the gradebook.

    accept lets files under another name count; arrived gets what came before anything is graded. Unless the run is to
    proceed, SystematicFault is raised where one reason concerns more than a tenth of the class, before or while it is
    graded.
    """
    listed, roster, intake = take_in(course, stages, submissions, options, accept)
    arrived(intake)
    systematic = list(intake.alarms)
    del intake  # its lines, as long as the run
    if systematic and not proceed:
        raise SystematicFault("\n".join(each.summary for each in systematic))
    only = len(stages) == 1
    tallies: list[Tally] = []
    with opened(course, stages, options, create=True) as (book, context):
        with book.changing():
            book.keep_passes(context.policy.passes(course.stages))
            book.keep_roster(roster)
        with coordinating(stages, options, book, context, on_progress) as coordinator:
            for stage in stages:
                here = _to_take(book, stage, listed.arrivals)
                attempts = (
                    each for arrival in here for each in taken(arrival, stage, course.root, only, accept=accept)
                )
                loading = Loading(stage, len(listed.arrivals), proceed)
                loading.learn(book)
                tallies.append(coordinator.grade(stage, attempts, expected(here, stage, only), loading.see))
                systematic += loading.alarms
        known = book.students()
        strangers = tuple(name for name in context.policy.extensions if name not in known)
        outdated = sum(each.changes_points for each in differences(book, context.policy, {}))
    return RunOutcome(tuple(tallies), outdated, strangers, listed.ignored, context.policy, tuple(systematic))


def _to_take(book: Gradebook, stage: Stage, arrivals: Sequence[StudentSubmission]) -> tuple[StudentSubmission, ...]:
    """Return what arrived, without those of whom nothing came now, and something came before."""
    return tuple(
        each
        for each in arrivals
        if each.things
        or all(before.stage != stage.id or before.digest == MISSING for before in book.attempts(each.student))
    )


def known_modules(book: Gradebook, policy: Policy, stage: Stage, student: str, now: datetime) -> tuple[UsedModule, ...]:
    """Return the modules of earlier stages for a student: their own that passed, else what the policy lends now.

    Raises StageWaits where neither is there.
    """

    mine = book.attempts(student) if stage.builds_on else ()

    def own(used: Stage) -> Snapshot | None:
        return _passed(book, used, mine)

    def is_failing(used: Stage) -> bool:
        tried = [each.result for each in mine if each.stage == used.id and each.result is not None]
        return any(book.result(number).outcome == "graded" for number in tried)

    lending = Lending(lambda used: policy.lent_from(student, used.id), now, is_failing, policy.zone)
    return used_modules(stage, own, lambda used, digest: True, lending)


def _passed(book: Gradebook, used: Stage, attempts: Sequence[Attempt]) -> Snapshot | None:
    """Return the last module of a student's attempts that passed a stage; None where none did."""
    for attempt in reversed(attempts):
        if attempt.stage != used.id or attempt.result is None or not book.result(attempt.result).passed:
            continue
        if (text := book.source(attempt.digest)) is not None:
            return Snapshot(used.module, text, attempt.digest, used.module_path, attempt.label)
    return None


class Coordinator:
    """Takes submissions, has them graded by an executor, and alone writes into the gradebook."""

    def __init__(
        self, book: Gradebook, context: RunContext, executor: Executor, width: int, on_progress: OnProgress
    ) -> None:
        self.book, self.context, self.on_progress = book, context, on_progress
        self._executor, self._ahead = executor, width * AHEAD
        self._versions: dict[str, str] = {}

    def course(self, stage: Stage) -> str:
        """Return the version of the course with which this run grades a stage."""
        if stage.id not in self._versions:
            self._versions[stage.id] = course_version(stage)
        return self._versions[stage.id]

    def grade(
        self,
        stage: Stage,
        attempts: Iterable[ReadAttempt],
        total: int,
        seen: Callable[[Result], None] = lambda result: None,
    ) -> Tally:
        """Grade what has no result yet, and record each result as it comes; seen gets each once it is recorded."""
        tally = Tally(stage.id, total)
        self.on_progress(tally)
        for job, done in self.results(self.to_resume(stage, attempts, tally)):
            result = self._record(stage, job.attempt, *self.result(stage, job, done), tally, job.snapshot)
            seen(result)
        self.on_progress(tally)
        explain_with_class(self, stage)
        return tally

    def to_resume(self, stage: Stage, attempts: Iterable[ReadAttempt], tally: Tally) -> Iterator[GradingJob]:
        """Yield what is to be graded where the last run ended: attempts without a result.

        What is known, and what cannot be graded, is noted at once.
        """
        recurs = tally.total - self.book.graded(stage.id) >= RECURRING * POOL
        student, known = "", dict[str, Attempt]()
        for each in attempts:
            attempt = each.attempt
            if attempt.student != student:  # all of one student come together
                student, mine = attempt.student, self.book.attempts(attempt.student)
                known = {one.digest: one for one in mine if one.stage == stage.id and one.result is not None}
            before = known.get(attempt.digest)
            if before is None and each.outcome != "fault":
                known[attempt.digest] = attempt
            if before is not None:
                self._keep_better_time(before, attempt)
                tally.kept += 1
            elif each.snapshot is None:
                assert each.error is not None
                self._record(stage, attempt, self.ungraded(stage, each), each.error.message, tally)
                continue
            else:
                try:
                    job = self.job(stage, attempt, each.snapshot)
                except StageWaits as why:
                    self._record_waiting(stage, attempt, each.snapshot, why)
                    tally.wait(attempt.student, why.lacking)
                else:
                    yield replace(job, recurs=recurs)
                    continue
            self.on_progress(tally)

    def results(self, jobs: Iterator[GradingJob]) -> Iterator[tuple[GradingJob, Done | GraderError]]:
        """Have jobs graded, a few ahead of the processes; a job whose process dies is tried again."""
        running: dict[Future[Done], tuple[GradingJob, int]] = {}
        more = True
        while more or running:
            while more and len(running) < self._ahead:
                job = next(jobs, None)
                if more := job is not None:
                    assert job is not None
                    running[self._executor.submit(grade_job, job)] = job, 1
            done = wait(running, timeout=0.5, return_when=FIRST_COMPLETED).done
            for future in [future for future in running if future in done]:
                job, tries = running.pop(future)
                error = future.exception()
                if isinstance(error, WorkerDied) and tries < TRIES:
                    running[self._executor.submit(grade_job, job)] = job, tries + 1
                else:
                    yield job, future.result() if error is None else _fault(error, tries)

    def job(self, stage: Stage, attempt: Attempt, snapshot: Snapshot) -> GradingJob:
        """Return the grading of a module with what it builds on: the student's own where that has passed.

        Raises StageWaits where none has, and the policy lends no reference yet.
        """
        context = self.context
        uses = known_modules(self.book, context.policy, stage, attempt.student, context.now())
        snapshot = replace(snapshot, uses=uses)
        return GradingJob(self._key(stage, attempt, snapshot.whole), attempt, snapshot, context.policy.feedback)

    def _key(self, stage: Stage, attempt: Attempt, digest: str) -> Key:
        """Return the key of a result: with the seed that the attempt had before, else one of this run's."""
        seed = self.context.seeds.of(attempt.student, stage.id, attempt.digest)
        key = Key(attempt.student, stage.id, digest, self.course(stage), seed, self.context.isolation)
        before = self.book.seed(attempt, key)
        return key if before is None else replace(key, seed=before)

    def result(self, stage: Stage, job: GradingJob, done: Done | GraderError) -> tuple[Result, str]:
        """Return the result of a job, and why the grader failed, if it did."""
        if isinstance(done, GraderError):
            document = ungraded(stage, job.key, self.context.policy.feedback, done, self.context.made)
            return self._result(stage, job.key, "fault", document), done.message
        seconds = 0.0 if job.snapshot.withheld else round(done.seconds, 3)  # code beside a reference chooses its time
        outcome: Outcome = "fault" if done.is_fault else "graded"
        return self._result(stage, job.key, outcome, done.verdict, seconds, done.worker), done.fault

    def ungraded(self, stage: Stage, taken: ReadAttempt) -> Result:
        """Return the result of what cannot be graded."""
        assert taken.error is not None
        key = self._key(stage, taken.attempt, taken.attempt.digest)
        document = ungraded(stage, key, self.context.policy.feedback, taken.error, self.context.made)
        return self._result(stage, key, taken.outcome, document)

    def _result(
        self,
        stage: Stage,
        key: Key,
        outcome: Outcome,
        document: Mapping[str, Any],
        seconds: float = 0.0,
        worker: str = "",
    ) -> Result:
        made = self.context.made
        how = Versions(made.python or "", made.numpy or "", made.commit or made.release or "", worker)
        verdict = decided(document, self.context.policy.of(stage.id).passes)
        return Result(key, outcome, verdict, self.context.now(), seconds, how)

    def _record(
        self, stage: Stage, attempt: Attempt, result: Result, why: str, tally: Tally, snapshot: Snapshot | None = None
    ) -> Result:
        """Write a result with its attempt and its marks: all of it, or nothing."""
        with self.book.changing():
            if snapshot is not None:
                self.book.keep_source(snapshot.digest, snapshot.source)
            self.book.keep_attempt(attempt)
            self.book.drop_waiting(attempt)
            number = self.book.keep_result(result)
            fault = self.note_fault(result, why)
            if result.outcome != "fault":
                self.book.count_for(attempt.student, stage.id, attempt.digest, number)
                update_marks(self.book, self.context.policy, attempt.student, result.outcome, self.context.now())
        tally.count(result, fault)
        self.on_progress(tally)
        return result

    def note_fault(self, result: Result, why: str) -> str:
        """Write into the history why the grader failed, if it did, and return it."""
        if result.outcome != "fault":
            return ""
        why = one_line(why)[:MOST_WHY] or "it did not say why"
        self.book.note_fault(result.key.student, result.key.stage, why, result.at)
        return why

    def _record_waiting(self, stage: Stage, attempt: Attempt, snapshot: Snapshot, why: StageWaits) -> None:
        """Keep what was handed in, and that it waits: neither a result nor a mark, so that the next run tries again."""
        context = self.context
        key = Key(attempt.student, stage.id, attempt.digest, self.course(stage), 0, "none")
        document = ungraded(stage, key, context.policy.feedback, why, context.made)
        with self.book.changing():
            self.book.keep_source(snapshot.digest, snapshot.source)
            self.book.keep_attempt(attempt)
            self.book.keep_waiting(Waiting(attempt.student, stage.id, attempt.digest, document, context.now()))

    def _keep_better_time(self, before: Attempt, attempt: Attempt) -> None:
        """Let a time count that is better known now."""
        if (before.submitted, before.clock) != (attempt.submitted, attempt.clock):
            with self.book.changing():
                self.book.keep_attempt(attempt)
                update_marks(self.book, self.context.policy, attempt.student, "another time", self.context.now())


def _fault(error: BaseException, tries: int) -> GraderError:
    """Return what stands for a grading that failed; whatever is no Exception ends the run."""
    if not isinstance(error, Exception):
        raise error
    if isinstance(error, WorkerDied):
        return GraderFault(f"{error.message}, {tries} times")
    return GraderFault(error.message if isinstance(error, GraderError) else f"{type(error).__name__}: {error}")


def explain_with_class(coordinator: Coordinator, stage: Stage) -> None:
    """Explain what fails without a cause once more, with the texts that passed; each result once.

    Nothing but causes comes of it: no criterion, no status and no mark changes.
    """
    passed: set[str] = set()
    failed: list[Attempt] = []
    for each in coordinator.book.each_attempt():
        if each.stage == stage.id and each.result is not None:
            result = coordinator.book.result(each.result)
            if result.key.course != coordinator.course(stage):
                continue
            if result.passed:
                passed.add(each.digest)
            else:
                failed.append(each)
    pool = pool_of(passed)
    explain(coordinator, stage, ((each, each.result, pool) for each in failed))


def explain(
    coordinator: Coordinator, stage: Stage, results: Iterable[tuple[Attempt, int | None, tuple[str, ...]]]
) -> None:
    """Look once more for the causes of results, each with its pool; nothing else of a result changes."""
    book = coordinator.book
    waiting: dict[Key, tuple[int, tuple[str, ...], Result]] = {}

    def jobs() -> Iterator[GradingJob]:
        for attempt, number, pool in results:
            if number is None or not pool or book.pool(number):  # it had one
                continue
            before = book.result(number)
            if (job := _job(coordinator, stage, attempt, before, pool)) is not None:
                waiting[job.key] = number, pool, before
                yield job

    for job, done in coordinator.results(jobs()):
        number, pool, before = waiting.pop(job.key)
        if isinstance(done, GraderError) or done.is_fault:  # the next run tries it again
            continue
        after = decided(done.verdict, coordinator.context.policy.of(stage.id).passes)
        found = with_causes(before.verdict, after)
        with book.changing():
            book.keep_explained(number, pool, None if found is before.verdict else found)


def _job(
    coordinator: Coordinator, stage: Stage, attempt: Attempt, before: Result, pool: tuple[str, ...]
) -> GradingJob | None:
    """Return the grading of a result with a pool; None where it has causes, or is not as it was."""
    failing = unexplained(before.verdict) if before.outcome == "graded" else ()
    text = coordinator.book.source(attempt.digest)
    if not failing or text is None:
        return None
    try:
        known = Snapshot(stage.module, text, attempt.digest, stage.module_path, attempt.label)
        job = coordinator.job(stage, attempt, known)
    except StageWaits:
        return None
    texts = [found for digest in pool if (found := coordinator.book.source(digest)) is not None]
    if job.key != before.key or len(texts) != len(pool):
        return None
    return replace(job, pool=most_alike(stage, failing, text, texts))


def pool_of(digests: Iterable[str]) -> tuple[str, ...]:
    """Return the pool of texts that passed, by their digests.

    >>> pool_of(["b", "a", "b"])
    ('a', 'b')
    """
    return tuple(sorted(set(digests))[:MOST_TEXTS])


def unexplained(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the criteria of a verdict that fail with nothing reported about why, where all may be."""
    if document.get("feedback") != "full":
        return ()
    criteria = [criterion for criterion in document.get("criteria") or () if criterion["status"] != "passed"]
    ran = {
        criterion["id"]: [each for each in criterion["failures"] if each.get("test") != SOURCE]
        for criterion in criteria
    }
    return tuple(
        name
        for name, failures in ran.items()
        if any(each.get("status") == "failed" for each in failures) and not any(each.get("cause") for each in failures)
    )


def with_causes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a verdict with the causes that another grading of the same text found; itself where there is none."""
    found = {
        (criterion["id"], each["test"], each["status"]): each
        for criterion in after.get("criteria") or ()
        for each in criterion["failures"]
        if each["cause"]
    }
    criteria = [
        {**criterion, "failures": [found.get((criterion["id"], each["test"], each["status"]), each) for each in own]}
        if unexplained({**before, "criteria": [criterion]})
        else criterion
        for criterion in before["criteria"]
        for own in (criterion.get("failures") or (),)
    ]
    return before if criteria == list(before["criteria"]) else {**before, "criteria": criteria}
