"""Compare two arrays for people: type, then shape, then dtype, then finiteness, then values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from grader.diagnosis.comparison.patterns import find_pattern, find_place
from grader.diagnosis.comparison.wording import (
    KIND_NAMES,
    SCALARS,
    Shape,
    not_numbers,
    number_pair,
    shape_note,
    shape_text,
)

Kind = Literal["type", "shape", "dtype", "non-finite", "values"]
Axes = tuple[str, ...] | None
CLOSE = 1e-3  # relative error below which rounding, not a mistake, may be the reason
NUMBERS = {"bool": "a bool", "integer": "an int", "floating": "a float", "complex": "a complex number"}
WIDTH = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
Array = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Spot:
    """One place where two arrays differ, and the two values there (Python or NumPy scalars)."""

    index: tuple[int, ...]
    expected: object
    actual: object


@dataclass(frozen=True)
class Difference:
    """Why a returned value is not the expected array; what does not apply to the kind is empty."""

    kind: Kind
    expected_shape: Shape
    shape: Shape | None = None
    axes: Axes = None
    problem: str = ""  # in words: what it is instead of an array, the two dtypes, or how many values are NaN
    count: int = 0  # values that differ, or are not finite
    total: int = 0
    first: Spot | None = None
    worst: Spot | None = None
    relative: float = 0.0  # the largest error over the largest finite value in either array
    rtol: float = 0.0
    pattern: str | None = None


def compare(
    actual: object,
    expected: object,
    rtol: float,
    atol: float,
    equal_nan: bool,
    axes: Sequence[str] | None = None,
    dtype: object = None,
) -> Difference | None:
    """How actual differs from expected, None if it is within atol + rtol*|expected| everywhere; never raises.

    expected is an array or a single number; axes names its axes; with dtype, actual must have exactly that one.
    Nothing is broadcast, bool is compared exactly, and equal infinities are equal. Without dtype, integers of the
    right values do where floating numbers are expected, and an empty array may have any dtype.

    >>> compare(np.array([1.0, 4.0]), np.array([1.0, 2.0]), 1e-9, 0.0, False).first
    Spot(index=(1,), expected=np.float64(2.0), actual=np.float64(4.0))
    """
    right = _as_array(expected)
    if right is None:
        return Difference("type", (), problem="the expected value is not an array of numbers")
    different = compare_shape(actual, right.shape, axes)
    if different is not None:
        return different
    left = _as_array(actual)
    if left is None:
        return Difference("type", right.shape, problem="returned an integer too large for any NumPy dtype")
    problem = _kind_problem(actual, left, right, dtype)
    if problem and (dtype is not None or not _narrower(left, right)):
        return Difference("dtype", right.shape, left.shape, problem=problem)
    with np.errstate(all="ignore"):
        different = _compare_values(*in_common(left, right), rtol, atol, equal_nan, _names(axes, right.ndim))
    # Where values are cut to integers, the dtype is what is wrong.
    return Difference("dtype", right.shape, left.shape, problem=problem) if different and problem else different


def compare_shape(actual: object, shape: Shape, axes: Sequence[str] | None = None) -> Difference | None:
    """Whether actual is a plain array of numbers of that shape (or a single number, where shape is ())."""
    problem = not_numbers(actual, shape)
    if problem:
        return Difference("type", shape, problem=problem)
    found: Shape = actual.shape if isinstance(actual, (np.ndarray, np.generic)) else ()
    return None if found == shape else Difference("shape", shape, found, _names(axes, len(shape)))


def _names(axes: Sequence[str] | None, ndim: int) -> Axes:
    return tuple(axes) if axes and len(axes) == ndim else None


def _as_array(value: object) -> Array | None:
    if not_numbers(value, value.shape if isinstance(value, np.ndarray) else ()) is not None:
        return None
    array = np.asarray(value)
    return array if array.dtype.kind in KIND_NAMES else None  # an int of more than 64 bits becomes an object


def _kind_problem(actual: object, left: Array, right: Array, dtype: object) -> str | None:
    """What is wrong with the dtype; of one of Python's own numbers, which has none, with its type."""
    problem = _dtype_problem(left, right, dtype)
    if problem is None or type(actual) not in SCALARS:
        return problem
    wanted = f"a number of dtype {np.dtype(dtype).name}" if dtype is not None else NUMBERS[KIND_NAMES[right.dtype.kind]]  # type: ignore[call-overload]  # any name of a dtype
    found = type(actual).__name__
    return f"{wanted} was expected, {'an' if found == 'int' else 'a'} {found} came back: {number_pair(None, actual)[1]}"


def _dtype_problem(actual: Array, expected: Array, dtype: object) -> str | None:
    if dtype is not None:
        wanted = np.dtype(dtype)  # type: ignore[call-overload]  # any name of a dtype
        same = actual.dtype.newbyteorder("=") == wanted.newbyteorder("=")
        return None if same else f"dtype {actual.dtype.name} should be {wanted.name}"
    kind = expected.dtype.kind
    if KIND_NAMES[actual.dtype.kind] == KIND_NAMES[kind] or (actual.ndim == 0 and _narrower(actual, expected)):
        return None
    name, article = KIND_NAMES[kind], "an" if kind in "iu" else "a"
    wanted = name if kind == "b" else f"{article} {name} one, such as {expected.dtype.name}"
    return f"dtype {actual.dtype.name} should be {wanted}"


