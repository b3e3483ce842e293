"""A stage and the outcomes of its tests make a verdict; nothing passes by default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from grader.course.provenance import UNKNOWN, Provenance
from grader.course.stage import Criterion, Feedback, Stage
from grader.outcome import Diagnosis, Outcome, Status, Where
from grader.submission.source import Problem

SCHEMA = 1
SOURCE = "the source"  # stands for a test where the module's text is what fails a row
# Ends that say where a test stopped, and not in which function: one that calls another may have stopped there.
ABRUPT: tuple[Status, ...] = ("crashed", "timed_out", "over_limit")
# The first of these that any test of a row has is the row's status.
GRAVITY: tuple[Status, ...] = ("grader_fault", "crashed", "timed_out", "over_limit", "failed", "not_started", "blocked")


@dataclass(frozen=True)
class Failure:
    """One test that did not pass, as a learner is told of it."""

    test: str
    hidden: bool
    status: Status
    call: str
    message: str
    diagnosis: Diagnosis | None
    where: Where | None
    notes: tuple[str, ...] = ()
    unexplained: str = ""  # why an explanation could not be made
    help: str = ""  # what an exception means here


@dataclass(frozen=True)
class CriterionResult:
    """One row of the checklist; waits_for holds the rows, or functions, that have to come first."""

    id: str
    text: str
    status: Status
    tests_passed: int
    tests_total: int
    failures: tuple[Failure, ...] = ()
    waits_for: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """What is known of a grading run beside its tests."""

    seed: int
    isolation: str
    isolation_note: str | None
    duration_s: float
    course: str
    submission: str
    label: str
    only: str | None = None
    public_only: bool = False
    revision: str | None = None  # the commit that the module was taken from
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class Verdict:
    """The result of grading one module; passed only when every row is. problem replaces the rows' failures.

    feedback is how much is told of hidden tests, unrecorded why progress could not be written. Where run.public_only
    says that hidden tests are sealed, rows are about public tests, and the module has not passed.
    """

    stage: str
    title: str
    passed: bool
    criteria: tuple[CriterionResult, ...]
    run: Run
    problem: Problem | None = None
    faults: tuple[str, ...] = ()
    unlocked: tuple[str, ...] = ()
    locked: bool = False
    feedback: Feedback = "full"
    unrecorded: str = ""

    @property
    def public_passed(self) -> bool:
        """Whether a run of the public tests alone found nothing wrong in any row."""
        rows = self.run.public_only and bool(self.criteria) and all(row.status == "passed" for row in self.criteria)
        return rows and not self.grader_fault and self.problem is None

    @property
    def grader_fault(self) -> bool:
        """Whether anything went wrong on our side, so that this verdict must not count."""
        return bool(self.faults) or any(row.status == "grader_fault" for row in self.criteria)


def decide(
    stage: Stage,
    expected: Iterable[tuple[str, str, bool]],
    outcomes: Iterable[Outcome],
    run: Run,
    *,
    problem: Problem | None = None,
    faults: tuple[str, ...] = (),
    refused: Mapping[str, Problem] | None = None,
    reaches: Mapping[str, frozenset[str]] | None = None,
) -> Verdict:
    """Return the verdict of a run; expected holds (test, criterion, hidden) of every test that had to end.

    refused holds the rows whose functions reach what the stage forbids: they fail, whatever their tests found. reaches
    holds for each function those that it leads to in the module's text.
    """
    by_test = {outcome.test: outcome for outcome in outcomes}
    wanted = list(expected)
    fine = {row for _, row, _ in wanted} - {
        outcome.criterion for outcome in by_test.values() if outcome.status != "passed"
    }
    by_test = {test: _plausible(outcome, fine) for test, outcome in by_test.items()}
    rows: list[CriterionResult] = []
    # Of rows that were not asked for nothing is known, so the one that was waits for none of them.
    passed = set() if run.only is None else {criterion.id for criterion in stage.criteria} - {run.only}
    for criterion in stage.criteria:
        if run.only is not None and criterion.id != run.only:
            continue
        tests = [(test, hidden) for test, row, hidden in wanted if row == criterion.id]
        row = _row(criterion, tests, by_test, stage, passed, problem, run.public_only)
        if problem is None and refused and criterion.id in refused:
            row = _refused(row, refused[criterion.id], run.label)
        rows.append(row)
        if row.status == "passed":
            passed.add(criterion.id)
    rows = [_held_up(row, rows, stage, reaches or {}) for row in rows]
    whole = bool(rows) and all(row.status == "passed" for row in rows) and not faults and problem is None
    whole = whole and not run.public_only
    return Verdict(stage.id, stage.title, whole, tuple(rows), run, problem, faults)


def _row(
    criterion: Criterion,
    tests: list[tuple[str, bool]],
    by_test: dict[str, Outcome],
    stage: Stage,
    passed: set[str],
    problem: Problem | None,
    public_only: bool,
) -> CriterionResult:
    found = [by_test.get(test) or _unfinished(test, criterion.id, hidden) for test, hidden in tests]
    done = sum(outcome.status == "passed" for outcome in found)
    if problem is not None:
        return CriterionResult(criterion.id, criterion.text, "blocked", 0, len(tests), (), ("the module",))
    if not tests or not (public_only or any(hidden for _, hidden in tests)):
        found.append(_unfinished("public tests" if public_only else "hidden tests", criterion.id, not public_only))
    if all(outcome.status == "passed" for outcome in found):
        return CriterionResult(criterion.id, criterion.text, "passed", done, len(tests))
    statuses = {outcome.status for outcome in found}
    status = next(s for s in GRAVITY if s in statuses)
    waits = _waits_for(criterion, found, stage, passed)
    if status in ("failed", "blocked") and waits:
        status = "blocked"
    failures = tuple(_failure(outcome, found) for outcome in found if outcome.status != "passed")
    return CriterionResult(
        criterion.id, criterion.text, status, done, len(tests), failures, waits if status == "blocked" else ()
    )


def _held_up(
    row: CriterionResult, rows: list[CriterionResult], stage: Stage, reaches: Mapping[str, frozenset[str]]
) -> CriterionResult:
    """Return a row that ended abruptly as one that waits, if its functions lead to another row's that ended likewise.

    Which of two that lead to each other is to blame nobody can tell: both stay as they are.
    """
    if row.status not in ABRUPT:
        return row

    def led_to(one: str, other: str) -> list[str]:
        into = stage.criterion(other).functions
        from_one = stage.criterion(one).functions
        return [name for name in into if name not in from_one and any(name in reaches.get(f, ()) for f in from_one)]

    alike = [other.id for other in rows if other.status == row.status and other.id != row.id]
    below = [other for other in alike if led_to(row.id, other) and not led_to(other, row.id)]
    first = [each for each in below if not any(led_to(each, other) for other in below if other != each)]
    waits = tuple(dict.fromkeys(led_to(row.id, other)[0] for other in first or below))
    return replace(row, status="blocked", waits_for=waits) if waits else row


def _refused(row: CriterionResult, problem: Problem, label: str) -> CriterionResult:
    """Return a row of which the text tells enough: no test of it counts, and its one failure is the problem."""
    message = problem.message if problem.hint is None else f"{problem.message}\n{problem.hint}"
    where = Where(label, problem.line) if problem.line else None
    failure = Failure(SOURCE, False, "failed", "", message, None, where)
    return CriterionResult(row.id, row.text, "failed", 0, row.tests_total, (failure,))


def _plausible(outcome: Outcome, fine: set[str]) -> Outcome:
    """Return an outcome without the mistakes whose own row passes: whoever made one would fail there."""
    return replace(
        outcome, explains=tuple(diagnosis for diagnosis in outcome.explains if diagnosis.criterion not in fine)
    )


def _unfinished(test: str, criterion: str, hidden: bool) -> Outcome:
    return Outcome(test, criterion, hidden, "grader_fault", "this test did not finish")


def _waits_for(criterion: Criterion, found: list[Outcome], stage: Stage, passed: set[str]) -> tuple[str, ...]:
    """Return what comes first: functions that it called in vain, else rows below it that do not pass."""
    needed: list[str] = []
    queue = list(criterion.needs)
    while queue:
        need = queue.pop(0)
        if need not in passed and need not in needed:
            needed.append(need)
            queue += stage.criterion(need).needs
    names = [function for need in needed for function in stage.criterion(need).functions[:1]]
    called = [outcome.waits_on for outcome in found if outcome.waits_on and outcome.waits_on not in criterion.functions]
    return tuple(dict.fromkeys(called or names))


def _failure(outcome: Outcome, found: list[Outcome]) -> Failure:
    others = (other.explains for other in found if other is not outcome and other.explains)
    diagnosis = the_one(outcome.explains, others)
    place = (outcome.test, outcome.hidden, outcome.status)
    said, why = (outcome.call, outcome.message), (outcome.unexplained, outcome.help)
    return Failure(*place, *said, diagnosis, outcome.where, outcome.notes, *why)


def the_one(own: tuple[Diagnosis, ...], others: Iterable[tuple[Diagnosis, ...]]) -> Diagnosis | None:
    """Return the one mistake that explains a test, if need be narrowed by the row's other failures; else None."""
    left = {diagnosis.mistake: diagnosis for diagnosis in own}
    for more in others:
        shared = {d.mistake for d in more} & set(left)
        if len(left) > 1 and shared:
            left = {key: left[key] for key in shared}
    return next(iter(left.values())) if len(left) == 1 else None
