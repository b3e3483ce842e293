"""What a learner's function returned, as an array that can be relied on, and what is always true of such arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from grader.diagnosis.comparison import compare_shape, describe
from grader.explore.model import Array, Fact

CLOSE = 1e-6
LISTED, ALIKE = 8, 4  # numbers that are told one by one, and that are even where all are the same
LARGEST = 1e9  # of numbers that are drawn
ROUNDING = 1e-9  # what is nearer to 0 is told as 0


class Unfit(Exception):
    """A learner's function returned something that the step cannot go on with."""


def array(
    value: object, shape: tuple[int, ...], axes: tuple[str, ...] = (), *, name: str = "", infinite: bool = False
) -> Array:
    """Return a float64 copy of what was returned; Unfit unless it is an array of real numbers of that shape.

    NaN is never taken, infinity only where infinite says so.
    """
    lead = f"{name}: " if name else ""
    different = compare_shape(value, shape, axes or None)
    if different is not None:
        raise Unfit(lead + describe(different))
    given = np.asarray(value)
    if given.dtype.kind not in "biuf":
        raise Unfit(f"{lead}dtype {given.dtype.name} should be a floating one, such as float64")
    with np.errstate(all="ignore"):
        found = np.array(given, dtype=np.float64)
    for kind, strange in (("NaN", np.isnan(found)), ("infinite", np.isinf(found) & (not infinite))):
        if strange.any():
            place = [int(i) for i in np.unravel_index(int(strange.argmax()), shape)]
            raise Unfit(f"{lead}{_share(int(strange.sum()), found.size)} {kind}, first at {place}")
    return found


def pair(value: object, names: tuple[str, str]) -> tuple[object, object]:
    """Return the two things that were returned; Unfit where it is not two."""
    first, second = several(value, names)
    return first, second


def several(value: object, names: tuple[str, ...]) -> tuple[object, ...]:
    """Return so many things that were returned; Unfit where it is another number of them."""
    wanted = f"({', '.join(names)})"
    if not isinstance(value, (tuple, list)):
        raise Unfit(f"returned {_kind(value)} where {wanted} was expected")
    if len(value) != len(names):
        raise Unfit(f"returned {len(value)} values where {wanted} was expected")
    return tuple(value)


def scalar(value: object, name: str = "", *, most: float = LARGEST) -> float:
    """Return a number that was returned; Unfit unless it is a real, finite one of a size that can be drawn."""
    lead = f"{name}: " if name else ""
    single = isinstance(value, (np.ndarray, np.generic)) and value.size == 1 and value.dtype.kind in "biuf"
    if not single and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise Unfit(f"{lead}returned {_kind(value)} where a number was expected")
    try:
        found = float(np.asarray(value, dtype=np.float64).ravel()[0])
    except OverflowError:  # an int of any length
        found = float("inf")
    if not abs(found) <= most:
        raise Unfit(f"{lead}returned {found:g} where a number between {-most:g} and {most:g} was expected")
    return found


def listing(value: object, count: int, name: str) -> Array:
    """Return so many numbers that came as a list, a tuple or an array; Unfit where they did not."""
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise Unfit(f"{name}: {len(value)} numbers where {count} were expected")
        return np.array([scalar(each, name) for each in value], dtype=np.float64)
    return bounded(array(value, (count,), name=name), name)


def bounded(values: Array, name: str = "", most: float = LARGEST) -> Array:
    """Return values that can be drawn; Unfit where one is too large."""
    if not np.abs(values).max(initial=0.0) <= most:  # nor is NaN
        lead = f"{name}: " if name else ""
        raise Unfit(f"{lead}reaches {number(float(np.abs(values).max()))}, far beyond what is sensible here")
    return values


def _kind(value: object) -> str:
    if value is None:
        return "None"
    return "one array" if isinstance(value, np.ndarray) else f"a value of type {type(value).__name__}"


def _share(count: int, total: int) -> str:
    if count == total:
        return f"all {total} values are"
    return f"{count} of {total} values {'is' if count == 1 else 'are'}"


def number(value: float) -> str:
    """Return a number in about five characters.

    >>> number(0.5), number(-1e9), number(12345.6)
    ('0.500', '-1e9', '1.23e4')
    """
    fixed = abs(value) < 1000 and (value == 0 or abs(value) >= 0.0005)
    return f"{value + 0.0:.3f}" if fixed else f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-")


def span(values: Array, name: str = "range") -> Fact:
    """Return the fact from where to where values reach."""
    low, high = float(values.min()), float(values.max())
    return Fact(name, (low, high), f"{name} [{number(low)}, {number(high)}]")


def told(name: str, values: Iterable[float]) -> Fact:
    """Return the fact of a few numbers: one by one or, where they are many, from where to where they reach."""
    found = tuple(float(value) for value in values)
    texts = [number(value if abs(value) >= ROUNDING else 0.0) for value in found]
    if len(found) > ALIKE and len(set(texts)) == 1:
        return Fact(name, found, f"{name} all {texts[0]}")
    if len(found) > LISTED:
        return Fact(name, found, f"{name} from {number(min(found))} to {number(max(found))}")
    return Fact(name, found, f"{name} {' '.join(texts)}")


def counts(name: str, values: Iterable[float]) -> Fact:
    """Return the fact of a few whole numbers."""
    found = tuple(float(value) for value in values)
    return Fact(name, found, f"{name} {' '.join(f'{value:g}' for value in found)}")


def fall(name: str, values: Array) -> Fact:
    """Return the fact where values began and where they ended."""
    first, last = float(values[0]), float(values[-1])
    return Fact(name, (first, last), f"{name} {number(first)} → {number(last)}")


def sums(weights: Array) -> Fact:
    """Return the fact what the rows of weights sum to; of several heads, row by row and head by head."""
    return told("rows' sums", weights.sum(axis=-1).ravel())


def wrong_weights(weights: Array, causal: bool) -> tuple[str, ...]:
    """Return what is not as it always is with such weights: rows that sum to 1, nothing for what comes later."""
    found = []
    off = np.abs(weights.sum(axis=-1) - 1)
    if off.max() > CLOSE:
        row = [int(i) for i in np.unravel_index(int(off.argmax()), off.shape)][-1]
        found.append(f"each row of weights should sum to 1, row {row} sums to {number(float(_row_sum(weights, off)))}")
    if weights.min() < -CLOSE or weights.max() > 1 + CLOSE:
        found.append("weights should lie between 0 and 1")
    later = np.triu(np.ones(weights.shape[-2:], dtype=bool), 1)
    if causal and np.abs(weights[..., later]).max(initial=0.0) > CLOSE:
        found.append("the weights of later words, above the diagonal, should be 0")
    return tuple(found)


def _row_sum(weights: Array, off: Array) -> float:
    return float(weights.sum(axis=-1).ravel()[int(off.argmax())])


def agree(left: Array, right: Array) -> bool:
    """Say whether two arrays are equal but for rounding."""
    scale = max(1.0, float(np.abs(left).max(initial=0.0)))
    return bool(np.abs(left - right).max(initial=0.0) <= 1e-4 * scale)