def _narrower(actual: Array, expected: Array) -> bool:
    """Whether the numbers of expected hold those of actual: integers where floating ones belong, or none at all."""
    return actual.size == 0 or 0 < WIDTH[actual.dtype.kind] < WIDTH[expected.dtype.kind]


def _compare_values(
    actual: Array, expected: Array, rtol: float, atol: float, equal_nan: bool, axes: Axes
) -> Difference | None:
    error, wrong = errors(actual, expected, rtol, atol, equal_nan)
    if not wrong.any():
        return None
    base = Difference("values", expected.shape, actual.shape, axes, total=wrong.size, rtol=rtol)
    strange = np.asarray(wrong & ~np.isfinite(actual))
    if strange.any():
        return replace(
            base,
            kind="non-finite",
            problem=_strange(actual[strange], wrong.size),
            count=int(strange.sum()),
            first=_spot(strange, actual, expected),
            pattern=find_place(strange, axes),
        )
    error = np.asarray(np.where(wrong, np.where(np.isnan(error), np.inf, error), -1.0))
    return replace(
        base,
        count=int(wrong.sum()),
        first=_spot(wrong, actual, expected),
        worst=_spot(np.asarray(error == error.max()), actual, expected),
        relative=float(error.max() / max(_largest(actual), _largest(expected))),
        pattern=find_pattern(actual, expected, wrong, rtol, atol, axes) or find_place(wrong, axes),
    )


def _largest(values: Array) -> float:
    """The largest finite magnitude; the least positive one where there is none, so that one can divide by it."""
    sizes = np.abs(values if values.dtype.kind in "fc" else values.astype(np.float64))
    return float(sizes[np.isfinite(sizes)].max(initial=0)) or float(np.finfo(np.float64).tiny)


def _strange(values: Array, total: int) -> str:
    """How many of the values are NaN and how many infinite, in words."""
    nan = int(np.isnan(values).sum())
    if values.dtype.kind == "c":
        counts = {"NaN": nan, "infinite": values.size - nan}
    else:
        counts = {"NaN": nan, "inf": int((values == np.inf).sum()), "-inf": int((values == -np.inf).sum())}
    counts = {name: count for name, count in counts.items() if count}
    if total == 1:
        return f"the value is {next(iter(counts))}"
    (first, count), *rest = counts.items()
    lead = f"{_share(count, total)} {'is' if count == 1 else 'are'} {first}"
    return ", ".join([lead, *(f"{count} {'is' if count == 1 else 'are'} {name}" for name, count in rest)])


def _share(count: int, total: int) -> str:
    return f"all {total} values" if count == total else f"{count} of {total} values"


def _spot(where: Mask, actual: Array, expected: Array) -> Spot:
    index = tuple(int(i) for i in np.unravel_index(int(where.argmax()), where.shape))
    return Spot(index, expected[index], actual[index])


def describe(difference: Difference) -> str:
    """One to four lines a learner reads: what is right, what differs and where, and what it looks like.

    >>> print(describe(compare(np.array([3.0, 2.0, 1.0]), np.array([1.0, 2.0, 3.0]), 1e-9, 0.0, False)))
    shape (3,) is right; 2 of 3 values differ, first at [0]: expected 1.0, got 3.0
    reversed along axis 0
    """
    expected_shape = difference.expected_shape
    right = f"shape {expected_shape} is right; " if expected_shape else ""
    if difference.kind == "type":
        return difference.problem
    if difference.kind == "dtype":
        return f"{right}{difference.problem}"
    if difference.kind == "shape":
        found = difference.shape or ()
        wanted, note = shape_text(expected_shape, difference.axes), shape_note(found, expected_shape, difference.axes)
        return f"shape {found} should be {wanted}" + (f"\n{note}" if note else "")
    return "\n".join([f"{right}{_lead(difference)}", *_notes(difference)])


def _lead(difference: Difference) -> str:
    count, total = difference.count, difference.total
    what = difference.problem or (f"{_share(count, total)} differ{'s' if count == 1 else ''}" if total > 1 else "")
    where, spot = ("first", difference.first) if difference.first else ("worst", difference.worst)
    place = f", {where} at {list(spot.index)}" if spot and total > 1 else ""
    return f"{what}{place}{': ' if what else ''}{_values(spot, difference.kind == 'values')}"


def _notes(difference: Difference) -> Iterator[str]:
    first, worst = difference.first, difference.worst
    if first and worst and first.index != worst.index:
        yield f"worst at {list(worst.index)}: {_values(worst)}"
    if difference.kind == "values" and 0 < difference.rtol < difference.relative < CLOSE:
        off, allowed = f"{difference.relative:.1e}", f"{difference.rtol:.0e}"
        yield f"close: off by up to {off} of the largest value; the tolerance is {allowed}"
    if difference.pattern:
        yield difference.pattern


def _values(spot: Spot | None, both: bool = True) -> str:
    if spot is None:
        return ""
    expected, actual = number_pair(spot.expected, spot.actual)
    return f"expected {expected}, got {actual}" if both else f"expected {expected}"


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
