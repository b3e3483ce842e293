"""The table of signs: each sign stands in one of them, and brackets close."""

from __future__ import annotations

from itertools import combinations

from grader.web.reading import signs


def test_no_sign_means_two_things() -> None:
    tables = [signs.RAISED, signs.LOWERED, signs.RELATIONS, signs.OPERATORS, signs.SYMBOLS, signs.GREEK, signs.HATS]
    tables += [signs.OPENING, signs.CLOSING]
    for one, other in combinations(tables, 2):
        assert not set(one) & set(other)


def test_each_bracket_closes() -> None:
    assert set(signs.PAIRS) == set(signs.OPENING) and set(signs.PAIRS.values()) == set(signs.CLOSING)
