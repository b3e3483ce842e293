"""How single values are called, so that what is said of them is true."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.slips.wording.phrases import Vocabulary

NAMES = frozenset({"rate", "x"})


@pytest.mark.parametrize(
    ("text", "is_own", "said"),
    [
        ("max(rate, 1e-12)", True, "`max(rate, 1e-12)`"),
        ("max(rate, 1e-12)", False, "the maximum of rate"),
        ("max(x)", True, "the maximum of x"),
        ("np.max(x, 0)", True, "the maximum of x"),
    ],
)
def test_the_larger_of_two_numbers_is_told_by_the_learners_own_text(text: str, is_own: bool, said: str) -> None:
    assert Vocabulary(NAMES, is_own=is_own).phrase(ast.parse(text, mode="eval").body) == said


@pytest.mark.parametrize(("text", "said"), [("np.pi", "pi"), ("math.pi", "pi"), ("x.pi", None)])
def test_the_circle_s_constant_has_its_name(text: str, said: str | None) -> None:
    assert Vocabulary(NAMES).phrase(ast.parse(text, mode="eval").body) == said
