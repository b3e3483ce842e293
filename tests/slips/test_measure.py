"""Slips are told where they are, and none somewhere else: as the golden files have it."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from grader.course.answers import load_mistakes
from grader.course.manifest import load_course
from grader.diagnosis.obvious import MISSING
from tests.slips.bank import slips_of, solution_of, stages_with_slips
from tests.slips.golden import Told, all_slips, golden_path
from tests.slips.measure import (
    ELSEWHERE,
    FUNCTION,
    KNOWN,
    KNOWN_BESIDE,
    LINE,
    SHOWN,
    SILENT,
    counted,
    half_written,
    place_of,
    told_in_golden,
)
from tests.support.places import ROOT

COURSE = load_course(ROOT)
MOST_SILENT, MOST_ELSEWHERE = 0.1, 0.01  # of the bank


@pytest.mark.full_matrix
def test_slips_are_told_where_they_are() -> None:
    stages = [stage for stage in stages_with_slips() if golden_path(stage).exists()]
    found = {
        (stage, slip): place
        for stage in stages
        for slip, (place, _) in told_in_golden(all_slips(stage), COURSE.find(stage)).items()
    }
    places = Counter(found.values())
    elsewhere = [slip for slip, place in found.items() if place == ELSEWHERE]
    assert places[ELSEWHERE] <= MOST_ELSEWHERE * len(found), elsewhere
    assert places[SILENT] <= MOST_SILENT * len(found), counted(found.values())


@pytest.mark.parametrize(
    ("told", "place"),
    [
        ((), SILENT),
        ((("term-missing", "dot_product", 21),), LINE),
        ((("term-missing", "dot_product", 20),), FUNCTION),
        ((("term-missing", "matmul", 60),), ELSEWHERE),
        (((MISSING, "", 0),), SHOWN),
        ((("elementwise-product-without-sum", "dot_product", 0),), KNOWN),
        ((("elementwise-product-without-sum", "dot_product", 20),), KNOWN_BESIDE),
        ((("table-of-sums", "outer_product", 0),), ELSEWHERE),
        ((("term-missing", "dot_product", 21), ("term-missing", "dot_product", 20)), FUNCTION),
    ],
    ids=["silent", "line", "function", "elsewhere", "shown", "known", "known beside", "another", "two"],
)
def test_the_place_in_which_a_slip_is_told(told: Told, place: str) -> None:
    """The slip returns v * w in line 21 of dot_product, where the sum belongs."""
    slip = next(each for each in slips_of("s01") if each.id == "dot-not-summed")
    assert slip.source.splitlines()[20].strip() == "return v * w"
    assert "elementwise-product-without-sum" in {each.id for each in load_mistakes(COURSE.find("s01"))}
    assert place_of(slip, solution_of("s01"), told, COURSE.find("s01")) == place


def test_counts_are_of_each_place() -> None:
    assert counted([LINE, LINE, SILENT]).startswith("2 at their own line, ")
    assert counted([LINE, LINE, SILENT]).endswith(" 0 elsewhere, 1 silent")


def test_a_module_is_half_written_up_to_the_row_of_its_slip() -> None:
    """What no row asks but those after the slip's is left out; what the slip's row needs stays."""
    slip = next(each for each in slips_of("s03") if each.row == "dual-functions")
    made = ast.parse(half_written(slip, COURSE.find("s03")).source)
    classes = [(each.name, each.body) for each in made.body if isinstance(each, ast.ClassDef)]
    functions = [(owner, each) for owner, body in [("", made.body), *classes] for each in body]
    definitions = {f"{owner}.{each.name}": each for owner, each in functions if isinstance(each, ast.FunctionDef)}
    missing = {name for name, node in definitions.items() if "NotImplementedError" in ast.unparse(node.body[0])}
    assert "Dual.__pow__" in missing
    assert not missing & {"Dual.__add__", ".cos", ".finite_difference"}
