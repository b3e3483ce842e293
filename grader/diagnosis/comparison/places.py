"""Where two arrays differ, when that is one row, one batch or one triangle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grader.diagnosis.comparison.wording import axis_text

Axes = tuple[str, ...] | None
Mask = NDArray[np.bool_]


def find_place(wrong: Mask, axes: Axes = None) -> str | None:
    """The place that all the differences share, as a sentence; None if there is none, or but one difference.

    >>> find_place(np.array([[False, False, False], [True, True, True]]))
    'all of them are at index 1 (the last) of axis 0'
    """
    if wrong.all() or wrong.sum() < 2:
        return None
    return _triangle(wrong) or _index(wrong, axes)


def _triangle(wrong: Mask) -> str | None:
    rows, columns = wrong.shape[-2:] if wrong.ndim > 1 else (0, 0)
    if min(rows, columns) < 3:
        return None
    everywhere = np.ones((rows, columns), dtype=bool)
    above, below = np.triu(everywhere, 1), np.tril(everywhere, -1)
    places = {"above": above, "below": below, "on": ~above & ~below, "on and above": ~below, "on and below": ~above}
    for place, mask in places.items():
        if (wrong == mask).all():
            return f"those are exactly the values {place} the diagonal"
    return None


def _index(wrong: Mask, axes: Axes) -> str | None:
    """The index along an axis, or along several, that holds all the differences; or the only one that holds none."""
    found, right, region = [], [], wrong.size
    for axis, size in enumerate(wrong.shape):
        slices = np.moveaxis(wrong, axis, 0).reshape(size, -1)
        some, every = slices.any(axis=1), slices.all(axis=1)
        if size > 1 and some.sum() == 1:
            found.append(_index_text(int(some.argmax()), axis, size, axes))
            region //= size
        elif size > 2 and slices.shape[1] > 1 and every.sum() == some.sum() == size - 1:
            right.append(_index_text(int(some.argmin()), axis, size, axes))
    if found and 2 * wrong.sum() >= region:
        return f"all of them are at {' and '.join(found)}"
    return f"only {right[0]} is right" if right else None


def _index_text(index: int, axis: int, size: int, axes: Axes) -> str:
    which = " (the first)" if index == 0 else " (the last)" if index == size - 1 else ""
    return f"index {index}{which} of {axis_text(axis, axes)}"
