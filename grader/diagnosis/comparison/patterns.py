"""Recognise the pattern of a wrong array (a constant factor, a transpose, a shift), said only where it is certain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.diagnosis.comparison.wording import axes_text, axis_text, number_pair

Array = NDArray[Any]
Axes = tuple[str, ...] | None
COARSEST_RTOL = 1e-3  # above it agreement proves little
CLEARLY = 100.0  # how many tolerances apart two values are to be told apart beyond doubt
CLOSE_TO_ONE = 1e-3  # a factor this near to 1 is rounding, or less than a learner can use
CLEARLY_LESS = 1e-3  # a slice that sums to more than 1 less this holds all: the others have underflowed
LARGEST_FACTOR, LARGEST_RADICAND = 100_000, 4096
LEAST_RTOL, EXACT_INTEGERS = 1e-12, 2**39  # below 2**39 the least tolerance is less than one
LARGEST_SORTED = 1_000_000
MOST_AXES = 6
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Case:
    """Two arrays of one shape and type that differ where wrong is true, and when two values count as equal."""

    actual: Array
    expected: Array
    wrong: NDArray[np.bool_]
    rtol: float
    atol: float
    axes: Axes = None

    def same(self, first: Array, second: Array, scale: float = 1.0) -> bool:
        """Whether two arrays agree everywhere, with scale times the absolute tolerance."""
        if first.dtype.kind == "b":
            return bool((first == second).all())
        near = np.abs(first - second) <= scale * self.atol + self.rtol * np.abs(second)
        return bool(((first == second) | near).all())


def find_pattern(
    actual: Array, expected: Array, wrong: NDArray[np.bool_], rtol: float, atol: float, axes: Axes = None
) -> str | None:
    """What explains the differences, as a sentence; None if nothing does beyond doubt.

    The arrays have one shape and are both bool, both integer or of one inexact type; wrong is true where they differ.

    >>> expected = np.array([1.0, 2.0, 4.0])
    >>> find_pattern(-expected, expected, np.full(3, True), 1e-9, 0.0)
    'every value has the opposite sign'
    """
    if wrong.size < 3:
        return None
    with np.errstate(all="ignore"):
        if actual.dtype.kind == "b":
            return _first((_one_value, _inverted, _moved), Case(actual, expected, wrong, 0.0, 0.0, axes))
        if actual.dtype.kind in "iu":
            if max(_largest(actual), _largest(expected)) >= EXACT_INTEGERS:
                return None
            actual, expected = actual.astype(np.float64), expected.astype(np.float64)
        case = Case(actual, expected, wrong, max(rtol, LEAST_RTOL), atol, axes)
        if not _beyond_doubt(case):
            return None
        return _first((_one_value, _factor, _offset, _moved, _rearranged, _signs, _sums), case)


def _beyond_doubt(case: Case) -> bool:
    """Whether the differences are far larger than the tolerance, so that agreement elsewhere proves something."""
    places = case.wrong & np.isfinite(case.expected)
    if case.rtol > COARSEST_RTOL or not places.any():
        return False
    errors = np.abs(case.actual - case.expected)[places]
    allowed = case.atol + case.rtol * np.abs(case.expected[places])
    return _median(errors) > CLEARLY * _median(allowed)


def _median(values: Array) -> float:
    """Return the median, NaN where a value is; NumPy's own imports numpy.ma, which takes as long as ten tests."""
    if np.isnan(values).any():
        return float("nan")
    low, high = (values.size - 1) // 2, values.size // 2
    parted = np.partition(values, (low, high))
    return float(parted[low] + parted[high]) / 2


def _first(finders: tuple[Callable[[Case], str | None], ...], case: Case) -> str | None:
    return next((text for finder in finders if (text := finder(case))), None)


def _largest(values: Array) -> int:
    return max(abs(int(values.max())), abs(int(values.min())))


def _one_value(case: Case) -> str | None:
    value = case.actual.flat[0]
    if not (case.actual == value).all() or (case.expected == case.expected.flat[0]).all():
        return None
    return f"every value is {number_pair(None, value)[1]}"


