"""What is said of an expression in whose place a right module has a larger one."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.edits.base import VAGUE
from grader.diagnosis.lookup import ALONE, PART, SQUARE, said_of


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("h", "h ** 2", SQUARE),
        ("h", "h * h", SQUARE),
        ("h", "h ** 3", ALONE),
        ("angle", "angle[:, : d // 2]", PART),
        ("angle", "angle[0]", PART),
        ("m", "m[:, None]", VAGUE),
        ("j - i", "np.abs(i - j)", VAGUE),
        ("h", "np.abs(h) + 1", ALONE),
    ],
)
def test_it_is_true_of_what_is_needed(old: str, new: str, said: str) -> None:
    before, after = (ast.parse(text, mode="eval").body for text in (old, new))
    assert said_of(before, after) == said
