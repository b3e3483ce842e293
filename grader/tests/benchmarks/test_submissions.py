"""Made-up classes: shares of kinds, texts that compile, and the same class in every run."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.result import Ratio, ratio
from benchmarks.submissions import MIXES, made_up
from grader.course.answers import alternative_sources
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.tests.support.places import ROOT


@pytest.fixture(scope="module")
def stage() -> Stage:
    return load_course(ROOT).find("s15")


def test_every_twenty_submissions_have_the_shares_of_the_mix(stage: Stage) -> None:
    kinds = [each.kind for each in made_up(stage, "mix", 60)]
    for first in range(0, 60, 20):
        assert Counter(kinds[first : first + 20]) == MIXES["mix"]


def test_a_larger_class_begins_with_the_smaller_one_and_no_text_comes_twice(stage: Stage) -> None:
    small, large = made_up(stage, "mix", 20), made_up(stage, "mix", 60)
    assert large[:20] == small and len({each.text for each in large}) == 60


def test_right_modules_come_in_all_styles(stage: Stage) -> None:
    number = 1 + len(alternative_sources(stage))
    texts = {each.text.rpartition("\n# ")[0] for each in made_up(stage, "styles", 3 * number)}
    assert number == 7 and len(texts) == number


@pytest.mark.parametrize("kind", ["half", "wrong", "hostile", "equal"])
def test_what_is_not_broken_compiles(stage: Stage, kind: str) -> None:
    for each in made_up(stage, kind, 20):
        compile(each.text, each.name, "exec")


def test_a_ratio_is_taken_pair_by_pair() -> None:
    found = ratio({"a": [1.0, 3.0, 8.0], "b": [2.0, 2.0, 2.0]}, "a", "b", at_most=1.0)
    assert (found.median, found.least, found.most, found.is_met) == (1.5, 0.5, 4.0, False)
    assert Ratio("a", "b", 2.5, 2.0, 3.0, at_least=2.5).is_met
