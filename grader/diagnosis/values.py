"""A stand-in for a value that was seen in a run: its kind, shape and dtype, and a key that tells it from others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

ROUNDING = 1e-7  # of the sum of a value's numbers: so far the sums of what is one value may differ
MOST_AXES = 20
LARGEST = 1e300


@dataclass(frozen=True)
class Print:
    """What tells one value from another: of numbers shape, sum and a sum with weights, of others a digest."""

    shape: tuple[int, ...]
    plain: float
    weighted: float
    size: float
    digest: int = 0

    def is_like(self, other: Print) -> bool:
        """Say whether both stand for one value, but for rounding."""
        if self.shape != other.shape or self.digest != other.digest:
            return False
        near = ROUNDING * max(self.size, other.size, 1e-300)
        return abs(self.plain - other.plain) <= near and abs(self.weighted - other.weighted) <= near


class Prints:
    """Many values, to be asked whether one is among them."""

    def __init__(self, known: Iterable[Print] = ()) -> None:
        self._by_size: dict[tuple[object, ...], list[Print]] = {}
        for each in known:
            self.add(each)

    def add(self, known: Print) -> None:
        """Put a value among them."""
        for key in self._keys(known)[:1]:
            same = self._by_size.setdefault(key, [])
            if not any(known.is_like(each) for each in same):
                same.append(known)

    def __contains__(self, known: Print) -> bool:
        return any(known.is_like(each) for key in self._keys(known) for each in self._by_size.get(key, ()))

    @staticmethod
    def _keys(known: Print) -> list[tuple[object, ...]]:
        """Return where a value belongs, and where it may be after rounding."""
        if not known.size:
            return [(known.shape, known.digest, 0)]
        level = 1000 * math.log(known.size)
        nearest = round(level)
        return [(known.shape, known.digest, nearest + step) for step in (0, 1, -1)]


@dataclass(frozen=True)
class Sample:
    """A value as it was seen: kind is array, number, bool, text, none, sequence, dict, object, function or other.

    value is that of a number, a bool, a short text or a short sequence of whole numbers; parts are the entries of a
    dict with texts as keys, and the attributes of an object.
    """

    kind: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    value: Any = None
    known: Print | None = None
    parts: Mapping[str, Sample] = field(default_factory=dict)
    name: str = ""  # of its type

    @property
    def is_numeric(self) -> bool:
        """Whether it is a number or an array of numbers."""
        return self.kind == "number" or (self.kind == "array" and self.dtype in "iuf")

    @property
    def is_real(self) -> bool:
        """Whether it is a float or an array of floats."""
        return self.is_numeric and self.dtype == "f"

    def is_alike(self, other: Sample) -> bool:
        """Say whether both are of one sort, so that one may be taken for the other: arrays of as many axes, numbers."""
        if self.is_numeric and other.is_numeric:
            return len(self.shape) == len(other.shape)
        is_inside_alike = self.dtype == other.dtype or "" in (self.dtype, other.dtype)  # of an empty list: nothing
        return self.kind == other.kind and len(self.shape) == len(other.shape) and is_inside_alike

    def is_same(self, other: Sample) -> bool:
        """Say whether both stand for one value."""
        if self.known is None or other.known is None:
            return False
        return self.known.is_like(other.known)


def print_of(form: Any) -> Print | None:
    """Return what a run noted to tell a value apart; None for what it could not tell, and for another form."""
    match form:
        case [list(shape), float(plain), float(weighted), float(size), int(digest)] if len(shape) < MOST_AXES:
            sizes = tuple(each for each in shape if type(each) is int)
            if all(math.isfinite(each) for each in (plain, weighted, size)) and len(sizes) == len(shape):
                return Print(sizes, plain, weighted, size, digest)
    return None


def sample_of(form: Any, depth: int = 0) -> Sample:
    """Return what a run noted of a value; what has another form is a value of which nothing is known."""
    match form:
        case [str(kind), list(shape), str(dtype), value, known, parts, str(name)] if depth < 4:
            sizes = tuple(each for each in shape if type(each) is int)[:MOST_AXES]
            plain = value if _is_plain(value) else None
            plain = tuple(plain) if isinstance(plain, list) else plain
            entries = parts.items() if isinstance(parts, dict) else ()
            own = {str(key): sample_of(each, depth + 1) for key, each in entries}
            return Sample(kind, sizes, dtype, plain, print_of(known), own, name)
    return Sample("other")


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(type(each) is int for each in value)
    if isinstance(value, float):
        return abs(value) < LARGEST
    return isinstance(value, (bool, int, str))
