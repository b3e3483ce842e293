"""What a mutant makes of a constant: a number, a key, a default or the bound of a slice."""

from __future__ import annotations

import pytest

from grader.course.mutants import mutants
from grader.tests.course.changes.changed import returned


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("3", ["4", "2"]),
        ("1", ["2", "0"]),
        ("0", ["1"]),
        ("0.0", ["1"]),
        ("0.5", ["1.0", "-0.5"]),
        ("-1", ["0", "-2"]),
        ("-0.5", ["-1.0", "0.5"]),
        ("True", ["False"]),
        ("False", ["True"]),
        ("None", []),
        ("...", []),
    ],
)
def test_a_constant_becomes_its_neighbours(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


def test_a_negative_axis_is_one_number() -> None:
    assert {"x.sum(axis=0)", "x.sum(axis=-2)"} < set(returned("x.sum(axis=-1)"))
    assert not {"x.sum(axis=1)", "x.sum(axis=--1)"} & set(returned("x.sum(axis=-1)"))


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("x['key']", ["x['key_']"]),
        ("x == 'same'", ["x != 'same'", "x == 'same_'"]),
        ("{'key': 'value'}", ["{'key_': 'value'}"]),
        ("{'same': 'same'}", ["{'same_': 'same'}"]),
        ("'text'", []),
        ("call('text')", []),
        ("{'one', 'other'}", []),
        ("f'{x + 1} of {y}'", []),
    ],
)
def test_a_text_is_changed_where_it_is_a_key_or_is_compared(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize(
    ("signature", "wrong"),
    [
        ("x, axis=-1", ["x, axis=0", "x, axis=-2"]),
        ("x, kind='mean'", ["x, kind='mean_'"]),
        ("x, *, keep=False", ["x, *, keep=True"]),
        ("x, *, kind, size=2", ["x, *, kind, size=3", "x, *, kind, size=1"]),
        ("x, mask=None", []),
    ],
)
def test_a_default_is_changed(signature: str, wrong: list[str]) -> None:
    found = [mutant.now for mutant in mutants(f"def function({signature}):\n    return x\n")]
    assert found == [f"def function({each}):" for each in wrong]


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("x[1:]", ["x[:]", "x[2:]", "x[0:]"]),
        ("x[:-1]", ["x[:]", "x[:0]", "x[:-2]"]),
        ("x[n:]", ["x[:]", "x[n + 1:]", "x[n - 1:]"]),
        ("x[:n]", ["x[:]", "x[:n + 1]", "x[:n - 1]"]),
        ("x[::2]", ["x[:]", "x[::3]", "x[::1]"]),
        ("x[:, None]", ["x[None, :]"]),
        ("x[i + 1]", ["x[i - 1]", "x[i]", "x[1]", "x[i + 2]", "x[i + 0]"]),
    ],
)
def test_a_slice_loses_a_bound_or_moves_it_by_one(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong
