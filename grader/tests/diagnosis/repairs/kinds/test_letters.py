"""Subscripts of einsum are put right in one letter, or in the order of two, and told as they stand there."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.kinds.letters import MOST, letters
from grader.tests.diagnosis.repairs.made import repairs


def others(text: str) -> list[str]:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    return [str(each.value) for each in letters(call.args[0], call) if isinstance(each, ast.Constant)]


@pytest.mark.parametrize(
    ("stood", "belongs"),
    [
        ("bsi,bsj->ji", "bsi,bsj->ij"),  # the result transposed
        ("ij,kj->ik", "ij,jk->ik"),  # an operand transposed
        ("bqd,bkd->bqk", "bqd,bkd->bkq"),
        ("bhqk,bhqd->bhqd", "bhqk,bhkd->bhqd"),  # summed along the wrong axis
    ],
)
def test_other_letters_are_tried(stood: str, belongs: str) -> None:
    found = others(f"np.einsum('{stood}', a, b)")
    assert belongs in found and stood not in found and len(found) <= MOST


def test_what_a_result_has_an_operand_has() -> None:
    assert all(set(each.split("->")[1]) <= set(each.split("->")[0]) for each in others("np.einsum('ij,jk->ik', a, b)"))


@pytest.mark.parametrize(
    "text", ["np.einsum('ij,jk', a, b)", "np.einsum('...i,i->...', a, b)", "f('ij->ji', a)", "np.einsum(s, a)"]
)
def test_others_are_left_alone(text: str) -> None:
    assert not others(text)


def test_it_is_told_by_both_subscripts() -> None:
    found = repairs("def f(a, b):\n    return np.einsum('ij,ik->kj', a, b)", "f(np.ones((2, 2)), np.ones((2, 2)))")
    [said] = found["return np.einsum('ij,ik->jk', a, b)"]
    assert "ij,ik->kj" in said and "ij,ik->jk" in said