def _inverted(case: Case) -> str | None:
    return "every value is inverted: True and False are exchanged" if case.wrong.all() else None


def _factor(case: Case) -> str | None:
    usual = np.isfinite(case.expected) & (case.expected != 0)
    expected, actual = case.expected[usual], case.actual[usual]
    if expected.size < 3 or np.ptp(np.abs(expected)) <= CLEARLY * case.atol:
        return None
    unit = np.abs(expected).max()
    projected = (actual / unit * (expected / unit).conj()).sum() / np.square(np.abs(expected / unit)).sum()
    ratio = float(projected.real)
    if abs(ratio - 1) < CLOSE_TO_ONE or not 1e-9 < abs(ratio) < 1e9:
        return None
    if not case.same(case.actual, ratio * case.expected, abs(ratio)):
        return None
    return "every value has the opposite sign" if abs(ratio + 1) <= 2 * case.rtol else _factor_text(case, ratio)


def _factor_text(case: Case, ratio: float) -> str:
    number, root = _root(max(abs(ratio), 1 / abs(ratio)), case.rtol)
    shown = f"{ratio:.4g}"
    if number is None:
        return f"every value is {shown} times the expected one"
    name = f"{'-' if ratio < 0 else ''}{'' if abs(ratio) > 1 else '1/'}{'√' if root else ''}{number}"
    called = "" if name == shown else f" ({name} times)"
    alike = [axis for axis, size in enumerate(case.actual.shape) if size == number > 2]
    size = f"; {number} is the size of {axis_text(alike[0], case.axes)}" if len(alike) == 1 else ""
    return f"every value is {shown} times{called} the expected one{size}"


def _root(factor: float, precision: float) -> tuple[int | None, bool]:
    """The whole number that a factor above 1 is, or is the square root of; None where chance would do as well."""
    whole, square = round(factor), round(factor * factor)
    if whole < LARGEST_FACTOR and abs(factor - whole) <= 2 * precision * factor < 0.02:
        return whole, False
    if square < LARGEST_RADICAND and abs(factor * factor - square) <= 4 * precision * square < 0.02:
        return square, True
    return None, False


def _offset(case: Case) -> str | None:
    finite = np.isfinite(case.expected)
    expected = case.expected[finite]
    if case.actual.dtype.kind == "c" or expected.size < 3 or np.ptp(expected) <= CLEARLY * case.atol:
        return None
    offset = (case.actual[finite] - expected)[0]
    if not case.wrong[finite].all() or not case.same(case.actual, case.expected + offset):
        return None
    return f"every value is {abs(offset):.6g} {'more' if offset > 0 else 'less'} than the expected one"


def _moved(case: Case) -> str | None:
    """The one rearrangement that fits; of several only that the diagonal is off by one."""
    if case.wrong.sum() < 2:
        return None
    shifts = {(axis, late): text for axis, late, text in _shifts(case)}
    found = [*_swaps(case), *_reversals(case), *shifts.values()]
    last = case.actual.ndim - 1
    diagonal = ({(last, True), (last - 1, False)}, {(last, False), (last - 1, True)})
    if len(found) == 2 and set(shifts) in diagonal:
        return "the diagonal is off by one"
    return found[0] if len(found) == 1 else None


def _swaps(case: Case) -> Iterator[str]:
    shape, ndim = case.actual.shape, case.actual.ndim
    for first, second in combinations(range(min(ndim, MOST_AXES)), 2):
        swapped = case.expected.swapaxes(first, second)
        if min(shape[first], shape[second]) < 2 or not case.same(case.actual, swapped.reshape(shape)):
            continue
        pair = axes_text(first, second, case.axes)
        if shape[first] != shape[second]:
            yield f"reshaped where {pair} should be swapped: reshape keeps the order of values, transpose moves axes"
        elif ndim == 2:
            yield "it is transposed: rows and columns are swapped"
        else:
            yield f"{pair} are swapped"


