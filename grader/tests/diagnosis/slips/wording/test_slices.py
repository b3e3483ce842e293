"""Slices of which a bound is another are told by the end that moved, the way it went, and how far."""

from __future__ import annotations

import ast
from typing import cast

import pytest

from grader.diagnosis.slips.wording.phrases import Vocabulary
from grader.diagnosis.slips.wording.slices import sliced


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (":", "1:", "began one entry later"),
        ("1:", ":", "began at the first entry"),
        ("1:", "2:", "began one entry later"),
        ("-2:", "-1:", "began one entry later"),
        ("-1:", "-3:", "began two entries earlier"),
        ("i:", "i + 1:", "began one entry later"),
        ("i + 1:", "i:", "began one entry earlier"),
        ("1:", "-1:", "began in another place"),
        (":", "-1:", "began in another place"),
        (":", "width:", "began later, by width"),
        (":i", ":i - 1", "ended one entry earlier"),
        (":i - 1", ":i", "ended one entry later"),
        (":", ":-1", "ended one entry earlier"),
        (":-1", ":", "ran to the last entry"),
        (":", ":i", "ended in another place"),
        (":pad + width", ":width", "ended earlier, by pad"),
        (":1 + width", ":width + 6", "ended 5 entries later"),
        (":width", ":pad", "ended in another place"),
        (":2 * pad", ":hidden", "ended in another place"),
        ("::2", "::", "took every entry"),
        ("::", "::-1", "ran backwards"),
        ("::2", "::pad", "took other steps"),
    ],
)
def test_the_bound_that_moved_is_told(old: str, new: str, told: str) -> None:
    before, after = (cast(ast.Subscript, ast.parse(f"x[{text}]", mode="eval").body) for text in (old, new))
    assert isinstance(before.slice, ast.Slice) and isinstance(after.slice, ast.Slice)
    for bound in ("lower", "upper", "step"):  # a change leaves what it does not change as it is
        was, now = getattr(before.slice, bound), getattr(after.slice, bound)
        if was is not None and now is not None and ast.dump(was) == ast.dump(now):
            setattr(after.slice, bound, was)
    say = Vocabulary(frozenset(), parameters=frozenset({"x", "pad", "width", "i"}))
    found = sliced(before.slice, after.slice, before, say)
    assert found is not None and found.said == f"a slice of x {told}"
