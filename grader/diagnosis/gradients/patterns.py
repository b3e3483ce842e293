"""What the error of one gradient looks like: a factor, a transposed product, a sum too few or too many, a swap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.diagnosis.gradients.factors import named
from grader.outcome import Finding

Array = NDArray[Any]
Found = tuple[Finding, str]
LARGEST = 200_000  # values of an array that is looked at for more than its shape
LEAST = 3  # values that differ from 0, below which agreement may be chance
RELATIVE = 1e-4
SIGN, NOTHING = "the sign is wrong: got = −expected", "all values are 0: no gradient arrives here"


@dataclass(frozen=True)
class Given:
    """What an error is held against: the right values of the other gradients, sizes by name, names of axes.

    A factor is named by the sizes; the axes are those of the gradient that came in.
    """

    others: Mapping[str, Array] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    axes: tuple[str, ...] = ()


def finding(got: Array, expected: Array, given: Given) -> Found:
    """Return what the error of a gradient looks like, and that in words; the kind alone where nothing is known.

    >>> right = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> finding(right / 5, right, Given(sizes={"batch": 5}))
    ('factor', 'got = 0.2 × expected; 0.2 is 1/batch')
    """
    kind: Finding = "values" if got.shape == expected.shape else "shape"
    strange = int((~np.isfinite(got)).sum())
    if strange:
        return "non-finite", f"{strange} of {got.size} values {'is' if strange == 1 else 'are'} NaN or infinite"
    if got.size and not got.any() and expected.any():
        return "zeros", NOTHING
    if max(got.size, expected.size) > LARGEST:
        return kind, ""
    found = list(
        _same_shape(got, expected, given.sizes) if kind == "values" else _other_shape(got, expected, given.axes)
    )
    found += [
        ("swapped", f"these are the right values of {name}") for name in given.others if _alike(got, given.others[name])
    ]
    return _the_one(found) if found else (kind, "")


def _the_one(found: list[Found]) -> Found:
    """Return the first of what an error may look like; of which axis a sum is, only where no other will do."""
    kind, text = found[0]
    if kind in ("missing-sum", "extra-sum") and len({said for each, said in found if each == kind}) > 1:
        return kind, f"a sum over an axis is {'missing' if kind == 'missing-sum' else 'too many'}"
    if kind == "swapped" and len(found) > 1:
        return kind, "these are the right values of another gradient"
    return kind, text


def _alike(one: Array, other: Array) -> bool:
    """Say whether two arrays hold the same values, enough of them that it is no chance."""
    if one.shape != other.shape or np.count_nonzero(other) < LEAST:
        return False
    scale = float(np.abs(other).max(initial=0.0))
    return bool(np.all(np.abs(one - other) <= RELATIVE * scale))


def _same_shape(got: Array, expected: Array, sizes: Mapping[str, int]) -> Iterator[Found]:
    if (factor := _factor(got, expected)) is not None:
        name = named(factor, sizes)
        times = f"got = {factor:.6g} × expected" + (f"; {factor:.6g} is {name}" if name else "")
        yield "factor", SIGN if np.isclose(factor, -1, rtol=RELATIVE) else times
    if got.ndim >= 2 and _alike(got, np.swapaxes(expected, -1, -2)):
        yield "transposed", "got = expectedᵀ: the product has its factors the wrong way round"
    for axis in range(got.ndim):
        if expected.shape[axis] > 1:
            total = expected.sum(axis=axis, keepdims=True)
            if _alike(got, np.broadcast_to(total, got.shape)):
                yield "extra-sum", f"a sum over axis {axis} is too many: the same values stand along all of it"


def _factor(got: Array, expected: Array) -> float | None:
    """Return c where got = c · expected throughout; None where there is no such number."""
    if np.count_nonzero(expected) < LEAST:
        return None
    factor = float((got * expected).sum() / (expected * expected).sum())
    return factor if factor and _alike(got, factor * expected) else None


def _other_shape(got: Array, expected: Array, axes: tuple[str, ...]) -> Iterator[Found]:
    if got.ndim >= 2 and _alike(np.swapaxes(got, -1, -2), expected):
        yield "transposed", "got = expectedᵀ: the product has its factors the wrong way round"
    if got.size == expected.size and _alike(got.reshape(expected.shape), expected):
        yield "shape", "the values are right, in another shape"
    for several in _some_axes(got.ndim):
        for keep in (False, True):
            total = got.sum(axis=several, keepdims=keep)
            if max(got.shape[axis] for axis in several) > 1 and _alike(total, expected):
                yield "missing-sum", f"a sum over {_axes(several, axes, got.ndim)} is missing"
    for several in _some_axes(expected.ndim):
        for keep in (False, True):
            if _alike(got, expected.sum(axis=several, keepdims=keep)):
                yield "extra-sum", f"a sum over {_axes(several, (), expected.ndim)} is too many"


def _some_axes(ndim: int) -> list[tuple[int, ...]]:
    """Return each axis alone, and the first ones together: (0,), (1,), (2,), (0, 1)."""
    return [*((axis,) for axis in range(ndim)), *(tuple(range(most)) for most in range(2, ndim))]


def _axes(several: tuple[int, ...], names: tuple[str, ...], ndim: int) -> str:
    """Return axes in words, by their names where these are known: axis 0 (batch)."""
    numbers = " and ".join(map(str, several))
    known = [names[axis] for axis in several] if len(names) == ndim else []
    return f"{'axis' if len(several) == 1 else 'axes'} {numbers}" + (f" ({', '.join(known)})" if known else "")
