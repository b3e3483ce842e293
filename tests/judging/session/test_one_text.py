"""The same module and seed have the same causes, whatever was asked for and whatever ran first; feedback below full
looks for none, and the verdict is told before they are looked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from grader.judging import grading
from grader.judging.grading import Grader, Options
from grader.outcome import SEARCH, Diagnosis
from grader.submission import Snapshot, take
from grader.verdict import Verdict
from tests.conftest import SmallCourse
from tests.judging.session.conftest import written
from tests.judging.session.doubling import HIDDEN, MANIFEST, PUBLIC, SOLUTION, changed

WRONG = changed("return 2 * x", "return 2 + x").replace("out[...] = 1", "out[...] = 2")


def handed_in(course: SmallCourse, source: str = WRONG) -> Snapshot:
    path = course.root.parent / "handed_in.py"
    course._put(path, source)
    return take(course.stage, path, course.root)


def causes(verdict: Verdict) -> dict[str, list[Diagnosis | None]]:
    return {row.id: [each.diagnosis for each in row.failures] for row in verdict.criteria if row.failures}


@pytest.fixture(scope="module")
def whole(small_course: SmallCourse) -> dict[str, list[Diagnosis | None]]:
    """The causes of a whole check, which is graded once."""
    course = written(small_course)
    found = causes(grading.grade(course.course, course.stage, handed_in(course), Options(3, "process")))
    (first, *_) = found["double"]
    assert first is not None and (first.function, first.line) == ("double", 7)
    return found


@pytest.mark.parametrize(
    "options",
    [{"asked": ("fill",)}, {"asked": ("double",)}, {"ahead": ("fill",)}, {"ahead": ("quadruple",)}],
)
def test_what_is_asked_for_and_what_runs_first_changes_no_cause(
    course: SmallCourse, whole: dict[str, list[Diagnosis | None]], options: dict[str, Any]
) -> None:
    found = grading.grade(course.course, course.stage, handed_in(course), Options(3, "process", **options))
    assert causes(found) == whole


@pytest.mark.parametrize("row", ["double", "quadruple", "fill"])
def test_one_row_alone_has_the_causes_of_a_whole_check(
    course: SmallCourse, whole: dict[str, list[Diagnosis | None]], row: str
) -> None:
    found = grading.grade(course.course, course.stage, handed_in(course), Options(3, "process", only=row))
    assert causes(found) == {row: whole[row]}


def test_one_row_that_passes_is_the_only_one_that_is_judged(course: SmallCourse) -> None:
    wrong = changed("out[...] = 1", "out[...] = 2")
    assert set(course.grade(wrong, only="double").outcomes).isdisjoint({"test_fill", "test_quadruple"})
    assert set(course.grade(wrong, only="fill").outcomes) >= {"test_fill", "test_quadruple", "test_array"}


def test_a_grader_that_is_kept_names_the_same_causes(
    course: SmallCourse, whole: dict[str, list[Diagnosis | None]]
) -> None:
    almost = handed_in(course, WRONG.replace("return double(double(x))", "return 4 * x"))
    with Grader(course.course, course.stage, warm=True) as kept:
        for ahead in ((), ("fill",), ()):
            kept.grade(almost, Options(3, "process", ahead=ahead))
            assert causes(kept.grade(handed_in(course), Options(3, "process", ahead=ahead))) == whole


@pytest.mark.parametrize("lowered", ["stage", "run"])
def test_below_full_feedback_no_cause_is_looked_for(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch, lowered: str
) -> None:
    monkeypatch.setattr("grader.diagnosis.runner.RemoteRunner.__init__", lambda *_: pytest.fail("a search began"))
    stage, level = course.stage, "hint" if lowered == "run" else "full"
    stage = replace(stage, feedback="hint") if lowered == "stage" else stage
    found = grading.grade(course.course, stage, handed_in(course), Options(3, "process", feedback=level))  # type: ignore[arg-type]
    assert {row.id: row.status for row in found.criteria}["double"] == "failed"
    assert not any(SEARCH in each.unexplained for row in found.criteria for each in row.failures)


def test_known_mistakes_are_told_below_full_feedback(course: SmallCourse) -> None:
    course.write(
        manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN,
        mistakes='''
        @mistake(criterion="double", replaces="double", text="Two is added.", fix="Multiply.")
        def added(x):
            return 2 + x
        ''',
    )  # fmt: skip
    for level in ("full", "hint"):
        found = grading.grade(course.course, course.stage, handed_in(course), Options(3, "process", feedback=level))
        (first, *_) = causes(found)["double"]
        assert first is not None and (first.mistake, first.declared) == ("added", True)


def test_the_verdict_is_told_before_causes_are_looked_for(course: SmallCourse) -> None:
    told: list[Verdict] = []
    with Grader(course.course, course.stage) as grader:
        final = grader.grade(handed_in(course), Options(3, "process"), None, told.append)
        (early,) = told
        assert [(row.id, row.status) for row in early.criteria] == [(row.id, row.status) for row in final.criteria]
        assert not any(each.diagnosis for row in early.criteria for each in row.failures)
        told.clear()
        grader.grade(handed_in(course, SOLUTION), Options(3, "process"), None, told.append)
        assert told == []
