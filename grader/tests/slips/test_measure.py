"""The causes of the bank's slips are named: of all stages with --all-tiers, by default of a few slips."""

from __future__ import annotations

from collections import Counter

import pytest

from grader.authoring.proof import workers
from grader.course.manifest import load_course
from grader.tests.slips.bank import slips_of, stages_with_slips
from grader.tests.slips.measure import named
from grader.tests.support.places import ROOT

EVERY = 20  # of the stages, by default, one slip of one in so many is graded
LEAST_RIGHT, MOST_FALSE = 0.7, 0.08  # of the whole bank; false counts true sentences that the bank does not know, too
LEAST_OF_A_SAMPLE = 0.5


def test_causes_are_named(pytestconfig: pytest.Config) -> None:
    is_whole = pytestconfig.getoption("--all-tiers")
    stages = stages_with_slips()
    slips = [slip for stage in stages for slip in slips_of(stage)]
    if not is_whole:
        slips = [slips_of(stage)[0] for stage in stages[::EVERY]]
    with workers(load_course(ROOT), 0) as executor:
        found = named(slips, executor)
    states = Counter(each.state for each in found)
    wrong = [(each.slip.stage, each.slip.id, each.told) for each in found if each.state == "false"]
    if is_whole:
        assert states["right"] >= LEAST_RIGHT * len(found), states
        assert states["false"] <= MOST_FALSE * len(found), wrong
    else:
        assert states["right"] >= LEAST_OF_A_SAMPLE * len(found), (states, wrong)
