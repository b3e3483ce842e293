"""A slip that no mistakes.py knows is named from small changes of the reference, and a coincidence is not."""

from __future__ import annotations

import time

import pytest

from grader.diagnosis.bounds.purse import SECONDS
from grader.diagnosis.evidence import SEARCH_SECONDS
from grader.diagnosis.slips.telling import slip_id
from grader.outcome import Diagnosis
from grader.tests.conftest import SmallCourse
from grader.tests.diagnosis.test_evidence import HIDDEN, MANIFEST, PUBLIC

SOLUTION = """
    def scale(x, alpha):
        result = alpha * x
        return result


    def shift(x, by):
        return x + by


    def twice(x):
        return shift(x, x)
"""


@pytest.fixture
def course(small_course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    monkeypatch.setattr("grader.judging.session.BENCH_SECONDS", 0)  # no repairs: changes of right modules alone
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN, mistakes="")
    return small_course


def found(course: SmallCourse, old: str, new: str) -> dict[str, Diagnosis | None]:
    assert old in SOLUTION
    rows = course.grade(SOLUTION.replace(old, new)).verdict.criteria
    return {
        failure.test.rpartition("::")[2].partition("[")[0]: failure.diagnosis
        for row in rows
        for failure in row.failures
    }


def test_a_slip_is_named_without_any_mistakes(course: SmallCourse) -> None:
    diagnosis = found(course, "alpha * x", "alpha + x")["test_scale"]
    assert diagnosis is not None
    assert diagnosis.text == "scale answers as if alpha and x were added instead of multiplied."
    assert diagnosis.mistake == slip_id(diagnosis.text, 0) and not diagnosis.declared


def test_slips_in_two_functions_are_each_named(course: SmallCourse) -> None:
    course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN, mistakes="")
    source = SOLUTION.replace("alpha * x", "alpha + x").replace("x + by", "x - by")
    rows = course.grade(source).verdict.criteria
    told = {f.test.rpartition("::")[2].partition("[")[0]: f.diagnosis for row in rows for f in row.failures}
    assert "alpha" in getattr(told["test_scale"], "text", "")
    assert "by were subtracted instead of added" in getattr(told["test_shift"], "text", "")


def test_what_explains_one_test_of_several_is_not_told(course: SmallCourse) -> None:
    diagnosis = found(course, "alpha * x", "(alpha + x if alpha == 2 else x * 0 + 77.7 / alpha)")["test_scale"]
    assert diagnosis is None


def test_a_change_that_never_ends_is_given_up_in_time(course: SmallCourse) -> None:
    loop = """
    def scale(x, alpha):
        left = alpha
        result = 0 * x
        while left > 0:
            left -= 1
            result = result + x
        return result
"""
    start, end = SOLUTION.index("    def scale"), SOLUTION.index("    def shift")
    course.write(
        manifest=MANIFEST, solution=SOLUTION[:start] + loop + SOLUTION[end:], public=PUBLIC, hidden=HIDDEN, mistakes=""
    )
    before = time.process_time()
    assert found(course, "alpha * x", "alpha * 3.3 * x")["test_scale"] is None
    assert time.process_time() - before < 3 * (SEARCH_SECONDS + SECONDS)


def test_an_id_is_short_and_stable_and_another_for_another_text_or_source() -> None:
    assert slip_id("f answers as if b were left out.", 0) == slip_id("f answers as if b were left out.", 0)
    ids = {slip_id(text, source) for text in ("a", "b") for source in (0, 1)}
    assert len(ids) == 4 and all(len(each) == 13 and each.startswith("slip-") for each in ids)


def test_a_case_for_which_there_is_a_condition_is_not_told_as_always_taken(
    small_course: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.judging.session.BENCH_SECONDS", 0)
    right = SOLUTION.replace(
        "result = alpha * x\n", "result = alpha * x\n        if x.min() > alpha:\n            result = 7 * x\n"
    )
    small_course.write(manifest=MANIFEST, solution=right, public=PUBLIC, hidden=HIDDEN, mistakes="")
    wrong = right.replace("if x.min() > alpha:", "if x.min() > alpha + 1:").replace("result = alpha", "result = 7")
    rows = small_course.grade(wrong).verdict.criteria
    told = [failure.diagnosis.text for row in rows for failure in row.failures if failure.diagnosis]
    assert rows and not any("always taken" in each for each in told), told
