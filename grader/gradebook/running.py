"""The coordinator: it takes submissions, has them graded by an executor, and alone writes into the gradebook.

Each result is written in one transaction with its attempt and its marks. Whatever ends the run, the next one begins
with what is not yet written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import replace

from grader.course.stage import Stage
from grader.diagnosis.likeness import most_alike
from grader.errors import GraderError, GraderFault, StageWaits
from grader.gradebook.building import known_modules
from grader.gradebook.intake.taking import Taken
from grader.gradebook.job import Done, Job, course_version, grade_job, ungraded
from grader.gradebook.marking import mark
from grader.gradebook.pool.executor import WorkerDied
from grader.gradebook.pooled import pool_of, unexplained, with_causes
from grader.gradebook.records import Attempt, Key, Made, Outcome, Result, Waiting
from grader.gradebook.seeds import POOL
from grader.gradebook.setting import Setting, Tally, Told
from grader.gradebook.store import Gradebook
from grader.report.escape import one_line
from grader.report.stored import decided
from grader.submission import Snapshot

TRIES = 2  # of a submission whose process dies
MOST_WHY = 1000  # characters of what is kept of a fault
RECURRING = 3  # submissions with a seed, from which a plan of its tests pays for the first of them
AHEAD = 2  # submissions that are read for each process, before one is free


class Coordinator:
    """Grades the attempts of one stage after the other into a gradebook."""

    def __init__(self, book: Gradebook, setting: Setting, executor: Executor, width: int, told: Told) -> None:
        self._book, self._setting, self._executor = book, setting, executor
        self._ahead = width * AHEAD
        self._told = told

    def grade(
        self, stage: Stage, attempts: Iterable[Taken], total: int, seen: Callable[[Result], None] = lambda result: None
    ) -> Tally:
        """Grade what has no result yet, and record each result as it comes; seen gets each once it is recorded."""
        tally = Tally(stage.id, total)
        course = course_version(stage)
        known = {(each.student, each.digest): each for each in self._book.attempts() if _is_of(each, stage)}
        for job, done in self._results(self._jobs(stage, course, attempts, known, tally)):
            result = self._record(stage, job, done, tally)
            self._told(tally)
            seen(result)
        self._told(tally)
        self._explain_with_pool(stage, course)
        return tally

    def _explain_with_pool(self, stage: Stage, course: str) -> None:
        """Explain what fails without a cause once more, with the texts that passed; each result once."""
        passed: list[Attempt] = []
        failed: list[Attempt] = []
        for each in self._book.attempts():
            if each.stage == stage.id and each.result is not None:  # one after the other: a class may be large
                result = self._book.result(each.result)
                if result.key.course == course:
                    (passed if result.passed else failed).append(each)
        pool = pool_of(each.digest for each in passed)
        self._explain(stage, ((each, each.result, pool) for each in failed))

    def _explain(self, stage: Stage, results: Iterable[tuple[Attempt, int | None, tuple[str, ...]]]) -> None:
        """Look once more for the causes of results, each with its pool; nothing else of a result changes."""
        waiting: dict[Key, tuple[int, tuple[str, ...], Result]] = {}

        def jobs() -> Iterator[Job]:
            for attempt, number, pool in results:
                job = None if number is None or not pool else self._pooled(stage, attempt, number, pool)
                if job is not None and number is not None:
                    waiting[job.key] = number, pool, self._book.result(number)
                    yield job

        for job, done in self._results(jobs()):
            number, pool, before = waiting.pop(job.key)
            if isinstance(done, GraderError) or done.is_fault:  # the next run tries it again
                continue
            after = decided(done.verdict, self._setting.policy.of(stage.id).passes)
            found = with_causes(before.verdict, after)
            with self._book.changing():
                self._book.keep_explained(number, pool, None if found is before.verdict else found)

    def _pooled(self, stage: Stage, attempt: Attempt, number: int, pool: tuple[str, ...]) -> Job | None:
        """Return the grading of a result with a pool; None where it has causes, or had a pool, or is not as it was."""
        before = self._book.result(number)
        rows = unexplained(before.verdict) if before.outcome == "graded" and not self._book.pool(number) else ()
        text = self._book.source(attempt.digest)
        if not rows or text is None:
            return None
        try:
            known = Snapshot(stage.module, text, attempt.digest, stage.module_path, attempt.label)
            job = self.job(stage, before.key.course, attempt, known)
        except StageWaits:
            return None
        texts = [found for digest in pool if (found := self._book.source(digest)) is not None]
        own = replace(job, pool=most_alike(stage, rows, text, texts))
        return own if own.key == before.key and len(texts) == len(pool) else None

    def _jobs(
        self, stage: Stage, course: str, attempts: Iterable[Taken], known: dict[tuple[str, str], Attempt], tally: Tally
    ) -> Iterator[Job]:
        """Yield what is to be graded; note at once what is known, and what cannot be graded."""
        recurs = tally.total - len(known) >= RECURRING * POOL
        for taken in attempts:
            attempt = taken.attempt
            before = known.get((attempt.student, attempt.digest))
            if before is None and taken.outcome != "fault":
                known[attempt.student, attempt.digest] = attempt
            if before is not None:
                self._retime(before, attempt)
                tally.kept += 1
            elif taken.snapshot is None:
                self._record_ungraded(stage, course, taken, tally)
            else:
                try:
                    job = self.job(stage, course, attempt, taken.snapshot)
                except StageWaits as why:
                    self._record_waiting(stage, course, attempt, taken.snapshot, why)
                    tally.wait(attempt.student, why.lacking)
                else:
                    yield replace(job, recurs=recurs)
                    continue
            self._told(tally)

    def _retime(self, before: Attempt, attempt: Attempt) -> None:
        """Let a time count that is better known now."""
        if (before.submitted, before.clock) != (attempt.submitted, attempt.clock):
            with self._book.changing():
                self._book.keep_attempt(attempt)
                mark(self._book, self._setting.policy, attempt.student, "another time", self._setting.now())

    def job(self, stage: Stage, course: str, attempt: Attempt, snapshot: Snapshot) -> Job:
        """Return the grading of a module with what it builds on: the student's own where that has passed.

        Raises StageWaits where none has, and the policy lends no reference yet.
        """
        setting = self._setting
        uses = known_modules(self._book, setting.policy, stage, attempt.student, setting.now())
        snapshot = replace(snapshot, uses=uses)
        key = self.key(attempt, snapshot.whole, course)
        return Job(key, attempt, snapshot, setting.policy.feedback)

    def key(self, attempt: Attempt, digest: str, course: str) -> Key:
        """Return the key of a result: with the seed that the attempt had before, else one of this run's."""
        seed = self._setting.seeds.of(attempt.student, attempt.stage, attempt.digest)
        key = Key(attempt.student, attempt.stage, digest, course, seed, self._setting.isolation)
        before = self._book.seed(attempt, key)
        return key if before is None else replace(key, seed=before)

    def _results(self, jobs: Iterator[Job]) -> Iterator[tuple[Job, Done | GraderError]]:
        """Have jobs graded, a few ahead of the processes; a job whose process dies is tried again."""
        running: dict[Future[Done], tuple[Job, int]] = {}
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

    def regrade(self, stage: Stage, attempts: Iterable[Taken]) -> dict[tuple[str, str, str], int]:
        """Grade attempts again, each that has no result with the course of now; let none of the results count yet.

        Return the numbers of results that are no faults, by student, stage and digest.
        """
        found: dict[tuple[str, str, str], int] = {}
        items = list(attempts)
        tally, course = Tally(stage.id, len(items)), course_version(stage)
        for job, done in self._results(self._again(stage, course, items, found, tally)):
            result = self._result(stage, job, done)
            with self._book.changing():
                number = self._book.keep_result(result)
                fault = self._noted(result, done)
            if result.outcome != "fault":
                found[job.attempt.student, stage.id, job.attempt.digest] = number
            tally.count(result, fault)
            self._told(tally)
        self._told(tally)
        self._explain(stage, self._with_pools_of_before(stage, items, found))
        return found

    def _with_pools_of_before(
        self, stage: Stage, items: Iterable[Taken], found: dict[tuple[str, str, str], int]
    ) -> Iterator[tuple[Attempt, int | None, tuple[str, ...]]]:
        """Yield attempts that were graded again, each with its new result and the pool of the one that counts."""
        for attempt in (each.attempt for each in items):
            if attempt.result is not None and (pool := self._book.pool(attempt.result)):
                yield attempt, found.get((attempt.student, stage.id, attempt.digest)), pool

    def _again(
        self, stage: Stage, course: str, attempts: Iterable[Taken], found: dict[tuple[str, str, str], int], tally: Tally
    ) -> Iterator[Job]:
        for taken in attempts:
            attempt = taken.attempt
            place = attempt.student, stage.id, attempt.digest
            if taken.snapshot is None:
                with self._book.changing():
                    found[place] = self._book.keep_result(self._ungraded(stage, course, taken))
                tally.kept += 1
                continue
            try:
                job = self.job(stage, course, attempt, taken.snapshot)
            except StageWaits as why:  # the result that counts stays
                tally.wait(attempt.student, why.lacking)
                continue
            known = self._book.known(job.key)
            if known is None or known[1] == "fault":
                yield job
            else:
                found[place] = known[0]
                tally.kept += 1

    def _record(self, stage: Stage, job: Job, done: Done | GraderError, tally: Tally) -> Result:
        result = self._result(stage, job, done)
        with self._book.changing():
            self._book.keep_source(job.snapshot.digest, job.snapshot.source)
            self._write(job.attempt, result)
            fault = self._noted(result, done)
        tally.count(result, fault)
        return result

    def _noted(self, result: Result, done: Done | GraderError | None) -> str:
        """Write why the grader failed into the history, if it did, and return it."""
        if result.outcome != "fault" or done is None:
            return ""
        told = done.message if isinstance(done, GraderError) else done.fault
        why = one_line(told)[:MOST_WHY] or "it did not say why"
        self._book.note_fault(result.key.student, result.key.stage, why, result.at)
        return why

    def _result(self, stage: Stage, job: Job, done: Done | GraderError) -> Result:
        setting = self._setting
        if isinstance(done, GraderError):
            document = ungraded(stage, job.key, setting.policy.feedback, done, setting.made)
            done = Done(document, True, 0.0, "")
        outcome: Outcome = "fault" if done.is_fault else "graded"
        seconds = 0.0 if job.snapshot.withheld else round(done.seconds, 3)  # code beside a reference chooses its time
        verdict = decided(done.verdict, setting.policy.of(stage.id).passes)
        return Result(job.key, outcome, verdict, setting.now(), seconds, _made(setting, done.worker))

    def _ungraded(self, stage: Stage, course: str, taken: Taken) -> Result:
        setting, attempt = self._setting, taken.attempt
        assert taken.error is not None
        key = self.key(attempt, attempt.digest, course)
        document = ungraded(stage, key, setting.policy.feedback, taken.error, setting.made)
        return Result(key, taken.outcome, document, setting.now(), 0.0, _made(setting, ""))

    def _record_ungraded(self, stage: Stage, course: str, taken: Taken, tally: Tally) -> None:
        result = self._ungraded(stage, course, taken)
        with self._book.changing():
            self._write(taken.attempt, result)
            fault = self._noted(result, taken.error)
        tally.count(result, fault)

    def _record_waiting(self, stage: Stage, course: str, attempt: Attempt, snapshot: Snapshot, why: StageWaits) -> None:
        """Keep what was handed in, and that it waits: neither a result nor a mark, so that the next run tries again."""
        setting = self._setting
        key = Key(attempt.student, stage.id, attempt.digest, course, 0, "none")
        document = ungraded(stage, key, setting.policy.feedback, why, setting.made)
        with self._book.changing():
            self._book.keep_source(snapshot.digest, snapshot.source)
            self._book.keep_attempt(attempt)
            self._book.keep_waiting(Waiting(attempt.student, stage.id, attempt.digest, document, setting.now()))

    def _write(self, attempt: Attempt, result: Result) -> None:
        self._book.keep_attempt(attempt)
        self._book.drop_waiting(attempt)
        number = self._book.keep_result(result)
        if result.outcome != "fault":
            self._book.count_for(attempt.student, attempt.stage, attempt.digest, number)
            mark(self._book, self._setting.policy, attempt.student, result.outcome, self._setting.now())


def _made(setting: Setting, worker: str) -> Made:
    made = setting.made
    return Made(made.python or "", made.numpy or "", made.commit or made.release or "", worker)


def _is_of(attempt: Attempt, stage: Stage) -> bool:
    return attempt.stage == stage.id and attempt.result is not None


def _fault(error: BaseException, tries: int) -> GraderError:
    """Return what stands for a grading that failed; whatever is no Exception ends the run."""
    if not isinstance(error, Exception):
        raise error
    if isinstance(error, WorkerDied):
        return GraderFault(f"{error.message}, {tries} times")
    return GraderFault(error.message if isinstance(error, GraderError) else f"{type(error).__name__}: {error}")
