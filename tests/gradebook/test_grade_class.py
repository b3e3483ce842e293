"""The coordinator: what is graded once, what is tried again, what a fault costs, and what a regrade would change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader.course.manifest import load_course
from grader.course.provenance import Provenance
from grader.course.stage import Course
from grader.errors import GraderFault
from grader.gradebook.class_run import POOL, RunContext, Seeds, Tally
from grader.gradebook.grade_class import RECURRING, Coordinator
from grader.gradebook.intake import taken
from grader.gradebook.job import Done, GradingJob, course_version
from grader.gradebook.marks import differences, table, update_marks
from grader.gradebook.policy import Policy, StagePolicy
from grader.gradebook.process_pool import WorkerDied
from grader.gradebook.records import Attempt, Key, Override, Result
from grader.gradebook.regrade import apply, results
from grader.gradebook.store import Gradebook
from grader.gradebook.submissions import listing
from tests.support.command import NUMBERS, WRONG, Place

NOW = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)
STAGES, FEW = 22, 16  # SQLite names a statement again for each trigger that it sets off
SEEDS = Seeds(tuple(range(16)), b"key")
Answer = Callable[[GradingJob], Done]


def done(job: GradingJob | None, passing: int, fault: bool = False) -> Done:
    """Return what a process says of a module of which that many of two rows pass."""
    rows: list[dict[str, Any]] = [
        {"id": name, "status": "passed" if place < passing else "failed", "kinds": {}, "tests_passed": 0,
         "tests_total": 1, "values_right": False}
        for place, name in enumerate(("double", "quadruple"))
    ]  # fmt: skip
    document = {"passed": passing == 2, "criteria": rows, "problem": None}
    return Done(document, fault, 0.1, "here:1", "the course broke" if fault else "")


def by_text(job: GradingJob) -> Done:
    return done(job, 2 if b"2 * x" in job.snapshot.source else 0)


class Here(Executor):
    """Answers each job at once; raises what an answer is instead."""

    def __init__(self, answer: Answer = by_text) -> None:
        self.answer = answer
        self.jobs: list[GradingJob] = []

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        (job,) = arguments
        self.jobs.append(job)
        try:
            future.set_result(self.answer(job))
        except BaseException as error:
            future.set_exception(error)
        return future


@pytest.fixture
def course(place: Place) -> Course:
    return load_course(place.root)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Gradebook]:
    with Gradebook.open(tmp_path / "out", create=True) as book:
        yield book


@pytest.fixture
def handed(tmp_path: Path) -> Path:
    folder = tmp_path / "handed"
    folder.mkdir()
    for name, text in {"ada": NUMBERS, "bob": WRONG, "cy": NUMBERS}.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "dee").mkdir()
    return folder


class Class:
    """A class that is graded into a gradebook with an executor that a test gives."""

    def __init__(self, course: Course, book: Gradebook, handed: Path, policy: Policy | None = None) -> None:
        self.course, self.book, self.handed = course, book, handed
        self.context = RunContext(course, policy or Policy(), "process", SEEDS, Provenance(python="3"), lambda: NOW)

    def coordinator(self, executor: Executor) -> Coordinator:
        return Coordinator(self.book, self.context, executor, 2, lambda tally: None)

    def grade(self, executor: Executor, stage: str = "s01") -> Tally:
        target = self.course.find(stage)
        arrivals = listing(self.handed, UTC).arrivals
        found = [each for one in arrivals for each in taken(one, target, self.course.root, True)]
        return self.coordinator(executor).grade(target, found, len(found))

    def regraded(self, executor: Executor) -> dict[tuple[str, str, str], int]:
        return results(self.coordinator(executor), self.course.stages[:1])

    @property
    def points(self) -> dict[str, float | None]:
        return {entry.student: entry.points for entry in table(self.book)}


@pytest.fixture
def group(course: Course, book: Gradebook, handed: Path) -> Class:
    return Class(course, book, handed)


def test_everyone_gets_a_mark_and_a_second_run_grades_nothing(group: Class) -> None:
    tally = group.grade(first := Here())
    assert (tally.passed, tally.failed, tally.missing, tally.kept) == (2, 1, 1, 0)
    assert group.points == {"ada": 2.0, "bob": 0.0, "cy": 2.0, "dee": 0.0}
    before = group.book.history()
    tally = group.grade(second := Here())
    assert (len(first.jobs), second.jobs, tally.kept) == (3, [], 4)
    assert group.book.history() == before


def test_seeds_recur_where_enough_is_graded_in_one_run(group: Class) -> None:
    group.grade(few := Here())
    assert not any(job.recurs for job in few.jobs)
    for number in range(RECURRING * POOL):
        (group.handed / f"s{number}.py").write_text(f"{NUMBERS}# {number}\n")
    group.grade(many := Here())
    assert len(many.jobs) == RECURRING * POOL and all(job.recurs for job in many.jobs)
    (group.handed / "late.py").write_text(f"{NUMBERS}# late\n")
    group.grade(one := Here())
    assert [job.recurs for job in one.jobs] == [False]


def test_a_result_takes_as_few_statements_at_the_last_stage_as_at_the_first(group: Class) -> None:
    """Each is one transaction. 62 statements were traced when a student had results of 22 stages."""
    for number in range(2, STAGES + 1):
        attempt = Attempt("bob", f"s{number:02}", f"{number:x>64}", NOW, "file", "bob.py")
        key = Key("bob", attempt.stage, attempt.digest, "1", 7, "process")
        with group.book.changing():
            group.book.keep_attempt(attempt)
            result = group.book.keep_result(Result(key, "graded", done(None, 2).verdict, NOW, 0.1))
            group.book.count_for("bob", attempt.stage, attempt.digest, result)
            update_marks(group.book, group.context.policy, "bob", "graded", NOW)
    traced: list[str] = []
    group.book._connection.set_trace_callback(traced.append)
    group.grade(Here())
    group.book._connection.set_trace_callback(None)
    of_student = {student: [each for each in traced if f"'{student}'" in each] for student in ("ada", "bob")}
    assert len(of_student["ada"]) == len(of_student["bob"]) < FEW
    assert traced.count("BEGIN IMMEDIATE") == traced.count("COMMIT") == len(group.points)
    assert len(group.book.marks()) == STAGES + len(group.points) - 1


def test_a_module_that_comes_anew_is_another_attempt(group: Class) -> None:
    group.grade(Here())
    (group.handed / "bob.py").write_text(NUMBERS)
    tally = group.grade(executor := Here())
    assert ([job.key.student for job in executor.jobs], tally.kept) == (["bob"], 3)
    assert group.points["bob"] == 2.0 and len(group.book.attempts("bob")) == 2


def test_a_judge_that_dies_is_tried_again_and_one_that_dies_twice_is_marked(group: Class) -> None:
    deaths = {"ada": 1, "bob": 2}

    def dying(job: GradingJob) -> Done:
        if deaths.get(job.key.student, 0):
            deaths[job.key.student] -= 1
            raise WorkerDied("the process that graded ended")
        return by_text(job)

    tally = group.grade(executor := Here(dying))
    assert [job.key.student for job in executor.jobs].count("bob") == 2
    why = "the process that graded ended, 2 times"
    assert (tally.passed, tally.faults) == (2, [("bob", why)])
    assert group.points == {"ada": 2.0, "bob": None, "cy": 2.0, "dee": 0.0}
    fault = next(each for each in group.book.results() if each.outcome == "fault")
    assert fault.verdict["faults"] == [why]
    assert [(each.student, each.why) for each in group.book.history() if each.what == "fault"] == [("bob", why)]
    assert {each.student: each.fault for each in table(group.book)} == {"ada": "", "bob": why, "cy": "", "dee": ""}
    tally = group.grade(executor := Here())
    assert ([job.key.student for job in executor.jobs], group.points["bob"]) == (["bob"], 0.0)


@pytest.mark.parametrize("error", [GraderFault("no memory"), ValueError("unforeseen")])
def test_a_fault_costs_nobody_else_anything_and_no_mark(error: Exception, group: Class) -> None:
    def failing(job: GradingJob) -> Done:
        if job.key.student == "ada":
            raise error
        return done(job, 1, fault=job.key.student == "bob")

    tally = group.grade(Here(failing))
    message = error.message if isinstance(error, GraderFault) else "ValueError: unforeseen"
    assert (tally.faults, tally.failed) == ([("ada", message), ("bob", "the course broke")], 1)
    for _ in range(2):
        assert {each.student: each.fault for each in table(group.book) if each.fault} == dict(tally.faults)
        assert [each.student for each in group.book.history() if each.what == "fault"] == ["ada", "bob"]
        group.grade(Here(failing))  # once more, and the history says nothing new
    assert group.points == {"ada": None, "bob": None, "cy": 1.0, "dee": 0.0}


def test_an_interrupt_keeps_what_was_recorded(group: Class) -> None:
    def stopping(job: GradingJob) -> Done:
        if job.key.student == "cy":
            raise KeyboardInterrupt
        return by_text(job)

    with pytest.raises(KeyboardInterrupt):
        group.grade(Here(stopping))
    group.grade(executor := Here())
    assert "ada" not in [job.key.student for job in executor.jobs]
    assert len(group.book.results()) == 4 == len({each.key for each in group.book.results()})


def test_a_regrade_shows_what_changes_and_changes_nothing_until_it_is_applied(group: Class, place: Place) -> None:
    group.grade(Here())
    group.book.keep_override(Override("ada", "s01", 1.5, "oral exam", "prof", NOW))
    version = course_version(group.course.find("s01"))
    path = place.root / "hidden" / "s01_numbers" / "test_hidden_double.py"
    path.write_text(path.read_text() + "\n")
    assert course_version(group.course.find("s01")) != version
    found = group.regraded(executor := Here(lambda job: done(job, 1)))
    assert len(executor.jobs) == 3
    told = {each.student: each for each in differences(group.book, group.context.policy, found)}
    assert sorted(told) == ["ada", "bob", "cy"]
    assert (told["ada"].override, told["cy"].before and told["cy"].before.points, told["cy"].after.points) == (
        1.5,
        2.0,
        1.0,
    )
    assert told["cy"].why == "quadruple: passed → failed; changed: the tests"
    assert group.points == {"ada": 1.5, "bob": 0.0, "cy": 2.0, "dee": 0.0}
    assert group.regraded(Here(lambda job: done(job, 0))) == found  # kept: applying does not grade again
    apply(group.book, group.context, found, "a test was wrong")
    assert group.points == {"ada": 1.5, "bob": 1.0, "cy": 1.0, "dee": 0.0}
    assert list(differences(group.book, group.context.policy, found)) == []
    reasons = {each.why for each in group.book.history() if each.what == "mark"}
    assert reasons == {"graded", "missing", "a test was wrong"}


def test_a_fault_in_a_regrade_leaves_the_mark(group: Class) -> None:
    group.grade(Here())
    group.context = replace(group.context, isolation="landlock")
    found = group.regraded(Here(lambda job: done(job, 0, fault=True)))
    assert all(group.book.result(number).outcome != "fault" for number in found.values())
    apply(group.book, group.context, found, "regraded")
    assert group.points == {"ada": 2.0, "bob": 0.0, "cy": 2.0, "dee": 0.0}


def test_another_policy_is_told_by_a_regrade(group: Class) -> None:
    group.grade(Here())
    policy = Policy(stages={"s01": StagePolicy(points=10)})
    group.context = replace(group.context, policy=policy)
    found = group.regraded(executor := Here())
    assert executor.jobs == []
    told = {
        each.student: (each.after.points, each.why) for each in differences(group.book, group.context.policy, found)
    }
    assert told["ada"] == (10.0, "changed: the points in class.toml")


def test_a_clock_that_jumps_back_changes_no_mark_and_no_order(group: Class) -> None:
    group.grade(Here())
    points, before = group.points, [each.number for each in group.book.history()]
    group.context = replace(group.context, now=lambda: datetime(1970, 1, 1, tzinfo=UTC))
    (group.handed / "bob.py").write_text(NUMBERS)
    group.grade(Here())
    assert group.points == points | {"bob": 2.0}
    later = [each for each in group.book.history() if each.number not in before]
    assert {each.student for each in later} == {"bob"} and min(each.number for each in later) > max(before)
