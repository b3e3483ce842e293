"""A second judge marks what passes, from the end, and leaves nothing behind."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from grader.errors import IsolationRefused
from grader.isolation import tiers
from grader.judging.grading import Grader, Options
from grader.judging.judge import Charge
from grader.judging.processes import second
from grader.judging.processes.marks import Marks
from grader.judging.processes.workers import Lending
from grader.submission import take
from grader.tests.conftest import SmallCourse
from grader.tests.judging.processes.doubles import RIGHT, TESTS
from grader.worker.process_tree import below

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")


@contextmanager
def charged(course: SmallCourse, source: str) -> Iterator[tuple[Charge, tiers.Own, Lending]]:
    """Give the charge of a grading, workers for a second judge, and a first one's worker without that judge."""
    path = course.root.parent / "handed_in.py"
    course._put(path, source)
    own = tiers.Own("process", course.root)
    with Grader(course.course, course.stage) as grader:
        charge = grader._charge(take(course.stage, path, course.root), Options(1, "process"), "process", None)
        first = Lending(tiers.Own("process", course.root))
        first.start()
        yield charge, own, first
        first.end()
    own.close()


def marked(marks: Marks) -> list[int]:
    return [place for place in range(TESTS + 1) if marks.of(place) is not None]


def seen(marks: Marks, count: int, seconds: float = 60) -> list[int]:
    """Return the places of the tests that have passed, once there are so many, or one has not passed."""
    ends_at = time.monotonic() + seconds
    while len(marked(marks)) < count and time.monotonic() < ends_at:
        time.sleep(0.01)
    return marked(marks)


class TestWhatItDoes:
    def test_it_marks_from_the_end_up_to_where_the_first_is(self, course: SmallCourse) -> None:
        with charged(course, RIGHT) as (charge, own, first):
            charge.slate.at("test", 10)
            with second.beside(charge, own, first) as shared:
                assert shared.marks is not None
                assert seen(shared.marks, TESTS - 10) == list(range(11, TESTS + 1))

    @pytest.mark.parametrize("wrong", ["return x / 2 + (x > 5)", "import os; os._exit(3)", "raise ValueError('no')"])
    def test_it_leaves_what_does_not_pass_to_the_first(self, course: SmallCourse, wrong: str) -> None:
        with (
            charged(course, RIGHT.replace("return x / 2", wrong)) as (charge, own, first),
            second.beside(charge, own, first) as shared,
        ):
            assert shared.marks is not None
            right = range(1, TESTS // 2 + (7 if "5" in wrong else 1))
            assert seen(shared.marks, len(right)) == list(right)
            shared.marks.compare(TESTS, "passed")  # which it did not there: a failure is noted, an end by force is not
            assert bool(marked(shared.marks)) is ("exit" in wrong)

    def test_it_tells_which_functions_a_test_involves(self, course: SmallCourse) -> None:
        source = RIGHT.replace("return x / 2", "return double(x) / 4")
        with charged(course, source) as (charge, own, first), second.beside(charge, own, first) as shared:
            assert shared.marks is not None
            seen(shared.marks, TESTS)
            found = shared.marks.of(1), shared.marks.of(TESTS)
            assert [each and each.involved for each in found] == [0b01, 0b11]

    def test_it_leaves_what_prints_to_the_first(self, course: SmallCourse) -> None:
        source = RIGHT.replace("return x / 2", "print(x); return x / 2")
        with charged(course, source) as (charge, own, first), second.beside(charge, own, first) as shared:
            assert shared.marks is not None
            assert len(seen(shared.marks, TESTS // 2)) == TESTS // 2
            assert max(marked(shared.marks)) == TESTS // 2

    def test_it_is_not_there_for_a_few_tests(self, course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(second, "FEWEST_TESTS", TESTS + 2)
        with charged(course, RIGHT) as (charge, own, first), second.beside(charge, own, first) as shared:
            assert shared is charge

    @pytest.mark.parametrize("half", ["return x / 2", "while True: pass"])
    def test_nothing_of_it_is_left(self, course: SmallCourse, half: str) -> None:
        with charged(course, RIGHT.replace("return x / 2", half)) as (charge, own, first):

            def others() -> set[int]:
                """Return the processes that are not the first judge's worker, or below it."""
                worker = first.current.process.pid
                return below(os.getpid()) - below(worker) - {worker}

            before = others()
            with second.beside(charge, own, first):
                assert others() - before
            until = time.monotonic() + 10
            while others() - before and time.monotonic() < until:  # what was killed is gone when the system says so
                time.sleep(0.01)
            assert not others() - before

    @pytest.mark.parametrize("what", ["fork", "socketpair", "worker"])
    def test_where_it_cannot_be_started_the_first_works_alone(
        self, course: SmallCourse, monkeypatch: pytest.MonkeyPatch, what: str
    ) -> None:
        def refuse(*_: object) -> Any:
            raise IsolationRefused("no more workers") if what == "worker" else BlockingIOError(11, "no room")

        with charged(course, RIGHT) as (charge, own, first):
            if what == "worker":
                monkeypatch.setattr(own, "start", refuse)
            else:
                own.prepare()
                monkeypatch.setattr(os if what == "fork" else socket, what, refuse)
            with second.beside(charge, own, first) as shared:
                assert shared is charge

    def test_the_worker_of_the_first_notices_the_end_of_its_judge(
        self, course: SmallCourse, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(second, "_run", lambda *_: time.sleep(600))
        with charged(course, RIGHT) as (charge, own, first):
            process = first.current.process
            with second.beside(charge, own, first) as shared:
                assert shared is not charge
                first.current.connection.close()
                process.wait(30)  # with a copy of the connection in the second judge it would stay
