"""Values of the full sizes that the wire can carry, used as tests use them: the judge stays within its bound."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.isolation import tiers
from grader.judging import bounds
from grader.judging.grading import Grader, Options
from grader.submission import take
from grader.verdict import Verdict
from tests.conftest import SmallCourse

pytestmark = [
    pytest.mark.usefixtures("brief_search"),
    pytest.mark.skipif(not tiers.FORKS, reason="needs a fork, and limits as Linux has them"),
]

JUDGE_MB, STAGE_SECONDS = 200, 3
SLACK_SECONDS = 30  # a busy machine loads the tests slowly; without a bound the worst of these took 98 s
MANIFEST = f"""
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []

    [limits]
    stage_seconds = {STAGE_SECONDS}
    call_seconds = 3
    memory_mb = 2048
    judge_mb = {JUDGE_MB}
    result_mb = 256
    result_rows = {1 << 26}

    [[criteria]]
    id = "rows"
    text = "rows gives rows"
    functions = ["rows"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "table"
    text = "table changes a table"
    functions = ["table"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "double"
    text = "double doubles"
    functions = ["double"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = """
    import numpy as np


    def rows():
        return np.ones((2, 3))


    def table(given):
        given[1] = 2


    def double(x):
        return 2 * x
"""
HIDDEN = """
    X = np.arange(3000.0)


    @pytest.mark.criterion("rows")
    def test_listed(learner):
        found = learner.rows()
        assert [list(row) for row in found] == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]


    @pytest.mark.criterion("rows")
    def test_counted(learner):
        assert len({tuple(row) for row in learner.rows()}) == 1


    @pytest.mark.criterion("rows")
    def test_subtracted(learner):
        found = learner.rows()
        assert np.abs(found[..., None] - X).max() == 2998


    @pytest.mark.criterion("table")
    @pytest.mark.changes_arguments
    def test_changed(learner):
        given = {0: 0}
        learner.table(given)
        assert given == {0: 0, 1: 2}


    @pytest.mark.criterion("double")
    def test_double(learner):
        assert learner.double(2) == 4
"""
EMPTY_ROWS = "return np.empty((1 << 25, 0))"
BROADCAST = "return np.ones((1 << 19, 1, 1))"
LARGE = "return np.ones((1 << 24, 2))"
COLLIDING = "given.update((k * ((1 << 61) - 1) * (1 << 70), k) for k in range(1, 200_000))"
MANY = "given.update((k << 40, k) for k in range(1, 200_000))"
SETS = "given[1] = [{k * ((1 << 61) - 1) * (1 << 70) for k in range(1, 1900)} for _ in range(40)]"
Case = Callable[[str], tuple[Verdict, float, float]]


@pytest.fixture(scope="module")
def graded(small_course: SmallCourse) -> Iterator[Case]:
    """Grade a module; give the verdict, the seconds that it took, and the judge's peak of memory in MB."""
    public = "@pytest.mark.criterion('double')\ndef test_public(learner):\n    assert learner.double(1) == 2\n"
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=public, hidden=HIDDEN)
    peaks: list[float] = []

    def ended(process: int, options: int) -> tuple[int, int]:
        number, status, used = os.wait4(process, options)
        peaks.append(used.ru_maxrss / 1024)
        return number, status

    def grade(source: str) -> tuple[Verdict, float, float]:
        path = small_course.root.parent / "handed_in.py"
        small_course._put(path, source)
        peaks.clear()
        started = time.monotonic()
        with Grader(small_course.course, small_course.stage) as grader:
            verdict = grader.grade(take(small_course.stage, path, small_course.root), Options(1, "process"))
            return verdict, time.monotonic() - started, max(peaks)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "waitpid", ended)  # so the judge's end is waited for
        yield grade


@pytest.mark.some_of(6, "grader/protocol", "grader/sandbox")
@pytest.mark.parametrize(
    ("row", "honest", "hostile"),
    [
        ("table", "given[1] = 2", COLLIDING),
        ("rows", "return np.ones((2, 3))", EMPTY_ROWS),
        ("rows", "return np.ones((2, 3))", BROADCAST),
        ("rows", "return np.ones((2, 3))", LARGE),
        ("table", "given[1] = 2", MANY),
        ("table", "given[1] = 2", SETS),
    ],
    ids=["colliding", "empty_rows", "broadcast", "large", "many_keys", "sets_again_and_again"],
)
def test_a_hostile_value_costs_its_own_row(graded: Case, row: str, honest: str, hostile: str) -> None:
    assert honest in SOLUTION
    verdict, seconds, peak_mb = graded(SOLUTION.replace(honest, hostile))
    status = {each.id: each.status for each in verdict.criteria}
    others = {each for each in status if each != row}
    assert not verdict.grader_fault and verdict.problem is None
    assert status[row] in ("failed", "over_limit", "timed_out", "crashed"), status
    is_time_up = seconds >= STAGE_SECONDS  # on a busy machine before the other rows were begun
    assert {status[each] for each in others} <= {"passed", *(["timed_out"] if is_time_up else [])}, status
    assert seconds < STAGE_SECONDS + 5 + SLACK_SECONDS
    before_mb = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    threads_mb = (os.cpu_count() or 1) * bounds.BLAS_MB  # NumPy's, which were there before the grader could ask for one
    assert 0 < peak_mb < before_mb + JUDGE_MB + threads_mb
