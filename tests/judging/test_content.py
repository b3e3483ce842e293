"""What a kept grader makes ahead: the same explanations, from answers that are there when a judge begins."""

from __future__ import annotations

import pytest

from grader.errors import CourseError
from grader.judging import content
from grader.judging.content import Ahead
from tests.support import good_stage
from tests.support.small_course import SmallCourse


@pytest.fixture(autouse=True)
def written(small_course: SmallCourse) -> None:
    solution = "def total(x):\n    return sum(x)\n"
    small_course.write(manifest=good_stage.MANIFEST.format(id="s90"), solution=solution)


def test_it_is_made_once_and_serves_every_module(small_course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = Ahead(small_course.stage)
    ahead.read()
    without = ahead.about(b"one")()
    ahead.make()
    found = [ahead.about(text)() for text in (b"one", b"two")]
    assert [each.learner for each in found] == [b"one", b"two"]
    assert found[0].reference is found[1].reference is not without.reference
    monkeypatch.setattr(content, "answers", pytest.fail)
    ahead.make()


def test_answers_that_changed_are_those_that_count(small_course: SmallCourse) -> None:
    ahead = Ahead(small_course.stage)
    ahead.make()
    before = ahead.about(b"")().reference
    solution = small_course.hidden / "solution.py"
    solution.write_text(solution.read_text(encoding="utf-8") + "ADDED = 1\n", encoding="utf-8")
    assert vars(ahead.about(b"")().reference)["ADDED"] == 1 and not hasattr(before, "ADDED")


def test_answers_that_cannot_be_read_are_told_by_the_judge(small_course: SmallCourse) -> None:
    ahead = Ahead(small_course.stage)
    (small_course.hidden / "solution.py").unlink()
    ahead.read()
    ahead.make()
    with pytest.raises(CourseError, match="solution"):
        ahead.about(b"")()
