"""A module is asked what another one was asked, and what it answers otherwise is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.course.contract import Contract
from grader.isolation import tiers
from grader.remote.module import RemoteModule
from grader.remote.transcripts.asking import MOST_AHEAD, Strayed, asked_again
from grader.remote.transcripts.questions import Differs, Passed, Question, likely
from grader.remote.transcripts.recording import MOST_BYTES, Recording
from grader.tests.conftest import Learner, Start

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")
MODULE = """
import numpy as np

def double(x):
    return 2 * x

def root(x):
    if x < 0:
        raise ValueError(f"{x} has no root")
    return x ** 0.5

def scale(x, by):
    x *= by

def slope(f, x):
    return (f(x + 1.0) - f(x - 1.0)) / 2

def large(n):
    return np.arange(n, dtype=float)

class Sum:
    def __init__(self):
        self.total = 0

    def add(self, x):
        self.total += x
        return self.total
"""
END = Passed(("what it called",))


def numbers(learner: Any) -> None:
    learner.double(2)
    learner.double(np.arange(5.0))


def refusal(learner: Any) -> None:
    with pytest.raises(ValueError, match="no root"):
        learner.root(-1)
    learner.root(4)


def in_place(learner: Any) -> None:
    x = np.ones(3)
    learner.scale(x, 3)
    assert x.tolist() == [3, 3, 3]
    learner.double(x)


def callbacks(learner: Any) -> None:
    assert learner.slope(lambda x: learner.double(x * x), 3.0) == 12


def objects(learner: Any) -> None:
    first, second = learner.Sum(), learner.Sum()
    first.add(2), second.add(3)
    assert [first.add(1), second.total] == [3, 3]


def many(learner: Any) -> None:
    for n in range(60):
        assert learner.large(400 + n).size == 400 + n


TESTS = [numbers, refusal, in_place, callbacks, objects, many]
Test = Callable[[Any], None]
CONTRACT = Contract({"Sum": frozenset({"add", "total"})})


@pytest.fixture(scope="module")
def right(start: Start) -> Learner:
    return start(MODULE, contract=CONTRACT)


def recorded(learner: Learner, test: Test) -> Question:
    """Return the questions of a test that passes with a module."""
    module = learner.open()
    learner.connection.channel = recording = Recording(learner.connection.channel)  # type: ignore[assignment]
    test(module)
    learner.connection.channel = recording.channel
    labels = iter(record.label for record in learner.connection.records)
    learner.done()
    assert recording.steps
    steps = [(step, next(labels) if step.is_question else "") for step in recording.steps]
    question = Question(steps[0][0].sent, steps[0][1])
    assert question.add(iter(steps[1:]), steps[0][0], END) > 0
    assert question.add(iter(steps[1:]), steps[0][0], END) == 0
    return question


def asked(learner: Learner, question: Question, **how: Any) -> Passed | Differs:
    learner.open()
    try:
        return asked_again(learner.connection.channel, likely(question), time.monotonic() + 30, **how)
    finally:
        learner.done()


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("ahead", [0, 300, MOST_AHEAD])
def test_what_answers_alike_passes(right: Learner, test: Test, ahead: int) -> None:
    assert asked(right, recorded(right, test), ahead=ahead) == END


@pytest.mark.parametrize("test", TESTS)
def test_other_lines_and_more_functions_make_no_difference(right: Learner, start: Start, test: Test) -> None:
    longer = MODULE.replace("    return 2 * x", "\n    y = 2 * x\n    return y")
    more = f"def another(x):\n    return x\n\nHALF = 0.5\n{longer}"
    assert asked(start(more), recorded(right, test)) == END


def test_one_test_after_another_in_one_process(right: Learner) -> None:
    known = [recorded(right, test) for test in (*TESTS, *TESTS)]
    right.open()
    channel = right.connection.channel
    found = [
        asked_again(channel, likely(each), time.monotonic() + 30, number == 0) for number, each in enumerate(known)
    ]
    assert found == [END] * len(known)
    right.done()


@pytest.mark.parametrize(
    ("test", "before", "after", "label", "step"),
    [
        (numbers, "2 * x", "2 * x + 0.0", "double", 0),  # a float where a whole number came
        (numbers, "2 * x", "2 * x if type(x) is int else np.nextafter(2 * x, 9)", "double", 1),
        (refusal, "ValueError", "TypeError", "root", 0),
        (refusal, "has no root", "is below 0", "root", 0),
        (refusal, "x ** 0.5", "x ** 0.4", "root", 1),
        (in_place, "x *= by", "x = x * by", "scale", 0),
        (in_place, "x *= by", "x *= by; x[0] += 1", "scale", 0),
        (callbacks, "f(x + 1.0)", "f(x + 1.5)", "slope", 0),
        (callbacks, "2 * x", "2.5 * x", "double", 1),
        (callbacks, ") / 2", ") / 3", "", 4),
        (objects, "self.total += x", "Sum.total = getattr(Sum, 'total', 0) + x; del self.total", "Sum.add", 5),
        (many, "np.arange(n, dtype=float)", "np.arange(n - (n == 450), dtype=float)", "large", 50),
        (many, "np.arange(n, dtype=float)", "np.arange(n * (1 + 99 * (n == 450)), dtype=float)", "large", 50),
        (many, "    return np.arange", "    print(n)\n    return np.arange", "large", 0),
    ],
)
def test_what_is_answered_otherwise_is_told(
    right: Learner, start: Start, test: Test, before: str, after: str, label: str, step: int
) -> None:
    changed = start(MODULE.replace(before, after))
    for ahead in (0, MOST_AHEAD):
        found = asked(changed, recorded(right, test), ahead=ahead)
        assert isinstance(found, Differs) and not found.late
        assert (found.label, found.step) == (label, step)


@pytest.mark.parametrize("what", ["import os; os._exit(0)", "import time; time.sleep(60)"])
def test_one_that_does_not_answer_is_not_waited_for(right: Learner, start: Start, what: str) -> None:
    changed = start(MODULE.replace("    return x ** 0.5", f"    {what}"))
    changed.open()
    found = asked_again(changed.connection.channel, likely(recorded(right, refusal)), time.monotonic() + 0.5)
    changed.done()
    assert isinstance(found, Differs)
    assert (found.label, found.step, found.late, found.digest) == ("root", 1, True, b"")


class TestSeveralWays:
    @pytest.fixture
    def question(self, right: Learner, start: Start) -> Question:
        """What two modules were asked that answer otherwise: a test that asks the more, the larger an answer is."""

        def test(learner: Any) -> None:
            for n in range(int(learner.double(2))):
                learner.large(n)

        known = recorded(right, test)
        for text in (MODULE.replace("2 * x", "3 * x"), MODULE.replace("2 * x", "x - 1")):
            other = recorded(start(text), test)
            ((digest, follows),) = other.follows.items()
            known.follows[digest] = follows
        return known

    @pytest.mark.parametrize("by", ["2 * x", "3 * x", "x - 1"])
    @pytest.mark.parametrize("ahead", [0, MOST_AHEAD])
    def test_where_an_answer_leads_another_way_that_one_is_told(
        self, question: Question, start: Start, by: str, ahead: int
    ) -> None:
        learner, way, ways = start(MODULE.replace("2 * x", by)), likely(question), 0
        while True:
            learner.open()
            try:
                found = asked_again(learner.connection.channel, way, time.monotonic() + 30, ahead=ahead)
                break
            except Strayed as strayed:
                way, ways = strayed.way, ways + 1
            finally:
                learner.done()
        assert found == END and ways <= 1

    def test_one_that_nobody_went_is_none(self, question: Question, start: Start) -> None:
        assert isinstance(asked(start(MODULE.replace("2 * x", "4 * x")), question), Differs)


def test_of_a_test_that_carries_much_nothing_is_kept(right: Learner) -> None:
    module = right.open()
    right.connection.channel = recording = Recording(right.connection.channel)  # type: ignore[assignment]
    module.double(1)
    assert len(recording.steps or ()) == 1
    for _ in range(MOST_BYTES // 8 // 60_000 + 1):
        module.large(60_000)
    assert recording.steps is None
    right.connection.channel = recording.channel
    right.done()


def test_names_that_were_asked_for_are_known(right: Learner) -> None:
    from grader.remote.module import looked_up

    module: RemoteModule = right.open()
    assert module.double(1) == 2
    with pytest.raises(AttributeError):
        module.missing  # noqa: B018
    assert {name: found and found.kind for name, found in looked_up(module).items()} == {
        "double": "function", "missing": None,
    }  # fmt: skip
    right.done()
