"""What came from a learner's function, as numbers that can be drawn: everything else is told."""

from __future__ import annotations

import numpy as np
import pytest

from grader.explore.values import Unfit, bounded, listing, scalar, several


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0), np.array([2.0])])
def test_a_number_may_come_in_many_ways(value: object) -> None:
    assert scalar(value) == 2.0


@pytest.mark.parametrize(
    "value", [None, "2", True, [2.0], np.array([1.0, 2.0]), np.array(2j), np.nan, np.inf, -1e10, 10**400, {}]
)
def test_what_is_no_number_that_can_be_drawn_is_told(value: object) -> None:
    with pytest.raises(Unfit, match="loss: "):
        scalar(value, "loss")


def test_a_list_of_numbers_may_be_a_list_or_an_array() -> None:
    for value in ([1, 2.0], (1, 2), np.array([1, 2])):
        assert listing(value, 2, "losses").tolist() == [1.0, 2.0]
    for wrong in ([1], np.array([1.0, np.nan]), [1, None], None, np.zeros((2, 1))):
        with pytest.raises(Unfit):
            listing(wrong, 2, "losses")


def test_values_beyond_what_is_sensible_and_nan_are_refused() -> None:
    assert bounded(np.array([1e9, -1e9])).tolist() == [1e9, -1e9]
    assert bounded(np.zeros(0)).size == 0
    for value in (2e9, np.nan, np.inf):
        with pytest.raises(Unfit, match="x: reaches"):
            bounded(np.array([value]), "x")


def test_several_things_are_counted() -> None:
    assert several([1, 2], ("a", "b")) == (1, 2)
    with pytest.raises(Unfit, match=r"returned None where \(a, b, c\) was expected"):
        several(None, ("a", "b", "c"))
    with pytest.raises(Unfit, match=r"returned 2 values where \(a, b, c\) was expected"):
        several((1, 2), ("a", "b", "c"))
