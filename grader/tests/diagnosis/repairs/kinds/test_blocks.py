"""Parts of arrays that are taken: a corner for the middle, rows of a reshape for columns."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.kinds.blocks import other_blocks, shifted, turned
from grader.tests.diagnosis.repairs.made import repairs

CASES = {
    "a corner": (
        "def f(y, h, w, p):\n    return y[:, :h, :w]",
        "f(np.ones((2, 4, 5)), 2, 3, 1)",
        "return y[:, p:p + h, p:p + w]",
        "`y[:, :h, :w]` were taken, the corner where the array begins, where `y[:, p:p + h, p:p + w]` belongs",
    ),
    "a corner of something long": (
        "def f(images, height, width, border):\n    return np.add(images, 0).astype(images.dtype)[:height, :width]",
        "f(np.ones((4, 5)), 2, 3, 1)",
        "return np.add(images, 0).astype(images.dtype)[border:border + height, border:border + width]",
        "`[:height, :width]` were taken, the corner where the array begins, where "
        "`[border:border + height, border:border + width]` belongs",
    ),
    "a row that ends before its diagonal": (
        "def f(L, x, i):\n    return L[i] @ x",
        "f(np.ones((3, 3)), np.ones(3), 1)",
        "return L[i, :i] @ x[:i]",
        "the whole row `L[i]` were multiplied, where only what stands before the diagonal belongs",
    ),
    "a row that begins behind its diagonal": (
        "def f(U, x, i):\n    return U[i] @ x",
        "f(np.ones((3, 3)), np.ones(3), 1)",
        "return U[i, i + 1:] @ x[i + 1:]",
        "the whole row `U[i]` were multiplied, where only what stands behind the diagonal belongs",
    ),
    "a reshape for a transpose": (
        "def f(x, n):\n    return x.reshape(-1, n)",
        "f(np.ones((2, 3)), 2)",
        "return x.reshape(n, -1).T",
        "`x.reshape(-1, n)` were taken, which cuts the numbers into rows in another order, where a transpose belongs",
    ),
    "the last entry of another axis": (
        "def f(hs):\n    last = hs[-1]\n    return last",
        "f(np.ones((3, 3, 2)))",
        "last = hs[:, -1]\nreturn last",
        "`hs[-1]` stood where `hs[:, -1]` belongs",
    ),
    "the last entry of the first axis": (
        "def f(hs):\n    last = hs[:, -1]\n    return last",
        "f(np.ones((3, 3, 2)))",
        "last = hs[-1]\nreturn last",
        "`hs[:, -1]` stood where `hs[-1]` belongs",
    ),
    "an array of one axis less": (
        "def f(s, u, v):\n    return s * u",
        "f(np.ones((2, 3, 4)), np.ones((2, 3, 4)), np.ones((2, 4)))",
        "return s * v[:, None, :]",
        "u were used where v[:, None, :] belongs",
    ),
}


@pytest.mark.parametrize(("text", "call", "right", "said"), CASES.values(), ids=CASES)
def test_a_part_is_put_right_and_told(text: str, call: str, right: str, said: str) -> None:
    assert said in repairs(text, call)[right]


def slice_of(text: str) -> ast.Slice:
    part = ast.parse(text, mode="eval").body
    assert isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Slice)
    return part.slice


@pytest.mark.parametrize("text", ["x[:2]", "x[n:m]", "x[::n]", "x[n : 3 * n]", "x[:]", "x[n:]"])
def test_what_is_no_block_of_several_has_no_others(text: str) -> None:
    assert not list(other_blocks(slice_of(text)))


def test_a_block_may_be_each_of_four() -> None:
    found = [ast.unparse(each) for each in other_blocks(slice_of("x[2 * n : 3 * n]"))]
    assert found == [":n", "n:2 * n", "3 * n:4 * n"]


def test_one_axis_alone_is_no_corner_and_a_row_of_sizes_no_transpose() -> None:
    assert not list(shifted(ast.parse("x[:n, 0]", mode="eval").body, {"p": 1}))
    assert not list(turned(ast.parse("x.reshape(2, -1, 3)", mode="eval").body))
