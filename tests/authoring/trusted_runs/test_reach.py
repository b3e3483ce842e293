"""Which lines each test runs: those of functions, in a module of its own; what cannot be seen may run any."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from grader.authoring.trusted_runs import LinesReached, MutantRunner
from tests.conftest import SmallCourse
from tests.support.good_stage import HIDDEN, SOLUTION, write_stage

Seen = dict[str, LinesReached]
TOTAL = SOLUTION.splitlines().index("    return x.sum(axis=1)") + 1
HALF = SOLUTION.splitlines().index("    return total(x) / 2") + 1

ONCE = SOLUTION.replace("return x.sum(axis=1)", "if not SEEN:\n        SEEN.append(1)\n    return x.sum(axis=1)")
ODD = """

@pytest.mark.criterion("total")
@pytest.mark.values
def test_that_fails_with_the_reference(learner):
    assert learner.total(np.ones((2, 2))) is None


@pytest.mark.criterion("total")
@pytest.mark.values
@pytest.mark.xfail
def test_that_is_expected_to_fail(learner):
    learner.total(np.ones((2, 2)))


@pytest.mark.criterion("total")
@pytest.mark.values
def test_in_a_thread(learner):
    import threading

    thread = threading.Thread(target=learner.total, args=(np.ones((2, 2)),))
    thread.start()
    thread.join()
"""


@pytest.fixture(scope="module")
def see(small_course: SmallCourse) -> Callable[[str], Seen]:
    """What looks at a module's text with the tests of the small stage, and with some odd ones."""
    changes = {"hidden/test_hidden.py": HIDDEN + ODD}
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small", changes)

    def seen(source: str) -> Seen:
        with MutantRunner(small_course.course, small_course.stage) as runner:
            return {each.test.partition("::")[2]: each for each in runner.reached(source, 1)}

    return seen


@pytest.fixture(scope="module")
def seen(see: Callable[[str], Seen]) -> Seen:
    return see(SOLUTION)


def test_each_test_has_the_lines_of_functions_that_it_runs_and_its_row(seen: Seen) -> None:
    assert (seen["test_total_of_two_rows"].lines, seen["test_total_of_two_rows"].criterion) == (
        frozenset({TOTAL}),
        "total",
    )
    assert (seen["test_half_of_two"].lines, seen["test_half_of_two"].criterion) == (frozenset({TOTAL, HALF}), "half")
    assert seen["test_half_of_two"].seconds > 0


@pytest.mark.parametrize("name", ["test_that_fails_with_the_reference", "test_that_is_expected_to_fail"])
def test_a_test_that_does_not_pass_may_run_any_line(seen: Seen, name: str) -> None:
    assert seen[name].lines is None and seen[name].runs((1, 1))


def test_lines_of_another_thread_are_seen(seen: Seen) -> None:
    assert seen["test_in_a_thread"].lines == frozenset({TOTAL})


def test_what_a_module_keeps_is_not_seen_by_the_next_test(see: Callable[[str], Seen]) -> None:
    found = see(ONCE.replace("import numpy as np\n", "import numpy as np\n\nSEEN = []\n"))
    appended = ONCE.splitlines().index("        SEEN.append(1)") + 3
    assert all(appended in (each.lines or {appended}) for each in found.values())


def test_nothing_is_traced_afterwards(seen: Seen) -> None:
    assert (seen and sys.gettrace() is None) or "coverage" in sys.modules


@pytest.mark.parametrize(
    ("span", "runs"), [((3, 3), True), ((1, 2), False), ((1, 9), True), ((5, 9), False), (None, True)]
)
def test_a_span_is_run_by_any_of_its_lines(span: tuple[int, int] | None, runs: bool) -> None:
    assert LinesReached("test", "row", frozenset({3, 4}), 0.1).runs(span) is runs
