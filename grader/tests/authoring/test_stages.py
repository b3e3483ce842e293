"""Each stage of the course: right answers pass, the stub has not begun, and the files agree with each other.

That every mistake and mutant is caught as well is proven by `grader course verify`, which takes minutes; the mistakes
are graded here with --all-tiers, too.
"""

from __future__ import annotations

import pytest

from grader.authoring.verify import Plan, verify
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.isolation import tiers
from grader.tests.conftest import need
from grader.tests.support.matrix import strongest
from grader.tests.support.places import ROOT

COURSE = load_course(ROOT)


@pytest.mark.parametrize("tier", tiers.TIERS)
@pytest.mark.parametrize("stage", COURSE.stages, ids=[stage.id for stage in COURSE.stages])
def test_a_stage_has_no_shortfall(stage: Stage, tier: tiers.Tier, pytestconfig: pytest.Config) -> None:
    need(tier)
    is_full = pytestconfig.getoption("--all-tiers") and tier == strongest(tiers.TIERS)
    seeds = pytestconfig.getoption("--seeds")
    (proof,) = verify(COURSE, (stage,), Plan(seeds=seeds, mistakes=is_full, isolation=tier, workers=0))
    assert proof.shortfalls == ()
    assert proof.reference.total == seeds and proof.alternatives.total >= 3 * seeds
    assert proof.stub.total == len(stage.criteria)
    assert (proof.mistakes.total > 0) == is_full
