"""What an exception about shapes means on its line: products, broadcasting, axes and indices."""

from __future__ import annotations

import pytest

from tests.diagnosis.exceptions.raising import AXES, told


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("Q @ K", "K transposed would fit: (6, 4) · (4, 5)"),
        ("return np.matmul(Q, K) / 2", "K transposed would fit: (6, 4) · (4, 5)"),
        ("np.dot(Q, K)", "K transposed would fit: (6, 4) · (4, 5)"),
        ("W = K.T\nreturn (Q @ W.T) @ X", "W.T transposed would fit: (6, 4) · (4, 5)"),
        ("Q @ K.T @ K.T", "K.T transposed would fit: (6, 5) · (5, 4)"),
        ("A, B = np.ones((2, 5, 3)), np.ones((2, 6, 3))\nA @ B",
         "B transposed (its last two axes swapped) would fit: (5, 3) · (3, 6)"),
        ("B = X\nX @ B", "B transposed would fit: (5, 3) · (3, 5); X transposed would fit: (3, 5) · (5, 3)"),
        ("V = np.ones((7, 9))\nreturn X @ V", "The last axis of X has 3 entries, the last axis but one of V has 7: "
         "these have to be equal."),
        ("w = np.ones(1)\nreturn w @ X", "The last axis of w has 1 entry, the last axis but one of X has 5: "
         "these have to be equal."),
        ("Q @ np.concatenate([K, K])", "A matrix product sums over the last axis of its left operand, which has "
         "4 entries, "
         "and the last but one of its right operand (the only one of a vector), which has 10: these have to be equal."),
        ("Layer(3).forward(X.T)", "x transposed would fit: (5, 3) · (3, 2)"),
        ("p = {'W': np.ones((2, 3))}\nreturn X @ p['W']", "p['W'] transposed would fit: (5, 3) · (3, 2)"),
    ],
)  # fmt: skip
def test_products_of_matrices(code: str, text: str) -> None:
    assert told(code) == text


def test_axes_that_have_one_name_say_which_operand_is_meant() -> None:
    assert told("Q @ K", AXES) == "K has to be transposed: (seq_q 6, d_k 4) · (d_k 4, seq_k 5)"
    stacks = "Q, K = np.ones((2, 6, 4)), np.ones((2, 5, 4))\nreturn Q @ K"
    told_of_stacks = "K has to be transposed (its last two axes swapped): (seq_q 6, d_k 4) · (d_k 4, seq_k 5)"
    assert told(stacks, AXES) == told_of_stacks
    same = "K = Q\nreturn Q @ K"
    assert told(same, AXES) == "K has to be transposed: (seq_q 6, d_k 4) · (d_k 4, seq_k 6)"
    assert told("Q @ K", {"Q": ("n", "d"), "K": ("m", "e")}).startswith("K transposed would fit: (n 6, d 4)")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("X - X.mean(axis=1)", "Shapes are compared from the last axis on: axis 1 of the first has 3 entries, "
         "axis 0 of the "
         "second has 5. With an axis of length 1, the second would fit as (5, 1): keepdims=True keeps one, "
         "np.newaxis makes one."),
        ("means = X.mean(axis=1)\nreturn X - means", "Shapes are compared from the last axis on: axis 1 of X "
         "has 3 entries, "
         "axis 0 of means has 5. With an axis of length 1, means would fit as (5, 1): keepdims=True keeps one, "
         "np.newaxis makes one."),
        ("s = np.ones((2, 5))\nreturn np.ones((2, 5, 3)) * s", "Shapes are compared from the last axis on: axis "
         "2 of the first "
         "has 3 entries, axis 1 of the second has 5. With an axis of length 1, the second would fit as (2, 5, 1): "
         "keepdims=True keeps one, np.newaxis makes one."),
        ("s = np.ones((4, 2))\nreturn X + s",
         "Shapes are compared from the last axis on: axis 1 of X has 3 entries, axis 1 of s has 2."),
        ("out = np.ones(3)\nout += X", "In place, out keeps its shape (3,); the result has shape (5, 3) and "
         "needs a new array."),
        ("X[0] = np.ones(2)", "The place takes shape (3,), and what is assigned has shape (2,)."),
        ("whole[0:2] = X", "What is assigned has 2 axes, and its place 1: is one left to sum or to index?"),
        ("X.sum(axis=2)", "The array has axes 0 to 1, or -2 to -1 from the end."),
        ("whole.max(axis=-2)", "The array has only axis 0, which is -1 as well."),
        ("np.sum(3.0, axis=0).sum(axis=1)", "A single number has no axes."),
        ("np.concatenate([X, X], axis=2)", "The array has axes 0 to 1, or -2 to -1 from the end."),
        ("np.expand_dims(whole, 5)", ""),
        ("X[5]", "Indices start at 0: axis 0 has 0 to 4."),
        ("X[:, [0, 4]]", "Indices start at 0: axis 1 has 0 to 2."),
        ("X[:0][0]", "Axis 0 is empty: it has no index at all."),
        ("whole[0, 1]", "The array has 1 axis, and 2 indices are given."),
        ("X[np.ones(3) > 0]", "A mask is as long as the axis that it picks from: axis 0 has 5 entries, the mask 3."),
        ("X.reshape(4, 2)", "4 × 2 = 8 values are asked for, and there are 15."),
        ("X.reshape(-1, 2)", ""),
        (
            "np.zeros((0, 6)).reshape(0, 3, -1)",
            "The array is empty, and of nothing -1 cannot tell how long its axis is: write the size of that axis out.",
        ),
        ("np.einsum('ij,jk', X, X)", ""),
    ],
)  # fmt: skip
def test_shapes_axes_and_indices(code: str, text: str) -> None:
    assert told(code) == text
