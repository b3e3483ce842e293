"""A sentence tells a change where it has a name, number or operation of it."""

from __future__ import annotations

import pytest

from grader.authoring.likewords import names_change
from grader.course.mutants import Mutant


@pytest.mark.parametrize(
    ("was", "now", "sentence", "is_told"),
    [
        ("return x * scale", "return x", "f answers as if x were not multiplied by scale (line 4).", True),
        ("return x * scale", "return x", "f answers as if the mean were taken (line 4).", False),
        ("return x / 2", "return x / 3", "f answers as if 3 stood where the formula has 2 (line 9).", True),
        ("return x / 2", "return x / 3", "f answers as if x came twice (line 3).", False),
        ("return x - y", "return y - x", "f answers as if x and y were swapped (line 1).", True),
        ("if x < 0:", "if x <= 0:", "f refuses a call that it has to accept.", True),
        ("return x ** 0.5", "return x * 0.5", "f answers as if the square root were not taken.", True),
        ("return np.max(x)", "return np.min(x)", "f answers as if the sum were taken.", False),
    ],
)
def test_what_is_told(was: str, now: str, sentence: str, is_told: bool) -> None:
    assert names_change(Mutant("f", 1, was, now, ""), sentence) is is_told
