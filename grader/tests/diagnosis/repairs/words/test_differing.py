"""Two expressions differ in one or two small places, or they are two formulas."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.words.differing import FARTHEST, alone, changed, is_small, places
from grader.diagnosis.slips.schema import Change

CASES = {
    "a name": ("a * b + c", "a * d + c", [("b", "d")]),
    "an operator": ("a * b", "a / b", [("a * b", "a / b")]),
    "a term more": ("a", "a - b * c", [("a", "a - b * c")]),
    "a factor less, inside": ("np.exp(a * b)", "np.exp(a)", [("a * b", "a")]),
    "a function around it": ("a + b", "np.sqrt(a + b)", [("a + b", "np.sqrt(a + b)")]),
    "a method around it": ("a - b", "(a - b).sum(axis=0)", [("a - b", "(a - b).sum(axis=0)")]),
    "an argument": ("f(a, axis=0)", "f(a, axis=1)", [("0", "1")]),
    "a sign and a divisor": ("-a", "a / b", [("-a", "-a / b"), ("-a", "a")]),
    "a name and a term": ("a * b", "a * d + c", [("a * b", "a * b + c"), ("b", "d")]),
}


def change(old: str, new: str) -> Change:
    first, second = (ast.parse(text, mode="eval").body for text in (old, new))
    statement = ast.Return(first)
    return Change(1, "f", first, second, statement, statement, "aligned")


@pytest.mark.parametrize(("old", "new", "wanted"), CASES.values(), ids=CASES)
def test_each_place_is_as_small_as_it_can_be(old: str, new: str, wanted: list[tuple[str, str]]) -> None:
    found = places(change(old, new)) or []
    assert sorted((ast.unparse(each.old), ast.unparse(each.new)) for each in found) == sorted(wanted)  # type: ignore[arg-type]
    assert all(map(is_small, found))


def test_of_two_places_each_is_changed_alone_and_the_rest_stays_as_it_is() -> None:
    old, new = (ast.parse(each, mode="eval").body for each in ("h(f(a), b * c, e)", "h(g(a), b * d, e)"))
    found = alone(old, new)
    assert sorted(map(ast.unparse, found)) == ["h(f(a), b * d, e)", "h(g(a), b * c, e)"]
    assert all(each.args[2] is old.args[2] for each in found)  # type: ignore[attr-defined]
    assert alone(old, old) == []


def test_expressions_of_one_text_differ_nowhere() -> None:
    same = change("a * b", "a * b")
    assert places(same) is None
    assert changed(same.old, same.new) == 0  # type: ignore[arg-type]


def test_another_formula_is_no_small_change() -> None:
    other = change("np.sum((x - mean) ** 2) / max(len(x) - 1, 1)", "np.std(y)")
    found = places(other)
    assert found is None or not all(map(is_small, found))
    assert changed(other.old, other.new) > FARTHEST  # type: ignore[arg-type]


@pytest.mark.parametrize(("old", "new", "is_told"), [
    ("a.sum(axis=0)", "a.mean(axis=0)", True),
    ("np.sqrt(b.mean())", "np.std(b)", False),
])  # fmt: skip
def test_functions_that_nobody_confuses_are_another_formula(old: str, new: str, is_told: bool) -> None:
    found = places(change(old, new))
    assert (found is not None and all(map(is_small, found))) == is_told


def test_many_places_are_not_told() -> None:
    assert places(change("a * b + c * d", "e * f + g * h")) is None
