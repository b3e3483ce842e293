"""find_place: one row, one batch, one triangle, or nothing."""

from __future__ import annotations

import numpy as np
import pytest

from grader.diagnosis.comparison.patterns import Mask, find_place


def at(shape: tuple[int, ...], *index: object) -> Mask:
    wrong = np.zeros(shape, dtype=bool)
    wrong[tuple(index)] = True  # type: ignore[index]  # slices and numbers
    return wrong


def test_one_row_holds_all_differences() -> None:
    assert find_place(at((5, 3), 3)) == "all of them are at index 3 of axis 0"


def test_the_last_index_is_called_the_last() -> None:
    wrong = at((2, 4, 3), slice(None), slice(None), -1)
    assert find_place(wrong, ("batch", "seq", "d")) == "all of them are at index 2 (the last) of axis 2 (d)"


def test_one_index_along_two_axes() -> None:
    text = "all of them are at index 0 (the first) of axis 0 and index 1 of axis 1"
    assert find_place(at((2, 3, 6), 0, 1)) == text


def test_the_only_right_batch() -> None:
    assert find_place(~at((3, 4), 0)) == "only index 0 (the first) of axis 0 is right"


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        (np.triu(np.ones((4, 4), bool), 1), "above"),
        (np.tril(np.ones((4, 5), bool), -1), "below"),
        (np.eye(3, dtype=bool), "on"),
        (np.triu(np.ones((4, 4), bool)), "on and above"),
        (np.tril(np.ones((4, 4), bool)), "on and below"),
    ],
)
def test_a_triangle_in_every_matrix(wrong: Mask, place: str) -> None:
    assert find_place(np.stack([wrong, wrong])) == f"those are exactly the values {place} the diagonal"


@pytest.mark.parametrize(
    "wrong",
    [
        at((4, 4), 1, 2),  # one difference, which the message places already
        at((4, 4)),  # everything
        at((4, 4), slice(None, None, 2)),  # two rows
        at((3, 10), 1, slice(3)),  # less than half of a row
        at((), ...),  # a single number
    ],
)
def test_nothing_is_said_where_there_is_no_such_place(wrong: Mask) -> None:
    assert find_place(wrong) is None
