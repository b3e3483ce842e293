"""Which methods of a class a row has not started, and which it waits for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from grader.course.stage import Criterion, Stage
from grader.isolation import tiers
from grader.judging.grading import Grader, Options
from grader.judging.outcomes import Assessor, Late, _notes, called
from grader.outcome import Outcome, Status
from grader.sandbox.connection import Connection
from grader.sandbox.process import Job
from grader.sandbox.record import Frame, Notes
from grader.submission import take
from tests.support.command import MANIFEST, ROW
from tests.support.small_course import SmallCourse

NEEDS: dict[str, list[str]] = {"one": [], "two": [], "three": ["one"], "four": []}
KILL = "import os; os.kill(os.getpid(), 9)"
LIMITS = "\n[limits]\nstage_seconds = 30\ncall_seconds = 1\njudge_mb = 300\n"
ROWS = "".join(ROW.format(name=name, needs=json.dumps(needs)) for name, needs in NEEDS.items())
HEAD = MANIFEST.format(id="s90", title="Small", module="small", requires=[])
SOLUTION = """
    def one(x):
        return x


    def two(x):
        return one(x) + 1


    def three(x):
        return x + 2


    def four(x):
        return x + 3
"""
TEST = """
    @pytest.mark.criterion("{name}")
    class Test_{name}:
        def test_it(self, learner):
            assert learner.{name}(1) == {value}
            {more}
"""


def hidden(**more: str) -> str:
    """Return the tests, each in a class of its own; more is what one does besides."""
    numbered = enumerate(NEEDS, 1)
    return "".join(TEST.format(name=name, value=value, more=more.get(name, "")) for value, name in numbered)


def told(course: SmallCourse, source: str, **more: str) -> dict[str, Status]:
    """Return the tests in the order in which they came to their end, with their statuses."""
    return {row: outcome.status for row, outcome in outcomes(course, source, LIMITS, **more).items()}


def outcomes(course: SmallCourse, source: str, limits: str, **more: str) -> dict[str, Outcome]:
    """Return the outcomes of the tests by their rows, in the order in which they came to their end."""
    course.write(manifest=HEAD + limits + ROWS, solution=SOLUTION, hidden=hidden(**more))
    file = course.root / "handed_in.py"
    course._put(file, source)
    found: dict[str, Outcome] = {}
    with Grader(course.course, course.stage) as grader:
        options = Options(1, isolation="process")
        grader.grade(take(course.stage, file, course.root), options, lambda each: found.update({each.criterion: each}))
    return found


@pytest.mark.full_matrix
def test_a_row_that_leads_to_what_does_not_return_waits_less_and_leaves_the_others_their_time(
    small_course: SmallCourse,
) -> None:
    source = SOLUTION.replace("return x\n", "while True: pass\n")
    found = outcomes(small_course, source, LIMITS.replace("call_seconds = 1\n", "call_seconds = 6\n"))
    assert {row: each.status for row, each in found.items()} == {
        "one": "timed_out", "two": "timed_out", "three": "passed", "four": "passed"
    }  # fmt: skip
    assert found["two"].seconds < found["one"].seconds / 2  # a second of the six that the first one took


def test_a_module_that_returns_is_judged_in_order(small_course: SmallCourse) -> None:
    assert list(told(small_course, SOLUTION)) == ["one", "two", "three", "four"]


@pytest.mark.skipif(not tiers.FORKS, reason="a judge that is a fork")
@pytest.mark.full_matrix
def test_what_waits_when_a_judge_ends_is_judged_by_the_next(small_course: SmallCourse) -> None:
    source = SOLUTION.replace("return x\n", "while True: pass\n")
    found = told(small_course, source, four=KILL)
    assert found == {"one": "timed_out", "four": "grader_fault", "two": "timed_out", "three": "passed"}


@pytest.mark.skipif(not tiers.FORKS, reason="a judge that is a fork")
@pytest.mark.full_matrix
def test_what_waits_may_end_a_judge_itself(small_course: SmallCourse) -> None:
    """The next judge goes on with a test that does not follow it in the file."""
    source = SOLUTION.replace("return x\n", "while True: pass\n").replace("return one(x) + 1", "one; return x + 1")
    assert told(small_course, source, two=KILL) == {
        "one": "timed_out", "four": "passed", "two": "grader_fault", "three": "passed"
    }  # fmt: skip


def connection(*records: tuple[str, bool], late: str = "") -> Any:
    made = [SimpleNamespace(label=label, failed=failed, kind="call") for label, failed in records]
    return SimpleNamespace(records=made, late_function=late)


@pytest.fixture
def stage(small_course: SmallCourse) -> Stage:
    small_course.write(manifest=HEAD + LIMITS + ROWS, solution=SOLUTION, hidden=hidden())
    return small_course.stage


def test_functions_of_the_stage_that_were_called_are_told_once(stage: Stage) -> None:
    assert called(stage, connection(("one", False), ("other", False), ("one", False), ("two", True))) == ("one", "two")
    assert called(stage, None) == ()


def test_a_function_without_end_is_waited_for_less_each_later_time(stage: Stage) -> None:
    stage = replace(stage, limits=replace(stage.limits, call_seconds=30.0))
    found = Late(stage, b"def one(x): pass\ndef two(x): return one(x)\ndef three(x): pass\ndef four(x): pass\n")
    assert [found.seconds(name) for name in ("one", "two", "four", "helper")] == [30, 30, 30, 30]
    found.note(Outcome("test", "one", True, "timed_out"), connection(("one", True), late="one"))
    assert [found.seconds(name) for name in ("one", "two", "three", "four", "helper")] == [3, 3, 30, 30, 30]
    assert (found.seconds("two.method"), found.seconds("three.method")) == (3, 30)  # as where two is a class


def test_who_is_late_together_with_others_only_has_the_whole_time_again(stage: Stage) -> None:
    """So has one that is no function of the stage's, or that leads to none that is known to be late."""
    stage = replace(stage, limits=replace(stage.limits, call_seconds=30.0))
    for late in ("", "helper"):
        found = Late(stage, SOLUTION.encode())
        found.note(Outcome("test", "one", True, "timed_out"), connection(("one", True), late=late))
        assert found.seconds("one") == 30


