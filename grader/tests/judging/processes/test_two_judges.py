"""What the first judge makes of marks: a verdict comes sooner, and is that of one judge."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from grader.isolation import tiers
from grader.judging.calls import Involved
from grader.judging.judge import Charge
from grader.judging.processes import second, staff
from grader.judging.processes.marks import Mark, Marks
from grader.judging.session import Session
from grader.judging.suite import criterion_of
from grader.outcome import Outcome
from grader.tests.conftest import Graded, SmallCourse
from grader.tests.judging.processes.doubles import MANIFEST, PUBLIC, RIGHT, TESTS

pytestmark = [
    pytest.mark.skipif(not tiers.FORKS, reason="needs forks"),
    pytest.mark.full_matrix("grader/remote", "grader/diagnosis"),
]
ELSEWHERE = 0.00123456789  # seconds that no test here takes to the last digit: those of a mark


def plain(graded: Graded) -> tuple[Any, ...]:
    """Return all that a grading says but the times that it took."""
    rows = [(row.id, row.status) for row in graded.verdict.criteria]
    return rows, graded.verdict.problem, {name: replace(each, seconds=0) for name, each in graded.outcomes.items()}


@pytest.mark.usefixtures("idle")
class TestWhatTheFirstMakesOfIt:
    @pytest.fixture
    def marks(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """Places whose tests have passed elsewhere, before the first judge begins; below 0, whose tests failed."""
        places: list[int] = []

        @contextmanager
        def beside(charge: Charge, own: object, first: object, book: object) -> Iterator[Charge]:
            found = Marks(TESTS + 1)
            by = Involved(charge.suite.stage, charge.job.source).by
            for place in places:
                if place >= 0:
                    found.passed(place, Mark(ELSEWHERE, by([criterion_of(charge.suite.items[place])])))
                else:
                    found.failed(-place)
            yield replace(charge, marks=found)

        monkeypatch.setattr(second, "beside", beside)
        return places

    def test_what_has_passed_is_not_run_again(self, course: SmallCourse, marks: list[int]) -> None:
        marks += [3, 7, TESTS]
        found = course.grade(RIGHT)
        assert found.verdict.passed
        assert len(found.outcomes) == TESTS + 1
        assert sum(outcome.seconds == ELSEWHERE for outcome in found.outcomes.values()) == 3

    def test_where_one_that_failed_there_passes_all_are_run(self, course: SmallCourse, marks: list[int]) -> None:
        marks += [0, 3, -7, TESTS]
        found = course.grade(RIGHT)
        assert found.verdict.passed
        assert len(found.outcomes) == TESTS + 1
        assert not [outcome for outcome in found.outcomes.values() if outcome.seconds == ELSEWHERE]

    @pytest.mark.parametrize(
        ("half", "again"),
        [("return x", 1), ("return twice(x)", 3), ("return double(x)", 3), ("raise NotImplementedError", 0)],
    )
    def test_where_something_fails_what_tells_about_it_is_run(
        self, course: SmallCourse, marks: list[int], half: str, again: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What is run again was told to pass before: who waits for the verdict waits for none of it."""
        judged, run = Session._judged, os.memfd_create("run")

        def noted(session: Session, report: Any, item: pytest.Item, *more: Any) -> Outcome:
            os.write(run, f"{item.nodeid.rpartition('::')[2]}\n".encode())
            return judged(session, report, item, *more)

        monkeypatch.setattr(Session, "_judged", noted)
        marks += [0, 1, 2, 3, TESTS // 2 + 1]
        helper = "\n    def twice(x):\n        return 2 * x\n"
        found = course.grade(RIGHT.replace("return x / 2", half).replace("return 2 * x", "return twice(x)") + helper)
        assert not found.verdict.passed
        assert len(found.outcomes) == TESTS + 1
        elsewhere = {name for name, outcome in found.outcomes.items() if outcome.seconds == ELSEWHERE}
        assert len(elsewhere) == len(marks)
        names = os.pread(run, 1 << 16, 0).decode().split()
        assert (
            len(elsewhere.intersection(names)) == again and {*names[len(names) - again :]} <= elsewhere
        )  # they are last

    def test_what_has_passed_stays_so_where_no_time_is_left_to_run_it_again(
        self, course: SmallCourse, marks: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        marks += [0, 1, 2, 3, TESTS // 2 + 1]
        left = Session._no_time_for

        def none_left(session: Session, item: pytest.Item) -> str:
            return "used up" if session.marks.of(session._place) is not None else left(session, item)

        monkeypatch.setattr(Session, "_no_time_for", none_left)
        found = course.grade(RIGHT.replace("return x / 2", "return double(x)"))
        assert found.row("double") == "passed" and found.row("half") == "failed"
        assert sum(each.seconds == ELSEWHERE for each in found.outcomes.values()) == len(marks)

    def test_what_is_skipped_between_two_classes_takes_nothing_from_the_next(
        self, course: SmallCourse, marks: list[int]
    ) -> None:
        classes = "".join(
            f"""
    @pytest.mark.values
    @pytest.mark.criterion("{name}")
    class Test{title}:
        @pytest.mark.parametrize("n", range(10))
        def test_{title.lower()}(self, learner, n):
            assert learner.{name}(n + 1) == (n + 1) * {factor}
            """
            for title, name, factor in (("A", "double", 2), ("B", "half", 0.5), ("C", "double", 2))
        )
        course.write(manifest=MANIFEST, solution=RIGHT, public=PUBLIC, hidden=classes)
        marks += [*range(5, 11), *range(15, 31)]
        found = course.grade(RIGHT.replace("return 2 * x", "return 2 * x + (x == 3)"))
        failed = {name for name, outcome in found.outcomes.items() if outcome.status != "passed"}
        assert failed == {"test_a[2]", "test_c[2]"}
        assert len(found.outcomes) == 31

    def test_what_a_judge_that_died_had_put_off_is_run_by_the_next(
        self, course: SmallCourse, marks: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        marks += list(range(TESTS))
        judged = Session._judged

        def dies(session: Session, *arguments: Any) -> Outcome:
            if session.marks.of(0) is not None:
                os._exit(1)
            return judged(session, *arguments)

        monkeypatch.setattr(Session, "_judged", dies)
        found = course.grade(RIGHT)
        assert len(found.outcomes) == TESTS + 1
        assert sum(outcome.seconds == ELSEWHERE for outcome in found.outcomes.values()) == 0
        assert sum(outcome.status == "passed" for outcome in found.outcomes.values()) == TESTS


@pytest.mark.some_of(3)
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
