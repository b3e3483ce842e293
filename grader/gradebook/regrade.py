"""`grader class regrade`: with the course and the policy of now, who would change, by how much and why.

Nothing changes before that is known. Results are kept, since they are true, but count only once they are applied; so
applying does not grade again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.course.stage import Course, Stage
from grader.course.table import did_you_mean
from grader.errors import StageWaits, SubmissionError, UsageError
from grader.gradebook.class_run import OnProgress, RunContext, RunOptions, Tally, opened
from grader.gradebook.grade_class import Coordinator, coordinating, explain
from grader.gradebook.intake import ReadAttempt
from grader.gradebook.job import GradingJob
from grader.gradebook.marks import MarkChange, differences, update_marks
from grader.gradebook.records import Attempt
from grader.gradebook.store import Gradebook
from grader.submission import Snapshot

Found = dict[tuple[str, str, str], int]  # the number of a result by student, stage and digest


def regrade(
    course: Course,
    stages: tuple[Stage, ...],
    options: RunOptions,
    on_progress: OnProgress,
    reason: str | None = None,
    students: tuple[str, ...] = (),
) -> tuple[tuple[Tally, ...], tuple[MarkChange, ...]]:
    """Grade again what the gradebook holds, of all or of some students; with a reason, change the marks.

    Return how the gradings of each stage went, and each mark that would change, or has.
    """
    tallies: dict[str, Tally] = {}

    def noted(tally: Tally) -> None:
        tallies[tally.stage] = tally
        on_progress(tally)

    with opened(course, stages, options, create=False) as (book, context):
        known = book.students()
        for each in students:
            if each not in known:
                raise UsageError(f"{each!r} is not in the gradebook{did_you_mean(each, known)}", "Nothing was graded.")
        with coordinating(stages, options, book, context, noted) as coordinator:
            found = results(coordinator, stages, students)
        changes = tuple(differences(book, context.policy, found, students or None))
        if reason is not None:
            apply(book, context, found, reason, students)
    return tuple(tallies.values()), changes


def apply(book: Gradebook, context: RunContext, found: Found, reason: str, students: tuple[str, ...] = ()) -> None:
    """Let results count, and bring all marks up to date, or those of some students: all of it, or nothing."""
    with book.changing():
        if not students:
            book.keep_passes(context.policy.passes(context.course.stages))
        for (student, stage, digest), number in found.items():
            book.count_for(student, stage, digest, number)
        for student in students or book.students():
            update_marks(book, context.policy, student, reason, context.now())


def results(coordinator: Coordinator, stages: Sequence[Stage], students: Sequence[str] = ()) -> Found:
    """Grade every attempt of stages again, where that has not been done; return the results that are no faults."""
    found: Found = {}
    for stage in stages:
        _grade_again(coordinator, stage, found, students)
    return found


def _grade_again(coordinator: Coordinator, stage: Stage, found: Found, students: Sequence[str]) -> None:
    """Grade each attempt that has no result with the course of now; let none of the results count yet."""
    book = coordinator.book
    attempts = [each for each in book.attempts() if each.stage == stage.id and each.result is not None]
    attempts = [each for each in attempts if not students or each.student in students]
    tally = Tally(stage.id, len(attempts))
    coordinator.on_progress(tally)
    for job, done in coordinator.results(_to_grade(coordinator, stage, attempts, found, tally)):
        result, why = coordinator.result(stage, job, done)
        with book.changing():
            number = book.keep_result(result)
            fault = coordinator.note_fault(result, why)
        if result.outcome != "fault":
            found[job.attempt.student, stage.id, job.attempt.digest] = number
        tally.count(result, fault)
        coordinator.on_progress(tally)
    coordinator.on_progress(tally)
    pools = ((each, book.pool(each.result)) for each in attempts if each.result is not None)
    explain(
        coordinator, stage, ((each, found.get((each.student, stage.id, each.digest)), pool) for each, pool in pools)
    )


def _to_grade(
    coordinator: Coordinator, stage: Stage, attempts: Sequence[Attempt], found: Found, tally: Tally
) -> Iterator[GradingJob]:
    """Yield what has no result with the course of now; note what has one, and what cannot be graded."""
    book = coordinator.book
    for attempt in attempts:
        place = attempt.student, stage.id, attempt.digest
        taken = _taken(book, attempt, stage)
        if taken.snapshot is None and taken.outcome == "graded":  # a verdict from elsewhere, which stays
            tally.without_text.append(attempt.student)
            tally.kept += 1
            continue
        if taken.snapshot is None:
            with book.changing():
                found[place] = book.keep_result(coordinator.ungraded(stage, taken))
            tally.kept += 1
            continue
        try:
            job = coordinator.job(stage, attempt, taken.snapshot)
        except StageWaits as why:  # the result that counts stays
            tally.wait(attempt.student, why.lacking)
            continue
        known = book.known(job.key)
        if known is None or known[1] == "fault":
            yield job
        else:
            found[place] = known[0]
            tally.kept += 1


def _taken(book: Gradebook, attempt: Attempt, stage: Stage) -> ReadAttempt:
    assert attempt.result is not None
    text = book.source(attempt.digest)
    if text is not None:
        return ReadAttempt(attempt, Snapshot(stage.module, text, attempt.digest, stage.module_path, attempt.label))
    before = book.result(attempt.result)
    problem = before.verdict.get("problem") or {}
    error = SubmissionError(str(problem.get("message", "nothing was handed in")), problem.get("hint"))
    return ReadAttempt(attempt, None, before.outcome, error)
