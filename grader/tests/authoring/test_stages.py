"""Each stage of the course: right answers pass, the stub has not begun, and the files agree with each other.

That every mistake and mutant is caught as well is proven by `grader course verify`, which takes minutes.
"""

from __future__ import annotations

import pytest

from grader.authoring.verify import Plan, verify
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.tests.support.places import ROOT

COURSE = load_course(ROOT)


@pytest.mark.parametrize("stage", COURSE.stages, ids=[stage.id for stage in COURSE.stages])
def test_a_stage_has_no_shortfall(stage: Stage) -> None:
    (proof,) = verify(COURSE, (stage,), Plan(seeds=1, mistakes=False))
    assert proof.shortfalls == ()
    assert proof.reference.total == 1 and proof.alternatives.total >= 3 and proof.stub.total == len(stage.criteria)
