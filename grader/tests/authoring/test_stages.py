"""Each stage of the course: right answers pass, the stub has not begun, and the files agree with each other.

By default one alternative is graded, with --all-tiers all of them and the mistakes. That every mutant is caught as well
is proven by `grader course verify --mutants`, which takes minutes.
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
    seeds, is_full = pytestconfig.getoption("--seeds"), pytestconfig.getoption("--all-tiers")
    has_mistakes = is_full and tier == strongest(tiers.TIERS)
    plan = Plan(seeds, mistakes=has_mistakes, isolation=tier, workers=0, alternatives=None if is_full else 1)
    (proof,) = verify(COURSE, (stage,), plan)
    assert proof.shortfalls == ()
    assert proof.reference.total == seeds and proof.alternatives.total >= (3 if is_full else 1) * seeds
    assert proof.stub.total == len(stage.criteria)
    assert (proof.mistakes.total > 0) == has_mistakes
