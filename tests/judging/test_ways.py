"""Whichever way a module's questions are asked, one by one or from a plan, its tests end alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from grader.isolation import tiers
from grader.judging.grading import Grader, Options
from grader.submission import take
from grader.verdict import Verdict
from tests.conftest import SmallCourse
from tests.support import good_stage

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="a plan is made where judges are forked")
MANIFEST = good_stage.MANIFEST.format(id="s90").replace("total", "double").replace('["numpy.linalg"]', "[]")
MANIFEST = MANIFEST.replace("call_seconds = 10", "call_seconds = 2").replace("memory_mb = 512", "memory_mb = 256")
RIGHT = """
import numpy as np

def double(x):
    return 2 * x

def half(x):
    return x / 2
"""
PUBLIC = """
    pytestmark = pytest.mark.values

    @pytest.mark.criterion("double")
    @pytest.mark.parametrize("n", range(4))
    def test_double(learner, n):
        assert learner.double(n) == 2 * n

    @pytest.mark.criterion("double")
    def test_of_an_array(learner, rng):
        x = rng.standard_normal(3)
        assert_array(learner.double(x), 2 * x)
        assert_array(learner.half(learner.double(x)), x)
"""
HIDDEN = """
    pytestmark = pytest.mark.values

    @pytest.mark.criterion("half")
    @pytest.mark.parametrize("n", range(4))
    def test_half(learner, n):
        assert learner.half(n) == n / 2

    @pytest.mark.criterion("half")
    def test_a_refusal(learner):
        with pytest.raises(TypeError):
            learner.half("x")

    @pytest.mark.criterion("double")
    def test_of_ten(learner):
        assert learner.double(10) == 20

    @pytest.mark.criterion("half")
    def test_twice(learner):
        assert learner.half(learner.double(3)) == 3
"""
MODULES = {
    "right": RIGHT,
    "wrong": RIGHT.replace("x / 2", "x / 3"),
    "another style": RIGHT.replace("2 * x", "np.add(x, x)"),
    "prints": RIGHT.replace("return 2", "print('here'); return 2"),
    "counts": RIGHT.replace("def double", "seen = []\n\ndef double").replace("return 2", "seen.append(1); return 2"),
    "right once": RIGHT.replace("def double", "seen = []\n\ndef double").replace(
        "return 2 * x", "seen.append(1); return 2 * x if len(seen) < 4 else 0"
    ),
    "wrong after a state was changed": RIGHT.replace("def double", "np.seterr(all='ignore')\n\ndef double").replace(
        "return 2 * x", "np.seterr(all='raise'); return 2 * x"
    ),
    "ends": RIGHT.replace("return x / 2", "__import__('os')._exit(3)"),
    "ends for one": RIGHT.replace("return x / 2", "return x / 2 if x != 2 else __import__('os')._exit(3)"),
    "hangs": RIGHT.replace("return x / 2", "\n    while True: pass"),
    "hangs for one": RIGHT.replace("return 2 * x", "\n    while type(x) is int and x == 2: pass\n    return 2 * x"),
    "takes memory": RIGHT.replace("return x / 2", "return [0] * (1 << 30)"),
    "keeps memory": RIGHT.replace("def double", "kept = []\n\ndef double").replace(
        "return 2", "kept.append(np.ones(6 << 20)); return 2"
    ),
    "raises": RIGHT.replace("return x / 2", "raise ValueError(f'{x} is odd')"),
    "a stub": RIGHT.replace("return 2 * x", "raise NotImplementedError").replace(
        "return x / 2", "raise NotImplementedError"
    ),
    "lacks one": RIGHT.replace("def half", "def halve"),
    "a class of that name": RIGHT + "\nclass double:\n    def __init__(self, x): pass\n",
    "changes its argument": RIGHT.replace("return 2 * x", "x *= 2; return x"),
    "a large answer": RIGHT.replace("return x / 2", "return np.zeros(1 << 20)"),
    "writes to the channel": RIGHT.replace("def double", "import os\n\ndef double").replace(
        "return 2", "[os.write(n, b'x' * 40) for n in range(3, 12) if os.path.exists(f'/proc/self/fd/{n}')]; return 2"
    ),
}


Both = Callable[[str], tuple[Verdict, Verdict]]


@pytest.fixture(scope="module")
def both(small_course: SmallCourse) -> Iterator[Both]:
    """Grade a module once by a grader with a plan, and once by one without."""
    small_course.write(manifest=MANIFEST, solution=RIGHT, public=PUBLIC, hidden=HIDDEN)
    course, stage = small_course.course, small_course.stage
    with Grader(course, stage, warm=True) as planned, Grader(course, stage) as live:
        for _ in range(3):
            verdict = graded(small_course, planned, "right")
            assert verdict.passed, ends(verdict)
        plan = planned._plans[3]
        assert plan is not None and len(plan) == 12
        yield cache(lambda name: (graded(small_course, planned, name), graded(small_course, live, name)))


def graded(course: SmallCourse, grader: Grader, name: str) -> Verdict:
    path = course.root.parent / "handed_in.py"
    path.write_text(MODULES[name], encoding="utf-8")
    return grader.grade(take(course.stage, path, course.root), Options(3, "process"))


def ends(verdict: Verdict) -> list[object]:
    """Return what is told of each row."""
    told = [
        (f.test, f.status, f.message, f.diagnosis and f.diagnosis.text, f.notes)
        for r in verdict.criteria
        for f in r.failures
    ]
    return [[(row.id, row.status) for row in verdict.criteria], told, verdict.problem]


@pytest.mark.parametrize("name", [pytest.param(each, marks=pytest.mark.some_of(2)) for each in MODULES])
def test_a_plan_changes_nothing_that_is_told(both: Both, name: str) -> None:
    planned, live = both(name)
    assert ends(planned) == ends(live)


@pytest.mark.parametrize(
    ("name", "double", "half"),
    [
        ("right", "passed", "passed"),
        ("another style", "passed", "passed"),
        ("prints", "passed", "passed"),
        ("counts", "passed", "passed"),
        ("right once", "passed", "passed"),  # each test has a process of its own, since something was left behind
        ("keeps memory", "passed", "passed"),
        ("ends for one", "failed", "crashed"),
        ("a stub", "not_started", "not_started"),
    ],
)
def test_tests_that_share_a_process_are_as_good_as_alone(both: Both, name: str, double: str, half: str) -> None:
    assert [[row.status for row in verdict.criteria] for verdict in both(name)] == [[double, half]] * 2
