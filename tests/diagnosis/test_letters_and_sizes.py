"""Letters of einsum, slices of one size, the largest of sizes, axes of shapes that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.diagnosis.engine import Call, causes

RIGHT = """
    import numpy as np


    def scores(q, k):
        return np.einsum("btd,sd->bts", q, k) / 1.5


    def chunks(x, size):
        return [np.tanh(x[start : start + size].sum()) for start in range(0, len(x), size)]


    def agree(one, other, tolerance):
        worst = np.max(np.abs(one - other))
        return bool(worst <= tolerance * 1.5)


    def weighted(slopes, v):
        return (slopes[:, :, None] * v[:, None, :]).sum(axis=0) / 1.5


    def table(A, B):
        result = np.zeros((len(A), B.shape[1]))
        for inner in range(len(B)):
            result += A[:, [inner]] * B[inner, :]
        return result / 1.5


    def stacked(A, B):
        result = np.zeros(np.broadcast_shapes(A.shape, B.shape))
        for each in (A, B):
            result += A * B + each
        return result / 1.5
"""
RNG = np.random.default_rng(3)
Q, K = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(3, 3))
SIZES = ((3, 2), (5, 3), (7, 2))
FAR = np.arange(4.0) / 3


def arrays(*shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    return tuple(RNG.normal(size=shape) for shape in shapes)


SCORES: list[list[Call]] = [[("scores", pair)] for pair in ((Q, K), (Q + 1, K - 1), (Q - 1, K[:2]))]
CHUNKS: list[list[Call]] = [[("chunks", (RNG.normal(size=n), size))] for n, size in SIZES]
AGREE: list[list[Call]] = [
    [("agree", (FAR, FAR + step, tolerance))] for step in (0.1, 0.25) for tolerance in (0.05, 0.1, 0.2, 0.4)
]
WEIGHTED: list[list[Call]] = [[("weighted", arrays((n, m), (n, 3)))] for n, m in ((2, 2), (3, 3), (4, 2), (2, 5))]
TABLES: list[list[Call]] = [[("table", arrays((n, 3), (3, m)))] for n, m in ((2, 2), (3, 2), (4, 5))]
STACKED: list[list[Call]] = [[("stacked", arrays((3,), (n, 3)))] for n in (2, 4, 5)]


@pytest.mark.parametrize(
    ("old", "new", "calls", "told"),
    [
        ('"btd,sd->bts"', '"btd,ds->bts"', SCORES, ("einsum-letters", 5)),
        ("start : start + size", "start:size", CHUNKS, ("bounds-wrong", 9)),
        ("np.max(np.abs(one - other))", "np.abs(one - other)", AGREE, ("sum-missing", 13)),
        ("v[:, None, :]", "v", WEIGHTED, ("axis-added", 18)),
        ("A[:, [inner]]", "A[:, inner]", TABLES, ("axis-added", 24)),
    ],
)
def test_it_is_told_where_it_stands(old: str, new: str, calls: list[list[Call]], told: tuple[str, int]) -> None:
    assert RIGHT.count(old) == 1
    found = causes(RIGHT, RIGHT.replace(old, new), calls)
    assert [(each.id, each.line) for each in found] == [told]


def test_of_the_letters_it_says_which_are_others() -> None:
    (cause,) = causes(RIGHT, RIGHT.replace(",sd->", ",ds->"), SCORES)
    assert "`d` and `s` are exchanged in `ds`" in cause.text


def test_of_sizes_without_one_number_the_largest_is_told() -> None:
    (cause,) = causes(RIGHT, RIGHT.replace("np.max(np.abs(one - other))", "np.abs(one - other)"), AGREE)
    assert "The largest entry of `np.abs(one - other)`" in cause.text


def test_an_array_that_is_to_be_written_into_is_not_summed() -> None:
    found = causes(RIGHT, RIGHT.replace("np.broadcast_shapes(A.shape, B.shape)", "A.shape"), STACKED)
    assert "sum-missing" not in [each.id for each in found]