@pytest.mark.full_matrix
def test_a_call_that_takes_less_than_a_tenth_does_so_after_a_late_one(small_course: SmallCourse) -> None:
    """The same function without an end for one argument: the row that asks for another one passes all the same."""
    course = small_course
    source = SOLUTION.replace("return x\n", "\n        while x == 1: pass\n        return x\n")
    hangs = hidden().replace("learner.two(1) == 2", "learner.two(2) == 3")
    course.write(manifest=HEAD + LIMITS.replace("= 1\n", "= 2\n") + ROWS, solution=SOLUTION, hidden=hangs)
    file = course.root / "handed_in.py"
    course._put(file, source)
    with Grader(course.course, course.stage) as grader:
        verdict = grader.grade(take(course.stage, file, course.root), Options(1, isolation="process"))
    assert {row.id: row.status for row in verdict.criteria} == {
        "one": "timed_out", "two": "passed", "three": "passed", "four": "passed"
    }  # fmt: skip


def row(name: str, *functions: str) -> Criterion:
    return Criterion(name, name, functions, (), ("a", "b", "c"))


CRITERIA = (
    row("softmax", "Layer.softmax", "Layer"),
    row("forward", "Layer.forward", "Layer"),
    row("alone", "Layer.other"),
)
STAGE = Stage("s90", Path("s90_small"), "Small", "small.py", (), CRITERIA)


@pytest.mark.parametrize(
    ("criterion", "missing", "status"),
    [
        ("softmax", "Layer.softmax", "not_started"),
        ("forward", "Layer.forward", "not_started"),
        ("forward", "Layer.softmax", "blocked"),  # another row is about it
        ("forward", "Layer.helper", "not_started"),  # no other row is
        ("forward", "Layer.__init__", "not_started"),  # every row of a class needs it
        ("alone", "Layer.__init__", "blocked"),
        ("alone", "Layer.other", "not_started"),
        ("alone", "helper", "blocked"),
    ],
)
def test_a_method_that_is_not_written(criterion: str, missing: str, status: str) -> None:
    judge = Assessor(STAGE, Job("small.py", b"", 1, 1, 64, Path()), None)
    found = judge._not_written(Outcome("test", criterion, False, "failed"), [Frame(3, missing)])
    assert (found.status, found.message) == (status, f"{missing} is not written yet")


def test_a_warning_that_comes_again_hides_no_other() -> None:
    notes = Notes(warnings=[("RuntimeWarning", "overflow", 3)] * 5 + [("UserWarning", "careful", 4)])
    connection = cast(Connection, SimpleNamespace(notes=notes))
    assert _notes(connection) == ("RuntimeWarning: overflow (line 3)", "UserWarning: careful (line 4)")
