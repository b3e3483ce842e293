"""Rings: texts that are alike as a whole, of whatever order, and short ones that are left alone."""

from __future__ import annotations

from grader.similarity.rings import ALIKE, LEAST, rings

WHOLE = set(range(100))


def test_copies_and_copies_of_a_part_of_them_are_one_ring() -> None:
    half = int(100 * ALIKE)
    texts = [WHOLE, set(range(200, 300)), set(range(half)) | set(range(300, 300 + half)), WHOLE, set(range(LEAST))]
    assert rings(texts) == [0, 1, 0, 0, 0]


def test_what_shares_less_is_alone() -> None:
    most = int(100 * ALIKE) - 1
    assert rings([WHOLE, set(range(most)) | set(range(200, 300 - most))]) == [0, 1]


def test_of_short_texts_nothing_is_said() -> None:
    short = set(range(LEAST - 1))
    assert rings([short, short, set(), set()]) == [0, 1, 2, 3]
