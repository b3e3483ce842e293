"""A stage that asks for little memory: the figure explains, and the limit on the address space holds without it."""

from __future__ import annotations

import pytest

from tests.conftest import SmallCourse

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small"
    module = "small.py"
    requires = []

    [limits]
    memory_mb = 96

    [[criteria]]
    id = "total"
    text = "total adds up"
    functions = ["total"]
    needs = []
    hints = ["a", "b", "c"]
"""

SOLUTION = """
    def total(count):
        return count * (count - 1) // 2
"""

TESTS = """
    from grader.testing import peak_memory

    pytestmark = pytest.mark.criterion("total")


    @pytest.mark.values
    def test_few(learner):
        assert learner.total(5) == 10


    @pytest.mark.memory
    def test_many(learner):
        found, peak = peak_memory(learner.total, 20_000_000)
        assert found == 199999990000000
        assert peak < 1_000_000, f"held {peak / 1e6:.0f} MB"
"""

HOLDING = (
    "import numpy as np\n\n\ndef total(count):\n    return int(np.arange(count, dtype='{dtype}').sum(dtype='i8'))\n"
)
UNSEEN = HOLDING.format(dtype="i8").replace(":\n", ":\n    import tracemalloc\n    tracemalloc.stop()\n")


@pytest.fixture(scope="module")
def course(small_course: SmallCourse) -> SmallCourse:
    small_course.write(
        manifest=MANIFEST, solution=SOLUTION, public=TESTS, hidden=TESTS.replace("test_", "test_hidden_")
    )
    return small_course


@pytest.mark.parametrize(
    ("source", "status", "said"),
    [
        (SOLUTION, "passed", ""),
        (HOLDING.format(dtype="i4"), "failed", "held 80 MB"),
        (HOLDING.format(dtype="i8"), "over_limit", "takes 153 MB, more than the 96 MB that a stage may use"),
        (UNSEEN, "over_limit", "takes 153 MB, more than the 96 MB that a stage may use"),
    ],
    ids=["none", "what-fits", "what-does-not-fit", "who-stops-the-measurement"],
)
def test_what_a_call_holds(course: SmallCourse, source: str, status: str, said: str) -> None:
    outcomes = course.grade(source).outcomes
    assert (outcomes["test_few"].status, outcomes["test_few"].kind) == ("passed", "values")
    many = outcomes["test_many"]
    assert (many.status, many.kind) == (status, "memory")
    assert said in many.message
    if status != "passed":
        assert many.call.startswith("total(count=20000000")
