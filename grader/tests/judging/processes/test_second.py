"""A second judge makes a verdict come sooner, and changes nothing of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from grader.isolation import tiers
from grader.judging.calls import Involved
from grader.judging.grading import Grader, Options
from grader.judging.judge import Charge
from grader.judging.processes import second, staff
from grader.judging.processes.marks import Mark, Marks
from grader.judging.session import Session
from grader.outcome import Outcome
from grader.submission import take
from grader.tests.conftest import Graded, SmallCourse
from grader.tests.support import good_stage
from grader.verdict import Verdict
from grader.worker.process_tree import below

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")
TESTS = 30
MANIFEST = good_stage.MANIFEST.format(id="s90").replace("total", "double")
RIGHT = """
    def double(x):
        return 2 * x

    def half(x):
        return x / 2
"""
HIDDEN = f"""
    pytestmark = pytest.mark.values

    @pytest.mark.criterion("double")
    @pytest.mark.parametrize("n", range({TESTS // 2}))
    def test_double(learner, n):
        assert learner.double(n) == 2 * n

    @pytest.mark.criterion("half")
    @pytest.mark.parametrize("n", range({TESTS // 2}))
    def test_half(learner, n):
        assert learner.half(n) == n / 2
"""
PUBLIC = """
    @pytest.mark.values
    @pytest.mark.criterion("double")
    def test_two(learner):
        assert learner.double(1) == 2
"""
ELSEWHERE = 77.0  # seconds that no test here takes: those of a mark


@pytest.fixture
def course(small_course: SmallCourse) -> SmallCourse:
    small_course.write(manifest=MANIFEST, solution=RIGHT, public=PUBLIC, hidden=HIDDEN)
    return small_course


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staff, "has_idle_core", lambda: True)
    monkeypatch.setattr(staff, "FEWEST_ROWS", 2)


def plain(graded: Graded) -> tuple[Any, ...]:
    """Return all that a grading says but the times that it took."""
    rows = [(row.id, row.status) for row in graded.verdict.criteria]
    return rows, graded.verdict.problem, {name: replace(each, seconds=0) for name, each in graded.outcomes.items()}


@contextmanager
def charged(course: SmallCourse, source: str) -> Iterator[tuple[Charge, tiers.Own]]:
    """Give the charge of a grading, and workers for a second judge, without a first one at work."""
    path = course.root.parent / "handed_in.py"
    course._put(path, source)
    own = tiers.Own("process", course.root)
    with Grader(course.course, course.stage) as grader:
        charge = grader._charge(take(course.stage, path, course.root), Options(1, "process"), "process", None)
        yield charge, own
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
        with charged(course, RIGHT) as (charge, own):
            charge.slate.at("test", 10)
            with second.beside(charge, own) as shared:
                assert shared.marks is not None
                assert seen(shared.marks, TESTS - 10) == list(range(11, TESTS + 1))

    @pytest.mark.parametrize("wrong", ["return x / 2 + (x > 5)", "import os; os._exit(3)", "raise ValueError('no')"])
    def test_it_leaves_what_does_not_pass_to_the_first(self, course: SmallCourse, wrong: str) -> None:
        with (
            charged(course, RIGHT.replace("return x / 2", wrong)) as (charge, own),
            second.beside(charge, own) as shared,
        ):
            assert shared.marks is not None
            right = range(1, TESTS // 2 + (7 if "5" in wrong else 1))
            assert seen(shared.marks, len(right)) == list(right)

    def test_it_tells_which_functions_a_test_involves(self, course: SmallCourse) -> None:
        source = RIGHT.replace("return x / 2", "return double(x) / 4")
        with charged(course, source) as (charge, own), second.beside(charge, own) as shared:
            assert shared.marks is not None
            seen(shared.marks, TESTS)
            found = shared.marks.of(1), shared.marks.of(TESTS)
            assert [each and each.involved for each in found] == [0b01, 0b11]

    def test_it_leaves_what_prints_to_the_first(self, course: SmallCourse) -> None:
        source = RIGHT.replace("return x / 2", "print(x); return x / 2")
        with charged(course, source) as (charge, own), second.beside(charge, own) as shared:
            assert shared.marks is not None
            assert len(seen(shared.marks, TESTS // 2)) == TESTS // 2
            assert max(marked(shared.marks)) == TESTS // 2

    def test_it_is_not_there_for_a_few_tests(self, course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(second, "FEWEST_TESTS", TESTS + 2)
        with charged(course, RIGHT) as (charge, own), second.beside(charge, own) as shared:
            assert shared is charge

    def test_nothing_of_it_is_left(self, course: SmallCourse) -> None:
        with charged(course, RIGHT.replace("return x / 2", "while True: pass")) as (charge, own):
            before = below(os.getpid())
            with second.beside(charge, own):
                assert below(os.getpid()) - before
            assert not below(os.getpid()) - before


@pytest.mark.usefixtures("idle")
class TestWhatTheFirstMakesOfIt:
    @pytest.fixture
    def marks(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """Places whose tests have passed elsewhere, before the first judge begins."""
        places: list[int] = []

        @contextmanager
        def beside(charge: Charge, own: object) -> Iterator[Charge]:
            found = Marks(TESTS + 1)
            involved = [Involved(charge.suite.stage, charge.job.source).by([name]) for name in ("double", "half")]
            for place in places:
                found.passed(place, Mark(ELSEWHERE, involved[place > TESTS // 2]))
            yield replace(charge, marks=found)

        monkeypatch.setattr(second, "beside", beside)
        return places

    def test_what_has_passed_is_not_run_again(self, course: SmallCourse, marks: list[int]) -> None:
        marks += [3, 7, TESTS]
        found = course.grade(RIGHT)
        assert found.verdict.passed
        assert len(found.outcomes) == TESTS + 1
        assert sum(outcome.seconds == ELSEWHERE for outcome in found.outcomes.values()) == 3

    @pytest.mark.parametrize(
        ("half", "again"), [("return x", 1), ("return double(x)", 5), ("raise NotImplementedError", 0)]
    )
    def test_where_something_fails_what_involves_the_same_functions_is_run(
        self, course: SmallCourse, marks: list[int], half: str, again: int
    ) -> None:
        marks += [0, 1, 2, 3, TESTS // 2 + 1]
        found = course.grade(RIGHT.replace("return x / 2", half))
        assert not found.verdict.passed
        assert len(found.outcomes) == TESTS + 1
        assert sum(outcome.seconds == ELSEWHERE for outcome in found.outcomes.values()) == len(marks) - again

    def test_what_a_judge_that_died_had_put_off_is_run_by_the_next(
        self, course: SmallCourse, marks: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        marks += list(range(TESTS))
        judged = Session._judged

        def dies(session: Session, *arguments: Any) -> Outcome:
            if session.marks is not None:
                os._exit(1)
            return judged(session, *arguments)

        monkeypatch.setattr(Session, "_judged", dies)
        found = course.grade(RIGHT)
        assert len(found.outcomes) == TESTS + 1
        assert sum(outcome.seconds == ELSEWHERE for outcome in found.outcomes.values()) == 0
        assert sum(outcome.status == "passed" for outcome in found.outcomes.values()) == TESTS


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize(
    "source",
    [
        RIGHT,
        RIGHT.replace("return x / 2", "return x * 2"),
        RIGHT.replace("return 2 * x", "return 2 * x + (x == 9)"),
        RIGHT.replace("return x / 2", "print('half of', x); return x / 2"),
        RIGHT.replace("return x / 2", "raise NotImplementedError"),
        RIGHT.replace("return x / 2", "import os; os._exit(3)"),
        "\n    raise ValueError('no')\n",
    ],
)
def test_the_verdict_is_that_of_one_judge(course: SmallCourse, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    together = course.grade(source)
    monkeypatch.setattr(staff, "has_idle_core", lambda: False)
    alone = course.grade(source)
    assert plain(together) == plain(alone)


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("why_not", ["alone", "timed", "hunt", "few rows"])
def test_no_worker_is_started_where_one_judge_works(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch, why_not: str
) -> None:
    path = course.root.parent / "handed_in.py"
    course._put(path, RIGHT)
    if why_not == "few rows":
        monkeypatch.setattr(staff, "FEWEST_ROWS", 3)
    with Grader(course.course, course.stage, hurried=why_not != "alone") as grader:
        options = Options(1, "process", timed=why_not == "timed")
        snapshot = take(course.stage, path, course.root)
        found = grader.hunt(snapshot, options, ()) if why_not == "hunt" else grader.grade(snapshot, options)
        assert found is None or (isinstance(found, Verdict) and found.passed)
        assert not grader._staff._second


@pytest.mark.usefixtures("idle")
def test_a_kept_grader_has_both_workers_ready_for_the_next_time(course: SmallCourse) -> None:
    path = course.root.parent / "handed_in.py"
    course._put(path, RIGHT)
    options, snapshot = Options(1, "process"), take(course.stage, path, course.root)
    with Grader(course.course, course.stage, warm=True, hurried=True) as grader:
        for _ in range(2):
            assert grader.grade(snapshot, options).passed
            grader.prepare(options)
            own = grader._staff._first["process", True], grader._staff._second["process"]
            assert all(each._ahead is not None and each._ahead.running() for each in own)
