"""What a mutant makes of a call: other arguments, a partner of its function, or no call."""

from __future__ import annotations

import pytest

from grader.tests.course.changes.changed import returned


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("call(x, y, z)", ["call(y, x, z)", "call(x, z, y)", "x"]),
        ("np.call(x, y)", ["np.call(y, x)", "x"]),
        ("np.part.call(x)", ["x"]),
        ("self.call(x)", ["x"]),
        ("x.call()", ["x"]),
        ("x.call(y)", ["x", "y"]),
        ("call(*x, y)", []),
        ("call(x for x in y)", []),
        ("call('name', x)", []),
        ("np.result_type(x, y)", ["x"]),
        ("np.swapaxes(x, y, z)", ["x"]),
    ],
)
def test_a_call_swaps_its_arguments_or_is_left_out(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("call(dtype=x)", ["call()"]),
        ("call(a=x, b=y)", ["call(b=y)", "call(a=x)"]),
        ("call(**x)", []),
        ("zip(x, y, strict=True)", ["zip(y, x, strict=True)", "x"]),
    ],
)
def test_a_keyword_is_left_out_unless_it_is_a_guard(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("(x, y)", ["(y, x)"]),
        ("[x, y, z]", ["[y, x, z]", "[x, z, y]"]),
        ("[x, y, 'name']", ["[y, x, 'name']"]),
        ("[*x, y]", []),
        ("{x, y}", []),
    ],
)
def test_neighbours_in_a_tuple_or_list_are_swapped(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize(
    ("one", "other"),
    [("sum", "mean"), ("maximum", "minimum"), ("zeros", "ones"), ("triu", "tril"), ("var", "std"), ("any", "all")],
)
def test_a_function_is_taken_for_its_partner(one: str, other: str) -> None:
    assert f"np.{other}(x)" in returned(f"np.{one}(x)") and f"x.{one}()" in returned(f"x.{other}()")


def test_a_partner_is_for_calls() -> None:
    assert returned("x.mean") == []


def test_a_transpose_is_left_out() -> None:
    assert returned("x.T") == ["x"]
