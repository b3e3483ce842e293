"""How an array changed in place: its shape, its dtype, or its bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.diagnosis.comparison.distance import Array
from grader.diagnosis.comparison.wording import Shape, number_pair


def mutation(array: Array, copy: Array, shape: Shape, dtype: np.dtype[Any]) -> str | None:
    """How array differs from the copy, the shape and the dtype that were taken of it before; None if it is as it was.

    >>> mutation(np.array([1.0, 9.0]), np.array([1.0, 2.0]), (2,), np.dtype(float))
    '1 of 2 values, first at [1]: it was 2.0 and is 9.0 now; work on a copy'
    """
    if array.shape != shape:
        return f"its shape was {shape} and is {array.shape} now"
    if array.dtype != dtype:
        return f"its dtype was {dtype} and is {array.dtype} now"
    bytes_now, bytes_then = (np.frombuffer(values.tobytes(), np.uint8) for values in (array, copy))
    changed = (bytes_now != bytes_then).reshape(*shape, dtype.itemsize).any(axis=-1)
    if not changed.any():
        return None
    first = tuple(int(i) for i in np.unravel_index(int(changed.argmax()), changed.shape))
    was, now = number_pair(copy[first], array[first])
    place = f"{changed.sum()} of {copy.size} values, first at {list(first)}: it" if shape else "it"
    return f"{place} was {was} and is {now} now; work on a copy"
