"""A test that shares a process with those before it ends as it would in one of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest

from grader.isolation import tiers
from grader.judging.grading import Grader, Options
from grader.submission import take
from grader.verdict import Verdict
from tests.conftest import SmallCourse
from tests.support.good_stage import SOLUTION, write_stage

pytestmark = [pytest.mark.skipif(not tiers.FORKS, reason="needs forks"), pytest.mark.usefixtures("brief_search")]

# What a module leaves in the standard library is not looked at, so that the tests after the first find it there.
LEAVES = "import json\n" + SOLUTION.replace("    return x.sum", "    SOMETHING\n    return x.sum")
BREAKS_LATER = """json.calls = getattr(json, "calls", 0) + 1
    if json.calls > 1:
        {}"""
SEEDS = itertools.count()
LIES = """from grader.worker.server import Server
    Server.has_changed = lambda server: False
    """


@pytest.fixture(scope="module")
def grader(small_course: SmallCourse) -> Iterator[tuple[SmallCourse, Grader]]:
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small")
    with Grader(small_course.course, small_course.stage, warm=True) as grader:
        yield small_course, grader


def graded(grader: tuple[SmallCourse, Grader], source: str) -> Verdict:
    course, kept = grader
    path = course.root.parent / "shared.py"
    path.write_text(source, encoding="utf-8")
    return kept.grade(take(course.stage, path, course.root), Options(next(SEEDS), "process"))


@pytest.mark.parametrize(
    "end",
    [
        'raise RuntimeError("a second time")',
        "return x * 0",
        "import os; os._exit(3)",
        "x += 1",
        "raise NotImplementedError",
        'return bytearray(1 << 40)',
    ],
)  # fmt: skip
def test_what_fails_beside_leftovers_is_tried_in_a_process_of_its_own(
    grader: tuple[SmallCourse, Grader], end: str
) -> None:
    verdict = graded(grader, LEAVES.replace("SOMETHING", BREAKS_LATER.format(end)))
    assert verdict.passed


@pytest.mark.parametrize("end", ['raise RuntimeError("a second time")', "return x * 0"])
def test_one_that_says_that_it_left_nothing_gets_no_more(grader: tuple[SmallCourse, Grader], end: str) -> None:
    verdict = graded(grader, LEAVES.replace("SOMETHING", LIES + BREAKS_LATER.format(end)))
    assert [failure.message for row in verdict.criteria for failure in row.failures] == []


def test_what_is_wrong_stays_wrong(grader: tuple[SmallCourse, Grader]) -> None:
    verdict = graded(grader, SOLUTION.replace("total(x) / 2", "total(x) / 3"))
    assert [(row.id, row.status, row.tests_passed) for row in verdict.criteria] == [
        ("total", "passed", 2),
        ("half", "failed", 0),
    ]


def test_a_function_that_hangs_is_waited_for_once(grader: tuple[SmallCourse, Grader]) -> None:
    course, _ = grader
    path = course.root.parent / "hanging.py"
    path.write_text(SOLUTION.replace("return total(x) / 2", "import time; time.sleep(60)"), encoding="utf-8")
    stage = replace(course.stage, limits=replace(course.stage.limits, call_seconds=1.0))
    with Grader(course.course, stage) as hurried:
        verdict = hurried.grade(take(stage, path, course.root), Options(1, "process"))
    assert [(row.status, row.tests_passed) for row in verdict.criteria] == [("passed", 2), ("timed_out", 0)]
    waited = [each.message for row in verdict.criteria for each in row.failures]
    assert len(waited) == 2 and sum("skipped" in each for each in waited) == 1


def test_a_change_of_an_argument_is_no_pass(grader: tuple[SmallCourse, Grader]) -> None:
    changing = SOLUTION.replace("    return x.sum(axis=1)", "    x += 1\n    return (x - 1).sum(axis=1)")
    assert {row.id: row.status for row in graded(grader, changing).criteria}["total"] == "failed"


def test_code_that_fails_now_and_then_does_not_pass_by_trying(grader: tuple[SmallCourse, Grader]) -> None:
    """Each second call is wrong, as a file counts: what would pass by luck in two tries of each test does not."""
    flaky = """try:
        calls = open("calls").read() + "."
    except OSError:
        calls = "."
    open("calls", "w").write(calls)
    if len(calls) % 2 == 0:
        return x[:, 0]"""
    source = SOLUTION.replace("    return x.sum", f"    {flaky}\n    return x.sum")
    assert not graded(grader, source).passed
