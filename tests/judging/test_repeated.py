"""The time of calls: asked for, each call of a test that passed has one; else none has."""

from __future__ import annotations

import pytest

from tests.conftest import SmallCourse

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small"
    module = "small.py"
    requires = []

    [members]
    Bed = ["rest"]

    [[criteria]]
    id = "nap"
    text = "nap waits"
    functions = ["nap", "Bed"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = """
    import time


    def nap(f, x=0.0):
        time.sleep(x)
        return f(x) if callable(f) else f


    class Bed:
        def __init__(self, seconds):
            self.seconds = seconds

        def rest(self):
            time.sleep(self.seconds)
            return self.seconds
"""
TESTS = """
    pytestmark = pytest.mark.criterion("nap")

    def test_naps(learner):
        assert learner.nap(1, 0.02) == 1
        assert learner.nap(2) == 2

    def test_beds(learner):
        assert learner.Bed(0.02).rest() == 0.02

    def test_long(learner):
        assert learner.nap(1, 0.6) == 1

    def test_callback(learner):
        assert learner.nap(lambda x: 3, 0.0) == 3

    def test_many(learner):
        for _ in range(401):
            learner.nap(1)

    def test_wrong(learner):
        assert learner.nap(1) == 2
"""


def test_each_call_of_a_test_that_passed_has_its_time(small_course: SmallCourse) -> None:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, hidden=TESTS)
    found = small_course.grade(SOLUTION, timed=True).outcomes
    long, short = found["test_naps"].calls
    assert (long.function, short.function) == ("nap", "nap")
    assert long.seconds > 0.015 > short.seconds > 0
    assert [call.function for call in found["test_beds"].calls] == ["Bed", "Bed.rest"]
    assert found["test_beds"].calls[1].seconds > 0.015
    assert found["test_long"].calls[0].seconds > 0.5
    assert found["test_callback"].calls[0].seconds > 0
    assert found["test_many"].calls == ()  # so many are not repeated, and they are too short to count as they were
    assert found["test_wrong"].calls == ()


@pytest.mark.full_matrix
def test_without_being_asked_nothing_is_repeated(small_course: SmallCourse) -> None:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, hidden=TESTS)
    assert not any(outcome.calls for outcome in small_course.grade(SOLUTION, only="nap").outcomes.values())
