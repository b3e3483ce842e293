"""How far apart the values of two arrays of one shape are, without overflow, and where that is too far."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Mask = NDArray[np.bool_]


def in_common(actual: Array, expected: Array) -> tuple[Array, Array]:
    """Both as they are if both are integers or bool, otherwise in one type that holds either, at least float64."""
    kinds = {actual.dtype.kind, expected.dtype.kind}
    if not kinds & {"f", "c"}:
        return actual, expected
    least = np.longdouble if kinds & {"i", "u"} else np.float64
    common = np.result_type(actual.dtype, expected.dtype, least)
    return actual.astype(common, copy=False), expected.astype(common, copy=False)


def errors(actual: Array, expected: Array, rtol: float, atol: float, equal_nan: bool) -> tuple[Array, Mask]:
    """How far apart the values are, and where that is more than atol + rtol*|expected|.

    Equal infinities are equal, so are NaNs with equal_nan; both arrays are bool, both integer or of one inexact type.

    >>> distance, wrong = errors(np.array([3, -128], np.int8), np.array([3, 127], np.int8), 0.0, 0.0, False)
    >>> distance.tolist(), wrong.tolist()
    ([0.0, 255.0], [False, True])
    """
    if actual.dtype.kind == "b":
        wrong = np.asarray(actual != expected)
        return wrong.astype(np.float64), wrong
    if actual.dtype.kind in "iu":
        return _integer_errors(actual, expected, rtol, atol)
    if actual.dtype.kind == "c" and equal_nan:
        actual, expected = _without_common_nan(actual, expected)
    error = np.abs(actual - expected)
    near = (error <= atol + rtol * np.abs(expected)) & np.isfinite(error)
    right = (actual == expected) | near
    if equal_nan and actual.dtype.kind == "f":
        right |= np.isnan(actual) & np.isnan(expected)
    return np.asarray(error), np.asarray(~right)


def _without_common_nan(actual: Array, expected: Array) -> tuple[Array, Array]:
    """Both with 0 for each real or imaginary part that is NaN in both: the other part still has to be right.

    >>> [part.tolist() for part in _without_common_nan(np.array([complex(np.nan, 1)]), np.array([complex(np.nan, 2)]))]
    [[1j], [2j]]
    """
    parts = [array.copy().reshape(-1).view(array.real.dtype) for array in (actual, expected)]
    common = np.isnan(parts[0]) & np.isnan(parts[1])
    for part in parts:
        part[common] = 0
    one, other = (part.view(actual.dtype).reshape(actual.shape) for part in parts)
    return one, other


def _integer_errors(actual: Array, expected: Array, rtol: float, atol: float) -> tuple[Array, Mask]:
    """The same for integers of any two types: in uint64, whose arithmetic modulo 2**64 keeps distances exact."""
    left, right = actual.astype(np.uint64), expected.astype(np.uint64)
    negative_left, negative_right = actual < 0, expected < 0
    apart = np.where(negative_left < negative_right, left - right, right - left)  # of unlike signs: positive - negative
    larger = np.maximum(left, right) - np.minimum(left, right)
    distance = np.where(negative_left == negative_right, larger, apart)
    overflow = (negative_left != negative_right) & (distance < np.where(negative_left, right, left))
    distance = np.where(overflow, np.uint64(2**64 - 1), distance)
    magnitude = np.where(negative_right, np.uint64(0) - right, right).astype(np.longdouble)
    allowed = np.floor(atol + rtol * magnitude)
    most = np.nextafter(np.longdouble(2) ** 64, np.longdouble(0))  # the largest that can become a uint64
    near = (distance <= np.minimum(allowed, most).astype(np.uint64)) & ~overflow
    return distance.astype(np.float64), np.asarray(~near)
