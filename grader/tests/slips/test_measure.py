"""The causes of the bank's slips are named: of all stages with --all-tiers, by default of a few slips."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from grader.authoring.proof import workers
from grader.course.manifest import load_course
from grader.tests.slips.bank import slips_of, stages_with_slips
from grader.tests.slips.measure import half_written, named
from grader.tests.support.places import ROOT

EVERY = 20  # of the stages, by default, one slip of one in so many is graded
LEAST_RIGHT, MOST_FALSE = 0.9, 0.01  # of the whole bank; false counts true sentences that the bank does not know, too
LEAST_OF_A_SAMPLE = 0.5


@pytest.mark.full_matrix("grader/diagnosis", "grader/judging")
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


def test_a_module_is_half_written_up_to_the_row_of_its_slip() -> None:
    """What no row asks but those after the slip's is left out; what the slip's row needs stays."""
    slip = next(each for each in slips_of("s03") if each.row == "dual-functions")
    made = ast.parse(half_written(slip, load_course(ROOT).find("s03")).source)
    classes = [(each.name, each.body) for each in made.body if isinstance(each, ast.ClassDef)]
    functions = [(owner, each) for owner, body in [("", made.body), *classes] for each in body]
    definitions = {f"{owner}.{each.name}": each for owner, each in functions if isinstance(each, ast.FunctionDef)}
    missing = {name for name, node in definitions.items() if "NotImplementedError" in ast.unparse(node.body[0])}
    assert "Dual.__pow__" in missing
    assert not missing & {"Dual.__add__", ".cos", ".finite_difference"}