def _reversals(case: Case) -> Iterator[str]:
    for axis in range(min(case.actual.ndim, MOST_AXES)):
        if case.actual.shape[axis] > 1 and case.same(case.actual, np.flip(case.expected, axis)):
            yield f"reversed along {axis_text(axis, case.axes)}"


def _shifts(case: Case) -> Iterator[tuple[int, bool, str]]:
    for axis in range(min(case.actual.ndim, MOST_AXES)):
        actual, expected = np.moveaxis(case.actual, axis, 0), np.moveaxis(case.expected, axis, 0)
        wrong = np.moveaxis(case.wrong, axis, 0)
        for late in (True, False):
            here, there = (slice(1, None), slice(None, -1)) if late else (slice(None, -1), slice(1, None))
            if len(actual) > 2 and wrong[here].sum() > 1 and case.same(actual[here], expected[there]):
                place, other = ("late", "i - 1") if late else ("early", "i + 1")
                where = axis_text(axis, case.axes)
                yield axis, late, f"one place too {place} along {where}: index i holds what belongs at {other}"


def _rearranged(case: Case) -> str | None:
    """The same values elsewhere: sums first, which is quick, then sorted (bounded, so still linear)."""
    actual, expected = case.actual.ravel(), case.expected.ravel()
    if case.actual.dtype.kind == "c" or actual.size > LARGEST_SORTED or not np.isfinite(case.actual).all():
        return None
    drift = np.abs(actual.sum() - expected.sum())
    if not drift <= actual.size * case.atol + case.rtol * np.abs(expected).sum():
        return None
    expected = np.sort(expected)
    several = (np.diff(expected) > 2 * case.atol).sum() >= max(2, actual.size // 2)
    if not several or not case.same(np.sort(actual), expected):
        return None
    return (
        _reordered(case)
        or "the right values in the wrong places: check the order of the axes, and what reshape is given"
    )


def _reordered(case: Case) -> str | None:
    """Whole entries of the first axis that only changed places among themselves."""
    if case.actual.ndim == 1:
        return "the right values in another order"
    actual, expected = (values.reshape(len(values), -1) for values in (case.actual, case.expected))
    actual, expected = (values[np.lexsort(values.T[::-1])] for values in (actual, expected))
    if not case.same(actual, expected):
        return None
    which = "rows" if case.actual.ndim == 2 else f"entries along {axis_text(0, case.axes)}"
    return f"the right {which} in another order"


def _signs(case: Case) -> str | None:
    if case.wrong.sum() < 2 or case.actual.dtype.kind == "c" or np.count_nonzero(case.expected) < 3:
        return None
    alike = case.same(np.abs(case.actual), np.abs(case.expected))
    return "only signs are wrong: the absolute values are right" if alike else None


def _sums(case: Case) -> str | None:
    """Probabilities normalised along the wrong axis: expected sums to 1 along one axis, actual along another."""
    if case.actual.dtype.kind == "c" or case.actual.ndim < 2 or not (case.actual >= 0).all():
        return None
    shape = case.actual.shape
    wide = [axis for axis in range(case.actual.ndim) if 1 < shape[axis] < case.actual.size]
    wanted = [axis for axis in wide if _sums_to_one(case.expected, axis)]
    found = [axis for axis in wide if _sums_to_one(case.actual, axis)]
    if len(wanted) != 1 or wanted[0] in found:
        return None
    along = f"along {axis_text(wanted[0], case.axes)}"
    if len(found) == 1:
        return f"the values sum to 1 along {axis_text(found[0], case.axes)}; they should do so {along}"
    together = _sums_to_one(case.actual.ravel(), 0) and case.actual.sum(axis=wanted[0]).max() < 1 - CLEARLY_LESS
    return f"all values together sum to 1; they should do so {along}" if together else None


def _sums_to_one(values: Array, axis: int) -> bool:
    return bool((np.abs(values.sum(axis=axis) - 1) < 1e-5).all())


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
