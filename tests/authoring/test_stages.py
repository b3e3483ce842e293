"""Each stage of the course: right answers pass, the stub has not begun, and the files agree with each other.

By default the references of two stages are graded, and the stub and an alternative of one; with --all-tiers all of
them, and mistakes. That every mutant is caught as well is proven by `grader course verify --mutants`, which
takes minutes.
"""

from __future__ import annotations

import pytest

from grader.authoring.verify import VerifyOptions, verify
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.isolation import tiers
from tests.conftest import need
from tests.pace.matrix import strongest
from tests.support.places import ROOT

COURSE = load_course(ROOT)
EVERY = 6  # of the stages, by default, the stub and an alternative of one in so many are graded as well


@pytest.mark.some_of(51, "stages", "hidden")  # the first of all, and s06 in the last of the tiers
@pytest.mark.parametrize("stage", COURSE.stages, ids=[stage.id for stage in COURSE.stages])
@pytest.mark.parametrize("tier", tiers.TIERS)
def test_a_stage_has_no_shortfall(stage: Stage, tier: tiers.Tier, pytestconfig: pytest.Config, is_full: bool) -> None:
    need(tier)
    seeds = pytestconfig.getoption("--seeds")
    has_mistakes = is_full and tier == strongest(tiers.TIERS)
    is_more = is_full or COURSE.stages.index(stage) % EVERY == EVERY - 1
    others = None if is_full else int(is_more)
    plan = VerifyOptions(seeds, mistakes=has_mistakes, isolation=tier, workers=0, alternatives=others, stub=is_more)
    (proof,) = verify(COURSE, (stage,), plan)
    assert proof.shortfalls == ()
    assert proof.reference.total == seeds and proof.alternatives.total >= (3 if is_full else int(is_more)) * seeds
    assert proof.stub.total == (len(stage.criteria) if is_more else 0)
    assert (proof.mistakes.total > 0) == has_mistakes
