"""Arrays past the bounds of a stage are refused by their description, with their shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.protocol.bounds import Bounds, TooLarge, WireError
from grader.protocol.codec import array_from, scalar_from

BOUNDS = Bounds(1 << 20, 1000)
BLOB = np.zeros(1 << 21, np.uint8)


def form(shape: list[int], dtype: str = "uint8") -> list[Any]:
    return [dtype, shape, False, 0, True]


@pytest.mark.parametrize("shape", [[1000], [1000, 1000], [1000, 0], [0, 2, 500], []])
def test_what_fits(shape: list[int]) -> None:
    assert array_from(form(shape), BLOB, BOUNDS).shape == tuple(shape)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ([1001], r"an array of shape \(1001,\); this stage takes at most 1000 along an axis"),
        ([1 << 25, 0], "along an axis"),
        ([100, 11, 0], "rows of nothing"),
        ([1000, 1000, 2], r"an array of shape \(1000, 1000, 2\), 2 MB; this stage takes at most 1 MB"),
    ],
)
def test_what_does_not(shape: list[int], said: str) -> None:
    with pytest.raises(TooLarge, match=said):
        array_from(form(shape), BLOB, BOUNDS)


def test_without_bounds_only_the_frame_counts() -> None:
    assert array_from(form([1 << 21]), BLOB, None).size == 1 << 21


def test_a_scalar_is_as_long_as_its_dtype() -> None:
    assert scalar_from(["int8", b"\3"]) == 3
    with pytest.raises(WireError):
        scalar_from(["int16", b"\3"])
