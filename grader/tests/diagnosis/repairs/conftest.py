"""A course in which repairs have all the time that they need."""

from __future__ import annotations

import pytest

from grader.tests.conftest import SmallCourse
from grader.tests.diagnosis.repairs.layers import HIDDEN, MANIFEST, PUBLIC, SOLUTION


@pytest.fixture
def course(small_course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    monkeypatch.setattr("grader.judging.session.BENCH_SECONDS", 100)  # no test of these needs a quiet machine
    monkeypatch.setattr("grader.diagnosis.repairs.bench.CALL_SECONDS", 5)
    monkeypatch.setattr("grader.diagnosis.bounds.purse.SECONDS", 20)
    monkeypatch.setattr("grader.diagnosis.repairs.search.SECONDS", 10)
    monkeypatch.setattr("grader.diagnosis.repairs.search.DOUBT_SECONDS", 5)
    monkeypatch.setattr("grader.diagnosis.repairs.rights.answers.SECONDS", 0.15)
    monkeypatch.setattr("grader.diagnosis.evidence.SEARCH_SECONDS", 0)
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN, mistakes="")
    return small_course
